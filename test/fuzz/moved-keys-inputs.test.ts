// What callers bring as keys, made by chance from good ones: import blobs, PKCS #8, PEM, backups. Whatever comes is a
// key or is refused in order. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../src/api/errors.ts'
import { InvalidKeyMaterial } from '../../src/crypto/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types.ts'
import { MATERIAL_FORMS } from '../../src/crypto/material-forms.ts'
import { PemError, readPem } from '../../src/crypto/pem.ts'
import { spkiPem } from '../../src/crypto/public-keys.ts'
import { transferBytes, unwrapFromRsa, wrapForRsa } from '../../src/crypto/wrapped-key.ts'
import { readBackup } from '../../src/engines/transit/backup-reading.ts'
import { wipeRing } from '../../src/engines/transit/key-ring.ts'
import { realWorld } from '../../src/lib/world.ts'
import { materialOf } from '../fixtures/known-material.ts'
import { mutated } from '../fixtures/mutated.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000)
/** A key of RSA-4096 takes a few. */
const SLOWEST_MS = 50

const world = realWorld()

/** What an input gives: true where it was taken, false where it was refused as it should be; all else is thrown. */
type Target = (input: Buffer) => boolean | Promise<boolean>

async function fuzz(
  random: PseudoRandom,
  good: readonly Buffer[],
  target: Target,
): Promise<{ taken: number; slowestMs: number }> {
  for (const input of good) assert.ok(await target(input), 'what the inputs are made from is good')
  let [taken, slowestMs] = [0, 0]
  for (let count = 0; count < INPUTS; count++) {
    const input = mutated(random, random.pick(good), good)
    try {
      const once = await timed(target, input)
      if (once.isTaken) taken++
      // What others do on this machine is not the input's: it counts as slow where it is so each time.
      const again = once.ms < SLOWEST_MS ? [] : [(await timed(target, input)).ms, (await timed(target, input)).ms]
      slowestMs = Math.max(slowestMs, Math.min(once.ms, ...again))
    } catch (cause) {
      throw new Error(`An input is neither taken nor refused: ${input.toString('base64')}`, { cause })
    }
  }
  return { taken, slowestMs }
}

async function timed(target: Target, input: Buffer): Promise<{ readonly isTaken: boolean; readonly ms: number }> {
  const began = performance.now()
  const isTaken = await target(input)
  return { isTaken, ms: performance.now() - began }
}

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
      const form = MATERIAL_FORMS.get(type.name) ?? assert.fail()
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

for (const { name, make } of FUZZERS) {
  test(`Q-01 ${INPUTS} inputs made from ${name} are taken or refused`, async (t) => {
    const { good, target } = await make()
    const { taken, slowestMs } = await fuzz(pseudoRandom(testSeed(t)), good, target)
    t.diagnostic(`${taken} of ${INPUTS} were taken; the slowest took ${slowestMs.toFixed(1)} ms`)
    assert.ok(taken < INPUTS)
    assert.ok(slowestMs < SLOWEST_MS, `${slowestMs} ms`)
  })
}
