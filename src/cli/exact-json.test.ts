import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { exactMember, isExactNumber, isMembers, parseExactText, plainText } from './exact-json.ts'

for (const number of ['9007199254740993', '18446744073709551615', '-0', '1.0', '1e400', '0.10']) {
  test(`exact JSON: ${number} stays as it is written`, () => {
    const value = exactMember(parseExactText(`{"n":${number}}`), 'n')
    assert.ok(value !== undefined && isExactNumber(value) && !isMembers(value))
    assert.equal(plainText(value), number)
    assert.equal(JSON.stringify({ n: [value] }), `{"n":[${number}]}`)
  })
}

test('exact JSON: every other value is what JSON.parse makes of it', (context) => {
  const same = fc.property(fc.json({ maxDepth: 4 }), (text) => {
    assert.deepEqual(JSON.parse(JSON.stringify(parseExactText(text))), JSON.parse(text))
  })
  fc.assert(same, { seed: testSeed(context), numRuns: 200 })
})

test('exact JSON: a member called __proto__ is a member, constructor is none', () => {
  const parsed = parseExactText('{"__proto__":{"a":1}}')
  assert.equal(JSON.stringify(exactMember(parsed, '__proto__')), '{"a":1}')
  assert.equal(exactMember(parsed, 'a'), undefined)
  assert.equal(exactMember(parsed, 'constructor'), undefined)
})

for (const text of ['', '{', 'nothing', '<html>', '['.repeat(50_000)]) {
  test(`exact JSON: ${JSON.stringify(text.slice(0, 10))} is none`, () => {
    assert.equal(parseExactText(text), undefined)
  })
}
