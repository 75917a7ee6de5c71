// what we sign others verify, and the reverse, with random inputs: the `openssl` program (which is not the
// library that the runtime was built with) and WebCrypto, whose way to the library is another one.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type KeyObject, webcrypto } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { spkiDer, spkiPem } from '../../src/crypto/forms/public-keys.ts'
import type { SignatureOptions } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { SIGNATURE_HASHES, signatureHash } from '../../src/crypto/signatures/signature-hashes.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { without } from '../fixtures/debian-packages.ts'
import { testSeed } from '../fixtures/seed.ts'
import { digestOf, OPTIONS, type TypeOfPair } from './signing.ts'

const world = realWorld()
const slow = inlineWork(world)
const folder = mkdtempSync(join(tmpdir(), 'signatures-'))
after(() => rmSync(folder, { recursive: true, force: true }))

type Pair = { readonly type: TypeOfPair; readonly key: KeyObject }

const pairs = new Map<string, Promise<Pair>>()

function pairOf(name: string): Promise<Pair> {
  const known = pairs.get(name) ?? newPair(name)
  pairs.set(name, known)
  return known
}

async function newPair(name: string): Promise<Pair> {
  const type = KEY_TYPES.get(name)
  assert.ok(type?.signing !== undefined && type.publicPart !== undefined)
  const key = type.load(await type.generate(world.random.bytes, slow))
  return { type: { ...type, signing: type.signing, publicPart: type.publicPart }, key }
}

/** Random inputs; printed by their seed. */
function inputs(t: TestContext, count: number): Buffer[] {
  const bytes = fc.oneof(fc.constant(new Uint8Array()), fc.uint8Array({ minLength: 1, maxLength: 4_096, size: 'max' }))
  return fc.sample(bytes, { seed: testSeed(t), numRuns: count }).map((value) => Buffer.from(value))
}

// --- The openssl program.

const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function openssl(args: readonly string[]): { readonly ok: boolean; readonly output: Buffer } {
  const { status, stdout } = spawnSync('openssl', args, { timeout: 120_000 })
  return { ok: status === 0, output: stdout }
}

const WITHOUT_OPENSSL = without('openssl')

/** What `pkeyutl` is told besides keys and files. */
function keyOptions(type: TypeOfPair, { hash, padding, saltLength, prehashed }: SignatureOptions): string[] {
  if (type.name === 'ed25519') return ['-rawin']
  const algorithm = hash === 'none' ? undefined : signatureHash(hash).algorithm
  const rsa = type.name.startsWith('rsa-')
    ? padding === 'pss'
      ? ['rsa_padding_mode:pss', `rsa_pss_saltlen:${saltLength === 'hash' ? 'digest' : 'max'}`]
      : ['rsa_padding_mode:pkcs1']
    : []
  const raw = prehashed || algorithm === undefined ? [] : ['-rawin', '-digest', algorithm]
  const digest = prehashed && algorithm !== undefined ? [`digest:${algorithm}`] : []
  return [...raw, ...[...rsa, ...digest].flatMap((option) => ['-pkeyopt', option])]
}

/** Both ways. */
function assertAgrees({ type, key }: Pair, message: Buffer, options: SignatureOptions): void {
  const label = `${type.name} ${JSON.stringify(options)} ${message.length} bytes`
  const given = options.prehashed && options.hash !== 'none' ? digestOf(type, message, options) : message
  const input = file('input', given)
  const privateKey = file('private', key.export({ format: 'pem', type: 'pkcs8' }))
  const publicKey = file('public', spkiPem(key))
  const common = ['-in', input, ...keyOptions(type, options)]
  const verifyHere = { ...options, saltLength: options.saltLength === 'hash' ? options.saltLength : ('auto' as const) }

  const theirs = openssl(['pkeyutl', '-sign', '-inkey', privateKey, ...common])
  assert.ok(theirs.ok, label)
  assert.equal(type.signing.verify(key, given, theirs.output, verifyHere), true, label)
  const ours = file('signature', type.signing.sign(key, given, options))
  assert.ok(openssl(['pkeyutl', '-verify', '-pubin', '-inkey', publicKey, '-sigfile', ours, ...common]).ok, label)
}

const FIRST: ReadonlySet<string> = new Set(['ecdsa-p256', 'rsa-2048'])

