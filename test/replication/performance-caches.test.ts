// T80: each cache of stored values on a performance secondary is as new as what came from its primary, on the thread
// that writes and on one that serves. The server says which caches there are: one that is not named here fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { performanceServers } from '../fixtures/replicated-servers.ts'
import { servingBeside } from '../fixtures/serving-node.ts'

/** Of each cluster alone, or covered elsewhere. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'sys/token/id/': 'tokens are of each cluster',
  'sys/local-identity/': 'aliases at local mounts are of each cluster',
  'core/local-mounts/': 'local mounts are of each cluster',
  'core/local-audit/': 'local devices are of each cluster',
  'core/declared-audit/': 'declared devices are of each node',
  'core/tree-checks': 'checks are of each cluster',
  'core/purge': 'purges are of each cluster',
  'core/replication/performance/': 'what a filter lets this cluster have: T81 to T87',
  'core/reload/': 'resets of engines are of each cluster',
  'core/global-reload/': 'a reset shows nothing: src/system/reloads.test.ts',
  'core/wrapping-key': 'it is written once, before a set has secondaries',
  'core/index-key': 'likewise',
  'core/unmounting/': 'T78',
  'core/gone-namespace/': 'T78',
  'sys/managed-key/': 'there is no device here: src/managed-keys',
}

const POLICY = 'path "transit/keys/k" { capabilities = ["read"] }'
const KEY = 'transit/keys/k'
type Ids = Readonly<Record<string, string>>
type Row = {
  readonly of: readonly string[]
  readonly write: (ids: Ids) => readonly (readonly [string, string, object?])[]
  readonly read: string
  /** Whose token reads; missing: root. */
  readonly as?: 'member' | 'holder'
  /** Reads so often; the last answer counts. */
  readonly times?: number
}

const ROWS: readonly Row[] = [
  { of: ['core/mounts/'], write: () => [['POST', 'sys/mounts/more', { type: 'transit' }]], read: 'sys/mounts/more' },
  {
    of: ['core/mounts/'],
    write: () => [['POST', 'sys/mounts/more/tune', { description: 'x' }]],
    read: 'sys/mounts/more/tune',
  },
  { of: ['logical/'], write: () => [['POST', `${KEY}/rotate`]], read: KEY },
  { of: ['logical/'], write: () => [['POST', `${KEY}/config`, { min_decryption_version: 2 }]], read: KEY },
  {
    of: ['auth/'],
    write: () => [['POST', 'auth/userpass/users/ann', { policies: ['x'] }]],
    read: 'auth/userpass/users/ann',
  },
  {
    of: ['core/namespace/'],
    write: () => [['POST', 'sys/namespaces/team', { custom_metadata: { a: 'b' } }]],
    read: 'sys/namespaces/team',
  },
  { of: ['core/leaving-namespace/'], write: () => [['DELETE', 'sys/namespaces/team']], read: 'team/sys/mounts' },
  {
    of: ['sys/policy/'],
    write: () => [['POST', 'sys/policies/acl/held', { policy: 'path "a" {}' }]],
    read: KEY,
    as: 'holder',
  },
  {
    of: ['sys/identity/entity/'],
    write: ({ entity }) => [['POST', `identity/entity/id/${entity}`, { policies: ['keys'] }]],
    read: KEY,
    as: 'member',
  },
  {
    of: ['sys/identity/entity/'],
    write: ({ entity }) => [['POST', `identity/entity/id/${entity}`, { policies: [] }]],
    read: KEY,
    as: 'member',
  },
  {
    of: ['sys/identity/entity-group/'],
    write: ({ entity }) => [
      ['POST', 'identity/group', { name: 'inner', member_entity_ids: [entity] }],
      ['POST', 'identity/group/name/inner', { policies: ['keys'], member_entity_ids: [entity] }],
    ],
    read: KEY,
    as: 'member',
  },
  {
    of: ['sys/identity/group/'],
    write: ({ entity }) => [['POST', 'identity/group/name/inner', { policies: [], member_entity_ids: [entity] }]],
    read: KEY,
    as: 'member',
  },
  {
    of: ['sys/identity/group-parent/'],
    write: () => [['POST', 'identity/group', { name: 'outer', policies: ['keys'], member_group_ids: ['INNER'] }]],
    read: KEY,
    as: 'member',
  },
  {
    of: ['sys/identity/alias/', 'sys/identity/alias-retired/'],
    write: ({ alias }) => [['DELETE', `identity/entity-alias/id/${alias}`]],
    read: 'identity/entity/id/ENTITY',
  },
  {
    of: ['sys/quota/'],
    write: () => [['POST', 'sys/quotas/rate-limit/few', { path: 'transit/', rate: 1, interval: '1h' }]],
    read: KEY,
    times: 2,
  },
  {
    of: ['core/audit'],
    write: () => [['POST', 'sys/audit/shared', { type: 'file', options: { file_path: 'discard' } }]],
    read: 'sys/audit',
  },
  {
    of: ['sys/config/cors'],
    write: () => [['POST', 'sys/config/cors', { enabled: true, allowed_origins: ['https://a.test'] }]],
    read: 'sys/config/cors',
  },
  {
    of: ['sys/config/ui-headers'],
    write: () => [['POST', 'sys/config/ui/headers/x-one', { values: ['v'] }]],
    read: 'sys/config/ui/headers/x-one',
  },
  {
    of: ['sys/config/group-policy-application'],
    write: () => [['POST', 'sys/config/group-policy-application', { group_policy_application_mode: 'any' }]],
    read: 'sys/config/group-policy-application',
  },
  {
    // Kept in no cache, and to be read at each use.
    of: ['core/rotation'],
    write: () => [['POST', 'sys/rotate/config', { max_operations: 100_000_000 }]],
    read: 'sys/rotate/config',
  },
]

