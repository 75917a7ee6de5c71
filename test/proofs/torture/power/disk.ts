// A disk as the kernel promises it and no better: what was synced is there after a power cut; of everything else each
// part may be there or not.
//
//   data    each sector (512 bytes) or page (4 KiB) that was written and not synced has any one of the contents that it
//           had since, the last synced one included; so writes are lost, torn, and kept in another order
//   size    any one that the file had since
//   names   those changes that came first, up to any one; a sync of a folder keeps its changes that came before it.
//           File systems with a journal keep that order, and a sync of a file alone keeps no name
//   -shm    an index in shared memory that no sync is asked for: gone, or full of something else
import { dirname } from 'node:path'
import type { PseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { DiskEvent } from './disk-log.ts'

export const SECTOR_BYTES = 512
export const PAGE_BYTES = 4096

/** How what was not synced of a file is treated. */
export const FATES = ['lost', 'kept', 'cut', 'sectors', 'pages'] as const
export type Fate = (typeof FATES)[number]

export type Image = {
  /** Files by path; a folder has no content. */
  readonly files: ReadonlyMap<string, Buffer | 'folder'>
  /** Of each file that had something to lose, for the message of a failure. */
  readonly fates: ReadonlyMap<string, Fate>
}

type Change =
  | { readonly sequence: number; readonly kind: 'write'; readonly at: number; readonly bytes: Buffer }
  | { readonly sequence: number; readonly kind: 'truncate'; readonly bytes: number }

type Inode = { durable: Buffer; pending: Change[]; readonly isFolder: boolean }

type NameChange = {
  readonly sequence: number
  /** Folders that have not kept it yet. */
  readonly folders: Set<string>
  readonly apply: (names: Map<string, Inode>) => void
}

export class Disk {
  readonly #names = new Map<string, Inode>()
  readonly #durableNames = new Map<string, Inode>()
  #nameChanges: NameChange[] = []
  /** What a sync under way will have made durable. */
  readonly #syncs = new Map<number, { readonly inode: Inode | undefined; readonly upTo: number }>()
  #sequence = 0

  /** `folder` is there before all else. */
  constructor(folder: string) {
    const inode = newInode(true)
    this.#names.set(folder, inode)
    this.#durableNames.set(folder, inode)
  }

  apply(event: DiskEvent): void {
    this.#sequence++
    const { kind } = event
    if (kind === 'write' || kind === 'truncate')
      this.#must(event.path).pending.push({ ...event, sequence: this.#sequence })
    else if (kind === 'create' || kind === 'mkdir') this.#make(event.path, kind === 'mkdir')
    else if (kind === 'unlink' || kind === 'rmdir') this.#change([event.path], (names) => names.delete(event.path))
    else if (kind === 'rename') this.#rename(event.path, event.to)
    else if (kind === 'sync-begins') {
      this.#syncs.set(event.sync, { inode: this.#names.get(event.path), upTo: this.#sequence })
    } else if (kind === 'sync-ends') this.#synced(event.path, event.sync)
  }

  /** What a power cut now may leave. */
  crash(random: PseudoRandom): Image {
    const names = new Map(this.#durableNames)
    const kept = random.pick(['none', 'some', 'all'])
    let left =
      kept === 'none' ? 0 : kept === 'all' ? Number.POSITIVE_INFINITY : random.int(this.#nameChanges.length + 1)
    for (const change of this.#nameChanges) if (left-- > 0) change.apply(names)
    const files = new Map<string, Buffer | 'folder'>()
    const fates = new Map<string, Fate>()
    const common = random.chance(0.5) ? random.pick(FATES) : undefined
    for (const [path, inode] of names) {
      if (inode.isFolder) files.set(path, 'folder')
      else if (path.endsWith('-shm')) leaveIndex(files, path, random)
      else {
        const fate = common ?? random.pick(FATES)
        if (inode.pending.length > 0) fates.set(path, fate)
        files.set(path, contentOf(inode, fate, random))
      }
    }
    // Where a folder is not there, nothing in it is.
    for (const path of files.keys())
      if (!files.has(dirname(path)) && !isTop(this.#durableNames, path)) files.delete(path)
    return { files, fates }
  }

  /** What is there while the power is. */
  current(): Image['files'] {
    return new Map(
      [...this.#names].map(([path, inode]) => [path, inode.isFolder ? 'folder' : played(inode, inode.pending.length)]),
    )
  }

  #must(path: string): Inode {
    const inode = this.#names.get(path)
    if (inode === undefined) throw new Error(`${path} was written and never made`)
    return inode
  }

  #make(path: string, isFolder: boolean): void {
    if (this.#names.has(path)) return
    const inode = newInode(isFolder)
    this.#change([path], (names) => names.set(path, inode))
  }

  #rename(from: string, to: string): void {
    const inode = this.#must(from)
    if (inode.isFolder) throw new Error('A recording of a folder that is renamed cannot be played')
    this.#change([from, to], (names) => {
      names.delete(from)
      names.set(to, inode)
    })
  }

  #change(paths: readonly string[], apply: NameChange['apply']): void {
    apply(this.#names)
    this.#nameChanges.push({ sequence: this.#sequence, folders: new Set(paths.map((path) => dirname(path))), apply })
  }

  #synced(path: string, sync: number): void {
    const { inode, upTo } = this.#syncs.get(sync) ?? { inode: undefined, upTo: 0 }
    this.#syncs.delete(sync)
    if (inode === undefined) return
    if (inode.isFolder) {
      this.#syncedFolder(path, upTo)
      return
    }
    const done = inode.pending.filter(({ sequence }) => sequence <= upTo).length
    inode.durable = played(inode, done)
    inode.pending = inode.pending.slice(done)
  }

  /** A renaming between two folders is kept when one of them is synced: it is one change of the file system. */
  #syncedFolder(folder: string, upTo: number): void {
    const isKept = ({ sequence, folders }: NameChange): boolean => sequence <= upTo && folders.has(folder)
    for (const change of this.#nameChanges) if (isKept(change)) change.apply(this.#durableNames)
    this.#nameChanges = this.#nameChanges.filter((change) => !isKept(change))
  }
}

function newInode(isFolder: boolean): Inode {
  return { durable: Buffer.alloc(0), pending: [], isFolder }
}

function isTop(durable: ReadonlyMap<string, Inode>, path: string): boolean {
  return durable.keys().next().value === path
}

function leaveIndex(files: Map<string, Buffer | 'folder'>, path: string, random: PseudoRandom): void {
  if (random.chance(0.5)) return
  const junk = Buffer.alloc(32_768)
  for (let at = 0; at < junk.length; at += 4) junk.writeUInt32LE(random.int(2 ** 32), at)
  files.set(path, junk)
}

/** With the first `count` of the changes that are not synced. */
function played({ durable, pending }: Inode, count: number): Buffer {
  let size = durable.length
  let extent = size
  for (const change of pending.slice(0, count)) {
    size = sizeAfter(size, change)
    extent = Math.max(extent, size)
  }
  const bytes = Buffer.alloc(extent)
  durable.copy(bytes)
  for (const change of pending.slice(0, count)) {
    if (change.kind === 'write') change.bytes.copy(bytes, change.at)
    else bytes.fill(0, change.bytes)
  }
  return bytes.subarray(0, size)
}

function sizeAfter(size: number, change: Change): number {
  return change.kind === 'truncate' ? change.bytes : Math.max(size, change.at + change.bytes.length)
}

function contentOf(inode: Inode, fate: Fate, random: PseudoRandom): Buffer {
  const { pending } = inode
  if (fate === 'lost') return inode.durable
  if (fate === 'kept') return played(inode, pending.length)
  if (fate === 'cut') return played(inode, random.int(pending.length + 1))
  return mixed(inode, fate === 'sectors' ? SECTOR_BYTES : PAGE_BYTES, random)
}

/** Each piece, and the size, as of a moment of its own. */
function mixed({ durable, pending }: Inode, pieceBytes: number, random: PseudoRandom): Buffer {
  const sizes = [durable.length]
  for (const change of pending) sizes.push(sizeAfter(sizes.at(-1) ?? 0, change))
  const extent = Math.max(...sizes)
  const bytes = Buffer.alloc(extent)
  durable.copy(bytes)
  // How many of the changes that touch it each piece has seen.
  const touches = new Map<number, number>()
  for (const change of pending)
    for (const piece of piecesOf(change, extent, pieceBytes)) touches.set(piece, (touches.get(piece) ?? 0) + 1)
  const left = new Map([...touches].map(([piece, count]) => [piece, random.int(count + 1)]))
  for (const change of pending) {
    for (const piece of piecesOf(change, extent, pieceBytes)) {
      const more = left.get(piece) ?? 0
      if (more === 0) continue
      left.set(piece, more - 1)
      applyTo(bytes, change, piece * pieceBytes, Math.min(extent, (piece + 1) * pieceBytes))
    }
  }
  return bytes.subarray(0, random.chance(0.5) ? sizes.at(-1) : random.pick(sizes))
}

function* piecesOf(change: Change, extent: number, pieceBytes: number): Generator<number> {
  const [from, to] = change.kind === 'write' ? [change.at, change.at + change.bytes.length] : [change.bytes, extent]
  for (let piece = Math.floor(from / pieceBytes); piece * pieceBytes < to; piece++) yield piece
}

function applyTo(bytes: Buffer, change: Change, from: number, to: number): void {
  if (change.kind === 'truncate') bytes.fill(0, Math.max(from, change.bytes), to)
  else {
    const first = Math.max(from, change.at)
    const last = Math.min(to, change.at + change.bytes.length)
    change.bytes.copy(bytes, first, first - change.at, last - change.at)
  }
}
