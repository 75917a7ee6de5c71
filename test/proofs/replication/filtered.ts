// What a filtered secondary is to have, worked out from the paths that its primary shows and not by the program's own
// rules, and what it has: by its API, by its store, and by the bytes of its files.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { locationIn } from '../../../src/storage/drivers.ts'
import { sentEntries } from '../../fixtures/copied-store.ts'
import { type Hidden, HiddenBytes, hiddenKeys } from '../../fixtures/hidden-bytes.ts'
import type { Cluster } from '../../fixtures/real-cluster.ts'
import { until } from '../../fixtures/until.ts'

export type Filter = { readonly mode: 'allow' | 'deny'; readonly paths: readonly string[] }

type Namespace = { readonly path: string; readonly id: string; readonly entry: string }
type Mount = { readonly path: string; readonly uuid: string; readonly type: string; readonly namespace: string }
type Placed = { readonly namespaces: readonly Namespace[]; readonly mounts: readonly Mount[] }

const LOOK_MS = 50
const OF_SYSTEM = ['system', 'identity', 'cubbyhole', 'token', 'ns_system', 'ns_identity', 'ns_cubbyhole', 'ns_token']

/** All namespaces and mounts that a cluster shows. */
export async function placedAt(cluster: Cluster): Promise<Placed> {
  const namespaces: Namespace[] = [{ path: '', id: 'root', entry: '' }]
  const mounts: Mount[] = []
  // It grows on the way.
  for (const { path, id } of namespaces) {
    for (const [folder, table] of [
      ['', 'sys/mounts'],
      ['auth/', 'sys/auth'],
    ] as const) {
      const { body } = await cluster.must('GET', path + table)
      for (const [name, { uuid, type }] of Object.entries((body.data ?? {}) as Record<string, Mount>))
        mounts.push({ path: path + folder + name, uuid, type, namespace: path })
    }
    const { body } = await cluster.call('LIST', `${path}sys/namespaces`)
    const infos = Object.entries((body.data?.key_info ?? {}) as Record<string, Namespace>)
    for (const [name, { id: of }] of infos)
      namespaces.push({ path: path + name, id: of, entry: `${id}/${name.slice(0, -1)}` })
  }
  return { namespaces, mounts }
}

/** The part of it that a filter keeps from its secondary, and the part that it does not. */
export function parted({ namespaces, mounts }: Placed, filter: Filter | undefined) {
  const paths = (filter?.paths ?? []).map((path) => (path.endsWith('/') ? path : `${path}/`))
  const isListed = (path: string): boolean => paths.some((each) => path.startsWith(each))
  const isOnWay = (path: string): boolean => paths.some((each) => each.startsWith(path))
  const isThere = ({ path }: Namespace): boolean => {
    if (filter === undefined || path === '') return true
    return filter.mode === 'deny' ? !isListed(path) : isListed(path) || isOnWay(path)
  }
  const there = new Set(namespaces.filter(isThere).map(({ path }) => path))
  const isShown = ({ path, type, namespace }: Mount): boolean => {
    if (filter === undefined) return true
    if (OF_SYSTEM.includes(type)) return there.has(namespace)
    return (filter.mode === 'deny') !== isListed(path)
  }
  const shown = { namespaces: namespaces.filter(isThere), mounts: mounts.filter(isShown) }
  const hidden = {
    namespaces: namespaces.filter((one) => !shown.namespaces.includes(one)),
    mounts: mounts.filter((one) => !shown.mounts.includes(one)),
  }
  return { shown, hidden }
}

/** What a filter keeps back, by names of stored keys. */
function hiddenOf(placed: Placed, filter: Filter | undefined): Omit<Hidden, 'texts'> {
  const { shown, hidden } = parted(placed, filter)
  return {
    mounts: hidden.mounts.map(({ uuid }) => uuid),
    shownMounts: shown.mounts.map(({ uuid }) => uuid),
    namespaces: hidden.namespaces.map(({ id, entry }) => [id, entry] as const),
  }
}

/** Replicated entries of a store, which may be in use, but for those that are hidden. */
async function replicatedIn(directory: string, isHidden = nothing): Promise<ReadonlyMap<string, string>> {
  const store = await locationIn(directory).openReader()
  try {
    const shared = (await sentEntries(store)).filter((one) => one.class === 'replicated' && !isHidden(one.key))
    return new Map(shared.map(({ key, leaf, value }) => [key, `${leaf.toString('hex')} ${value.toString('hex')}`]))
  } finally {
    await store.close()
  }
}

