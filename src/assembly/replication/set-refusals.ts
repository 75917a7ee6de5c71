// Turns what the sets, tokens and keys refuse into refusals for the caller. Only here, since rooms do not know each
// other's errors.
import { fail, type Refusal } from '../../api/errors.ts'
import { ActivationRefused } from '../../replication/set/activation-bundle.ts'
import { CertificateRefused } from '../../replication/set/certificates.ts'
import { SetRefused } from '../../replication/set/records.ts'
import { refusalOfSet } from '../../system/replication-refusal.ts'
import { BundleRefused } from '../../system/seal/seal-bundle.ts'

/** Runs an operation. @throws Refusal where it was refused, and what it throws else */
export async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw refusalOfSets(cause) ?? cause
  }
}

function refusalOfSets(cause: unknown): Refusal | undefined {
  if (cause instanceof SetRefused) return refusalOfSet(cause)
  const isOfToken = cause instanceof ActivationRefused || cause instanceof CertificateRefused
  if (isOfToken || cause instanceof BundleRefused) return fail('replication_refused', [cause.message], cause)
  return undefined
}
