// When the barrier's data key must be changed: pure rules, so that they can be tested near the limit.
//
// AES-GCM with random nonces of 96 bits may encrypt at most 2^32 times under one key (NIST SP 800-38D section 8.3;
// threats P-11). Rotation comes at nine tenths of that, before any write has to wait for it.

/** Encryptions after which the barrier refuses to seal with a term (barrier.ts). */
export const MAX_ENCRYPTIONS = 2 ** 32

/** When a term is added by itself: `sys/rotate/config`. */
export type RotationConfig = {
  readonly enabled: boolean
  /** Most encryptions under one term. */
  readonly maxOperations: number
  /** Greatest age of a term; 0: no limit. */
  readonly intervalSeconds: number
}

/** Fewest `maxOperations` that can be set. */
export const LEAST_MAX_OPERATIONS = 1_000_000
/** Most `maxOperations` that can be set: 0.9 × 2^32. */
export const MOST_MAX_OPERATIONS = 3_865_470_566
/** Shortest `intervalSeconds` but 0: one day. */
export const LEAST_INTERVAL_SECONDS = 86_400

/** Used until an operator sets another one. */
export const DEFAULT_ROTATION: RotationConfig = {
  enabled: true,
  maxOperations: MOST_MAX_OPERATIONS,
  intervalSeconds: 0,
}

/** How often the active term has encrypted, and since when it is active. */
export type TermUse = { readonly encryptions: number; readonly installedAtMs: number }

/** True if the active term must make way for a new one. */
export function isRotationDue(config: RotationConfig, use: TermUse, nowMs: number): boolean {
  // Close to the limit of the cipher no setting keeps the term.
  if (use.encryptions >= MOST_MAX_OPERATIONS) return true
  if (!config.enabled) return false
  if (use.encryptions >= config.maxOperations) return true
  return config.intervalSeconds > 0 && nowMs - use.installedAtMs >= config.intervalSeconds * 1000
}
