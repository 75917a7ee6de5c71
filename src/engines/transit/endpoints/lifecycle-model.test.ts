// The rules of key versions (Interface 3.4) compared with a model, in any order of rotate, config, trim, soft delete,
// encrypt, decrypt and rewrap: which versions encrypt, decrypt or are gone, and which settings cannot be taken back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import type { JsonObject } from '../../../lib/json.ts'

type Model = {
  latest: number
  minDecryption: number
  minEncryption: number
  minAvailable: number
  exportable: boolean
  backup: boolean
  softDeleted: boolean
  /** Ciphertexts by the version that made them. */
  readonly sealed: { readonly version: number; readonly ciphertext: string; readonly plaintext: string }[]
}

type Step =
  | { readonly kind: 'rotate' | 'restore' | 'softDelete' }
  | { readonly kind: 'config'; readonly decryption: number | undefined; readonly encryption: number | undefined }
  | { readonly kind: 'flags'; readonly exportable: boolean; readonly backup: boolean }
  | { readonly kind: 'trim'; readonly lowest: number }
  | { readonly kind: 'encrypt'; readonly version: number; readonly text: string }
  | { readonly kind: 'open' | 'rewrap'; readonly which: number; readonly version: number }

const version = fc.integer({ min: -1, max: 7 })
const maybe = fc.option(version, { nil: undefined })
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('rotate' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('softDelete' as const, 'restore' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('config' as const), decryption: maybe, encryption: maybe }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('flags' as const), exportable: fc.boolean(), backup: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('trim' as const), lowest: version }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('encrypt' as const), version, text: fc.string() }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('open' as const, 'rewrap' as const), which: fc.nat(30), version }),
  },
)

const mayEncrypt = (model: Model, asked: number): boolean =>
  !model.softDeleted &&
  (asked === 0 || (asked >= Math.max(1, model.minEncryption, model.minDecryption) && asked <= model.latest))
const mayDecrypt = (model: Model, made: number): boolean => !model.softDeleted && made >= model.minDecryption

function mayConfigure(model: Model, decryption: number, encryption: number): boolean {
  if (decryption < 1 || decryption > model.latest || encryption < 0 || encryption > model.latest) return false
  if (encryption !== 0 && encryption < decryption) return false
  const isChanged = decryption !== model.minDecryption || encryption !== model.minEncryption
  return !isChanged || (model.minAvailable <= encryption && model.minAvailable <= decryption)
}

const mayTrim = (model: Model, lowest: number): boolean =>
  lowest >= 1 &&
  lowest >= model.minAvailable &&
  model.minEncryption !== 0 &&
  lowest <= Math.min(model.minEncryption, model.minDecryption)

const READ: Readonly<Record<string, (model: Model) => unknown>> = {
  latest_version: (model) => model.latest,
  min_decryption_version: (model) => model.minDecryption,
  min_encryption_version: (model) => model.minEncryption,
  min_available_version: (model) => model.minAvailable,
  exportable: (model) => model.exportable,
  allow_plaintext_backup: (model) => model.backup,
  soft_deleted: (model) => model.softDeleted,
}

type Mounted = ReturnType<typeof mountTransit>

