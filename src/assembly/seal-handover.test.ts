// The seal of a primary on the clusters that follow it: every pair of seals, at activation and with each rekey (S-08).
import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Faults, faultyBackend } from '../../test/conformance/faulty-backend.ts'
import { copyTo, sentEntries } from '../../test/fixtures/copied-store.ts'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { turns } from '../../test/fixtures/turns.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole } from '../api/node-role.ts'
import { X25519_BYTES, x25519Key } from '../crypto/primitives/hpke.ts'
import { realWorld } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { openStore } from '../storage/commit/transactional-store.ts'
import { type Store, systemScope } from '../storage/contract.ts'
import { MemoryBackend } from '../storage/memory-backend.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts'
import { KEY_USE } from '../system/seal/key-use.ts'
import type { KeyKeeper } from '../system/seal/seal.ts'
import { openBundle, type SealBundle, sealBundle, wipeBundle } from '../system/seal/seal-bundle.ts'
import { SEAL_FOLDER } from '../system/seal/seal-records.ts'
import { SHARES_BACKUP } from '../system/seal/shares-backup.ts'
import type { Activation } from './activation.ts'
import type { SealState } from './seal-state.ts'
import { staticSeal } from './static-seal.ts'

type Kind = 'shamir' | 'static'

const KINDS: readonly Kind[] = ['shamir', 'static']
const world = realWorld()
const autoSeals = {
  primary: staticSeal({ keyId: 'p', key: 'a1'.repeat(32), previous: undefined }, {}),
  secondary: staticSeal({ keyId: 's', key: 'b2'.repeat(32), previous: undefined }, {}),
}
const SECONDARY: NodeRole = { ...ACTIVE_PRIMARY, performance: 'secondary' }

/** A cluster; `restart` starts its server anew on what is stored. */
type Cluster = {
  server: MemoryServer
  readonly kind: Kind
  readonly shares: readonly string[]
  restart(): Promise<void>
}

type Given = {
  /** Opens what is stored, at each start. */
  readonly open?: () => Promise<Store>
  readonly onRekeyed?: (bundle: SealBundle) => Promise<void>
  readonly keyKeeper?: KeyKeeper
  readonly announce?: (news: SealState) => Promise<void>
}

async function cluster(name: 'primary' | 'secondary', kind: Kind, given: Given = {}): Promise<Cluster> {
  const { open, ...rest } = given
  const options = { ...rest, ...(kind === 'static' ? { autoSeal: autoSeals[name] } : {}), threshold: 0 }
  const kept = createMemoryStore(world)
  const start = async () => startMemoryServer({ ...options, store: (await open?.()) ?? kept })
  const server = await start()
  const made = await server.node.initialise({ shares: 3, threshold: 2 }, name, { rootToken: 'root' })
  const shares = made.shares.map((share) => share.toString('hex'))
  if (kind === 'static') await server.node.openByItself()
  else for (const share of made.shares.slice(0, 2)) await server.node.operations.unseal(share)
  const self: Cluster = {
    server,
    kind,
    shares,
    restart: async () => {
      self.server = await start()
    },
  }
  return self
}

/** A primary and a cluster that is to follow it, each with something of its own. */
async function pair(
  kinds: readonly [Kind, Kind],
  given: Given = {},
): Promise<{ primary: Cluster; secondary: Cluster }> {
  const [primary, secondary] = [await cluster('primary', kinds[0]), await cluster('secondary', kinds[1], given)]
  const policy = 'path "a" { capabilities = ["read"] }'
  await primary.server.call('PUT', 'sys/policies/acl/of-the-primary', { policy })
  await secondary.server.call('PUT', 'sys/policies/acl/of-the-secondary', { policy })
  return { primary, secondary }
}

const peer = x25519Key(world.random.bytes(X25519_BYTES))
const context = Buffer.from('a link')

