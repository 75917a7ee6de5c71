import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../test/conformance/seeded-random.ts'
import { RandomnessFailed } from '../crypto/primitives/random-bytes.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { Barrier } from './barrier.ts'
import { StorageCorrupt } from './errors.ts'
import {
  type DataKey,
  decodeFormerKeys,
  decodeKeyring,
  drawTerm,
  encodeFormerKeys,
  encodeKeyring,
  firstKeyring,
  hasTermsBeside,
  type Keyring,
  ordinalOf,
  replacedBy,
  withFormerTerms,
  withNewTerm,
} from './keyring.ts'

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

const dataKey = (fill: number): DataKey => ({ key: importSecret(material(fill)), installedAtMs: fill })
const keyringOf = (activeTerm: number, ...terms: readonly (readonly [number, number])[]): Keyring => ({
  activeTerm,
  terms: new Map(terms.map(([term, fill]) => [term, dataKey(fill)])),
})
const fillsOf = ({ former }: Keyring): [number, (number | undefined)[]][] =>
  [...(former ?? [])].map(([term, keys]) => [term, keys.map(({ key }) => key.export()[0])])

test('a keyring that replaces another keeps the terms that only the other had, and no more', () => {
  const common = keyringOf(1, [1, 1])
  const ours = keyringOf(5, [1, 1], [5, 5])
  const theirs = keyringOf(6, [1, 1], [6, 6])
  const replaced = replacedBy(ours, theirs)
  assert.deepEqual([replaced.activeTerm, [...replaced.terms.keys()], fillsOf(replaced)], [6, [1, 6], [[5, [5]]]])
  assert.deepEqual([hasTermsBeside(ours, theirs), hasTermsBeside(common, theirs)], [true, false])
  assert.deepEqual(fillsOf(replacedBy(common, theirs)), [])
  // A later replacement drops nothing, and adds nothing twice.
  const later = replacedBy(replaced, keyringOf(7, [1, 1], [7, 7]))
  assert.deepEqual(fillsOf(later), [
    [5, [5]],
    [6, [6]],
  ])
  assert.deepEqual(fillsOf(replacedBy(later, later)), fillsOf(later))
})

test('former keys with the number of a present term open beside it, and never seal', () => {
  const ours = keyringOf(1, [1, 1])
  const theirs = keyringOf(1, [1, 2])
  const third = keyringOf(1, [1, 3])
  const random = new SeededRandom(4)
  const source = { bytes: (count: number) => random.bytes(count), uuid: () => random.uuid() }
  const sealed = [ours, theirs, third].map((keyring) => new Barrier(source, keyring).seal('root/a', Buffer.from('x')))
  const both = new Barrier(source, replacedBy(ours, theirs))
  const all = new Barrier(source, replacedBy(replacedBy(ours, theirs), third))
  assert.throws(() => both.open('root/a', sealed[2] as Buffer), /is not what was written there/)
  for (const record of sealed) assert.equal(all.open('root/a', record).toString(), 'x')
  assert.equal(new Barrier(source, third).open('root/a', all.seal('root/a', Buffer.from('y'))).toString(), 'y')
  assert.throws(() => all.open('root/b', sealed[0] as Buffer), StorageCorrupt)
})

test('former keys come back as they were, and nothing else does', () => {
  const { former = new Map() } = replacedBy(
    replacedBy(keyringOf(1, [1, 1], [8, 8]), keyringOf(1, [1, 2])),
    keyringOf(9, [9, 9]),
  )
  const bytes = encodeFormerKeys(former)
  const back = decodeFormerKeys(bytes)
  assert.deepEqual(fillsOf({ ...keyringOf(9, [9, 9]), former: back }), [
    [1, [1, 2]],
    [8, [8]],
  ])
  assert.deepEqual(back.get(8)?.[0]?.installedAtMs, 8)
  assert.deepEqual(decodeFormerKeys(encodeFormerKeys(new Map())), new Map())
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeFormerKeys(bytes.subarray(0, length)), StorageCorrupt, `${length} bytes`)
  }
  assert.throws(() => decodeFormerKeys(bytes.with(0, 2) as Buffer), /unknown format/)
})

test('former keys become terms, each with a number of its own', () => {
  const first = replacedBy(keyringOf(5, [1, 1], [5, 5]), keyringOf(6, [1, 2], [6, 6]))
  const replaced = replacedBy(first, keyringOf(7, [1, 2], [6, 6], [7, 7]))
  const all = replacedBy({ ...replaced, terms: keyringOf(5, [5, 8]).terms }, replaced)
  assert.deepEqual(fillsOf(all), [
    [1, [1]],
    [5, [5, 8]],
  ])
  const shared = withFormerTerms(all)
  assert.deepEqual(
    [shared.activeTerm, [...shared.terms].map(([term, { key }]) => [term, key.export()[0]])],
    [
      7,
      [
        [1, 2],
        [6, 6],
        [7, 7],
        [5, 5],
      ],
    ],
  )
  assert.deepEqual(fillsOf(shared), [
    [1, [1]],
    [5, [8]],
  ])
  assert.deepEqual(fillsOf(withFormerTerms(keyringOf(1, [1, 1]))), [])
})

test('a new term has no number of a former key', () => {
  const keyring = replacedBy(keyringOf(5, [5, 5]), keyringOf(6, [6, 6]))
  assert.equal(withNewTerm(keyring, drawing(6, 5, 7), material(7), 0).activeTerm, 7)
})
