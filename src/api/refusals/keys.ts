// Refusals about keys, and about what is to be done with them.
import type { RefusalRows } from './row.ts'

export const KEY_REFUSALS = {
  no_such_key: {
    status: 404,
    message: (name: string) => `key not found: no key has the name "${name}"`,
    remedy: 'Correct the name, or make the key; a list of the keys of the mount shows what there is.',
  },
  device_failed: {
    status: 502,
    message: (what: string, why: string) => `${what}: ${why}`,
    remedy:
      'The device behind a managed key is not there, or does not do what it should: docs/runbooks/managed-keys.md. ' +
      'Whoever gave the managed key away can do nothing about it; what was made with it stays readable.',
  },
} as const satisfies RefusalRows
