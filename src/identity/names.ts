// Names of entities, groups and aliases, and how they become part of a stored key.
import { fail } from '../api/errors.ts'
import { asciiLowerCase } from '../lib/ascii.ts'

/** Percent-encoded it is three times as long, and a key has at most 1,024 bytes. */
const MAX_NAME_BYTES = 256
/** Stored under a digest: what login methods call their callers may be long. */
const MAX_ALIAS_NAME_BYTES = 1_024
const ID_CHARACTERS = 36

/** @throws Refusal naming the field */
export function checkName(field: string, name: string): string {
  return checked(field, name, MAX_NAME_BYTES)
}

/** @throws Refusal naming the field */
export function checkAliasName(field: string, name: string): string {
  return checked(field, name, MAX_ALIAS_NAME_BYTES)
}

function checked(field: string, name: string, maxBytes: number): string {
  if (name === '' || Buffer.byteLength(name) > maxBytes) {
    throw fail('field_invalid', [field, `must have 1 to ${maxBytes} bytes`])
  }
  if (!isPlainText(name)) throw fail('field_invalid', [field, 'must be text without control characters'])
  return name
}

function isPlainText(text: string): boolean {
  if (!text.isWellFormed()) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false
  }
  return true
}

/**
 * By which an entity or group is found. Two names that differ in the case of ASCII letters only are the same name:
 * nobody is to be taken for another by a capital.
 */
export const keptName = asciiLowerCase

/** The name of an entity or group in the key of its index; undefined for one that nothing can have. */
export function nameSegment(name: string): string | undefined {
  if (name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES || !isPlainText(name)) return undefined
  // A segment of points alone would not be a key.
  return encodeURIComponent(keptName(name)).replaceAll('.', '%2E')
}

/** Whether a text from outside can be an id, and so part of a key. */
export function isId(text: string): boolean {
  if (text.length !== ID_CHARACTERS) return false
  for (let at = 0; at < text.length; at++) {
    const dash = at === 8 || at === 13 || at === 18 || at === 23
    if (dash ? text[at] !== '-' : !'0123456789abcdef'.includes(text.charAt(at))) return false
  }
  return true
}
