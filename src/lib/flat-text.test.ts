import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinAscii } from './flat-text.ts'

test('two texts become one, of any length', () => {
  for (const length of [0, 1, 9, 4_086, 4_087, 4_088, 100_000]) {
    const second = 'ab'.repeat(length).slice(0, length)
    assert.equal(joinAscii('vault:v1:', second), `vault:v1:${second}`)
    assert.equal(joinAscii(second, ''), second)
  }
})
