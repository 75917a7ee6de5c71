// What the changes of a peer make of our keyring. A peer's keyring that our root key does not open is an answer, not an
// error: nothing that a peer sends may end this node.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import type { ChangeOperation } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { type Keyring, replacedBy } from '../../storage/keyring.ts'
import { FORMER_KEYS, KEYRING, openFormerKeys, openKeyring } from './seal-records.ts'

/** What is read of the changes of a peer. */
export type AdoptedOperations = {
  readonly operations: readonly Pick<ChangeOperation, 'kind' | 'key' | 'value'>[]
}

/** The changes cannot be adopted; `sentence` says why, for the status of this secondary. */
export type KeyringDiverged = { readonly kind: 'diverged'; readonly key: string; readonly sentence: string }

/** What becomes of the keyring. `last` is the last operation that changes it: once it is committed, all of them are. */
export type KeyringAdoption =
  | { readonly kind: 'none' }
  | KeyringDiverged
  | {
      readonly kind: 'keyring'
      readonly keyring: Keyring
      readonly last: { readonly key: string; readonly value: Buffer }
      /** The former keys that are stored go, since the peer has none. What they open may be here still. */
      readonly losesFormer: boolean
    }

/** Reads the keyrings among `changes`, in order. Terms that a later one lacks are kept as former keys, like ours. */
export function keyringAdoption(
  rootKey: KeyObject,
  present: Keyring,
  changes: readonly AdoptedOperations[],
): KeyringAdoption {
  let adoption: KeyringAdoption = { kind: 'none' }
  for (const { kind, key, value } of changes.flatMap(({ operations }) => operations)) {
    if (key !== KEYRING && key !== FORMER_KEYS) continue
    const before: Keyring = adoption.kind === 'keyring' ? adoption.keyring : present
    const losesFormer: boolean = adoption.kind === 'keyring' && adoption.losesFormer
    const last = { key, value }
    if (kind === 'delete' && key === FORMER_KEYS) {
      adoption = { kind: 'keyring', keyring: before, last, losesFormer: true }
      continue
    }
    try {
      if (kind === 'delete') throw new StorageCorrupt(`${key} was deleted`)
      adoption = { kind: 'keyring', keyring: after(before, rootKey, key, value), last, losesFormer }
    } catch (cause) {
      const isWrongKey = cause instanceof AuthenticationFailed
      if (!isWrongKey && !(cause instanceof StorageCorrupt)) throw cause
      const why = isWrongKey ? 'the root key of this cluster does not open them' : cause.message
      return { kind: 'diverged', key, sentence: `The data keys that the primary sent cannot be taken over: ${why}` }
    }
  }
  return adoption
}

function after(before: Keyring, rootKey: KeyObject, key: string, value: Buffer): Keyring {
  if (key === KEYRING) return replacedBy(before, openKeyring(rootKey, value))
  return replacedBy(before, { ...before, former: openFormerKeys(rootKey, value) })
}
