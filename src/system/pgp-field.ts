import { fail } from '../api/errors.ts'
import { MAX_ITEM_CHARACTERS, strings } from '../api/fields.ts'
import { PgpKeyError, readPgpKey } from '../crypto/pgp.ts'
import { MAX_SHARES } from '../crypto/primitives/shamir.ts'
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { ReadPgpKey } from './seal/token-attempt.ts'

/** Keys that shares are encrypted to: each may be as long as one can be. */
export const pgpKeys = (description: string) => strings(description, { max: MAX_SHARES * MAX_ITEM_CHARACTERS })

/** Reads the keys that fields of requests hold: binary OpenPGP public keys in base64. */
export function pgpFieldReader(world: World, slow: SlowWork): ReadPgpKey {
  return async (field, given) => {
    try {
      return await readPgpKey(decodeBase64(given), world.clock, slow)
    } catch (cause) {
      if (!(cause instanceof PgpKeyError) && !(cause instanceof Base64Error)) throw cause
      throw fail('pgp_key_invalid', [`error parsing PGP key: ${field}: ${cause.message}`], cause)
    }
  }
}
