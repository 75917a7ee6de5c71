// What every store promises, one test a clause. Called once for each implementation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import type { Backend } from '../../src/storage/backend.ts'
import type { StoreOptions } from '../../src/storage/commit/transactional-store.ts'
import {
  type Change,
  MAX_KEY_BYTES,
  MAX_VALUE_BYTES,
  type Reader,
  type Scope,
  type StorageClass,
  type Store,
  type StoredEntry,
  type StoreImage,
  systemScope,
  type Transaction,
  type TreeBucket,
  type TreeCopy,
  type TreeRoots,
} from '../../src/storage/contract.ts'
import {
  HistoryGone,
  Sealed,
  StorageClosed,
  StorageFailed,
  StorageFull,
  StorageRefused,
  WriteNotAllowed,
} from '../../src/storage/errors.ts'
import { decodeRun } from '../../src/storage/log/change-record.ts'
import { bucketKeyOf, PAGE_ENTRY_BYTES, Tree } from '../../src/storage/log/tree.ts'
import { testSeed } from '../fixtures/seed.ts'
import { Faults, faultyBackend } from './faulty-backend.ts'
import { adoptClauses } from './storage-adopt.ts'
import { type Clause, clock, folder, LEAF_KEY, type Opened, requireTreeOfEntries, scope } from './storage-clause.ts'
import { serialHistory } from './storage-history.ts'
import { purgeClauses } from './storage-purge.ts'
import { scrubClauses } from './storage-scrub.ts'

/** Where one store has its data. It can be opened again after it was closed, and shows what it held. */
export type Place = {
  /** `interpose` stands between the store and its backend. */
  open(options: StoreOptions, interpose: (backend: Backend) => Backend): Promise<Store>
  /** Puts or removes a row of an entry behind the back of the store, which may be open. */
  tamper(key: string, entry: Omit<StoredEntry, 'key'> | undefined): void
  discard(): Promise<void>
}

const text = (value: string): Buffer => Buffer.from(value)

/** The clauses do not depend on chance, but they run with delays; these always fall the same way. */
const SEED_OF_CLAUSES = 1

/** `newPlace` makes an empty place; what is random in it comes from the seed. */
export function storageConformance(name: string, newPlace: (seed: number) => Place): void {
  const clause: Clause = (title, check) => {
    test(`storage ${name}: ${title}`, () => withStore(newPlace(SEED_OF_CLAUSES), check))
  }
  readingClauses(clause)
  transactionClauses(clause)
  boundClauses(clause)
  writableClauses(clause)
  replacedKeysClauses(clause)
  indexClauses(clause)
  treeClauses(clause)
  imageClauses(clause)
  bucketClauses(clause)
  changingBucketClauses(clause)
  holdClauses(clause)
  adoptClauses(clause)
  scrubClauses(clause)
  purgeClauses(clause)
  closingClauses(clause)
  failureClauses(clause)
  test(`storage ${name}: concurrent transactions have the effect of some order of them`, (t) => {
    const seed = testSeed(t)
    return withStore(newPlace(seed), async ({ store, faults, reopen }) => {
      await serialHistory(store, scope, seed)
      await requireTreeOfEntries(store, faults)
      await requireTreeOfEntries(await reopen(), faults)
    })
  })
}

async function withStore(place: Place, check: (opened: Opened) => Promise<void>): Promise<void> {
  const faults = new Faults()
  const fatal: Error[] = []
  const options = { clock, onFatal: (error: Error) => fatal.push(error) }
  let store: Store | undefined
  const reopen = async (): Promise<Store> => {
    await store?.close()
    store = await place.open(options, (backend) => faultyBackend(backend, faults))
    store.setLeafKey(LEAF_KEY)
    return store
  }
  try {
    await check({ store: await reopen(), faults, fatal, reopen, tamper: (...row) => place.tamper(...row) })
  } finally {
    faults.release()
    await store?.close()
    await place.discard()
  }
}

function put(store: Store, ...names: string[]): Promise<void> {
  return store.transaction(async (tx) => {
    for (const name of names) tx.put(scope, folder + name, text(name))
  })
}

async function everything(reader: Reader): Promise<Map<string, string>> {
  const entries = await reader.scan('', '', Number.POSITIVE_INFINITY)
  return new Map(entries.map(({ key, value }) => [key, value.toString('hex')]))
}

