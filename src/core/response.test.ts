// What the rooms below throw, as a caller sees it.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { fail } from '../api/errors.ts'
import { DecisionOutdated } from '../api/request.ts'
import { LongText } from '../lib/long-text.ts'
import type { StorageClass } from '../storage/contract.ts'
import {
  Sealed,
  StorageClosed,
  StorageConflict,
  StorageCorrupt,
  StorageFailed,
  StorageFull,
  StorageRefused,
  StorageTooLarge,
  WriteNotAllowed,
} from '../storage/errors.ts'
import { bodyText, type Exchange, type WireResponse } from './exchange.ts'
import { refusalOf, refusalResponse, successResponse } from './response.ts'

const SECRET = 'a detail that is not for callers'

for (const { name, cause, status, code } of [
  { name: 'a server that is sealed', cause: new Sealed(SECRET), status: 503, code: 'sealed' },
  { name: 'a store that is away for a restore', cause: new StorageClosed(SECRET), status: 503, code: 'sealed' },
  {
    name: 'a request that is to be looked at anew too often',
    cause: new DecisionOutdated(SECRET),
    status: 503,
    code: 'busy',
  },
  { name: 'a transaction that lost', cause: new StorageConflict(SECRET), status: 503, code: 'busy' },
  { name: 'a value of too many bytes', cause: new StorageTooLarge(SECRET, 5), status: 413, code: 'value_too_large' },
  { name: 'a disk that is full', cause: new StorageFull(SECRET), status: 507, code: 'storage_full' },
  { name: 'storage that failed', cause: new StorageFailed(SECRET), status: 500, code: 'storage_failed' },
]) {
  test(`${name} is a ${status}, without its details`, () => {
    const refusal = refusalOf(cause)
    assert.deepEqual([refusal?.status, refusal?.code], [status, code])
    assert.ok(!String(refusal?.message).includes(SECRET))
    assert.equal(refusal?.cause, cause)
  })
}

test('a refusal passes as it is; what is our own fault is none', () => {
  const refusal = fail('not_found', [])
  assert.equal(refusalOf(refusal), refusal)
  for (const cause of [
    new Error('x'),
    new StorageCorrupt('x'),
    new StorageRefused('x'),
    new TypeError('x'),
    undefined,
    'x',
  ])
    assert.equal(refusalOf(cause), undefined)
})

test('what the role of a node forbids to write is a 503 that names the primary, if it is known', () => {
  const refused = (storageClass: StorageClass, primaryAddress?: string) => {
    const { status, code, message } = refusalOf(new WriteNotAllowed(storageClass), primaryAddress) ?? {}
    return [status, code, message]
  }
  assert.deepEqual(refused('replicated', 'https://primary:8200'), [
    503,
    'not_primary',
    'This cluster does not change what the set shares: its primary does, at https://primary:8200',
  ])
  const nobodyKnown = 'This node changes no data now: another one is the primary, or is about to be. Try again'
  assert.deepEqual(refused('local'), [503, 'not_primary', nobodyKnown])
  assert.match(String(refused('replicated')[2]), /set shares: its primary does$/)
})

test('a refusal for the state of the primary says when to come back', () => {
  const address = 'https://primary:8200'
  for (const refusal of [
    fail('not_primary', [true, address]),
    fail('primary_unreachable', [address]),
    fail('primary_leaves', [address]),
    fail('primary_busy', [address]),
    fail('primary_silent', [address]),
  ])
    assert.deepEqual(refusalResponse(refusal).headers, { 'Retry-After': '5' }, refusal.code)
})

function responseTo(data: object, body?: 'both'): WireResponse {
  const exchange = { id: 'an-id', answer: { data }, endpoint: { body }, warnings: ['a warning'], mounted: undefined }
  return successResponse(exchange as unknown as Exchange)
}

const LONG = 'x'.repeat(20_000)
const DATA: readonly { readonly name: string; readonly data: object; readonly isBytes: boolean }[] = [
  { name: 'a short text', data: { text: 'short ü' }, isBytes: false },
  { name: 'a long string', data: { text: LONG, number: 1 }, isBytes: false },
  {
    name: 'a long text of bytes, and letters of all kinds',
    data: { text: 'ü\ud83d\udd11"\\', long: new LongText(Buffer.from(LONG)) },
    isBytes: true,
  },
  { name: 'a long text of bytes alone', data: { text: new LongText(Buffer.from(LONG)) }, isBytes: true },
  {
    name: 'a long text of bytes among others',
    data: { gone: undefined, ü: 1, one: new LongText(Buffer.from(LONG)), two: new LongText(Buffer.from('2')), end: [] },
    isBytes: true,
  },
  { name: 'a long text of bytes in a list', data: { list: [new LongText(Buffer.from(LONG))] }, isBytes: false },
]
for (const { name, data, isBytes } of DATA) {
  test(`${name} is answered as JSON has it`, () => {
    const response = responseTo(data)
    assert.equal(typeof response.body !== 'string', isBytes)
    // Another thread is given no more than that.
    if (typeof response.body === 'object') assert.equal(response.body.buffer.byteLength, response.body.length)
    const envelope = JSON.parse(bodyText(response))
    assert.deepEqual(envelope.data, JSON.parse(JSON.stringify(data)))
    assert.deepEqual([envelope.request_id, envelope.warnings, envelope.mount_type], ['an-id', ['a warning'], ''])
    const both = JSON.parse(bodyText(responseTo(data, 'both')))
    for (const [member, value] of Object.entries(envelope.data)) assert.deepEqual(both[member], value)
  })
}
