// Every case of cloud logins, against the emulator; login and explain say the same of each.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudServer, CONFIG, startCloudServer } from '../fixtures/cloud-server.ts'
import { DEFAULT_INPUT, INPUTS, LOGIN_CASES, type LoginCase } from './login-cases.ts'

let server: CloudServer
before(async () => {
  server = await startCloudServer()
})
after(() => server.stop())

const RESET = { require_resource_fields: true, accept_v2_tokens: false, check_group_overage: false, max_retries: 2 }

/** Places in the lists of roles where an id of the sample is meant. */
function filled(role: object): object {
  const vm1 = server.oid(server.vm('vm1'))
  const text = JSON.stringify(role).replaceAll('"UPPER vm1"', `"${vm1.toUpperCase()}"`).replaceAll('"vm1"', `"${vm1}"`)
  return JSON.parse(text)
}

async function prepare({ id, role = {}, input, token }: LoginCase): Promise<object> {
  const name = `case-${id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')}`
  const isBound = Object.keys(role).some((key) => key.startsWith('bound_'))
  const fields = isBound ? role : { bound_service_principal_ids: ['vm1'], ...role }
  const written = await server.role(name, filled(fields))
  assert.ok(written.status < 300, JSON.stringify(written))
  const jwt = await (token === undefined ? server.emulator.minting.ofResource(server.vm('vm1')) : token(server))
  return { role: name, jwt, ...DEFAULT_INPUT, ...INPUTS[id]?.(server), ...input }
}

const countAt = async (path: string): Promise<number> => {
  const { keys = [] } = ((await server.call('LIST', path)).body.data ?? {}) as { readonly keys?: readonly string[] }
  return keys.length
}
const count = async () => [await countAt('identity/entity/id'), await countAt('auth/token/accessors')]

for (const each of LOGIN_CASES) {
  test(`${each.id}: ${each.name}`, async () => {
    await server.configure({ ...RESET, ...each.config })
    const undo = await each.around?.(server)
    try {
      const request = await prepare(each)
      const before = await count()
      const explained = await server.call('POST', 'auth/cloud/explain', request)
      const answer = await server.login(request)
      const errors = JSON.stringify(answer.body.errors ?? '')
      if (each.wanted === 'allow') {
        assert.equal(answer.status, 200, errors)
        const {
          role: _role,
          app_id: _id,
          ...names
        } = (answer.body.auth as { metadata: Record<string, string> }).metadata
        if (each.metadata !== undefined) assert.deepEqual(names, each.metadata)
      } else {
        const [status, reason] = each.wanted
        assert.equal(answer.status, status, errors)
        assert.match(String((answer.body.errors as string[])[0]), reason)
        assert.deepEqual(await count(), before, 'a refused login left something behind')
      }
      // What the address was, or was not, explain is told by a field of its own.
      assert.equal(explained.status, 200, JSON.stringify(explained.body))
      assert.deepEqual(
        [explained.body.data?.status, explained.body.data?.reason],
        [answer.status, (answer.body.errors as string[] | undefined)?.[0] ?? ''],
      )
    } finally {
      await undo?.()
    }
  })
}

type Explained = {
  readonly allowed: boolean
  readonly status: number
  readonly reason: string
  readonly checks: readonly { readonly name: string; readonly verdict: string }[]
}

test('explain makes no entity, and tells the log what the cloud said where it failed', async () => {
  await server.configure(RESET)
  const request = await prepare({ id: 'new', name: '', wanted: 'allow' })
  const before = await count()
  const first = await server.call('POST', 'auth/cloud/explain', { ...request, remote_address: '127.0.0.1' })
  assert.equal(first.body.data?.allowed, true)
  assert.deepEqual(await count(), before)
  server.advance(31)
  const action = { kind: 'status', status: 500 } as const
  const undo = server.emulator.faults.add({ service: 'resourceManager', path: '**', action })
  const bound = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
  await server.role('asks', bound)
  const lines = server.lines.length
  const failed = await server.call('POST', 'auth/cloud/explain', { ...request, role: 'asks', vm_name: 'vm1' })
  undo()
  assert.deepEqual([failed.body.data?.status, failed.body.data?.reason], [502, 'resource manager unavailable'])
  assert.match(server.lines.slice(lines).join(), /A login was refused.*"request_id":"[^"]+".*status 500/)
})

test('L15: a mount that is not configured', async () => {
  await server.call('POST', 'sys/auth/empty', { type: 'azure' })
  await server.role('r', { bound_service_principal_ids: ['x'] }, 'auth/empty')
  const { status, body } = await server.login({ role: 'r', jwt: 'a.b.c', ...DEFAULT_INPUT }, 'auth/empty')
  assert.deepEqual([status, body.errors], [400, ['tenant_id is required']])
})

test('L44: a token can be shown again, until it ends', async () => {
  await server.configure(RESET)
  const request = await prepare({ id: 'L44', name: '', wanted: 'allow' })
  assert.deepEqual([(await server.login(request)).status, (await server.login(request)).status], [200, 200])
})

test('L109: an entity that was disabled', async () => {
  const request = await prepare({ id: 'L109', name: '', wanted: 'allow' })
  const { entity_id: id } = (await server.login(request)).body.auth as { entity_id: string }
  await server.call('POST', `identity/entity/id/${id}`, { disabled: true })
  const refused = await server.login(request)
  const explained = (await server.call('POST', 'auth/cloud/explain', request)).body.data as Explained
  await server.call('POST', `identity/entity/id/${id}`, { disabled: false })
  assert.deepEqual([explained.allowed, explained.status, explained.reason], [false, 403, 'permission denied'])
  assert.equal(explained.checks.find(({ verdict }) => verdict === 'failed')?.name, 'entity of the caller')
  assert.deepEqual([refused.status, (await server.login(request)).status], [403, 200])
})

test('no login case sent a path that was not put together here', () => {
  for (const { path, service } of server.emulator.requests.list()) {
    assert.ok(!/\.\.|%2f|\/\//i.test(path), `${service} ${path}`)
  }
  assert.ok(server.emulator.requests.count() > 50)
  assert.equal(CONFIG.environment, 'TestCloud')
})
