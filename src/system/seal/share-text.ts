// A share as people type it: hexadecimal or base64. A text that could be both is what has the length of a share.
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { decodeBase64 } from '../../lib/base64.ts'
import { decodeHex } from '../../lib/hex.ts'

/** Of an endpoint that takes one share of an attempt. */
export const SHARE_FIELDS = {
  key: string('One share, hexadecimal or base64', { default: '', secret: true }),
  nonce: string('Nonce of the attempt', { default: '' }),
}

/** Wipes the share afterwards. @throws Refusal where there is none */
export async function withShare<T>(key: string, work: (share: Buffer) => Promise<T>): Promise<T> {
  if (key === '') throw fail('field_invalid', ['key', "'key' must be specified in request body as JSON"])
  const share = decodeShare(key)
  try {
    return await work(share)
  } finally {
    share.fill(0)
  }
}

const MIN_BYTES = 16
/** 32 bytes and the share's coordinate. */
const MAX_BYTES = 33

/** The caller wipes the result. @throws Refusal naming the field `key`, without a word of it */
export function decodeShare(given: string): Buffer {
  for (const decodeText of [decodeHex, decodeBase64]) {
    try {
      const share = decodeText(given)
      if (share.length >= MIN_BYTES && share.length <= MAX_BYTES) return share
      share.fill(0)
    } catch {
      // Not of this form; the other one may fit.
    }
  }
  throw fail('field_invalid', [
    'key',
    `'key' must be a valid hex or base64 string of ${MIN_BYTES} to ${MAX_BYTES} bytes`,
  ])
}
