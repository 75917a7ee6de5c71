import assert from 'node:assert/strict'
import { test } from 'node:test'
import { envelope } from '../../test/fixtures/api-double.ts'
import { collector } from '../../test/fixtures/cli-run.ts'
import { answerRows } from './answer-rows.ts'
import { type Json, parseExactText } from './exact-json.ts'
import { formatJson, formatList, formatTable, printAnswer } from './output.ts'

const table = (body: Json): string => formatTable(answerRows(body))
const answer = (parts: object): Json => parseExactText(JSON.stringify(envelope(parts))) ?? null

test('output: a table of an answer, its names in order', () => {
  const data = { type: 'aes256-gcm96', deletion_allowed: false, latest_version: 2, min_available_version: 0, name: 'x' }
  assert.equal(
    table(answer({ data })),
    [
      'Key                      Value',
      '---                      -----',
      'deletion_allowed         false',
      'latest_version           2',
      'min_available_version    0',
      'name                     x',
      'type                     aes256-gcm96',
      '',
    ].join('\n'),
  )
})

test('output: objects and lists of them get a row for each value, in the order of versions', () => {
  const data = {
    keys: { '10': 3, '9': 2, a: { public_key: 'P' } },
    policies: ['default', 'app'],
    batch_results: [{ ciphertext: 'c' }, { error: 'e' }],
    none: null,
    nothing: {},
    empty: [],
    blank: '',
  }
  assert.equal(
    table(answer({ data })),
    [
      'Key                           Value',
      '---                           -----',
      'batch_results.0.ciphertext    c',
      'batch_results.1.error         e',
      'blank                         n/a',
      'empty                         []',
      'keys.9                        2',
      'keys.10                       3',
      'keys.a.public_key             P',
      'none                          n/a',
      'nothing                       {}',
      'policies                      [default, app]',
      '',
    ].join('\n'),
  )
})

test('output: further lines of a value stand under its first, control characters are shown', () => {
  const data = { pem: '-----BEGIN-----\nAA\n-----END-----\n', 'a\nb': '\u001b[31mred' }
  assert.equal(
    table(answer({ data })),
    [
      'Key         Value',
      '---         -----',
      'a\\u000ab    \\u001b[31mred',
      'pem         -----BEGIN-----',
      '            AA',
      '            -----END-----',
      '',
    ].join('\n'),
  )
})

test('output: a login shows its token under the names of the reference', () => {
  const auth = {
    client_token: 'hvs.new',
    accessor: 'acc',
    policies: ['app', 'default'],
    token_policies: ['app', 'default'],
    metadata: { role: 'r' },
    lease_duration: 2764800,
    renewable: true,
    entity_id: '',
    token_type: 'service',
    orphan: true,
    mfa_requirement: null,
    num_uses: 0,
  }
  const rows = [
    ['token', 'hvs.new'],
    ['token_accessor', 'acc'],
    ['token_duration', '768h'],
    ['token_renewable', true],
    ['token_policies', ['app', 'default']],
    ['policies', ['app', 'default']],
    ['token_meta_role', 'r'],
  ]
  assert.deepEqual(answerRows(answer({ auth })), rows)
  assert.deepEqual(answerRows(answer({ auth: { ...auth, lease_duration: 0 } }))[2], ['token_duration', '∞'])
})

test('output: a wrapped answer shows how to unwrap it', () => {
  const wrap_info = { token: 'w', accessor: 'a', ttl: 90, creation_time: 'T', creation_path: 'p' }
  assert.deepEqual(answerRows(answer({ request_id: '', wrap_info })), [
    ['wrapping_token', 'w'],
    ['wrapping_accessor', 'a'],
    ['wrapping_token_ttl', '1m30s'],
    ['wrapping_token_creation_time', 'T'],
    ['wrapping_token_creation_path', 'p'],
  ])
})

test('output: leases, with and without an id', () => {
  const data = { a: 1 }
  assert.deepEqual(answerRows(answer({ lease_duration: 5400, data })), [
    ['refresh_interval', '1h30m'],
    ['a', 1],
  ])
  assert.deepEqual(answerRows(answer({ lease_id: 'l', lease_duration: 3600, renewable: true, data })), [
    ['lease_id', 'l'],
    ['lease_duration', '1h'],
    ['lease_renewable', true],
    ['a', 1],
  ])
})

test('output: of an answer in both forms the data are shown once, a plain body is shown as it is', () => {
  assert.deepEqual(answerRows(answer({ data: { 'a/': 1 }, 'a/': 1 })), [['a/', 1]])
  assert.deepEqual(answerRows({ sealed: true, n: 5 }), [
    ['n', 5],
    ['sealed', true],
  ])
})

test('output: as many rows as a large batch has', () => {
  const batch_results = Array.from({ length: 150_000 }, () => ({ a: '' }))
  assert.equal(table({ batch_results }).split('\n').length, 150_003)
})

test('output: a list', () => {
  assert.equal(formatList('Keys', ['a', 'b/', 'c\u001b']), 'Keys\n----\na\nb/\nc\\u001b\n')
})

test('output: JSON is the whole body in its own order, with exact numbers', () => {
  const body = parseExactText('{"z":1,"data":{"big":18446744073709551615,"text":"\u009b"},"a":[]}') ?? null
  assert.equal(
    formatJson(body),
    '{\n  "z": 1,\n  "data": {\n    "big": 18446744073709551615,\n    "text": "\\u009b"\n  },\n  "a": []\n}\n',
  )
})

const FIELDS: readonly { name: string; field: string; terminal?: boolean; format?: 'json'; printed: string }[] = [
  { name: 'a text is raw and has no line break', field: 'text', printed: 'a\u001bb\n' },
  {
    name: 'on a terminal it has one, and nothing that moves the cursor',
    field: 'text',
    terminal: true,
    printed: 'a\\u001bb\n\n',
  },
  { name: 'a number', field: 'count', printed: '3' },
  { name: 'an object is JSON in one line', field: 'keys', printed: '{"1":5}' },
  { name: 'a member of an object, as the table names it', field: 'keys.1', printed: '5' },
  { name: 'as JSON', field: 'text', format: 'json', printed: '"a\\u001bb\\n"\n' },
  { name: 'a part of the token block', field: 'token', printed: 'hvs.new' },
]

for (const { name, field, terminal = false, format = 'table', printed } of FIELDS) {
  test(`output: field: ${name}`, async () => {
    const [stdout, stderr] = [collector(), collector()]
    const streams = { stdout: Object.assign(stdout.stream, { isTTY: terminal }), stderr: stderr.stream }
    const io = {
      ...streams,
      stdin: process.stdin,
      env: {},
      version: '1',
      sleep: async () => {},
      inspectSnapshot: async () => null,
      diagnose: async () => ({ subject: '', checks: [] }),
      verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
    }
    const data = { text: 'a\u001bb\n', count: 3, keys: { '1': 5 } }
    const body = answer({ data, auth: { client_token: 'hvs.new' }, warnings: ['mind'] })
    await printAnswer(io, { format, field }, body)
    assert.equal(stdout.bytes().toString(), printed)
    assert.equal(stderr.bytes().toString(), 'The server warns:\n\n* mind\n\n')
  })
}
