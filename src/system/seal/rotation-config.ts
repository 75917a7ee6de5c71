// When a term is added to the keyring by itself, as an operator set it: root/core/rotation. It is read at each use, and
// kept nowhere: clusters of a set have it from their primary, and a promoted one goes by it from then on.
import { fail } from '../../api/errors.ts'
import { count, flag } from '../../lib/member-kinds.ts'
import { systemScope } from '../../storage/contract.ts'
import {
  DEFAULT_ROTATION,
  LEAST_INTERVAL_SECONDS,
  LEAST_MAX_OPERATIONS,
  MOST_MAX_OPERATIONS,
  type RotationConfig,
} from '../../storage/keyring-limits.ts'
import type { SealedStorage, View } from '../../storage/sealed-storage.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import { SEAL_FOLDER } from './seal-records.ts'

const NAME = 'rotation'
/** `RotationConfig` as it is stored. */
export const ROTATION_CONFIG = storedRecord(
  'The configuration of rotation',
  { enabled: flag, maxOperations: count, intervalSeconds: count },
  'dropped',
)

/** The configuration in the store. */
export class StoredRotationConfig {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, SEAL_FOLDER)
  }

  async read(): Promise<RotationConfig> {
    return decoded(await this.#view.get(NAME))
  }

  /**
   * Stores what `change` returns for the stored configuration. It must have no other effect: a lost race runs it again.
   * @throws Refusal `out_of_range`
   */
  async change(change: (before: RotationConfig) => RotationConfig): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const after = change(decoded(await tx.get(NAME)))
      requireInRange(after)
      tx.put(NAME, ROTATION_CONFIG.encode(after))
    })
  }
}

const decoded = (stored: Buffer | undefined): RotationConfig =>
  stored === undefined ? DEFAULT_ROTATION : ROTATION_CONFIG.decode(stored)

/** @throws Refusal `out_of_range` */
function requireInRange({ maxOperations, intervalSeconds }: RotationConfig): void {
  if (maxOperations < LEAST_MAX_OPERATIONS || maxOperations > MOST_MAX_OPERATIONS) {
    const range = `${LEAST_MAX_OPERATIONS} to ${MOST_MAX_OPERATIONS}`
    throw fail('out_of_range', ['max_operations', `must be ${range}`])
  }
  if (intervalSeconds !== 0 && intervalSeconds < LEAST_INTERVAL_SECONDS)
    throw fail('out_of_range', ['interval', 'must be 0, or at least 24 hours'])
}