/** The bundle of a cluster as another one gets it: sealed for it, and opened there. */
async function bundleOf({ server }: Cluster): Promise<SealBundle> {
  const bundle = await server.node.bundle()
  const sealed = sealBundle(bundle, peer.publicKey, context, world.random)
  wipeBundle(bundle)
  return openBundle(peer, sealed, context)
}

/** What a cluster hands over beside its data. */
async function handed(primary: Cluster): Promise<Activation> {
  const { store } = primary.server
  const bundle = await bundleOf(primary)
  const [keyring, leafKey] = [await store.get('root/core/keyring'), await store.get('root/core/leaf-key')]
  assert.ok(keyring !== undefined && leafKey !== undefined)
  return { bundle, keyring, leafKey }
}

async function activate(primary: Cluster, { server }: Cluster): Promise<void> {
  const activation = await handed(primary)
  const copy = copyTo(primary.server.store, server.store)
  await server.node.activate(activation, copy).finally(() => wipeBundle(activation.bundle))
}

async function follow(primary: Cluster, { server }: Cluster): Promise<boolean> {
  const bundle = await bundleOf(primary)
  return server.node.follow(bundle, server.node.seal.id).finally(() => wipeBundle(bundle))
}

/** Replaces the shares of a primary by five, of which three are needed; returns them. */
async function rekey({ server: { call }, kind }: Cluster, shares: readonly string[]): Promise<readonly string[]> {
  const path = kind === 'static' ? 'sys/rekey-recovery-key' : 'sys/rekey'
  const { nonce, required } = (await call('PUT', `${path}/init`, { secret_shares: 5, secret_threshold: 3 }, '')).body
  let keys: unknown
  for (const key of shares.slice(-Number(required))) {
    keys = (await call('PUT', `${path}/update`, { key, nonce }, '')).body.keys
  }
  assert.ok(Array.isArray(keys) && keys.length === 5)
  return keys as readonly string[]
}

const status = async ({ server }: Cluster) => (await server.call('GET', 'sys/seal-status', undefined, '')).body

/** What the status shows of the seal of an open secondary. */
const shown = (kind: Kind, shares: readonly string[]) => ({
  type: kind,
  recovery_seal: kind === 'static',
  sealed: false,
  t: shares.length === 5 ? 3 : 2,
  n: shares.length,
})

async function requireOpen(secondary: Cluster, shares: readonly string[]): Promise<void> {
  const { type, recovery_seal, sealed, t, n } = await status(secondary)
  assert.deepEqual({ type, recovery_seal, sealed, t, n }, shown(secondary.kind, shares))
  const { call } = secondary.server
  assert.equal((await call('GET', 'sys/policies/acl/of-the-primary')).status, 200)
  assert.equal((await call('GET', 'sys/policies/acl/of-the-secondary')).status, 404)
}

/** Gives as many shares as are needed; true if the server is open then. */
async function opens(secondary: Cluster, shares: readonly string[]): Promise<boolean> {
  const { call } = secondary.server
  const { t } = await status(secondary)
  assert.ok(shares.length >= Number(t))
  for (const key of shares.slice(0, Number(t))) await call('PUT', 'sys/unseal', { key }, '')
  await call('PUT', 'sys/unseal', { reset: true }, '')
  return (await status(secondary)).sealed === false
}

/** Whether the shares permit a root token to be made. */
async function permit({ server: { call } }: Cluster, shares: readonly string[]): Promise<boolean> {
  const { nonce, required } = (await call('PUT', 'sys/generate-root/attempt', {}, '')).body
  assert.ok(shares.length >= Number(required))
  let last = await call('GET', 'sys/generate-root/attempt', undefined, '')
  for (const key of shares.slice(0, Number(required)))
    last = await call('PUT', 'sys/generate-root/update', { key, nonce }, '')
  await call('DELETE', 'sys/generate-root/attempt', undefined, '')
  assert.equal(last.status === 200, last.body.complete === true)
  return last.body.complete === true
}

