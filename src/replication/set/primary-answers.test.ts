import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { MAX_ACTIVATION_CHARACTERS } from './activation-token.ts'
import { REPLICATION_FAMILIES } from './peer-name.ts'
import { clockSkew, faultOfLookup, type PrimaryAnswer, readHealth, readUnwrapped } from './primary-answers.ts'

const SECRET = 'keywright-activation-1-c2VjcmV0'

const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): PrimaryAnswer => ({
  status,
  headers: new Map(Object.entries(headers)),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})
const refusal = (status: number): PrimaryAnswer => answer(status, { errors: [`no: ${SECRET}`] })
const faultOf = (found: object | undefined): string => (found as { fault?: string } | undefined)?.fault ?? 'none'

test('the bundle of an unwrapped answer is its text as it came', () => {
  assert.deepEqual(readUnwrapped(answer(200, { data: { token: SECRET }, warnings: null })), { text: SECRET })
  const longest = SECRET.padEnd(MAX_ACTIVATION_CHARACTERS, 'A')
  assert.deepEqual(readUnwrapped(answer(200, { data: { token: longest } })), { text: longest })
})

test('an answer without a bundle is told apart from that of another server', () => {
  const noBundle = [
    { data: null },
    {},
    { data: { token: 7 } },
    { data: { token: 'keywright-sealed-activation-1-AAAA' } },
    { data: { token: `${SECRET.padEnd(MAX_ACTIVATION_CHARACTERS, 'A')}A` } },
    { data: { client_key: SECRET } },
  ]
  for (const body of noBundle)
    assert.match(faultOf(readUnwrapped(answer(200, body))), /another call wrapped .*: give "wrap_info\.token"/)
  for (const body of ['', '<html>', '[]', '7', '{"data":', '['.repeat(100)])
    assert.match(faultOf(readUnwrapped(answer(200, body))), /^is no server of this kind, by its answer: check/)
})

const REFUSED: readonly (readonly [PrimaryAnswer, RegExp])[] = [
  [refusal(400), /^refused the token with status 400: it was used already, has expired or was revoked/],
  [refusal(403), /^refused the token with status 403: .*get a new one from "primary\/secondary-token"/],
  [answer(403, '<html>'), /^is no server of this kind, .* \(status 403\)$/],
  [refusal(404), /^is no server of this kind, .* \(status 404\)$/],
  [answer(301, ''), /^redirects elsewhere \(status 301\), which is not followed: .*"primary_api_addr"/],
  [refusal(307), /^redirects elsewhere \(status 307\)/],
  [refusal(429), /^has too much to do \(status 429\)/],
  [refusal(500), /^failed with status 500: its log says why/],
  [answer(502, '<html>'), /^is no server of this kind, .* \(status 502\)$/],
  [refusal(503), /^is sealed, or no node there is ready \(status 503\): unseal it/],
]

for (const [given, says] of REFUSED) {
  test(`status ${given.status} with ${given.body.length} bytes is explained, and nothing of it repeated`, () => {
    for (const fault of [faultOf(readUnwrapped(given)), faultOf(faultOfLookup(given, 'dr'))]) {
      assert.match(fault, says)
      assert.ok(!fault.includes(SECRET))
    }
  })
}

test('a token is good if it wraps the answer of the call that gives activation tokens', () => {
  const lookup = (creation_path: unknown, family: ReplicationFamily = 'dr') =>
    faultOfLookup(answer(200, { data: { creation_path } }), family)
  for (const family of REPLICATION_FAMILIES) {
    const path = `sys/replication/${family}/primary/secondary-token`
    assert.equal(lookup(path, family), undefined)
    const other = family === 'dr' ? 'performance' : 'dr'
    assert.match(faultOf(lookup(path, other)), new RegExp(`for ${family} replication, and not for ${other}`))
  }
  // The path of former releases of the API.
  assert.equal(lookup('sys/replication/primary/secondary-token', 'performance'), undefined)
  assert.match(faultOf(lookup('sys/replication/primary/secondary-token', 'dr')), /for performance/)
  for (const path of ['sys/wrapping/wrap', 'sys/replication/dr/primary/secondary-token/x', ''])
    assert.match(faultOf(lookup(path)), /another call wrapped/)
  for (const path of [undefined, 7, null]) assert.match(faultOf(lookup(path)), /no server of this kind/)
})

test('health tells the version, and why a primary cannot give the bundle', () => {
  const healthy = { initialized: true, sealed: false, version: '1.21.0', replication_dr_mode: 'primary' }
  assert.deepEqual(readHealth(answer(200, healthy)), { version: '1.21.0', fault: undefined })
  const fault = (status: number, body: unknown) => readHealth(answer(status, body)).fault ?? 'none'
  assert.equal(fault(473, healthy), 'none')
  assert.match(fault(501, { ...healthy, initialized: false, sealed: true }), /^is not initialized/)
  assert.match(fault(503, { ...healthy, sealed: true }), /^is sealed: unseal it/)
  assert.match(fault(472, { ...healthy, replication_dr_mode: 'secondary' }), /itself a secondary .*"primary_api_addr"/)
  assert.match(fault(200, { status: 'up' }), /no server of this kind/)
  assert.match(fault(200, '<html>'), /no server of this kind/)
  assert.match(fault(302, ''), /redirects elsewhere/)
  for (const version of ['', 'a'.repeat(65), '1\n2', 7])
    assert.equal(readHealth(answer(200, { ...healthy, version })).version, undefined)
})

test('clocks that may be the same are not apart; beyond that the least difference counts', () => {
  const date = 'Thu, 01 Jan 2026 00:00:10 GMT'
  const there = Date.UTC(2026, 0, 1, 0, 0, 10)
  const skew = (sentAt: number, receivedAt: number) => clockSkew(answer(200, '', { date }), sentAt, receivedAt)
  assert.equal(skew(there, there), 0)
  assert.equal(skew(there + 900, there + 950), 0)
  assert.equal(skew(there - 500, there + 500), 0)
  assert.equal(skew(there + 5_999, there + 6_100), -5_000)
  assert.equal(skew(there - 5_100, there - 5_000), 5_000)
  assert.equal(clockSkew(answer(200, ''), 0, 0), undefined)
  assert.equal(clockSkew(answer(200, '', { date: 'soon' }), 0, 0), undefined)
})
