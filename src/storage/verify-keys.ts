// The keys with which a check of the store looks behind the seal.
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { Barrier } from './barrier.ts'
import { bucketKeyOf } from './log/tree.ts'

/** Opens values, computes leaves, and finds the bucket of a key. */
export type VerifyKeys = { readonly barrier: Barrier; readonly leafKey: KeyObject; readonly bucketKey: KeyObject }

/** Makes them from an opened barrier and the leaf key, which the caller wipes. */
export function verifyKeysOf(barrier: Barrier, leafKey: Buffer): VerifyKeys {
  const key = importSecret(leafKey)
  return { barrier, leafKey: key, bucketKey: bucketKeyOf(key) }
}

/** Reports one fault of the store, as a sentence that names the entry or the record. It must not throw. */
export type Found = (sentence: string) => void
