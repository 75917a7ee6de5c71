// Key types with parameter sets have two spellings: `ml-dsa-65`, or `ml-dsa` with `parameter_set` 65. Keys are stored
// and described by the first.
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { KEY_TYPES } from '../../crypto/key-types/key-types.ts'

/** Family → parameter set → name of the type. */
const FAMILIES: ReadonlyMap<string, ReadonlyMap<string, string>> = families()

function families(): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const { name, parameterSet } of KEY_TYPES.values()) {
    if (parameterSet === undefined) continue
    const sets = found.get(parameterSet.family) ?? new Map<string, string>()
    found.set(parameterSet.family, sets.set(parameterSet.set, name))
  }
  return found
}

const setsOf = (sets: ReadonlyMap<string, string>): string => [...sets.keys()].join(', ')

/** The field that completes the type of a family, such as 65 for `ml-dsa`. */
export const parameterSetField = {
  parameter_set: string(
    [...FAMILIES]
      .map(([family, sets]) => `Parameter set of the type ${family}: ${setsOf(sets)}. Equivalent to type ${family}-N`)
      .join('. '),
    { default: '' },
  ),
}

/** Returns the name of the type in the first spelling. @throws Refusal for a set that is missing, unknown or unfit */
export function keyTypeName(type: string, parameterSet: string): string {
  const sets = FAMILIES.get(type)
  if (sets !== undefined) {
    const name = sets.get(parameterSet)
    if (name !== undefined) return name
    throw fail('choice_unknown', [`"parameter_set": a key of type ${type} needs one of ${setsOf(sets)}`])
  }
  if (parameterSet === '' || [...FAMILIES.keys()].some((family) => type === `${family}-${parameterSet}`)) return type
  const offered = [...FAMILIES].map(([family, known]) => `of type ${family}, with one of ${setsOf(known)}`)
  throw fail('field_not_applicable', [`"parameter_set": only for keys ${offered.join('; or ')}`])
}
