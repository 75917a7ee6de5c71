// S15: a client that declares what is to be there (Terraform's provider) writes all of a resource, reads it back, and
// plans a change for whatever differs: nothing may, after a creation, after each change, or when it is read first.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'

let server: CloudServer
before(async () => {
  server = await startCloudServer()
  await server.call('POST', 'sys/auth/declared', { type: 'azure' })
})
after(() => server.stop())

type Declared = Readonly<Record<string, unknown>>

/** What the client cannot see, it does not compare. */
const UNREAD = ['client_secret']

const CONFIG = 'auth/declared/config'
const FIRST_CONFIG: Declared = {
  tenant_id: SAMPLE.tenant,
  resource: 'https://management.azure.com/',
  client_id: SAMPLE.clientId,
  client_secret: 'first',
}
const CONFIG_CHANGES: readonly Declared[] = [
  { resource: 'https://vault.example.com/' },
  { environment: 'AzurePublicCloud' },
  { client_secret: 'second' },
  { client_id: SAMPLE.tenant },
  { root_password_ttl: 86_400 },
  { max_retries: 5 },
  { rotation_period: 3_600 },
  { rotation_period: 0, rotation_schedule: '0 3 * * 6', rotation_window: 7_200 },
  { disable_automated_rotation: true },
  { rotation_schedule: '', rotation_window: 0, disable_automated_rotation: false },
  { auth_type: 'msi' },
  { auth_type: '', identity_token_ttl: 1_800 },
]

const ROLE = 'auth/declared/role/r'
const FIRST_ROLE: Declared = { bound_subscription_ids: [SAMPLE.subscription] }
const ROLE_CHANGES: readonly Declared[] = [
  { bound_service_principal_ids: [SAMPLE.tenant] },
  { bound_group_ids: [SAMPLE.tenant] },
  { bound_resource_groups: ['rg-app'] },
  { bound_locations: ['westeurope'] },
  { bound_scale_sets: ['set'] },
  { token_policies: ['default', 'one'] },
  { token_ttl: 600 },
  { token_max_ttl: 1_200 },
  { token_explicit_max_ttl: 2_400 },
  { token_period: 300 },
  { token_num_uses: 3 },
  { token_no_default_policy: true },
  { token_bound_cidrs: ['127.0.0.0/8'] },
  { token_type: 'service' },
]

const RESOURCES = [
  { name: 'a configuration', path: CONFIG, first: FIRST_CONFIG, changes: CONFIG_CHANGES },
  { name: 'a role', path: ROLE, first: FIRST_ROLE, changes: ROLE_CHANGES },
] as const

async function write(path: string, declared: Declared): Promise<void> {
  const { status } = await server.call('POST', path, declared)
  assert.ok(status === 204 || status === 200, `${JSON.stringify(declared)}: ${status}`)
}

async function seen(path: string): Promise<Declared> {
  const { status, body } = await server.call('GET', path)
  assert.equal(status, 200)
  return body.data as Declared
}

function assertAsDeclared(found: Declared, declared: Declared): void {
  for (const [name, value] of Object.entries(declared))
    if (!UNREAD.includes(name)) assert.deepEqual(found[name], value, name)
}

for (const { name, path, first, changes } of RESOURCES) {
  test(`S15: ${name} does not drift when it is created, changed field by field, imported and destroyed`, async () => {
    let declared = first
    await write(path, declared)
    assertAsDeclared(await seen(path), declared)
    for (const change of changes) {
      const before = await seen(path)
      declared = { ...declared, ...change }
      await write(path, declared)
      const found = await seen(path)
      assertAsDeclared(found, declared)
      // What this client never heard of is as it was.
      const others = Object.keys(before).filter((member) => !Object.hasOwn(declared, member))
      for (const member of others) assert.deepEqual(found[member], before[member], member)
    }
    // An import has nothing but the path: what it reads can be declared, and changes nothing.
    const imported = await seen(path)
    const known = Object.fromEntries(
      Object.keys(declared).map((member) => [member, imported[member] ?? declared[member]]),
    )
    await write(path, known)
    assert.deepEqual(await seen(path), imported)
    assert.equal((await server.call('DELETE', path)).status, 204)
    assert.equal((await server.call('GET', path)).status, 404)
  })
}
