import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHcl } from './hcl.ts'
import { formatHcl } from './hcl-format.ts'
import type { HclValue } from './hcl-tree.ts'

const CASES: readonly { name: string; text: string; formatted: string }[] = [
  {
    name: 'indentation and blanks',
    text: 'path   "a/*"{\ncapabilities=["read","list"]\n      denied_parameters={\n"a"=["b"]\n}\n}',
    formatted: 'path "a/*" {\n  capabilities = ["read", "list"]\n  denied_parameters = {\n    "a" = ["b"]\n  }\n}\n',
  },
  {
    name: 'empty lines: at most one, none beside braces',
    text: '\n\npath "a" {\n\n\n  capabilities = []\n\n}\n\n\n\npath "b" {}\n\n',
    formatted: 'path "a" {\n  capabilities = []\n}\n\npath "b" {}\n',
  },
  {
    name: 'comments stay where they are',
    text: '# head\npath "a" { // why\n/* one\n   two */\ncapabilities = ["read"] # end   \n}\n# tail',
    formatted: '# head\npath "a" { // why\n  /* one\n   two */\n  capabilities = ["read"] # end\n}\n# tail\n',
  },
  {
    name: 'a block in one line stays in one',
    text: 'path "a" {capabilities=["deny"]}',
    formatted: 'path "a" { capabilities = ["deny"] }\n',
  },
  {
    name: 'lists over several lines',
    text: 'path "a" {\ncapabilities = [\n"read",\n"list",\n]\n}\n',
    formatted: 'path "a" {\n  capabilities = [\n    "read",\n    "list",\n  ]\n}\n',
  },
  {
    name: 'texts and here-documents are not touched',
    text: 'a = "x  {  \\" # y"\nb = <<END\n   as  it is\nEND\nc = 0x1F\n',
    formatted: 'a = "x  {  \\" # y"\nb = <<END\n   as  it is\nEND\nc = 0x1F\n',
  },
  { name: 'line ends of Windows', text: 'a = 1\r\nb = 2 # c\r\n', formatted: 'a = 1\nb = 2 # c\n' },
  { name: 'JSON stays as it is', text: '{"path": {"a":{} }}', formatted: '{"path": {"a":{} }}' },
  { name: 'nothing', text: ' \n', formatted: '' },
]

for (const { name, text, formatted } of CASES) {
  test(`HCL format: ${name}`, () => {
    assert.equal(formatHcl(text), formatted)
    assert.equal(formatHcl(formatted), formatted, 'formatted once more')
    assert.deepEqual(meaning(parseHcl(formatted)), meaning(parseHcl(text)))
  })
}

test('HCL format: what is no HCL is refused with its place', () => {
  assert.throws(() => formatHcl('path "a" {\n  x = \n}'), /line 3, column 1/)
})

/** Without lines and columns. */
function meaning(value: HclValue): unknown {
  if (value.kind === 'object') return value.items.map(({ key, labels, value: of }) => [key, labels, meaning(of)])
  return value.kind === 'list' ? value.elements.map(meaning) : value.value
}
