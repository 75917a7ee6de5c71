import { strict as assert } from 'node:assert'
import { beforeEach, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'

let server: MemoryServer
beforeEach(async () => {
  server = await startMemoryServer()
  await must('POST', 'sys/namespaces/w1', {})
  await must('POST', 'sys/namespaces/in', {}, 'w1')
  await must('POST', 'sys/mounts/t', { type: 'transit' }, 'w1')
  await must('POST', 'sys/mounts/t', { type: 'transit' })
})

const call = (method: string, path: string, body?: object, namespace?: string): Promise<Called> =>
  server.call(method, path, body, 'root', namespace === undefined ? {} : { namespace })

async function must(method: string, path: string, body?: object, namespace?: string): Promise<Called> {
  const answer = await call(method, path, body, namespace)
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer
}

const quota = (name: string, fields: object): Promise<Called> => call('POST', `sys/quotas/rate-limit/${name}`, fields)
const shown = async (name: string) => (await call('GET', `sys/quotas/rate-limit/${name}`)).body.data
const errorsOf = ({ body }: Called): string => String(body.errors)
/** Far more than a test asks for, and so little that one request uses it up. */
const PLENTY = { rate: 1_000, interval: 600 }
const ONCE = { rate: 1, interval: 600 }

test('a quota is for a namespace, a mount or a path in one, and shows it by its full path', async () => {
  const rows = [
    ['', '', true],
    ['w1', 'w1/', false],
    ['w1/in/', 'w1/in/', false],
    ['t', 't/', true],
    ['w1/t', 'w1/t/', false],
    ['w1/t/keys/*', 'w1/t/keys/*', false],
    ['w1/sys', 'w1/sys/', false],
  ] as const
  for (const [at, [path, full, inheritable]] of rows.entries()) {
    assert.equal((await quota(`q${at}`, { path, ...PLENTY })).status, 204, path)
    const { data } = await call('GET', `sys/quotas/rate-limit/q${at}`).then(({ body }) => body)
    assert.deepEqual([data?.path, data?.inheritable], [full, inheritable])
  }
  const again = await quota('another', { path: 'w1/', ...PLENTY })
  assert.equal(again.status, 400)
  assert.match(errorsOf(again), /similar properties exists under the name "q1"/)
  // What is not sent stays, the place too.
  assert.equal((await quota('q1', { rate: 7 })).status, 204)
  assert.deepEqual([(await shown('q1'))?.path, (await shown('q1'))?.rate], ['w1/', 7])
})

test('no quota is for what is not there', async () => {
  for (const [path, named] of [
    ['w1/nope', 'nope/'],
    ['w2', 'w2/'],
    ['w2/t', 'w2/t/'],
    ['nope', 'nope/'],
    ['w1/*', '*/'],
  ] as const) {
    const refused = await quota('q', { path, ...PLENTY })
    assert.equal(refused.status, 400, path)
    assert.ok(errorsOf(refused).includes(`invalid mount path "${named}"`), errorsOf(refused))
  }
})

test('T2: header and path count together, and a refusal names the path as it was sent', async () => {
  await quota('q', { path: 'w1', ...ONCE })
  assert.equal((await call('GET', 'sys/mounts', undefined, 'w1')).status, 200)
  const byHeader = await call('GET', 'sys/mounts/t', undefined, '/w1')
  assert.deepEqual(
    [byHeader.status, errorsOf(byHeader)],
    [429, 'request path "sys/mounts/t": rate limit quota exceeded'],
  )
  const byPath = await call('GET', 'w1/sys/mounts/t')
  assert.deepEqual(
    [byPath.status, errorsOf(byPath)],
    [429, 'request path "w1/sys/mounts/t": rate limit quota exceeded'],
  )
  // Neither the root, nor the mount with the same path there, nor what lies below.
  for (const [path, namespace] of [
    ['sys/mounts', undefined],
    ['t/keys/x?list=true', undefined],
    ['sys/mounts', 'w1/in'],
  ] as const)
    assert.notEqual((await call('GET', path, undefined, namespace)).status, 429, path)
})

test('an inheritable quota counts a namespace and all below it as one', async () => {
  await quota('q', { path: 'w1', inheritable: true, ...ONCE })
  assert.equal((await call('GET', 'in/sys/mounts', undefined, 'w1')).status, 200)
  assert.equal((await call('GET', 'sys/mounts', undefined, 'w1')).status, 429)
  assert.equal((await call('GET', 'sys/mounts', undefined, 'w1/in')).status, 429)
})

test('paths that no quota counts are full ones', async () => {
  await quota('q', { path: 'w1', ...ONCE })
  await must('POST', 'sys/quotas/config', { rate_limit_exempt_paths: ['w1/sys/mounts', 'sys/policy'] })
  for (let at = 0; at < 3; at++) assert.equal((await call('GET', 'sys/mounts', undefined, 'w1')).status, 200)
  assert.equal((await call('GET', 'sys/policy', undefined, 'w1')).status, 200)
  assert.equal((await call('GET', 'sys/policy', undefined, 'w1')).status, 429)
})

test('what is refused before it is routed counts for the namespace that it names, or else for its path', async () => {
  await quota('team', { path: 'w1', rate: 2, interval: 600 })
  assert.equal((await call('BREW', 'sys/mounts', undefined, 'w1')).status, 405)
  assert.equal((await call('BREW', 'w1/sys/mounts')).status, 405)
  assert.equal((await call('BREW', 'sys/mounts', undefined, 'w1')).status, 429)
  await quota('all', { path: '', ...ONCE })
  assert.equal((await call('GET', 'nowhere', undefined, 'w9')).status, 404)
  assert.equal((await call('GET', 'nowhere', undefined, 'w9')).status, 429)
})

test('what a namespace refuses is counted, too: locked, or only in the root', async () => {
  await quota('q', { path: 'w1', rate: 2, interval: 600 })
  await must('POST', 'sys/namespaces/api-lock/lock/w1', {})
  assert.equal((await call('GET', 'sys/mounts', undefined, 'w1')).status, 503)
  assert.equal((await call('GET', 'sys/health', undefined, 'w1')).status, 404)
  assert.equal((await call('GET', 'sys/mounts', undefined, 'w1')).status, 429)
})

test('a quota goes with its namespace, and follows a mount into another', async () => {
  await quota('whole', { path: 'w1/in', ...PLENTY })
  await quota('path', { path: 't/keys/k', ...PLENTY })
  await must('POST', 'sys/remount', { from: 't', to: 'w1/in/moved' })
  assert.equal((await shown('path'))?.path, 'w1/in/moved/keys/k')
  await must('DELETE', 'sys/namespaces/in', undefined, 'w1')
  assert.equal(await shown('whole'), undefined)
  assert.equal(await shown('path'), undefined)
  // Nothing of it counts in one of the same name.
  await must('POST', 'sys/namespaces/in', {}, 'w1')
  assert.equal((await quota('whole', { path: 'w1/in', ...PLENTY })).status, 204)
})
