// Says what a thread must not load when it starts, and finds the ways on which it does. Each file of the program takes
// memory in every thread that loads it, and time at each start: one import in the wrong place brings dozens of them.
import { posix } from 'node:path'
import type { Import } from './imports.ts'
import type { Finding } from './tree.ts'

/** What has links to other clusters: it runs on a thread of its own. */
const LINKS = [
  'src/lib/tls-dial.ts',
  'src/lib/tls-link.ts',
  'src/lib/tls-links.ts',
  'src/lib/tls-listen.ts',
  'src/replication/link/link-host.ts',
]

/**
 * The file that starts a thread, and what it must not reach by imports: files, or folders with `/` at the end. A call
 * of `import()` is no way: it loads when it is carried out.
 */
export const WALLS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    // It answers what needs no write. The seal, the node's own work, restores and commits are the writing thread's.
    'src/process/serving.ts',
    [
      'src/assembly/writing-node.ts',
      'src/assembly/build-seal.ts',
      'src/assembly/activation.ts',
      'src/assembly/own-work.ts',
      'src/assembly/restore.ts',
      'src/assembly/static-seal.ts',
      'src/config/listener.ts',
      ...LINKS,
      'src/process/device-host.ts',
      'src/process/restorable-store.ts',
      'src/storage/commit/',
      'src/storage/sqlite/sqlite-backend.ts',
      'src/storage/sqlite/sqlite-store.ts',
      'src/storage/verify/',
      'src/system/seal/keyring-rotation.ts',
      'src/system/seal/rekey.ts',
      'src/system/seal/seal.ts',
    ],
  ],
  [
    // It listens nowhere, has no link, checks no store and starts no process.
    'src/process/writer.ts',
    [
      'src/http/listener.ts',
      ...LINKS,
      'src/process/device-host.ts',
      'src/storage/memory-store.ts',
      'src/storage/verify/',
    ],
  ],
  [
    // It passes ciphertext on. Links, and the store that they send from, it loads when there are some.
    'src/process/linking.ts',
    [
      'src/assembly/',
      'src/auth/',
      'src/config/',
      'src/core/core.ts',
      'src/crypto/',
      'src/engines/',
      'src/http/',
      ...LINKS,
      'src/storage/barrier.ts',
      'src/storage/sqlite/',
      'src/system/',
    ],
  ],
  [
    // It watches: it has no store, no engine and no keys, and answers no request.
    'src/process/server-command.ts',
    [
      'src/assembly/node-rooms.ts',
      'src/core/core.ts',
      'src/engines/transit/',
      'src/http/listener.ts',
      ...LINKS,
      'src/storage/commit/committer.ts',
      'src/storage/sqlite/sqlite-reader.ts',
      'src/storage/sqlite/sqlite-store.ts',
      'src/storage/verify/',
      'src/system/',
    ],
  ],
  [
    // It does jobs of the crypto room, and nothing else.
    'src/process/slow-worker.ts',
    ['src/assembly/', 'src/auth/', 'src/core/core.ts', 'src/engines/', 'src/http/', 'src/storage/', 'src/system/'],
  ],
])

/**
 * Returns a finding for each wall that a start reaches, with the shortest way, and for each that stands nowhere. A
 * start that is not among the files is left out.
 */
export function wallFindings(
  imports: ReadonlyMap<string, readonly Import[]>,
  walls: ReadonlyMap<string, readonly string[]> = WALLS,
): Finding[] {
  return [...walls].flatMap(([start, refused]) => {
    if (!imports.has(start)) return []
    const ways = waysFrom(start, imports)
    return refused.flatMap((wall) => {
      const message = wallFault(wall, ways, imports)
      return message === undefined ? [] : [{ path: start, line: 1, message }]
    })
  })
}

function wallFault(
  wall: string,
  ways: ReadonlyMap<string, readonly string[]>,
  imports: ReadonlyMap<string, readonly Import[]>,
): string | undefined {
  const isBehind = (path: string): boolean => (wall.endsWith('/') ? path.startsWith(wall) : path === wall)
  if (![...imports.keys()].some(isBehind)) return `must not load ${wall}, which is not there: take it out of WALLS`
  const way = [...ways].find(([path]) => isBehind(path))?.[1]
  return way && `must not load ${wall}, and does: ${way.join(' > ')}`
}

/** Returns the shortest way from the start to every file that it loads, nearest files first. */
function waysFrom(start: string, imports: ReadonlyMap<string, readonly Import[]>): Map<string, readonly string[]> {
  const ways = new Map<string, readonly string[]>([[start, [start]]])
  // What is added meanwhile is visited too.
  for (const [path, way] of ways) {
    for (const { specifier, typeOnly, dynamic } of imports.get(path) ?? []) {
      if (typeOnly || dynamic || !specifier?.startsWith('.')) continue
      const to = posix.join(posix.dirname(path), specifier)
      if (!ways.has(to)) ways.set(to, [...way, to])
    }
  }
  return ways
}
