// Streams of a peer of replication made by chance from good ones: each piece is read, or refused as a fault of the
// peer, and never keeps more than one message. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader, ProtocolFault } from '../../src/replication/protocol/frames.ts'
import { decodeMessage, encodeMessage, mostOf } from '../../src/replication/protocol/messages.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { mutated } from '../fixtures/mutated.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { MESSAGES } from '../fixtures/replication-messages.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 2_000)
const STREAMS = MESSAGES.map((message) => Buffer.concat(encodeMessage(message)))

async function isRead({ stream, pieceBytes }: { readonly stream: Buffer; readonly pieceBytes: number }) {
  const reader = new FrameReader(mostOf)
  try {
    for (let at = 0; at < stream.length; at += pieceBytes) {
      for (const raw of reader.push(stream.subarray(at, at + pieceBytes))) {
        const message = decodeMessage(raw)
        // What is read is a message in its own right: sent again, it is read as the same.
        const [again] = new FrameReader(mostOf).push(Buffer.concat(encodeMessage(message)))
        assert.ok(again !== undefined)
        assert.deepEqual(decodeMessage(again), message)
      }
      assert.ok(reader.waitingBytes <= stream.length)
    }
    return reader.waitingBytes === 0
  } catch (cause) {
    if (cause instanceof ProtocolFault) return false
    throw cause
  }
}

test(`Q-01 T98: ${INPUTS} streams made from the bytes of messages are read or are a fault of the peer`, async (t) => {
  for (const stream of STREAMS) assert.ok(await isRead({ stream, pieceBytes: 7 }), 'what they are made from is good')
  const next = (random: PseudoRandom) => ({
    stream: mutated(random, random.pick(STREAMS), STREAMS),
    pieceBytes: random.int(64) + 1,
  })
  await fuzzed(t, INPUTS, next, isRead)
})
