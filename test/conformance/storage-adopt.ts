// What a store promises about changes of a peer, one test a clause. The peer is a store in memory, and what it sends is
// what its log holds.
import assert from 'node:assert/strict'
import {
  type Adopted,
  type AdoptedChange,
  type AdoptOptions,
  type ChangeOperation,
  type Store,
  systemScope,
} from '../../src/storage/contract.ts'
import { HistoryGone, Sealed, StorageFailed, StorageFull } from '../../src/storage/errors.ts'
import { INDEX_GAP, MAX_HISTORY_INDEX, MAX_KNOWN_INDEX } from '../../src/storage/log/histories.ts'
import { createMemoryStore } from '../../src/storage/memory-store.ts'
import type { Origin } from '../../src/storage/peer-log.ts'
import { SeededRandom } from './seeded-random.ts'
import { type Clause, clock, folder, LEAF_KEY, requireTreeOfEntries, scope } from './storage-clause.ts'

const IGNORED = 'root/core/reload/x'
const family = 'performance'

function newPeer(seed = 7): Store {
  const store = createMemoryStore({ random: new SeededRandom(seed), clock })
  store.setLeafKey(LEAF_KEY)
  return store
}

/** Each value is one change; undefined deletes. */
async function write(store: Store, name: string, ...values: (string | undefined)[]): Promise<void> {
  for (const value of values) {
    await store.transaction(async (tx) => {
      if (value === undefined) tx.delete(scope, folder + name)
      else tx.put(scope, folder + name, Buffer.from(value))
    })
  }
}

type Sent = { readonly changes: AdoptedChange[]; readonly after: AdoptOptions['after'] }

/** What a peer sends to one that stands at `from`. */
async function sentBy(peer: Store, from: number): Promise<Sent> {
  const { historyId } = await peer.position()
  const changes = (await peer.changesSince(from, Number.POSITIVE_INFINITY)).map((change) => ({
    origins: [{ family, historyId, index: change.index, chain: change.chain } as const],
    committedAtMs: change.committedAtMs,
    operations: change.operations.filter((operation) => operation.class !== 'ignored'),
  }))
  return { changes, after: { family, historyId, index: from } }
}

async function follow(store: Store, peer: Store, mode: AdoptOptions['mode'] = 'follow'): Promise<Adopted> {
  const { origins } = await store.position()
  const { changes, after } = await sentBy(peer, origins.find((origin) => origin.family === family)?.index ?? 0)
  return store.adopt(changes, { mode, after })
}

/** Begins to follow, as a copy does that has copied nothing. */
async function begin(store: Store, peer: Store): Promise<void> {
  assert.equal((await follow(store, peer, 'redo')).kind, 'adopted')
}

async function requireEqual(store: Store, peer: Store): Promise<void> {
  assert.deepEqual((await store.roots()).all, (await peer.roots()).all)
  const at = await store.position()
  const of = await peer.position()
  const [origin] = at.origins
  assert.deepEqual([origin?.historyId, origin?.index, origin?.chain], [of.historyId, of.index, of.chain])
}

function withOperation(change: AdoptedChange | undefined, altered: Partial<ChangeOperation>): AdoptedChange[] {
  assert.ok(change !== undefined)
  return [{ ...change, operations: change.operations.map((operation) => ({ ...operation, ...altered })) }]
}

export function adoptClauses(clause: Clause): void {
  followClauses(clause)
  besideClauses(clause)
  faultClauses(clause)
  redoClauses(clause)
  stateClauses(clause)
  deviceClauses(clause)
}