for (const name of ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ecdsa-secp256k1', 'rsa-2048']) {
  test(`Q-04 ${name} and the openssl program agree, over messages and digests`, {
    skip: WITHOUT_OPENSSL,
  }, async (t) => {
    const pair = await pairOf(name)
    const messages = inputs(t, SIGNATURE_HASHES.length)
    for (const [index, hash] of SIGNATURE_HASHES.entries()) {
      // A program is started for each: all hashes with one curve, some with the others.
      if (!FIRST.has(name) && index % 3 !== 0) continue
      const message = messages[index] ?? assert.fail()
      const base = { ...OPTIONS, hash, prehashed: index % 2 === 0 }
      if (name.startsWith('ecdsa-')) assertAgrees(pair, message, base)
      else {
        assertAgrees(pair, message, { ...base, padding: 'pkcs1v15', prehashed: index % 2 === 1 })
        assertAgrees(pair, message, { ...base, saltLength: index % 4 < 2 ? 'hash' : 'auto' })
      }
    }
    if (name === 'rsa-2048') {
      const raw = { ...OPTIONS, padding: 'pkcs1v15', hash: 'none', prehashed: true } as const
      for (const bytes of [1, 20, 64]) assertAgrees(pair, world.random.bytes(bytes), raw)
    }
  })
}

test('Q-04 ed25519 and the openssl program agree', { skip: WITHOUT_OPENSSL }, async (t) => {
  // The program of OpenSSL 3.0 refuses an empty input here.
  const messages = inputs(t, 6).map((message) => Buffer.concat([message, Buffer.of(1)]))
  for (const message of messages) assertAgrees(await pairOf('ed25519'), message, OPTIONS)
})

// --- WebCrypto.

const { subtle } = webcrypto
const WEB_HASHES = { sha1: 'SHA-1', 'sha2-256': 'SHA-256', 'sha2-384': 'SHA-384', 'sha2-512': 'SHA-512' } as const
type WebRow = {
  readonly type: string
  /** How keys are imported, and how the algorithm is called when it works. */
  readonly imported: (hash: string) => webcrypto.AlgorithmIdentifier
  readonly used: (hash: string, saltBytes: number) => webcrypto.AlgorithmIdentifier
  readonly options: Partial<SignatureOptions>
}

const named = (name: string, more: object = {}) => ({ name, ...more }) as webcrypto.AlgorithmIdentifier

const ecdsa = (type: string, namedCurve: string): WebRow => ({
  type,
  imported: () => named('ECDSA', { namedCurve }),
  used: (hash) => named('ECDSA', { hash }),
  options: { marshaling: 'jws' },
})
const pure = (type: string, name: string): WebRow => ({
  type,
  imported: () => named(name),
  used: () => named(name),
  options: {},
})
const rsa = (type: string): WebRow[] => [
  {
    type,
    imported: (hash) => named('RSA-PSS', { hash }),
    used: (_hash, saltLength) => named('RSA-PSS', { saltLength }),
    options: {},
  },
  {
    type,
    imported: (hash) => named('RSASSA-PKCS1-v1_5', { hash }),
    used: () => named('RSASSA-PKCS1-v1_5'),
    options: { padding: 'pkcs1v15' },
  },
]

const WEB_ROWS: readonly WebRow[] = [
  pure('ed25519', 'Ed25519'),
  ecdsa('ecdsa-p256', 'P-256'),
  ecdsa('ecdsa-p384', 'P-384'),
  ecdsa('ecdsa-p521', 'P-521'),
  ...rsa('rsa-2048'),
  ...rsa('rsa-3072'),
  ...rsa('rsa-4096'),
  pure('ml-dsa-44', 'ML-DSA-44'),
  pure('ml-dsa-65', 'ML-DSA-65'),
  pure('ml-dsa-87', 'ML-DSA-87'),
]

for (const { type: name, imported, used, options: chosen } of WEB_ROWS) {
  test(`Q-04 ${name} and WebCrypto agree, over messages and digests, ${JSON.stringify(chosen)}`, async (t) => {
    const { type, key } = await pairOf(name)
    const messages = inputs(t, 8)
    const pkcs8 = new Uint8Array(key.export({ format: 'der', type: 'pkcs8' }))
    let index = 0
    for (const [hash, webHash] of Object.entries(WEB_HASHES)) {
      const theirs = await subtle.importKey('pkcs8', pkcs8, imported(webHash), false, ['sign'])
      const theirHalf = await subtle.importKey('spki', new Uint8Array(spkiDer(key)), imported(webHash), false, [
        'verify',
      ])
      for (const prehashed of [false, true]) {
        const message = messages[index] ?? assert.fail()
        const saltLength = [0, 7, 20, 32, 64][index % 5] ?? 0
        index += 1
        const options = { ...OPTIONS, hash, saltLength, ...chosen, prehashed }
        const given = prehashed ? digestOf(type, message, options) : message
        const algorithm = used(webHash, saltLength)
        const signature = Buffer.from(await subtle.sign(algorithm, theirs, new Uint8Array(message)))
        assert.equal(type.signing.verify(key, given, signature, options), true, `${hash} ${message.length}`)
        const ours = type.signing.sign(key, given, options)
        assert.equal(
          await subtle.verify(algorithm, theirHalf, new Uint8Array(ours), new Uint8Array(message)),
          true,
          `${hash} ${message.length}`,
        )
      }
    }
  })
}
