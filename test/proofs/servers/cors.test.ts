// Pages of other origins, as a browser would ask for them, over HTTP and on all threads.
import { strict as assert } from 'node:assert'
import { after, before, beforeEach, test } from 'node:test'
import { type RawAnswer, RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const PAGE = 'https://app.example.com'

let server: ServerProcess
const directory = temporaryDirectory()
before(async () => {
  server = await startServerProcess({ directory: `${directory.path}/data` })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})
beforeEach(() => api(server, 'DELETE', 'sys/config/cors'))

async function ask(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<RawAnswer> {
  const connection = await RawConnection.open(server.address)
  // One Host is sent, and it comes first.
  const { Host = 'localhost', ...others } = headers
  const request = rawRequest(method, path, Object.entries(others))
    .toString('latin1')
    .replace('Host: localhost', `Host: ${Host}`)
  const answer = await connection.exchange(request)
  connection.close()
  assert.ok(answer !== undefined)
  return answer
}
const preflight = (origin: string, method: string) =>
  ask('OPTIONS', '/v1/sys/mounts', { Origin: origin, 'Access-Control-Request-Method': method })
const corsHeaders = ({ headers }: RawAnswer): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-')).sort()

async function allow(settings: object): Promise<void> {
  assert.equal((await api(server, 'POST', 'sys/config/cors', settings)).status, 204)
}

test('W-03: off: no headers, requests of pages are served as any', async () => {
  const answer = await ask('GET', '/v1/sys/health', { Origin: PAGE })
  assert.deepEqual([answer.status, corsHeaders(answer)], [200, []])
  assert.equal((await preflight(PAGE, 'GET')).status, 405)
})

test('on: a page of an allowed origin gets its headers, on refusals too', async () => {
  await allow({ allowed_origins: [PAGE, 'https://other.example.com'], allowed_headers: 'X-Trace' })
  for (const [path, status] of [
    ['/v1/sys/health', 200],
    ['/v1/sys/mounts', 403],
    ['/v1/nowhere', 403],
  ] as const) {
    const answer = await ask('GET', path, { Origin: PAGE })
    assert.equal(answer.status, status)
    assert.deepEqual(corsHeaders(answer), ['access-control-allow-origin'])
    assert.equal(answer.headers.get('access-control-allow-origin'), PAGE)
    assert.equal(answer.headers.get('vary'), 'Origin')
  }
  // LIST as a method, which no parser of the runtime knows.
  const list = await ask('LIST', '/v1/sys/policies/acl', { Origin: PAGE, 'X-Vault-Token': server.token })
  assert.deepEqual([list.status, list.headers.get('access-control-allow-origin')], [200, PAGE])
  assert.deepEqual(corsHeaders(await ask('GET', '/v1/sys/health', {})), [])
})

test('W-03: on: another origin is refused before anything else', async () => {
  await allow({ allowed_origins: PAGE })
  for (const origin of ['https://evil.example.com', 'null', `${PAGE}.evil.example.com`, 'http://app.example.com']) {
    const answer = await ask('GET', '/v1/sys/health', { Origin: origin })
    assert.deepEqual(
      [answer.status, answer.body, corsHeaders(answer)],
      [403, '{"errors":["origin not allowed"]}\n', []],
    )
  }
})

test('C10: on: a page of the same origin is served as where CORS is off, whichever way a client lists', async () => {
  await allow({ allowed_origins: PAGE })
  const own = server.address
  const { host } = new URL(own)
  const token = { 'X-Vault-Token': server.token }
  for (const [method, path, more, status] of [
    ['GET', '/v1/sys/health', {}, 200],
    ['LIST', '/v1/sys/policies/acl', token, 200],
    ['GET', '/v1/sys/mounts', {}, 403],
    // Behind a proxy that writes another host, a browser says it.
    ['GET', '/v1/sys/health', { Origin: 'https://keys.example.com', 'Sec-Fetch-Site': 'same-origin' }, 200],
  ] as const) {
    const answer = await ask(method, path, { Origin: own, Host: host, ...more })
    assert.deepEqual([answer.status, corsHeaders(answer)], [status, []], `${method} ${path}`)
  }
  const asked = { Origin: own, Host: host, 'Access-Control-Request-Method': 'POST' }
  assert.equal((await ask('OPTIONS', '/v1/sys/mounts', asked)).status, 403, 'nobody asks before')
  const other = await ask('GET', '/v1/sys/health', { Origin: own, Host: host, 'Sec-Fetch-Site': 'same-site' })
  assert.equal(other.status, 403)
  assert.equal((await ask('GET', '/v1/sys/health', { Origin: own, Host: 'localhost:1' })).status, 403)
})

test('on: a preflight is answered without a token, for the methods that there are', async () => {
  await allow({ allowed_origins: [PAGE], allowed_headers: ['X-Trace'], allow_credentials: true })
  const answer = await preflight(PAGE, 'LIST')
  assert.deepEqual([answer.status, answer.body], [200, ''])
  const methods = 'DELETE, GET, OPTIONS, PATCH, POST, PUT, LIST, SCAN'
  assert.equal(answer.headers.get('access-control-allow-methods'), methods)
  const headers = answer.headers.get('access-control-allow-headers') ?? ''
  assert.match(headers, /^Content-Type, .*X-Vault-Namespace, .*X-Vault-Token.*, X-Trace$/)
  for (const method of ['PATCH', 'SCAN']) assert.equal((await preflight(PAGE, method)).status, 200)
  assert.equal(answer.headers.get('access-control-max-age'), '300')
  assert.equal(answer.headers.get('access-control-allow-credentials'), 'true')
  assert.equal((await preflight(PAGE, 'TRACE')).status, 405)
  assert.equal((await preflight('https://evil.example.com', 'GET')).status, 403)
})

test('W-03: on for all: the star, and never with credentials', async () => {
  await allow({ allowed_origins: '*' })
  const answer = await ask('GET', '/v1/sys/health', { Origin: 'https://anybody.example.com' })
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  for (const wrong of [
    { allowed_origins: '*', allow_credentials: true },
    { allowed_origins: ['*', PAGE] },
    { allowed_origins: [] },
    { allowed_origins: [`${PAGE}/`] },
    { allowed_origins: ['null'] },
    { allowed_origins: [PAGE], allowed_headers: ['X Trace'] },
  ])
    assert.equal((await api(server, 'POST', 'sys/config/cors', wrong)).status, 400, JSON.stringify(wrong))
})

test('the setting is read back, and is gone when it is removed or switched off', async () => {
  for (const off of [
    () => api(server, 'DELETE', 'sys/config/cors'),
    () => api(server, 'POST', 'sys/config/cors', { enable: false }),
  ]) {
    await allow({ allowed_origins: [PAGE] })
    const { body } = await api(server, 'GET', 'sys/config/cors')
    assert.deepEqual([body.data?.enabled, body.data?.allowed_origins], [true, [PAGE]])
    assert.equal((await off()).status, 204)
    assert.deepEqual((await api(server, 'GET', 'sys/config/cors')).body.data, { enabled: false })
    assert.deepEqual(corsHeaders(await ask('GET', '/v1/sys/health', { Origin: PAGE })), [])
  }
})