function followClauses(clause: Clause): void {
  clause('F3: changes of a peer are applied, numbered here, and published as any commit', async (opened) => {
    const { store, faults, reopen } = opened
    const peer = newPeer()
    await store.transaction(async (tx) => tx.put(systemScope, IGNORED, Buffer.from('own')))
    await write(peer, 'a', '1', '2')
    await peer.transaction(async (tx) => tx.put(systemScope, IGNORED, Buffer.from('of the peer')))
    await write(peer, 'b', '1', undefined, '3')
    await begin(store, peer)
    await write(peer, 'a', undefined)
    await write(peer, 'c/d', 'new')
    const heard: number[] = []
    store.onCommit(({ index }) => heard.push(index))
    const waiting = store.committedAfter(6)
    const appends = faults.appends
    assert.deepEqual(await follow(store, peer), { kind: 'adopted', index: 8 })
    assert.equal(faults.appends, appends + 1, 'a batch is one durable step')
    assert.deepEqual([heard, await waiting], [[7, 8], 8])
    await requireEqual(store, peer)
    await requireTreeOfEntries(store, faults)
    assert.deepEqual(await store.get(IGNORED), Buffer.from('own'))
    const [last] = await store.changesSince(7, 1)
    const [sent] = (await sentBy(peer, 7)).changes
    assert.deepEqual([last?.origins, last?.operations], [sent?.origins, sent?.operations])
    const again = await reopen()
    await requireEqual(again, peer)
    await requireTreeOfEntries(again, faults)
    assert.deepEqual(await follow(again, peer), { kind: 'adopted', index: 8 })
  })

  clause('F3: what was applied before is left out, once and in any batch', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1', '2', '3')
    await begin(store, peer)
    await write(peer, 'a', '4', '5')
    const { changes, after } = await sentBy(peer, 0)
    const prepared: number[] = []
    const prepare = async (fresh: readonly AdoptedChange[]) => void prepared.push(fresh.length)
    for (const count of [2, 4, 4, 5]) {
      assert.equal((await store.adopt(changes.slice(0, count), { mode: 'follow', after, prepare })).kind, 'adopted')
    }
    assert.deepEqual(prepared, [1, 1])
    assert.equal(await store.lastIndex(), 5)
    await requireEqual(store, peer)
  })

  clause('F3: a transaction that read what a peer changed runs again', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    await write(peer, 'a', '2')
    let runs = 0
    const read = await store.transaction(async (tx) => {
      const value = await tx.get(`${folder}a`)
      if (runs++ === 0)
        assert.equal((await follow(store, peer).catch((cause: unknown) => cause)) instanceof Error, true)
      return value
    })
    assert.deepEqual(read, Buffer.from('1'))
    const asked = Promise.withResolvers<void>()
    const applied = Promise.withResolvers<void>()
    const other = asked.promise.then(() => follow(store, peer)).then(() => applied.resolve())
    let attempts = 0
    await store.transaction(async (tx) => {
      attempts++
      const value = await tx.get(`${folder}a`)
      asked.resolve()
      await applied.promise
      tx.put(systemScope, IGNORED, value ?? Buffer.alloc(0))
    })
    await other
    assert.equal(attempts, 2)
    assert.deepEqual(await store.get(IGNORED), Buffer.from('2'))
  })

  clause('F3: what is written beside the changes is durable with them, and stays on this node', async (opened) => {
    const { store, reopen } = opened
    const peer = newPeer()
    await write(peer, 'a', '1')
    const { changes, after } = await sentBy(peer, 0)
    let prepared: string | undefined
    const prepare = async () => {
      prepared = 'found by prepare'
    }
    const also: AdoptOptions['also'] = async (tx) => {
      assert.equal(await tx.get(`${folder}a`), undefined)
      tx.put(systemScope, IGNORED, Buffer.from(prepared ?? 'nothing'))
    }
    const outcome = await store.adopt(changes, { mode: 'redo', after, prepare, also })
    assert.deepEqual(outcome, { kind: 'adopted', index: 2 })
    const again = await reopen()
    assert.deepEqual(await again.get(IGNORED), Buffer.from('found by prepare'))
    await requireEqual(again, peer)
    await write(peer, 'a', '2')
    const wrong: AdoptOptions['also'] = async (tx) => tx.put(scope, `${folder}b`, Buffer.from('1'))
    const next = await sentBy(peer, 1)
    await assert.rejects(
      again.adopt(next.changes, { mode: 'follow', after: next.after, also: wrong }),
      /beside the changes/,
    )
    assert.equal(await again.lastIndex(), 2)
    assert.equal((await follow(again, peer)).kind, 'adopted')
  })

  clause(
    'F3: what prepares the changes runs before they can be seen, and may refuse them',
    async ({ store, fatal }) => {
      const peer = newPeer()
      await write(peer, 'a', '1')
      const { changes, after } = await sentBy(peer, 0)
      const refuse = async () => Promise.reject(new RangeError('no'))
      await assert.rejects(store.adopt(changes, { mode: 'redo', after, prepare: refuse }), new RangeError('no'))
      assert.equal(await store.lastIndex(), 0)
      const prepare = async () => assert.equal(await store.get(`${folder}a`), undefined)
      assert.equal((await store.adopt(changes, { mode: 'redo', after, prepare })).kind, 'adopted')
      await requireEqual(store, peer)
      assert.deepEqual(fatal, [])
    },
  )

  clause('F3: a place further on is taken over where nothing in between is for this cluster', async (opened) => {
    const { store, reopen } = opened
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    await write(peer, 'filtered', '1', '2')
    const { changes, after } = await sentBy(peer, 1)
    const at = changes.at(-1)?.origins[0]
    assert.ok(at !== undefined)
    assert.deepEqual(await store.adopt([], { mode: 'follow', after, at }), { kind: 'adopted', index: 1 })
    const again = await reopen()
    assert.deepEqual((await again.position()).origins, [at])
    const empty = (await sentBy(peer, 0)).changes.map((change) => ({ ...change, operations: [] }))
    assert.deepEqual(await again.adopt(empty, { mode: 'follow', after, at }), { kind: 'adopted', index: 1 })
    await write(peer, 'a', '2')
    assert.deepEqual(await follow(again, peer), { kind: 'adopted', index: 2 })
  })
}

