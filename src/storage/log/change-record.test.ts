import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import type { ChangeOperation } from '../contract.ts'
import { StorageCorrupt, UnknownFormat } from '../errors.ts'
import type { Origin } from '../peer-log.ts'
import { type ChangeDraft, committedAtOf, decodeChange, decodeRun, encodeChange } from './change-record.ts'

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
const ordinary = { beginsHistory: undefined, origins: [] }
const draft: ChangeDraft = { index: 2 ** 40, epoch: 3, committedAtMs: 1_700_000_000_123, ...ordinary, operations }
const { change, record } = encodeChange(draft, GENESIS)

const ORIGINS: readonly Origin[] = [
  { family: 'dr', historyId: Buffer.alloc(16, 0xd1), index: 0x0a0b, chain: Buffer.alloc(16, 0xd2) },
  { family: 'performance', historyId: Buffer.alloc(16, 0xe1), index: 2 ** 52, chain: Buffer.alloc(16, 0xe2) },
]
const DELETE_OF_A = Buffer.concat([
  Buffer.from('02010006', 'hex'),
  Buffer.from('system'),
  Buffer.from('0011', 'hex'),
  Buffer.from('team/sys/policy/a'),
  Buffer.from('10', 'hex'),
  leaf(2),
  Buffer.from('0000000000', 'hex'),
])

/** The record of a body behind the chain GENESIS, made from the drawing alone. */
function drawn(...body: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)))
  const chain = createHash('sha256').update(GENESIS).update(bytes).digest().subarray(0, 16)
  return framed(Buffer.concat([chain, bytes]))
}

/** Length and checksum before what they are of. */
function framed(rest: Buffer): Buffer {
  const start = Buffer.alloc(8)
  start.writeUInt32BE(rest.length, 0)
  start.writeUInt32BE(crc32(rest), 4)
  return Buffer.concat([start, rest])
}

const short: ChangeDraft = { ...draft, index: 5, epoch: 1, committedAtMs: 1_000, operations: operations.slice(1, 2) }
const NUMBERS = ['0000000000000005', '00000001', '00000000000003e8']

test('S1: a record is, byte for byte, what its drawing says', () => {
  assert.deepEqual(encodeChange(short, GENESIS).record, drawn('02', '01', ...NUMBERS, '00000001', DELETE_OF_A))
})

test('S1: a record names the history that it begins, and its origins, where the drawing says', () => {
  const first = { ...short, beginsHistory: GENESIS, origins: ORIGINS }
  const [dr, performance] = [
    ['d1'.repeat(16), '0000000000000a0b', 'd2'.repeat(16)],
    ['e1'.repeat(16), '0010000000000000', 'e2'.repeat(16)],
  ].map((parts) => parts.join(''))
  const whole = drawn('02', '39', ...NUMBERS, GENESIS, `${dr}${performance}`, '00000001', DELETE_OF_A)
  assert.deepEqual(encodeChange(first, GENESIS).record, whole)
  assert.deepEqual(decodeChange(whole, 'record'), { ...first, chain: whole.subarray(8, 24) })
  // The order in a change is not that of a record, and either origin may stand alone.
  assert.deepEqual(encodeChange({ ...first, origins: ORIGINS.toReversed() }, GENESIS).record, whole)
  const alone = drawn('02', '21', ...NUMBERS, performance ?? '', '00000001', DELETE_OF_A)
  assert.deepEqual(encodeChange({ ...short, origins: ORIGINS.slice(1) }, GENESIS).record, alone)
  assert.deepEqual(decodeChange(alone, 'record').origins, ORIGINS.slice(1))
})

test('S1: a record of format 1 is read as ever', () => {
  const old = drawn('01', ...NUMBERS, '00000001', DELETE_OF_A)
  assert.deepEqual(decodeChange(old, 'record'), { ...short, chain: old.subarray(8, 24) })
})

test('the time of a commit is read from a record of either format without decoding it', () => {
  for (const record of [drawn('01', ...NUMBERS, '00000000'), drawn('02', '00', ...NUMBERS, '00000000')]) {
    assert.equal(committedAtOf(record), short.committedAtMs)
  }
})

