// The wrapping key of a mount: clients wrap keys for its public half before they import them (Interface 4.2). It is
// made when it is first needed, and stays for as long as the mount does.
//
// Stored at `wrapping-key`:
//   offset  bytes
//   0       1      format: 1
//   1       rest   PKCS #8 in DER
import type { KeyObject } from 'node:crypto'
import { maintains, type NodeRole } from '../../../api/node-role.ts'
import { rsa4096 } from '../../../crypto/key-types/rsa-key-types.ts'
import { CoherentCache } from '../../../lib/coherent-cache.ts'
import { StorageCorrupt, WriteNotAllowed } from '../../../storage/errors.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { type KeyMaker, newSecrets } from './new-key.ts'

const PATH = 'wrapping-key'
const FORMAT = 1

/** The parts of the mount that load its wrapping key, or make it. */
type Parts = KeyMaker & {
  readonly storage: View
  readonly role: () => NodeRole
  readonly mount: () => { readonly local: boolean }
}

/** The wrapping key of one mount: loads it, or makes it when it is first needed. */
export class WrappingKeys {
  readonly #storage: View
  readonly #parts: Parts
  readonly #cache = new CoherentCache<KeyObject>(1)
  #making: Promise<KeyObject> | undefined

  constructor(parts: Parts) {
    this.#storage = parts.storage
    this.#parts = parts
  }

  /**
   * Returns the private half, which is always the same. Requests that come while it is being made wait for it.
   * @throws StorageReadOnly if it has to be made and this thread does not write, so that the request travels
   * @throws WriteNotAllowed if it has to be made and another cluster maintains the mount
   */
  async get(): Promise<KeyObject> {
    const stored = await this.#cache.get(PATH, () => load(this.#storage))
    if (stored !== undefined) return stored
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  async #make(): Promise<KeyObject> {
    // Both stand before seconds of work. The transaction throws at once if this thread does not write.
    const found = await this.#storage.transaction(load)
    if (found !== undefined) return found
    const { role, mount } = this.#parts
    const { local } = mount()
    if (!maintains(role(), { local })) throw new WriteNotAllowed(local ? 'local' : 'replicated')
    const fresh = await newSecrets(rsa4096, 0, this.#parts)
    const value = Buffer.concat([Buffer.from([FORMAT]), fresh.material.reveal()])
    try {
      // Another process on the same store may have been faster.
      return await this.#storage.transaction(async (tx) => {
        const other = await load(tx)
        if (other !== undefined) return other
        tx.put(PATH, value)
        return rsa4096.load(fresh.material.reveal())
      })
    } finally {
      value.fill(0)
      fresh.material.wipe()
      fresh.hmac.wipe()
    }
  }

  /** Forgets the key if its entry changed; `path` is relative to the mount. */
  changed(path: string): void {
    if (path === PATH) this.reset()
  }

  reset(): void {
    this.#cache.clear()
  }
}

/** Reads the stored key; returns undefined if it was not made yet. @throws StorageCorrupt */
async function load(storage: View | ViewTransaction): Promise<KeyObject | undefined> {
  const bytes = await storage.get(PATH)
  if (bytes === undefined) return undefined
  try {
    if (bytes[0] !== FORMAT) throw new StorageCorrupt(`The wrapping key has format ${bytes[0]}, known is ${FORMAT}`)
    return rsa4096.load(bytes.subarray(1))
  } finally {
    bytes.fill(0)
  }
}
