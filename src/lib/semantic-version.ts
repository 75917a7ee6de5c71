// The order of version numbers (Semantic Versioning 2.0.0, section 11).

/** Three numbers, and perhaps what comes before a release. What follows a plus sign plays no part in the order. */
const FORM = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/
const NUMBER = /^\d{1,15}$/

/**
 * Below 0 if the first version is older than the second, above 0 if it is newer, 0 if neither; undefined if one of them
 * is no version number.
 */
export function compareVersions(one: string, other: string): number | undefined {
  const [first, second] = [FORM.exec(one), FORM.exec(other)]
  if (first === null || second === null) return undefined
  for (const part of [1, 2, 3]) {
    const apart = Number(first[part]) - Number(second[part])
    if (apart !== 0) return apart
  }
  const [before, after] = [first[4], second[4]]
  // A release is newer than all that came before it.
  if (before === undefined || after === undefined) return Number(before === undefined) - Number(after === undefined)
  return compareLabels(before.split('.'), after.split('.'))
}

function compareLabels(one: readonly string[], other: readonly string[]): number {
  for (const [at, label] of one.entries()) {
    const against = other[at]
    if (against === undefined) return 1
    const [isNumber, isNumberThere] = [NUMBER.test(label), NUMBER.test(against)]
    if (isNumber && isNumberThere && label !== against) return Number(label) - Number(against)
    if (isNumber !== isNumberThere) return isNumber ? -1 : 1
    if (label !== against) return label < against ? -1 : 1
  }
  return one.length - other.length
}