function readingClauses(clause: Clause): void {
  clause('what is missing is undefined, and its delete succeeds', async ({ store }) => {
    assert.equal(await store.get(`${folder}missing`), undefined)
    await store.transaction(async (tx) => {
      assert.equal(await tx.get(`${folder}missing`), undefined)
      tx.delete(scope, `${folder}missing`)
    })
    assert.equal(await store.lastIndex(), 0)
  })

  clause('D-09: changing a buffer that was put or got changes nothing stored', async ({ store }) => {
    store.onCommit(({ operations }) => operations[0]?.value.fill(0))
    const handedIn = text('before')
    await store.transaction(async (tx) => {
      tx.put(scope, `${folder}a`, handedIn)
      handedIn.fill(0)
      const own = await tx.get(`${folder}a`)
      own?.fill(0)
      const [ownEntry] = await tx.scan(folder, '', 1)
      ownEntry?.value.fill(0)
    })
    const got = await store.get(`${folder}a`)
    got?.fill(0)
    const [entry] = await store.scan(folder, '', 1)
    entry?.value.fill(0)
    assert.deepEqual(await store.get(`${folder}a`), text('before'))
    const [change] = await store.changesSince(0, 1)
    assert.deepEqual(change?.operations[0]?.value, text('before'))
  })

  clause('an empty value is kept apart from a missing one', async ({ store, reopen }) => {
    await store.transaction(async (tx) => tx.put(scope, `${folder}empty`, Buffer.alloc(0)))
    assert.deepEqual(await (await reopen()).get(`${folder}empty`), Buffer.alloc(0))
  })

  clause('list gives the direct children in the order of their bytes', async ({ store }) => {
    await put(store, 'b', 'a', 'a/x', 'a/y/z', 'a!', 'c/1', 'c/2', '\u{1f511}', '\uff5e', 'B', 'é')
    const names = ['B', 'a', 'a!', 'a/', 'b', 'c/', 'é', '\uff5e', '\u{1f511}']
    assert.deepEqual(await store.list(folder), names)
    assert.deepEqual(await store.list(`${folder}a/`), ['x', 'y/'])
    assert.deepEqual(await store.list(''), ['root/'])
    assert.deepEqual(await store.list('root/'), ['logical/'])
    for (const unknown of [`${folder}b/`, `${folder}none/`, 'other/']) assert.deepEqual(await store.list(unknown), [])
    for (const after of [...names, '', 'a/0', 'a/y', 'a0', 'zz', '\u{10ffff}']) {
      const rest = names.filter((each) => Buffer.compare(text(each), text(after)) > 0)
      assert.deepEqual(await store.list(folder, { after }), rest, after)
      for (const limit of [0, 1, 2, 100])
        assert.deepEqual(await store.list(folder, { after, limit }), rest.slice(0, limit))
    }
  })

  for (const count of [0, 1, 99, 100, 101, 999, 1001]) {
    clause(`D-10: ${count} siblings can be listed page by page`, async ({ store }) => {
      const names = Array.from({ length: count }, (_, number) => `n${String(number).padStart(5, '0')}`)
      await put(store, 'm/deep', ...names, 'o/deep')
      const seen: string[] = []
      for (let page = await store.list(folder, { limit: 100 }); page.length > 0; ) {
        seen.push(...page)
        page = await store.list(folder, { after: page.at(-1) ?? '', limit: 100 })
      }
      assert.deepEqual(seen, ['m/', ...names, 'o/'])
    })
  }

  clause('D-10: a page begins behind a name that is there, that is not, or that went meanwhile', async ({ store }) => {
    await put(store, 'b', 'c', 'd')
    assert.deepEqual(await store.list(folder, { after: 'b', limit: 1 }), ['c'])
    assert.deepEqual(await store.list(folder, { after: 'd', limit: 1 }), [])
    assert.deepEqual(await store.list(folder, { after: 'z', limit: 1 }), [])
    await store.transaction(async (tx) => tx.delete(scope, `${folder}c`))
    assert.deepEqual(await store.list(folder, { after: 'c', limit: 1 }), ['d'])
    assert.deepEqual(await store.list(folder, { after: 'bb' }), ['d'])
  })

  clause('scan gives the entries of the whole subtree, in order and in pages', async ({ store }) => {
    const names = ['a', 'a!', 'a/x', 'a/y/z', 'b', '\uff5e', '\u{1f511}/k']
    await put(store, ...names.toReversed())
    for (const after of ['', folder, ...names.map((name) => folder + name), `${folder}a/x0`, 'zzz']) {
      const rest = names.filter((name) => Buffer.compare(text(folder + name), text(after)) > 0)
      for (const limit of [0, 1, 3, 100]) {
        const entries = await store.scan(folder, after, limit)
        assert.deepEqual(
          entries,
          rest.slice(0, limit).map((name) => ({ key: folder + name, value: text(name) })),
        )
      }
    }
    assert.deepEqual(await store.scan(`${folder}a/`, `${folder}b`, 9), [])
    assert.equal((await store.scan('', '', Number.POSITIVE_INFINITY)).length, names.length)
  })

  clause('a prefix without its slash, a torn text and a bad limit are refused', async ({ store }) => {
    await assert.rejects(store.list('root'), StorageRefused)
    await assert.rejects(store.scan(folder.slice(0, -1), '', 1), StorageRefused)
    await assert.rejects(store.get(`${folder}\ud800`), StorageRefused)
    await assert.rejects(store.list(folder, { after: '\udc00' }), StorageRefused)
    for (const limit of [-1, 0.5, Number.NaN]) await assert.rejects(store.list(folder, { limit }), StorageRefused)
  })

  clause('a snapshot stays as it was', async ({ store }) => {
    await put(store, 'a', 'b')
    const before = await everything(store)
    const snapshot = await store.snapshot()
    await store.transaction(async (tx) => {
      tx.delete(scope, `${folder}a`)
      tx.put(scope, `${folder}b`, text('new'))
      tx.put(scope, `${folder}c/d`, text('new'))
    })
    const second = await store.snapshot()
    await put(store, 'e')
    assert.equal(snapshot.index, 1)
    assert.equal(second.index, 2)
    assert.deepEqual(await everything(snapshot), before)
    assert.deepEqual(await snapshot.list(folder), ['a', 'b'])
    assert.deepEqual(await snapshot.get(`${folder}b`), text('b'))
    assert.deepEqual(await second.list(folder), ['b', 'c/'])
    await snapshot.close()
    await snapshot.close()
    await assert.rejects(snapshot.get(`${folder}a`), StorageClosed)
    assert.deepEqual(await second.get(`${folder}b`), text('new'))
    assert.deepEqual(await store.list(folder), ['b', 'c/', 'e'])
  })
}

