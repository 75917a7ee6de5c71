// What is true of one key type stands in its file: nothing else of the program names it, to compare with or as the row
// of a table. A name here would be a place that a new type can be forgotten at.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { MANAGED_KEY } from '../../src/engines/transit/ring/managed-type.ts'
import { readTree } from '../../tools/tree.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const TYPES = 'src/crypto/key-types/'
/** It is the word for MACs of all keys as well. */
const OTHER_WORDS = ['hmac']
const NAMES = [...KEY_TYPES.keys(), MANAGED_KEY].filter((name) => !OTHER_WORDS.includes(name))

/** What is named elsewhere and is no case of one type, by file. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  // Default of a field.
  'src/engines/transit/endpoints/derive-key-endpoint.ts': ['aes256-gcm96'],
  'src/engines/transit/endpoints/encrypt-endpoint.ts': ['aes256-gcm96'],
  'src/engines/transit/endpoints/import-endpoints.ts': ['aes256-gcm96'],
  'src/engines/transit/endpoints/keys-endpoints.ts': ['aes256-gcm96'],
  // The file of the type itself.
  'src/engines/transit/ring/managed-type.ts': ['managed_key'],
  // The wrapping key of every mount, which is no key of a caller.
  'src/cli/commands/transit-import.ts': ['rsa-4096'],
  // How the runtime calls an algorithm.
  'src/crypto/primitives/aead.ts': ['chacha20-poly1305'],
  'src/crypto/forms/ed25519-parts.ts': ['ed25519'],
  'src/crypto/forms/ml-dsa-form.ts': ['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'],
  // What is inside PKCS #8.
  'src/crypto/forms/ed25519-form.ts': ['ed25519'],
  'src/crypto/forms/private-key-info.ts': ['ed25519'],
}

/** Names of types, and beginnings of names, as strings and as members. */
function namedIn(source: string): string[] {
  const words = [...source.matchAll(/'([a-z][\w-]+)'|(?<=[{,\s])([a-z]\w+): /g)].map(
    ([, text, member]) => text ?? member,
  )
  const isName = (text = '') =>
    NAMES.includes(text) || (text.endsWith('-') && NAMES.some((name) => name.startsWith(text)))
  return [...new Set(words.filter(isName))].map(String).sort()
}

test('no file but its own names a key type', () => {
  const found: Record<string, readonly string[]> = {}
  for (const path of readTree(PROJECT).keys()) {
    if (!path.startsWith('src/') || path.includes('.test.') || path.startsWith(TYPES)) continue
    if (path === 'src/client/endpoints.ts') continue
    const named = namedIn(readFileSync(join(PROJECT, path), 'utf8'))
    if (named.length > 0) found[path] = named
  }
  assert.deepEqual(found, KNOWN)
})

test('a name is found in a comparison, in a table, and as the beginning of several', () => {
  assert.deepEqual(namedIn("if (type.name === 'ed25519') return"), ['ed25519'])
  assert.deepEqual(namedIn("new Map([['rsa-2048', 1]])"), ['rsa-2048'])
  assert.deepEqual(namedIn('const IDS = { ed25519: 2, hmac: 10 }'), ['ed25519'])
  assert.deepEqual(namedIn("name.startsWith('ecdsa-')"), ['ecdsa-'])
  assert.deepEqual(namedIn("proof === 'hmac' || name === 'unheard-of'"), [])
})
