// Opens and closes one thread of a server: from the keyring it is given to the last value that it kept.
import type { Audit } from '../audit/audit.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { MountTable } from '../core/mount-table.ts'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { Barrier } from '../storage/barrier.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { Keyring } from '../storage/keyring.ts'

export type GateParts = {
  readonly barrier: Barrier
  readonly invalidation: Invalidation
  readonly tokens: TokenStore
  readonly mounts: MountTable
  readonly audit: Audit
}

export class NodeGate {
  readonly #parts: GateParts
  #isOpen = false

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  /** Only when tokens and mounts are loaded too: until then a request is told that the server is sealed. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** After unseal: from here on requests are served. While open: takes over a keyring with a new term. */
  async open(keyring: Keyring): Promise<void> {
    const { barrier, tokens, mounts, audit } = this.#parts
    barrier.setKeyring(keyring)
    if (this.#isOpen) return
    try {
      await tokens.open()
      await mounts.refresh()
      await audit.open()
      this.#isOpen = true
    } catch (cause) {
      audit.close()
      barrier.setKeyring(undefined)
      throw cause
    }
  }

  /** Before seal: every key and every cached value is released. */
  close(): void {
    const { barrier, invalidation, tokens, mounts, audit } = this.#parts
    const wasOpen = this.#isOpen
    this.#isOpen = false
    audit.close()
    barrier.setKeyring(undefined)
    tokens.close()
    invalidation.reset()
    mounts.close()
    if (wasOpen) collectGarbage()
  }
}