test('T80: what the primary writes is read on every thread of a secondary, past each cache', async () => {
  const { servers, primary, secondary } = await performanceServers(1)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', KEY)
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'x' })
  for (const name of ['keys', 'held']) await primary.must('POST', `sys/policies/acl/${name}`, { policy: POLICY })
  await primary.must('POST', 'sys/namespaces/team', {})
  await level()
  const login = await secondary.must('POST', 'auth/userpass/login/ann', { password: 'x' }, '')
  const { client_token: member, entity_id: entity } = login.body.auth as Ids
  const made = await secondary.must('POST', 'auth/token/create', { policies: ['held'] })
  const { client_token: holder } = made.body.auth as Ids
  const aliases = (await primary.must('GET', `identity/entity/id/${entity}`)).body.data?.aliases as readonly Ids[]
  const ids = { entity: entity ?? '', alias: aliases[0]?.id ?? '' }
  const tokens = { root: secondary.rootToken ?? '', member: member ?? '', holder: holder ?? '' }
  const serving = await servingBeside(secondary.server, tokens.root)

  const missing = secondary.server.node.invalidation.prefixes.filter(
    (prefix) =>
      !ROWS.some(({ of }) => of.includes(prefix)) && !Object.keys(NOT_HERE).some((one) => prefix.startsWith(one)),
  )
  assert.deepEqual(missing, [])
  for (const { of, write, read, as = 'root', times = 1 } of ROWS) {
    const path = read.replace('ENTITY', ids.entity)
    const onEach = async () => {
      const seen: string[] = []
      for (const send of [
        () => secondary.call('GET', path, undefined, tokens[as]),
        () => servers.time.until(serving.send('GET', path, undefined, { token: tokens[as] })),
      ]) {
        let answer = await send()
        for (let turn = 1; turn < times; turn++) answer = await send()
        seen.push(`${answer.status} ${JSON.stringify(answer.body.data ?? {})}`)
      }
      return seen
    }
    const before = await onEach()
    assert.equal(before[0], before[1], path)
    for (const [method, target, body] of write(ids)) {
      const inner = (await primary.call('GET', 'identity/group/name/inner')).body.data?.id
      const given = JSON.parse(JSON.stringify(body ?? {}).replace('INNER', String(inner)))
      await primary.must(method, target, given)
    }
    await servers.time.pass(1_000)
    await level()
    const after = await onEach()
    for (const [at, one] of after.entries()) assert.notEqual(one, before[at], `${of}: ${path} on thread ${at}`)
    assert.equal(after[0], after[1], `${of}: ${path}`)
  }
})
