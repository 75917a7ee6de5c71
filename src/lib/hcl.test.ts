import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf, HclError, hclStrings, itemsOf, parseHcl, scalar } from './hcl.ts'
import { MAX_HCL_BYTES, MAX_HCL_DEPTH, MAX_NUMBER_LENGTH } from './hcl-source.ts'
import type { HclItem, HclValue } from './hcl-tree.ts'

/** A value as plain data; an object as a list of [key, ...labels, value]. */
function plain(value: HclValue): unknown {
  if (value.kind === 'list') return value.elements.map(plain)
  if (value.kind === 'object') return { items: value.items.map(plainItem) }
  return value.value
}
function plainItem({ key, labels, value }: HclItem): unknown[] {
  return [key, ...labels, plain(value)]
}
function parsed(text: string): unknown[] {
  return parseHcl(text).items.map(plainItem)
}

const INTERPOLATION = '$' + '{'

const ACCEPTED: readonly { name: string; text: string; items: unknown[] }[] = [
  { name: 'nothing', text: ' \t\r\n', items: [] },
  { name: 'all three comments', text: '# a\n// b\n/* c\n * d */a = 1 # e', items: [['a', 1]] },
  { name: 'comments between tokens', text: 'a /**/ = // x\n 1', items: [['a', 1]] },
  {
    name: 'several items on a line',
    text: 'a = 1 b = 2, c = 3,',
    items: [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ],
  },
  { name: 'words with points and dashes', text: '_a.b-c9 = 1', items: [['_a.b-c9', 1]] },
  { name: 'a quoted key', text: '"a b" = 1', items: [['a b', 1]] },
  {
    name: 'repeated keys in order',
    text: 'a = 1\nb = 2\na = 3',
    items: [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ],
  },
  {
    name: 'bools',
    text: 'a = true b = false',
    items: [
      ['a', true],
      ['b', false],
    ],
  },
  { name: 'integers', text: 'a = [0, -0, 7, -12, 0x1F, -0X1f, 0644]', items: [['a', [0, 0, 7, -12, 31, -31, 420]]] },
  {
    name: 'floats',
    text: 'a = [1.5, -0.25, 1e3, 2E-2, 1.5e+2, -0.0]',
    items: [['a', [1.5, -0.25, 1000, 0.02, 150, 0]]],
  },
  {
    name: 'integers beyond a double stay exact',
    text: 'a = [9007199254740991, 9007199254740993, -9007199254740993, 0xffffffffffffffff]',
    items: [['a', [9007199254740991, 9007199254740993n, -9007199254740993n, 18446744073709551615n]]],
  },
  { name: 'an empty list', text: 'a = []', items: [['a', []]] },
  { name: 'a list with a comma at its end', text: 'a = ["x", # c\n "y",\n]', items: [['a', ['x', 'y']]] },
  { name: 'lists and objects in lists', text: 'a = [[1], { b = 2 }]', items: [['a', [[1], { items: [['b', 2]] }]]] },
  {
    name: 'an object',
    text: 'a = { "b" = 1, c = 2 d = 3 }',
    items: [
      [
        'a',
        {
          items: [
            ['b', 1],
            ['c', 2],
            ['d', 3],
          ],
        },
      ],
    ],
  },
  { name: 'a block without labels', text: 'a\n{\n}', items: [['a', { items: [] }]] },
  { name: 'a block with labels', text: 'a "b c" d { e = 1 }', items: [['a', 'b c', 'd', { items: [['e', 1]] }]] },
  {
    name: 'keys of the prototype',
    text: '__proto__ = 1 constructor = 2',
    items: [
      ['__proto__', 1],
      ['constructor', 2],
    ],
  },
  { name: 'an empty text', text: 'a = ""', items: [['a', '']] },
  { name: 'a tab and characters beyond ASCII in quotes', text: 'a = "\té😀"', items: [['a', '\té😀']] },
  {
    name: 'escapes',
    text: String.raw`a = "\a\b\f\n\r\t\v\\\"\x41\101\u00e9\U0001F600"`,
    items: [['a', '\x07\b\f\n\r\t\v\\"AAé😀']],
  },
  {
    name: 'templates left alone',
    text: 'a = "x/{{ identity.entity.id }}/y"',
    items: [['a', 'x/{{ identity.entity.id }}/y']],
  },
  {
    name: 'interpolations left alone, with quotes, braces, escapes and line breaks in them',
    text: `a = "1${INTERPOLATION}f("\\q", {})\n}2"`,
    items: [['a', `1${INTERPOLATION}f("\\q", {})\n}2`]],
  },
  {
    name: 'a here-document',
    text: 'a = <<EOT\n  "x" \\n # y\n\nEOT\nb = 1',
    items: [
      ['a', '  "x" \\n # y\n\n'],
      ['b', 1],
    ],
  },
  { name: 'a here-document without lines', text: 'a = <<E_1\nE_1', items: [['a', '']] },
  { name: 'a here-document with CRLF', text: 'a = <<EOT\r\nx\r\ny\r\nEOT\r\n', items: [['a', 'x\ny\n']] },
  { name: 'a here-document in a list', text: 'a = [<<EOT\nx\nEOT\n, "b"]', items: [['a', ['x\n', 'b']]] },
  {
    name: 'a here-document that holds its word in a line',
    text: 'a = <<EOT\nEOT x\nEOTx\nEOT\n',
    items: [['a', 'EOT x\nEOTx\n']],
  },
  { name: 'an indented here-document', text: 'a = <<-EOT\n    x\n      y\n    EOT\n', items: [['a', 'x\n  y\n']] },
  {
    name: 'an indented here-document with a shorter line',
    text: 'a = <<-EOT\n  x\n y\n  EOT\n',
    items: [['a', '  x\n y\n']],
  },
  {
    name: 'JSON',
    text: ' {"a": [1, -2.5e1, "x", true, false, null, {}, []]}\n',
    items: [['a', [1, -25, 'x', true, false, null, { items: [] }, []]]],
  },
  {
    name: 'JSON with repeated keys',
    text: '{"a":{"b":1},"a":{"b":2}}',
    items: [
      ['a', { items: [['b', 1]] }],
      ['a', { items: [['b', 2]] }],
    ],
  },
  {
    name: 'JSON escapes',
    text: String.raw`{"a":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"}`,
    items: [['a', '"\\/\b\f\n\r\tA😀']],
  },
  { name: 'JSON integers beyond a double', text: '{"a":9007199254740993}', items: [['a', 9007199254740993n]] },
]
for (const { name, text, items } of ACCEPTED) {
  test(`hcl reads ${name}`, () => assert.deepEqual(parsed(text), items))
}

