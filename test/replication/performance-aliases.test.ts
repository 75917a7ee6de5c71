// Whole servers in virtual time: what becomes of the aliases that a performance secondary has at a login mount of its
// own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bothWays, performanceServers } from '../fixtures/replicated-servers.ts'

const PASSWORD = { password: 'x' }

/** A secondary with a login mount of its own, and a user who has logged in there. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  await secondary.must('POST', 'sys/auth/own', { type: 'userpass', local: true })
  await secondary.must('POST', 'auth/own/users/ann', PASSWORD)
  const login = async () => {
    const { auth } = (await secondary.must('POST', 'auth/own/login/ann', PASSWORD, '')).body
    return auth as { readonly client_token: string; readonly entity_id: string }
  }
  const { entity_id: entity } = await login()
  await level()
  const aliasesOf = async (id: string): Promise<readonly string[]> => {
    const { aliases } = (await secondary.must('GET', `identity/entity/id/${id}`)).body.data ?? {}
    return (aliases as { readonly id: string }[]).map((one) => one.id)
  }
  return { servers, primary, secondary, level, login, entity, aliasesOf }
}

test('what a local alias or mount cannot be used for is refused with a sentence that says so', async () => {
  const { primary, secondary, level, entity, aliasesOf } = await started(7)
  await primary.must('POST', 'sys/auth/up', { type: 'userpass' })
  const group = (await primary.must('POST', 'identity/group', { name: 'g', type: 'external' })).body.data?.id
  await level()
  const accessorOf = async (path: string) => (await secondary.must('GET', `sys/auth/${path}`)).body.data?.accessor
  const [own, up] = [await accessorOf('own'), await accessorOf('up')]
  const shared = (await secondary.must('POST', 'identity/entity-alias', { name: 'bob', mount_accessor: up })).body.data
  const refused = async (path: string, sent: object, said: RegExp) => {
    const { status, body } = await secondary.call('POST', path, sent)
    assert.equal(status, 400)
    assert.match(String(body.errors), said)
  }
  const noMount = /no login mount that the clusters of the set share has this accessor; one that is local/
  await refused('identity/group-alias', { name: 'gg', mount_accessor: own, canonical_id: group }, noMount)
  await refused(`identity/entity-alias/id/${shared?.id}`, { mount_accessor: own }, noMount)
  const local = `identity/entity-alias/id/${(await aliasesOf(entity))[0]}`
  const noAlias = /no alias that the clusters of the set share has this id; .* delete it, and make one there/
  await refused(local, { mount_accessor: up }, noAlias)
  assert.equal((await secondary.must('GET', local)).body.data?.mount_accessor, own)
})

test('a merge takes no local alias of a secondary along: who logs in there gets an entity of his own', async () => {
  const { primary, secondary, level, login, entity, aliasesOf } = await started(8)
  const { client_token: before } = await login()
  const into = String((await primary.must('POST', 'identity/entity', { name: 'into' })).body.data?.id)
  await primary.must('POST', 'identity/entity/merge', { from_entity_ids: [entity], to_entity_id: into })
  await level()
  assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, before)).status, 403)
  const { entity_id: after } = await login()
  await level()
  assert.ok(![entity, into].includes(after))
  assert.deepEqual([(await aliasesOf(after)).length, (await aliasesOf(into)).length], [1, 0])
})

test('a namespace that the primary has locked gets no entity, also before the secondary knows of it', async () => {
  const { servers, primary, secondary, level } = await started(9)
  await primary.must('POST', 'sys/namespaces/team', {})
  await level()
  await secondary.must('POST', 'team/sys/auth/own', { type: 'userpass', local: true })
  await secondary.must('POST', 'team/auth/own/users/bob', PASSWORD)
  for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: 200 })
  const { unlock_key } = (await primary.must('POST', 'sys/namespaces/api-lock/lock/team')).body.data ?? {}
  const { status, body } = await secondary.call('POST', 'team/auth/own/login/bob', PASSWORD, '')
  assert.equal(status, 503)
  assert.match(String(body.errors), /"team\/" must be unlocked/)
  await primary.must('POST', 'sys/namespaces/api-lock/unlock/team', { unlock_key })
  assert.equal((await primary.call('LIST', 'team/identity/entity/id')).status, 404)
  await level()
  await secondary.must('POST', 'team/auth/own/login/bob', PASSWORD, '')
})
