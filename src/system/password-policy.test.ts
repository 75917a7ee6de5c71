import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { generatePassword, PasswordPolicyError, parsePasswordPolicy } from './password-policy.ts'

const { bytes } = realWorld().random
const LOWER = 'abcdefghijklmnopqrstuvwxyz'

const GOOD = `
length = 20
rule "charset" {
  charset = "${LOWER}"
  min-chars = 1
}
rule "charset" {
  charset = "0123456789"
  min-chars = 18
}`

test('HCL and JSON say the same', () => {
  const json = JSON.stringify({
    length: 20,
    rule: [{ charset: { charset: LOWER, 'min-chars': 1 } }, { charset: { charset: '0123456789', 'min-chars': 18 } }],
  })
  assert.deepEqual(parsePasswordPolicy(json), parsePasswordPolicy(GOOD))
  assert.deepEqual(parsePasswordPolicy(GOOD).rules[1], { characters: '0123456789', minimum: 18 })
})

test('a password keeps its policy, however narrow', () => {
  const policy = parsePasswordPolicy(GOOD)
  for (let turn = 0; turn < 200; turn++) {
    const password = generatePassword(policy, bytes)
    assert.match(password, /^[a-z0-9]{20}$/)
    assert.ok(password.replaceAll(/\D/g, '').length >= 18, password)
    assert.ok(password.replaceAll(/\d/g, '').length >= 1, password)
  }
})

test('every character comes everywhere, about as often as any other', () => {
  const policy = parsePasswordPolicy('length = 100\nrule "charset" { charset = "abcde" }')
  const counts = new Map<string, number>()
  const first = new Map<string, number>()
  for (let turn = 0; turn < 1_000; turn++) {
    const password = generatePassword(policy, bytes)
    for (const character of password) counts.set(character, (counts.get(character) ?? 0) + 1)
    const [head = ''] = password
    first.set(head, (first.get(head) ?? 0) + 1)
  }
  // 20,000 and 200 are expected; the bounds are eight standard deviations away.
  for (const character of 'abcde') {
    assert.ok(Math.abs((counts.get(character) ?? 0) - 20_000) < 8 * 127, `${character}: ${counts.get(character)}`)
    assert.ok(Math.abs((first.get(character) ?? 0) - 200) < 8 * 13, `${character} first: ${first.get(character)}`)
  }
})

test('characters beyond ASCII count as one', () => {
  const policy = parsePasswordPolicy('length = 6\nrule "charset" { charset = "äöü😀" \n min-chars = 2 }')
  assert.equal([...generatePassword(policy, bytes)].length, 6)
})

const REFUSED = [
  { name: 'no length', text: 'rule "charset" { charset = "abc" }', says: /length/ },
  { name: 'a length of 3', text: 'length = 3\nrule "charset" { charset = "abc" }', says: /from 4/ },
  { name: 'a length of 101', text: 'length = 101\nrule "charset" { charset = "abc" }', says: /to 100/ },
  { name: 'half a character', text: 'length = 10.5\nrule "charset" { charset = "abc" }', says: /whole number/ },
  { name: 'no rule', text: 'length = 10', says: /at least one rule/ },
  { name: 'another rule', text: 'length = 10\nrule "other" { charset = "abc" }', says: /only rule "charset"/ },
  { name: 'no characters', text: 'length = 10\nrule "charset" { charset = "" }', says: /charset must be text/ },
  { name: 'a line break', text: 'length = 10\nrule "charset" { charset = "a\\nb" }', says: /printable/ },
  { name: 'a number as characters', text: 'length = 10\nrule "charset" { charset = 5 }', says: /charset must be text/ },
  {
    name: 'more than there is room for',
    text: `length = 5\n${'rule "charset" { charset = "a"\n min-chars = 3 }\n'.repeat(2)}`,
    says: /ask for 6/,
  },
  { name: 'fewer than none', text: 'length = 5\nrule "charset" { charset = "a"\n min-chars = -1 }', says: /negative/ },
  { name: 'an unknown key', text: 'length = 10\nsize = 3\nrule "charset" { charset = "abc" }', says: /unknown key/ },
  { name: 'two lengths', text: 'length = 10\nlength = 11\nrule "charset" { charset = "abc" }', says: /twice/ },
  { name: 'no HCL', text: 'length = = 10', says: /./ },
]
for (const { name, text, says } of REFUSED) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => parsePasswordPolicy(text),
      (cause) => {
        assert.ok(cause instanceof PasswordPolicyError)
        assert.match(cause.message, says)
        return true
      },
    )
  })
}
