// Signatures, HMACs and CMACs made by chance from good ones, through verify, with keys of every type that signs.
// Whatever comes is refused in order, or not valid, or one that the key made. `npm run torture:fuzz` runs the long
// form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { HMAC_HASH_NAMES } from '../../src/crypto/primitives/named-hmac.ts'
import { SIGNATURE_HASHES } from '../../src/crypto/signatures/signature-hashes.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { type Alphabet, bytesIn, changedText, meaning, meaningOf, prefixOf } from '../fixtures/changed-texts.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { base64, type MountedTransit, mountTransit } from '../fixtures/mounted-transit.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { type Twins, twinsOf } from '../fixtures/signature-twins.ts'
import { plantEd25519, signers } from '../fixtures/transit-signers.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 100)

type Proof = 'signature' | 'hmac' | 'cmac'

/** One message and how it is signed: no signature for one case is one for another, since all have other messages. */
type Case = {
  readonly proof: Proof
  /** Sent with the proof. */
  readonly body: JsonObject
  readonly alphabet: Alphabet
  readonly good: string[]
  /** By version and bytes. */
  readonly valid: Set<string>
}
type Input = { readonly at: number; readonly text: string; readonly asItem: boolean }

const MARSHALINGS = ['asn1', 'jws'] as const
/** ECDSA over a digest takes milliseconds: it is tried with few hashes. */
const FEW_HASHES: readonly string[] = ['sha2-256', 'sha2-512']

function signatureCases(type: string): Case[] {
  const isRsa = type.startsWith('rsa-')
  const isHashed = isRsa || type.startsWith('ecdsa-')
  const overDigests = type.startsWith('ml-dsa-') ? [] : FEW_HASHES
  const cases: Case[] = []
  for (const marshaling_algorithm of MARSHALINGS) {
    for (const signature_algorithm of isRsa ? ['pss', 'pkcs1v15'] : ['']) {
      for (const hash_algorithm of isHashed ? SIGNATURE_HASHES : FEW_HASHES) {
        for (const prehashed of isRsa || overDigests.includes(hash_algorithm) ? [false, true] : [false]) {
          const message = `message ${cases.length}`
          const input = prehashed && isHashed ? digest(hash_algorithm, message) : base64(message)
          const body = { input, hash_algorithm, prehashed, marshaling_algorithm, signature_algorithm }
          cases.push(newCase('signature', body, marshaling_algorithm === 'jws' ? 'base64url' : 'base64'))
        }
      }
    }
  }
  if (isRsa) {
    const how = { hash_algorithm: 'none', prehashed: true, signature_algorithm: 'pkcs1v15' }
    cases.push(newCase('signature', { input: base64('as it is'), ...how }))
  }
  return cases
}

function newCase(proof: Proof, body: JsonObject, alphabet: Alphabet = 'base64'): Case {
  return { proof, body, alphabet, good: [], valid: new Set() }
}

const digest = (hash: string, message: string): string =>
  createHash(hash.replace('sha2-', 'sha')).update(message).digest('base64')

/** Has the latest version of the key make one proof for each case. */
async function make({ client }: MountedTransit, cases: readonly Case[], version: number): Promise<void> {
  for (const { proof, body, good, valid } of cases) {
    const path = proof === 'signature' ? 'sign/k' : `${proof}/k`
    const { hash_algorithm: algorithm } = body
    const { data, errors } = await client.write(path, proof === 'hmac' ? { ...body, algorithm: algorithm ?? '' } : body)
    assert.deepEqual(errors, [])
    good.push(data[proof])
    valid.add(meaning(version, bytesIn(data[proof])))
  }
}

/** Whether it is valid; false also for 400. Single, or as an item between others. */
async function verify({ client }: MountedTransit, { proof, body, good }: Case, text: string, asItem: boolean) {
  const single = { ...body, [proof]: text }
  if (!asItem) {
    const { status, data } = await client.write('verify/k', single)
    assert.ok(status === 400 || (status === 200 && typeof data.valid === 'boolean'), `${status}`)
    return status === 200 && data.valid
  }
  const { input = '', context, ...how } = body
  const item = { input, ...(context !== undefined && { context }) }
  const items = [text, good[0] ?? ''].map((proved) => ({ ...item, [proof]: proved }))
  const { status, data } = await client.write('verify/k', { ...how, batch_input: items })
  assert.equal(status, 200)
  assert.equal(data.batch_results[1].valid, true, 'an item fails alone')
  return data.batch_results[0].valid
}

