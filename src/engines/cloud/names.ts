// Names as the cloud has them. It tells upper from lower case nowhere, so they are compared without it, and only the
// letters of ASCII fold: no other character becomes one of them.
import { asciiLowerCase } from '../../lib/ascii.ts'

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DOMAIN = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/i
const GROUP = /^[\p{L}\p{N}_.()-]{1,90}$/u
const MACHINE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_])?$/
/** These stand for many tenants, and their documents for whichever tenant signs. */
const SHARED_TENANTS = ['common', 'organizations', 'consumers', 'adfs']

export const isGuid = (text: string): boolean => GUID.test(text)

/** A directory: its GUID, or a domain name that it has. */
export function isTenant(text: string): boolean {
  return isGuid(text) || (DOMAIN.test(text) && !SHARED_TENANTS.includes(asciiLowerCase(text)))
}

/** Letters and digits of any script; not ending in a period, and in one form of Unicode only. */
export const isGroupName = (text: string): boolean =>
  GROUP.test(text) && !text.endsWith('.') && text.normalize('NFC') === text

/** Of a virtual machine or a scale set. */
export const isMachineName = (text: string): boolean => MACHINE.test(text)

/** Whether they are one name to the cloud. */
export const isSameName = (some: string, other: string): boolean => asciiLowerCase(some) === asciiLowerCase(other)

export const hasName = (names: readonly string[], name: string): boolean => names.some((each) => isSameName(each, name))

/** `East US` and `eastus` are one region. */
export const isSameRegion = (some: string, other: string): boolean =>
  isSameName(some.replaceAll(' ', ''), other.replaceAll(' ', ''))

/** A list with nothing in it, or with `*` alone, names nobody. */
export const namesAnybody = (list: readonly string[]): boolean =>
  list.length === 0 || (list.length === 1 && list[0] === '*')
