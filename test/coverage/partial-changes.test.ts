// D-05: what is made in several steps, refused by storage at each of them in turn. The caller is told, nothing is half
// there, the server serves on, and asking again does it; the same after a restart.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../../src/lib/world.ts'
import { HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { openStore } from '../../src/storage/commit/transactional-store.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import { Faults, faultyBackend } from '../conformance/faulty-backend.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

type Stage = MemoryServer & { readonly faults: Faults; keys: readonly string[]; token: string }

const MAX_STEPS = 20

/** A server of one share and its root token, on storage that refuses when it is told to. */
async function start(): Promise<Stage> {
  const { random, clock } = realWorld()
  const faults = new Faults()
  const backend = faultyBackend(new MemoryBackend(random.bytes(HISTORY_ID_BYTES)), faults)
  const store = await openStore(backend, { clock })
  return { ...(await startMemoryServer({ store, threshold: 0 })), faults, keys: [], token: '' }
}

async function init(stage: Stage): Promise<Called> {
  const made = await stage.call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
  if (made.status === 200) Object.assign(stage, { keys: made.body.keys, token: made.body.root_token })
  return made
}

const unseal = async (stage: MemoryServer, keys: readonly string[]): Promise<boolean> => {
  for (const key of keys) await stage.call('PUT', 'sys/unseal', { key }, '')
  return (await stage.call('GET', 'sys/seal-status', undefined, '')).body.sealed === false
}

type Change = {
  readonly name: string
  readonly prepare: (stage: Stage) => Promise<void>
  readonly run: (stage: Stage) => Promise<Called>
  /** Told from outside. */
  readonly isDone: (stage: Stage) => Promise<boolean>
}

const opened = async (stage: Stage): Promise<void> => {
  await init(stage)
  assert.ok(await unseal(stage, stage.keys))
}
const mounts = async ({ call, token }: Stage): Promise<object> =>
  (await call('GET', 'sys/mounts', undefined, token)).body.data ?? {}
const mount = ({ call, token }: Stage) => call('POST', 'sys/mounts/t', { type: 'transit' }, token)

const CHANGES: readonly Change[] = [
  {
    name: 'init',
    prepare: async () => {},
    run: init,
    isDone: async ({ call }) => (await call('GET', 'sys/init', undefined, '')).body.initialized === true,
  },
  { name: 'mount', prepare: opened, run: mount, isDone: async (stage) => 't/' in (await mounts(stage)) },
  {
    name: 'unmount',
    prepare: async (stage) => {
      await opened(stage)
      await mount(stage)
      for (const name of ['a', 'b', 'c']) await stage.call('POST', `t/keys/${name}`, {}, stage.token)
    },
    run: ({ call, token }) => call('DELETE', 'sys/mounts/t', undefined, token),
    isDone: async (stage) => !('t/' in (await mounts(stage))),
  },
  {
    name: 'rotate',
    prepare: opened,
    run: ({ call, token }) => call('POST', 'sys/rotate', undefined, token),
    isDone: async ({ call, token }) => (await call('GET', 'sys/key-status', undefined, token)).body.term === 2,
  },
  {
    name: 'rekey',
    prepare: opened,
    run: async (stage) => {
      const numbers = { secret_shares: 2, secret_threshold: 2 }
      const begun = await stage.call('PUT', 'sys/rekey/init', numbers, '')
      // Asked again after a refusal: the attempt is still there.
      const { nonce } = begun.status === 200 ? begun.body : (await stage.call('GET', 'sys/rekey/init')).body
      const done = await stage.call('PUT', 'sys/rekey/update', { key: stage.keys[0], nonce }, '')
      if (done.status === 200) stage.keys = done.body.keys as string[]
      return done
    },
    isDone: async ({ call }) => (await call('GET', 'sys/seal-status', undefined, '')).body.n === 2,
  },
]

for (const { name, prepare, run, isDone } of CHANGES) {
  test(`D-05: ${name} that storage refuses at any of its steps is done whole when it is asked for again`, async () => {
    let refused = 0
    for (let step = 0; ; step++) {
      assert.ok(step < MAX_STEPS)
      const stage = await start()
      await prepare(stage)
      stage.faults.passing = step
      const first = await run(stage)
      if (stage.faults.passing !== undefined) {
        assert.ok(first.status < 300)
        break
      }
      refused++
      // A step behind the one that decides may fail, as where the data of a mount that is gone are removed: that is
      // told as well, and done at the next unseal.
      const wasDone = await isDone(stage)
      if (first.status < 300) assert.ok(wasDone, `step ${step}`)
      else assert.equal(first.status, 507, `step ${step}: ${JSON.stringify(first.body)}`)
      if (!wasDone) {
        const again = await run(stage)
        assert.ok(again.status < 300, `step ${step}: ${JSON.stringify(again.body)}`)
      }
      assert.equal(await isDone(stage), true, `step ${step}`)
      const restarted = { ...stage, ...(await startMemoryServer({ store: stage.store, threshold: 0 })) }
      assert.ok(await unseal(restarted, stage.keys), `step ${step}: the shares open it`)
      assert.equal(await isDone(restarted), true, `step ${step}, after a restart`)
      const written = await restarted.call('POST', 'sys/policies/acl/p', { policy: 'path "a" { }' }, stage.token)
      assert.equal(written.status, 204)
      if (name === 'unmount') assert.deepEqual(await stage.store.scan('root/logical/', '', 10), [])
    }
    assert.ok(refused > 0, 'nothing was refused, so the test shows nothing')
  })
}
