// The table of refusals, its page, and the program: each names what the others know.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ERRORS, fail, REFUSAL_GROUPS, refusalWith } from '../../src/api/errors.ts'
import { isTest, readTree } from '../../tools/tree.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const CODES = Object.keys(ERRORS)

test('docs/errors.md has a row for each refusal, and no other', () => {
  const page = readFileSync(join(PROJECT, 'docs/errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => `${code} ${status}`)
  assert.deepEqual(
    rows,
    Object.entries(ERRORS).map(([code, { status }]) => `${code} ${status}`),
  )
})

test('every refusal is given somewhere', () => {
  const program = [...readTree(PROJECT)].filter(([path]) => path.startsWith('src/') && !isTest(path))
  const text = program.filter(([path]) => !path.startsWith('src/api/refusals/')).map(([, source]) => source)
  assert.deepEqual(
    CODES.filter((code) => !text.some((source) => source.includes(`'${code}'`))),
    [],
  )
})

test('a code stands in one group, and all groups are the table', () => {
  assert.deepEqual(
    REFUSAL_GROUPS.flatMap(({ rows }) => Object.keys(rows)),
    CODES,
  )
})

test('the refusals of a group are ordered by status, and each says what to do', () => {
  for (const { title, rows } of REFUSAL_GROUPS) {
    const statuses = Object.values(rows).map(({ status }) => status)
    assert.deepEqual(
      statuses,
      statuses.toSorted((a, b) => a - b),
      title,
    )
  }
  for (const [code, { remedy }] of Object.entries(ERRORS)) assert.match(remedy, /^[A-Z].*\.$/, code)
})

test('our own sentences end without a full stop', () => {
  for (const { message } of Object.values(ERRORS)) {
    const sentence = (message as (...args: string[]) => string)('x', 'y')
    // Wire text.
    const isOfWire = sentence.endsWith('route entry not found.') || sentence.endsWith('to gain access.')
    if (!isOfWire) assert.doesNotMatch(sentence, /\.$/)
  }
})

test('P-39: a refusal that repeats what was sent has an end', () => {
  const messageOf = (length: number) => fail('bad_request', ['x'.repeat(length)]).message
  assert.equal(messageOf(8_192), 'x'.repeat(8_192))
  assert.equal(messageOf(8_193), `${'x'.repeat(8_192)}…`)
})

test('a field is refused in the usual sentence, or in the one that clients know', () => {
  assert.equal(fail('field_missing', ['a']).message, 'Missing required field "a"')
  assert.equal(fail('field_missing', ['a', 'missing a']).message, 'missing a')
  const usual = 'Field validation failed: error converting input for field "a": must be at most 3'
  assert.equal(fail('out_of_range', ['a', 'must be at most 3']).message, usual)
  assert.equal(fail('out_of_range', ['a is at most 3']).message, 'a is at most 3')
})

test('one more sentence leaves code, status and cause as they were', () => {
  const cause = new Error('why')
  const longer = refusalWith(fail('input_unusable', ['no'], cause), 'See there')
  assert.deepEqual(
    [longer.code, longer.status, longer.message, longer.cause],
    ['input_unusable', 400, 'no. See there', cause],
  )
})
