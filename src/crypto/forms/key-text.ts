// Decodes a key of 32 bytes from a file or an environment variable. It goes from bytes to bytes: a string made of it on
// the way could not be wiped (threats N-10).
import { copySecret, secretBytes } from '../primitives/secret-bytes.ts'

const KEY_BYTES = 32
const HEX_BYTES = 64
const BASE64_BYTES = 44
const PAD = 0x3d

/** Decodes raw bytes, or hexadecimal or standard base64 with blanks around it. Undefined for anything else. */
export function decodeKeyText(bytes: Buffer): Buffer | undefined {
  // Raw bytes may look like blanks, so they are taken as they are.
  if (bytes.length === KEY_BYTES) return copySecret(bytes)
  let [from, to] = [0, bytes.length]
  while (from < to && isBlank(bytes.readUInt8(from))) from++
  while (to > from && isBlank(bytes.readUInt8(to - 1))) to--
  const text = bytes.subarray(from, to)
  if (text.length === HEX_BYTES) return fromDigits(text, 4, hexDigit)
  if (text.length !== BASE64_BYTES || text[BASE64_BYTES - 1] !== PAD) return undefined
  return fromDigits(text.subarray(0, BASE64_BYTES - 1), 6, base64Digit)
}

/** Bytes from digits of `bits` bits each. Bits beyond the last whole byte must be zero. */
function fromDigits(text: Buffer, bits: number, digit: (code: number) => number): Buffer | undefined {
  const key = secretBytes(KEY_BYTES)
  let [held, heldBits, at] = [0, 0, 0]
  for (const code of text) {
    const value = digit(code)
    if (value < 0) {
      key.fill(0)
      return undefined
    }
    held = (held << bits) | value
    heldBits += bits
    if (heldBits < 8) continue
    heldBits -= 8
    key.writeUInt8(held >> heldBits, at++)
    held &= (1 << heldBits) - 1
  }
  return held === 0 ? key : undefined
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1
}

function base64Digit(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52
  if (code === 0x2b) return 62
  return code === 0x2f ? 63 : -1
}
