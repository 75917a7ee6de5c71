// A share as holders type it: hexadecimal or base64. A text that is valid as both is read as hexadecimal, unless only
// base64 gives the length of a share.
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { decodeBase64 } from '../../lib/base64.ts'
import { decodeHex } from '../../lib/hex.ts'

/** Fields of an endpoint that takes one share of an attempt. */
export const SHARE_FIELDS = {
  key: string('One share, in hexadecimal or base64', { default: '', secret: true }),
  nonce: string('Nonce of the attempt', { default: '' }),
}

/** Runs `work` with the decoded share and wipes it afterwards. @throws Refusal if `key` is empty or no share */
export async function withShare<T>(key: string, work: (share: Buffer) => Promise<T>): Promise<T> {
  if (key === '') throw fail('field_invalid', ['key', "'key' must be specified in request body as JSON"])
  const share = decodeShare(key)
  try {
    return await work(share)
  } finally {
    share.fill(0)
  }
}

/** Shorter than any share made here. A share so short is refused as wrong when it is tried, like any other. */
const MIN_BYTES = 16
/** A key of 32 bytes and the coordinate of the share. */
const MAX_BYTES = 33

/** Decodes a share; the caller wipes the result. @throws Refusal naming the field `key`, and nothing of its value */
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