/** Does the step, compares its status with the model, and changes the model likewise. */
async function run({ client }: Mounted, model: Model, step: Step): Promise<void> {
  const expect = async (allowed: boolean, path: string, body: JsonObject): Promise<JsonObject | undefined> => {
    const { status, data, errors } = await client.write(path, body)
    assert.equal(status, allowed ? 200 : 400, `${path} ${JSON.stringify(body)} ${errors[0] ?? ''}`)
    return allowed ? data : undefined
  }
  switch (step.kind) {
    case 'rotate':
      if ((await expect(!model.softDeleted, 'keys/k/rotate', {})) !== undefined) model.latest += 1
      return
    case 'softDelete':
      await client.delete('keys/k/soft-delete')
      model.softDeleted = true
      return
    case 'restore':
      await expect(true, 'keys/k/soft-delete-restore', {})
      model.softDeleted = false
      return
    case 'config': {
      const decryption = step.decryption === 0 ? 1 : (step.decryption ?? model.minDecryption)
      const encryption = step.encryption ?? model.minEncryption
      const body = {
        ...(step.decryption === undefined ? {} : { min_decryption_version: step.decryption }),
        ...(step.encryption === undefined ? {} : { min_encryption_version: step.encryption }),
      }
      if ((await expect(mayConfigure(model, decryption, encryption), 'keys/k/config', body)) !== undefined)
        Object.assign(model, { minDecryption: decryption, minEncryption: encryption })
      return
    }
    case 'flags': {
      const { exportable, backup } = step
      // After a trim with a minimum of 0 nothing at all could be changed, but that cannot be reached.
      await expect(true, 'keys/k/config', { exportable, allow_plaintext_backup: backup })
      Object.assign(model, { exportable: model.exportable || exportable, backup: model.backup || backup })
      return
    }
    case 'trim':
      if (
        (await expect(mayTrim(model, step.lowest), 'keys/k/trim', { min_available_version: step.lowest })) !== undefined
      )
        model.minAvailable = step.lowest
      return
    case 'encrypt': {
      const plaintext = base64(step.text)
      const body = { plaintext, key_version: step.version }
      const data = await expect(mayEncrypt(model, step.version), 'encrypt/k', body)
      if (data === undefined) return
      assert.equal(data.key_version, step.version || model.latest)
      model.sealed.push({ version: Number(data.key_version), ciphertext: String(data.ciphertext), plaintext })
      return
    }
    case 'open': {
      const one = model.sealed[step.which % Math.max(1, model.sealed.length)]
      if (one === undefined) return
      const data = await expect(mayDecrypt(model, one.version), 'decrypt/k', { ciphertext: one.ciphertext })
      if (data !== undefined) assert.equal(data.plaintext, one.plaintext)
      return
    }
    case 'rewrap': {
      const one = model.sealed[step.which % Math.max(1, model.sealed.length)]
      if (one === undefined) return
      const allowed = mayDecrypt(model, one.version) && mayEncrypt(model, step.version)
      const data = await expect(allowed, 'rewrap/k', { ciphertext: one.ciphertext, key_version: step.version })
      if (data === undefined) return
      const { ciphertext, key_version } = data
      model.sealed.push({ version: Number(key_version), ciphertext: String(ciphertext), plaintext: one.plaintext })
    }
  }
}

test('P-19 any order of changes keeps the rules of versions, and what opens is what was encrypted', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
      const mounted = mountTransit()
      await mounted.client.write('keys/k')
      const model: Model = {
        latest: 1,
        minDecryption: 1,
        minEncryption: 0,
        minAvailable: 0,
        exportable: false,
        backup: false,
        softDeleted: false,
        sealed: [],
      }
      for (const step of steps) {
        await run(mounted, model, step)
        const { data } = await mounted.client.read('keys/k')
        for (const [name, of] of Object.entries(READ)) assert.equal(data[name], of(model), name)
        const versions = Object.keys(data.keys).map(Number)
        const loaded = model.latest - model.minDecryption + 1
        assert.deepEqual(
          versions,
          Array.from({ length: loaded }, (_, index) => model.minDecryption + index),
        )
      }
      // A second thread, which loads the stored ring, agrees.
      const other = mountTransit(mounted.view)
      for (const { version: made, ciphertext, plaintext } of model.sealed) {
        const { status, data } = await other.client.write('decrypt/k', { ciphertext })
        assert.equal(status, mayDecrypt(model, made) ? 200 : 400)
        if (status === 200) assert.equal(data.plaintext, plaintext)
      }
    }),
    { seed: testSeed(t), numRuns: 60 },
  )
})
