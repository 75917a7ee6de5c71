// Stored keys sort by their UTF-8 bytes, in every storage. That is the order of code points. It is not the order of `<`
// on strings: UTF-16 puts code points above U+FFFF (surrogate pairs) before U+E000 to U+FFFF.

/** Negative if `a` sorts first, 0 for equal texts. Both must be well-formed. */
export function compareKeys(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** Moves surrogates (U+D800 to U+DFFF) above all other units, where the code points that they stand for belong. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** The first text that sorts after `key`: no stored key holds a NUL, so only `key` itself lies before it. */
export function justAfter(key: string): string {
  return `${key}\0`
}

/** The first text that sorts after every key of a folder, whose name ends in '/': '0' follows '/' in ASCII. */
export function folderEnd(folder: string): string {
  return `${folder.slice(0, -1)}0`
}

/** The first text after the range of a prefix; undefined for the empty prefix, whose range has no end. */
export function prefixEnd(prefix: string): string | undefined {
  return prefix === '' ? undefined : folderEnd(prefix)
}

/** The later of two keys, to begin a range at both. */
export function laterKey(a: string, b: string): string {
  return compareKeys(a, b) < 0 ? b : a
}