/** Written by a cluster of its own accord beside what it takes over, whatever its role. */
const LOCAL = 'root/core/former-keys'

function besideClauses(clause: Clause): void {
  clause('F3: entries of class local are written beside the changes where a role allows none', async (opened) => {
    const { store, faults } = opened
    const peer = newPeer()
    await write(peer, 'a', '1')
    const { changes, after } = await sentBy(peer, 0)
    await store.setWritable((storageClass) => storageClass === 'ignored')
    const also: AdoptOptions['also'] = async (tx) => tx.put(systemScope, LOCAL, Buffer.from('own'))
    assert.equal((await store.adopt(changes, { mode: 'redo', after, also })).kind, 'adopted')
    assert.deepEqual(await store.get(LOCAL), Buffer.from('own'))
    await requireTreeOfEntries(store, faults)
    // Before the changes: who follows this store has it in time.
    const keys = (await store.changesSince(0, 9)).map(({ operations }) => operations.map(({ key }) => key))
    assert.deepEqual(keys, [[LOCAL], [`${folder}a`]])
  })

  clause(
    'F3: a peer that writes what is written beside its changes is told apart, and changes nothing',
    async (opened) => {
      const { store, fatal } = opened
      const peer = newPeer()
      await peer.transaction(async (tx) => tx.put(systemScope, LOCAL, Buffer.from('of the peer')))
      const { changes, after } = await sentBy(peer, 0)
      const also: AdoptOptions['also'] = async (tx) => tx.put(systemScope, LOCAL, Buffer.from('own'))
      const outcome = await store.adopt(changes, { mode: 'redo', after, also })
      assert.deepEqual([outcome.kind, 'key' in outcome && outcome.key], ['diverged', LOCAL])
      assert.deepEqual([await store.lastIndex(), fatal], [0, []])
    },
  )

  clause('F3: nothing is prepared or written beside changes that cannot be applied', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    await write(peer, 'a', '2')
    const { changes, after } = await sentBy(peer, 1)
    const ran: string[] = []
    const parts = { prepare: async () => void ran.push('prepare'), also: async () => void ran.push('also') }
    const wrong = withOperation(changes[0], { oldLeaf: Buffer.alloc(16, 5) })
    assert.equal((await store.adopt(wrong, { mode: 'follow', after, ...parts })).kind, 'diverged')
    const far = { ...after, index: 2 }
    assert.equal((await store.adopt([], { mode: 'follow', after: far, ...parts })).kind, 'gap')
    assert.deepEqual(ran, [])
    assert.equal((await store.adopt(changes, { mode: 'follow', after, ...parts })).kind, 'adopted')
    assert.deepEqual(ran, ['prepare', 'also'])
  })
}