/** The server is started anew: its own static key opens it, or the right shares do, after the wrong ones did not. */
async function restartWith(secondary: Cluster, right: readonly string[], wrong: readonly string[]): Promise<void> {
  await secondary.restart()
  if (secondary.kind === 'static') return
  assert.equal((await status(secondary)).sealed, true)
  assert.equal(await opens(secondary, wrong), false)
  assert.equal(await opens(secondary, right), true)
}

/** The whole life of one pair. */
async function check({ primary, secondary }: { primary: Cluster; secondary: Cluster }): Promise<void> {
  const [own, old] = [secondary.shares, primary.shares]
  await activate(primary, secondary)
  await requireOpen(secondary, primary.shares)
  assert.equal(await permit(secondary, own), false)
  assert.equal(await permit(secondary, old), true)
  await restartWith(secondary, old, own)
  await requireOpen(secondary, primary.shares)
  assert.equal(await permit(secondary, own), false)
  assert.equal(await permit(secondary, old), true)

  const before = await bundleOf(primary)
  const shares = await rekey(primary, primary.shares)
  // It was off meanwhile, and knows the old shares alone.
  await restartWith(secondary, old, shares)
  await requireOpen(secondary, primary.shares)
  assert.equal(await follow(primary, secondary), true)
  await requireOpen(secondary, shares)
  assert.equal(await permit(secondary, old), false)
  assert.equal(await permit(secondary, shares), true)
  assert.equal(await follow(primary, secondary), false)
  assert.equal(await secondary.server.node.follow(before, before.id), false, 'it comes late')
  await restartWith(secondary, shares, old)
  await requireOpen(secondary, shares)
  assert.equal(await permit(secondary, shares), true)
}

for (const primary of KINDS) {
  for (const secondary of KINDS) {
    test(`S9: a ${secondary} secondary of a ${primary} primary goes on open and has its shares`, async () => {
      await check(await pair([primary, secondary]))
    })
  }
}

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'keywright-handover-'))
  context.after(() => rmSync(path, { recursive: true }))
  return path
}

test('S9: so it is on a store on disk, which every restart opens anew', async (context) => {
  const directory = folder(context)
  let store: Store | undefined
  context.after(() => store?.close())
  const open = async (): Promise<Store> => {
    await store?.close()
    store = await openSqliteStore({ directory, random: world.random, clock: world.clock })
    return store
  }
  await check(await pair(['static', 'shamir'], { open }))
})

for (const primary of KINDS) {
  for (const secondary of KINDS) {
    test(`S9: what a secondary took over it hands on, ${primary} to ${secondary} to each kind`, async () => {
      const first = await pair([primary, secondary])
      await activate(first.primary, first.secondary)
      for (const kind of KINDS) {
        const last = await cluster('secondary', kind)
        await activate(first.secondary, last)
        const shares = first.primary.shares
        await restartWith(last, shares, last.shares)
        await requireOpen(last, first.primary.shares)
        assert.equal(await permit(last, shares), true)
      }
    })
  }
}

test('S9: the name of a cluster and what it noted of itself stay its own, under the new keys', async () => {
  const { primary, secondary } = await pair(['shamir', 'static'])
  const { call, store } = secondary.server
  const before = (await call('GET', 'sys/health', undefined, '')).body
  const history = (await call('GET', 'sys/version-history')).body
  await activate(primary, secondary)
  await secondary.restart()
  const after = (await secondary.server.call('GET', 'sys/health', undefined, '')).body
  assert.deepEqual([after.cluster_name, after.cluster_id], [before.cluster_name, before.cluster_id])
  assert.notEqual(after.cluster_id, (await primary.server.call('GET', 'sys/health', undefined, '')).body.cluster_id)
  const noted = (await secondary.server.call('GET', 'sys/version-history')).body
  assert.deepEqual(noted.data ?? noted, history.data ?? history)
  assert.ok((await store.list('root/core/version/')).length > 0)
})

