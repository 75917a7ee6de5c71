import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { headersFor, withOurs } from './response-headers.ts'

const OURS = headersFor({})(200)

test('C10: a content security policy of an answer holds beside ours, however it is spelled', () => {
  for (const name of ['Content-Security-Policy', 'content-security-policy']) {
    assert.deepEqual(withOurs(OURS, { [name]: "script-src 'unsafe-inline'" }), {
      'X-Content-Type-Options': 'nosniff',
      [name]: "default-src 'none', script-src 'unsafe-inline'",
    })
  }
  const custom = headersFor({ default: { 'content-security-policy': "default-src 'self'" } })(200)
  assert.equal(
    withOurs(custom, { 'Content-Security-Policy': 'img-src *' })['Content-Security-Policy'],
    "default-src 'self', img-src *",
  )
})

test('C10: what an answer could only weaken stays ours, and all else is its own', () => {
  const custom = headersFor({ default: { 'Strict-Transport-Security': 'max-age=1', 'X-One': 'ours' } })(200)
  const own = { 'strict-transport-security': 'max-age=0', 'x-content-type-options': 'x', 'x-one': 'own', 'X-Two': '2' }
  assert.deepEqual(withOurs(custom, own), {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
    'Strict-Transport-Security': 'max-age=1',
    'x-one': 'own',
    'X-Two': '2',
  })
  assert.deepEqual(
    withOurs(OURS, { 'Strict-Transport-Security': 'max-age=2' })['Strict-Transport-Security'],
    'max-age=2',
  )
})

test('C10: over a socket too, for every way of answering', async (context) => {
  const headers = { 'Content-Security-Policy': 'img-src *', 'X-Content-Type-Options': 'x' }
  const open = await openListener({
    handle: async ({ rawPath }) => ({ status: rawPath === '/v1/none' ? 204 : 200, body: '{}', headers }),
  })
  context.after(() => open.stop())
  for (const request of [rawRequest('GET', '/v1/x'), rawRequest('GET', '/v1/none'), rawRequest('LIST', '/v1/x')]) {
    const connection = await RawConnection.open(open.address)
    const answer = await connection.exchange(request)
    assert.equal(answer?.headers.get('content-security-policy'), "default-src 'none', img-src *")
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    connection.close()
  }
})
