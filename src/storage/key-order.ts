// Stored keys sort by their UTF-8 bytes, in every implementation. That is the order of code points, and not the
// order of `<` on strings: UTF-16 puts what is above U+FFFF (surrogate pairs) before U+E000 to U+FFFF.

/** Negative where `a` sorts first, 0 for equal texts. Both are well-formed. */
export function compareKeys(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** The first text that sorts after `key`: no stored key holds a NUL, so only `key` itself lies before it. */
export function justAfter(key: string): string {
  return `${key}\0`
}

/** The first text that sorts after every key of the folder, which ends in '/': '0' follows '/'. */
export function folderEnd(folder: string): string {
  return `${folder.slice(0, -1)}0`
}

/** The end of a prefix as a range; undefined for the empty prefix, which has none. */
export function prefixEnd(prefix: string): string | undefined {
  return prefix === '' ? undefined : folderEnd(prefix)
}

/** The later of two beginnings of a range. */
export function laterKey(a: string, b: string): string {
  return compareKeys(a, b) < 0 ? b : a
}
