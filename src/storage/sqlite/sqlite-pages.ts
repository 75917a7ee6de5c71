// What a page of the database file holds beside its cells: SQLite leaves there what it deleted or moved. A page of a
// tree is recognized by its first byte, which is 0 in all others of a file of this size.
// https://www.sqlite.org/fileformat2.html#b_tree_pages
//
//   page   header | pointers to cells | gap | cells and free blocks
//   block  next u16 | its length u16 | what was there
//   cell   ( left child u32 )? | length of the payload | ( row id )? | payload | ( first page of the rest u32 )?

/** Bytes from an offset up to another. */
export type ByteRange = { readonly from: number; readonly to: number }
/** The rest of a payload, which lies in a chain of pages. */
export type Overflow = { readonly first: number; readonly bytes: number }

/** From this page on the first byte of a page of a chain could be that of a page of a tree: in files above 128 GiB. */
export const FIRST_AMBIGUOUS_PAGE = 0x0200_0000

const INDEX_INTERIOR = 2
const TABLE_INTERIOR = 5
const INDEX_LEAF = 10
const TABLE_LEAF = 13
const TREE_PAGES: readonly number[] = [INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF]
const INTERIOR_HEADER_BYTES = 12
const LEAF_HEADER_BYTES = 8
/** The header of the file stands in its first page. */
const FILE_HEADER_BYTES = 100
const BLOCK_HEADER_BYTES = 4
/** What a leaf of a table keeps of its header, cell pointer and the like when it holds one payload. */
const TABLE_LEAF_OVERHEAD = 35

/** A page of a tree, whose header is sound. */
type TreePage = {
  readonly bytes: Buffer
  readonly usable: number
  readonly type: number
  readonly header: number
  readonly pointers: ByteRange
}

/**
 * The page, if it is one of a tree and can be understood. `usable` are its bytes without those that SQLite reserves.
 * A damaged one is left to `verify`.
 */
export function treePageOf(bytes: Buffer, usable: number, isFirst: boolean): TreePage | undefined {
  const header = isFirst ? FILE_HEADER_BYTES : 0
  const type = bytes.readUInt8(header)
  if (!TREE_PAGES.includes(type)) return undefined
  const isInterior = type === INDEX_INTERIOR || type === TABLE_INTERIOR
  const from = header + (isInterior ? INTERIOR_HEADER_BYTES : LEAF_HEADER_BYTES)
  const to = from + 2 * bytes.readUInt16BE(header + 3)
  return to > usable ? undefined : { bytes, usable, type, header, pointers: { from, to } }
}

/** Parts of the page that belong to no cell. @returns undefined if the page contradicts itself */
export function unusedOf({ bytes, usable, header, pointers }: TreePage): ByteRange[] | undefined {
  // 65,536 does not fit, and stands there as 0.
  const contentAt = bytes.readUInt16BE(header + 5) || 65_536
  if (contentAt < pointers.to || contentAt > usable) return undefined
  const unused: ByteRange[] = [{ from: pointers.to, to: contentAt }]
  for (let at = bytes.readUInt16BE(header + 1), before = contentAt - 1; at !== 0; ) {
    if (at <= before || at + BLOCK_HEADER_BYTES > usable) return undefined
    const to = at + bytes.readUInt16BE(at + 2)
    if (to < at + BLOCK_HEADER_BYTES || to > usable) return undefined
    unused.push({ from: at + BLOCK_HEADER_BYTES, to })
    before = to - 1
    at = bytes.readUInt16BE(at)
  }
  return unused
}

/** The payloads of the page that go on elsewhere. */
export function overflowsOf(page: TreePage): Overflow[] {
  if (page.type === TABLE_INTERIOR) return []
  const found: Overflow[] = []
  for (let at = page.pointers.from; at < page.pointers.to; at += 2) {
    const overflow = overflowAt(page, page.bytes.readUInt16BE(at))
    if (overflow !== undefined) found.push(overflow)
  }
  return found
}

function overflowAt({ bytes, usable, type }: TreePage, cellAt: number): Overflow | undefined {
  const payload = numberAt(bytes, type === INDEX_INTERIOR ? cellAt + 4 : cellAt)
  if (payload === undefined) return undefined
  const local = localBytes(payload.value, usable, type)
  if (local === payload.value) return undefined
  const start = type === TABLE_LEAF ? numberAt(bytes, payload.end)?.end : payload.end
  if (start === undefined || start + local + 4 > usable) return undefined
  return { first: bytes.readUInt32BE(start + local), bytes: payload.value - local }
}

/** How much of a payload is in its cell. */
function localBytes(payload: number, usable: number, type: number): number {
  const share = (part: number): number => Math.floor(((usable - 12) * part) / 255) - 23
  const most = type === TABLE_LEAF ? usable - TABLE_LEAF_OVERHEAD : share(64)
  if (payload <= most) return payload
  const least = share(32)
  const fitting = least + ((payload - least) % (usable - 4))
  return fitting <= most ? fitting : least
}

/** SQLite's number of variable length. None of a length that this program stores has more than eight bytes. */
function numberAt(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let end = at; end < Math.min(at + 9, bytes.length); end++) {
    const byte = bytes.readUInt8(end)
    if (end === at + 8) return { value: value * 256 + byte, end: end + 1 }
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: end + 1 }
  }
  return undefined
}