function faultClauses(clause: Clause): void {
  clause(
    'F3: changes that do not follow what was applied are a gap, and nothing is written',
    async ({ store, fatal }) => {
      const [peer, stranger] = [newPeer(), newPeer(8)]
      for (const each of [peer, stranger]) await write(each, 'a', '1', '2', '3', '4')
      const { changes, after } = await sentBy(peer, 0)
      const first = changes.slice(0, 2)
      const isGap = async (sent: readonly AdoptedChange[], from: AdoptOptions['after'], mode: AdoptOptions['mode']) =>
        assert.equal((await store.adopt(sent, { mode, after: from })).kind, 'gap')
      await isGap(first, after, 'follow')
      assert.equal((await store.adopt(first, { mode: 'redo', after })).kind, 'adopted')
      for (const mode of ['follow', 'redo'] as const) {
        await isGap(changes.slice(3), { ...after, index: 3 }, mode)
        const other = await sentBy(stranger, 2)
        await isGap(other.changes, other.after, mode)
        const moved = changes.map((change) => ({
          ...change,
          origins: change.origins.map((origin) => ({ ...origin, chain: Buffer.alloc(16, 9) })),
        }))
        await isGap(moved, after, mode)
        await isGap(changes.slice(2).toReversed(), { ...after, index: 2 }, mode)
        await isGap(
          changes.slice(2).map((change) => ({ ...change, origins: [] })),
          { ...after, index: 2 },
          mode,
        )
        await isGap(
          changes.slice(2).map((change) => ({ ...change, committedAtMs: -1 })),
          { ...after, index: 2 },
          mode,
        )
      }
      assert.equal(await store.lastIndex(), 2)
      assert.equal((await follow(store, peer)).kind, 'adopted')
      await requireEqual(store, peer)
      assert.deepEqual(fatal, [])
    },
  )

  clause('F3: what a peer may not send is an outcome that names the key, and nothing is written', async (opened) => {
    const { store, fatal } = opened
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    await write(peer, 'a', '2')
    const { changes, after } = await sentBy(peer, 1)
    const other = Buffer.alloc(16, 5)
    const faults: [Partial<ChangeOperation>, 'diverged' | 'unknown'][] = [
      [{ oldLeaf: other }, 'diverged'],
      [{ oldLeaf: Buffer.alloc(0) }, 'diverged'],
      [{ newLeaf: other }, 'diverged'],
      [{ value: Buffer.from('another value') }, 'diverged'],
      [{ class: 'local' }, 'diverged'],
      [{ class: 'ignored' }, 'diverged'],
      [{ kind: 'delete' }, 'diverged'],
      [{ key: `${folder}b` }, 'diverged'],
      [{ key: `${folder}../b` }, 'diverged'],
      [{ scope: { ...scope, local: true } }, 'diverged'],
      [{ scope: systemScope, key: 'root/newer/a' }, 'unknown'],
    ]
    for (const [altered, kind] of faults) {
      const outcome = await store.adopt(withOperation(changes[0], altered), { mode: 'follow', after })
      const key = altered.key ?? `${folder}a`
      assert.deepEqual([outcome.kind, 'key' in outcome && outcome.key], [kind, key], JSON.stringify(altered))
    }
    const twice = changes.map((change) => ({ ...change, operations: [...change.operations, ...change.operations] }))
    assert.equal((await store.adopt(twice, { mode: 'follow', after })).kind, 'diverged')
    assert.equal(await store.lastIndex(), 1)
    assert.deepEqual(fatal, [])
    assert.equal((await follow(store, peer)).kind, 'adopted')
    await requireEqual(store, peer)
  })

  clause('B4: a place of a peer that leaves no room for promotions is damage, and a gap', async ({ store, fatal }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    const { changes, after } = await sentBy(peer, 0)
    const moved = (index: number, over: Origin['family'] = family): AdoptedChange[] =>
      changes.map((change) => {
        const [origin] = change.origins
        assert.ok(origin !== undefined)
        const place = { ...origin, index, family: over }
        return { ...change, origins: over === family ? [place] : [origin, place] }
      })
    const [at] = moved(MAX_KNOWN_INDEX + 1)[0]?.origins ?? []
    for (const [sent, behind] of [
      [moved(MAX_KNOWN_INDEX + 1), undefined],
      [moved(MAX_HISTORY_INDEX), undefined],
      [moved(Number.MAX_SAFE_INTEGER), undefined],
      [moved(MAX_KNOWN_INDEX + 1, 'dr'), undefined],
      [changes, at],
    ] as const) {
      const options = { mode: 'redo', after, ...(behind && { at: behind }) } as const
      const outcome = await store.adopt(sent, options)
      assert.match(outcome.kind === 'gap' ? outcome.sentence : '', /^The log of the peer is damaged: its index \d+ is/)
    }
    assert.deepEqual((await store.position()).origins, [])
    assert.equal((await store.adopt(moved(MAX_KNOWN_INDEX), { mode: 'redo', after })).kind, 'adopted')
    const next = { id: Buffer.alloc(16, 3), knownIndex: 0, knownEpoch: 0 }
    await store.beginHistory(async (tx) => tx.put(scope, `${folder}b`, Buffer.from('promoted')), next)
    assert.deepEqual([(await store.position()).index, fatal], [MAX_KNOWN_INDEX + INDEX_GAP, []])
  })

  clause('B3: local entries come over disaster recovery alone', async ({ store, faults, fatal }) => {
    const peer = newPeer()
    const key = 'root/sys/token/a'
    await write(peer, 'a', '1')
    await begin(store, peer)
    await peer.transaction(async (tx) => tx.put(systemScope, key, Buffer.from('of the peer')))
    await peer.transaction(async (tx) => tx.delete(systemScope, key))
    const { changes, after } = await sentBy(peer, 1)
    for (const mode of ['follow', 'redo'] as const) {
      for (const some of [changes, changes.slice(1)]) {
        const outcome = await store.adopt(some, { mode, after })
        assert.deepEqual([outcome.kind, 'key' in outcome && outcome.key], ['diverged', key], mode)
      }
    }
    assert.deepEqual([faults.appends, await store.lastIndex(), fatal], [1, 1, []])
    const overDr = changes.map((change) => ({
      ...change,
      origins: change.origins.map((origin) => ({ ...origin, family: 'dr' as const })),
    }))
    const outcome = await store.adopt(overDr, { mode: 'redo', after: { ...after, family: 'dr' } })
    assert.deepEqual(outcome, { kind: 'adopted', index: 3 })
  })

  clause('F3: of a batch whose last change does not fit nothing is applied', async ({ store, faults, fatal }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    await write(store, 'c', 'of another hand')
    await write(peer, 'b', '1', '2')
    await write(peer, 'c', '1')
    const outcome = await follow(store, peer)
    assert.deepEqual([outcome.kind, 'key' in outcome && outcome.key], ['diverged', `${folder}c`])
    assert.equal(await store.get(`${folder}b`), undefined)
    await write(store, 'd', 'the store writes on')
    await requireTreeOfEntries(store, faults)
    assert.deepEqual(fatal, [])
  })

  clause('F3: without the leaf key nothing can be checked, so nothing is applied', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    store.setLeafKey(undefined)
    await assert.rejects(follow(store, peer, 'redo'), Sealed)
    store.setLeafKey(LEAF_KEY)
    await begin(store, peer)
    await requireEqual(store, peer)
  })
}

