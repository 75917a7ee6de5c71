import assert from 'node:assert/strict'
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { materialOf } from '../../../test/fixtures/known-material.ts'
import { inlineWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'
import { KEY_TYPES } from '../key-types/key-types.ts'
import { EXPORT_FORMATS, type ExportFormat } from './material-form.ts'
import { publicHalf, spkiDer } from './public-keys.ts'
import { CHECK_PRIMES } from './rsa-parts.ts'
import { transferBytes } from './wrapped-key.ts'

const slow = inlineWork(realWorld())
const K = Buffer.from(Array.from({ length: 32 }, (_, index) => index))

for (const [name, type] of KEY_TYPES) {
  const { form } = type
  test(`${name}: what goes out comes in again, by import and by backup, whole and as a public half`, async () => {
    const material = await materialOf(type)
    const key = type.load(material)
    assert.deepEqual(form.fromImport(transferBytes(key)), material)
    assert.deepEqual(form.fromBackup(form.toBackup(key)), { material, isPublic: false })
    if (type.publicPart === undefined) return
    const half = type.publicPart.load(spkiDer(key))
    assert.deepEqual(form.fromBackup(form.toBackup(half)), { material: spkiDer(key), isPublic: true })
  })

  test(`${name}: each format of an export holds the key`, async () => {
    const key = type.load(await materialOf(type))
    for (const format of EXPORT_FORMATS) {
      const text = form.secretText(key, format)
      if (text === undefined) continue
      assert.deepEqual(readSecret(key, text, format), transferBytes(key), format)
    }
    assert.ok(form.secretText(key, 'usual'))
    if (form.publicText === undefined) return
    assert.equal(form.publicText(key, 'usual'), form.publicText(publicHalf(key), 'usual'))
    assert.deepEqual(Buffer.from(form.publicText(key, 'der') ?? '', 'base64'), spkiDer(key))
  })
}

/** The transfer bytes of an exported text, as a client that exported it reads them. */
function readSecret(key: KeyObject, text: string, format: ExportFormat): Buffer {
  if (key.type === 'secret') return Buffer.from(text, 'base64')
  if (text.startsWith('-----')) return transferBytes(createPrivateKey(text))
  const bytes = Buffer.from(text, 'base64')
  if (format === 'der') return bytes
  const seed = bytes.subarray(0, 32)
  return transferBytes(createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' }))
}

test('an ed25519 key of a known seed, exported (RFC 8410)', () => {
  const { form } = KEY_TYPES.get('ed25519') ?? assert.fail()
  const key = createPrivateKey({ key: K, format: 'raw-private', asymmetricKeyType: 'ed25519' })
  assert.equal(form.publicText?.(key, 'der'), 'MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=')
  assert.equal(
    form.secretText(key, 'usual'),
    'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==',
  )
})

test('P-15 numbers that are not prime are found out', async () => {
  const primes = [2n ** 127n - 1n, 2n ** 89n - 1n] as const
  assert.equal(await slow.run(CHECK_PRIMES, primes), true)
  assert.equal(await slow.run(CHECK_PRIMES, [primes[0], primes[1] + 2n]), false)
})
