// Templates of certificate requests made by chance from good ones, through keys/:name/csr. Whatever comes is refused in
// order, naming the field, or the request that is made of it is in order itself and signed by the key. `npm run
// torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  derInPem,
  FULL_REQUEST,
  isSelfSigned,
  PLAIN_REQUEST,
  pemOf,
  takeApart,
} from '../fixtures/certificate-requests.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { mountTransit } from '../fixtures/mounted-transit.ts'
import { mutated } from '../fixtures/mutated.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { plantEd25519 } from '../fixtures/transit-signers.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000)

const GOOD = [FULL_REQUEST, PLAIN_REQUEST].map(derInPem)
/** Pieces of these come into requests too. */
const OTHERS = [...GOOD, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' })]

/** Gives what asks for a request, and whether one was made. */
function asker() {
  const { client, view } = mountTransit()
  plantEd25519(view, 'k', 'plain')
  return async ({ csr }: { readonly csr: string }): Promise<boolean> => {
    const { status, data, errors } = await client.write('keys/k/csr', { csr })
    if (status === 400) {
      assert.match(errors.join(), /"csr"/)
      return false
    }
    assert.equal(status, 200)
    const made = takeApart(data.csr)
    assert.equal(isSelfSigned(made), true)
    if (csr === '') return true
    // A template in its own right: what was made of it says the same.
    const again = takeApart((await client.write('keys/k/csr', { csr: data.csr })).data.csr)
    assert.deepEqual([again.info, again.signature], [made.info, made.signature])
    const [, inside = ''] = /-----BEGIN [^-]*-----([^-]*)-----END/.exec(csr) ?? assert.fail('it has a block')
    assert.ok(Buffer.from(inside, 'base64').includes(made.subject))
    return true
  }
}

test(`Q-01 ${INPUTS} inputs made from the bytes of templates make a request or are refused`, async (t) => {
  const ask = asker()
  for (const der of GOOD) assert.ok(await ask({ csr: pemOf(der) }), 'what the inputs are made from is good')
  await fuzzed(t, INPUTS, (random) => ({ csr: pemOf(mutated(random, random.pick(GOOD), OTHERS)) }), ask)
})

test(`Q-01 ${INPUTS} inputs made from the PEM of templates make a request or are refused`, async (t) => {
  const texts = [FULL_REQUEST, PLAIN_REQUEST].map((text) => Buffer.from(text))
  const next = (random: PseudoRandom) => ({ csr: mutated(random, random.pick(texts), texts).toString('latin1') })
  await fuzzed(t, INPUTS, next, asker())
})

test('every beginning of a template is refused, and every one with another byte is answered', async () => {
  const ask = asker()
  for (const der of GOOD) {
    for (let bytes = 0; bytes < der.length; bytes += 1) {
      assert.equal(await ask({ csr: pemOf(der.subarray(0, bytes)) }), false, `${bytes} bytes`)
      const changed = Buffer.from(der)
      changed.writeUInt8(der.readUInt8(bytes) ^ 0x20, bytes)
      await ask({ csr: pemOf(changed) })
    }
  }
})