function redoClauses(clause: Clause): void {
  clause(
    'F3: changes redone over a copy of any age end in the state of the peer',
    async ({ store, faults, reopen }) => {
      const peer = newPeer()
      await write(peer, 'a', '1', '2', undefined)
      await write(peer, 'b', '1', '2')
      await write(peer, 'c', '1', undefined)
      await write(store, 'b', '2')
      await write(store, 'a', 'older than the log')
      const { changes, after } = await sentBy(peer, 0)
      for (const change of changes) {
        const outcome = await store.adopt([change], { mode: 'redo', after: { ...after, index: 0 } })
        assert.equal(outcome.kind, 'adopted')
      }
      await requireEqual(store, peer)
      const again = await reopen()
      await requireTreeOfEntries(again, faults)
      await write(peer, 'a', 'follows')
      assert.equal((await follow(again, peer)).kind, 'adopted')
      await requireEqual(again, peer)
    },
  )

  clause(
    'F3: a delete of what is missing leaves no record, and its place is kept through a restart',
    async (opened) => {
      const { store, reopen } = opened
      const peer = newPeer()
      await write(peer, 'a', '1', undefined)
      const { changes, after } = await sentBy(peer, 1)
      assert.deepEqual(await store.adopt(changes, { mode: 'redo', after }), { kind: 'adopted', index: 0 })
      const again = await reopen()
      await requireEqual(again, peer)
      await assert.rejects(again.changesSince(1, 1), HistoryGone)
    },
  )
}