const nothing = (_key: string): boolean => false

/** Waits until the store of the secondary has what it is to have, and nothing else. Returns how many entries. */
export async function untilFiltered(primary: Cluster, secondary: Cluster, filter: Filter | undefined): Promise<number> {
  let [differing, count]: [readonly string[], number] = [[], 0]
  const isSame = async (): Promise<boolean> => {
    // Each look reads both stores whole.
    await sleep(LOOK_MS)
    // The primary still writes: mounts that were removed are emptied, and secondaries ask for what they need.
    const theirs = await replicatedIn(primary.directory, hiddenKeys(hiddenOf(await placedAt(primary), filter)))
    count = theirs.size
    const ours = await replicatedIn(secondary.directory)
    differing = [...new Set([...theirs.keys(), ...ours.keys()])].filter((key) => theirs.get(key) !== ours.get(key))
    return differing.length === 0
  }
  try {
    await until(isSame, `${secondary.name} has what it is to have`)
  } catch (cause) {
    throw new Error(`It differs in ${differing.length}: ${differing.slice(0, 10).join(', ')}`, { cause })
  }
  return count
}

/** Fails unless clients of the secondary see what it is to have, and nothing else. */
export async function requireShown(primary: Cluster, secondary: Cluster, filter: Filter | undefined): Promise<void> {
  const { shown, hidden } = parted(await placedAt(primary), filter)
  const seen = await placedAt(secondary)
  const pathsOf = ({ mounts, namespaces }: Placed) =>
    [mounts, namespaces].map((all) => all.map(({ path }) => path).sort())
  assert.deepEqual(pathsOf(seen), pathsOf(shown), JSON.stringify(filter))
  for (const { path } of hidden.namespaces)
    assert.equal((await secondary.call('GET', `${path}sys/mounts`)).status, 404, path)
  const keys = async (cluster: Cluster, path: string) => {
    const { status, body } = await cluster.call('LIST', `${path}keys`)
    return [status, body.data?.keys]
  }
  for (const { path, type } of shown.mounts)
    if (type === 'transit') assert.deepEqual(await keys(secondary, path), await keys(primary, path), path)
  for (const { path, type } of hidden.mounts)
    if (type === 'transit') assert.equal((await keys(secondary, path))[0], 404, path)
}

/** The bytes by which what a filter keeps back would be known, as the primary stores it and has stored it. */
export async function bytesHiddenFrom(primary: Cluster, filter: Filter | undefined): Promise<HiddenBytes> {
  const bytes = new HiddenBytes()
  bytes.hide(hiddenOf(await placedAt(primary), filter))
  const store = await locationIn(primary.directory).openReader()
  try {
    await bytes.look(store)
  } finally {
    await store.close()
  }
  return bytes
}

/** What of it is in the files of a cluster, by the names of the files. */
export function foundIn(directory: string, hidden: HiddenBytes): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return files.flatMap(({ name, parentPath }) =>
    hidden.in(readIfThere(join(parentPath, name))).map((what) => `${name}: ${what}`),
  )
}

/** Keys of all classes. */
async function storedKeys(directory: string): Promise<readonly string[]> {
  const store = await locationIn(directory).openReader()
  const snapshot = await store.snapshot()
  try {
    return (await snapshot.stored('', Number.MAX_SAFE_INTEGER)).map(({ key }) => key)
  } finally {
    await snapshot.close()
    await store.close()
  }
}

/** A journal may go while files are read. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw cause
  }
}

/** Waits until nothing of it is in the files, as long as the promise allows. Returns how long that took. */
export async function untilForgotten(cluster: Cluster, hidden: HiddenBytes, withinMs: number): Promise<number> {
  const startedMs = performance.now()
  let found: readonly string[] = []
  const isGone = async (): Promise<boolean> => {
    await sleep(LOOK_MS)
    found = foundIn(cluster.directory, hidden)
    return found.length === 0
  }
  try {
    await until(isGone, `the files of ${cluster.name} are rid of what is hidden`, withinMs)
  } catch (cause) {
    const stored = (await storedKeys(cluster.directory)).filter((key) => hidden.in(Buffer.from(key)).length > 0)
    const told = `${found.slice(0, 10).join(', ')}; stored keys that name it: ${stored.slice(0, 10).join(', ')}`
    throw new Error(`In its files are ${found.length}: ${told}`, { cause })
  }
  return performance.now() - startedMs
}