test('S9: the threads get the store back even if the seal cannot be loaded after an activation', async () => {
  const told: unknown[] = []
  const announce = async ({ store }: SealState) => void told.push(store)
  const { primary, secondary } = await pair(['shamir', 'shamir'], { announce })
  const { seal } = secondary.server.node
  const { load } = seal
  seal.load = () => Promise.reject(new Error('unreadable'))
  await assert.rejects(activate(primary, secondary), /unreadable/)
  seal.load = load
  assert.deepEqual(
    told.filter((store) => store !== undefined),
    ['detached', 'attached'],
  )
})

test('S9: the roots of the data are equal on both sides', async () => {
  const { primary, secondary } = await pair(['static', 'shamir'])
  await activate(primary, secondary)
  // What the opening added on this side comes to the other with the log.
  const sides = [primary, secondary].map(async ({ server }) => (await sentEntries(server.store)).map(({ key }) => key))
  const [theirs, ours] = await Promise.all(sides)
  assert.deepEqual(ours, theirs)
})

test('S9: the backup of the shares comes along, at the place that fits the seal, and the former ones go', async () => {
  const names = { shamir: 'unseal-shares-backup', static: 'recovery-shares-backup' } as const
  for (const kinds of KINDS.flatMap((one) => KINDS.map((other) => [one, other] as const))) {
    const { primary, secondary } = await pair(kinds)
    const put = async ({ server, kind }: Cluster, nonce: string): Promise<void> => {
      const value = SHARES_BACKUP.encode({ nonce, keys: { AB: ['00'] } })
      await server.node.storage.view(systemScope, SEAL_FOLDER).transaction(async (tx) => tx.put(names[kind], value))
    }
    await put(primary, 'of the primary')
    await put(secondary, 'of the secondary')
    await activate(primary, secondary)
    const { call, store } = secondary.server
    const path = secondary.kind === 'shamir' ? 'sys/rekey/backup' : 'sys/rekey/recovery-key-backup'
    assert.equal((await call('GET', path)).body.data?.nonce, 'of the primary')
    // A rekey without a backup ends it, here too.
    await rekey(primary, primary.shares)
    await follow(primary, secondary)
    for (const name of Object.values(names)) assert.equal(await store.get(SEAL_FOLDER + name), undefined)
  }
})

test('P-11: a second activation under the same keyring goes on from the count of its key', async () => {
  const { primary, secondary } = await pair(['shamir', 'static'])
  const used = async () => Number((await secondary.server.call('GET', 'sys/key-status')).body.encryptions)
  const own = (await secondary.server.store.get('root/core/keyring')) as Buffer
  await activate(primary, secondary)
  assert.ok((await used()) < 1000)
  secondary.server.node.storage.barrier.countFrom(3_000_000_000)
  await activate(primary, secondary)
  assert.ok((await used()) >= 3_000_000_000)
  await secondary.restart()
  assert.ok((await used()) >= 3_000_000_000)
  assert.notDeepEqual(await secondary.server.store.get('root/core/keyring'), own)
  // Neither does a way round by another set make it forget.
  const stranger = await cluster('primary', 'shamir')
  await activate(stranger, secondary)
  assert.ok((await used()) < 1000)
  await activate(primary, secondary)
  assert.ok((await used()) >= 3_000_000_000)
})

test('P-11: after an activation a key counts as used up if how often it was used here is not known', async () => {
  const { primary, secondary } = await pair(['shamir', 'static'])
  const activeTerm = ({ server }: typeof primary) => server.node.storage.barrier.keyring?.activeTerm
  await activate(primary, secondary)
  assert.equal(activeTerm(secondary), activeTerm(primary))
  for (const loses of ['missing', 'damaged'] as const) {
    const { bundle, ...records } = await handed(primary)
    await secondary.server.node.activate({ bundle, ...records }, async (write, key) =>
      copyTo(primary.server.store, secondary.server.store)(async (tx) => {
        if (loses === 'missing') tx.delete(systemScope, KEY_USE)
        else tx.put(systemScope, KEY_USE, Buffer.alloc(40, 1))
        await write(tx)
      }, key),
    )
    // In its role here it may add a term, so it seals nothing under this one: a secondary waits for the next.
    assert.notEqual(activeTerm(secondary), activeTerm(primary))
  }
})

