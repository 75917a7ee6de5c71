// encrypt/:name (Interface 4.3): one message or a batch, with a key that exists or with one that the request makes.
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, batch, bool, type Item, string } from '../../../api/fields.ts'
import { type Answer, DecisionOutdated, type RequestInfo } from '../../../api/request.ts'
import { SEAL_MANY } from '../../../crypto/batch-cipher.ts'
import { whenDone } from '../../../lib/when-done.ts'
import type { ViewTransaction } from '../../../storage/sealed-storage.ts'
import { type BatchRun, batchAnswer, runSlowBatch } from '../batch.ts'
import { type CountedKeys, counted, requireBudget } from '../budget/counted-work.ts'
import type { MessageCountStore } from '../budget/message-count-store.ts'
import type { MessageCounter } from '../budget/message-counter.ts'
import { asEncrypted, decodeField, type Encrypted, type EncryptOptions, prepareEncryption } from '../crypt.ts'
import {
  cryptOptionFields,
  cryptWarnings,
  ENCRYPTED_OR_BATCH,
  isGiven,
  keyNameField,
  keyNotFound,
  optionItems,
  paddingField,
  partialFailureField,
  versionField,
  withWarnings,
} from '../crypt-fields.ts'
import { requireKeyType, UPSERTED } from '../key-type-field.ts'
import { encryptWithRing, type Sealer } from '../managed/managed-crypt.ts'
import { wipeRing } from '../ring/key-ring.ts'
import type { WithKeys } from '../ring/keys.ts'
import { isCounted, LoadedRing } from '../ring/loaded-ring.ts'
import { isManaged } from '../ring/managed-type.ts'
import { type CountingMaker, type NewKey, newRing } from '../ring/new-key.ts'
import { runLargeBatch } from '../split-batch.ts'
import { upsertDisabled } from '../upsert-setting.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find' | 'addForUse'> &
  CountedKeys &
  Sealer &
  CountingMaker & {
    readonly budgets: Pick<MessageCounter, 'begin'>
    readonly messageCounts: Pick<MessageCountStore, 'putSealed'>
  }

const NOTHING = Buffer.alloc(0)

const fields = {
  ...keyNameField,
  plaintext: string('Data to encrypt, base64; may be empty', { secret: true }),
  ...cryptOptionFields,
  ...paddingField,
  ...versionField,
  batch_input: batch(
    'Items to encrypt in place of plaintext, each with its own options',
    {
      fields: { plaintext: 'string', ...optionItems, padding_scheme: 'string', key_version: 'int' },
      required: 'plaintext',
    },
    { secret: true },
  ),
  ...partialFailureField,
  type: string('Type of the key if the request creates it: a symmetric AEAD type', {
    default: 'aes256-gcm96',
  }),
  convergent_encryption: bool('Whether the key is convergent, if the request creates it', { default: false }),
}
type EncryptArgs = Args<typeof fields>
type EncryptInput = EncryptOptions & { readonly plaintext?: string | undefined }
type EncryptResult = Partial<Encrypted> & { readonly reference: string; readonly error?: string }

/** The policy is asked for `create` if the key does not exist, else for `update` (Interface 5). */
export const encryptEndpoint = endpoint({
  id: 'transit-encrypt',
  operation: 'update',
  path: 'encrypt/:name',
  capability: 'create-or-update',
  runsOn: 'any-node',
  writes: 'mount',
  summary: 'Encrypts data with a named key',
  describe:
    'A missing key is created first, if the policy of the token allows create and config/keys does not forbid it. ' +
    'The new key is derived if, and only if, a context is given.',
  fields,
  response: ENCRYPTED_OR_BATCH,
  exists: (transit: Parts, { name = '' }) => {
    const ring = transit.keys.find(name)
    return ring instanceof LoadedRing ? true : ring.then((found) => found !== undefined)
  },
  handler: (transit: Parts, args, request) =>
    counted(transit, args.batch_input?.length ?? 1, () => {
      const ring = transit.keys.find(args.name)
      // Not awaited if the ring is cached: a turn of the event loop costs as much as the cipher.
      if (ring instanceof LoadedRing) return encryptWith(transit, requireUpdatePermission(ring, request), args)
      return ring.then((found) =>
        found
          ? encryptWith(transit, requireUpdatePermission(found, request), args)
          : makeKeyAndEncrypt(transit, args, request),
      )
    }),
})

/** Has the request judged again if its key appeared after the policy was asked for `create`: it now needs `update`. */
function requireUpdatePermission(ring: LoadedRing, request: RequestInfo): LoadedRing {
  if (request.operation === 'create') throw new DecisionOutdated('the key is there meanwhile')
  return ring
}

