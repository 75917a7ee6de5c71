// The store entry by entry, for repairs by whoever may do everything: behind the barrier, past every rule of the rooms.
import { fail } from '../api/errors.ts'
import { isBehindBarrier, mountOfKey } from '../storage/classes.ts'
import {
  type ListOptions,
  ROOT_NAMESPACE,
  type Scope,
  StorageRefused,
  SYSTEM_SCOPE,
  systemScope,
} from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'

const FOLDER = `${ROOT_NAMESPACE}/`

export class RawStorage {
  readonly #storage: SealedStorage
  readonly #isLocal: (mountUuid: string) => boolean
  readonly #reading: View

  /** `isLocal`: whether a mount stays out of replication; that is part of where its entries belong. */
  constructor(storage: SealedStorage, isLocal: (mountUuid: string) => boolean) {
    this.#storage = storage
    this.#isLocal = isLocal
    this.#reading = storage.view(systemScope, FOLDER)
  }

  /** @throws Refusal for what the barrier itself is opened with, and for a path that no entry can have */
  get(path: string): Promise<Buffer | undefined> {
    requireReadable(path)
    return told(() => this.#reading.get(path))
  }

  /** `path` is a folder, with or without its last '/'; '' is the root. */
  list(path: string, options: ListOptions): Promise<string[]> {
    return told(() => this.#reading.list(path === '' || path.endsWith('/') ? path : `${path}/`, options))
  }

  async put(path: string, value: Buffer): Promise<void> {
    requireReadable(path)
    await told(() => this.#writing(path).transaction(async (tx) => tx.put(path, value)))
  }

  async delete(path: string): Promise<void> {
    requireReadable(path)
    await told(() => this.#writing(path).transaction(async (tx) => tx.delete(path)))
  }

  #writing(path: string): View {
    return this.#storage.view(this.#scopeOf(FOLDER + path), FOLDER)
  }

  #scopeOf(key: string): Scope {
    const mount = mountOfKey(key)
    if (mount === SYSTEM_SCOPE) return systemScope
    return { namespace: ROOT_NAMESPACE, mount, local: this.#isLocal(mount) }
  }
}

/** Who changed these could end every request, or sign what was never recorded: they have endpoints of their own. */
const AUDIT = ['core/audit', 'core/local-audit/']

function requireReadable(path: string): void {
  if (AUDIT.some((beginning) => path.startsWith(beginning)))
    throw fail('part_of_server', ['That entry is of the audit: it is neither read nor written here, see sys/audit'])
  if (!isBehindBarrier(FOLDER + path))
    throw fail('part_of_server', ['That entry opens the barrier: it is neither read nor written here'])
}

/** What storage refuses is the path's fault: it says which. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof StorageRefused && cause.name === 'StorageRefused')
      throw fail('name_invalid', [cause.message], cause)
    throw cause
  }
}
