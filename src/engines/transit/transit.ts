// The transit engine: named keys that do not leave the service, and what they do with data sent to it.
import type { Engine, EngineType } from '../../api/mount.ts'
import { Router } from '../../api/router.ts'
import { NoncePool } from '../../crypto/nonce-pool.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { World } from '../../lib/world.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { CONFIG_ENDPOINTS } from './config-endpoints.ts'
import { datakeyEndpoint } from './datakey-endpoint.ts'
import { decryptEndpoint } from './decrypt-endpoint.ts'
import { encryptEndpoint } from './encrypt-endpoint.ts'
import { Keys } from './keys.ts'
import { KEYS_ENDPOINTS } from './keys-endpoints.ts'
import { MOVING_ENDPOINTS } from './moving-endpoints.ts'
import { rewrapEndpoint } from './rewrap-endpoint.ts'
import { WrappingKeys } from './wrapping-key.ts'

/** What one mount is given. */
export type TransitContext = { readonly storage: View; readonly world: World; readonly slow: SlowWork }

/** One mount of the engine. */
export class Transit implements Engine {
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  readonly keys: Keys
  readonly nonces: NoncePool
  readonly wrappingKeys: WrappingKeys

  constructor({ storage, world, slow }: TransitContext) {
    this.storage = storage
    this.world = world
    this.slow = slow
    this.keys = new Keys(storage)
    this.nonces = new NoncePool(world.random.bytes)
    this.wrappingKeys = new WrappingKeys({ storage, world, slow })
  }

  get lookups() {
    return this.keys.lookups
  }

  changed(path: string): void {
    this.keys.changed(path)
    this.wrappingKeys.changed(path)
  }

  reset(): void {
    this.keys.reset()
    this.wrappingKeys.reset()
  }
}

export const TRANSIT: EngineType<TransitContext> = {
  type: 'transit',
  kind: 'secret',
  summary: 'Encrypts, decrypts and makes data keys with named keys that stay here',
  router: new Router([
    ...KEYS_ENDPOINTS,
    encryptEndpoint,
    decryptEndpoint,
    rewrapEndpoint,
    datakeyEndpoint,
    ...MOVING_ENDPOINTS,
    ...CONFIG_ENDPOINTS,
  ]),
  create: (context) => new Transit(context),
}
