import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { randomBase62 } from './base62.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('as many characters as asked for, all of the alphabet', () => {
  for (const length of [0, 1, 24, 28, 1_000]) {
    const text = randomBase62(length, randomBytes)
    assert.equal(text.length, length)
    for (const character of text) assert(ALPHABET.includes(character), character)
  }
})

test('each byte below 248 stands for one character, the others for none', () => {
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  let calls = 0
  const text = randomBase62(248, () => {
    calls++
    return all
  })
  assert.equal(text, ALPHABET.repeat(4))
  assert.equal(calls, 1)
})

test('bytes that stand for none are replaced by more', () => {
  const draws = [Buffer.alloc(8, 255), Buffer.from([248, 249, 61, 250]), Buffer.from([0, 62, 124, 186])]
  assert.equal(
    randomBase62(4, () => draws.shift() ?? Buffer.alloc(0)),
    'z000',
  )
})

test('all characters are equally likely', () => {
  const counts = new Map([...ALPHABET].map((character) => [character, 0]))
  const perCharacter = 4_000
  for (const character of randomBase62(perCharacter * 62, randomBytes))
    counts.set(character, (counts.get(character) ?? 0) + 1)
  // Chi-squared with 61 degrees of freedom: above 140 in less than one of ten million runs.
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - perCharacter) ** 2 / perCharacter, 0)
  assert(chiSquared < 140, `chi-squared ${chiSquared}`)
})
