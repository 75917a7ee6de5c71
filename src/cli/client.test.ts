import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, refused, startApiDouble } from '../../test/fixtures/api-double.ts'
import { LOOPBACK_CERTIFICATE } from '../../test/fixtures/loopback-certificate.ts'
import { RemoteFailure } from './cli-error.ts'
import { type ApiRequest, Client } from './client.ts'
import type { Connection } from './connection.ts'
import { RemoteError } from './remote-error.ts'

const READ: ApiRequest = { doing: 'reading it', method: 'GET', path: 'transit/keys/x' }
const WRITE: ApiRequest = { doing: 'writing it', method: 'PUT', path: 'transit/keys/x', body: '{"a":"\u00e4"}' }

let api: ApiDouble
let sleeps: number[] = []
beforeEach(async () => {
  api = await startApiDouble()
  sleeps = []
})
afterEach(() => api.close())

function client(connection: Partial<Connection> = {}): Client {
  const all: Connection = {
    address: api.address,
    addressOrigin: 'The address is that of -address.',
    token: 'hvs.t',
    tls: { rejectUnauthorized: true },
    timeoutMs: 60_000,
    retries: 2,
    followsRedirects: true,
    shows: undefined,
  }
  return new Client({ ...all, ...connection }, async (delayMs) => {
    sleeps.push(delayMs)
  })
}

test('client: a write is a PUT with token and length, and without a content type', async () => {
  api.answer = () => ({ status: 204 })
  assert.deepEqual(await client({ namespace: 'team/a' }).send(WRITE), { body: undefined, text: '' })
  const [asked] = api.asked
  assert.equal(asked?.method, 'PUT')
  assert.equal(asked?.target, '/v1/transit/keys/x')
  assert.equal(asked?.body, '{"a":"\u00e4"}')
  const names = asked?.rawHeaders.filter((_, index) => index % 2 === 0)
  assert.deepEqual(names, [
    'X-Vault-Request',
    'X-Vault-Token',
    'X-Vault-Namespace',
    'Content-Length',
    'Host',
    'Connection',
  ])
  assert.equal(asked?.headers['x-vault-request'], 'true')
  assert.equal(asked?.headers['x-vault-token'], 'hvs.t')
  assert.equal(asked?.headers['x-vault-namespace'], 'team/a')
  assert.equal(asked?.headers['content-length'], '10')
})

test('client: without token and namespace their headers are not sent', async () => {
  api.answer = () => ({ status: 200, body: envelope({}) })
  await client({ token: undefined }).send(READ)
  assert.equal(api.asked[0]?.headers['x-vault-token'], undefined)
  assert.equal(api.asked[0]?.headers['x-vault-namespace'], undefined)
})

test('client: path and query are escaped, a prefix of the address stays', async () => {
  api.answer = () => ({ status: 200, body: envelope({}) })
  const query = [
    ['a b', '1&2'],
    ['a b', '\u00e4'],
  ] as const
  await client({ address: `${api.address}/kms` }).send({ ...READ, path: 'a/b?c%2f', query })
  assert.equal(api.asked[0]?.target, '/kms/v1/a/b%3Fc%252f?a+b=1%262&a+b=%C3%A4')
})

for (const status of [301, 302, 307, 308]) {
  test(`client: a ${status} is followed once, with method, body and token`, async () => {
    const active = await startApiDouble()
    active.answer = () => ({ status: 200, body: envelope({ data: { ok: true } }) })
    api.answer = ({ target }) => ({ status, headers: { Location: `${active.address}${target}` } })
    await client().send(WRITE)
    const [asked] = active.asked
    assert.deepEqual([asked?.method, asked?.target, asked?.body], ['PUT', '/v1/transit/keys/x', '{"a":"\u00e4"}'])
    assert.equal(asked?.headers['x-vault-token'], 'hvs.t')
    await active.close()
  })
}

test('client: a second redirect is an error', async () => {
  api.answer = () => ({ status: 307, headers: { Location: '/v1/elsewhere' } })
  await assert.rejects(client().send(READ), (error) => error instanceof RemoteError && /Code: 307/.test(error.message))
  assert.equal(api.asked.length, 2)
})

for (const location of ['ftp://host/', 'http://[']) {
  test(`client: a redirect to ${location} is refused`, async () => {
    api.answer = () => ({ status: 307, headers: { Location: location } })
    await assert.rejects(client().send(READ), /points to an address that is none/)
  })
}

for (const status of [412, 429, 500, 502, 503]) {
  test(`client: ${status} is tried twice more, after 1 and 1.5 seconds`, async () => {
    api.answer = () => refused(status, 'busy')
    await assert.rejects(client().send(WRITE), RemoteError)
    assert.equal(api.asked.length, 3)
    assert.deepEqual(sleeps, [1000, 1500])
  })
}

