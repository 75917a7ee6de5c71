import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { type ChangeOperation, StorageCorrupt } from '../contract.ts'
import { type ChangeDraft, decodeChange, decodeRun, encodeChange } from './change-record.ts'

const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const GENESIS = Buffer.alloc(16, 7)
const NONE = Buffer.alloc(0)
const leaf = (fill: number): Buffer => Buffer.alloc(16, fill)

const operations: ChangeOperation[] = [
  {
    kind: 'put',
    class: 'local',
    scope: { namespace: 'root', mount: MOUNT, local: true },
    key: `root/logical/${MOUNT}/é`,
    oldLeaf: NONE,
    newLeaf: leaf(1),
    value: Buffer.from('v'),
  },
  {
    kind: 'delete',
    class: 'replicated',
    scope: { namespace: 'team', mount: 'system', local: false },
    key: 'team/sys/policy/a',
    oldLeaf: leaf(2),
    newLeaf: NONE,
    value: NONE,
  },
  {
    kind: 'put',
    class: 'ignored',
    scope: { namespace: 'root', mount: 'system', local: false },
    key: 'root/core/cluster',
    oldLeaf: NONE,
    newLeaf: NONE,
    value: NONE,
  },
]
const draft: ChangeDraft = { index: 2 ** 40, epoch: 3, committedAtMs: 1_700_000_000_123, operations }
const { change, record } = encodeChange(draft, GENESIS)

test('a record is, byte for byte, what its drawing says', () => {
  const short: ChangeDraft = { index: 5, epoch: 1, committedAtMs: 1_000, operations: operations.slice(1, 2) }
  const operation = Buffer.concat([
    Buffer.from('02010006', 'hex'),
    Buffer.from('system'),
    Buffer.from('0011', 'hex'),
    Buffer.from('team/sys/policy/a'),
    Buffer.from('10', 'hex'),
    leaf(2),
    Buffer.from('0000000000', 'hex'),
  ])
  const head = '01' + '0000000000000005' + '00000001' + '00000000000003e8' + '00000001'
  const body = Buffer.concat([Buffer.from(head, 'hex'), operation])
  const chain = createHash('sha256').update(GENESIS).update(body).digest().subarray(0, 16)
  const rest = Buffer.concat([chain, body])
  const start = Buffer.alloc(8)
  start.writeUInt32BE(rest.length, 0)
  start.writeUInt32BE(crc32(rest), 4)
  assert.deepEqual(encodeChange(short, GENESIS).record, Buffer.concat([start, rest]))
})

test('a record is read as it was written', (t) => {
  assert.deepEqual(decodeChange(record, 'record'), change)
  const operation = fc.record({
    key: fc.string({ minLength: 1, unit: 'grapheme-ascii' }).map((name) => `root/x${encodeURIComponent(name)}`),
    mount: fc.constantFrom('system', MOUNT),
    local: fc.boolean(),
    value: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  })
  const drafts = fc.record({
    index: fc.maxSafeNat(),
    epoch: fc.nat(),
    operations: fc.array(operation, { minLength: 1 }),
  })
  fc.assert(
    fc.property(drafts, (drawn) => {
      const puts = drawn.operations.map(({ key, mount, local, value }): ChangeOperation => {
        const scope = { namespace: 'root', mount, local }
        return { kind: 'put', class: 'local', scope, key, oldLeaf: leaf(1), newLeaf: leaf(2), value }
      })
      const encoded = encodeChange({ ...drawn, committedAtMs: 5, operations: puts }, GENESIS)
      assert.deepEqual(decodeChange(encoded.record, 'record'), encoded.change)
    }),
    { seed: testSeed(t) },
  )
})

test('every flipped bit and every cut is noticed', () => {
  for (let bit = 0; bit < record.length * 8; bit++) {
    const damaged = Buffer.from(record)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.throws(() => decodeChange(damaged, 'record'), StorageCorrupt, `bit ${bit}`)
  }
  for (let length = 0; length < record.length; length++) {
    assert.throws(() => decodeChange(record.subarray(0, length), 'record'), StorageCorrupt, `cut at ${length}`)
  }
  assert.throws(() => decodeChange(Buffer.concat([record, NONE, Buffer.alloc(1)]), 'record'), StorageCorrupt)
})

