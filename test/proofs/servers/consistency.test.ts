// Decision 4c.20 on real threads and sockets: a writing thread and two that serve.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { startThreadedServer } from '../../fixtures/threaded-server.ts'

const server = await startThreadedServer('serving')
after(() => server.stop())
const enabled = await server.call('POST', 'sys/replication/performance/primary/enable', {})
assert.ok(enabled.status < 300, JSON.stringify(enabled.body))

type Answered = { readonly status: number; readonly index: string | undefined; readonly text: string }

/** On a connection of its own, so that any thread may get it. */
function send(method: string, path: string, body: unknown, more: Record<string, string | string[]> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>()
  const headers = { 'X-Vault-Token': 'root', ...more }
  const sent = request(`${server.address}/v1/${path}`, { method, headers, agent: false }, (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('end', () => {
      const index = response.headers['x-vault-index']
      assert.ok(!Array.isArray(index))
      resolve({ status: response.statusCode ?? 0, index, text: Buffer.concat(parts).toString() })
    })
  })
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

test('whoever sends what the answer to a write had reads the write, on any thread, by any method', async () => {
  for (let round = 0; round < 30; round++) {
    const path = 'sys/policies/acl/moving'
    const { status, index = '' } = await send('POST', path, { policy: `path "p${round}" {}` })
    assert.deepEqual([status, index === ''], [204, false])
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send('GET', path, undefined, { 'X-Vault-Index': index })),
    )
    for (const { status: read, text, index: none } of answers) {
      assert.deepEqual([read, none], [200, undefined], text)
      assert.match(text, new RegExp(`p${round}\\b`))
    }
    const listed = await send('LIST', 'sys/policies/acl', undefined, { 'X-Vault-Index': index })
    assert.equal(listed.status, 200)
  }
})

test('two lines of the header count as two values, by every method, and a third is one too many', async () => {
  const { index = '' } = await send('POST', 'sys/policies/acl/lines', { policy: 'path "a" {}' })
  for (const [method, path] of [
    ['GET', 'sys/policies/acl/lines'],
    ['LIST', 'sys/policies/acl'],
  ] as const) {
    const ask = async (...values: string[]) => (await send(method, path, undefined, { 'X-Vault-Index': values })).status
    assert.deepEqual([await ask(index, index), await ask(index, 'x'), await ask(index, index, index)], [200, 400, 400])
  }
})

test('what means something within a cluster of several nodes alone is accepted, and changes nothing', async () => {
  const headers = { 'X-Vault-Forward': 'active-node', 'X-Vault-No-Request-Forwarding': 'true' }
  assert.equal((await send('GET', 'sys/policies/acl/lines', undefined, headers)).status, 200)
})
