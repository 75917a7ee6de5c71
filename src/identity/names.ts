// Names and ids of entities, groups and aliases, and how they become part of a stored key.
import { fail } from '../api/errors.ts'
import { idEnding, ROOT_ID, splitId } from '../api/namespace.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import type { Random } from '../lib/world.ts'

/** Percent-encoded, a name may be three times as long, and a stored key has at most 1,024 bytes. */
const MAX_NAME_BYTES = 256
/** Alias names are stored under a digest, so they may be longer: login methods choose them. They keep their case. */
const MAX_ALIAS_NAME_BYTES = 1_024
const UUID_CHARACTERS = 36
/** Ids of namespaces are this text: nothing that could end a segment of a key, and never a UUID. */
const NAMESPACE_ID = /^[0-9A-Za-z]+$/

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

/** Returns a new id for a thing of the namespace. */
export const newId = (random: Random, namespaceId: string): string => random.uuid() + idEnding(namespaceId)

/**
 * True for a text with the form of an id, a UUID in lower case with the ending of its namespace. Only then may it be
 * part of a stored key.
 */
export function isId(text: string): boolean {
  const { own, namespaceId } = splitId(text)
  if (!isUuid(own)) return false
  return own === text || (namespaceId !== ROOT_ID && NAMESPACE_ID.test(namespaceId))
}

/** True for the id of the thing without the ending of its namespace. */
export function isUuid(text: string): boolean {
  if (text.length !== UUID_CHARACTERS) return false
  for (let at = 0; at < text.length; at++) {
    const dash = at === 8 || at === 13 || at === 18 || at === 23
    if (dash ? text[at] !== '-' : !'0123456789abcdef'.includes(text.charAt(at))) return false
  }
  return true
}

/** Where things of a namespace begin in a folder that has those of all: the root's lie in the folder itself. */
export const homeOf = (namespaceId: string): string => (namespaceId === ROOT_ID ? '' : `${namespaceId}/`)

/** An id as the first segments behind a folder, so that what is of one namespace lies together. */
export function placeOfId(id: string): string {
  const { own, namespaceId } = splitId(id)
  return homeOf(namespaceId) + own
}

/** The id whose place a path begins with. */
export function idAtPlace(path: string): string {
  const [first = '', second = ''] = path.split('/', 2)
  return isUuid(first) ? first : second + idEnding(first)
}