function transactionClauses(clause: Clause): void {
  clause('a transaction sees what it wrote', async ({ store }) => {
    await put(store, 'a', 'b/1', 'b/2', 'c/1', 'd')
    await store.transaction(async (tx) => {
      tx.put(scope, `${folder}a`, text('new'))
      tx.delete(scope, `${folder}b/1`)
      tx.delete(scope, `${folder}c/1`)
      tx.delete(scope, `${folder}d`)
      tx.put(scope, `${folder}e/f/g`, text('g'))
      tx.put(scope, `${folder}h`, text('gone again'))
      tx.delete(scope, `${folder}h`)
      assert.deepEqual(await tx.get(`${folder}a`), text('new'))
      assert.equal(await tx.get(`${folder}d`), undefined)
      assert.equal(await tx.get(`${folder}h`), undefined)
      assert.deepEqual(await tx.list(folder), ['a', 'b/', 'e/'])
      assert.deepEqual(await tx.list(folder, { limit: 2 }), ['a', 'b/'])
      assert.deepEqual(await tx.list(folder, { after: 'a', limit: 9 }), ['b/', 'e/'])
      assert.deepEqual(await tx.list(`${folder}c/`), [])
      const keys = (await tx.scan(folder, `${folder}a`, 9)).map(({ key }) => key.slice(folder.length))
      assert.deepEqual(keys, ['b/2', 'e/f/g'])
      assert.deepEqual(await tx.scan(folder, '', 1), [{ key: `${folder}a`, value: text('new') }])
    })
    assert.deepEqual(await store.list(folder), ['a', 'b/', 'e/'])
    await store.transaction(async (tx) => {
      tx.delete(scope, `${folder}a`)
      tx.delete(scope, `${folder}b/2`)
      assert.deepEqual(await tx.list(folder, { limit: 1 }), ['e/'])
      assert.deepEqual(await tx.scan(folder, '', 1), [{ key: `${folder}e/f/g`, value: text('g') }])
    })
  })

  clause('P-06: a transaction that throws leaves nothing', async ({ store, reopen }) => {
    await put(store, 'a')
    const before = await everything(store)
    const work = async (tx: Transaction): Promise<void> => {
      tx.put(scope, `${folder}b`, text('b'))
      tx.delete(scope, `${folder}a`)
      await tx.get(`${folder}a`)
      throw new RangeError('of the work')
    }
    await assert.rejects(store.transaction(work), new RangeError('of the work'))
    assert.equal(await store.lastIndex(), 1)
    assert.deepEqual(await everything(await reopen()), before)
  })

  clause('what is not committed is not seen', async ({ store }) => {
    await put(store, 'a')
    await store.transaction(async (tx) => {
      tx.put(scope, `${folder}a`, text('new'))
      tx.put(scope, `${folder}b`, text('new'))
      assert.deepEqual(await store.get(`${folder}a`), text('a'))
      assert.deepEqual(await store.list(folder), ['a'])
      assert.equal((await store.scan(folder, '', 9)).length, 1)
      assert.equal(await store.lastIndex(), 1)
    })
    assert.deepEqual(await store.list(folder), ['a', 'b'])
  })

  clause('no increment is lost', async ({ store }) => {
    const counter = `${folder}counter`
    let runs = 0
    const increment = (tx: Transaction): Promise<void> =>
      tx.get(counter).then((value) => {
        runs++
        tx.put(scope, counter, text(String(Number(value ?? '0') + 1)))
      })
    await Promise.all(Array.from({ length: 40 }, () => store.transaction(increment)))
    assert.deepEqual(await store.get(counter), text('40'))
    assert.ok(runs > 40, 'none of them ever lost a race, so the test shows nothing')
  })

  clause('an error from reading two states is not passed on', async ({ store }) => {
    await put(store, 'x', 'y')
    const requested = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const deleteBoth = async (tx: Transaction): Promise<void> => {
      for (const name of ['x', 'y']) tx.delete(scope, folder + name)
    }
    const other = requested.promise.then(() => store.transaction(deleteBoth)).then(written.resolve)
    let runs = 0
    await store.transaction(async (tx) => {
      runs++
      const first = await tx.get(`${folder}x`)
      requested.resolve()
      await written.promise
      assert.equal(first === undefined, (await tx.get(`${folder}y`)) === undefined, 'both are there, or neither is')
    })
    await other
    assert.equal(runs, 2)
  })

  clause('a transaction that only reads shows one state', async ({ store }) => {
    await put(store, 'x', 'y')
    const requested = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    const other = requested.promise.then(() => writeBoth('new')).then(written.resolve)
    const writeBoth = (value: string): Promise<void> =>
      store.transaction(async (tx) => {
        for (const name of ['x', 'y']) tx.put(scope, folder + name, text(value))
      })
    const seen = await store.transaction(async (tx) => {
      const first = await tx.get(`${folder}x`)
      requested.resolve()
      await written.promise
      return [first, await tx.get(`${folder}y`)]
    })
    await other
    assert.deepEqual(seen, [text('new'), text('new')])
  })

  clause('a read beside an append that is under way waits for its end', async ({ store, faults }) => {
    faults.hold()
    const write = put(store, 'a')
    while (faults.appends === 0) await nextLoop()
    let runs = 0
    const read = store.transaction(async (tx) => {
      runs++
      return tx.get(`${folder}a`)
    })
    for (let turns = 0; turns < 30; turns++) await nextLoop()
    assert.equal(runs, 1, 'it ran again before it could win')
    faults.release()
    await write
    assert.deepEqual(await read, text('a'))
    assert.equal(runs, 2)
  })

  clause('a transaction that others always overtake gets its turn', async ({ store }) => {
    const contended = `${folder}contended`
    let commits = 0
    let isDone = false
    const overtake = async (): Promise<void> => {
      for (; !isDone; commits++) await store.transaction(async (tx) => tx.put(scope, contended, text(`${commits}`)))
    }
    const others = [overtake(), overtake()]
    let runs = 0
    await store.transaction(async (tx) => {
      assert.ok(++runs < 20, 'it never gets its turn')
      const before = commits
      await tx.get(contended)
      // Long enough to be overtaken, where somebody can.
      for (let turns = 0; turns < 100 && commits === before; turns++) await nextLoop()
      tx.put(scope, contended, text('mine'))
    })
    isDone = true
    await Promise.all(others)
    assert.ok(runs > 2, `it ran ${runs} times, so it was hardly overtaken`)
  })

  clause('a write does not make those lose that read something else', async ({ store }) => {
    let runs = 0
    const requested = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    await put(store, 'a/there')
    const other = requested.promise.then(() => put(store, 'b/new', 'c', 'a/there')).then(written.resolve)
    await store.transaction(async (tx) => {
      runs++
      await tx.get(`${folder}a`)
      await tx.list(`${folder}a/`)
      await tx.scan(`${folder}a/`, `${folder}a/there`, 10)
      requested.resolve()
      await written.promise
      tx.put(scope, `${folder}a`, text('a'))
    })
    await other
    assert.equal(runs, 1)
  })

  clause('transactions that finish together become durable together', async ({ store, faults }) => {
    await put(store, 'a')
    const before = faults.appends
    await Promise.all(Array.from({ length: 50 }, (_, number) => put(store, `k${number}`)))
    const appends = faults.appends - before
    assert.ok(appends <= 5, `50 transactions took ${appends} appends`)
    assert.equal(await store.lastIndex(), 51)
  })

  clause('one that loses does not fail its group', async ({ store }) => {
    const changes: Change[] = []
    store.onCommit((change) => changes.push(change))
    let runs = 0
    const readThenWrite = (name: string) =>
      store.transaction(async (tx) => {
        runs++
        await tx.get(`${folder}shared`)
        tx.put(scope, `${folder}shared`, text(name))
        tx.put(scope, `${folder}${name}`, text(name))
      })
    await Promise.all([readThenWrite('a'), readThenWrite('b'), put(store, 'c')])
    assert.deepEqual(await store.list(folder), ['a', 'b', 'c', 'shared'])
    assert.equal(changes.length, 3)
    assert.ok(runs > 2)
  })

  clause('work that starts a transaction of its own is refused at once', async ({ store }) => {
    await assert.rejects(
      store.transaction(() => put(store, 'a')),
      /would wait for itself/,
    )
    const later = Promise.withResolvers<void>()
    await store.transaction(async () => void setImmediate(() => put(store, 'b').then(later.resolve, later.reject)))
    await later.promise
    assert.deepEqual(await store.list(folder), ['b'])
  })

  clause('a transaction cannot be used after its end', async ({ store }) => {
    let kept: Transaction | undefined
    await store.transaction(async (tx) => {
      kept = tx
    })
    assert.throws(() => kept?.put(scope, `${folder}a`, text('a')), /after its work had ended/)
    await assert.rejects(async () => kept?.get(`${folder}a`), /after its work had ended/)
  })
}

