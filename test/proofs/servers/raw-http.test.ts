// What a server does with the bytes of HTTP itself: methods that node:http does not know, limits, order, slow and
// malformed requests. Everything is sent as it stands here, over plain sockets.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { undisturbed } from '../../fixtures/measured.ts'
import { type RawAnswer, RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const MAX_BODY_BYTES = 1_000
const HEADER_LIMIT_MS = 1_000
const REQUEST_LIMIT_MS = 2_000
/** Limits are looked at once a second. */
const SLACK_MS = 4_000
const MOST_ATTEMPTS = 10

const directory = temporaryDirectory()
let server: ServerProcess
/** Where it waits for nobody; the other listener leaves the time that a slow machine may need. */
let impatient: string
before(async () => {
  const config = join(directory.path, 'server.hcl')
  const listener = (more: string): string => `listener "tcp" {
       address = "127.0.0.1:0"
       tls_disable = true
       max_request_size = ${MAX_BODY_BYTES}
       ${more}
     }\n`
  const limits = `http_read_header_timeout = "${HEADER_LIMIT_MS / 1000}s"
       http_read_timeout = "${REQUEST_LIMIT_MS / 1000}s"`
  writeFileSync(config, listener('http_read_header_timeout = "60s"\n http_read_timeout = "60s"') + listener(limits))
  server = await startServerProcess({ directory: join(directory.path, 'data'), args: ['-config', config] })
  const addresses = [...server.output().matchAll(/Listening on (\S+)\n/g)].map(([, address]) => address as string)
  assert.equal(addresses.length, 2)
  impatient = addresses[1] as string
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/one', {})
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

const TOKEN: readonly [string, string] = ['X-Vault-Token', 'root']
const HEALTH = rawRequest('GET', '/v1/sys/health')

/** Sends the parts one after the other and reads so many answers; the connection is closed afterwards. */
async function talk(parts: readonly (string | Buffer)[], answers = 1, pauseMs = 0): Promise<(RawAnswer | undefined)[]> {
  const connection = await RawConnection.open(server.address)
  try {
    for (const part of parts) {
      connection.write(part)
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    const found: (RawAnswer | undefined)[] = []
    while (found.length < answers) found.push(await connection.read())
    return found
  } finally {
    connection.close()
  }
}

async function statusOf(request: string | Buffer): Promise<number | undefined> {
  const [answer] = await talk([request])
  return answer?.status
}

function parsed(
  answer: RawAnswer | undefined,
): { errors?: string[]; data?: Record<string, unknown> } & Record<string, unknown> {
  return JSON.parse(answer?.body ?? 'null')
}

/** As curl -X LIST writes it. */
const LIST_HEAD =
  'LIST /v1/transit/keys HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\nAccept: */*\r\n' +
  'X-Vault-Token: root\r\n\r\n'

test('LIST lists, and its connection ends', async () => {
  const [answer, end] = await talk([LIST_HEAD], 2)
  assert.equal(answer?.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('connection'), 'close')
  assert.deepEqual(parsed(answer).data, { keys: ['one'] })
  assert.equal(end, undefined)
})

test('C1: LIST takes a query, and a body that is empty or small, however it is framed', async () => {
  const [page] = await talk([rawRequest('LIST', '/v1/transit/keys?after=one', [TOKEN])])
  assert.equal(page?.status, 404)
  const chunked: readonly [string, string] = ['Transfer-Encoding', 'chunked']
  for (const [header, body] of [
    [['Content-Length', '0'], ''],
    [['Content-Length', '2'], '{}'],
    [chunked, '0\r\n\r\n'],
    [chunked, '2\r\n{}\r\n0\r\n\r\n'],
  ] as const) {
    const head = rawRequest('LIST', '/v1/transit/keys', [TOKEN, header])
    assert.equal(await statusOf(Buffer.concat([head, Buffer.from(body)])), 200, body)
    const [answer] = await talk([head, ...body], 1, 10)
    assert.deepEqual(parsed(answer).data, { keys: ['one'] }, `${body} byte by byte`)
  }
})

test('LIST without a token is refused', async () => {
  assert.equal(await statusOf(rawRequest('LIST', '/v1/transit/keys')), 403)
})

test('HELP describes a path', async () => {
  const [answer] = await talk([rawRequest('HELP', '/v1/transit/keys/one', [TOKEN])])
  assert.equal(answer?.status, 200)
  assert.match(String(parsed(answer).help), /Creates a named key/)
})

test('LIST in pieces is served', async () => {
  for (const cuts of [[5], [6, 20], [40], [LIST_HEAD.length - 1], [LIST_HEAD.length - 4]]) {
    const parts = [0, ...cuts].map((start, index) => LIST_HEAD.slice(start, cuts[index]))
    const [answer] = await talk(parts, 1, 30)
    assert.equal(answer?.status, 200, String(cuts))
  }
})

test('LIST cut inside its name is refused, not left waiting', async () => {
  for (const cut of [1, 2, 3]) {
    const [answer] = await talk([LIST_HEAD.slice(0, cut), LIST_HEAD.slice(cut)], 1, 30)
    assert([400, 405].includes(answer?.status ?? 0), `${cut}: ${answer?.status}`)
  }
})

test('LIST after other requests on one connection is served', async () => {
  const connection = await RawConnection.open(server.address)
  assert.equal((await connection.exchange(HEALTH))?.status, 200)
  assert.equal((await connection.exchange(rawRequest('GET', '/v1/transit/keys/one', [TOKEN])))?.status, 200)
  assert.equal((await connection.exchange(LIST_HEAD))?.status, 200)
  connection.close()
})

const LIST_LINE = 'LIST /v1/transit/keys HTTP/1.1\r\nHost: localhost\r\n'
const REFUSED_LISTS = [
  {
    name: 'a body of two framings',
    bytes: `${LIST_LINE}X-Vault-Token: root\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  },
  { name: 'a bad chunk', bytes: `${LIST_LINE}X-Vault-Token: root\r\nTransfer-Encoding: chunked\r\n\r\n0x\r\n\r\n` },
  { name: 'a second request behind it', bytes: LIST_HEAD + LIST_HEAD },
  { name: 'two tokens', bytes: `${LIST_LINE}X-Vault-Token: root\r\nx-vault-token: root\r\n\r\n` },
  { name: 'two hosts', bytes: `${LIST_LINE}Host: b\r\nX-Vault-Token: root\r\n\r\n` },
  { name: 'a folded header', bytes: `${LIST_LINE}X-Vault-Token: ro\r\n ot\r\n\r\n` },
  { name: 'a header without a colon', bytes: `${LIST_LINE}X-Vault-Token root\r\n\r\n` },
  { name: 'a space before the colon', bytes: `${LIST_LINE}X-Vault-Token : root\r\n\r\n` },
  { name: 'a NUL in a header', bytes: `${LIST_LINE}X-Vault-Token: root\u0000\r\n\r\n` },
  { name: 'a lone CR in a header', bytes: `${LIST_LINE}X-Vault-Token: root\rX: y\r\n\r\n` },
  { name: 'another version', bytes: LIST_HEAD.replace('HTTP/1.1', 'HTTP/1.0') },
  { name: 'no version', bytes: 'LIST /v1/transit/keys\r\nX-Vault-Token: root\r\n\r\n' },
  { name: 'two spaces', bytes: LIST_HEAD.replace('LIST ', 'LIST  ') },
  { name: 'a target beyond ASCII', bytes: LIST_HEAD.replace('keys', 'k\u00e4ys') },
  { name: 'a target with a scheme', bytes: LIST_HEAD.replace('/v1', 'http://localhost/v1') },
  { name: 'too many headers', bytes: `${LIST_LINE}${'a: b\r\n'.repeat(201)}\r\n` },
  { name: 'a head beyond 16 KiB', bytes: `${LIST_LINE}X-A: ${'a'.repeat(16_400)}\r\n\r\n` },
  { name: 'a head beyond 16 KiB that does not end', bytes: `${LIST_LINE}X-A: ${'a'.repeat(16_400)}` },
]

for (const { name, bytes } of REFUSED_LISTS) {
  test(`LIST with ${name} is refused`, async () => {
    const [answer, end] = await talk([bytes], 2)
    assert.equal(answer?.status, 400)
    assert.deepEqual(parsed(answer), { errors: ['The request is not well-formed HTTP'] })
    assert.equal(end, undefined)
  })
}

/** A body of exactly so many bytes that an endpoint takes. */
function bodyOf(bytes: number): Buffer {
  const empty = JSON.stringify({ paths: [''] })
  return Buffer.from(JSON.stringify({ paths: ['x'.repeat(bytes - empty.length)] }))
}

const CAPABILITIES = '/v1/sys/capabilities-self'

function inChunks(body: Buffer, chunkBytes: number): Buffer {
  const parts: Buffer[] = [rawRequest('POST', CAPABILITIES, [TOKEN, ['Transfer-Encoding', 'chunked']])]
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

test('a body of exactly the limit passes, one byte more is refused', async () => {
  assert.equal(await statusOf(rawRequest('POST', CAPABILITIES, [TOKEN], bodyOf(MAX_BODY_BYTES))), 200)
  const [answer, end] = await talk([rawRequest('POST', CAPABILITIES, [TOKEN], bodyOf(MAX_BODY_BYTES + 1))], 2)
  assert.equal(answer?.status, 413)
  assert.deepEqual(parsed(answer), { errors: ['http: request body too large, the limit is 1000 bytes'] })
  assert.equal(end, undefined)
})

test('a chunked body of exactly the limit passes, one byte more is refused', async () => {
  for (const chunkBytes of [1, 7, 5_000]) {
    assert.equal(await statusOf(inChunks(bodyOf(MAX_BODY_BYTES), chunkBytes)), 200, String(chunkBytes))
    assert.equal(await statusOf(inChunks(bodyOf(MAX_BODY_BYTES + 1), chunkBytes)), 413, String(chunkBytes))
  }
})

test('H-01: a length above the limit is refused before the body comes', async () => {
  for (const length of ['1001', '100000000', '99999999999999']) {
    const [answer, end] = await talk([rawRequest('POST', CAPABILITIES, [TOKEN, ['Content-Length', length]])], 2)
    assert.equal(answer?.status, 413, length)
    assert.equal(end, undefined)
  }
})

test('a chunked body is refused as soon as it is too large', async () => {
  const endless = inChunks(bodyOf(5_000), 5_000)
  const [answer] = await talk([endless.subarray(0, endless.length - 1_000)])
  assert.equal(answer?.status, 413)
})

test('the body of a method that takes none is bounded too', async () => {
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const [answer] = await talk([rawRequest(method, '/v1/sys/health', [TOKEN], bodyOf(MAX_BODY_BYTES + 1))])
    assert.equal(answer?.status, 413, method)
  }
})

const EXPECT = ['Expect', '100-continue'] as const

test('Expect: a body within the limit is asked for, one beyond it is not', async () => {
  const body = bodyOf(MAX_BODY_BYTES)
  const connection = await RawConnection.open(server.address)
  connection.write(rawRequest('POST', CAPABILITIES, [TOKEN, EXPECT, ['Content-Length', String(body.length)]]))
  assert.equal((await connection.read())?.status, 100)
  connection.write(body)
  assert.equal((await connection.read())?.status, 200)
  connection.write(rawRequest('POST', CAPABILITIES, [TOKEN, EXPECT, ['Content-Length', '1001']]))
  assert.equal((await connection.read())?.status, 413)
  connection.close()
})

test('Expect with anything else is refused in JSON', async () => {
  const [answer] = await talk([rawRequest('POST', CAPABILITIES, [TOKEN, ['Expect', 'a-miracle']], '{}')])
  assert.equal(answer?.status, 417)
  assert.deepEqual(parsed(answer), { errors: ['Expect: only 100-continue is offered'] })
})

test('HEAD answers like GET, without the body', async () => {
  const connection = await RawConnection.open(server.address)
  const head = await connection.exchange(rawRequest('HEAD', '/v1/sys/health'))
  const get = await connection.exchange(HEALTH)
  assert.equal(head?.status, 200)
  assert.equal(head.body, '')
  assert.deepEqual(head.headers.get('content-length'), get?.headers.get('content-length'))
  assert.equal((await connection.exchange(rawRequest('HEAD', '/v1/transit/keys/one')))?.status, 403)
  connection.close()
})

test('answers whose status has no body have none, and the connection goes on', async () => {
  const connection = await RawConnection.open(server.address)
  for (const status of [204, 205, 304, 299]) {
    const answer = await connection.exchange(rawRequest('GET', `/v1/sys/health?activecode=${status}`))
    assert.equal(answer?.status, status)
    assert.equal(answer.body === '', status !== 299, String(status))
    assert.equal(answer.headers.has('content-length'), status !== 204, String(status))
  }
  assert.equal((await connection.exchange(rawRequest('GET', '/v1/sys/health?activecode=101')))?.status, 400)
  assert.equal((await connection.exchange(HEALTH))?.status, 200)
  connection.close()
})

const METHODS = [
  { method: 'PATCH', status: 415 },
  { method: 'OPTIONS', status: 405 },
  { method: 'TRACE', status: 405 },
  { method: 'PROPFIND', status: 405 },
  { method: 'CONNECT', status: 405 },
  { method: 'SCAN', status: 405 },
  { method: 'FOO', status: 405 },
  { method: 'get', status: 405 },
]

for (const { method, status } of METHODS) {
  test(`${method} is refused with ${status}`, async () => {
    const [answer] = await talk([rawRequest(method, '/v1/sys/health', [TOKEN])])
    assert.equal(answer?.status, status)
    assert.equal(parsed(answer).errors?.length, 1)
  })
}

test('requests that are sent at once are answered in order, each after the one before', async () => {
  const read = (name: string): Buffer => rawRequest('GET', `/v1/transit/keys/${name}`, [TOKEN])
  const make = (name: string): Buffer => rawRequest('POST', `/v1/transit/keys/${name}`, [TOKEN], '{}')
  const requests = ['a', 'b', 'c', 'd'].flatMap((name) => [read(name), make(name), read(name)])
  const answers = await talk([Buffer.concat([...requests, Buffer.from(LIST_HEAD)])], requests.length + 1)
  const last = answers.pop()
  assert.deepEqual(
    answers.map((answer) => answer?.status),
    ['a', 'b', 'c', 'd'].flatMap(() => [404, 200, 200]),
  )
  const names = answers.filter((answer) => answer?.status === 200).map((answer) => parsed(answer).data?.name)
  assert.deepEqual(names, ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'])
  assert.deepEqual(parsed(last).data, { keys: ['a', 'b', 'c', 'd', 'one'] })
})

test('what is malformed behind a good request is refused after its answer', async () => {
  const slow = rawRequest('POST', '/v1/transit/keys/behind', [TOKEN], '{}')
  const answers = await talk([Buffer.concat([slow, slow, Buffer.from('\u0000\r\n\r\n')])], 4)
  assert.deepEqual(
    answers.map((answer) => answer?.status),
    [200, 200, 400, undefined],
  )
})

const MALFORMED = [
  {
    name: 'two framings',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  {
    name: 'two lengths',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc',
  },
  {
    name: 'the same length twice',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc',
  },
  { name: 'a length that is none', bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc' },
  { name: 'a negative length', bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n' },
  {
    name: 'a length beyond 64 bits',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n',
  },
  {
    name: 'chunked not last',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  },
  {
    name: 'a chunk size that is none',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n',
  },
  {
    name: 'a chunk size beyond 64 bits',
    bytes: 'POST /v1/sys/init HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
  },
  { name: 'a folded header', bytes: 'GET /v1/sys/health HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n' },
  { name: 'a space before the colon', bytes: 'GET /v1/sys/health HTTP/1.1\r\nHost : a\r\n\r\n' },
  { name: 'a space in a name', bytes: 'GET /v1/sys/health HTTP/1.1\r\nHost: a\r\nX Y: a\r\n\r\n' },
  { name: 'a NUL in a header', bytes: 'GET /v1/sys/health HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n' },
  { name: 'a lone CR', bytes: 'GET /v1/sys/health HTTP/1.1\rHost: a\r\n\r\n' },
  { name: 'a byte beyond ASCII in the target', bytes: 'GET /v1/sys/he\u00e4lth HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a control character in the target', bytes: 'GET /v1/sys/he\u0001lth HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a version that does not exist', bytes: 'GET /v1/sys/health HTTP/1.7\r\nHost: a\r\n\r\n' },
  { name: 'HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  { name: 'HTTP/0.9', bytes: 'GET /v1/sys/health\r\n\r\n' },
  { name: 'TLS', bytes: Buffer.from('16030100c5010000c1030300', 'hex') },
  { name: 'noise', bytes: Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 167) & 0xff)) },
]

for (const { name, bytes } of MALFORMED) {
  test(`H-12: ${name} is refused, and others are served`, async () => {
    const [answer, end] = await talk([bytes], 2)
    assert.equal(answer?.status, 400)
    assert.deepEqual(parsed(answer), { errors: ['The request is not well-formed HTTP'] })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.equal(end, undefined)
    assert.equal(await statusOf(HEALTH), 200)
  })
}

const CODINGS = ['gzip, chunked', 'GZip,chunked', 'xchunked']

test('RFC 9112 6.1: a coding other than chunked is not offered, whatever method and path', async () => {
  for (const coding of CODINGS) {
    for (const path of [CAPABILITIES, '/v1/sys/storage/raft/snapshot']) {
      const head = rawRequest('POST', path, [TOKEN, ['Transfer-Encoding', coding]])
      const [answer, end] = await talk([Buffer.concat([head, Buffer.from('2\r\n{}\r\n0\r\n\r\n')])], 2)
      assert.equal(answer?.status, 501, `${coding} ${path}`)
      assert.deepEqual(parsed(answer), { errors: ['Transfer-Encoding: only chunked is offered'] })
      assert.equal(end, undefined)
    }
  }
  const [asked] = await talk([rawRequest('POST', CAPABILITIES, [TOKEN, EXPECT, ['Transfer-Encoding', 'br, chunked']])])
  assert.equal(asked?.status, 501)
  const [known] = await talk([
    Buffer.concat([
      rawRequest('POST', CAPABILITIES, [TOKEN, ['Transfer-Encoding', 'Chunked']]),
      Buffer.from('16\r\n{"paths":["sys/seal"]}\r\n0\r\n\r\n'),
    ]),
  ])
  assert.equal(known?.status, 200)
})

test('RFC 9110 7.8: who asks for another protocol is answered, and told to send again what stood behind', async () => {
  const upgrade = rawRequest('GET', '/v1/sys/health', [
    ['Connection', 'keep-alive, Upgrade'],
    ['Upgrade', 'h2c'],
  ])
  const [answer, end] = await talk([Buffer.concat([upgrade, HEALTH])], 2)
  assert.deepEqual([answer?.status, answer?.headers.get('connection')], [200, 'close'])
  assert.equal(end, undefined)
})

test('M-04, W-01, W-02: no answer may be kept or taken for a page', async () => {
  const requests = [
    HEALTH,
    rawRequest('GET', '/v1/sys/mounts', [TOKEN]),
    rawRequest('GET', '/v1/sys/mounts'),
    rawRequest('HEAD', '/v1/sys/health'),
    rawRequest('GET', '/v1/sys/health?activecode=204'),
    rawRequest('GET', '/v1/<script>'),
    rawRequest('GET', '/ui/'),
    rawRequest('GET', '/v1/sys/storage/raft/snapshot', [TOKEN]),
    rawRequest('CONNECT', '/v1/sys/health'),
    rawRequest('POST', CAPABILITIES, [TOKEN], bodyOf(MAX_BODY_BYTES + 1)),
    LIST_HEAD,
    'noise\r\n\r\n',
  ]
  for (const bytes of requests) {
    const connection = await RawConnection.open(server.address)
    const answer = await connection.exchange(bytes)
    connection.close()
    const of = ['x-content-type-options', 'content-security-policy', 'cache-control']
    assert.deepEqual(
      of.map((name) => answer?.headers.get(name)),
      ['nosniff', "default-src 'none'", 'no-store'],
      String(bytes).slice(0, 60),
    )
  }
})

test('headers beyond 16 KiB are refused by name', async () => {
  const [answer] = await talk([rawRequest('GET', '/v1/sys/health', [['X-Long', 'a'.repeat(20_000)]])])
  assert.equal(answer?.status, 431)
  assert.deepEqual(parsed(answer), { errors: ['The request headers are too large'] })
})

test('A-13: no path is answered with a redirect', async () => {
  for (const path of [
    '/v1/sys/health/',
    '/v1/sys//health',
    '/v1',
    '/',
    '/ui',
    '/v1/sys/policies/acl',
    '/v1/transit/keys/',
  ]) {
    for (const method of ['GET', 'POST']) {
      const status = await statusOf(rawRequest(method, path, [TOKEN]))
      assert(status !== undefined && (status < 300 || status >= 400), `${method} ${path}: ${status}`)
    }
  }
})

/** How long a connection lives on which these parts come, the rest never. */
async function timeToAnswer(
  parts: readonly string[],
): Promise<{ readonly status: number | undefined; readonly ms: number; readonly end: unknown }> {
  // A part that has no answer came too late itself, from a machine that stood still: that is so now and then.
  for (let attempt = 1; ; attempt++) {
    let startMs = performance.now()
    const connection = await RawConnection.open(impatient)
    try {
      const [last = '', ...before] = [...parts].reverse()
      let isInTime = true
      for (const part of before.reverse()) {
        isInTime &&= (await connection.exchange(part))?.status === 200
        startMs = performance.now()
      }
      assert.ok(isInTime || attempt < MOST_ATTEMPTS, 'what comes in time is answered 200')
      if (!isInTime) continue
      connection.write(last)
      const answer = await connection.read()
      return { status: answer?.status, ms: performance.now() - startMs, end: await connection.read() }
    } finally {
      connection.close()
    }
  }
}

const HALF_BODY =
  'POST /v1/sys/capabilities-self HTTP/1.1\r\nHost: a\r\nX-Vault-Token: root\r\nContent-Length: 10\r\n\r\n{"a"'
const SLOW = [
  { name: 'half a head', parts: ['GET /v1/sys/health HTTP/1.1\r\nHost: a\r\n'], limitMs: HEADER_LIMIT_MS },
  { name: 'half a LIST', parts: [LIST_HEAD.slice(0, 30)], limitMs: HEADER_LIMIT_MS },
  { name: 'half a LIST after a request', parts: [HEALTH.toString(), LIST_HEAD.slice(0, 30)], limitMs: HEADER_LIMIT_MS },
  { name: 'half a body', parts: [HALF_BODY], limitMs: REQUEST_LIMIT_MS },
]

test('P-44: who sends too slowly is told so and cut off', async () => {
  const found = await Promise.all(
    SLOW.map(({ parts, limitMs }) => undisturbed(limitMs + SLACK_MS, () => timeToAnswer(parts))),
  )
  for (const [index, { name, limitMs }] of SLOW.entries()) {
    const { status, ms, end } = found[index] ?? {}
    assert.equal(status, 408, name)
    assert.equal(end, undefined, name)
    assert(ms !== undefined && ms >= limitMs - 200 && ms < limitMs + SLACK_MS, `${name}: ${ms} ms`)
  }
})

test('none of this was a defect inside, and the server goes on', async () => {
  assert.doesNotMatch(server.output(), /failed inside/)
  assert.equal(await statusOf(LIST_HEAD), 200)
})
