// When the barrier's data key must be changed: pure rules, so that they can be tested near the limit.
//
// AES-GCM with random nonces of 96 bits may encrypt at most 2^32 times under one key (NIST SP 800-38D section 8.3;
// threats P-11). Rotation comes at nine tenths of that, where nothing waits for it yet.

export const MAX_ENCRYPTIONS = 2 ** 32

export type RotationConfig = {
  readonly enabled: boolean
  /** Encryptions under one term. */
  readonly maxOperations: number
  /** Age of a term; 0: no limit. */
  readonly intervalSeconds: number
}

export const LEAST_MAX_OPERATIONS = 1_000_000
/** 0.9 × 2^32. */
export const MOST_MAX_OPERATIONS = 3_865_470_566
export const LEAST_INTERVAL_SECONDS = 86_400

export const DEFAULT_ROTATION: RotationConfig = {
  enabled: true,
  maxOperations: MOST_MAX_OPERATIONS,
  intervalSeconds: 0,
}

export type TermUse = { readonly encryptions: number; readonly installedAtMs: number }

export function isRotationDue(config: RotationConfig, use: TermUse, nowMs: number): boolean {
  // Above this it is no longer a matter of taste.
  if (use.encryptions >= MOST_MAX_OPERATIONS) return true
  if (!config.enabled) return false
  if (use.encryptions >= config.maxOperations) return true
  return config.intervalSeconds > 0 && nowMs - use.installedAtMs >= config.intervalSeconds * 1000
}