function boundClauses(clause: Clause): void {
  clause('D-02: the longest key passes, one byte more is refused', async ({ store, reopen }) => {
    const longest = folder + 'é'.repeat((MAX_KEY_BYTES - folder.length) / 2)
    assert.equal(Buffer.byteLength(longest), MAX_KEY_BYTES)
    const write = (key: string): Promise<void> => store.transaction(async (tx) => tx.put(scope, key, text('x')))
    await write(longest)
    await assert.rejects(write(`${longest}x`), /A key has more than 1024 bytes/)
    assert.deepEqual((await everything(await reopen())).keys().toArray(), [longest])
  })

  clause('D-02: a value of one byte too many is refused', async ({ store }) => {
    const value = Buffer.alloc(MAX_VALUE_BYTES + 1)
    const write = store.transaction(async (tx) => tx.put(scope, `${folder}a`, value))
    await assert.rejects(write, /has 67108865 bytes, at most 67108864 are stored/)
    assert.equal(await store.lastIndex(), 0)
  })

  clause('a key whose prefix is in no class is refused', async ({ store }) => {
    for (const key of ['root/unknown/a', 'root/core/other', 'root/sys/a']) {
      const write = store.transaction(async (tx) => tx.put(systemScope, key, text('x')))
      await assert.rejects(write, {
        name: 'StorageRefused',
        message: `The key ${key} has a prefix that is in no class`,
      })
      const removal = store.transaction(async (tx) => tx.delete(systemScope, key))
      await assert.rejects(removal, StorageRefused)
    }
  })

  clause('an entry that replication carries needs the leaf key, one that stays here does not', async ({ store }) => {
    await put(store, 'a')
    store.setLeafKey(undefined)
    await store.transaction(async (tx) => tx.put(systemScope, 'root/core/seal-config', text('x')))
    for (const key of ['root/core/keyring', 'root/sys/token/x']) {
      const write = store.transaction(async (tx) => tx.put(systemScope, key, text('x')))
      await assert.rejects(write, /cannot be written before the leaf key is set/)
    }
    await assert.rejects(
      store.transaction(async (tx) => tx.delete(scope, `${folder}a`)),
      StorageRefused,
    )
    store.setLeafKey(LEAF_KEY)
    await store.transaction(async (tx) => tx.put(systemScope, 'root/core/keyring', text('x')))
    const changes = await store.changesSince(0, 10)
    const leaves = changes.map(({ operations }) => [operations[0]?.oldLeaf.length, operations[0]?.newLeaf.length])
    assert.deepEqual(leaves, [
      [0, 16],
      [0, 0],
      [0, 16],
    ])
  })

  clause('an entry keeps its class', async ({ store }) => {
    await put(store, 'a')
    const local: Scope = { ...scope, local: true }
    const message = `The key ${folder}a is replicated and cannot be written as local`
    await assert.rejects(
      store.transaction(async (tx) => tx.put(local, `${folder}a`, text('x'))),
      { message },
    )
    await assert.rejects(
      store.transaction(async (tx) => tx.delete(local, `${folder}a`)),
      { message },
    )
    await store.transaction(async (tx) => tx.delete(scope, `${folder}a`))
    await store.transaction(async (tx) => tx.put(local, `${folder}a`, text('x')))
  })
}

