// What the two ends of a link for handed requests read, made by chance from good calls and answers: each is answered,
// refused, or is no answer, and nothing else happens. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fail, Refusal } from '../../src/api/errors.ts'
import type { WantedEntity } from '../../src/api/login.ts'
import {
  answerSecondary,
  PRIMARY_CALLS,
  PrimaryLink,
  type PrimaryOverLink,
} from '../../src/assembly/replication/primary-link.ts'
import type { HandedRequest, MountQuestion } from '../../src/core/handed.ts'
import { AnswerUnreadable } from '../../src/core/handed-answers.ts'
import { readQuestion, readRequest, readWanted } from '../../src/core/handed-form.ts'
import { CallFailed } from '../../src/rpc/errors.ts'
import { PackedError, packed, unpacked } from '../../src/rpc/packed.ts'
import { packedAnswer, unpackedAnswer } from '../../src/rpc/packed-answer.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { mutated } from '../fixtures/mutated.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 2_000)
const REQUEST: HandedRequest = {
  id: '7b5a2f5a-0000-4000-8000-000000000000',
  endpoint: 'transit-key-create',
  mount: '9b2d1c7e-0000-4000-8000-000000000001',
  path: 'keys/a',
  givenNames: { name: 'a' },
  method: 'update',
  query: '',
  body: Buffer.from('{"type":"aes256-gcm96"}'),
  contentType: undefined,
  passed: { 'x-a': 'b' },
  remoteAddress: '127.0.0.1',
  wrapTtlSeconds: 0,
  caller: {
    policies: ['default'],
    namespace: 'root',
    entityId: '',
    groups: ['7b5a2f5a-0000-4000-8000-000000000000'],
    displayName: 'ann',
    metadata: null,
    tokenType: 'service',
  },
}
const CALLS = [
  REQUEST,
  { of: 'set', mount: REQUEST.mount, alias: { name: 'ann', metadata: { at: '1' } } },
  { mount: REQUEST.mount, question: { want: 3 } },
  null,
].map(packed)
const NAMES = [...Object.keys(PRIMARY_CALLS), 'later', '__proto__']
const ANSWERS = [
  packed({ answer: { data: { a: [1, null, 'x'] }, warnings: ['w'], login: undefined, body: '{}' } }),
  packed({ answer: { entityId: 'e', aliasStamp: '' } }),
  packed({ answer: { mounts: ['a/'], namespaces: ['b/', 'c/'] } }),
  await packedAnswer(
    () => Promise.reject(fail('sealed', [])),
    () => {},
  ),
  packed({ failure: 'RangeError' }),
]

const LENGTH_BYTES = 4
const partsOf = (input: Buffer): readonly [text: Buffer, bytes: Buffer] => {
  const end = LENGTH_BYTES + input.readUInt32BE()
  return [input.subarray(LENGTH_BYTES, end), input.subarray(end)]
}

/** Changed anywhere, or more often in its text alone: most of the other changes are found by the lengths. */
function changed(random: PseudoRandom, inputs: readonly Buffer[]): Buffer {
  const input = random.pick(inputs)
  if (random.chance(0.2)) return mutated(random, input, inputs)
  const [text, bytes] = partsOf(input)
  const others = inputs.map((one) => partsOf(one)[0])
  const made = mutated(random, text, others)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(made.length)
  return Buffer.concat([length, made, bytes])
}

/** A primary that checks what comes as the real one does first, and does nothing. */
const checks = {
  carryOut: async (sent: HandedRequest) => {
    readRequest(sent)
    return { answer: { data: {} }, data: {} }
  },
  ensureEntity: async (sent: WantedEntity) => {
    readWanted(sent)
    return { entityId: 'e', aliasStamp: '' }
  },
  askMount: async (sent: MountQuestion) => readQuestion(sent).mount,
  filteredHere: async () => ({ mounts: [], namespaces: [] }),
} as unknown as PrimaryOverLink

test(`Q-01: ${INPUTS} questions made from bytes of good ones are answered or refused by the primary`, async (t) => {
  const next = (random: PseudoRandom) => ({
    call: random.pick(NAMES),
    body: changed(random, CALLS),
  })
  await fuzzed(t, INPUTS, next, async ({ call, body }) => {
    const faults: string[] = []
    const log = (level: string): void => void faults.push(level)
    const answer = await answerSecondary(checks, call, body, log)
    assert.ok(!faults.includes('error'), 'what was sent is no defect here')
    try {
      unpackedAnswer(call, answer)
      return true
    } catch (cause) {
      if (cause instanceof Refusal && cause.status < 500) return false
      if (cause instanceof CallFailed) return false
      throw cause
    }
  })
})

test(`Q-01: ${INPUTS} answers made from bytes of good ones are read or are none for the secondary`, async (t) => {
  let body: Buffer = Buffer.alloc(0)
  const link = new PrimaryLink({
    ask: async () => ({ kind: 'answer', body }),
    timers: steppedTime(0).timers,
    primaryAddress: () => '',
  })
  const calls = [
    () => link.carryOut(REQUEST),
    () => link.ensureEntity({ of: 'cluster', namespace: 'root', entityId: '' }),
    () => link.askMount({ mount: REQUEST.mount, question: {} }),
    () => link.filteredHere(),
  ]
  const next = (random: PseudoRandom) => ({
    at: random.int(calls.length),
    answer: changed(random, ANSWERS),
  })
  await fuzzed(t, INPUTS, next, async ({ at, answer }) => {
    body = answer
    try {
      await calls[at]?.()
      return true
    } catch (cause) {
      const isExpected = [Refusal, PackedError, AnswerUnreadable, CallFailed].some((kind) => cause instanceof kind)
      if (!isExpected) throw cause
      return false
    }
  })
})

test(`Q-01: ${INPUTS} packed values made from bytes of good ones are read as values that can be packed`, async (t) => {
  const all = [...CALLS, ...ANSWERS]
  const next = (random: PseudoRandom) => ({ input: changed(random, all) })
  await fuzzed(t, INPUTS, next, async ({ input }) => {
    try {
      const value = unpacked(input)
      assert.deepStrictEqual(unpacked(packed(value)), value)
      return true
    } catch (cause) {
      if (cause instanceof PackedError) return false
      throw cause
    }
  })
})
