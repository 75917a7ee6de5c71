// Names of entities, groups and aliases, and how they become part of a stored key.
import { fail } from '../api/errors.ts'
import { asciiLowerCase } from '../lib/ascii.ts'

/** Percent-encoded, a name may be three times as long, and a stored key has at most 1,024 bytes. */
const MAX_NAME_BYTES = 256
/** Alias names are stored under a digest, so they may be longer: login methods choose them. They keep their case. */
const MAX_ALIAS_NAME_BYTES = 1_024
const ID_CHARACTERS = 36

/** Returns the name of an entity or a group if it may be one. @throws Refusal naming the field */
export function checkName(field: string, name: string): string {
  return checked(field, name, MAX_NAME_BYTES)
}

/** Returns the name of an alias if it may be one. @throws Refusal naming the field */
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

/** True without control characters and lone surrogates: names stand in logs, terminals and policies. */
function isPlainText(text: string): boolean {
  if (!text.isWellFormed()) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false
  }
  return true
}

/**
 * The folded name, by which an entity or a group is found. Names that differ only in the case of ASCII letters are the
 * same name: no one shall pass for another by a capital letter.
 */
export const keptName = asciiLowerCase

/** The name as a segment of a stored key; undefined for a text that cannot be a name. */
export function nameSegment(name: string): string | undefined {
  if (name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES || !isPlainText(name)) return undefined
  // Segments "." and ".." are refused in keys, and encodeURIComponent leaves dots as they are.
  return encodeURIComponent(keptName(name)).replaceAll('.', '%2E')
}

/** True for a text with the form of an id, a UUID in lower case. Only then may it be part of a stored key. */
export function isId(text: string): boolean {
  if (text.length !== ID_CHARACTERS) return false
  for (let at = 0; at < text.length; at++) {
    const dash = at === 8 || at === 13 || at === 18 || at === 23
    if (dash ? text[at] !== '-' : !'0123456789abcdef'.includes(text.charAt(at))) return false
  }
  return true
}
