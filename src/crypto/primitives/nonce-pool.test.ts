import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { NoncePool } from './nonce-pool.ts'
import { freshBytes, RandomnessFailed } from './random-bytes.ts'

test('nonces come in the order of the random source, each byte once', () => {
  let next = 0
  const pool = new NoncePool((count) => Buffer.from(Array.from({ length: count }, () => next++ & 0xff)), 30)
  const taken = [pool.take(12), pool.take(12), pool.take(12), pool.take(24)]
  // A second draw is made when a third nonce no longer fits: the rest of a pool is thrown away.
  assert.deepEqual(
    taken.map((nonce) => [nonce.length, nonce[0]]),
    [
      [12, 0],
      [12, 12],
      [12, 30],
      [24, 60],
    ],
  )
})

test('a nonce stays as it was when the pool goes on, and the pool keeps none of it', () => {
  const draws: Buffer[] = []
  const pool = new NoncePool((count) => {
    const draw = Buffer.alloc(count, draws.length + 1)
    draws.push(draw)
    return draw
  }, 20)
  const first = pool.take(12)
  assert.deepEqual(draws[0], Buffer.concat([Buffer.alloc(12), Buffer.alloc(8, 1)]))
  pool.take(12)
  assert.deepEqual(first, Buffer.alloc(12, 1))
  // Nor what was too short for another nonce.
  assert.deepEqual(draws[0], Buffer.alloc(20))
})

test('a nonce larger than the pool is drawn whole', () => {
  assert.equal(new NoncePool((count) => Buffer.alloc(count, 1), 8).take(24).length, 24)
})

test('no nonce comes twice among 100,000', () => {
  const pool = new NoncePool((count) => randomBytes(count))
  const seen = new Set<string>()
  for (let count = 0; count < 100_000; count += 1) seen.add(pool.take(12).toString('latin1'))
  assert.equal(seen.size, 100_000)
})

const BROKEN: readonly { readonly name: string; readonly random: (count: number) => Buffer }[] = [
  { name: 'short', random: (count) => Buffer.alloc(count - 1, 1) },
  { name: 'empty', random: () => Buffer.alloc(0) },
  { name: 'long', random: (count) => Buffer.alloc(count + 1, 1) },
  { name: 'zeros', random: (count) => Buffer.alloc(count) },
]

for (const { name, random } of BROKEN) {
  test(`C-03 a random source that gives ${name} gives no nonce and no bytes`, () => {
    assert.throws(() => new NoncePool(random).take(12), RandomnessFailed)
    assert.throws(() => freshBytes(random, 32), RandomnessFailed)
  })
}

test('C-03 a draw that is zeros from some place on gives the nonces before it only', () => {
  const pool = new NoncePool((count) => Buffer.alloc(count).fill(1, 0, 12))
  pool.take(12)
  assert.throws(() => pool.take(12), RandomnessFailed)
})

test('C-03 an error of the random source is passed on', () => {
  const failure = new Error('no entropy')
  const pool = new NoncePool(() => {
    throw failure
  })
  assert.throws(() => pool.take(12), failure)
  assert.throws(() => pool.take(12), failure)
})