test('S9: a bundle of another set is refused, and changes nothing', async () => {
  const [own, stranger] = [await pair(['shamir', 'shamir']), await cluster('primary', 'static')]
  await activate(own.primary, own.secondary)
  const refused = { name: 'BundleRefused', reason: 'set' }
  await assert.rejects(follow(stranger, own.secondary), refused)
  const bundle = await bundleOf(stranger)
  const { store } = own.primary.server
  const records = { keyring: await store.get('root/core/keyring'), leafKey: await store.get('root/core/leaf-key') }
  let isReplaced = false
  const replace = async () => {
    isReplaced = true
  }
  assert.ok(records.keyring !== undefined && records.leafKey !== undefined)
  const { keyring, leafKey } = records
  await assert.rejects(own.secondary.server.node.activate({ bundle, keyring, leafKey }, replace), refused)
  assert.equal(isReplaced, false)
  await requireOpen(own.secondary, own.primary.shares)
})

/** Puts an entry, and commits once `go` resolves. Once the entry is sealed, tells the end of the transaction. */
async function putLate({ server }: Cluster, key: string, go: Promise<unknown>): Promise<() => Promise<unknown>> {
  const put = Promise.withResolvers<void>()
  const ended = server.node.storage.view(systemScope, 'root/').transaction(async (tx) => {
    tx.put(key, Buffer.from('of before'))
    put.resolve()
    await go
  })
  ended.catch(() => {})
  await put.promise
  return () => ended
}

const OF_EACH_CLASS = ['sys/policy/late', 'sys/token/late', 'core/version/late']

test('A1: what was sealed before an activation is not committed under keys that are gone', async () => {
  for (const key of OF_EACH_CLASS) {
    const { primary, secondary } = await pair(['static', 'static'])
    // The second time the keys of the leaves are the same before and after.
    for (let round = 1; round <= 2; round++) {
      const go = Promise.withResolvers<void>()
      const ended = await putLate(secondary, key, go.promise)
      await activate(primary, secondary)
      go.resolve()
      await assert.rejects(ended(), { name: 'Sealed' }, key)
      assert.equal(await secondary.server.store.get(`root/${key}`), undefined)
    }
  }
})

test('A1: what was sealed before an ordinary seal is committed after it, and opens', async () => {
  for (const key of OF_EACH_CLASS) {
    const own = await cluster('primary', 'static')
    const { server } = own
    const go = Promise.withResolvers<void>()
    const ended = await putLate(own, key, go.promise)
    await server.node.operations.seal()
    await server.node.openByItself()
    go.resolve()
    await ended()
    assert.deepEqual(await server.node.storage.view(systemScope, 'root/').get(key), Buffer.from('of before'))
  }
})

test('S9: a sealed server takes nothing over', async () => {
  const { primary, secondary } = await pair(['shamir', 'shamir'])
  await secondary.server.node.operations.seal()
  await assert.rejects(activate(primary, secondary), { code: 'sealed' })
  await assert.rejects(follow(primary, secondary), { code: 'sealed' })
  await assert.rejects(secondary.server.node.bundle(), { code: 'sealed' })
  assert.equal(await opens(secondary, secondary.shares), true)
})

