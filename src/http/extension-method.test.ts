import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection } from '../../test/fixtures/raw-http.ts'
import { Refusal } from '../api/errors.ts'
import { beginsUnknownMethod, ExtensionMessage, findHead, MAX_BODY_BYTES, MAX_HEAD_BYTES } from './extension-method.ts'
import { wireHeaders } from './headers.ts'

/** Reads `text` in parts of so many bytes. Returns the request, the status of its refusal, or that more is to come. */
function outcome(text: string, partBytes = text.length) {
  const message = new ExtensionMessage()
  const bytes = Buffer.from(text, 'latin1')
  try {
    for (let at = 0; at < bytes.length; at += partBytes) {
      const isWhole = message.add(bytes.subarray(at, at + partBytes))
      if (isWhole && at + partBytes < bytes.length) return 'early'
      if (isWhole) return message.request((headers) => ({ headers: wireHeaders(headers), remoteAddress: '127.0.0.1' }))
    }
    return 'unfinished'
  } catch (cause) {
    if (cause instanceof Refusal) return cause.status
    throw cause
  }
}

test('a head gives the request', () => {
  const lines =
    'LIST /v1/transit/keys?after=a HTTP/1.1\r\n' +
    'Host: localhost\r\nX-Vault-Token:  root \r\nx-vault-namespace: root\r\n\r\n'
  assert.deepEqual(outcome(lines), {
    method: 'LIST',
    rawPath: '/v1/transit/keys',
    query: 'after=a',
    headers: {
      token: 'root',
      namespace: 'root',
      wrapTtl: undefined,
      wrapFormat: undefined,
      contentType: undefined,
      origin: undefined,
      pageAsksFor: undefined,
      traceparent: undefined,
    },
    body: undefined,
    remoteAddress: '127.0.0.1',
  })
})

const TAKEN = [
  { name: 'HELP', head: 'HELP /v1/sys/health HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'SCAN', head: 'SCAN /v1/sys/namespaces HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'an empty body that is said to be one', head: 'LIST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a bearer token', head: 'LIST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer root\r\n\r\n' },
  {
    name: 'a repeated header that does not matter',
    head: 'LIST / HTTP/1.1\r\nHost: a\r\nAccept: a\r\nAccept: b\r\n\r\n',
  },
  { name: 'an empty value', head: 'LIST / HTTP/1.1\r\nHost:\r\nX-A:\r\n\r\n' },
  {
    name: 'a name like one of the prototypes',
    head: 'LIST / HTTP/1.1\r\nHost: a\r\n__proto__: a\r\nconstructor: b\r\n\r\n',
  },
  { name: '200 headers', head: `LIST / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(199)}\r\n` },
]

for (const { name, head } of TAKEN) {
  test(`takes ${name}`, () => {
    assert.equal(typeof outcome(head), 'object')
    assert.equal(typeof outcome(head, 1), 'object', 'byte by byte')
  })
}

