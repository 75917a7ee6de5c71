// Opens what a power cut left as a server would, in this process, and asks it what it holds.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findDevelopmentKeys } from '../../../../src/assembly/development.ts'
import { assembleWriting, type WritingNode } from '../../../../src/assembly/writing-node.ts'
import { bodyText } from '../../../../src/core/exchange.ts'
import { inlineWork } from '../../../../src/lib/slow-work.ts'
import { realWorld } from '../../../../src/lib/world.ts'
import { openWithKey } from '../../../../src/offline/offline-keys.ts'
import type { Store } from '../../../../src/storage/contract.ts'
import type { Position } from '../../../../src/storage/peer-log.ts'
import { openSqliteStore } from '../../../../src/storage/sqlite/sqlite-store.ts'
import { verifyStore } from '../../../../src/storage/verify/verify.ts'
import { LIMITS, wireRequest } from '../../../fixtures/memory-server.ts'
import type { Image } from './disk.ts'
import { ABSENT, type Kind, keyText } from './load.ts'

const world = realWorld()

/** Puts the files of an image that was recorded under `root` into the empty or old `directory`. */
export function layOut(files: Image['files'], root: string, directory: string): void {
  rmSync(directory, { recursive: true, force: true })
  const paths = [...files.keys()].sort()
  for (const path of paths) {
    const content = files.get(path)
    const target = join(directory, path.slice(root.length))
    if (content === 'folder') mkdirSync(target, { mode: 0o700, recursive: true })
    else if (content !== undefined) writeFileSync(target, content, { mode: 0o600 })
  }
}

/** What the verifier finds, with the keys of the development server that lie in the directory. */
export async function faultsOfImage(directory: string): Promise<string[]> {
  const faults: string[] = []
  const keys = await openWithKey(directory, findDevelopmentKeys(directory), world)
  verifyStore({ directory, keys, onFinding: (sentence) => faults.push(sentence) })
  return faults
}

export type OpenedImage = {
  /** As it was found, before anything was written to it. */
  readonly position: Position
  /** What is stored of it, as the interface shows it. */
  read(kind: Kind, name: string): Promise<string>
  close(): Promise<void>
}

/** Opens and unseals it. @throws StorageError, Refusal where that is not possible */
export async function openImage(directory: string): Promise<OpenedImage> {
  const store = await openSqliteStore({ directory, random: world.random, clock: world.clock })
  try {
    const position = await positionOf(store)
    const server = await assembleWriting({
      role: 'all',
      store,
      world,
      slow: inlineWork(world),
      log: () => {},
      facts: { reportedVersion: '1.21.0', storageType: 'sqlite', apiAddress: '', clusterName: '' },
      tokenLimits: LIMITS,
    })
    await unseal(server, directory)
    return { position, read: (kind, name) => READERS[kind](get(server), name), close: () => store.close() }
  } catch (cause) {
    await store.close()
    throw cause
  }
}

async function positionOf(store: Store): Promise<Position> {
  const snapshot = await store.snapshot()
  await snapshot.close()
  return snapshot.position
}

async function unseal(server: WritingNode, directory: string): Promise<void> {
  let refused: unknown
  for (const key of findDevelopmentKeys(directory)) {
    try {
      return await server.unsealWith(key)
    } catch (cause) {
      refused = cause
    }
  }
  throw refused ?? new Error('There is no key beside the store')
}

type Found = { readonly status: number; readonly data: Record<string, unknown> }
type Get = (path: string, token?: string) => Promise<Found>

const get =
  (server: WritingNode): Get =>
  async (path, token = 'root') => {
    const response = await server.core.handle(wireRequest('GET', path, undefined, token))
    return { status: response.status, data: JSON.parse(bodyText(response) || '{}').data ?? {} }
  }

/** The text of one that is there; another status is no value that anybody wrote. */
function textOf({ status, data }: Found, text: (data: Record<string, unknown>) => string, gone = 404): string {
  return status === gone ? ABSENT : status === 200 ? text(data) : `status ${status}`
}

const READERS: Readonly<Record<Kind, (get: Get, name: string) => Promise<string>>> = {
  policy: async (get, name) => textOf(await get(`sys/policies/acl/${name}`), ({ policy }) => String(policy)),
  key: async (get, name) =>
    textOf(await get(`transit/keys/${name}`), (data) =>
      keyText(Number(data.latest_version), data.deletion_allowed === true),
    ),
  token: async (get, name) => textOf(await get('auth/token/lookup-self', name), () => 'valid', 403),
  entity: async (get, name) =>
    textOf(await get(`identity/entity/name/${name}`), ({ policies }) => String((policies as string[])[0])),
  mount: async (get, name) => {
    const { status, data } = await get('sys/mounts')
    const mount = data[`${name}/`] as { readonly description: string } | undefined
    return status !== 200 ? `status ${status}` : (mount?.description ?? ABSENT)
  },
}