for (const kinds of [
  ['shamir', 'shamir'],
  ['static', 'shamir'],
  ['shamir', 'static'],
] as const) {
  test(`S9: killed anywhere, a ${kinds[1]} secondary of a ${kinds[0]} one opens by old or new`, async () => {
    const seen = new Set<string>()
    for (let step = 0, isOver = false; !isOver; step++) {
      const faults = new Faults()
      const backend = faultyBackend(new MemoryBackend(world.random.bytes(HISTORY_ID_BYTES)), faults)
      const { primary, secondary } = await pair(kinds, { open: () => openStore(backend, { clock: world.clock }) })
      const own = secondary.shares
      faults.passing = step
      const error = await activate(primary, secondary).then(
        () => undefined,
        (cause: unknown) => cause,
      )
      isOver = error === undefined && faults.passing !== undefined
      faults.passing = undefined
      await secondary.restart()
      const isNew = kinds[1] === 'static' ? undefined : await opens(secondary, primary.shares)
      if (isNew === false) assert.equal(await opens(secondary, own), true, `step ${step}`)
      assert.equal((await status(secondary)).sealed, false, `step ${step}`)
      const { call } = secondary.server
      const policies = [
        await call('GET', 'sys/policies/acl/of-the-primary'),
        await call('GET', 'sys/policies/acl/of-the-secondary'),
      ]
      const found = policies.map((answer) => answer.status).join()
      seen.add(found)
      if (isNew !== undefined) assert.equal(found, isNew ? '200,404' : '404,200', `step ${step}`)
      assert.equal(await permit(secondary, found === '200,404' ? primary.shares : own), true, `step ${step}`)
    }
    assert.deepEqual([...seen].sort(), ['200,404', '404,200'])
  })
}

test('S9: killed around a rekey that it takes over, a secondary opens by the old shares or the new', async () => {
  for (const kind of KINDS) {
    const seen = new Set<boolean>()
    for (let step = 0, isOver = false; !isOver; step++) {
      const faults = new Faults()
      const backend = faultyBackend(new MemoryBackend(world.random.bytes(HISTORY_ID_BYTES)), faults)
      const { primary, secondary } = await pair(['shamir', kind], {
        open: () => openStore(backend, { clock: world.clock }),
      })
      await activate(primary, secondary)
      const shares = await rekey(primary, primary.shares)
      faults.passing = step
      const isTaken = await follow(primary, secondary).catch(() => false)
      isOver = faults.passing !== undefined
      faults.passing = undefined
      const [right, wrong] = isTaken ? [shares, primary.shares] : [primary.shares, shares]
      await restartWith(secondary, right, wrong)
      await requireOpen(secondary, right)
      assert.deepEqual([await permit(secondary, wrong), await permit(secondary, right)], [false, true])
      seen.add(isTaken)
    }
    assert.equal(seen.size, 2)
  }
})

test('S9: a rekey hands its bundle on, with an id of its own, and wipes it when that is done', async () => {
  for (const kind of KINDS) {
    const handedOn: SealBundle[] = []
    const ids: string[] = []
    const done = Promise.withResolvers<void>()
    const onRekeyed = async (bundle: SealBundle): Promise<void> => {
      handedOn.push(bundle)
      ids.push(bundle.id)
      await done.promise
    }
    const primary = await cluster('primary', kind, { onRekeyed })
    const first = await bundleOf(primary)
    const shares = await rekey(primary, primary.shares)
    await rekey(primary, shares)
    assert.equal(new Set([first.id, ...ids]).size, 3)
    const last = await bundleOf(primary)
    assert.deepEqual([last.id, last.shareConfig], [ids[1], { shares: 5, threshold: 3 }])
    const keys = handedOn.map(({ rootKey }) => rootKey)
    for (const rootKey of keys) assert.ok(rootKey.equals(first.rootKey))
    done.resolve()
    await done.promise
    await turns(2)
    for (const rootKey of keys) assert.deepEqual(rootKey.reveal(), Buffer.alloc(rootKey.length))
  }
})

