// What the pool is told about a job besides its name: which jobs take about as long, and what is handed over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyJob, Job, SlowWork } from '../lib/slow-work.ts'
import { inlineWork, magnitude } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { OPEN_MANY, SEAL_MANY } from './batch-cipher.ts'
import { PROOF_OPTIONS } from './key-types/key-type.ts'
import { KEY_TYPES } from './key-types/key-types.ts'
import { OPEN_OAEP } from './primitives/rsa-oaep.ts'
import { signWith, verifyWith } from './signing-jobs.ts'

const world = realWorld()
const inline = inlineWork(world)
const loaded = async (name: string) => {
  const type = KEY_TYPES.get(name) ?? assert.fail()
  return { type, key: type.load(await type.generate(world.random.bytes, inline)) }
}

/** Does the work here, and notes of each job its kind and how much of its input was handed over. */
function noting() {
  const noted: (readonly [string, number])[] = []
  const slow: SlowWork = {
    ...inline,
    run: <I, O>(job: Job<I, O>, input: I, moved: ArrayBuffer[] = []) => {
      noted.push([job.kind?.(input) ?? '', moved.length])
      return inline.run(job, input)
    },
  }
  return { slow, noted }
}

test('F-16 signatures go by the type of the key; short inputs are copied, for a worker may die with them', async () => {
  const { slow, noted } = noting()
  const { type, key } = await loaded('ecdsa-p384')
  for (const length of [0, 16_384, 16_385, 200_000]) {
    const input = Buffer.alloc(length, 1)
    const signature = await signWith(type, slow, key, input, PROOF_OPTIONS)
    assert.equal(await verifyWith(type, slow, key, input, signature, PROOF_OPTIONS), true)
  }
  await signWith(type, slow, key, Buffer.alloc(32), { ...PROOF_OPTIONS, prehashed: true })
  const each = [
    ['ecdsa-p384', 0],
    ['ecdsa-p384', 0],
    ['ecdsa-p384', 1],
    ['ecdsa-p384 2^17', 1],
  ]
  assert.deepEqual(noted, [...each.flatMap((one) => [one, one]), ['ecdsa-p384 prehashed', 0]])
})

test('what opens with an RSA key goes by its size, and many messages by how much they are', async () => {
  const kindOf = (job: AnyJob, input: unknown) => job.kind?.(input as never)
  const [small, large] = [await loaded('rsa-2048'), await loaded('rsa-3072')]
  const sealed = new Uint8Array(9)
  assert.deepEqual(
    [small, large].map(({ key }) => kindOf(OPEN_OAEP, { key, sealed })),
    ['2048', '3072'],
  )
  const many = (messages: number, bytes: number) => ({
    type: 'aes256-gcm96',
    messages: { lengths: new ArrayBuffer(4 * messages), bytes: new ArrayBuffer(bytes) },
  })
  assert.equal(kindOf(SEAL_MANY, many(1_024, 0)), 'aes256-gcm96 2^10')
  assert.equal(kindOf(OPEN_MANY, many(1, 3_000 * 4_095)), 'aes256-gcm96 2^12')
  assert.deepEqual([0, 1, 3, 4].map(magnitude), ['2^0', '2^0', '2^1', '2^2'])
})
