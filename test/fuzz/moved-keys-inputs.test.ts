// What callers bring as keys, made by chance from good ones: import blobs, PKCS #8, PEM, backups. Whatever comes is a
// key or is refused in order. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../src/api/errors.ts'
import { PemError, readPem } from '../../src/crypto/encoding/pem.ts'
import { spkiPem } from '../../src/crypto/forms/public-keys.ts'
import { transferBytes, unwrapFromRsa, wrapForRsa } from '../../src/crypto/forms/wrapped-key.ts'
import { InvalidKeyMaterial } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { readBackup } from '../../src/engines/transit/backup/backup-reading.ts'
import { wipeRing } from '../../src/engines/transit/ring/key-ring.ts'
import { realWorld } from '../../src/lib/world.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { materialOf } from '../fixtures/known-material.ts'
import { mutated } from '../fixtures/mutated.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000)
const world = realWorld()

/** What an input gives: true where it was taken, false where it was refused as it should be; all else is thrown. */
type Target = (input: Buffer) => boolean | Promise<boolean>

type Kinds = readonly (abstract new (...args: never[]) => Error)[]

function refused(work: () => void, ...kinds: Kinds): boolean {
  try {
    work()
    return true
  } catch (cause) {
    return refusedWith(cause, kinds)
  }
}

/** Rethrows what is no refusal. */
function refusedWith(cause: unknown, kinds: Kinds = []): false {
  if (cause instanceof Refusal ? cause.status === 400 : kinds.some((kind) => cause instanceof kind)) return false
  throw cause
}

async function restored(input: Buffer): Promise<boolean> {
  try {
    wipeRing((await readBackup(input.toString('base64'), world)).ring)
    return true
  } catch (cause) {
    return refusedWith(cause)
  }
}

const pairTypes = [...KEY_TYPES.values()].filter(({ publicPart }) => publicPart !== undefined)

const FUZZERS: { readonly name: string; readonly make: () => Promise<{ good: Buffer[]; target: Target }> }[] = [
  {
    name: 'blobs of imports',
    make: async () => {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const keys = [Buffer.alloc(32, 1), Buffer.alloc(1), Buffer.alloc(138, 2)]
      const good = keys.map((key) => wrapForRsa(publicKey, 'SHA256', key, world.random.bytes))
      return { good, target: (input) => unwrapFromRsa(privateKey, 'SHA256', input, world.random.bytes) !== undefined }
    },
  },
  ...pairTypes.map((type) => ({
    name: `PKCS #8 of ${type.name}`,
    make: async () => {
      const form = type.form
      const material = await materialOf(type)
      const target: Target = (input) => refused(() => type.load(form.fromImport(input)), InvalidKeyMaterial)
      return { good: [transferBytes(type.load(material))], target }
    },
  })),
  {
    name: 'public keys in PEM',
    make: async () => {
      const good: Buffer[] = []
      for (const type of pairTypes) good.push(Buffer.from(spkiPem(type.load(await materialOf(type)))))
      const readOne = (input: Buffer) =>
        pairTypes.some((type) =>
          refused(() => type.publicPart?.load(readPem(input.toString('latin1'))), InvalidKeyMaterial, PemError),
        )
      return { good, target: readOne }
    },
  },
  {
    name: 'backups',
    make: async () => {
      const recorded = JSON.parse(readFileSync(join(PROJECT, 'test/wire/interop-subset.json'), 'utf8')) as {
        readonly steps: readonly { readonly req: readonly [string, string, { readonly backup: string }] }[]
      }[]
      const good = recorded.map(({ steps }) => Buffer.from(steps[0]?.req[2].backup ?? '', 'base64'))
      return { good, target: restored }
    },
  },
]

for (const { name, make: prepare } of FUZZERS) {
  test(`Q-01 ${INPUTS} inputs made from ${name} are taken or refused`, async (t) => {
    const { good, target } = await prepare()
    for (const input of good) assert.ok(await target(input), 'what the inputs are made from is good')
    const make = (random: PseudoRandom) => ({ base64: mutated(random, random.pick(good), good).toString('base64') })
    await fuzzed(t, INPUTS, make, async ({ base64 }) => target(Buffer.from(base64, 'base64')))
  })
}
