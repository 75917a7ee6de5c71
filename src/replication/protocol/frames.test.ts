import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader, framesOf, MAX_FRAME_BYTES, ProtocolFault, type RawMessage } from './frames.ts'

const MOST = 3 * MAX_FRAME_BYTES
const reader = (): FrameReader => new FrameReader((type) => (type === 7 || type === 8 ? MOST : undefined))
const message = (type: number, bytes: number): RawMessage => ({
  type,
  payload: Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251)),
})

function pushAll(stream: Buffer, pieceBytes: number): RawMessage[] {
  const into = reader()
  const messages: RawMessage[] = []
  for (let at = 0; at < stream.length; at += pieceBytes) {
    messages.push(...into.push(stream.subarray(at, at + pieceBytes)))
  }
  assert.equal(into.waitingBytes, 0)
  return messages
}

test('messages come out of a stream as they went in, wherever its pieces end', () => {
  const small = [message(7, 0), message(8, 1), message(7, 300)]
  const stream = Buffer.concat(small.flatMap(({ type, payload }) => framesOf(type, [payload])))
  for (let pieceBytes = 1; pieceBytes <= stream.length; pieceBytes++) {
    assert.deepEqual(pushAll(stream, pieceBytes), small, `pieces of ${pieceBytes} bytes`)
  }
})

test('a message that fills frames exactly, or has one byte more, comes out whole', () => {
  for (const bytes of [MAX_FRAME_BYTES - 1, MAX_FRAME_BYTES, MAX_FRAME_BYTES + 1, 2 * MAX_FRAME_BYTES, MOST]) {
    const long = message(7, bytes)
    const frames = framesOf(7, [long.payload.subarray(0, 5), long.payload.subarray(5)])
    assert.equal(frames.length, Math.ceil(bytes / MAX_FRAME_BYTES))
    assert.deepEqual(pushAll(Buffer.concat([...frames, ...framesOf(8, [])]), 65_536), [long, message(8, 0)])
  }
})

test('a message one byte too long is refused by its head, before its last frame is there', () => {
  const frames = framesOf(7, [message(7, MOST + 1).payload])
  const into = reader()
  for (const frame of frames.slice(0, -1)) assert.deepEqual(into.push(frame), [])
  const head = (frames.at(-1) as Buffer).subarray(0, 6)
  assert.throws(() => into.push(head), isFault('damaged'))
})

test('what no program sends is told from what only a newer one does', () => {
  const frame = (length: number, type: number, flags: number, payload = ''): Buffer => {
    const head = Buffer.alloc(6)
    head.writeUInt32BE(length)
    head.writeUInt8(type, 4)
    head.writeUInt8(flags, 5)
    return Buffer.concat([head, Buffer.from(payload)])
  }
  const faults = [
    [frame(1, 7, 0), 'damaged'],
    [frame(0, 7, 0), 'damaged'],
    [frame(MAX_FRAME_BYTES + 3, 7, 0), 'damaged'],
    [frame(2 ** 32 - 1, 7, 0), 'damaged'],
    [frame(2, 7, 1), 'damaged'],
    [frame(3, 7, 1, 'a'), 'damaged'],
    [Buffer.concat([framesOf(7, [Buffer.alloc(MAX_FRAME_BYTES + 1)])[0] as Buffer, frame(3, 8, 0, 'b')]), 'damaged'],
    [frame(2, 9, 0), 'version'],
    [frame(2, 7, 2), 'version'],
  ] as const
  for (const [bytes, reason] of faults)
    assert.throws(() => reader().push(bytes), isFault(reason), bytes.toString('hex'))
})

test('a peer that begins frames and never ends them makes the reader keep one message at most', () => {
  const into = reader()
  const frames = framesOf(7, [message(7, MOST).payload])
  for (const frame of frames.slice(0, -1)) into.push(frame)
  into.push((frames.at(-1) as Buffer).subarray(0, -1))
  assert.ok(into.waitingBytes < MOST + 64)
})

function isFault(reason: ProtocolFault['reason']): (cause: unknown) => boolean {
  return (cause) => cause instanceof ProtocolFault && cause.reason === reason
}