const REFUSED: readonly { name: string; text: string; line: number; column: number; says: string }[] = [
  { name: 'a block that is not closed', text: 'path a {', line: 1, column: 9, says: 'expected a key or "}"' },
  { name: 'a brace too much', text: 'a = 1\n}', line: 2, column: 1, says: 'expected a key, found "}"' },
  { name: 'a key alone', text: 'a', line: 1, column: 2, says: 'expected "=" or "{"' },
  { name: 'a key without a value', text: 'a =', line: 1, column: 4, says: 'expected a value, found the end' },
  { name: 'an unquoted value', text: 'a = hunter2', line: 1, column: 5, says: 'a word without quotes' },
  { name: 'labels before an equals sign', text: 'a "b" = {}', line: 1, column: 7, says: 'expected "{", found "="' },
  { name: 'a bool as a key', text: 'true = 1', line: 1, column: 1, says: 'expected a key, found a bool' },
  { name: 'two commas', text: 'a = 1,, b = 2', line: 1, column: 7, says: 'expected a key, found ","' },
  { name: 'a comma at the start of a list', text: 'a = [,1]', line: 1, column: 6, says: 'expected a value' },
  { name: 'list elements without a comma', text: 'a = [1 2]', line: 1, column: 8, says: 'expected "," or "]"' },
  { name: 'a list that is not closed', text: 'a = [1,\n', line: 2, column: 1, says: 'expected a value, found the end' },
  { name: 'a text that is not closed', text: 'a =\n "x', line: 2, column: 2, says: 'not closed by a quote' },
  { name: 'a line break in a text', text: 'a = "x\ny"', line: 1, column: 7, says: 'a line break inside quotes' },
  {
    name: 'a control character in a text',
    text: 'a = "\x07"',
    line: 1,
    column: 6,
    says: 'the character U+0007 inside quotes',
  },
  { name: 'an unknown escape', text: 'a = "\\q"', line: 1, column: 6, says: 'the escape is not one of' },
  { name: 'a short escape', text: 'a = "\\u12"', line: 1, column: 6, says: 'the escape is not one of' },
  { name: 'a byte escape above ASCII', text: 'a = "\\xff"', line: 1, column: 6, says: 'the escape is no character' },
  { name: 'a surrogate escape', text: 'a = "\\ud800"', line: 1, column: 6, says: 'the escape is no character' },
  {
    name: 'an escape beyond Unicode',
    text: 'a = "\\U00110000"',
    line: 1,
    column: 6,
    says: 'the escape is no character',
  },
  {
    name: 'an open interpolation',
    text: `a = "${INTERPOLATION}{}"`,
    line: 1,
    column: 6,
    says: 'interpolation is not closed',
  },
  { name: 'an open comment', text: 'a = 1 /* x', line: 1, column: 7, says: 'the comment is not closed' },
  { name: 'half a comment', text: 'a = 1 / 2', line: 1, column: 7, says: 'a comment begins with' },
  { name: 'a unit without quotes', text: 'a = 10m', line: 1, column: 5, says: 'belongs in quotes' },
  { name: 'two points in a number', text: 'a = 1.2.3', line: 1, column: 5, says: 'belongs in quotes' },
  { name: 'a point without digits', text: 'a = 1.', line: 1, column: 7, says: 'digits are missing' },
  { name: 'an exponent without digits', text: 'a = 1e', line: 1, column: 7, says: 'digits are missing' },
  { name: 'hexadecimal without digits', text: 'a = 0x', line: 1, column: 5, says: 'the number has no digits' },
  { name: 'a minus alone', text: 'a = -', line: 1, column: 5, says: 'the number has no digits' },
  { name: 'octal with a nine', text: 'a = 09', line: 1, column: 5, says: 'is octal' },
  { name: 'a float out of range', text: 'a = 1e999', line: 1, column: 5, says: 'out of range' },
  {
    name: 'an open here-document',
    text: 'a = <<EOT\nx\n EO',
    line: 1,
    column: 5,
    says: 'the here-document is not closed',
  },
  {
    name: 'a here-document without a word',
    text: 'a = <<\nx\n',
    line: 1,
    column: 5,
    says: 'a here-document begins with',
  },
  {
    name: 'text behind the word of a here-document',
    text: 'a = <<EOT x\nEOT',
    line: 1,
    column: 5,
    says: 'a here-document begins with',
  },
  {
    name: 'a here-document as a key',
    text: '<<E\na\nE\n= 1',
    line: 1,
    column: 1,
    says: 'expected a key, found a here-document',
  },
  { name: 'one angle bracket', text: 'a = <EOT\nEOT', line: 1, column: 5, says: 'a here-document begins with' },
  { name: 'a colon', text: 'a : 1', line: 1, column: 3, says: '":" is not expected' },
  { name: 'single quotes', text: "a = 'x'", line: 1, column: 5, says: '"\'" is not expected' },
  { name: 'a word beyond ASCII', text: 'é = 1', line: 1, column: 1, says: 'U+00E9 is not expected' },
  { name: 'a byte order mark', text: '\ufeffa = 1', line: 1, column: 1, says: 'U+FEFF is not expected' },
  { name: 'the character U+0000', text: 'a = 1\n# \0', line: 2, column: 3, says: 'U+0000 is not allowed' },
  {
    name: 'half a character (threats N-18)',
    text: 'a = "\ud800"',
    line: 1,
    column: 1,
    says: 'not well-formed Unicode',
  },
  { name: 'JSON with text behind it', text: '{"a":1} x', line: 1, column: 9, says: 'expected the end of the text' },
  { name: 'JSON that is not closed', text: '{"a":1', line: 1, column: 7, says: 'expected "," or "}"' },
  { name: 'JSON with a comma at the end', text: '{"a":1,}', line: 1, column: 8, says: 'expected a key in quotes' },
  {
    name: 'a JSON list with a comma at the end',
    text: '{"a":[1,]}',
    line: 1,
    column: 9,
    says: 'expected a JSON value',
  },
  { name: 'JSON keys without quotes', text: '{a:1}', line: 1, column: 2, says: 'expected a key in quotes' },
  { name: 'JSON with an equals sign', text: '{"a"=1}', line: 1, column: 5, says: 'expected ":"' },
  { name: 'JSON with a comment', text: '{"a":1 # x\n}', line: 1, column: 8, says: 'expected "," or "}"' },
  { name: 'JSON with an unknown word', text: '{"a":nul}', line: 1, column: 6, says: 'expected a JSON value' },
  { name: 'JSON with a longer word', text: '{"a":trueish}', line: 1, column: 10, says: 'expected "," or "}"' },
  { name: 'JSON with a leading zero', text: '{"a":01}', line: 1, column: 6, says: 'leading zero' },
  { name: 'JSON with a plus sign', text: '{"a":+1}', line: 1, column: 6, says: 'expected a JSON value' },
  { name: 'JSON numbers out of range', text: '{"a":1e400}', line: 1, column: 6, says: 'out of range' },
  { name: 'a line break in a JSON text', text: '{"a":"x\ny"}', line: 1, column: 8, says: 'U+000A inside quotes' },
  { name: 'an open JSON text', text: '{"a":"x', line: 1, column: 6, says: 'not closed by a quote' },
  { name: 'an unknown JSON escape', text: '{"a":"\\x41"}', line: 1, column: 7, says: 'the escape is not one of' },
  { name: 'half a character in a JSON escape', text: '{"a":"\\ud800"}', line: 1, column: 6, says: 'half a character' },
]
for (const { name, text, line, column, says } of REFUSED) {
  test(`hcl refuses ${name}`, () => {
    assert.throws(
      () => parseHcl(text),
      (error) => {
        assert.ok(error instanceof HclError)
        assert.deepEqual([error.line, error.column], [line, column], error.message)
        assert.ok(error.message.startsWith(`line ${line}, column ${column}: `), error.message)
        assert.ok(error.message.includes(says), error.message)
        return true
      },
    )
  })
}

