// A key version without messages left: if its key rotates by itself, it is rotated now.
import { maintains, type NodeRole } from '../../../api/node-role.ts'
import type { Secret } from '../../../crypto/primitives/secret.ts'
import type { Log } from '../../../lib/log.ts'
import type { ViewTransaction } from '../../../storage/sealed-storage.ts'
import { identityOf } from './counted-version.ts'
import type { CountedSince } from './message-ledger.ts'

/** The header of a key, as far as its messages are counted. */
type CountedHeader = { readonly latestVersion: number; readonly autoRotatePeriodSeconds: number }
type Found = { readonly header: CountedHeader } | undefined

/** A version, as a question about its messages names it. */
export type AskedVersion = { readonly name: string; readonly version: number; readonly identity: string }

/** Finds keys, and reads one version in a transaction. */
export type CountedKeyReader = {
  find(name: string): Found | Promise<Found>
  versionIn<T>(
    tx: ViewTransaction,
    name: string,
    number: number,
    read: (header: CountedHeader, version: CountedSince, secrets: { readonly hmac: Secret }) => T,
  ): Promise<T | undefined>
}

/** Returns the version that a question names, and the latest of its key; undefined if the name is another key's now. */
export async function askedVersion(
  tx: ViewTransaction,
  keys: CountedKeyReader,
  { name, version, identity }: AskedVersion,
): Promise<{ readonly latestVersion: number; readonly its: CountedSince } | undefined> {
  const found = await keys.versionIn(tx, name, version, ({ latestVersion }, its, secrets) => ({
    latestVersion,
    its,
    isSame: identityOf(secrets) === identity,
  }))
  return found?.isSame === true ? found : undefined
}

/** The parts of the mount that rotate such a key. */
export type ExhaustedParts = {
  readonly keys: Pick<CountedKeyReader, 'find'>
  readonly role: () => NodeRole
  readonly mount: () => { readonly path: string; readonly local: boolean }
  readonly log: Log
  /** Adds a version to a key unless `allow` throws; returns undefined if no key has the name. */
  readonly rotate: (name: string, allow: (header: CountedHeader) => void) => Promise<Found>
}

/** Rotates a key that rotates by itself, and returns its latest version; undefined if it does not, or must not here. */
export async function rotateExhausted(
  { role, mount, keys, log, rotate }: ExhaustedParts,
  { name, version }: Pick<AskedVersion, 'name' | 'version'>,
): Promise<number | undefined> {
  if (!maintains(role(), mount())) return undefined
  const header = (await keys.find(name))?.header
  if (header === undefined || header.autoRotatePeriodSeconds === 0) return undefined
  const rotated = await rotate(name, ({ latestVersion }) => {
    if (latestVersion !== version) throw new RotatedMeanwhile(latestVersion)
  }).catch((cause: unknown) => {
    if (cause instanceof RotatedMeanwhile) return cause.latestVersion
    throw cause
  })
  if (typeof rotated === 'number' || rotated === undefined) return rotated
  const { latestVersion } = rotated.header
  log('info', 'A key was rotated by itself: its last version encrypted as many messages as it may', {
    mount: mount().path,
    key: name,
    version: latestVersion,
  })
  return latestVersion
}

/** Thrown inside the rotation if another thread's question has rotated the key already. */
class RotatedMeanwhile extends Error {
  readonly latestVersion: number
  constructor(latestVersion: number) {
    super('Another thread asked before')
    this.latestVersion = latestVersion
  }
}
