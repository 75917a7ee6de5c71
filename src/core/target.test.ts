// From the raw target to the one path that everything sees (threats A-02).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { Refusal } from '../api/errors.ts'
import { canonicalPath, parseQuery } from './target.ts'

const PATHS: readonly (readonly [string, string | undefined])[] = [
  ['/v1/sys/health', 'sys/health'],
  ['/v1/', ''],
  ['/v1', undefined],
  ['/v2/sys/health', undefined],
  ['/V1/sys/health', undefined],
  ['/', undefined],
  ['*', undefined],
  ['', undefined],
  ['http://localhost/v1/sys/health', undefined],
  // Doubled slashes are one.
  ['/v1//sys/health', 'sys/health'],
  ['/v1/sys//health', 'sys/health'],
  ['/v1/sys////health//', 'sys/health/'],
  ['/v1/%2Fsys%2F%2Fhealth', 'sys/health'],
  // A slash at the end stays.
  ['/v1/transit/keys/', 'transit/keys/'],
  // Percent-encoding is decoded once.
  ['/v1/transit/keys/a%20b', 'transit/keys/a b'],
  ['/v1/transit/keys/a%2Fb', 'transit/keys/a/b'],
  ['/v1/transit/keys/a%252Fb', 'transit/keys/a%2Fb'],
  ['/v1/transit/keys/%252e%252e', 'transit/keys/%2e%2e'],
  ['/v1/transit/keys/%C3%A4', 'transit/keys/\u00e4'],
  ['/v1/transit/keys/%6b', 'transit/keys/k'],
  ['/v1/transit/keys/%6B', 'transit/keys/k'],
  ['/v1/transit/keys/a+b', 'transit/keys/a+b'],
  ['/v1/transit/keys/%2B', 'transit/keys/+'],
  ['/v1/%73ys/health', 'sys/health'],
  // Dots that are no relative segments.
  ['/v1/transit/keys/a..b', 'transit/keys/a..b'],
  ['/v1/transit/keys/...', 'transit/keys/...'],
  ['/v1/transit/keys/.a', 'transit/keys/.a'],
  ['/v1/transit/keys/a.', 'transit/keys/a.'],
  ['/v1/transit/keys/..a', 'transit/keys/..a'],
  // Nothing else has a meaning.
  ['/v1/transit/keys/a;b=c', 'transit/keys/a;b=c'],
  ['/v1/transit/keys/a\\b', 'transit/keys/a\\b'],
  ['/v1/transit/keys/%5c', 'transit/keys/\\'],
  ['/v1/transit/keys/a#b', 'transit/keys/a#b'],
  ['/v1/SYS/health', 'SYS/health'],
  [`/v1/${'a'.repeat(4_096)}`, 'a'.repeat(4_096)],
]

for (const [raw, path] of PATHS) {
  test(`${raw.slice(0, 60)} is ${path === undefined ? 'not of the API' : JSON.stringify(path.slice(0, 60))}`, () => {
    assert.equal(canonicalPath(raw), path)
  })
}

const REFUSED = [
  '/v1/..',
  '/v1/.',
  '/v1/sys/..',
  '/v1/sys/../transit/keys/k',
  '/v1/sys/./health',
  '/v1/sys/../',
  '/v1//../sys',
  '/v1/sys/%2e%2e/transit',
  '/v1/sys/%2E%2E/transit',
  '/v1/sys/.%2e/transit',
  '/v1/sys/%2F../x',
  '/v1/sys/..%2Fx',
  '/v1/sys%2F..%2Fx',
  '/v1/sys/%2e',
  '/v1/sys/%00',
  '/v1/sys/a%00b',
  '/v1/sys/a%0ab',
  '/v1/sys/a%0d%0ab',
  '/v1/sys/%1f',
  '/v1/sys/%7f',
  '/v1/sys/%c2%85',
  '/v1/sys/%',
  '/v1/sys/%4',
  '/v1/sys/%4g',
  '/v1/sys/%g4',
  '/v1/sys/%%34',
  '/v1/sys/%u0041',
  '/v1/sys/%ff',
  '/v1/sys/%c3',
  '/v1/sys/%c0%80',
  '/v1/sys/%c0%ae%c0%ae',
  '/v1/sys/%ed%a0%80',
  '/v1/sys/%f4%90%80%80',
  '/v1/sys/\u00e4',
  '/v1/sys/\ud83d\ude00',
  `/v1/${'a'.repeat(4_097)}`,
]

for (const raw of REFUSED) {
  test(`${JSON.stringify(raw.slice(0, 60))} is refused`, () => {
    assert.throws(
      () => canonicalPath(raw),
      (cause) => cause instanceof Refusal && cause.code === 'bad_path',
    )
  })
}

const segment = fc.array(
  fc.constantFrom('a', 'b', '.', '..', '%2e', '%2f', '/', '%25', '%20', '\\', 'x-y', '%c3%a4', ';', '+', '%41'),
  { maxLength: 8 },
)

test('a canonical path has no relative segment and no doubled slash, and stays itself when encoded anew', (context) => {
  const property = fc.property(segment, (parts) => {
    let path: string | undefined
    try {
      path = canonicalPath(`/v1/${parts.join('')}`)
    } catch (cause) {
      assert(cause instanceof Refusal)
      return
    }
    assert(path !== undefined && !path.startsWith('/') && !path.includes('//'))
    for (const one of path.split('/')) assert(one !== '.' && one !== '..')
    assert.equal(canonicalPath(`/v1/${path.split('/').map(encodeURIComponent).join('/')}`), path)
  })
  fc.assert(property, { seed: testSeed(context), numRuns: 2_000 })
})

const QUERIES: readonly (readonly [string, Record<string, string>])[] = [
  ['', {}],
  ['a=b', { a: 'b' }],
  ['a=b&c=d', { a: 'b', c: 'd' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=b', { '': 'b' }],
  ['&&a=b&', { a: 'b' }],
  ['a=b&a=c', { a: 'b' }],
  ['a=b+c%2Bd', { a: 'b c+d' }],
  ['a=%', { a: '%' }],
  ['a=b=c', { a: 'b=c' }],
  ['constructor=x&toString=y', { constructor: 'x', toString: 'y' }],
]

for (const [query, fields] of QUERIES) {
  test(`the query ${JSON.stringify(query)}`, () => {
    const parsed = parseQuery(query)
    assert.deepEqual(Object.entries(parsed), Object.entries(fields))
    assert.equal(Object.getPrototypeOf(parsed), null)
  })
}

test('a query has at most 100 parameters', () => {
  const parameters = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&')
  assert.equal(Object.keys(parseQuery(parameters(100))).length, 100)
  assert.throws(() => parseQuery(parameters(101)), { code: 'too_many_parameters' })
})