test('S9: a secondary hands the new shares of its primary on to the clusters that follow it', async () => {
  const ids: string[] = []
  const onRekeyed = async ({ id }: SealBundle): Promise<void> => void ids.push(id)
  const { primary, secondary } = await pair(['shamir', 'static'], { onRekeyed })
  await activate(primary, secondary)
  await rekey(primary, primary.shares)
  await follow(primary, secondary)
  await follow(primary, secondary)
  assert.deepEqual(ids, [primary.server.node.seal.id])
})

test('S9: a rekey gives its shares, though the bundle could not be handed on', async () => {
  for (const fails of [() => Promise.reject(new Error('no link')), () => assert.fail('no link')]) {
    const primary = await cluster('primary', 'shamir', { onRekeyed: fails })
    const shares = await rekey(primary, primary.shares)
    await primary.restart()
    assert.equal(await opens(primary, shares), true)
  }
})

test('S9: a cluster that follows another is not rekeyed, also where the rekey had begun before', async () => {
  for (const kind of KINDS) {
    const own = await cluster('secondary', kind)
    const path = kind === 'static' ? 'sys/rekey-recovery-key' : 'sys/rekey'
    const { call, node } = own.server
    const body = { secret_shares: 1, secret_threshold: 1, require_verification: true }
    const begin = async () => (await call('PUT', `${path}/init`, body, '')).body.nonce
    const give = (what: string, key: unknown, nonce: unknown) => call('PUT', `${path}/${what}`, { key, nonce }, '')
    const nonce = await begin()
    await give('update', own.shares[0], nonce)
    const asSecondary = async (work: () => ReturnType<typeof call>): Promise<void> => {
      await node.changeRole({ role: SECONDARY, primaryAddress: '' })
      const { status: code, body: told } = await work()
      assert.deepEqual(
        [code, /A performance secondary does not do that: send the request to the primary/.test(JSON.stringify(told))],
        [400, true],
        JSON.stringify(told),
      )
      await node.changeRole(FOLLOWS_NONE)
    }
    await asSecondary(() => give('update', own.shares[1], nonce))
    const made = (await give('update', own.shares[1], nonce)).body
    const [key] = made.keys as string[]
    await asSecondary(() => give('verify', key, made.verification_nonce))
    await call('DELETE', `${path}/init`, undefined, '')
    await asSecondary(() => call('PUT', `${path}/init`, body, ''))
    assert.equal((await call('GET', `${path}/init`, undefined, '')).body.started, false)
    await restartWith(own, own.shares, ['ab'.repeat(33), 'cd'.repeat(33)])
  }
})

test('S9: on a performance secondary the shares of the primary make a root token', async () => {
  for (const kind of KINDS) {
    const { primary, secondary } = await pair(['shamir', kind])
    await activate(primary, secondary)
    await secondary.server.node.changeRole({ role: SECONDARY, primaryAddress: '' })
    assert.equal(await permit(secondary, secondary.shares), false)
    assert.equal(await permit(secondary, primary.shares), true)
  }
})

test('S9: of the secrets of a bundle nothing is left behind a taking over', async (t) => {
  const { primary, secondary } = await pair(['static', 'static'])
  await activate(primary, secondary)
  await rekey(primary, primary.shares)
  const bundle = await bundleOf(primary)
  const secrets = [bundle.rootKey, bundle.proof.kind === 'key' ? bundle.proof.key : assert.fail()]
  const hex = secrets.map((secret) => secret.reveal().toString('hex'))
  const { fill } = Buffer.prototype
  const wiped: string[] = []
  t.mock.method(Buffer.prototype, 'fill', function (this: Buffer, ...given: Parameters<typeof fill>) {
    if (given[0] === 0) wiped.push(this.toString('hex'))
    return fill.apply(this, given)
  })
  assert.equal(await secondary.server.node.follow(bundle, secondary.server.node.seal.id), true)
  // The root key is exported to be compared; the recovery key is encoded to be sealed.
  for (const secret of hex) assert.ok(wiped.includes(secret))
  wipeBundle(bundle)
  for (const secret of secrets) assert.deepEqual(secret.reveal(), Buffer.alloc(32))
})
