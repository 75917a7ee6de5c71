// OpenPGP public keys in requests: what shares and root tokens are encrypted to (docs/decisions/0005-openpgp.md).
import { fail } from '../api/errors.ts'
import { MAX_ITEM_CHARACTERS, strings } from '../api/fields.ts'
import { PgpKeyError, readPgpKey } from '../crypto/pgp.ts'
import { MAX_SHARES } from '../crypto/primitives/shamir.ts'
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { ReadPgpKey } from './seal/token-attempt.ts'

/** A field for one key per share. The limit lets all 255 keys have the longest text that a field may hold. */
export const pgpKeys = (description: string) => strings(description, { max: MAX_SHARES * MAX_ITEM_CHARACTERS })

/**
 * Returns the reader of such fields: binary OpenPGP public keys in base64. Its refusals name the field and say why the
 * key cannot be used. Encrypting to a key is slow work, so it runs on the pool.
 */
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
