// P-14: what a record held, and the exported form of a private key, is nowhere in the memory of the process once its
// owner has wiped it: Node frees the memory that it decrypted into as it is, OpenSSL that into which it exported.
import { strict as assert } from 'node:assert'
import { fork } from 'node:child_process'
import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { AEADS, seal } from '../../../src/crypto/primitives/aead.ts'
import { MASK, type SecretWork } from '../../fixtures/opens-records.ts'
import { countInMemory } from '../../fixtures/process-memory.ts'

const skip = process.platform !== 'linux' && 'there is no /proc'
/** A symmetric key, a ring with a key of RSA-2048, one with several versions. */
const SIZES = [100, 1_900, 5_000]
const PART_BYTES = 32

test('P-14: nothing is left where records were decrypted, and keys exported', { skip }, async (context) => {
  const needles = new Map<string, Buffer>()
  const records = SIZES.map((bytes) => {
    const [key, nonce, plaintext] = [randomBytes(32), randomBytes(12), randomBytes(bytes)]
    for (let at = 0; at + PART_BYTES <= bytes; at += bytes >> 3)
      needles.set(`${bytes} bytes, at ${at}`, plaintext.subarray(at, at + PART_BYTES))
    const sealed = seal(AEADS.aes256Gcm, createSecretKey(key), nonce, plaintext)
    return { key: key.toString('hex'), nonce: nonce.toString('hex'), sealed: sealed.toString('hex') }
  })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const numbers = privateKey.export({ format: 'jwk' })
  for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const)
    for (const at of [32, 80])
      needles.set(
        `${name} of a key read and written, at ${at}`,
        Buffer.from(numbers[name] ?? '', 'base64url').subarray(at, at + PART_BYTES),
      )
  const masked = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'der' }).map((byte) => byte ^ MASK))
  const program = fileURLToPath(new URL('../../fixtures/opens-records.ts', import.meta.url))
  const child = fork(program, { execArgv: ['--expose-gc'] })
  context.after(() => child.kill())
  child.send({ records, maskedPkcs8: masked.toString('hex') } satisfies SecretWork)
  await once(child, 'message')
  const found = [...countInMemory(child.pid as number, needles)].filter(([, count]) => count > 0)
  assert.deepEqual(found, [])
})
