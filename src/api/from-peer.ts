// What another cluster sends is checked like any other input: a peer of another version, or one that is not honest,
// must not have a record written that nothing can read.
import type { JsonValue } from '../lib/json.ts'
import { type Kind, Misfit } from '../lib/member-kinds.ts'
import { fail } from './errors.ts'

/**
 * Returns the value if it is of the kind. `what` names the value as a whole.
 * @throws Refusal that names the member which is wrong
 */
export function fromPeer<T>(kind: Kind<T>, what: string, value: unknown): T {
  try {
    return kind.read(value as JsonValue)
  } catch (cause) {
    if (!(cause instanceof Misfit)) throw cause
    throw fail('field_invalid', [cause.path === '' ? what : cause.path, cause.message], cause)
  }
}