test('S1: a change has one origin of a family at most, and begins no other history than that of its chain', () => {
  const twice = [...ORIGINS, ...ORIGINS.slice(0, 1)]
  assert.throws(() => encodeChange({ ...short, origins: twice }, GENESIS), /at most one origin of a family/)
  assert.throws(() => encodeChange({ ...short, beginsHistory: leaf(9) }, GENESIS), /a history begins with its id/)
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
    begins: fc.boolean(),
    families: fc.subarray(['dr', 'performance']),
    operations: fc.array(operation, { minLength: 1 }),
  })
  fc.assert(
    fc.property(drafts, ({ begins, families, ...made }) => {
      const puts = made.operations.map(({ key, mount, local, value }): ChangeOperation => {
        const scope = { namespace: 'root', mount, local }
        return { kind: 'put', class: 'local', scope, key, oldLeaf: leaf(1), newLeaf: leaf(2), value }
      })
      const origins = ORIGINS.filter(({ family }) => families.includes(family))
      const head = { ...made, committedAtMs: 5, beginsHistory: begins ? GENESIS : undefined, origins }
      const encoded = encodeChange({ ...head, operations: puts }, GENESIS)
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
  return framed(Buffer.concat([record.subarray(8, 24), change(Buffer.from(record.subarray(24)))]))
}

function setByte(at: number, value: number): (body: Buffer) => Buffer {
  return (body) => {
    body[at] = value
    return body
  }
}

const COUNT_AT = 22
const FIRST_OPERATION = 26
const MOUNT_AT = FIRST_OPERATION + 4
const KEY_AT = MOUNT_AT + 36 + 2
const LEAVES_AT = KEY_AT + `root/logical/${MOUNT}/`.length + 2
const strict: { name: string; change: (body: Buffer) => Buffer; message: string }[] = [
  { name: 'an index beyond 2^53', change: setByte(2, 1), message: 'index is beyond 2^53' },
  { name: 'no operation', change: (body) => setByte(25, 0)(body).subarray(0, 26), message: 'it has no operation' },
  { name: 'an operation too few', change: setByte(25, 2), message: 'it has bytes behind its last operation' },
  {
    name: 'flags of other classes',
    change: setByte(1, 3),
    message: 'its flags do not name the classes of its operations',
  },
  {
    name: 'an origin beyond 2^53',
    change: (body) => Buffer.concat([setByte(1, 23)(body).subarray(0, COUNT_AT), Buffer.alloc(40, 1), body]),
    message: 'origin dr: index is beyond 2^53',
  },
  {
    name: 'a history that it lacks',
    change: (body) => setByte(1, 15)(body).subarray(0, COUNT_AT + 15),
    message: 'it ends at byte 61, inside history id',
  },
  {
    name: 'an operation too many',
    change: setByte(25, 4),
    message: `it ends at byte ${record.length}, inside operation 4: kind`,
  },
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
const newer: typeof strict = [
  { name: 'an unknown format', change: setByte(0, 3), message: 'its format is 3, known are 1 and 2' },
  { name: 'format 0', change: setByte(0, 0), message: 'its format is 0, known are 1 and 2' },
  { name: 'unknown flags', change: setByte(1, 64), message: 'it has the unknown flags 64' },
  { name: 'an unknown kind', change: setByte(FIRST_OPERATION, 3), message: 'operation 1 is of the unknown kind 3' },
  {
    name: 'an unknown class',
    change: setByte(FIRST_OPERATION + 1, 9),
    message: 'operation 1 is of the unknown class 9',
  },
  {
    name: 'unknown flags of an operation',
    change: setByte(FIRST_OPERATION + 2, 2),
    message: 'operation 1 has the unknown flags 2',
  },
]
for (const { name, change, message } of newer) {
  test(`S1: a record with ${name} is of a newer program, and damage to who has it stored`, () => {
    const read = () => decodeChange(withBody(change), 'log record 9')
    assert.throws(read, { name: 'UnknownFormat', message: `The log record 9 cannot be read: ${message}` })
    assert.throws(read, StorageCorrupt)
  })
}
for (const { name, change, message } of strict) {
  test(`a record with ${name} is refused`, () => {
    assert.throws(() => decodeChange(withBody(change), 'log record 9'), {
      name: 'StorageCorrupt',
      message: `The log record 9 cannot be read: ${message}`,
    })
  })
}

test('S1: whatever bytes a record has, its reader ends with a change or with one of two errors', (t) => {
  const records = [
    record,
    encodeChange({ ...draft, beginsHistory: GENESIS, origins: ORIGINS }, GENESIS).record,
    drawn('01', ...NUMBERS, '00000001', DELETE_OF_A),
  ]
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 })
  const cut = fc.option(fc.nat(), { nil: undefined, freq: 5 })
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.nat(records.length - 1), edits, cut, fc.boolean(), (which, changes, end, isFramed) => {
      const bytes = Buffer.from(records[which] ?? record)
      for (const [at, value] of changes) bytes[isFramed ? 24 + (at % (bytes.length - 24)) : at % bytes.length] = value
      const mutated = end === undefined ? bytes : bytes.subarray(0, end % bytes.length)
      try {
        decodeChange(isFramed ? framed(mutated.subarray(8)) : mutated, 'record')
        seen.add('read')
      } catch (error) {
        assert.ok(error instanceof StorageCorrupt, String(error))
        assert.ok(error.constructor === StorageCorrupt || error.constructor === UnknownFormat, error.name)
        seen.add(error.name)
      }
    }),
    { seed: testSeed(t), numRuns: 20_000 },
  )
  assert.deepEqual([...seen].sort(), ['StorageCorrupt', 'UnknownFormat', 'read'])
})

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

test('S2: a run goes on where a history begins, at a higher index and epoch', () => {
  const last = encodeChange({ ...draft, index: 7 }, GENESIS)
  const id = Buffer.alloc(16, 0x33)
  const begun = (index: number, epoch: number, chain = id) =>
    encodeChange({ ...draft, index, epoch, beginsHistory: chain }, chain)
  const rows = (...encoded: (typeof last)[]) =>
    encoded.map(({ change: { index }, record: bytes }) => ({ index, record: bytes }))
  const first = begun(2 ** 20, 4)
  const next = encodeChange({ ...draft, index: 2 ** 20 + 1, epoch: 4 }, first.change.chain)
  assert.deepEqual(
    decodeRun(rows(last, first, next)).map(({ beginsHistory }) => beginsHistory),
    [undefined, id, undefined],
  )
  for (const unfit of [begun(7, 4), begun(6, 4), begun(2 ** 20, 3)]) {
    assert.throws(() => decodeRun(rows(last, unfit)), / does not continue the chain of log record 7/)
  }
  // A jump that is not said, though it is chained.
  const silent = encodeChange({ ...draft, index: 2 ** 20, epoch: 4 }, last.change.chain)
  assert.throws(() => decodeRun(rows(last, silent)), /log record 1048576 does not continue the chain of log record 7/)
})
