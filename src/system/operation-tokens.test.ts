// What whole clusters do with operation tokens is in test/replication/operation-tokens.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithRole } from '../../test/fixtures/roles.ts'
import { servingBeside } from '../../test/fixtures/serving-node.ts'

const AT = 'sys/replication/dr/secondary'

test('a thread that only serves has tokens judged where writes are made, from body and header', async () => {
  const server = await startWithRole()
  const serving = await servingBeside(server)
  await server.become({ dr: 'secondary' })
  const sent = async (body: object, token: string): Promise<readonly [number, string]> => {
    const answer = await serving.send('POST', `${AT}/generate-public-key`, Buffer.from(JSON.stringify(body)), { token })
    return [answer.status, String((answer.body.errors as string[] | undefined)?.[0])]
  }
  const [ofBody, inBody] = await sent({ dr_operation_token: 'x' }, 'root')
  assert.equal(ofBody, 403)
  assert.match(inBody, /^permission denied: "dr_operation_token" must be an operation token/)
  const [ofHeader, inHeader] = await sent({}, 'root')
  assert.equal(ofHeader, 403)
  assert.match(inHeader, /^permission denied: X-Vault-Token must be a batch token/)
  const [ofNothing, missing] = await sent({}, '')
  assert.deepEqual([ofNothing, missing], [400, 'Missing required field "dr_operation_token"'])
  const started = await serving.send('POST', `${AT}/generate-operation-token/attempt`, Buffer.from('{}'), { token: '' })
  assert.deepEqual([started.status, started.body.started], [200, true])
  assert.equal(serving.forwarded.length, 4)
})

test('the attempt ends when its cluster is a secondary for disaster recovery no more', async () => {
  const server = await startWithRole()
  await server.become({ dr: 'secondary' })
  const attempt = `${AT}/generate-operation-token/attempt`
  assert.equal((await server.call('POST', attempt, {}, '')).status, 200)
  await server.become({ dr: 'bootstrapping' })
  assert.equal((await server.call('GET', attempt, undefined, '')).body.started, true)
  await server.become({ dr: 'primary' })
  assert.equal((await server.call('GET', attempt, undefined, '')).status, 400)
  await server.become({ dr: 'secondary' })
  assert.equal((await server.call('GET', attempt, undefined, '')).body.started, false)
})
