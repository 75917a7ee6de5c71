// How the server is unsealed, and who holds shares of what:
//
//   root/core/seal-config   JSON in clear: {"format":1,"type":"shamir","shares":n,"threshold":t}, or
//                           {"format":1,"type":"static","keyId":id,"shares":n,"threshold":t}
//
// With a seal that opens by itself the shares are those of the recovery key. In clear, so it is the one record that
// somebody without a key can change: nothing opens by it that would not open without it.
import { isJsonObject, JsonError, type JsonValue, parseStoredJson } from '../../lib/json.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import type { ShareConfig } from './key-shares.ts'
import { MAX_SHARES } from './share-numbers.ts'

export const SEAL_CONFIG = 'root/core/seal-config'

export type SealConfig = ShareConfig & {
  /** Which static key opens; undefined: the shares do. */
  readonly keyId?: string
}

export function encodeSealConfig({ shares, threshold, keyId }: SealConfig): Buffer {
  const type = keyId === undefined ? { type: 'shamir' } : { type: 'static', keyId }
  return Buffer.from(JSON.stringify({ format: 1, ...type, shares, threshold }))
}

/** @throws StorageCorrupt */
export function decodeSealConfig(bytes: Buffer): SealConfig {
  const value = parsed(bytes)
  const isKnown = isJsonObject(value) && value.format === 1 && (value.type === 'shamir' || value.type === 'static')
  const shares = isKnown ? sharesOf(value) : undefined
  if (!isKnown || shares === undefined || (value.type === 'static') !== (typeof value.keyId === 'string')) {
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} is damaged or of an unknown format`)
  }
  return typeof value.keyId === 'string' ? { ...shares, keyId: value.keyId } : shares
}

/** Undefined for numbers that no store was made with: its shares could never be given. */
function sharesOf({ shares, threshold }: { readonly [name: string]: JsonValue }): ShareConfig | undefined {
  const areWhole = Number.isInteger(shares) && Number.isInteger(threshold)
  const config = { shares: Number(shares), threshold: Number(threshold) }
  return areWhole && 1 <= config.threshold && config.threshold <= config.shares && config.shares <= MAX_SHARES
    ? config
    : undefined
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return parseStoredJson(bytes)
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
