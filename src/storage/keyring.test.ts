import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../test/conformance/seeded-random.ts'
import { RandomnessFailed } from '../crypto/primitives/random-bytes.ts'
import { decodeKeyring, drawTerm, encodeKeyring, firstKeyring, ordinalOf, withNewTerm } from './keyring.ts'

const material = (fill: number): Buffer => Buffer.alloc(32, fill)

/** A source whose draws of four bytes are these numbers, over and over. */
function drawing(...numbers: readonly number[]) {
  let at = 0
  const bytes = (count: number): Buffer => {
    const drawn = Buffer.alloc(count)
    drawn.writeUInt32BE(numbers[at++ % numbers.length] ?? 0)
    return drawn
  }
  return { bytes, uuid: () => '' }
}

test('the number of a new term is drawn from 1 to 2^32 - 1, among those that no term has', () => {
  assert.equal(
    drawTerm(drawing(7), () => false),
    7,
  )
  assert.equal(
    drawTerm(drawing(2 ** 32 - 1), () => false),
    2 ** 32 - 1,
  )
  assert.equal(
    drawTerm(drawing(0, 5, 6), (term) => term === 5),
    6,
  )
})

test('a source that gives only numbers that are taken is no reason to wait for ever', () => {
  assert.throws(() => drawTerm(drawing(0), () => false), RandomnessFailed)
  assert.throws(() => drawTerm(drawing(3), (term) => term === 3), RandomnessFailed)
})

test('two clusters that add a term each to the same keyring add two', () => {
  const common = firstKeyring(new SeededRandom(1), material(1), 0)
  const terms = new Set<number>(common.terms.keys())
  for (let cluster = 2; cluster < 102; cluster++) {
    const added = withNewTerm(common, new SeededRandom(cluster), material(cluster), 0)
    assert.notEqual(added.activeTerm, cluster)
    terms.add(added.activeTerm)
  }
  assert.equal(terms.size, 101)
})

test('the place of the active term goes by the order of addition, not by number or clock', () => {
  let keyring = firstKeyring(drawing(9), material(1), 500)
  assert.equal(ordinalOf(keyring), 1)
  for (const [index, [term, nowMs]] of [[4, 300] as const, [12, 300] as const, [1, 100] as const].entries()) {
    keyring = withNewTerm(keyring, drawing(term), material(index + 2), nowMs)
    assert.deepEqual([keyring.activeTerm, ordinalOf(keyring)], [term, index + 2])
    const back = decodeKeyring(encodeKeyring(keyring))
    assert.deepEqual([back.activeTerm, ordinalOf(back)], [term, index + 2])
  }
  assert.deepEqual([...keyring.terms.keys()], [9, 4, 12, 1])
})

test('a keyring with terms in sequence is read as it is', () => {
  const stored = Buffer.alloc(9 + 2 * 44)
  stored.writeUInt8(1, 0)
  stored.writeUInt32BE(2, 1)
  stored.writeUInt32BE(2, 5)
  for (const term of [1, 2]) {
    stored.writeUInt32BE(term, 9 + (term - 1) * 44)
    stored.writeBigUInt64BE(BigInt(1000 * term), 9 + (term - 1) * 44 + 4)
    material(term).copy(stored, 9 + (term - 1) * 44 + 12)
  }
  const read = decodeKeyring(Buffer.from(stored))
  assert.deepEqual([read.activeTerm, ordinalOf(read)], [2, 2])
  assert.deepEqual([...read.terms.keys()], [1, 2])
  assert.deepEqual(read.terms.get(2)?.key.export(), material(2))
  const next = withNewTerm(read, new SeededRandom(3), material(3), 3000)
  assert.equal(ordinalOf(next), 3)
  assert.equal(next.terms.get(1), read.terms.get(1))
})
