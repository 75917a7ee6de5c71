import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig, settle } from './config.ts'
import { ConfigError } from './values.ts'

test('audit devices are declared by type and name, in both forms of the file', () => {
  const device = {
    path: 'log/',
    type: 'file',
    description: 'all of it',
    options: { file_path: '/var/log/a.log', prefix: 'kw: ', log_raw: 'true' },
    local: false,
  }
  const texts = [
    `audit "file" "log" {
       description = "all of it"
       options {
         file_path = "/var/log/a.log"
         prefix    = "kw: "
         log_raw   = true
       }
     }`,
    `{"audit": {"file": {"log": {"description": "all of it",
       "options": {"file_path": "/var/log/a.log", "prefix": "kw: ", "log_raw": true}}}}}`,
  ]
  for (const text of texts) assert.deepEqual(settle(parseConfig(text)).audit, { declared: [device], allowsApi: true })
})

test('several devices, and the switch that leaves them to the file', () => {
  const { audit } = settle(
    parseConfig(`
    audit "file" "a" { options { file_path = "stdout" } }
    audit "socket" "b" {
      local = true
      options { address = "127.0.0.1:9090" }
    }
    unsafe_allow_api_audit_creation = false
  `),
  )
  assert.deepEqual(
    audit.declared.map(({ path, type, local }) => [path, type, local]),
    [
      ['a/', 'file', false],
      ['b/', 'socket', true],
    ],
  )
  assert.equal(audit.allowsApi, false)
  assert.deepEqual(parseConfig('unsafe_allow_api_audit_creation = true').audit, { allowsApi: true })
})

const REFUSED = [
  { text: 'audit "nope" "a" {}', why: /line 1: audit "nope" "a": unknown backend type/ },
  { text: 'audit "file" "a" {}', why: /file_path is required/ },
  { text: 'audit "file" "a" { options { file_path = "/a" mode = "0777" } }', why: /mode must be octal|one line/ },
  { text: 'audit "file" "a" {\n file_path = "/a"\n}', why: /line 2: unknown key "file_path" in audit "file" "a"/ },
  { text: 'audit "file" "a b" { options { file_path = "/a" } }', why: /name of an audit device must be/ },
  {
    text: 'audit "file" "a" { options { file_path = "/a" } }\naudit "socket" "a" { options { address = "a:1" } }',
    why: /two audit devices with the name "a"/,
  },
  { text: 'unsafe_allow_api_audit_creation = "perhaps"', why: /must be true or false/ },
]
for (const { text, why } of REFUSED) {
  test(`refused: ${text.split('\n')[0]}`, () => {
    assert.throws(
      () => parseConfig(text),
      (cause) => cause instanceof Error && why.test(cause.message),
    )
  })
}

test('what is wrong with a device is an error of the configuration', () => {
  assert.throws(() => parseConfig('audit "file" "a" {}'), ConfigError)
})