function indexClauses(clause: Clause): void {
  clause('what was answered is there after opening again', async ({ store, reopen }) => {
    await put(store, 'a', 'b')
    await store.transaction(async (tx) => tx.delete(scope, `${folder}a`))
    const before = await everything(store)
    const changes = await store.changesSince(0, 10)
    const again = await reopen()
    assert.deepEqual(await everything(again), before)
    assert.deepEqual(await again.changesSince(0, 10), changes)
    await put(again, 'c')
    assert.equal(await again.lastIndex(), 3)
  })

  clause('changes since an index, applied to a copy of then, give the state of now', async ({ store }) => {
    const copies: Map<string, string>[] = [await everything(store)]
    for (const round of [1, 2, 3, 4, 5]) {
      await store.transaction(async (tx) => {
        tx.put(scope, `${folder}always`, text(String(round)))
        tx.put({ ...scope, local: false }, `${folder}k${round}`, text('new'))
        if (round > 2) tx.delete(scope, `${folder}k${round - 2}`)
      })
      copies.push(await everything(store))
    }
    assert.equal(await store.lastIndex(), 5)
    for (const [index, copy] of copies.entries()) {
      const changes = await store.changesSince(index, 100)
      assert.deepEqual(
        changes.map((change) => change.index),
        [1, 2, 3, 4, 5].slice(index),
      )
      for (const { kind, key, value } of changes.flatMap(({ operations }) => operations)) {
        if (kind === 'put') copy.set(key, value.toString('hex'))
        else assert.ok(copy.delete(key))
      }
      assert.deepEqual(new Map([...copy].sort()), new Map([...(await everything(store))].sort()))
    }
    assert.equal((await store.changesSince(1, 2)).length, 2)
  })

  clause('each operation carries the leaf that it replaces', async ({ store }) => {
    const values = ['1', '2', undefined, '1']
    for (const value of values) {
      await store.transaction(async (tx) => {
        if (value === undefined) tx.delete(scope, `${folder}a`)
        else tx.put(scope, `${folder}a`, text(value))
      })
    }
    const operations = (await store.changesSince(0, 9)).flatMap((change) => change.operations)
    const newLeaves = operations.map(({ newLeaf }) => newLeaf.toString('hex'))
    assert.deepEqual(
      operations.map(({ oldLeaf }) => oldLeaf.toString('hex')),
      ['', ...newLeaves.slice(0, -1)],
    )
    assert.deepEqual(
      newLeaves.map(({ length }) => length),
      [32, 32, 0, 32],
    )
    assert.equal(newLeaves[0], newLeaves[3])
    assert.notEqual(newLeaves[0], newLeaves[1])
  })

  clause('history that is not there is refused', async ({ store }) => {
    await put(store, 'a')
    assert.deepEqual(await store.changesSince(1, 10), [])
    await assert.rejects(store.changesSince(2, 10), HistoryGone)
  })

  clause('a transaction without a write leaves no record', async ({ store }) => {
    await put(store, 'a')
    assert.deepEqual(await store.transaction((tx) => tx.get(`${folder}a`)), text('a'))
    await store.transaction(async (tx) => tx.delete(scope, `${folder}none`))
    assert.equal(await store.lastIndex(), 1)
  })

  clause('F3: the position is that of the last change, without a view', async ({ store }) => {
    const { index, chain, historyId } = await store.position()
    assert.deepEqual([index, chain], [0, historyId])
    await put(store, 'a')
    await put(store, 'b')
    const [change] = await store.changesSince(1, 1)
    const position = await store.position()
    assert.deepEqual([position.index, position.chain, position.historyId], [2, change?.chain, historyId])
  })

  clause('F3: records come as the log holds them, and are what changes are decoded from', async ({ store, reopen }) => {
    for (const name of ['a', 'b', 'c']) await put(store, name)
    const records = await store.records(1, 10)
    assert.deepEqual(decodeRun(records), await store.changesSince(1, 10))
    assert.equal((await store.records(0, 1)).length, 1)
    assert.deepEqual(await (await reopen()).records(1, 10), records)
    await assert.rejects((await reopen()).records(4, 1), HistoryGone)
  })

  clause(
    'F3: a commit tells the index of its change, also in a group, and none if nothing changed',
    async ({ store }) => {
      const commits = Array.from({ length: 20 }, async (_, number) => {
        const { index, result } = await store.commit(async (tx) => {
          await tx.get(`${folder}shared`)
          tx.put(scope, `${folder}shared`, text(`${number}`))
          return number
        })
        assert.equal(result, number)
        const [change] = await store.changesSince((index ?? 0) - 1, 1)
        assert.deepEqual(change?.operations[0]?.value, text(`${number}`))
        return index
      })
      assert.equal(new Set(await Promise.all(commits)).size, 20)
      assert.equal((await store.commit((tx) => tx.get(`${folder}shared`))).index, undefined)
      assert.equal((await store.commit(async (tx) => tx.delete(scope, `${folder}none`))).index, undefined)
    },
  )

  clause('the position in memory is the stored one, and moves when all have heard of a change', async (stage) => {
    const { store, faults } = stage
    await put(store, 'a')
    const before = store.positionNow()
    assert.deepEqual(before, await store.position())
    const heard: number[] = []
    store.onCommit(() => heard.push(store.positionNow().lastReplicatedIndex))
    faults.hold()
    const write = put(store, 'b')
    while (faults.appends < 2) await nextLoop()
    assert.deepEqual([store.positionNow(), heard], [before, []])
    faults.release()
    await write
    assert.deepEqual([heard, store.positionNow()], [[2], await store.position()])
    assert.deepEqual((await stage.reopen()).positionNow(), await (await stage.reopen()).position())
  })

  clause('F3: who waits for a change hears of it when it is durable and told to all', async ({ store, faults }) => {
    await put(store, 'a')
    assert.equal(await store.committedAfter(0), 1)
    let heard = 0
    store.onCommit(({ index }) => {
      heard = index
    })
    faults.hold()
    const woken: number[] = []
    const waiting = [2, 1].map(async (index) => {
      woken.push(await store.committedAfter(index))
      assert.equal(heard, woken.at(-1))
    })
    const write = put(store, 'b')
    while (faults.appends < 2) await nextLoop()
    assert.deepEqual(woken, [])
    faults.release()
    await write
    await waiting[1]
    assert.deepEqual(woken, [2])
    await put(store, 'c')
    await Promise.all(waiting)
    assert.deepEqual(woken, [2, 3])
  })

  clause('listeners hear of each commit in order, before its caller goes on', async ({ store }) => {
    const heard: number[] = []
    store.onCommit(({ index }) => heard.push(index))
    const answered: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        await put(store, `k${number}`)
        answered.push(heard.length)
      }),
    )
    assert.deepEqual(
      heard,
      Array.from({ length: 20 }, (_, number) => number + 1),
    )
    assert.ok(answered.every((heardThen, order) => heardThen > order))
    assert.deepEqual(
      (await store.changesSince(0, 100)).map(({ index }) => index),
      heard,
    )
  })
}

function treeClauses(clause: Clause): void {
  clause('S3: roots that would have to be waited for are none, at once', async ({ store, reopen }) => {
    store.setLeafKey(undefined)
    assert.equal(await store.rootsNow(), undefined)
    const opened = await reopen()
    const roots = await opened.roots()
    assert.deepEqual(await opened.rootsNow(), roots)
    await opened.close()
    await assert.rejects(opened.rootsNow(), StorageClosed)
  })

  clause('the roots are those of the entries, through changes, close and open', async ({ store, faults, reopen }) => {
    const empty = await store.roots()
    assert.deepEqual(await store.rootsNow(), empty)
    await put(store, 'a', 'b', 'c/d')
    await requireTreeOfEntries(store, faults)
    const three = await store.roots()
    await store.transaction(async (tx) => tx.put(scope, `${folder}a`, text('other')))
    await requireTreeOfEntries(store, faults)
    assert.notDeepEqual((await store.roots()).replicated, three.replicated)
    assert.deepEqual((await store.roots()).local, three.local)
    const opened = await reopen()
    await requireTreeOfEntries(opened, faults)
    await put(opened, 'a')
    assert.deepEqual((await opened.roots()).all, three.all)
    await opened.transaction(async (tx) => {
      for (const name of ['a', 'b', 'c/d']) tx.delete(scope, folder + name)
    })
    assert.deepEqual((await opened.roots()).all, empty.all)
    await requireTreeOfEntries(await reopen(), faults)
  })

  clause('roots over some scopes are those of a store that has only these', async ({ store }) => {
    await put(store, 'a')
    const few = await store.roots()
    const entry = 'root/core/namespace/root/team'
    await store.transaction(async (tx) => tx.put(systemScope, entry, text('team')))
    const asked = new Set<string>()
    const isWanted = (name: string): boolean => asked.add(name) && name !== 'root/namespace/root/team'
    assert.deepEqual(await store.roots(isWanted), { ...few, index: few.index + 1 })
    assert.deepEqual([...asked], [`root/${scope.mount}`, 'root/namespace/root/team'])
    assert.deepEqual(await store.roots(() => true), await store.roots())
    assert.notDeepEqual((await store.roots()).all, few.all)
  })

  clause('a tree whose save failed is made again from log and entries', async ({ store, faults, reopen }) => {
    await put(store, 'a', 'b')
    const opened = await reopen()
    await opened.transaction(async (tx) => tx.put(scope, `${folder}a`, text('other')))
    const before = await opened.roots()
    faults.savesFail = true
    const again = await reopen()
    assert.deepEqual((await again.roots()).all, before.all)
    await requireTreeOfEntries(again, faults)
    faults.savesFail = false
    await put(again, 'c')
    await requireTreeOfEntries(await reopen(), faults)
  })

  clause('commits while the tree is read are in it', async ({ reopen, faults }) => {
    const opened = await reopen()
    const writes = ['a', 'b', 'c', 'd', 'e'].map((name) => put(opened, name))
    const roots = opened.roots()
    await Promise.all([...writes, roots])
    await requireTreeOfEntries(opened, faults)
  })

  clause('there is no tree without the leaf key, and the same one when it is back', async ({ store, faults }) => {
    await put(store, 'a')
    const { all } = await store.roots()
    store.setLeafKey(undefined)
    await assert.rejects(store.roots(), StorageRefused)
    await assert.rejects(store.tree(), StorageRefused)
    store.setLeafKey(LEAF_KEY)
    assert.deepEqual((await store.roots()).all, all)
    await requireTreeOfEntries(store, faults)
  })
}

