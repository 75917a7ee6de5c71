// Names of namespaces: which are allowed, and the path that the header X-Vault-Namespace names.
import { fail } from '../api/errors.ts'

/** Names that no namespace may have, since paths of every namespace begin so, or `root` means no namespace at all. */
const RESERVED: ReadonlySet<string> = new Set(['root', 'sys', 'audit', 'auth', 'cubbyhole', 'identity', 'api-lock'])
/** The longest name, in characters. */
const MAX_NAME_LENGTH = 128
/** The longest path, with the '/' at its end. It begins stored paths of leases, so it is bounded. */
export const MAX_PATH_LENGTH = 1024
/** The most names in a path. */
export const MAX_DEPTH = 16

/**
 * Returns the name, without one '/' at its end.
 * @throws Refusal for what no namespace can be called
 */
export function namespaceName(given: string): string {
  const name = given.endsWith('/') ? given.slice(0, -1) : given
  if (name.includes('/')) throw invalid('cannot contain /: ask in the namespace that it lies in')
  if (name === '' || name === '.' || name === '..') throw invalid('must not be empty, "." or ".."')
  if (RESERVED.has(name)) throw invalid(`"${name}" is reserved`)
  if (name.length > MAX_NAME_LENGTH) throw invalid(`has more than ${MAX_NAME_LENGTH} characters`)
  // What a header cannot carry could be named by a path alone. The two wildcards have a meaning in policies.
  for (const character of name) {
    if (character <= ' ' || character > '~' || character === '+' || character === '*')
      throw invalid("must be printable ASCII without spaces, '+' and '*'")
  }
  return name
}

const invalid = (why: string) => fail('field_invalid', ['path', `the name of a namespace ${why}`])

/**
 * The path that the header names: '' for the root, else names with a '/' behind each. Blanks around it are no part of
 * it, nor are doubled slashes. Percent signs are not decoded.
 * @throws Refusal `bad_namespace_header` for "." and ".." beside other names
 */
export function headerPath(header: string): string {
  const names = header
    .trim()
    .split('/')
    .filter((name) => name !== '')
  if (names.length === 0) return ''
  if (names.length === 1 && (names[0] === 'root' || names[0] === '.')) return ''
  if (names.length > 1 && (names.includes('.') || names.includes('..'))) throw fail('bad_namespace_header', [])
  return `${names.join('/')}/`
}