/** A record whose checksum holds, so that the checks after it are reached. */
function withBody(change: (body: Buffer) => Buffer): Buffer {
  const rest = Buffer.concat([record.subarray(8, 24), change(Buffer.from(record.subarray(24)))])
  const start = Buffer.alloc(8)
  start.writeUInt32BE(rest.length, 0)
  start.writeUInt32BE(crc32(rest), 4)
  return Buffer.concat([start, rest])
}

function setByte(at: number, value: number): (body: Buffer) => Buffer {
  return (body) => {
    body[at] = value
    return body
  }
}

const FIRST_OPERATION = 25
const MOUNT_AT = FIRST_OPERATION + 4
const KEY_AT = MOUNT_AT + 36 + 2
const LEAVES_AT = KEY_AT + `root/logical/${MOUNT}/`.length + 2
const strict: { name: string; change: (body: Buffer) => Buffer; message: string }[] = [
  { name: 'an unknown format', change: setByte(0, 2), message: 'its format is 2, known is 1' },
  { name: 'an index beyond 2^53', change: setByte(1, 1), message: 'index is beyond 2^53' },
  { name: 'no operation', change: (body) => setByte(24, 0)(body).subarray(0, 25), message: 'it has no operation' },
  { name: 'an operation too few', change: setByte(24, 2), message: 'it has bytes behind its last operation' },
  {
    name: 'an operation too many',
    change: setByte(24, 4),
    message: `it ends at byte ${record.length}, inside operation 4: kind`,
  },
  { name: 'an unknown kind', change: setByte(FIRST_OPERATION, 3), message: 'operation 1 is of the unknown kind 3' },
  {
    name: 'an unknown class',
    change: setByte(FIRST_OPERATION + 1, 9),
    message: 'operation 1 is of the unknown class 9',
  },
  { name: 'unknown flags', change: setByte(FIRST_OPERATION + 2, 2), message: 'operation 1 has the unknown flags 2' },
  { name: 'a mount that is not UTF-8', change: setByte(MOUNT_AT, 0xff), message: 'operation 1: mount is not UTF-8' },
  { name: 'a key that is none', change: setByte(KEY_AT, 0x2f), message: 'operation 1: key cannot be a key' },
  { name: 'a leaf of another length', change: setByte(LEAVES_AT, 8), message: 'operation 1: old leaf has 8 bytes' },
  {
    name: 'a put without its leaf',
    change: (body) =>
      Buffer.concat([setByte(LEAVES_AT + 1, 0)(body).subarray(0, LEAVES_AT + 2), body.subarray(LEAVES_AT + 18)]),
    message: 'operation 1 has leaves that do not fit its kind and class',
  },
  {
    name: 'a length beyond the end',
    change: setByte(LEAVES_AT + 18, 0x7f),
    message: `it ends at byte ${record.length}, inside operation 1: value`,
  },
]
for (const { name, change, message } of strict) {
  test(`a record with ${name} is refused`, () => {
    assert.throws(() => decodeChange(withBody(change), 'log record 9'), {
      name: 'StorageCorrupt',
      message: `The log record 9 cannot be read: ${message}`,
    })
  })
}

test('a run of records must be numbered and chained', () => {
  const first = encodeChange({ ...draft, index: 1 }, GENESIS)
  const second = encodeChange({ ...draft, index: 2 }, first.change.chain)
  const stranger = encodeChange({ ...draft, index: 2 }, GENESIS)
  const run = [first, second].map((each) => ({ index: each.change.index, record: each.record }))
  assert.deepEqual(decodeRun(run), [first.change, second.change])
  const wrongNumber = [{ index: 2, record: first.record }]
  assert.throws(() => decodeRun(wrongNumber), /log record 2 says that it is number 1/)
  const wrongChain = [...run.slice(0, 1), { index: 2, record: stranger.record }]
  assert.throws(() => decodeRun(wrongChain), /log record 2 does not continue the chain of log record 1/)
})