/** A key of each class, and the scope in which it is written. */
const OF_CLASS = {
  replicated: { scope, key: `${folder}a` },
  local: { scope: systemScope, key: 'root/sys/token/a' },
  ignored: { scope: systemScope, key: 'root/core/seal-config' },
} as const

function writableClauses(clause: Clause): void {
  for (const forbidden of Object.keys(OF_CLASS) as StorageClass[]) {
    clause(`what is ${forbidden} is neither put nor deleted while that is not writable`, async ({ store }) => {
      const one = OF_CLASS[forbidden]
      const others = Object.entries(OF_CLASS).filter(([name]) => name !== forbidden)
      await store.transaction(async (tx) => {
        for (const { scope: at, key } of Object.values(OF_CLASS)) tx.put(at, key, text('before'))
      })
      const before = await everything(store)
      const index = await store.lastIndex()
      await store.setWritable((storageClass) => storageClass !== forbidden)
      const attempts: ((tx: Transaction) => void)[] = [
        (tx) => tx.put(one.scope, one.key, text('after')),
        (tx) => tx.put(one.scope, one.key, text('before')),
        (tx) => tx.delete(one.scope, one.key),
        (tx) => tx.delete(one.scope, `${one.key}-missing`),
      ]
      for (const attempt of attempts) {
        const whole = store.transaction(async (tx) => {
          for (const [, other] of others) tx.put(other.scope, other.key, text('after'))
          // A key of class ignored has no neighbours.
          if (forbidden === 'ignored' && attempt === attempts[3]) tx.delete(systemScope, 'root/core/root-key')
          else attempt(tx)
        })
        await assert.rejects(whole, { name: 'WriteNotAllowed', storageClass: forbidden })
      }
      assert.deepEqual([await everything(store), await store.lastIndex()], [before, index])
      for (const [, other] of others)
        await store.transaction(async (tx) => tx.put(other.scope, other.key, text('after')))
      await store.setWritable(() => true)
      await store.transaction(async (tx) => tx.delete(one.scope, one.key))
      assert.equal(await store.lastIndex(), index + 3)
    })
  }

  clause('what was allowed is durable when a class is no longer writable', async ({ store, faults }) => {
    faults.hold()
    const written = put(store, 'a')
    while (faults.appends === 0) await nextLoop()
    // One more waits behind it: it comes too late.
    const late = put(store, 'b')
    let isClosed = false
    const closed = store
      .setWritable((storageClass) => storageClass !== 'replicated')
      .then(() => {
        isClosed = true
      })
    for (let turn = 0; turn < 5; turn++) await nextLoop()
    assert.equal(isClosed, false)
    faults.release()
    await closed
    assert.equal(await store.lastIndex(), 1)
    await written
    await assert.rejects(late, WriteNotAllowed)
    assert.deepEqual(await store.list(folder), ['a'])
  })
}