test('hcl gives the place of every item', () => {
  const [first, second] = parseHcl('a = 1\n  b "x" {\n    c = <<E\n\nE\n  d = 2\n }').items
  assert.deepEqual([first?.line, first?.column], [1, 1])
  assert.deepEqual([second?.line, second?.column], [2, 3])
  const inner = second?.value.kind === 'object' ? second.value.items : []
  assert.deepEqual(
    inner.map(({ key, line, column }) => [key, line, column]),
    [
      ['c', 3, 5],
      ['d', 6, 3],
    ],
  )
  const [json] = parseHcl('{\n "a": 1}').items
  assert.deepEqual([json?.line, json?.column], [2, 2])
})

test('hcl never repeats in a message what a text or a word holds', () => {
  for (const text of [
    'a = hunter2',
    'a "hunter2" = 1',
    'a = "hunter2',
    'a = ["x" "hunter2"]',
    '{"a": hunter2}',
    '{"a" "hunter2"}',
  ]) {
    assert.throws(
      () => parseHcl(text),
      (error) => error instanceof HclError && !error.message.includes('hunter'),
    )
  }
})

const nested = (open: string, close: string, times: number) => `a = ${open.repeat(times)}${close.repeat(times)}`
const jsonNested = (times: number) => `{"a":${'['.repeat(times - 1)}${']'.repeat(times - 1)}}`

