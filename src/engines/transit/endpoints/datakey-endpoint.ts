// datakey/:type/:name (Interface 4.3): a random key for the caller's own use, encrypted with a named key; datakeys
// makes many at once. The type is part of the path, so that policies can decide who may see the key in clear.
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, int, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { group, integer, listOf, text } from '../../../api/shape.ts'
import { freshBytes } from '../../../crypto/primitives/random-bytes.ts'
import { encodeBase64 } from '../../../lib/base64.ts'
import { whenDone } from '../../../lib/when-done.ts'
import type { World } from '../../../lib/world.ts'
import { AT_ONCE } from '../batch.ts'
import { type CountedKeys, counted } from '../budget/counted-work.ts'
import type { Encrypted } from '../crypt.ts'
import {
  allOptional,
  cryptOptionFields,
  cryptWarnings,
  DATA_KEY,
  isGiven,
  keyNameField,
  keyNotFound,
  paddingField,
  versionField,
} from '../crypt-fields.ts'
import { encryptWithRing, type Sealer } from '../managed/managed-crypt.ts'
import type { WithKeys } from '../ring/keys.ts'
import { LoadedRing } from '../ring/loaded-ring.ts'
import { isManaged } from '../ring/managed-type.ts'
import { thenWipe } from '../then-wipe.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys<'find'> & CountedKeys & Sealer & { readonly world: World }

const BITS = [128, 256, 512]
/** Data keys of one request at most: milliseconds of work, so the request is not split or paused. */
const MAX_COUNT = 1_000

const fields = {
  type: string('plaintext returns the data key in plaintext and encrypted; wrapped returns it only encrypted', {
    required: true,
  }),
  ...keyNameField,
  bits: int('Length of the data key in bits: 128, 256 or 512', { default: 256 }),
  ...cryptOptionFields,
  ...paddingField,
  ...versionField,
}
type DatakeyArgs = Args<typeof fields>
type Made = Encrypted & { readonly plaintext?: string }
type Versioned = { readonly key_version: number }

const datakey = endpoint({
  id: 'transit-datakey',
  operation: 'update',
  path: 'datakey/:type/:name',
  capability: 'update',
  runsOn: 'any-node',
  writes: 'mount',
  summary: 'Generates a data key and encrypts it with a named key',
  fields,
  response: DATA_KEY,
  handler: (transit: Parts, args) => withKey(transit, args, 1, (ring) => makeOne(transit, ring, args)),
})

const datakeys = endpoint({
  id: 'transit-datakeys',
  operation: 'update',
  path: 'datakeys/:type/:name',
  capability: 'update',
  runsOn: 'any-node',
  writes: 'mount',
  summary: 'Generates several data keys and encrypts each with a named key',
  fields: { ...fields, count: int('Number of data keys, 1 to 1000', { required: true, min: 1, max: MAX_COUNT }) },
  response: {
    key_pairs: listOf(
      group(
        {
          ciphertext: text('Encrypted data key: vault:vN: followed by base64; N is the key version'),
          ...allOptional({ plaintext: text('Data key, base64; only with type plaintext') }),
        },
        'One data key',
      ),
      'Data keys',
    ),
    key_version: integer('Key version that encrypted them'),
  },
  handler: (transit: Parts, args) =>
    withKey(transit, args, args.count, (ring) =>
      whenDone(makeMany(transit, ring, args, args.count), (made) => ({
        key_pairs: made.map(({ ciphertext, plaintext }) =>
          plaintext === undefined ? { ciphertext } : { ciphertext, plaintext },
        ),
        key_version: made[0]?.key_version ?? 0,
      })),
    ),
})

/** Runs `make` with the key, again if its messages ran out, and adds warnings. @throws Refusal */
function withKey(
  transit: Parts,
  args: DatakeyArgs,
  count: number,
  make: (ring: LoadedRing) => Versioned | Promise<Versioned>,
): Answer | Promise<Answer> {
  if (args.type !== 'plaintext' && args.type !== 'wrapped') {
    throw fail('choice_unknown', ["Invalid path, must be 'plaintext' or 'wrapped'"])
  }
  if (!BITS.includes(args.bits)) throw fail('choice_unknown', ['invalid bit length, "bits" must be 128, 256 or 512'])
  const answer = (ring: LoadedRing | undefined): Answer | Promise<Answer> => {
    if (ring === undefined) throw keyNotFound(args.name)
    return whenDone(make(ring), (data) => ({
      data,
      warnings: cryptWarnings(ring, isGiven(args.nonce), data.key_version),
    }))
  }
  return counted(transit, count, () => {
    const ring = transit.keys.find(args.name)
    return ring instanceof LoadedRing ? answer(ring) : ring.then(answer)
  })
}

function makeMany(transit: Parts, ring: LoadedRing, args: DatakeyArgs, count: number): Made[] | Promise<Made[]> {
  if (isManaged(ring)) return makeInDevice(transit, ring, args, count)
  return Array.from({ length: count }, () => makeOne(transit, ring, args) as Made)
}

/** Makes AT_ONCE data keys at a time, so that other requests reach the device in between. */
async function makeInDevice(transit: Parts, ring: LoadedRing, args: DatakeyArgs, count: number): Promise<Made[]> {
  const made: Made[] = []
  while (made.length < count) {
    const length = Math.min(AT_ONCE, count - made.length)
    made.push(...(await Promise.all(Array.from({ length }, () => makeOne(transit, ring, args)))))
  }
  return made
}

/** Makes one data key; its bytes are wiped afterwards, but not the text of an answer that shows it. */
function makeOne(transit: Parts, ring: LoadedRing, args: DatakeyArgs): Made | Promise<Made> {
  const key = freshBytes(transit.world.random.bytes, args.bits / 8)
  const shown = (made: Encrypted): Made =>
    args.type === 'plaintext' ? { ...made, plaintext: encodeBase64(key) } : made
  return thenWipe(key, () => whenDone(encryptWithRing(transit, ring, key, args), shown))
}

/** One data key, and many. */
export const DATAKEY_ENDPOINTS: readonly Endpoint<Parts>[] = [datakey, datakeys]