function replacedKeysClauses(clause: Clause): void {
  /** Begins a transaction that puts an entry, and says how often it ran; it ends once `go` resolves. */
  const begun = async (store: Store, one?: (typeof OF_CLASS)[StorageClass]) => {
    const [put, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const run = { count: 0, go: go.resolve, ended: Promise.resolve() }
    run.ended = store.transaction(async (tx) => {
      run.count++
      if (one !== undefined) tx.put(one.scope, one.key, text(String(run.count)))
      put.resolve()
      await go.promise
    })
    run.ended.catch(() => {})
    await Promise.race([put.promise, run.ended])
    return run
  }

  clause('A1: what runs while keys are replaced is refused or runs again, if it writes', async ({ store }) => {
    for (const one of Object.values(OF_CLASS)) {
      const [refused, reading] = [await begun(store, one), await begun(store)]
      await store.keysReplaced('again')
      await store.keysReplaced('refused')
      await store.keysReplaced('again')
      const again = await begun(store, one)
      for (let times = 0; times < 10; times++) await store.keysReplaced('again')
      for (const run of [refused, reading, again]) run.go()
      await assert.rejects(refused.ended, Sealed)
      await Promise.all([reading.ended, again.ended])
      assert.deepEqual([refused.count, reading.count, again.count], [1, 1, 2])
      assert.deepEqual(await store.get(one.key), text('2'))
    }
  })

  clause('A1: the replacement of keys waits for the commit that is under way', async ({ store, faults }) => {
    faults.hold()
    const written = put(store, 'a')
    while (faults.appends === 0) await nextLoop()
    const late = put(store, 'b')
    let isReplaced = false
    const replaced = store.keysReplaced('refused').then(() => {
      isReplaced = true
    })
    for (let turn = 0; turn < 5; turn++) await nextLoop()
    assert.equal(isReplaced, false)
    faults.release()
    await replaced
    assert.equal(await store.lastIndex(), 1)
    await written
    await assert.rejects(late, Sealed)
  })

  clause('A1: what waits while the store closes is refused too', async ({ store, faults }) => {
    faults.hold()
    const written = put(store, 'a')
    while (faults.appends === 0) await nextLoop()
    const late = put(store, 'b')
    for (let turn = 0; turn < 5; turn++) await nextLoop()
    const closing = store.close()
    await assert.rejects(store.keysReplaced('refused'), StorageClosed)
    faults.release()
    await written
    await assert.rejects(late, Sealed)
    await closing
  })
}

function imageClauses(clause: Clause): void {
  clause('F3: an image is the tree and the entries of one index, whatever is committed meanwhile', async (opened) => {
    const { store } = opened
    let isDone = false
    const writing = (async () => {
      for (let round = 0; !isDone; round++) await put(store, `k${round % 7}`, `at/${round}`)
    })()
    for (let round = 0; round < 5; round++) {
      await put(store, `image/${round}`)
      const { index, tree, snapshot } = await store.image()
      await put(store, 'behind')
      assert.equal(snapshot.index, index)
      assert.deepEqual(tree.roots(), rootsOf(await snapshot.stored('', Number.MAX_SAFE_INTEGER)))
      await snapshot.close()
    }
    isDone = true
    await writing
    store.setLeafKey(undefined)
    await assert.rejects(store.image(), StorageRefused)
  })
}

function bucketClauses(clause: Clause): void {
  clause('F10: the keys of a bucket are those whose leaves make its digest, as of the image', async ({ store }) => {
    await put(store, ...Array.from({ length: 60 }, (_, number) => `k${number}`))
    const before = await store.image()
    await store.transaction(async (tx) => {
      tx.put(scope, `${folder}k3`, text('other'))
      tx.delete(scope, `${folder}k5`)
      tx.put({ ...systemScope }, 'root/sys/token/x', text('local'))
    })
    const after = await store.image()
    const [old, now] = [new Tree(), new Tree()]
    for (const page of before.tree.pages()) old.load(page)
    for (const page of after.tree.pages()) now.load(page)
    const buckets = old.differences(now)
    assert.equal(buckets.length, 3)
    const names = async (image: StoreImage) => (await image.keysIn(buckets)).map(({ key }) => key)
    assert.deepEqual(await names(before), [`${folder}k3`, `${folder}k5`])
    assert.deepEqual(await names(after), [`${folder}k3`, 'root/sys/token/x'])
    const [entry] = await after.keysIn(buckets.filter(({ class: storageClass }) => storageClass === 'local'))
    const stored = (await after.snapshot.stored('', 1e9)).find(({ key }) => key === entry?.key)
    assert.deepEqual([entry?.class, entry?.leaf], ['local', stored?.leaf])
    assert.deepEqual(await after.keysIn([]), [])
    await Promise.all([before.snapshot.close(), after.snapshot.close()])
    await assert.rejects(after.keysIn(buckets), StorageClosed)
  })
}

/** All buckets that hold something, in which order does not matter. */
function bucketsOf(tree: TreeCopy): TreeBucket[] {
  return tree.pages().flatMap(({ class: of, scope: name, page, digests }) => {
    const places = Array.from({ length: digests.length / PAGE_ENTRY_BYTES }, (_, at) => digests[at * PAGE_ENTRY_BYTES])
    return places.map((place = 0) => ({ class: of, scope: name, page, place }))
  })
}

/** The keys of all buckets are all keys. Returns how often leaves were read for it: never, if rows led to the keys. */
async function requireAllKeys(store: Store, faults: Faults): Promise<number> {
  const { tree, snapshot, keysIn } = await store.image()
  const before = faults.leafRuns
  const found = await keysIn(bucketsOf(tree))
  const runs = faults.leafRuns - before
  assert.deepEqual(found, await snapshot.leaves('', Number.MAX_SAFE_INTEGER))
  await snapshot.close()
  return runs
}

function changingBucketClauses(clause: Clause): void {
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `k${from + at}`)

  clause('F10: rows of buckets lead to all keys, through steps, deletes, returns and restarts', async (opened) => {
    const { faults, reopen } = opened
    let { store } = opened
    for (let round = 0; round < 4; round++) {
      for (let at = 0; at < 600; at += 90) await put(store, ...names(at, at + 90))
      assert.equal(await requireAllKeys(store, faults), 0)
      await store.transaction(async (tx) => {
        for (const name of names(round * 50, round * 50 + 300)) tx.delete(scope, folder + name)
        tx.put(systemScope, `root/sys/token/${round}`, text('local'))
      })
      assert.equal(await requireAllKeys(store, faults), 0)
      store = await reopen()
      assert.equal(await requireAllKeys(store, faults), 0)
    }
  })

  clause(
    'F10: a store without its saved tree makes the rows of its buckets anew',
    async ({ store, faults, reopen }) => {
      faults.savesFail = true
      await put(store, ...names(0, 500))
      await store.transaction(async (tx) => tx.delete(scope, `${folder}k7`))
      const again = await reopen()
      assert.equal(await requireAllKeys(again, faults), 0)
    },
  )

  clause('F10: where rows are missing all keys are looked at, and the rows are made', async (opened) => {
    const { store, faults, reopen } = opened
    // Once the tree is there, rows are made with the next commit.
    await requireAllKeys(store, faults)
    await put(store, ...names(0, 500))
    await put(store, 'next')
    assert.equal(await requireAllKeys(store, faults), 0)
    await faults.backend?.clearBuckets()
    assert.ok((await requireAllKeys(store, faults)) > 0)
    assert.equal(await requireAllKeys(store, faults), 0)
    faults.savesFail = true
    faults.bucketsFail = true
    await put(store, ...names(500, 800))
    const full = await reopen()
    assert.ok((await requireAllKeys(full, faults)) > 0)
    faults.bucketsFail = false
    await put(full, 'more')
    assert.equal(await requireAllKeys(full, faults), 0)
    faults.savesFail = false
    assert.equal(await requireAllKeys(await reopen(), faults), 0)
  })
}

function rootsOf(entries: readonly StoredEntry[]): TreeRoots {
  const tree = new Tree()
  const bucketKey = bucketKeyOf(importSecret(LEAF_KEY))
  for (const { class: storageClass, key, leaf } of entries) {
    if (storageClass !== 'ignored') tree.add(storageClass, key, leaf, bucketKey)
  }
  return tree.roots()
}

