// Every case of cloud logins, against the emulator; login and explain say the same of each.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudHouse, CONFIG, startCloudHouse } from '../fixtures/cloud-house.ts'
import { DEFAULT_INPUT, INPUTS, LOGIN_CASES, type LoginCase } from './login-cases.ts'

let house: CloudHouse
before(async () => {
  house = await startCloudHouse()
})
after(() => house.stop())

const RESET = { require_resource_fields: true, accept_v2_tokens: false, check_group_overage: false, max_retries: 2 }

/** Places in the lists of roles where an id of the sample is meant. */
function filled(role: object): object {
  const vm1 = house.oid(house.vm('vm1'))
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
  const written = await house.role(name, filled(fields))
  assert.ok(written.status < 300, JSON.stringify(written))
  const jwt = await (token === undefined ? house.emulator.minting.ofResource(house.vm('vm1')) : token(house))
  return { role: name, jwt, ...DEFAULT_INPUT, ...INPUTS[id]?.(house), ...input }
}

const countAt = async (path: string): Promise<number> => {
  const { keys = [] } = ((await house.call('LIST', path)).body.data ?? {}) as { readonly keys?: readonly string[] }
  return keys.length
}
const count = async () => [await countAt('identity/entity/id'), await countAt('auth/token/accessors')]

for (const each of LOGIN_CASES) {
  test(`${each.id}: ${each.name}`, async () => {
    await house.configure({ ...RESET, ...each.config })
    const undo = await each.around?.(house)
    try {
      const request = await prepare(each)
      const before = await count()
      const explained = await house.call('POST', 'auth/cloud/explain', request)
      const answer = await house.login(request)
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
  await house.configure(RESET)
  const request = await prepare({ id: 'new', name: '', wanted: 'allow' })
  const before = await count()
  const first = await house.call('POST', 'auth/cloud/explain', { ...request, remote_address: '127.0.0.1' })
  assert.equal(first.body.data?.allowed, true)
  assert.deepEqual(await count(), before)
  house.advance(31)
  const action = { kind: 'status', status: 500 } as const
  const undo = house.emulator.faults.add({ service: 'resourceManager', path: '**', action })
  const bound = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
  await house.role('asks', bound)
  const lines = house.lines.length
  const failed = await house.call('POST', 'auth/cloud/explain', { ...request, role: 'asks', vm_name: 'vm1' })
  undo()
  assert.deepEqual([failed.body.data?.status, failed.body.data?.reason], [502, 'resource manager unavailable'])
  assert.match(house.lines.slice(lines).join(), /A login was refused.*"request_id":"[^"]+".*status 500/)
})

test('L15: a mount that is not configured', async () => {
  await house.call('POST', 'sys/auth/empty', { type: 'azure' })
  await house.role('r', { bound_service_principal_ids: ['x'] }, 'auth/empty')
  const { status, body } = await house.login({ role: 'r', jwt: 'a.b.c', ...DEFAULT_INPUT }, 'auth/empty')
  assert.deepEqual([status, body.errors], [400, ['tenant_id is required']])
})

test('L44: a token can be shown again, until it ends', async () => {
  await house.configure(RESET)
  const request = await prepare({ id: 'L44', name: '', wanted: 'allow' })
  assert.deepEqual([(await house.login(request)).status, (await house.login(request)).status], [200, 200])
})

test('L109: an entity that was disabled', async () => {
  const request = await prepare({ id: 'L109', name: '', wanted: 'allow' })
  const { entity_id: id } = (await house.login(request)).body.auth as { entity_id: string }
  await house.call('POST', `identity/entity/id/${id}`, { disabled: true })
  const refused = await house.login(request)
  const explained = (await house.call('POST', 'auth/cloud/explain', request)).body.data as Explained
  await house.call('POST', `identity/entity/id/${id}`, { disabled: false })
  assert.deepEqual([explained.allowed, explained.status, explained.reason], [false, 403, 'permission denied'])
  assert.equal(explained.checks.find(({ verdict }) => verdict === 'failed')?.name, 'entity of the caller')
  assert.deepEqual([refused.status, (await house.login(request)).status], [403, 200])
})

test('no login case sent a path that was not put together here', () => {
  for (const { path, service } of house.emulator.requests.list()) {
    assert.ok(!/\.\.|%2f|\/\//i.test(path), `${service} ${path}`)
  }
  assert.ok(house.emulator.requests.count() > 50)
  assert.equal(CONFIG.environment, 'TestCloud')
})
