// What a server asked the kernel to do with its files, and when it answered its clients, in one order: the log of
// strace. Causes stand before effects in it: a thread goes on only when its call was written down.
import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'

/** For strace: whole arguments in hexadecimal, files and connections by name. */
export const RECORDING = [
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-yy',
  '-xx',
  '-s',
  '4194304',
  '-e',
  'trace=openat,open,write,writev,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,' +
    'mkdir,mkdirat,link,linkat,symlink,symlinkat,fallocate,copy_file_range,sendfile,pwritev,pwritev2,truncate',
]

export type DiskEvent =
  | { readonly kind: 'create' | 'mkdir' | 'unlink' | 'rmdir'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'truncate'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'sync-begins' | 'sync-ends'; readonly path: string; readonly sync: number }
  /** The first bytes of an answer go to the client with this port. */
  | { readonly kind: 'answer'; readonly port: number }

/** A call of the kernel that succeeded; `begin` and `end` are lines of the log. */
type Call = {
  readonly name: string
  readonly words: string
  readonly result: number
  readonly begin: number
  readonly end: number
}

const LINE = /^(\d+) +(\w+)\(([\s\S]*)\) += (-?\d+)(?:<([^>]*)>)?/
const UNFINISHED = ' <unfinished ...>'
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>/
const READ_BYTES = 1 << 22
/** As strace writes it. */
const ANSWER = Buffer.from('HTTP/1.1 ').toString('hex').replaceAll(/../g, '\\x$&')

/**
 * Everything under `root` (a folder without links in its path), and every answer.
 * @throws Error for a call that cannot be played
 */
export function readDiskLog(log: string, root: string): DiskEvent[] {
  const events: [number, DiskEvent][] = []
  const positions = new Map<string, number>()
  for (const call of callsIn(log)) {
    for (const event of eventsOf(call, root, positions)) {
      events.push([event.kind === 'sync-ends' ? call.end : call.begin, event])
    }
  }
  return events.sort(([a], [b]) => a - b).map(([, event]) => event)
}

function* callsIn(log: string): Generator<Call> {
  const waiting = new Map<string, { readonly text: string; readonly begin: number }>()
  let number = 0
  for (const line of linesOf(log)) {
    number++
    if (line.endsWith(UNFINISHED)) {
      waiting.set(line.slice(0, line.indexOf(' ')), { text: line.slice(0, -UNFINISHED.length), begin: number })
      continue
    }
    const resumed = RESUMED.exec(line)
    const before = resumed === null ? undefined : waiting.get(resumed[1] ?? '')
    const text = resumed === null ? line : `${before?.text ?? ''}${line.slice(resumed[0].length)}`
    const [, , name, words, result] = LINE.exec(text) ?? []
    if (name === undefined || words === undefined || Number(result) < 0) continue
    yield { name, words, result: Number(result), begin: before?.begin ?? number, end: number }
  }
}

/** The log holds lines of megabytes, and is larger than a string can be. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r')
  const chunk = Buffer.alloc(READ_BYTES)
  let rest = ''
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      const lines = (rest + chunk.toString('latin1', 0, read)).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } finally {
    closeSync(file)
  }
}

/** A name, and the folder that it is relative to where the call has one. */
const NAME = /(?:(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>, )?"((?:\\x[0-9a-f]{2})*)"/g
/** Calls whose first argument is a folder, for the name behind it. */
const IN_FOLDER = ['openat', 'unlinkat', 'mkdirat', 'renameat', 'renameat2', 'linkat', 'symlinkat']
const OPEN_FILE = /^\d+<((?:\\x[0-9a-f]{2})*)>/
const CONNECTION = /^\d+<TCP:\[[^>]*->[^\]]*:(\d+)\]>/
const SYNCS = ['fsync', 'fdatasync']

function eventsOf(call: Call, root: string, positions: Map<string, number>): DiskEvent[] {
  const { name, words } = call
  const port = CONNECTION.exec(words)?.[1]
  if (port !== undefined) {
    const isAnswer = name.startsWith('write') && words.slice(words.indexOf('"') + 1).startsWith(ANSWER)
    return isAnswer ? [{ kind: 'answer', port: Number(port) }] : []
  }
  if (!IN_FOLDER.includes(name)) {
    const path = textOf(OPEN_FILE.exec(words)?.[1] ?? '')
    if (isInside(path, root) && !path.endsWith(' (deleted)')) return onFile(call, path, positions)
  }
  if (name.startsWith('write')) return []
  const named = [...words.matchAll(NAME)].map(([, folder, text]) => resolve(textOf(folder ?? ''), textOf(text ?? '')))
  return named.some((path) => isInside(path, root)) ? onNames(call, named, positions) : []
}

function onFile({ name, words, result, begin }: Call, path: string, positions: Map<string, number>): DiskEvent[] {
  const tail = words.slice(words.lastIndexOf('"') + 1).split(', ')
  if (name === 'pwrite64') return [{ kind: 'write', path, at: Number(tail.at(-1)), bytes: written(words, result) }]
  if (name === 'write') {
    const at = positions.get(path) ?? 0
    positions.set(path, at + result)
    return [{ kind: 'write', path, at, bytes: written(words, result) }]
  }
  if (name === 'ftruncate') return [{ kind: 'truncate', path, bytes: Number(tail.at(-1)) }]
  if (SYNCS.includes(name)) {
    return [
      { kind: 'sync-begins', path, sync: begin },
      { kind: 'sync-ends', path, sync: begin },
    ]
  }
  throw new Error(`A recording of ${name} cannot be played`)
}

function onNames({ name, words }: Call, [path = '', to = '']: string[], positions: Map<string, number>): DiskEvent[] {
  if (name.startsWith('open')) {
    positions.delete(path)
    const events: DiskEvent[] = []
    if (words.includes('O_CREAT')) events.push({ kind: 'create', path })
    if (words.includes('O_TRUNC')) events.push({ kind: 'truncate', path, bytes: 0 })
    return events
  }
  if (name.startsWith('rename')) return [{ kind: 'rename', path, to }]
  if (name.startsWith('mkdir')) return [{ kind: 'mkdir', path }]
  if (name === 'rmdir' || words.includes('AT_REMOVEDIR')) return [{ kind: 'rmdir', path }]
  if (name.startsWith('unlink')) return [{ kind: 'unlink', path }]
  throw new Error(`A recording of ${name} cannot be played`)
}

function written(words: string, count: number): Buffer {
  const bytes = Buffer.from(hexOf(words.slice(words.indexOf('"') + 1, words.lastIndexOf('"'))), 'hex')
  if (bytes.length < count) throw new Error('A write was recorded in part')
  return bytes.subarray(0, count)
}

const isInside = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`)
const hexOf = (escaped: string): string => escaped.replaceAll('\\x', '')
const textOf = (escaped: string): string => Buffer.from(hexOf(escaped), 'hex').toString()