function holdClauses(clause: Clause): void {
  const held = async (store: Store): Promise<unknown[]> =>
    (await store.retained()).holds.map(({ name, kind, from }) => [name, kind, from]).sort()

  clause('F3: a hold of the log is kept through restarts, moves on, and is given up', async ({ store, reopen }) => {
    for (const name of ['a', 'b', 'c']) await put(store, name)
    await store.hold({ name: 'west', kind: 'secondary', from: 1 })
    await store.hold({ name: 'east', kind: 'copy', from: 2 })
    await store.hold({ name: 'west', kind: 'secondary', from: 3 })
    await store.hold({ name: 'west', kind: 'secondary', from: 2 })
    const both = [
      ['east', 'copy', 2],
      ['west', 'secondary', 2],
    ]
    assert.deepEqual(await held(store), both)
    const again = await reopen()
    assert.deepEqual(await held(again), both)
    await again.hold({ name: 'west', kind: 'secondary', from: 3 })
    await again.release('east')
    await again.release('none')
    const third = await reopen()
    assert.deepEqual(await held(third), [['west', 'secondary', 3]])
    const [record] = await third.records(2, 1)
    const { firstIndex, bytes, holds, caps } = await third.retained()
    assert.deepEqual([firstIndex, holds[0]?.bytes, holds[0]?.isBroken], [1, 0, false])
    assert.ok(bytes > 2 * (record?.record.length ?? 0) && caps.copy > 0 && caps.secondary > 0)
  })

  clause('F3: a hold without a name, or of what is not written yet, is refused', async ({ store }) => {
    await put(store, 'a')
    for (const hold of [
      { name: '', from: 0 },
      { name: 'x', from: 2 },
      { name: 'x', from: -1 },
      { name: 'x', from: 0.5 },
    ]) {
      await assert.rejects(store.hold({ ...hold, kind: 'copy' }), StorageRefused)
    }
    assert.deepEqual(await held(store), [])
  })

  clause('F3: a full device refuses a hold, a lost flush ends writing', async ({ store, faults, fatal }) => {
    await put(store, 'a')
    faults.nextHold = new StorageFull('full')
    await assert.rejects(store.hold({ name: 'x', kind: 'copy', from: 0 }), StorageFull)
    assert.deepEqual(await held(store), [])
    await put(store, 'b')
    faults.nextHold = new Error('the device is gone')
    await assert.rejects(store.hold({ name: 'x', kind: 'copy', from: 0 }), StorageFailed)
    assert.deepEqual(fatal, [new Error('the device is gone')])
    await assert.rejects(store.release('x'), StorageFailed)
  })
}

function closingClauses(clause: Clause): void {
  clause('after close every verb is refused', async ({ store }) => {
    await put(store, 'a')
    const snapshot = await store.snapshot()
    await store.close()
    await store.close()
    await assert.rejects(snapshot.list(''), StorageClosed)
    const verbs: (() => unknown)[] = [
      () => store.get(`${folder}a`),
      () => store.list(folder),
      () => store.scan(folder, '', 1),
      () => store.lastIndex(),
      () => store.changesSince(0, 1),
      () => store.position(),
      () => store.positionNow(),
      () => store.records(0, 1),
      () => store.commit(async () => {}),
      () => store.committedAfter(0),
      () => store.adopt([], { mode: 'redo', after: { family: 'dr', historyId: Buffer.alloc(16), index: 0 } }),
      () => store.snapshot(),
      () => store.transaction(async () => {}),
      () => store.onCommit(() => {}),
      () => store.setLeafKey(LEAF_KEY),
      () => store.setWritable(() => true),
      () => store.keysReplaced('again'),
      () => store.roots(),
      () => store.purge(0),
      () => store.tree(),
      () => store.image(),
      () => store.hold({ name: 'x', kind: 'copy', from: 0 }),
      () => store.release('x'),
      () => store.retained(),
    ]
    for (const verb of verbs) await assert.rejects(async () => verb(), StorageClosed)
  })

  clause(
    'F3: the closing store tells all who wait for a change, and so does one that writes no more',
    async (opened) => {
      const { store, faults, reopen } = opened
      const waiting = store.committedAfter(0)
      const closing = assert.rejects(waiting, StorageClosed)
      const again = await reopen()
      await closing
      const lost = assert.rejects(again.committedAfter(0), StorageFailed)
      faults.next = new Error('the device is gone')
      await assert.rejects(put(again, 'a'), StorageFailed)
      await lost
      await assert.rejects(again.committedAfter(0), StorageFailed)
    },
  )

  clause('close waits for what is being committed', async ({ store, faults, reopen }) => {
    faults.hold()
    const writes = ['a', 'b'].map((name) => put(store, name))
    while (faults.appends === 0) await nextLoop()
    let isClosed = false
    const closed = store.close().then(() => {
      isClosed = true
    })
    await assert.rejects(put(store, 'late'), StorageClosed)
    for (let turns = 0; turns < 30; turns++) await nextLoop()
    assert.equal(isClosed, false)
    faults.release()
    await Promise.all([...writes, closed])
    assert.deepEqual(await (await reopen()).list(folder), ['a', 'b'])
  })
}

function failureClauses(clause: Clause): void {
  clause('a full device fails the write and nothing else', async ({ store, faults, fatal, reopen }) => {
    await put(store, 'a')
    const before = await everything(store)
    const heard: number[] = []
    store.onCommit(({ index }) => heard.push(index))
    faults.next = new StorageFull('full')
    const results = await Promise.allSettled([put(store, 'b'), put(store, 'c')])
    for (const result of results) assert.ok(result.status === 'rejected' && result.reason instanceof StorageFull)
    assert.deepEqual(await everything(store), before)
    assert.equal(await store.lastIndex(), 1)
    await put(store, 'd')
    assert.deepEqual(heard, [2])
    assert.deepEqual(fatal, [])
    const again = await reopen()
    assert.deepEqual(await again.list(folder), ['a', 'd'])
    assert.equal((await again.changesSince(0, 9)).length, 2)
  })

  clause('a failed append ends all writing, and reading goes on', async ({ store, faults, fatal }) => {
    await put(store, 'a')
    faults.next = new Error('the device is gone')
    await assert.rejects(put(store, 'b'), StorageFailed)
    assert.deepEqual(fatal, [new Error('the device is gone')])
    const appends = faults.appends
    await assert.rejects(put(store, 'c'), StorageFailed)
    await assert.rejects(put(store, 'd'), StorageFailed)
    assert.equal(faults.appends, appends, 'a failed flush is never tried again')
    assert.equal(fatal.length, 1)
    assert.deepEqual(await store.get(`${folder}a`), text('a'))
    assert.deepEqual(await store.transaction((tx) => tx.list(folder)), ['a'])
  })

  clause('a listener that throws ends writing, after the answer', async ({ store, fatal }) => {
    store.onCommit(() => {
      throw new Error('of the listener')
    })
    await put(store, 'a')
    assert.deepEqual(fatal, [new Error('of the listener')])
    await assert.rejects(put(store, 'b'), StorageFailed)
    assert.deepEqual(await store.list(folder), ['a'])
  })
}