test('hcl reads the deepest nesting and refuses one level more', () => {
  assert.equal(parsed(nested('[', ']', MAX_HCL_DEPTH)).length, 1)
  assert.equal(parsed(`${'a {'.repeat(MAX_HCL_DEPTH)}${'}'.repeat(MAX_HCL_DEPTH)}`).length, 1)
  assert.equal(parsed(jsonNested(MAX_HCL_DEPTH)).length, 1)
  const tooDeep = [nested('[', ']', MAX_HCL_DEPTH + 1), 'a {'.repeat(MAX_HCL_DEPTH + 1), jsonNested(MAX_HCL_DEPTH + 1)]
  for (const text of [...tooDeep, nested('[', ']', 400_000), 'a {'.repeat(300_000), '{"a":'.repeat(200_000)]) {
    assert.throws(() => parseHcl(text), /nested deeper than 64 levels/)
  }
})

test('hcl reads the longest text and refuses one byte more', () => {
  const text = `a = "${'x'.repeat(MAX_HCL_BYTES - 6)}"`
  assert.equal(Buffer.byteLength(text), MAX_HCL_BYTES)
  assert.equal(parsed(text).length, 1)
  assert.throws(() => parseHcl(`${text} `), /longer than 1048576 bytes/)
  assert.throws(() => parseHcl(`a = "${'é'.repeat(MAX_HCL_BYTES / 2)}"`), /longer than 1048576 bytes/)
})

