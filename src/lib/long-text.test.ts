import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { base64Text, LongText } from './long-text.ts'

test('base64 behind its prefix is the same text, whether it is long or not', () => {
  for (const length of [0, 1, 3_060, 3_063, 3_064, 12_287, 12_288, 12_289, 24_576, 100_001]) {
    const bytes = randomBytes(length)
    assert.equal(String(base64Text(bytes, 'vault:v1:')), `vault:v1:${bytes.toString('base64')}`)
    assert.equal(String(base64Text(bytes)), bytes.toString('base64'))
  }
  assert.equal(typeof base64Text(randomBytes(3_063), 'vault:v1:'), 'string')
  assert.ok(base64Text(randomBytes(3_064), 'vault:v1:') instanceof LongText)
})

test('where nobody knows of it, it is a string', () => {
  const text = new LongText(Buffer.from('some ~text'))
  assert.equal(JSON.stringify({ text, list: [text] }), '{"text":"some ~text","list":["some ~text"]}')
  assert.equal(`${text}`, 'some ~text')
})
