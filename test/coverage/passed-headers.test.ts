// C8: headers that a mount passes on to its engine and back.
import assert from 'node:assert/strict'
import { mock, type TestContext, test } from 'node:test'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { MAX_PASSED_HEADERS } from '../../src/api/passed-headers.ts'
import type { Answer, RequestInfo } from '../../src/api/request.ts'
import { wireHeaders } from '../../src/http/headers.ts'
import { type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'

const SET = { passthrough_request_headers: ['X-One', 'If-Match'], allowed_response_headers: ['Location'] }
const CLEARED = { passthrough_request_headers: [], allowed_response_headers: [] }

type Shown = Record<string, unknown> & { readonly config?: Record<string, unknown> }
const shown = async ({ call }: MemoryServer, path: string): Promise<Shown> =>
  (await call('GET', path)).body.data as Shown
const ofThem = (from: Record<string, unknown> = {}): unknown[] => [
  from.passthrough_request_headers,
  from.allowed_response_headers,
]

for (const [under, type] of [
  ['mounts', 'transit'],
  ['auth', 'userpass'],
] as const) {
  test(`C8: sys/${under}: both are stored when a mount is made and tuned, read back, and cleared`, async () => {
    const memory = await startMemoryServer()
    const at = `sys/${under}/m`
    assert.equal((await memory.call('POST', at, { type, config: SET })).status, 204)
    const expected = [['X-One', 'If-Match'], ['Location']]
    assert.deepEqual(ofThem((await shown(memory, at)).config), expected)
    assert.deepEqual(ofThem(await shown(memory, `${at}/tune`)), expected)
    await memory.call('POST', `${at}/tune`, { description: 'other' })
    assert.deepEqual(ofThem(await shown(memory, `${at}/tune`)), expected, 'what is not sent stays')
    // As the command line sends it: one text.
    await memory.call('POST', `${at}/tune`, { passthrough_request_headers: 'X-Two,X-Three' })
    assert.deepEqual(ofThem(await shown(memory, `${at}/tune`)), [['X-Two', 'X-Three'], ['Location']])
    await memory.call('POST', `${at}/tune`, CLEARED)
    assert.deepEqual(ofThem((await shown(memory, at)).config), [undefined, undefined])
    assert.deepEqual(ofThem(await shown(memory, `${at}/tune`)), [undefined, undefined])
  })
}

test("C8: what gives access, what is the server's own and what is too much is refused by name", async () => {
  const memory = await startMemoryServer()
  await memory.call('POST', 'sys/mounts/m', { type: 'transit' })
  const many = Array.from({ length: MAX_PASSED_HEADERS + 1 }, (_, index) => `x-${index}`)
  for (const [field, value] of [
    ['passthrough_request_headers', ['X-One', 'Authorization']],
    ['passthrough_request_headers', ['x-vault-token']],
    ['passthrough_request_headers', ['*']],
    ['passthrough_request_headers', many],
    ['allowed_response_headers', ['Set-Cookie']],
    ['allowed_response_headers', ['content-type']],
    ['allowed_response_headers', many],
  ] as const) {
    const tuned = await memory.call('POST', 'sys/mounts/m/tune', { [field]: value })
    assert.equal(tuned.status, 400, `${field} ${value}`)
    assert.match(String(tuned.body.errors), new RegExp(`field "${field}"`))
    const made = await memory.call('POST', 'sys/mounts/n', { type: 'transit', config: { [field]: value } })
    assert.equal(made.status, 400)
    assert.match(String(made.body.errors), new RegExp(`field "config.${field}"`))
  }
  const most = { passthrough_request_headers: many.slice(1), allowed_response_headers: many.slice(1) }
  assert.equal((await memory.call('POST', 'sys/mounts/m/tune', most)).status, 204)
})

/** What the engine of a mount is told; it answers with these headers. */
async function engineAt(context: TestContext, memory: MemoryServer, path: string, headers: Record<string, string>) {
  const told: RequestInfo['headers'][] = []
  const mounted = memory.node.mounts.route(path)
  const found = mounted?.router.find('read', 'cache-config')
  assert.ok(found?.kind === 'found')
  const handler = (_engine: unknown, _args: unknown, request: RequestInfo): Answer => {
    told.push(request.headers)
    return { data: { size: 0 }, headers }
  }
  const mocked = mock.method(found.endpoint as { handler: Endpoint['handler'] }, 'handler', handler as never)
  context.after(() => mocked.mock.restore())
  return told
}

test('C8: an engine sees and sets what its mount names, another mount what that one names', async (context) => {
  const memory = await startMemoryServer()
  const { node } = memory
  await memory.call('POST', 'sys/mounts/one', { type: 'transit', config: SET })
  await memory.call('POST', 'sys/mounts/two', {
    type: 'transit',
    config: { passthrough_request_headers: ['X-Two'], allowed_response_headers: ['X-Two'] },
  })
  await memory.call('POST', 'sys/mounts/none', { type: 'transit' })
  assert.deepEqual([...node.mounts.passedHeaders].sort(), ['if-match', 'x-one', 'x-two'])
  const answered = { location: '/x', 'X-Two': '2', 'Set-Cookie': 'a=b', 'X-Vault-Token': 'secret' }
  const told = await engineAt(context, memory, 'one/', answered)
  const source = { 'x-vault-token': 'root', authorization: 'Bearer root', cookie: 'a=b', 'x-one': '1', 'x-two': '2' }
  const ask = async (path: string, more: object = {}) => {
    const headers = { ...wireHeaders(source, [], node.mounts.passedHeaders), ...more }
    return node.core.handle({ ...wireRequest('GET', `${path}/cache-config`), headers })
  }
  assert.deepEqual((await ask('one')).headers, { location: '/x' })
  assert.deepEqual((await ask('two')).headers, { 'x-two': '2' })
  assert.equal((await ask('none')).headers, undefined)
  const wrapped = await ask('one', { wrapTtl: '60' })
  assert.deepEqual([wrapped.status, wrapped.headers], [200, undefined], 'who gets the token gets nothing else')
  assert.deepEqual(
    told.map((headers) => ({ ...headers })),
    [{ 'x-one': '1' }, { 'x-two': '2' }, {}, { 'x-one': '1' }],
  )
})

test('C8: what a mount passed on is not taken any more when it is cleared, or the mount gone', async () => {
  const memory = await startMemoryServer()
  await memory.call('POST', 'sys/mounts/one', { type: 'transit', config: SET })
  await memory.call('POST', 'sys/mounts/two', { type: 'transit', config: SET })
  await memory.call('POST', 'sys/mounts/one/tune', CLEARED)
  assert.deepEqual(memory.node.mounts.passedHeaders, ['x-one', 'if-match'])
  await memory.call('DELETE', 'sys/mounts/two')
  assert.deepEqual(memory.node.mounts.passedHeaders, [])
})
