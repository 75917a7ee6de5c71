import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatJson } from './format-json.ts'

/** A list whose line, with the name in front and a comma behind, has so many columns. */
const listOf = (columns: number): string[] => ['x'.repeat(columns - '  "a": [""],'.length)]

const CASES = [
  {
    name: 'what fits stands on one line',
    value: { a: [1, 'b', { c: null }] },
    text: '{ "a": [1, "b", { "c": null }] }\n',
  },
  { name: 'nothing inside', value: { a: {}, b: [] }, text: '{ "a": {}, "b": [] }\n' },
  { name: 'members that are not there are left out', value: { a: undefined, b: 1 }, text: '{ "b": 1 }\n' },
  {
    name: '120 columns fit',
    value: { a: listOf(120), b: 1 },
    text: `{\n  "a": ["${listOf(120)[0]}"],\n  "b": 1\n}\n`,
  },
  {
    name: '121 columns do not',
    value: { a: listOf(121), b: 1 },
    text: `{\n  "a": [\n    "${listOf(121)[0]}"\n  ],\n  "b": 1\n}\n`,
  },
]

for (const { name, value, text } of CASES) {
  test(`formatted JSON: ${name}`, () => {
    assert.equal(formatJson(value), text)
    assert.deepEqual(JSON.parse(formatJson(value)), JSON.parse(JSON.stringify(value)))
  })
}
