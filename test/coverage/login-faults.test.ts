// T-10, P-30: a request for a token that storage refuses at any of its steps, a read or a write, leaves no token: the
// caller is told, and the next one works.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../../src/lib/world.ts'
import { type Backend, HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { openStore } from '../../src/storage/commit/transactional-store.ts'
import { StorageFailed } from '../../src/storage/errors.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import { Faults, faultyBackend } from '../conformance/faulty-backend.ts'
import { type Called, type Headers, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

/** Counts down over reads; the one at zero fails. */
class ReadFaults {
  passing: number | undefined

  take(): void {
    if (this.passing === 0) {
      this.passing = undefined
      throw new StorageFailed('Told to fail')
    }
    if (this.passing !== undefined) this.passing--
  }
}

function withReadFaults(backend: Backend, faults: ReadFaults): Backend {
  return {
    ...backend,
    get: async (key) => {
      faults.take()
      return backend.get(key)
    },
    list: async (prefix, after, limit) => {
      faults.take()
      return backend.list(prefix, after, limit)
    },
    heads: async (keys) => {
      faults.take()
      return backend.heads(keys)
    },
  }
}

type Stage = MemoryServer & { readonly writes: Faults; readonly reads: ReadFaults }

async function start(): Promise<Stage> {
  const { random, clock } = realWorld()
  const [writes, reads] = [new Faults(), new ReadFaults()]
  const backend = faultyBackend(new MemoryBackend(random.bytes(HISTORY_ID_BYTES)), writes)
  const store = await openStore(withReadFaults(backend, reads), { clock })
  const empty = await startMemoryServer({ store, threshold: 0 })
  const made = await empty.call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
  const [key] = made.body.keys as string[]
  await empty.call('PUT', 'sys/unseal', { key }, '')
  // Whatever else reads or writes would take the fault.
  empty.node.expiry.stop()
  empty.node.policySweep.stop()
  empty.node.namespaceDeletion.stop()
  empty.node.ownPartOfNamespaces.stop()
  const root = String(made.body.root_token)
  const call: MemoryServer['call'] = (method, path, body, token = root, headers = {}) =>
    empty.call(method, path, body, token, headers)
  return { ...empty, call, writes, reads }
}

type TokenRequest = {
  readonly name: string
  /** Returns the body of the request. */
  readonly prepare: (stage: Stage) => Promise<object>
  readonly path: string
  readonly headers?: Headers
  /** Undefined: the root token's. */
  readonly by?: ''
}

async function secretOf({ call }: Stage): Promise<object> {
  await call('POST', 'sys/auth/approle', { type: 'approle' })
  await call('POST', 'auth/approle/role/r', { token_policies: ['a'] })
  const role = (await call('GET', 'auth/approle/role/r/role-id')).body.data
  // Of two uses a failed login may cost one.
  const secret = (await call('POST', 'auth/approle/role/r/secret-id', { num_uses: 2 })).body.data
  return { role_id: role?.role_id, secret_id: secret?.secret_id }
}

async function passwordOf({ call }: Stage): Promise<object> {
  await call('POST', 'sys/auth/people', { type: 'userpass' })
  await call('POST', 'auth/people/users/ann', { password: 'secret', token_policies: ['a'] })
  return { password: 'secret' }
}

const REQUESTS: readonly TokenRequest[] = [
  { name: 'a password', prepare: passwordOf, path: 'auth/people/login/ann', by: '' },
  { name: 'a secret id', prepare: secretOf, path: 'auth/approle/login', by: '' },
  {
    name: 'a password, wrapped,',
    prepare: passwordOf,
    path: 'auth/people/login/ann',
    headers: { wrapTtl: '60' },
    by: '',
  },
  { name: 'a child, wrapped,', prepare: async () => ({}), path: 'auth/token/create', headers: { wrapTtl: '60' } },
]

const MOST_STEPS = 60

/** Whatever leads to a token, or is one. */
async function tokensIn({ store }: Stage): Promise<string[]> {
  const keys = (await store.scan('root/sys/', '', 10_000)).map(({ key }) => key)
  return keys.filter((key) => /^root[/]sys[/](token|lease|cubbyhole)[/]/.test(key))
}

for (const { name, prepare, path, headers, by } of REQUESTS) {
  for (const kind of ['reads', 'writes'] as const) {
    test(`T-10, P-30: a token for ${name} whose ${kind} fail at any step leaves no token`, async () => {
      let refused = 0
      for (let step = 0; ; step++) {
        assert.ok(step < MOST_STEPS)
        const stage = await start()
        const body = await prepare(stage)
        const before = await tokensIn(stage)
        const ask = (): Promise<Called> => stage.call('POST', path, body, by, headers)
        stage[kind].passing = step
        const first = await ask()
        const isOver = stage[kind].passing !== undefined
        stage[kind].passing = undefined
        if (isOver) {
          assert.equal(first.status, 200)
          break
        }
        refused++
        assert.ok(first.status >= 500 && first.body.auth === undefined, `step ${step}: ${JSON.stringify(first)}`)
        assert.equal(first.body.wrap_info, undefined)
        assert.deepEqual(await tokensIn(stage), before, `step ${step}`)
        const again = await ask()
        assert.equal(again.status, 200, `step ${step}: ${JSON.stringify(again.body)}`)
      }
      assert.ok(refused > 0, 'nothing was refused, so the test shows nothing')
    })
  }
}
