// What a verification needs to look behind the seal.
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { Barrier } from './barrier.ts'
import { bucketKeyOf } from './log/tree.ts'

export type VerifyKeys = { readonly barrier: Barrier; readonly leafKey: KeyObject; readonly bucketKey: KeyObject }

/** From the keys that unsealing yields. The caller wipes `leafKey`. */
export function verifyKeysOf(barrier: Barrier, leafKey: Buffer): VerifyKeys {
  const key = importSecret(leafKey)
  return { barrier, leafKey: key, bucketKey: bucketKeyOf(key) }
}

export type Found = (sentence: string) => void
