// P-39, U-12: a small request makes no large line and no long turn.
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readEntries, verifyLog } from '../../test/fixtures/audit-log.ts'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import { LongText } from '../lib/long-text.ts'
import { exceeds, LIMITS_WITH_TOKEN } from './data-size.ts'
import { redactWhole } from './redactor.ts'

const LIMITS = { texts: 10, others: 100, nameCharacters: 1_000 }
const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `t${at}`)
const nested = (items: readonly unknown[]): unknown => items.reduce((inner, item) => ({ inner, item }), null)

const SIZES: readonly { readonly name: string; readonly value: unknown; readonly over: boolean }[] = [
  { name: 'as many texts as allowed', value: { list: texts(10) }, over: false },
  { name: 'one more', value: { list: texts(11) }, over: true },
  { name: 'texts that lie one below the other', value: nested(texts(11)), over: true },
  { name: 'texts in lists of lists', value: { a: texts(5), b: [[texts(5)], ['x']] }, over: true },
  { name: 'texts in a Map and a Set', value: [new Map([['a', texts(9)]]), new Set(['x', 'y'])], over: true },
  { name: 'bytes and large integers', value: [...texts(9), Buffer.alloc(1_000), 5n], over: true },
  { name: 'long texts of bytes', value: Array.from({ length: 11 }, () => new LongText(Buffer.alloc(1))), over: true },
  { name: 'one long run of bytes', value: Buffer.alloc(1_000_000), over: false },
  { name: 'names without texts', value: Object.fromEntries(texts(51).map((name) => [name, 1])), over: true },
  { name: 'empty objects', value: Array.from({ length: 101 }, () => ({})), over: true },
  { name: 'names of as many characters as allowed', value: { a: { ['n'.repeat(999)]: 1 } }, over: false },
  { name: 'one more', value: { a: { ['n'.repeat(1_000)]: 1 } }, over: true },
  { name: 'long names of a Map', value: [new Map([['n'.repeat(1_001), 1]])], over: true },
  { name: 'numbers', value: Array.from({ length: 99 }, (_, at) => at), over: false },
  { name: 'what it turns itself into', value: { toJSON: () => texts(11) }, over: true },
]
for (const { name, value, over } of SIZES) {
  test(`${name}: ${over ? 'too much' : 'within the limits'}`, () => assert.equal(exceeds(value, LIMITS), over))
}

for (const [name, value, over] of [
  ['a text of as many characters as allowed', { a: 'x'.repeat(99) }, false],
  ['one more', { a: 'x'.repeat(100) }, true],
  ['a long name', { ['n'.repeat(101)]: 1 }, true],
  ['names of a Map', new Map([['n'.repeat(101), 1]]), true],
  ['a long text of bytes', { a: new LongText(Buffer.alloc(100)) }, true],
  ['one of as many characters as allowed', { a: new LongText(Buffer.alloc(99)) }, false],
  ['bytes, which become base64', { a: Buffer.alloc(75) }, true],
] as const) {
  test(`in clear, ${name}: ${over ? 'too much' : 'within the limits'}`, () =>
    assert.equal(exceeds(value, { ...LIMITS, characters: 100 }), over))
}

test('a value that never ends, or cannot be read, is no error', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const throwing = {
    get a(): string {
      throw new Error('S3CRET')
    },
  }
  for (const value of [circle, throwing]) exceeds(value, LIMITS_WITH_TOKEN)
  const hmac = new SaltedHmac(randomBytes(32))
  for (const value of [circle, throwing, 5n, undefined]) {
    const text = redactWhole(value, hmac)
    assert.equal(text.includes('S3CRET'), false)
    JSON.parse(text)
  }
})

test('the whole is the HMAC of its JSON text', () => {
  const salt = randomBytes(32)
  const value = { b: ['é', 1], a: { x: null } }
  const json = JSON.stringify(value)
  assert.deepEqual(JSON.parse(redactWhole(value, new SaltedHmac(salt))), {
    hmac: `hmac-sha256:${createHmac('sha256', salt).update(json).digest('hex')}`,
    bytes: Buffer.byteLength(json),
  })
})

test('large data is recorded as a whole, sooner without a token; a batch up to the limit item by item', async () => {
  const directory = temporaryDirectory()
  const file = join(directory.path, 'audit.log')
  const server = await startMemoryServer()
  const { call } = server
  const dataOf = (path: string): { request: unknown; response: unknown; bytes: number } => {
    const own = readEntries(file).filter(({ request }) => request.path === path)
    const last = own.at(-1) as unknown as { request: { data: unknown }; response?: { data: unknown } }
    return { request: last.request.data, response: last.response?.data, bytes: JSON.stringify(last).length }
  }
  const isWhole = (data: unknown): boolean => Object.keys(data as object).join() === 'hmac,bytes'
  try {
    await call('POST', 'sys/mounts/transit', { type: 'transit' })
    await call('POST', 'sys/auth/userpass', { type: 'userpass' })
    await call('POST', 'transit/keys/k', {})
    assert.equal((await call('PUT', 'sys/audit/f', { type: 'file', options: { file_path: file } })).status, 204)
    for (const [items, isSummed] of [
      [2_000, false],
      [10_000, false],
      [100_000, true],
    ] as const) {
      const batch_input = Array.from({ length: items }, () => ({ plaintext: 'c29tZQ==' }))
      assert.equal((await call('POST', 'transit/encrypt/k', { batch_input })).status, 200)
      const { request, response, bytes } = dataOf('transit/encrypt/k')
      assert.deepEqual([isWhole(request), isWhole(response)], [isSummed, isSummed], `${items}`)
      if (isSummed) assert(bytes < 2_000, `${bytes}`)
    }
    const login = 'auth/userpass/login/bob'
    await call('POST', login, { password: 'p', more: texts(150) }, '')
    assert.equal(isWhole(dataOf(login).request), false)
    const before = readFileSync(file).length
    await call('POST', login, { password: 'p', more: texts(20_000) }, '')
    assert.equal(isWhole(dataOf(login).request), true)
    assert(readFileSync(file).length - before < 4_000)
    // The hash of the whole can be made again.
    const sent = { password: 'p', more: texts(20_000) }
    const hash = await call('POST', 'sys/audit-hash/f', { input: JSON.stringify(sent) })
    assert.equal((hash.body.data as { hash: string }).hash, (dataOf(login).request as { hmac: string }).hmac)
    await server.node.audit.stop()
    assert.deepEqual(verifyLog(file).faults, [])
  } finally {
    directory.cleanUp()
  }
})

