import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { answered, answeringCloud } from '../../../test/fixtures/answering-cloud.ts'
import type { JsonValue } from '../../lib/json.ts'
import { AccessTokens } from './access-tokens.ts'
import { definedCloud } from './clouds.ts'
import { LoginDeadline } from './deadline.ts'
import { Graph } from './graph.ts'
import { CloudUnavailable } from './refusals.ts'

const cloud = definedCloud({
  name: 'Test',
  authority: 'https://login.test',
  resourceManager: 'https://manage.test',
  resourceManagerAudience: 'https://manage.test/',
  graph: 'https://graph.test',
  metadata: undefined,
})

/** A graph that refuses this many tokens of ours; each that is fetched has a number. */
function start(refused: number, applications: JsonValue[] = []) {
  let tokens = 0
  const shown: string[] = []
  const { world, upstream } = answeringCloud(({ url, headers }) => {
    if (url.startsWith(cloud.authority)) return answered(200, { access_token: `t${++tokens}`, expires_in: 3_600 })
    shown.push(headers.Authorization ?? '')
    return shown.length <= refused ? answered(401) : answered(200, { value: applications })
  })
  const credential = { kind: 'secret', secret: 's' } as const
  const asking = { cloud, tenant: 'contoso.test', clientId: 'c', credential }
  const proofs = { mint: () => assert.fail('not asked for'), readFile: () => assert.fail('not asked for') }
  const graph = new Graph(upstream, new AccessTokens(world, upstream, asking, proofs), cloud)
  return { shown, ask: () => graph.applications('c', new LoginDeadline(world)) }
}

test('a token of ours that the directory refuses is replaced once in a call', async () => {
  const once = start(1)
  assert.deepEqual(await once.ask(), [])
  assert.deepEqual(once.shown, ['Bearer t1', 'Bearer t2'])
  await once.ask()
  assert.equal(once.shown.at(-1), 'Bearer t2')
  const twice = start(2)
  await assert.rejects(twice.ask(), CloudUnavailable)
  assert.deepEqual(twice.shown, ['Bearer t1', 'Bearer t2'])
  await twice.ask()
  assert.equal(twice.shown.at(-1), 'Bearer t3')
})

test('secrets without an id in the list of an application are passed over, the others are read', async () => {
  const [id, keyId] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const passwordCredentials = [null, 's', {}, { keyId: 7 }, { keyId: 'x' }, { keyId, displayName: 'n', hint: 'abc' }]
  assert.deepEqual(await start(0, [{ id, passwordCredentials }]).ask(), [
    { objectId: id, credentials: [{ keyId, name: 'n', hint: 'abc' }] },
  ])
  for (const broken of [null, {}, { id: 7 }, { id: 'x' }])
    await assert.rejects(start(0, [broken]).ask(), CloudUnavailable)
})
