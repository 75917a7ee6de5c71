// Names as the cloud treats them. It ignores case everywhere, so names are compared without it. Only ASCII letters
// fold: no other character becomes one of them.
import { asciiLowerCase } from '../../lib/ascii.ts'

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DOMAIN = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/i
const GROUP = /^[\p{L}\p{N}_.()-]{1,90}$/u
const MACHINE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,78}[A-Za-z0-9_])?$/
/** Tenants that stand for many directories; their documents describe whichever tenant signs. */
const SHARED_TENANTS = ['common', 'organizations', 'consumers', 'adfs']

/** True for a GUID in any case. */
export const isGuid = (text: string): boolean => GUID.test(text)

/** True for a directory: its GUID, or one of its domain names. */
export function isTenant(text: string): boolean {
  return isGuid(text) || (DOMAIN.test(text) && !SHARED_TENANTS.includes(asciiLowerCase(text)))
}

/** True for a resource group's name: letters and digits of any script, no period at its end, and NFC only. */
export const isGroupName = (text: string): boolean =>
  GROUP.test(text) && !text.endsWith('.') && text.normalize('NFC') === text

/** True for the name of a virtual machine or a scale set. */
export const isMachineName = (text: string): boolean => MACHINE.test(text)

/** True if the cloud treats both as one name. */
export const isSameName = (some: string, other: string): boolean => asciiLowerCase(some) === asciiLowerCase(other)

/** True if the list has the name, in any case. */
export const hasName = (names: readonly string[], name: string): boolean => names.some((each) => isSameName(each, name))

/** True for one region; `East US` and `eastus` are the same. */
export const isSameRegion = (some: string, other: string): boolean =>
  isSameName(some.replaceAll(' ', ''), other.replaceAll(' ', ''))

/** True if the list admits everyone: it is empty, or has `*` alone. */
export const namesAnybody = (list: readonly string[]): boolean =>
  list.length === 0 || (list.length === 1 && list[0] === '*')