/** What a peer has behind the key `after`, as of now: some bytes of it, and the log from `from` up to there. */
async function pieceOf(peer: Store, from: number, after: string, bytes: number) {
  const snapshot = await peer.snapshot()
  const { index, chain, historyId } = snapshot.position
  const stored = await snapshot.stored(after, bytes)
  await snapshot.close()
  const { changes, after: place } = await sentBy(peer, from)
  const at: Origin = { family, historyId, index, chain }
  const entries = stored.filter((entry) => entry.class !== 'ignored')
  return { changes, options: { mode: 'redo', after: place, at, state: { entries, gone: [] } } as const, stored }
}

function stateClauses(clause: Clause): void {
  clause('F3: a copy in pieces, while the peer writes, ends in what the peer has', async (opened) => {
    const { store, faults, reopen } = opened
    const peer = newPeer()
    for (let number = 0; number < 40; number++) await write(peer, `key-${number}`, `${number}`)
    await peer.transaction(async (tx) => tx.put(systemScope, IGNORED, Buffer.from('of the peer')))
    const { index, chain, historyId } = await peer.position()
    const begun: Origin = { family, historyId, index, chain }
    const options = { mode: 'anew', after: { family, historyId, index }, at: begun } as const
    assert.equal((await store.adopt([], options)).kind, 'adopted')
    let [from, after, pieces] = [index, '', 0]
    for (;;) {
      // Behind the copied keys, before them, and both: put, replaced and deleted.
      const name = `key-${(pieces * 7) % 40}`
      await write(peer, name, 'changed', pieces % 3 === 0 ? undefined : 'again')
      await write(peer, `new-${pieces}`, 'new')
      const piece = await pieceOf(peer, from, after, 200)
      assert.equal((await store.adopt(piece.changes, piece.options)).kind, 'adopted')
      from = piece.options.at.index
      pieces++
      const last = piece.stored.at(-1)
      if (last === undefined) break
      after = last.key
    }
    assert.ok(pieces > 5, `${pieces}`)
    await requireEqual(store, peer)
    await write(peer, 'key-1', 'followed')
    assert.equal((await follow(store, peer)).kind, 'adopted')
    const again = await reopen()
    await requireEqual(again, peer)
    await requireTreeOfEntries(again, faults)
  })

  clause('F3: a piece that comes again, or is of another moment, changes nothing', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    const first = await pieceOf(peer, 0, '', 1_000)
    assert.equal((await store.adopt(first.changes, first.options)).kind, 'adopted')
    const index = await store.lastIndex()
    assert.deepEqual(await store.adopt(first.changes, first.options), { kind: 'adopted', index })
    await write(peer, 'a', '2')
    const second = await pieceOf(peer, 1, '', 1_000)
    const early = { ...first.options, state: second.options.state }
    const late = { ...second.options, state: second.options.state }
    assert.equal((await store.adopt([], late)).kind, 'adopted', 'the peer says that nothing in between is for us')
    assert.equal((await store.adopt([], early)).kind, 'gap')
    const { at: _at, ...nowhere } = second.options
    assert.equal((await store.adopt([], nowhere)).kind, 'gap')
    assert.deepEqual(await store.get(`${folder}a`), Buffer.from('2'))
  })

  clause(
    'F3: keys that the peer does not have are removed, and no entry that stays with its cluster',
    async (opened) => {
      const { store, faults } = opened
      const peer = newPeer()
      await write(peer, 'a', '1')
      await begin(store, peer)
      await store.transaction(async (tx) => {
        tx.put(systemScope, IGNORED, Buffer.from('own'))
        tx.put(scope, `${folder}stray`, Buffer.from('of before'))
      })
      const { options } = await pieceOf(peer, 1, '', 1_000)
      const gone = (...keys: string[]) => store.adopt([], { ...options, state: { entries: [], gone: keys } })
      const refused = await gone(IGNORED)
      assert.deepEqual([refused.kind, 'key' in refused && refused.key], ['diverged', IGNORED])
      assert.equal((await gone(`${folder}stray`, `${folder}missing`)).kind, 'adopted')
      assert.deepEqual(await store.get(IGNORED), Buffer.from('own'))
      assert.deepEqual((await store.roots()).all, (await peer.roots()).all)
      await requireTreeOfEntries(store, faults)
    },
  )

  clause('F3: an entry whose leaf is not of its value is not taken with a piece', async ({ store }) => {
    const peer = newPeer()
    await write(peer, 'a', '1')
    const { changes, options } = await pieceOf(peer, 0, '', 1_000)
    const [entry] = options.state.entries
    assert.ok(entry !== undefined)
    const entries = [{ ...entry, value: Buffer.from('2') }]
    const outcome = await store.adopt([], { ...options, mode: 'anew', state: { entries, gone: [] } })
    assert.deepEqual([outcome.kind, await store.lastIndex()], ['diverged', 0])
    assert.equal((await store.adopt(changes, options)).kind, 'adopted')
  })

  clause('F3: a comparison that begins moves on to a history that was never followed', async (opened) => {
    const { store, reopen } = opened
    const peer = newPeer()
    await write(peer, 'a', '1')
    await begin(store, peer)
    const other = newPeer(8)
    await write(other, 'b', '1', '2')
    const { options } = await pieceOf(other, 0, '', 1_000)
    assert.equal((await store.adopt([], options)).kind, 'gap')
    const state = { ...options.state, gone: [`${folder}a`] }
    const prepared: string[] = []
    const prepare: AdoptOptions['prepare'] = async (changes) => {
      for (const { operations } of changes) prepared.push(...operations.map(({ kind, key }) => `${kind} ${key}`))
    }
    assert.equal((await store.adopt([], { ...options, mode: 'anew', state, prepare })).kind, 'adopted')
    assert.deepEqual(prepared, [`put ${folder}b`, `delete ${folder}a`])
    const again = await reopen()
    await requireEqual(again, other)
    await write(other, 'b', '3')
    assert.equal((await follow(again, other)).kind, 'adopted')
  })
}

