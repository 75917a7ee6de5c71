// Opens and closes one thread of a server, from the keyring it is given to the last value it has cached.
import type { Audit } from '../audit/audit.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { MountTable } from '../core/mount-table.ts'
import { collectGarbage } from '../lib/collect-garbage.ts'
import type { Barrier } from '../storage/barrier.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { Keyring } from '../storage/keyring.ts'

/** The parts that hold keys or values of the store. */
export type GateParts = {
  readonly barrier: Barrier
  readonly invalidation: Invalidation
  readonly tokens: TokenStore
  readonly mounts: MountTable
  readonly audit: Audit
}

/** The gate of one thread. It is told to open and close: by the seal where writes are made, by the link elsewhere. */
export class NodeGate {
  readonly #parts: GateParts
  #isOpen = false

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  /** True only once tokens and mounts are loaded too; until then callers are told that the server is sealed. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * After unseal: requests are served once it resolves. While open, takes over a keyring with a new term, and the key
   * of the tokens if it was made only now. `prepare` runs when the store can be read, before anything else. If it
   * throws, the barrier is sealed again.
   */
  async open(keyring: Keyring, prepare?: () => Promise<void>): Promise<void> {
    const { barrier, tokens, mounts, audit } = this.#parts
    barrier.setKeyring(keyring)
    if (this.#isOpen) {
      if (!tokens.isOpen) await tokens.open()
      return
    }
    try {
      await prepare?.()
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

  /** At seal: releases keys and cached values. If it was open, collects garbage, so that they leave the heap. */
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
