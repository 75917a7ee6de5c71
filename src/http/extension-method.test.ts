import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginsUnknownMethod, findHead, isHeadComplete, MAX_HEAD_BYTES, readHead } from './extension-method.ts'
import { wireHeaders } from './headers.ts'

const read = (head: string) =>
  readHead(Buffer.from(head, 'latin1'), (headers) => ({ headers: wireHeaders(headers), remoteAddress: '127.0.0.1' }))

test('a head gives the request', () => {
  const lines =
    'LIST /v1/transit/keys?after=a HTTP/1.1\r\n' +
    'Host: localhost\r\nX-Vault-Token:  root \r\nx-vault-namespace: root\r\n\r\n'
  assert.deepEqual(read(lines), {
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
  { name: 'an empty body that is said to be one', head: 'LIST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a bearer token', head: 'LIST / HTTP/1.1\r\nAuthorization: Bearer root\r\n\r\n' },
  { name: 'a repeated header that does not matter', head: 'LIST / HTTP/1.1\r\nAccept: a\r\nAccept: b\r\n\r\n' },
  { name: 'an empty value', head: 'LIST / HTTP/1.1\r\nX-A:\r\n\r\n' },
  { name: 'a name like one of the prototypes', head: 'LIST / HTTP/1.1\r\n__proto__: a\r\nconstructor: b\r\n\r\n' },
  { name: '200 headers', head: `LIST / HTTP/1.1\r\n${'a: b\r\n'.repeat(200)}\r\n` },
]

for (const { name, head } of TAKEN) {
  test(`takes ${name}`, () => {
    assert.notEqual(read(head), undefined)
  })
}

const REFUSED = [
  { name: 'another method', head: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'lower case', head: 'list / HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'no headers at all', head: 'LIST / HTTP/1.1' },
  { name: 'an unfinished head', head: 'LIST / HTTP/1.1\r\nHost: a\r\n' },
  { name: 'something behind the head', head: 'LIST / HTTP/1.1\r\nHost: a\r\n\r\nx' },
  { name: 'a second request behind the head', head: 'LIST / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n' },
  { name: 'line feeds alone', head: 'LIST / HTTP/1.1\nHost: a\n\n' },
  { name: 'HTTP/1.0', head: 'LIST / HTTP/1.0\r\nHost: a\r\n\r\n' },
  { name: 'a missing version', head: 'LIST /\r\nHost: a\r\n\r\n' },
  { name: 'a word more', head: 'LIST / HTTP/1.1 x\r\nHost: a\r\n\r\n' },
  { name: 'an absolute target', head: 'LIST http://a/v1/x HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a tab in the target', head: 'LIST /a\tb HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a byte beyond ASCII in the target', head: 'LIST /\u00e4 HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a body', head: 'LIST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n' },
  { name: 'a length that is none', head: 'LIST / HTTP/1.1\r\nContent-Length: 00\r\n\r\n' },
  { name: 'chunks', head: 'LIST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n' },
  { name: 'two tokens', head: 'LIST / HTTP/1.1\r\nX-Vault-Token: a\r\nx-vault-token: b\r\n\r\n' },
  { name: 'two namespaces', head: 'LIST / HTTP/1.1\r\nX-Vault-Namespace: a\r\nX-Vault-Namespace: a\r\n\r\n' },
  { name: 'two hosts', head: 'LIST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n' },
  { name: 'a folded header', head: 'LIST / HTTP/1.1\r\nX-A: a\r\n b\r\n\r\n' },
  { name: 'a header without a colon', head: 'LIST / HTTP/1.1\r\nX-A\r\n\r\n' },
  { name: 'a header without a name', head: 'LIST / HTTP/1.1\r\n: a\r\n\r\n' },
  { name: 'a space before the colon', head: 'LIST / HTTP/1.1\r\nX-A : a\r\n\r\n' },
  { name: 'a control character in a value', head: 'LIST / HTTP/1.1\r\nX-A: a\u0001\r\n\r\n' },
  { name: 'a lone CR in a value', head: 'LIST / HTTP/1.1\r\nX-A: a\rb\r\n\r\n' },
  { name: '201 headers', head: `LIST / HTTP/1.1\r\n${'a: b\r\n'.repeat(201)}\r\n` },
  { name: 'a head that is too long', head: `LIST / HTTP/1.1\r\nX-A: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n\r\n` },
]

for (const { name, head } of REFUSED) {
  test(`refuses ${name}`, () => {
    assert.equal(read(head), undefined)
  })
}

const GOOD = 'POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}'

test('a head is found where the parser stopped, and only there', () => {
  const packet = Buffer.from(`${GOOD}LIST /v1/LIST HTTP/1.1\r\n\r\n`)
  assert.equal(findHead(packet, GOOD.length + 2)?.toString(), 'LIST /v1/LIST HTTP/1.1\r\n\r\n')
  assert.equal(findHead(packet, GOOD.length + 1), undefined)
  assert.equal(findHead(packet, 2), undefined)
  assert.equal(findHead(Buffer.from('ST /a HTTP/1.1'), 0), undefined)
  assert.equal(findHead(Buffer.from('LISTEN /a HTTP/1.1'), 2), undefined)
})

test('a head is complete with its empty line', () => {
  assert.equal(isHeadComplete(Buffer.from('LIST / HTTP/1.1\r\n')), false)
  assert.equal(isHeadComplete(Buffer.from('LIST / HTTP/1.1\r\n\r\n')), true)
})

test('a word before a path is a method that is not known; other bytes are no HTTP', () => {
  for (const text of ['FOO / HTTP/1.1', 'SCAN /v1/x HTTP/1.1', 'list / HTTP/1.1']) {
    assert.equal(beginsUnknownMethod(Buffer.from(text), 0), true, text)
  }
  for (const text of ['', 'FOO', 'FOO x', '/ HTTP', '\u0016\u0003\u0001 /', `${'A'.repeat(21)} /`, 'F"O /']) {
    assert.equal(beginsUnknownMethod(Buffer.from(text), 0), false, text)
  }
})
