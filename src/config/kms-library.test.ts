import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig, settle } from './config.ts'
import { ConfigError } from './values.ts'

test('kms_library names the files of devices, several perhaps', () => {
  const text = `kms_library "pkcs11" { name = "a", library = "/lib/a.so" }
    kms_library "pkcs11" {
      name    = "b"
      library = "/lib/b.so"
    }`
  const expected = [
    { name: 'a', library: '/lib/a.so' },
    { name: 'b', library: '/lib/b.so' },
  ]
  assert.deepEqual(settle(parseConfig(text)).kmsLibraries, expected)
  assert.deepEqual(settle(parseConfig('')).kmsLibraries, [])
})

const ROWS: readonly (readonly [string, string, RegExp])[] = [
  ['another kind', 'kms_library "awskms" { name = "a", library = "/a.so" }', /"awskms" is not offered/],
  ['no name', 'kms_library "pkcs11" { library = "/a.so" }', /needs name and library/],
  ['no file', 'kms_library "pkcs11" { name = "a" }', /needs name and library/],
  ['a file that is searched for', 'kms_library "pkcs11" { name = "a", library = "a.so" }', /a path from the root/],
  ['a name with blanks', 'kms_library "pkcs11" { name = "a b", library = "/a.so" }', /name of a kms_library/],
  ['an unknown key', 'kms_library "pkcs11" { name = "a", library = "/a.so", pin = "1" }', /unknown key "pin"/],
  [
    'a name twice',
    'kms_library "pkcs11" { name = "a", library = "/a.so" }\nkms_library "pkcs11" { name = "a", library = "/b.so" }',
    /two kms_library with the name "a"/,
  ],
]
for (const [name, text, message] of ROWS) {
  test(`kms_library with ${name} stops the start`, () => {
    assert.throws(
      () => parseConfig(text),
      (cause) => cause instanceof ConfigError && message.test(cause.message),
    )
  })
}