const LOGIN = 'auth/userpass/login/kim'

test('a device that writes in clear records what is too large as a whole, too', async () => {
  const directory = temporaryDirectory()
  const file = join(directory.path, 'raw.log')
  const server = await startMemoryServer()
  try {
    const options = { file_path: file, log_raw: 'true' }
    assert.equal((await server.call('PUT', 'sys/audit/raw', { type: 'file', options })).status, 204)
    assert.equal((await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })).status, 204)
    const dataOf = async (body: object, path = 'sys/tools/hash'): Promise<Record<string, unknown>> => {
      await server.call('POST', path, body, path === LOGIN ? '' : 'root')
      const last = readEntries(file).findLast(({ type }) => type === 'request')
      assert.ok(last !== undefined)
      return (last.request as unknown as { data: Record<string, unknown> }).data
    }
    assert.deepEqual(await dataOf({ input: 'c21hbGw=' }), { input: 'c21hbGw=' })
    const large = 'A'.repeat(2 << 20)
    const whole = await dataOf({ input: large })
    assert.deepEqual(Object.keys(whole), ['hmac', 'bytes'])
    assert.equal(whole.bytes, large.length + '{"input":""}'.length)
    assert.deepEqual(Object.keys(await dataOf({ many: texts(10_001) })), ['hmac', 'bytes'])
    assert.deepEqual(Object.keys(await dataOf({ password: 'A'.repeat(70_000) }, LOGIN)), ['hmac', 'bytes'])
    assert.ok(readFileSync(file).length < 100_000)
  } finally {
    await server.node.audit.stop()
    directory.cleanUp()
  }
})

test('P-39: names that a caller made up fill no log, neither as data nor in warnings and errors', async () => {
  const directory = temporaryDirectory()
  const file = join(directory.path, 'names.log')
  const server = await startMemoryServer()
  try {
    assert.equal((await server.call('PUT', 'sys/audit/f', { type: 'file', options: { file_path: file } })).status, 204)
    assert.equal((await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })).status, 204)
    const written = async (path: string, body: object, token?: string): Promise<number> => {
      const before = readFileSync(file).length
      await server.call('POST', path, body, token)
      return readFileSync(file).length - before
    }
    // Each character takes two bytes in the request, and six in a line.
    const long = 'é'.repeat(100_000)
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`${at}${'é'.repeat(100)}`, 1]))
    for (const [path, body, token] of [
      [LOGIN, { password: 'p', [long]: 1 }, ''],
      ['sys/tools/hash', { input: '', [`${long}${long}${long}`]: 1 }, 'root'],
      ['sys/tools/hash', { input: '', ...many }, 'root'],
      ['sys/tools/hash', { input: '', nested: [many] }, 'root'],
      // The refusal names the field.
      ['auth/token/create', { meta: { [`${long}${long}${long}`]: [] } }, 'root'],
    ] as const) {
      const bytes = await written(path, body, token)
      assert.ok(bytes > 0 && bytes < 65_536, `${path} ${Object.keys(body).length}: ${bytes}`)
    }
    // The warning lists as many names as a mistake has, and says how many it leaves out.
    const { warnings } = (await server.call('POST', 'sys/tools/hash', { input: '', b: 1, a: 2 })).body
    assert.deepEqual(warnings, ['Endpoint ignored these unrecognized parameters: [a b]'])
    const some = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]))
    const toldOf = async (body: object) =>
      String((await server.call('POST', 'sys/tools/hash', { input: '', ...body })).body.warnings)
    assert.match(await toldOf(some(50)), /n9\]$/)
    assert.match(await toldOf(some(51)), /n8\] and 1 more$/)
    assert.match(await toldOf({ ['x'.repeat(1_024)]: 1 }), /x\]$/)
    assert.match(await toldOf({ ['x'.repeat(1_025)]: 1 }), /: \[\] and 1 more$/)
    const told = String((await server.call('POST', 'sys/tools/hash', { input: '', ...many })).body.warnings)
    assert.match(told, / and 89\d\d more$/)
    assert.ok(told.length < 2_000)
  } finally {
    await server.node.audit.stop()
    directory.cleanUp()
  }
})
