import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../api/errors.ts'
import { sanitizePolicies } from './token-rules.ts'

const refusalOf = (names: readonly string[]): string => {
  try {
    sanitizePolicies(names)
  } catch (cause) {
    if (cause instanceof Refusal) return `${cause.code}: ${cause.message}`
    throw cause
  }
  return assert.fail('taken')
}

test('names of policies are canonical, each once, and empty ones are none', () => {
  assert.deepEqual(sanitizePolicies(['B', ' a ', 'b', '', 'default']), ['b', 'a', 'default'])
})

test('a name of 128 characters is taken, and one of 129 is not', () => {
  assert.deepEqual(sanitizePolicies(['a'.repeat(128)]), ['a'.repeat(128)])
  assert.match(refusalOf(['a'.repeat(129)]), /out_of_range: .*at most 128 characters/)
})

test('256 names are taken, also said twice, and 257 are not', () => {
  const names = Array.from({ length: 257 }, (_, at) => `p${at}`)
  assert.equal(sanitizePolicies([...names.slice(0, 256), ...names.slice(0, 256)]).length, 256)
  assert.match(refusalOf(names), /out_of_range: .*at most 256/)
})

test('names that no token may have are refused', () => {
  assert.match(refusalOf(['a', 'response-wrapping']), /not_assignable: .*"response-wrapping"/)
})
