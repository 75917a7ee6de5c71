import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { collector } from '../../test/fixtures/cli-run.ts'
import type { CliIo } from './io.ts'
import { dataBody, dataQuery, readData } from './key-values.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'keywright-data-'))
  writeFileSync(join(folder, 'text'), 'line one\nline two\n')
  writeFileSync(join(folder, 'bytes'), Buffer.from([0xff, 0xfe]))
  writeFileSync(
    join(folder, 'object.json'),
    '{"a": 1, "big": 9007199254740993, "b": {"c": [true, null]}, "__proto__": "p"}',
  )
  writeFileSync(join(folder, 'list.json'), '["secret"]')
})
after(() => rmSync(folder, { recursive: true }))

function io(stdin: string): CliIo {
  const { stream } = collector()
  return {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stream,
    stderr: stream,
    env: {},
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
}

/** `#` stands for the folder of the test. */
async function body(words: readonly string[], stdin = ''): Promise<string> {
  return dataBody(
    await readData(
      io(stdin),
      words.map((word) => word.replace('#', `${folder}/`)),
    ),
  )
}

const CASES: readonly { name: string; words: readonly string[]; stdin?: string; body: string }[] = [
  { name: 'no word gives no data', words: [], body: '{}' },
  { name: 'values are text', words: ['n=3', 'b=true'], body: '{"n":"3","b":"true"}' },
  { name: 'only the first = divides', words: ['policy=a=b'], body: '{"policy":"a=b"}' },
  { name: 'an empty value', words: ['a='], body: '{"a":""}' },
  {
    name: 'a name that comes again makes a list',
    words: ['a=1', 'b=x', 'a=2', 'a=3'],
    body: '{"a":["1","2","3"],"b":"x"}',
  },
  { name: '@file is the whole file', words: ['policy=@#text'], body: '{"policy":"line one\\nline two\\n"}' },
  { name: '\\@ is an @', words: ['mail=\\@example'], body: '{"mail":"@example"}' },
  {
    name: '- is standard input',
    words: ['a=1', 'policy=-'],
    stdin: 'from stdin\n',
    body: '{"a":"1","policy":"from stdin\\n"}',
  },
  {
    name: 'a JSON file',
    words: ['@#object.json'],
    body: '{"a":1,"big":9007199254740993,"b":{"c":[true,null]},"__proto__":"p"}',
  },
  { name: 'JSON on standard input', words: ['-'], stdin: '{"a": [1.0]}', body: '{"a":[1.0]}' },
  { name: 'a document, and more', words: ['-', 'b=2', 'a=3'], stdin: '{"a": "1"}', body: '{"a":["1","3"],"b":"2"}' },
  { name: 'a later document replaces', words: ['a=3', '-'], stdin: '{"a": "1"}', body: '{"a":"1"}' },
  { name: '__proto__ is a name', words: ['__proto__=x', 'constructor=y'], body: '{"__proto__":"x","constructor":"y"}' },
]

for (const { name, words, stdin, body: expected } of CASES) {
  test(`data: ${name}`, async () => assert.equal(await body(words, stdin), expected))
}

const REFUSED: readonly { name: string; words: readonly string[]; stdin?: string; message: RegExp }[] = [
  {
    name: 'a word without =',
    words: ['a=1', 'hunter2'],
    message: /^word 2 of the data is not NAME=VALUE, @FILE or -$/,
  },
  { name: 'an empty name', words: ['=x'], message: /^word 1 of the data is not NAME=VALUE/ },
  { name: 'a missing file', words: ['a=@#none'], message: /^Cannot read .*none: there is no such file or folder$/ },
  { name: 'a folder', words: ['a=@#'], message: /^Cannot read .*: it is a directory$/ },
  {
    name: 'bytes that are no text',
    words: ['a=@#bytes'],
    message: /is not UTF-8 text; binary data travels as base64$/,
  },
  { name: 'a JSON list', words: ['@#list.json'], message: /list\.json must hold a JSON object, like/ },
  {
    name: 'no JSON at all',
    words: ['-'],
    stdin: 'secret',
    message: /^standard input must hold a JSON object, like [^s]*$/,
  },
  { name: 'standard input twice', words: ['a=-', 'b=-'], message: /can be read only once$/ },
]

for (const { name, words, stdin, message } of REFUSED) {
  test(`data: ${name} is refused`, async () => {
    await assert.rejects(body(words, stdin), (error) => {
      assert.ok(error instanceof Error)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /hunter2|secret/)
      return true
    })
  })
}

test('data: in a query a list becomes several values, and what is no text becomes JSON', async () => {
  const data = await readData(io('{"n": 1, "o": {"p": true}}'), ['a=1', 'a=2', 'b=x', '-'])
  assert.deepEqual(dataQuery(data), [
    ['a', '1'],
    ['a', '2'],
    ['b', 'x'],
    ['n', '1'],
    ['o', '{"p":true}'],
  ])
})
