// The type of a key that is to be made, checked with the settings that are fixed at its creation.
import { fail } from '../../api/errors.ts'
import { isName } from '../../api/pattern.ts'
import type { KeyType } from '../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../crypto/key-types/key-types.ts'
import { MANAGED_KEY, NEW_MANAGED_KEY } from './ring/managed-type.ts'

/** A refusal repeats what was sent only if it looks like the name of a type, and has at most so many characters. */
const MAX_SHOWN_CHARACTERS = 40

type Offer = { readonly types: ReadonlyMap<string, KeyType>; readonly remedy: string }

const ALL: Offer = { types: new Map([...KEY_TYPES, [MANAGED_KEY, NEW_MANAGED_KEY]]), remedy: '' }

/** Types that encrypt may make by itself: symmetric and authenticated. */
export const UPSERTED: Offer = {
  types: new Map([...KEY_TYPES].filter(([, { cipher }]) => cipher?.takesAssociatedData === true)),
  remedy: ' where encrypt makes the key: make others with keys/NAME first',
}

/** Returns the key type of this name. @throws Refusal if it is not offered, or cannot do what is wanted */
export function requireKeyType(
  name: string,
  wanted: { readonly derived: boolean; readonly convergent: boolean },
  { types, remedy }: Offer = ALL,
): KeyType {
  // Interface 7.6: a convergent key is a derived one.
  if (wanted.convergent && !wanted.derived) {
    throw fail('fields_conflict', ['convergent encryption requires derivation to be enabled'])
  }
  const type = types.get(name)
  if (type === undefined) {
    const shown = isName(name) && name.length <= MAX_SHOWN_CHARACTERS ? ` ${name}` : ''
    throw fail('choice_unknown', [`unknown key type${shown}, offered are ${[...types.keys()].join(', ')}${remedy}`])
  }
  if (wanted.derived && type.derivation === undefined) {
    throw fail('key_cannot', [`key derivation and convergent encryption not supported for keys of type ${type.name}`])
  }
  if (wanted.convergent && type.derivation?.convergent === undefined) {
    throw fail('key_cannot', [`convergent encryption not supported for keys of type ${type.name}`])
  }
  return type
}
