import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../test/fixtures/mounted-transit.ts'
import { signers } from '../../../test/fixtures/transit-signers.ts'
import { VERIFY } from '../../crypto/signing-jobs.ts'
import { inlineWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'

const input = base64('the quick brown fox')

async function mounted(type: string, slow = inlineWork(realWorld())) {
  const mount = mountTransit(undefined, undefined, slow)
  await signers()
    .find((one) => one.type === type)
    ?.plant(mount.view, 'k')
  return mount.client
}

for (const [made, asked] of [
  ['pss', 'pkcs1v15'],
  ['pkcs1v15', 'pss'],
] as const) {
  test(`a signature with ${made} that is verified as ${asked} is not valid, and the answer says why`, async () => {
    const client = await mounted('rsa-2048')
    const { signature } = (await client.write('sign/k', { input, signature_algorithm: made })).data
    const hint = `The signature is valid with signature_algorithm "${made}"`
    const verify = (body: object) => client.write('verify/k', { signature_algorithm: asked, ...body })
    const single = await verify({ input, signature })
    assert.deepEqual([single.status, single.data, single.warnings], [200, { valid: false }, [hint]])
    const item = { input, signature }
    const batch = await verify({ batch_input: [item, item, { input: '', signature }] })
    assert.deepEqual(batch.warnings, [hint])
    assert.deepEqual(batch.data.batch_results[0], { valid: false, reference: '' })
    // A signature that no option makes valid gets no hint.
    assert.deepEqual((await verify({ input: '', signature })).warnings, [])
  })
}

test('a signature of one marshaling that is read as the other says so, in the refusal where it is one', async () => {
  for (const type of ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ed25519', 'rsa-2048']) {
    const client = await mounted(type)
    for (const [made, asked] of [
      ['asn1', 'jws'],
      ['jws', 'asn1'],
    ] as const) {
      const { signature } = (await client.write('sign/k', { input, marshaling_algorithm: made })).data
      const { data, errors, warnings } = await client.write('verify/k', {
        input,
        signature,
        marshaling_algorithm: asked,
      })
      const said = data === undefined ? (errors[0] ?? '') : warnings.join()
      assert.ok(data === undefined || data.valid === false)
      assert.ok(said.includes(`The signature is valid with marshaling_algorithm "${made}"`), `${type}: ${said}`)
    }
  }
})

test('what is valid is computed once, and what is not valid at most once more for each option', async () => {
  const inline = inlineWork(realWorld())
  let verified = 0
  const client = await mounted('ecdsa-p521', {
    ...inline,
    run: (job, work) => {
      if (job.name === VERIFY.name) verified += 1
      return inline.run(job, work)
    },
  })
  const { signature } = (await client.write('sign/k', { input })).data
  assert.equal((await client.write('verify/k', { input, signature })).data.valid, true)
  assert.equal(verified, 1)
  verified = 0
  assert.equal((await client.write('verify/k', { input: '', signature })).data.valid, false)
  assert.ok(verified <= 2, String(verified))
})
