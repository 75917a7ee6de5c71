// Ciphertexts made by chance from good ones, through decrypt and rewrap, with keys of each type and kind that encrypts.
// Whatever comes is refused in order, or is one that encrypt gave. `npm run torture:fuzz` runs the long form:
// FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyType, PADDING_SCHEMES } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import type { RingHeader } from '../../src/engines/transit/ring/ring-header.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { bytesIn, changedText, meaning, meaningOf } from '../fixtures/changed-texts.ts'
import type { Reply } from '../fixtures/engine-client.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { materialOf } from '../fixtures/known-material.ts'
import {
  base64,
  KEY_KINDS,
  type KeyKind,
  type MountedTransit,
  mountTransit,
  plantKey,
} from '../fixtures/mounted-transit.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 150)

type Case = {
  readonly name: string
  readonly type: KeyType
  readonly kind: KeyKind
  /** Of restored keys. */
  readonly header?: Partial<RingHeader>
  /** Sent with each ciphertext. */
  readonly options: JsonObject
  /** What the padding of RSA encryption is called by rewrap. */
  readonly rewrapOptions?: JsonObject
  /** Whether what nobody encrypted opens all the same, to bytes by chance: implicit rejection. */
  readonly opensAlways?: true
}

const associated_data = base64('which record')
const context = base64('whose')
const nonce = base64(Buffer.alloc(12, 3))
const convergent = (convergentVersion: number) => ({ versions: [{ createdAtMs: 0, convergentVersion }] })

const CASES: readonly Case[] = [...KEY_TYPES.values()].filter(({ cipher }) => cipher !== undefined).flatMap(casesOf)

function casesOf(type: KeyType): Case[] {
  const { name, derivation, paddings } = type
  if (paddings !== undefined) {
    return PADDING_SCHEMES.map((padding_scheme) => ({
      name: `${name} with ${padding_scheme}`,
      type,
      kind: 'plain',
      options: { padding_scheme },
      rewrapOptions: { decrypt_padding_scheme: padding_scheme, encrypt_padding_scheme: padding_scheme },
      ...(padding_scheme === 'pkcs1v15' && { opensAlways: true as const }),
    }))
  }
  const kinds = KEY_KINDS.filter((kind) =>
    kind === 'plain' ? true : kind === 'derived' ? derivation !== undefined : derivation?.convergent !== undefined,
  )
  const cases: Case[] = kinds.map((kind) => {
    const options = kind === 'plain' ? { associated_data } : { associated_data, context }
    return { name: `${name}, ${kind}`, type, kind, options }
  })
  if (name !== 'aes256-gcm96') return cases
  const options = { associated_data, context }
  const kind = 'convergent'
  return [
    ...cases,
    { name: `${name}, convergent version 1`, type, kind, header: convergent(1), options: { context, nonce } },
    { name: `${name}, convergent version 2`, type, kind, header: convergent(2), options },
    { name: `${name}, derived by counter`, type, kind: 'derived', header: { kdf: 'counter' }, options },
  ]
}

/** Long enough that none of them comes by chance. */
const PLAINTEXTS = [Buffer.alloc(16, 1), Buffer.alloc(40, 2)].map(base64)

for (const { name, type, kind, header, options, rewrapOptions, opensAlways } of CASES) {
  test(`Q-01 ${INPUTS} inputs made from ciphertexts of ${name} are taken or refused`, async (t) => {
    const mounted = mountTransit()
    const { client, view } = mounted
    plantKey(view, 'k', type.name, await materialOf(type), kind, header)
    /** Plaintexts by version and bytes. */
    const known = new Map<string, string>()
    const good: string[] = []
    // What is restored or takes long to make has one version, all others two.
    for (const version of header === undefined && type.generatesSlowly === undefined ? [1, 2] : [1]) {
      if (version > 1) assert.equal((await client.write('keys/k/rotate')).status, 200)
      for (const plaintext of PLAINTEXTS) {
        const { ciphertext } = (await client.write('encrypt/k', { plaintext, ...options })).data
        good.push(ciphertext)
        known.set(meaning(version, bytesIn(ciphertext)), plaintext)
      }
    }
    const decrypt = (ciphertext: string) => client.write('decrypt/k', { ciphertext, ...options })
    const ask = async ({ ciphertext }: { ciphertext: string }): Promise<boolean> => {
      const opened = await decrypt(ciphertext)
      const again = await rewrapItem(mounted, { ciphertext, ...options, ...rewrapOptions })
      assert.ok(opened.status === 200 || opened.status === 400, `${opened.status}`)
      assert.equal(again.status, opened.status, 'decrypt and rewrap take the same')
      if (opened.status === 400) return false
      const { plaintext } = opened.data
      const wanted = knownFor(known, ciphertext)
      if (wanted !== undefined || opensAlways !== true) assert.equal(plaintext, wanted)
      else assert.ok(!PLAINTEXTS.includes(plaintext), 'what nobody encrypted opens to nothing that somebody did')
      assert.equal((await decrypt(again.data.batch_results[0].ciphertext)).data.plaintext, plaintext)
      return wanted !== undefined
    }
    for (const ciphertext of good) assert.ok(await ask({ ciphertext }), 'what the inputs are made from is good')
    const make = (random: Parameters<typeof changedText>[0]) => ({
      ciphertext: changedText(random, random.pick(good), good, 'base64'),
    })
    await fuzzed(t, INPUTS, make, ask)
  })
}

function rewrapItem({ client }: MountedTransit, item: JsonObject): Promise<Reply> {
  return client.write('rewrap/k', { batch_input: [item] })
}

/** Version 0 is how version 1 was written once. */
function knownFor(known: ReadonlyMap<string, string>, ciphertext: string): string | undefined {
  const said = meaningOf(ciphertext, 'base64')
  return said === undefined ? undefined : known.get(said.replace(/^0 /, '1 '))
}
