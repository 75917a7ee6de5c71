// What a cluster keeps for itself under its own keyring, when the keyring of another cluster takes its place. Entries
// of class ignored come from nowhere else, so they are sealed anew in the step that replaces the keyring. The path and
// even the number of the term may stay the same, while the key does not: without this they would read as damaged.
import type { Random } from '../../lib/world.ts'
import { Barrier } from '../../storage/barrier.ts'
import { FOLDERS_OF_MOUNTS, IGNORED_BEHIND_BARRIER, IGNORED_IN_MOUNTS } from '../../storage/classes.ts'
import {
  type Entry,
  type Reader,
  ROOT_NAMESPACE,
  type Scope,
  systemScope,
  type Transaction,
} from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { ignoredBelow } from '../../storage/ignored-entries.ts'
import type { Keyring } from '../../storage/keyring.ts'

/**
 * Seals every entry of class ignored behind the barrier anew: opened with `present`, sealed under the active term of
 * `next`. One that does not open stays as it is. Returns how many were sealed, for the count of the new term.
 */
export async function sealAnew(tx: Transaction, random: Random, present: Keyring, next: Keyring): Promise<number> {
  const [from, to] = [new Barrier(random, present), new Barrier(random, next)]
  for await (const { scope, key, value } of ignoredEntries(tx)) {
    const plaintext = openedBy(from, key, value)
    if (plaintext === undefined) continue
    tx.put(scope, key, to.seal(key, plaintext))
    plaintext.fill(0)
  }
  return to.encryptions
}

/** Undefined for a damaged entry: it is as unreadable afterwards, and must not keep a cluster from its primary. */
function openedBy(barrier: Barrier, key: string, record: Buffer): Buffer | undefined {
  try {
    return barrier.open(key, record)
  } catch (cause) {
    if (cause instanceof StorageCorrupt) return undefined
    throw cause
  }
}

type IgnoredEntry = Entry & { readonly scope: Scope }

async function* ignoredEntries(tx: Reader): AsyncGenerator<IgnoredEntry> {
  for (const path of IGNORED_BEHIND_BARRIER) yield* inScope(systemScope, ignoredBelow(tx, `${ROOT_NAMESPACE}/${path}`))
  for (const folder of FOLDERS_OF_MOUNTS) {
    for (const name of await tx.list(`${ROOT_NAMESPACE}/${folder}`)) {
      const mount = name.slice(0, -1)
      const local = (await tx.get(`${ROOT_NAMESPACE}/core/local-mounts/${mount}`)) !== undefined
      const scope = { namespace: ROOT_NAMESPACE, mount, local }
      for (const own of IGNORED_IN_MOUNTS)
        yield* inScope(scope, ignoredBelow(tx, `${ROOT_NAMESPACE}/${folder}${name}${own}`))
    }
  }
}

async function* inScope(scope: Scope, entries: AsyncIterable<Entry>): AsyncGenerator<IgnoredEntry> {
  for await (const entry of entries) yield { ...entry, scope }
}