function encryptWith(transit: Parts, ring: LoadedRing, args: EncryptArgs): Answer | Promise<Answer> {
  if (args.batch_input === undefined) return encryptSingle(transit, ring, args)
  return whenDone(encryptBatch(transit, ring, args.batch_input), (run) =>
    batchAnswer(withWarnings(ring, run, true), args.partial_failure_response_code),
  )
}

function encryptSingle(transit: Parts, ring: LoadedRing, args: EncryptArgs): Answer | Promise<Answer> {
  if (args.plaintext === undefined) throw fail('field_missing', ['plaintext', 'missing plaintext to encrypt'])
  return whenDone(encryptItem(transit, ring, args), (data) => ({
    data,
    warnings: cryptWarnings(ring, isGiven(args.nonce), data.key_version),
  }))
}

type Run = BatchRun<EncryptResult>

function encryptBatch(transit: Parts, ring: LoadedRing, items: readonly Item[]): Run | Promise<Run> {
  requireBudget(ring, items)
  const failed = (error: string, reference: string): EncryptResult => ({ error, reference })
  if (isManaged(ring)) {
    const work = async (item: Item, reference: string) => ({
      ...(await encryptItem(transit, ring, item as EncryptInput)),
      reference,
    })
    return runSlowBatch<EncryptResult>(items, work, failed)
  }
  return runLargeBatch<EncryptResult>(transit, ring, items, {
    whole: (item, reference) => ({ ...(encryptItem(transit, ring, item as EncryptInput) as Encrypted), reference }),
    prepare: (item) => prepareEncryption(ring, decodePlaintext(item as EncryptInput), item as EncryptInput),
    elsewhere: (input, moved) => transit.slow.run(SEAL_MANY, input, moved),
    finish: ({ version }, sealed, reference) => {
      if (sealed === undefined) throw new Error('A message was not sealed')
      return { ...asEncrypted(version, sealed), reference }
    },
    failed,
  })
}

function encryptItem(transit: Parts, ring: LoadedRing, input: EncryptInput): Encrypted | Promise<Encrypted> {
  return encryptWithRing(transit, ring, decodePlaintext(input), input)
}

function decodePlaintext({ plaintext }: EncryptInput): Buffer {
  return decodeField('plaintext', plaintext) ?? NOTHING
}

/**
 * Encrypts with a new key, which is stored afterwards: a request that fails leaves no key behind. If another request
 * stored the key first, this one is judged again.
 * @throws Refusal, DecisionOutdated
 */
async function makeKeyAndEncrypt(transit: Parts, args: EncryptArgs, request: RequestInfo): Promise<Answer> {
  if (request.operation !== 'create') throw keyNotFound(args.name)
  const wanted = wantedKey(args)
  // Interface 7.2. It runs in the transaction that stores the key, so that a change of config/keys is seen.
  const requireAllowed = async (tx: ViewTransaction): Promise<void> => {
    if (await upsertDisabled(tx)) throw keyNotFound(args.name)
  }
  const made = await newRing(wanted, transit)
  try {
    const ring = new LoadedRing(made)
    const run = args.batch_input && (await encryptBatch(transit, ring, args.batch_input))
    const answer = run
      ? batchAnswer(withWarnings(ring, run, true), args.partial_failure_response_code)
      : await encryptSingle(transit, ring, args)
    // Nothing was encrypted, so no key is needed.
    if (run?.succeeded === 0) return answer
    // Messages are counted before the caller has them: stored with the key, or taken from what this thread may seal
    // without asking.
    const sealed = run?.succeeded ?? 1
    if (isCounted(wanted.type)) await transit.budgets.begin()
    let isStored = false
    const taken = await transit.keys.addForUse(args.name, made, async (tx) => {
      await requireAllowed(tx)
      if (!isCounted(wanted.type)) return
      for (const secrets of made.secrets) isStored = await transit.messageCounts.putSealed(tx, secrets, sealed)
    })
    if (taken !== undefined) throw new DecisionOutdated('another request made the key')
    if (!isStored) (await transit.keys.find(args.name))?.version(1).budget?.spend(sealed)
    return answer
  } finally {
    wipeRing(made)
  }
}

/** Interface 4.3: derivation is on exactly when a context is given. */
function wantedKey(args: EncryptArgs): NewKey {
  const derived = isGiven(args.batch_input === undefined ? args.context : args.batch_input[0]?.context)
  return {
    type: requireKeyType(args.type, { derived, convergent: args.convergent_encryption }, UPSERTED),
    derived,
    convergent: args.convergent_encryption,
    exportable: false,
    allowPlaintextBackup: false,
    autoRotatePeriodSeconds: 0,
    keySizeBytes: 0,
  }
}
