// The store entry by entry, for repairs by an operator who may do everything. Values are in clear, and no room checks
// them: a wrong value may keep a part of the server from working.
import { fail } from '../api/errors.ts'
import { type DataOwner, OWNER_OF_CLASS } from '../api/node-role.ts'
import { classify, isBehindBarrier, mountOfKey } from '../storage/classes.ts'
import { type ListOptions, ROOT_NAMESPACE, type Scope, SYSTEM_SCOPE, systemScope } from '../storage/contract.ts'
import { StorageRefused } from '../storage/errors.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'

const FOLDER = `${ROOT_NAMESPACE}/`

/** What sys/raw reads and writes. Records that open the barrier and those of the audit stay out of reach. */
export class RawStorage {
  readonly #storage: SealedStorage
  readonly #isLocal: (mountUuid: string) => boolean
  readonly #reading: View

  /** `isLocal` tells whether a mount stays out of replication: a write carries that as part of its scope. */
  constructor(storage: SealedStorage, isLocal: (mountUuid: string) => boolean) {
    this.#storage = storage
    this.#isLocal = isLocal
    this.#reading = storage.view(systemScope, FOLDER)
  }

  /** @throws Refusal for a record of the barrier or of the audit, and for a path that no entry can have */
  get(path: string): Promise<Buffer | undefined> {
    requireReadable(path)
    return refusing(() => this.#reading.get(path))
  }

  /** Lists the children of a folder. `path` may lack its last '/'; '' is the root. */
  list(path: string, options: ListOptions): Promise<string[]> {
    return refusing(() => this.#reading.list(path === '' || path.endsWith('/') ? path : `${path}/`, options))
  }

  /** Replaces an entry. Caches follow, because the change goes through the store like any other. @throws as `get` */
  async put(path: string, value: Buffer): Promise<void> {
    requireReadable(path)
    await refusing(() => this.#writing(path).transaction(async (tx) => tx.put(path, value)))
  }

  /** Removes an entry; does nothing if there is none. @throws as `get` */
  async delete(path: string): Promise<void> {
    requireReadable(path)
    await refusing(() => this.#writing(path).transaction(async (tx) => tx.delete(path)))
  }

  /** Whose data the entry at the path is. @throws as `get` */
  ownerOf(path: string): Promise<DataOwner> {
    requireReadable(path)
    return refusing(async () => OWNER_OF_CLASS[classify(this.#scopeOf(FOLDER + path), FOLDER + path)])
  }

  #writing(path: string): View {
    return this.#storage.view(this.#scopeOf(FOLDER + path), FOLDER)
  }

  /** The scope that the entry's own room would write it with: it decides whether the entry is replicated. */
  #scopeOf(key: string): Scope {
    const mount = mountOfKey(key)
    if (mount === SYSTEM_SCOPE) return systemScope
    return { namespace: ROOT_NAMESPACE, mount, local: this.#isLocal(mount) }
  }
}

/**
 * The records of audit devices and of their signing key. A caller who changed them could make every request fail, or
 * sign entries that were never recorded. sys/audit is the way to them.
 */
const AUDIT = ['core/audit', 'core/local-audit/', 'core/declared-audit/']

const isOfAudit = (path: string): boolean => AUDIT.some((beginning) => path.startsWith(beginning))

/** True if the entry at a path, which lacks its namespace, may be shown to who may do everything. */
export const isShowable = (path: string): boolean => !isOfAudit(path) && isBehindBarrier(FOLDER + path)

function requireReadable(path: string): void {
  if (isOfAudit(path))
    throw fail('part_of_server', ['That entry is of the audit: it is neither read nor written here, see sys/audit'])
  if (!isBehindBarrier(FOLDER + path))
    throw fail('part_of_server', ['That entry opens the barrier: it is neither read nor written here'])
}

/** Turns what storage refuses into an answer of 400: here the path comes from the caller. Other errors pass through. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof StorageRefused && cause.name === 'StorageRefused')
      throw fail('name_invalid', [cause.message], cause)
    throw cause
  }
}