const REFUSED = [
  { name: 'another method', head: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'lower case', head: 'list / HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'something behind the head', head: 'LIST / HTTP/1.1\r\nHost: a\r\n\r\nx' },
  {
    name: 'a second request behind the head',
    head: 'LIST / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  },
  { name: 'HTTP/1.0', head: 'LIST / HTTP/1.0\r\nHost: a\r\n\r\n' },
  { name: 'no host', head: 'LIST / HTTP/1.1\r\nX-Vault-Token: root\r\n\r\n' },
  { name: 'a missing version', head: 'LIST /\r\nHost: a\r\n\r\n' },
  { name: 'a word more', head: 'LIST / HTTP/1.1 x\r\nHost: a\r\n\r\n' },
  { name: 'an absolute target', head: 'LIST http://a/v1/x HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a tab in the target', head: 'LIST /a\tb HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a byte beyond ASCII in the target', head: 'LIST /\u00e4 HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'two tokens', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-Vault-Token: a\r\nx-vault-token: b\r\n\r\n' },
  {
    name: 'two namespaces',
    head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-Vault-Namespace: a\r\nX-Vault-Namespace: a\r\n\r\n',
  },
  { name: 'two hosts', head: 'LIST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n' },
  { name: 'a folded header', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-A: a\r\n b\r\n\r\n' },
  { name: 'a header without a colon', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-A\r\n\r\n' },
  { name: 'a header without a name', head: 'LIST / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n' },
  { name: 'a space before the colon', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-A : a\r\n\r\n' },
  { name: 'a control character in a value', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-A: a\u0001\r\n\r\n' },
  { name: 'a lone CR in a value', head: 'LIST / HTTP/1.1\r\nHost: a\r\nX-A: a\rb\r\n\r\n' },
  { name: '201 headers', head: `LIST / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(200)}\r\n` },
  { name: 'a head that is too long', head: `LIST / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n\r\n` },
]

for (const { name, head } of REFUSED) {
  test(`refuses ${name}`, () => {
    assert.equal(outcome(head), 400)
  })
}

const withLength = (length: string, body: string): string =>
  `LIST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`
const inChunks = (body: string, coding = 'Transfer-Encoding: chunked'): string =>
  `LIST /v1/x HTTP/1.1\r\nHost: a\r\n${coding}\r\n\r\n${body}`

const WITH_BODY = [
  { name: 'no bytes by length', text: withLength('0', '') },
  { name: 'no bytes in chunks', text: inChunks('0\r\n\r\n') },
  { name: 'no bytes, with more zeros', text: inChunks('0000\r\n\r\n') },
  { name: 'no bytes, in capital letters', text: inChunks('0\r\n\r\n', 'TRANSFER-ENCODING: Chunked') },
  { name: 'a few bytes by length', text: withLength('2', '{}') },
  { name: 'a few bytes in chunks', text: inChunks('2\r\n{}\r\nA\r\n\r\n0\r\n\r\n1\r\n\r\n0\r\n\r\n') },
  { name: 'a body that is waited to be asked for', text: inChunks('', 'Expect: 100-continue\r\nContent-Length: 5') },
  { name: 'as much as is taken, by length', text: withLength(String(MAX_BODY_BYTES), 'x'.repeat(MAX_BODY_BYTES)) },
  {
    name: 'as much as is taken, in chunks',
    // The line of the size has 6 bytes, the end of the chunk 2, the last chunk 5.
    text: inChunks(`${(MAX_BODY_BYTES - 13).toString(16)}\r\n${'x'.repeat(MAX_BODY_BYTES - 13)}\r\n0\r\n\r\n`),
  },
]

for (const { name, text } of WITH_BODY) {
  test(`C1: a body means nothing: ${name}`, () => {
    for (const partBytes of [text.length, 7, 1]) {
      const found = outcome(text, partBytes)
      assert.ok(typeof found === 'object', `${partBytes}: ${found}`)
      assert.deepEqual([found.method, found.rawPath, found.body], ['LIST', '/v1/x', undefined])
    }
  })
}

const REFUSED_BODIES = [
  {
    name: 'both framings',
    text: inChunks('0\r\n\r\n', 'Content-Length: 5\r\nTransfer-Encoding: chunked'),
    status: 400,
  },
  {
    name: 'both framings, of nothing',
    text: inChunks('', 'Content-Length: 0\r\nTransfer-Encoding: chunked'),
    status: 400,
  },
  {
    name: 'chunked twice',
    text: inChunks('', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    status: 400,
  },
  { name: 'two lengths', text: inChunks('{}', 'Content-Length: 2\r\nContent-Length: 2'), status: 400 },
  { name: 'a length of two values', text: withLength('2, 2', '{}'), status: 400 },
  { name: 'a length with a zero before it', text: withLength('02', '{}'), status: 400 },
  { name: 'a length with a sign', text: withLength('+2', '{}'), status: 400 },
  { name: 'a negative length', text: withLength('-1', ''), status: 400 },
  { name: 'a length in hexadecimal digits', text: withLength('0x2', '{}'), status: 400 },
  { name: 'a length without digits', text: withLength('', ''), status: 400 },
  { name: 'more than its length', text: withLength('2', '{}x'), status: 400 },
  { name: 'a request behind its length', text: withLength('0', 'GET / HTTP/1.1\r\n\r\n'), status: 400 },
  { name: 'a request behind its chunks', text: inChunks('0\r\n\r\nGET / HTTP/1.1\r\n\r\n'), status: 400 },
  { name: 'another coding', text: inChunks('', 'Transfer-Encoding: gzip, chunked'), status: 501 },
  { name: 'a coding that looks like chunked', text: inChunks('', 'Transfer-Encoding: xchunked'), status: 501 },
  { name: 'a folded coding', text: inChunks('0\r\n\r\n', 'Transfer-Encoding:\r\n chunked'), status: 400 },
  { name: 'a space before the colon', text: inChunks('0\r\n\r\n', 'Transfer-Encoding : chunked'), status: 400 },
  { name: 'a size with a sign', text: inChunks('+2\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'a size with a prefix', text: inChunks('0x2\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'a size with a space', text: inChunks('2 \r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'a size of nine digits', text: inChunks('000000002\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'an empty size', text: inChunks('\r\n'), status: 400 },
  { name: 'a size that ends in a line feed alone', text: inChunks('0\n\n'), status: 400 },
  { name: 'an extension of a chunk', text: inChunks('2;a=b\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'a chunk that is longer than its size', text: inChunks('1\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { name: 'a trailer', text: inChunks('0\r\nX-Vault-Token: root\r\n\r\n'), status: 400 },
  { name: 'one byte too many by length', text: withLength(String(MAX_BODY_BYTES + 1), ''), status: 413 },
  {
    name: 'one byte too many in chunks',
    text: inChunks(`${(MAX_BODY_BYTES - 12).toString(16)}\r\n${'x'.repeat(MAX_BODY_BYTES - 12)}\r\n0\r\n\r\n`),
    status: 413,
  },
  { name: 'chunks without end', text: inChunks('1\r\nx\r\n'.repeat(MAX_BODY_BYTES)), status: 413 },
  { name: 'the largest size', text: inChunks('ffffffff\r\n'), status: 413 },
]

for (const { name, text, status } of REFUSED_BODIES) {
  test(`C1: no body that two readers could take otherwise: ${name}`, () => {
    assert.equal(outcome(text), status)
    const bytewise = outcome(text, 1)
    // Bytes after a complete request find the connection closed.
    assert.ok(bytewise === status || bytewise === 'early', String(bytewise))
  })
}

test('C1: what is not whole yet is waited for', () => {
  for (const text of [
    'LIST / HTTP/1.1',
    'LIST / HTTP/1.1\r\nHost: a\r\n',
    'LIST / HTTP/1.1\nHost: a\n\n',
    withLength('2', '{'),
    inChunks(''),
    inChunks('0'),
  ]) {
    assert.equal(outcome(text), 'unfinished', text)
  }
  for (const body of ['0\r', '0\r\n', '0\r\n\r', '2\r\n{', '2\r\n{}', '2\r\n{}\r', '2\r\n{}\r\n']) {
    assert.equal(outcome(inChunks(body)), 'unfinished', body)
  }
})

test('C1: LIST, SCAN, HELP and GET with an empty or small body are served, in whatever parts', async (context) => {
  const open = await openListener()
  context.after(() => open.stop())
  for (const text of [
    withLength('0', ''),
    withLength('2', '{}'),
    inChunks('0\r\n\r\n'),
    inChunks('2\r\n{}\r\n0\r\n\r\n'),
  ]) {
    const body = text.indexOf('\r\n\r\n') + 4
    for (const method of ['LIST', 'SCAN', 'HELP', 'GET']) {
      const request = method + text.slice('LIST'.length)
      for (const cut of [request.length, body - 4 + method.length, body + method.length - 3]) {
        const connection = await RawConnection.open(open.address)
        connection.write(request.slice(0, cut))
        for (const byte of request.slice(cut)) {
          connection.write(byte)
          await new Promise(setImmediate)
        }
        const answer = await connection.read()
        assert.equal(answer?.status, 200, `${request} ${answer?.body}`)
        assert.equal(JSON.parse(answer.body).method, method)
        if (method !== 'GET') assert.equal(await connection.read(), undefined, 'the connection ends')
        connection.close()
      }
    }
  }
  assert.deepEqual(open.logged, [])
})

test('C1: a method of ours with a body that does not come is told so', async (context) => {
  const open = await openListener({ limits: { readHeaderTimeoutMs: 1_000 } })
  context.after(() => open.stop())
  const connection = await RawConnection.open(open.address)
  connection.write(inChunks('2\r\n{'))
  assert.equal((await connection.read())?.status, 408)
  connection.close()
})

const GOOD = 'POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}'

test('a head is found where the parser stopped, and only there', () => {
  const packet = Buffer.from(`${GOOD}LIST /v1/LIST HTTP/1.1\r\n\r\n`)
  assert.equal(findHead(packet, GOOD.length + 2)?.toString(), 'LIST /v1/LIST HTTP/1.1\r\n\r\n')
  assert.equal(findHead(packet, GOOD.length + 1), undefined)
  assert.equal(findHead(packet, 2), undefined)
  assert.equal(findHead(Buffer.from('ST /a HTTP/1.1'), 0), undefined)
  assert.equal(findHead(Buffer.from('LISTEN /a HTTP/1.1'), 2), undefined)
  const scan = Buffer.from(`${GOOD}SCAN /v1/SCAN HTTP/1.1\r\n\r\n`)
  assert.equal(findHead(scan, GOOD.length + 1)?.toString(), 'SCAN /v1/SCAN HTTP/1.1\r\n\r\n')
  assert.equal(findHead(scan, GOOD.length + 2), undefined)
})

test('a word before a path is a method that is not known; other bytes are no HTTP', () => {
  for (const text of ['FOO / HTTP/1.1', 'SCANS /v1/x HTTP/1.1', 'list / HTTP/1.1']) {
    assert.equal(beginsUnknownMethod(Buffer.from(text), 0), true, text)
  }
  for (const text of ['', 'FOO', 'FOO x', '/ HTTP', '\u0016\u0003\u0001 /', `${'A'.repeat(21)} /`, 'F"O /']) {
    assert.equal(beginsUnknownMethod(Buffer.from(text), 0), false, text)
  }
})
