// The two spellings of a key type with parameter sets: `ml-dsa-65`, or `ml-dsa` with `parameter_set` 65. Keys are kept
// and described by the first.
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { PARAMETER_SETS } from '../../crypto/key-types/ml-dsa.ts'

const FAMILY = 'ml-dsa'
const SETS = PARAMETER_SETS.join(', ')

export const parameterSetField = {
  parameter_set: string(`With the type ${FAMILY}, which one: ${SETS}. The same as the type ${FAMILY}-N`, {
    default: '',
  }),
}

/** The name of the type. @throws Refusal for a set that is missing, unknown, or not of this type */
export function keyTypeName(type: string, parameterSet: string): string {
  if (type === FAMILY) {
    if (PARAMETER_SETS.some((set) => set === parameterSet)) return `${FAMILY}-${parameterSet}`
    throw fail('bad_request', [`"parameter_set": a key of type ${FAMILY} needs one of ${SETS}`])
  }
  if (parameterSet !== '' && type !== `${FAMILY}-${parameterSet}`)
    throw fail('bad_request', [`"parameter_set": only for keys of type ${FAMILY}, with one of ${SETS}`])
  return type
}
