// Filters of performance secondaries, as operators write and read them. Nothing is filtered by them as yet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const at = (id: string): string => `sys/replication/performance/primary/paths-filter/${id}`

test('a filter is kept for the id of a token, with its slashes, until it is deleted', async () => {
  const { primary } = await performanceServers(11)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'sys/namespaces/team')
  const none = await primary.call('GET', at('two'))
  assert.deepEqual([none.status, none.body], [200, {}])
  const written = await primary.must('POST', at('two'), { mode: 'deny', paths: ['transit', '/team/', 'transit/'] })
  assert.match(String(written.body.warnings), /gets everything/)
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'deny', paths: ['transit/', 'team/'] })
  assert.equal((await primary.must('DELETE', at('two'))).status, 204)
  assert.equal((await primary.must('DELETE', at('two'))).status, 204)
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
})

test('the id of the cluster names the filter too, while that is connected', async () => {
  const { primary, secondary } = await performanceServers(12)
  const { body } = await secondary.must('GET', 'sys/health', undefined, '')
  const cluster = String((body as Record<string, unknown>).cluster_id)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', at(cluster), { paths: ['transit/'] })
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'allow', paths: ['transit/'] })
  const shown = { dynamic_filtered_mounts: [], dynamic_filtered_namespaces: [] }
  for (const id of ['two', cluster]) {
    const ofPrimary = `sys/replication/performance/primary/dynamic-filter/${id}`
    assert.deepEqual((await primary.must('GET', ofPrimary)).body.data, shown)
    const own = `sys/replication/performance/secondary/dynamic-filter/${id}`
    assert.deepEqual((await secondary.must('GET', own)).body.data, shown)
  }
  assert.equal((await secondary.call('GET', 'sys/replication/performance/secondary/dynamic-filter/x')).status, 404)
})

const REFUSED: readonly { what: string; id?: string; body: object; status: number; says: RegExp }[] = [
  { what: 'another mode', body: { mode: 'whitelist' }, status: 400, says: /mode/ },
  {
    what: 'a path without a mount',
    body: { paths: ['none/'] },
    status: 400,
    says: /no mount and no namespace: none\//,
  },
  { what: 'a mount of the system', body: { paths: ['sys/'] }, status: 400, says: /mount of the system/ },
  { what: 'tokens', body: { paths: ['auth/token/'] }, status: 400, says: /mount of the system/ },
  { what: 'the root', body: { paths: ['/'] }, status: 400, says: /root itself/ },
  { what: 'a local mount', body: { paths: ['own/'] }, status: 400, says: /local mount/ },
  {
    what: 'an id that no secondary has',
    id: 'three',
    body: { paths: ['transit/'] },
    status: 404,
    says: /No secondary/,
  },
]
test('a filter that cannot be is refused, and changes nothing', async () => {
  const { primary, secondary } = await performanceServers(13)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  for (const { what, id = 'two', body, status, says } of REFUSED) {
    const answer = await primary.call('POST', at(id), body)
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`)
    assert.match(String(answer.body.errors), says, what)
  }
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'allow', paths: ['transit/'] })
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    assert.equal((await secondary.call(method, at('two'), {})).status, 400, method)
})

test('a filter goes with a revocation, and does not pass to a new token of the id', async () => {
  const { servers, primary } = await performanceServers(14)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  await primary.must('POST', 'sys/replication/performance/primary/revoke-secondary', { id: 'two' })
  assert.equal((await primary.call('GET', at('two'))).status, 404)
  await servers.token(primary, 'two', {}, 'performance')
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  await servers.token(primary, 'two', {}, 'performance')
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
})