function deviceClauses(clause: Clause): void {
  clause('F3: a full device refuses a batch as a whole, and it can be sent again', async ({ store, faults, fatal }) => {
    const peer = newPeer()
    await write(peer, 'a', '1', '2')
    await begin(store, peer)
    await write(peer, 'b', '1')
    faults.next = new StorageFull('full')
    await assert.rejects(follow(store, peer), StorageFull)
    assert.deepEqual([await store.lastIndex(), fatal], [2, []])
    assert.equal((await follow(store, peer)).kind, 'adopted')
    await requireEqual(store, peer)
    await requireTreeOfEntries(store, faults)
  })

  clause('F3: whatever step a crash comes at, each change is applied once when it is sent again', async (opened) => {
    const { faults, reopen, fatal } = opened
    const peer = newPeer()
    const lost = new Error('the device is gone')
    let store = opened.store
    for (let round = 0; round < 6; round++) {
      await write(peer, 'a', `${round}`, undefined, `${round} again`)
      await write(peer, `b${round}`, 'new')
      const mode = round === 0 ? 'redo' : 'follow'
      if (round % 2 === 0) faults.next = lost
      else faults.behind = lost
      await assert.rejects(follow(store, peer, mode), StorageFailed)
      await assert.rejects(follow(store, peer, mode), StorageFailed)
      store = await reopen()
      assert.equal((await follow(store, peer, mode)).kind, 'adopted')
      await requireEqual(store, peer)
      await requireTreeOfEntries(store, faults)
      assert.equal(await store.lastIndex(), (round + 1) * 4)
    }
    assert.deepEqual(
      fatal,
      Array.from({ length: 6 }, () => lost),
    )
  })
}