async function run(t: TestContext, mounted: MountedTransit, cases: readonly Case[]): Promise<void> {
  const ask = async ({ at, text, asItem }: Input): Promise<boolean> => {
    const one = cases[at] ?? assert.fail()
    const valid = await verify(mounted, one, text, asItem)
    const said = meaningOf(text, one.alphabet)
    if (valid) assert.ok(said !== undefined && one.valid.has(said), 'what the key did not make is not valid')
    return valid
  }
  for (const [at, { good }] of cases.entries()) {
    for (const text of good) assert.ok(await ask({ at, text, asItem: false }), 'what the inputs are made from is good')
  }
  const all = cases.map(({ good }) => good)
  const next = (random: PseudoRandom): Input => {
    const at = random.int(cases.length)
    const { good, alphabet } = cases[at] ?? assert.fail()
    const others = random.chance(0.5) ? good : random.pick(all)
    return { at, text: changedText(random, random.pick(good), others, alphabet), asItem: random.chance(0.2) }
  }
  await fuzzed(t, INPUTS, next, ask)
}

/** What is known to pass by arithmetic becomes valid, and what must not is tried. */
async function tryTwins(mounted: MountedTransit, one: Case, twins: Twins, text: string): Promise<void> {
  const spelled = (bytes: Buffer) => prefixOf(text) + bytes.toString(one.alphabet)
  const version = Number(prefixOf(text).slice('vault:v'.length, -1))
  for (const bytes of twins.same) {
    assert.equal(await verify(mounted, one, spelled(bytes), false), true)
    one.valid.add(meaning(version, bytes))
    one.good.push(spelled(bytes))
  }
  for (const bytes of twins.wrong) {
    assert.equal(await verify(mounted, one, spelled(bytes), false), false, `${spelled(bytes)} for ${text}`)
  }
}

for (const { type, plant } of signers()) {
  test(`Q-01 ${INPUTS} inputs made from signatures of ${type} are valid, not valid or refused`, async (t) => {
    const mounted = mountTransit()
    await plant(mounted.view, 'k')
    const cases = signatureCases(type)
    await make(mounted, cases, 1)
    const publicKey = (await mounted.client.read('keys/k')).data.keys[1].public_key
    // One for each marshaling, hashed and prehashed.
    const ways = new Map(cases.map((one) => [`${one.alphabet} ${one.body.prehashed}`, one]))
    for (const one of ways.values()) {
      const text = one.good[0] ?? assert.fail()
      await tryTwins(mounted, one, twinsOf(type, bytesIn(text), one.alphabet, publicKey), text)
    }
    if (!type.startsWith('rsa-')) {
      assert.equal((await mounted.client.write('keys/k/rotate')).status, 200)
      await make(mounted, cases, 2)
    }
    await run(t, mounted, cases)
  })
}

test(`Q-01 ${INPUTS} inputs made from signatures of derived ed25519 are valid, not valid or refused`, async (t) => {
  const mounted = mountTransit()
  plantEd25519(mounted.view, 'k', 'derived')
  const cases = MARSHALINGS.flatMap((marshaling_algorithm, at) =>
    ['one', 'two'].map((name) => {
      const body = { input: base64(`message ${at}`), context: base64(name), marshaling_algorithm }
      return newCase('signature', body, at === 0 ? 'base64' : 'base64url')
    }),
  )
  await make(mounted, cases, 1)
  await run(t, mounted, cases)
})

const cmacTypes = [...KEY_TYPES.values()].filter(({ cmac }) => cmac !== undefined)
for (const type of ['aes256-gcm96', 'hmac', ...cmacTypes.map(({ name }) => name)]) {
  test(`Q-01 ${INPUTS} inputs made from MACs of ${type} are valid, not valid or refused`, async (t) => {
    const mounted = mountTransit()
    const made = await mounted.client.write('keys/k', { type, ...(type === 'hmac' && { key_size: 32 }) })
    assert.equal(made.status, 200)
    const cases = HMAC_HASH_NAMES.map((hash_algorithm) =>
      newCase('hmac', { input: base64(hash_algorithm), hash_algorithm }),
    )
    if (KEY_TYPES.get(type)?.cmac !== undefined) {
      for (const mac_length of [0, 8, 15]) cases.push(newCase('cmac', { input: base64(`${mac_length}`), mac_length }))
    }
    await make(mounted, cases, 1)
    assert.equal((await mounted.client.write('keys/k/rotate')).status, 200)
    await make(mounted, cases, 2)
    await run(t, mounted, cases)
  })
}
