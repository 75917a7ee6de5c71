// The search through the memory of a process (P-14) finds what a plain one finds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NeedleSearch } from '../../fixtures/process-memory.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'

const ROUNDS = 500

/** Every place, by one pass for each needle. */
function placesOf(bytes: Buffer, needles: ReadonlyMap<string, Buffer>): string[] {
  const found: string[] = []
  for (const [name, needle] of needles)
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) found.push(`${name} at ${at}`)
  return found.sort()
}

test('what one pass finds for all needles is what a pass for each finds', (context) => {
  const random = pseudoRandom(testSeed(context))
  let total = 0
  for (let round = 0; round < ROUNDS; round++) {
    // Of few values, so that needles overlap, and stand one in the other.
    const values = random.pick([2, 4, 256])
    const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.int(values)))
    const memory = bytes(random.int(400))
    const needles = new Map<string, Buffer>()
    for (let i = 0; i <= random.int(6); i++) needles.set(`n${i}`, bytes(2 + random.int(40)))
    for (const [name, needle] of needles) {
      needle.copy(memory, random.int(memory.length + 1))
      if (random.chance(0.5)) needles.set(`${name} again`, Buffer.from(needle))
    }
    const found: string[] = []
    new NeedleSearch(needles).visit(memory, (name, at) => found.push(`${name} at ${at}`))
    const expected = placesOf(memory, needles)
    assert.deepEqual(found.sort(), expected)
    total += expected.length
  }
  assert.ok(total > ROUNDS, `${total} were found: this run proves nothing`)
})
