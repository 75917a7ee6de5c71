import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KINDS, MESSAGES } from '../../../test/fixtures/replication-messages.ts'
import { FrameReader, ProtocolFault, type RawMessage } from './frames.ts'
import { decodeMessage, encodeMessage, type Message, mostOf } from './messages.ts'

function raw(sent: Message): RawMessage {
  const [only, ...more] = new FrameReader(mostOf).push(Buffer.concat(encodeMessage(sent)))
  assert.ok(only !== undefined && more.length === 0)
  return only
}

test('every kind of message is read as it was sent', () => {
  for (const sent of MESSAGES) assert.deepEqual(decodeMessage(raw(sent)), sent)
  const types = Array.from({ length: 256 }, (_, type) => type).filter((type) => mostOf(type) !== undefined)
  assert.deepEqual(new Set(MESSAGES.map((sent) => raw(sent).type)), new Set(types), 'the examples are of every kind')
  assert.equal(KINDS.size, types.length)
})

test('every beginning of a message, and every message with a byte more, is refused with its name', () => {
  for (const sent of MESSAGES) {
    const { type, payload } = raw(sent)
    for (let bytes = 0; bytes < payload.length; bytes++) {
      assert.throws(() => decodeMessage({ type, payload: payload.subarray(0, bytes) }), isDamaged(sent.kind))
    }
    const longer = Buffer.concat([payload, Buffer.alloc(1)])
    assert.throws(() => decodeMessage({ type, payload: longer }), isDamaged(sent.kind))
  }
})

test('a number out of its table is of a newer program, one out of its bounds is damage', () => {
  const refused = raw({ kind: 'refused', code: 'busy', sentence: '', retryAfterMs: 0, address: '' })
  refused.payload.writeUInt8(200, 0)
  assert.throws(() => decodeMessage(refused), {
    reason: 'version',
    message: /"refused".*code is the unknown number 200/,
  })
  const ack = raw({ kind: 'ack', handled: 1, durable: 1 })
  ack.payload.writeBigUInt64BE(2n ** 53n, 8)
  assert.throws(() => decodeMessage(ack), { reason: 'damaged', message: /"ack".*durable/ })
  assert.throws(() => decodeMessage({ type: 255, payload: Buffer.alloc(0) }), { reason: 'version' })
})

test('a key that cannot be stored is refused wherever it stands', () => {
  const wanted = raw({ kind: 'values-wanted', course: 1, keys: ['root/a'] })
  wanted.payload.write('/', 10 + 'root/'.length)
  assert.throws(() => decodeMessage(wanted), isDamaged('values-wanted'))
})

test('a list may be as long as its kind says, and no longer', () => {
  const keys = Array.from({ length: 65_536 }, () => 'root/a')
  const most = raw({ kind: 'values-wanted', course: 1, keys })
  assert.equal((decodeMessage(most) as Message<'values-wanted'>).keys.length, 65_536)
  most.payload.writeUInt32BE(65_537, 4)
  assert.throws(() => decodeMessage(most), isDamaged('values-wanted'))
})

test('a sentence that is too long is cut between two characters', () => {
  const long = 'ä'.repeat(5_000)
  const { sentence } = decodeMessage(raw({ kind: 'compare', course: 1, sentence: long })) as Message<'compare'>
  assert.ok(sentence.length > 400 && long.startsWith(sentence), `${sentence.length}`)
})

function isDamaged(kind: string): (cause: unknown) => boolean {
  return (cause) => {
    assert.ok(cause instanceof ProtocolFault, String(cause))
    return cause.reason === 'damaged' && cause.message.includes(`"${kind}"`)
  }
}
