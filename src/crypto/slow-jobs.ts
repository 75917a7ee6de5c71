import type { AnyJob } from '../lib/slow-work.ts'
import { OPEN_MANY, SEAL_MANY } from './batch-cipher.ts'
import { POINT_OF } from './forms/ec-private-key.ts'
import { CHECK_PRIMES } from './forms/rsa-parts.ts'
import { UNWRAP_FROM_RSA, WRAP_FOR_RSA } from './forms/wrapped-key.ts'
import { CHECK_ES512, SIGN_ES512 } from './jwt/es512.ts'
import { GENERATE_RSA } from './key-types/rsa-key-types.ts'
import { DERIVE_PASSWORD } from './password.ts'
import { ENCRYPT_TO_PGP, READ_PGP_KEY } from './pgp.ts'
import { OPEN_OAEP } from './primitives/rsa-oaep.ts'
import { OPEN_PKCS1 } from './primitives/rsa-pkcs1.ts'
import { SIGN, VERIFY } from './signing-jobs.ts'

/** Every job that the pool does, by its name. A new one is a `Job` beside its subject, and a line here. */
export const SLOW_JOBS: ReadonlyMap<string, AnyJob> = jobTable([
  GENERATE_RSA,
  POINT_OF,
  OPEN_OAEP,
  OPEN_PKCS1,
  SEAL_MANY,
  OPEN_MANY,
  READ_PGP_KEY,
  ENCRYPT_TO_PGP,
  DERIVE_PASSWORD,
  SIGN_ES512,
  CHECK_ES512,
  UNWRAP_FROM_RSA,
  WRAP_FOR_RSA,
  CHECK_PRIMES,
  SIGN,
  VERIFY,
])

/** Jobs by their names. Throws at start if two have the same one. */
export function jobTable(jobs: readonly AnyJob[]): ReadonlyMap<string, AnyJob> {
  const table = new Map<string, AnyJob>()
  for (const job of jobs) {
    if (table.has(job.name)) throw new Error(`Two slow jobs are named "${job.name}"`)
    table.set(job.name, job)
  }
  return table
}