test('client: an attempt that succeeds ends the tries', async () => {
  api.answer = () =>
    api.asked.length === 1 ? refused(500, 'busy') : { status: 200, body: envelope({ data: { a: 1 } }) }
  assert.deepEqual((await client().send(READ)).body, envelope({ data: { a: 1 } }))
  assert.deepEqual(sleeps, [1000])
})

for (const { status, message } of [
  { status: 400, message: 'bad' },
  { status: 403, message: 'permission denied' },
  { status: 501, message: 'not initialized' },
  { status: 503, message: 'Vault is sealed' },
  { status: 507, message: 'The storage device is full, nothing was written' },
]) {
  test(`client: ${status} "${message}" is not tried again`, async () => {
    api.answer = () => refused(status, message)
    await assert.rejects(client().send(READ), RemoteError)
    assert.equal(api.asked.length, 1)
  })
}

test('client: a 404 without a message is nothing found, with one it is an error', async () => {
  api.answer = () => refused(404)
  assert.equal(await client().find(READ), undefined)
  await assert.rejects(client().send(READ), RemoteError)
  api.answer = () => refused(404, 'no handler for route "x".')
  await assert.rejects(client().find(READ), RemoteError)
})

test('client: a 404 with data is an answer', async () => {
  api.answer = () => ({ status: 404, body: envelope({ data: { deleted: true } }) })
  assert.deepEqual((await client().find(READ))?.body, envelope({ data: { deleted: true } }))
})

for (const status of [200, 404, 502]) {
  test(`client: a page of something else with ${status} is told from an answer`, async () => {
    api.answer = () => ({ status, body: '<html>' })
    const message = new RegExp(
      `^Error reading it: the answer \\(code ${status}\\) is not JSON\n\nIs http://127.*x a path`,
    )
    await assert.rejects(client().send(READ), (error) => error instanceof RemoteFailure && message.test(error.message))
  })
}

test('client: nobody listening is an error of the way there, with advice', async () => {
  const { address } = api
  await api.close()
  await assert.rejects(client({ address }).send(READ), {
    exitCode: 2,
    message:
      `Error reading it: the connection was refused: ${address} (ECONNREFUSED)\n\n` +
      `Is the server running at ${address}? Start one ` +
      'with `keywright server`, or name another address with -address or KEYWRIGHT_ADDR.\n' +
      'The address is that of -address.',
  })
  api = await startApiDouble()
})

test('client: a connection that is closed without an answer', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await assert.rejects(
    client({ address: `http://127.0.0.1:${port}` }).send(READ),
    /the server closed the connection.*ECONNRESET[\s\S]*https:/,
  )
  server.close()
})

test('client: a server that refuses before it has read everything is heard', async () => {
  const head =
    'HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 24\r\n\r\n{"errors":["too large"]}'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(head))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const body = 'x'.repeat(200_000)
  await assert.rejects(
    client({ address: `http://127.0.0.1:${port}` }).send({ ...WRITE, body }),
    /Code: 413. Errors:\n\n\* too large/,
  )
  server.close()
})

test('client: TLS with an unknown authority, with its certificate, and without any check', async () => {
  const tls = await startApiDouble({ tls: true })
  tls.answer = () => ({ status: 200, body: envelope({ data: { a: 1 } }) })
  const { address } = tls
  await assert.rejects(client({ address }).send(READ), /not signed by a trusted CA[\s\S]*-ca-cert or KEYWRIGHT_CACERT/)
  assert.equal(tls.asked.length, 0)
  const ca = [Buffer.from(LOOPBACK_CERTIFICATE)]
  assert.ok(await client({ address, tls: { ca, rejectUnauthorized: true } }).send(READ))
  assert.ok(await client({ address, tls: { rejectUnauthorized: false } }).send(READ))
  const byName = address.replace('127.0.0.1', 'localhost')
  await assert.rejects(
    client({ address: byName, tls: { ca, rejectUnauthorized: true } }).send(READ),
    /is for another name/,
  )
  tls.answer = ({ target }) => ({ status: 307, headers: { Location: `${api.address}${target}` } })
  await assert.rejects(client({ address, tls: { ca, rejectUnauthorized: true } }).send(READ), /from https to http/)
  assert.equal(api.asked.length, 0)
  await tls.close()
})

test('client: https to a server without TLS is explained', async () => {
  const address = api.address.replace('http:', 'https:')
  await assert.rejects(client({ address }).send(READ), /does not speak TLS[\s\S]*begins with http:/)
})