test('hcl reads the longest number and refuses one digit more', () => {
  const digits = '9'.repeat(MAX_NUMBER_LENGTH)
  for (const [before, after] of [
    ['a = ', ''],
    ['{"a":', '}'],
  ]) {
    assert.deepEqual(parsed(`${before}${digits}${after}`), [['a', BigInt(digits)]])
    assert.throws(() => parseHcl(`${before}${digits}9${after}`), /over 64 characters/)
  }
})

test('itemsOf, scalar and strings read a configuration', () => {
  const body = parseHcl('ui = true\nport = 8200\nhosts = ["a", "b"]\nui = false\nmixed = ["a", 1]\nlistener "tcp" {}')
  assert.deepEqual(
    itemsOf(body, 'ui').map((item) => scalar(item.value)),
    [true, false],
  )
  assert.deepEqual(itemsOf(body, 'nothing'), [])
  const values = new Map(body.items.map((item) => [item.key, item.value]))
  const read = <T>(key: string, by: (value: HclValue) => T) => {
    const value = values.get(key)
    assert.ok(value !== undefined)
    return by(value)
  }
  assert.equal(read('port', scalar), 8200)
  assert.deepEqual(read('hosts', hclStrings), ['a', 'b'])
  assert.equal(read('hosts', scalar), undefined)
  assert.equal(read('listener', scalar), undefined)
  assert.equal(read('mixed', hclStrings), undefined)
  assert.equal(read('port', hclStrings), undefined)
})

const BLOCKS: readonly { name: string; text: string; labelCount: number; found: [readonly string[], unknown[]][] }[] = [
  {
    name: 'blocks',
    text: 'p "a" { x = 1 } p "b" {} q {}',
    labelCount: 1,
    found: [
      [['a'], [['x', 1]]],
      [['b'], []],
    ],
  },
  {
    name: 'an object of objects',
    text: 'p = { "a" = { x = 1 } b = {} }',
    labelCount: 1,
    found: [
      [['a'], [['x', 1]]],
      [['b'], []],
    ],
  },
  {
    name: 'JSON',
    text: '{"p":{"a":{"x":1},"b":{}}}',
    labelCount: 1,
    found: [
      [['a'], [['x', 1]]],
      [['b'], []],
    ],
  },
  {
    name: 'a JSON list',
    text: '{"p":[{"a":{"x":1}},{"b":[{},{"x":2}]}]}',
    labelCount: 1,
    found: [
      [['a'], [['x', 1]]],
      [['b'], []],
      [['b'], [['x', 2]]],
    ],
  },
  {
    name: 'JSON with repeated labels',
    text: '{"p":{"a":{"x":1},"a":{}}}',
    labelCount: 1,
    found: [
      [['a'], [['x', 1]]],
      [['a'], []],
    ],
  },
  {
    name: 'two labels, one of them inside',
    text: 'p "a" { "b" = {} } p "c" d {}',
    labelCount: 2,
    found: [
      [['a', 'b'], []],
      [['c', 'd'], []],
    ],
  },
  {
    name: 'blocks without labels',
    text: 'p {} p = { x = 1 }',
    labelCount: 0,
    found: [
      [[], []],
      [[], [['x', 1]]],
    ],
  },
  { name: 'nothing in an empty list', text: '{"p":[]}', labelCount: 1, found: [] },
]
for (const { name, text, labelCount, found } of BLOCKS) {
  test(`blocksOf finds ${name}`, () => {
    const blocks = blocksOf(parseHcl(text), 'p', labelCount)
    assert.deepEqual(
      blocks.map(({ labels, body }) => [labels, body.items.map(plainItem)]),
      found,
    )
  })
}

for (const { name, text, says } of [
  { name: 'a label too many', text: '\np "a" "b" {}', says: 'line 2, column 1: the block has a label too many' },
  { name: 'a missing label', text: 'p {\n x = 1 }', says: 'line 2, column 2: expected a block' },
  { name: 'a scalar', text: 'p = 1', says: 'line 1, column 1: expected a label and a block' },
  { name: 'a label without a block', text: '{"p":{"a":"x"}}', says: 'line 1, column 7: expected a block' },
]) {
  test(`blocksOf refuses ${name}`, () => {
    assert.throws(
      () => blocksOf(parseHcl(text), 'p', 1),
      (error) => error instanceof HclError && error.message.startsWith(says),
    )
  })
}
