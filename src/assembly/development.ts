// The development server unseals itself: it keeps its unseal key beside its data, which protects nothing. It is never
// for production, and says so wherever it shows itself.
//
//   development-keys.json   {"note":…,"unseal_key":base64,"root_token":text}, and while a rekey is stored
//                           "next_unseal_key":base64: one of the two opens. On a cluster that follows another the
//                           shares of that one open, so "root_key":base64 is kept and opens instead
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../api/errors.ts'
import { mayChange } from '../api/node-role.ts'
import { group, optional, text } from '../lib/member-kinds.ts'
import { syncDirectory } from '../storage/data-directory.ts'
import { StorageError } from '../storage/errors.ts'
import { decodeStored } from '../storage/stored-record.ts'
import type { KeyKeeper } from '../system/seal/seal.ts'
import type { InitialSecrets } from './initialisation.ts'
import type { WritingNode } from './writing-node.ts'

/** The name of that file, in the directory of the data. */
export const DEVELOPMENT_KEYS = 'development-keys.json'
const NOTE = 'This server is for development: the key in this file opens its storage. Never keep real secrets in it.'

const KEYS_FILE = group({
  unseal_key: text,
  root_token: text,
  next_unseal_key: optional(text),
  root_key: optional(text),
})

type KeptKeys = {
  /** The unseal key in base64. With a single share, the share is the key. */
  readonly unsealKey: string
  readonly nextUnsealKey?: string
  readonly rootKey?: string
  readonly rootToken: string
}

/** The secrets that a development server prints at its start. */
export type DevelopmentKeys = {
  /** Undefined if a rekey has split it into several shares, or if the shares are those of another cluster. */
  readonly unsealKey: string | undefined
  readonly rootToken: string
}

/**
 * Initialises the store if it is new, unseals it, and makes sure that the wanted root token is one. `wanted` undefined:
 * the root token of the file stays.
 * @throws StorageError if no key of the file opens the store
 */
export async function openDevelopment(
  node: WritingNode,
  directory: string,
  wanted: string | undefined,
): Promise<DevelopmentKeys> {
  if (!node.seal.status().initialized) {
    const keep = (made: InitialSecrets): void => {
      writeKeys(directory, { unsealKey: (made.shares[0] as Buffer).toString('base64'), rootToken: made.rootToken })
    }
    await node.initialise({ shares: 1, threshold: 1 }, '', {
      ...(wanted === undefined ? {} : { rootToken: wanted }),
      keep,
    })
  }
  const kept = readKeys(directory)
  const opened = await unseal(node, directory, kept)
  const unsealKey = opened.unsealKey !== undefined && node.seal.shareConfig.shares === 1 ? opened.unsealKey : undefined
  // The tokens of a cluster for disaster recovery are its primary's, the root token too.
  if (!mayChange(node.nodeRole(), 'cluster')) return { unsealKey, rootToken: kept.rootToken }
  const rootToken = wanted ?? kept.rootToken
  if ((await node.tokens.find(rootToken)) === undefined)
    await node.tokens.insert(rootToken, node.tokenService.rootEntry())
  // Only one root token at a time: otherwise every token that was ever asked for would stay valid.
  if (rootToken !== kept.rootToken) await node.tokens.revoke(node.tokens.idOf(kept.rootToken))
  const { nextUnsealKey, ...keys } = { ...kept, ...opened, rootToken }
  if (rootToken !== kept.rootToken || nextUnsealKey !== undefined) writeKeys(directory, keys)
  return { unsealKey, rootToken }
}

/**
 * Keeps the file right through a rekey. While the new key is being stored the file has both, since a crash leaves
 * either in force.
 */
export function developmentKeeper(directory: string): KeyKeeper {
  return {
    prepare: (key) => writeKeys(directory, { ...readKeys(directory), nextUnsealKey: key.toString('base64') }),
    prepareRoot: (rootKey) => writeKeys(directory, { ...readKeys(directory), rootKey: rootKey.toString('base64') }),
    settle: () => {
      try {
        const { unsealKey, nextUnsealKey = unsealKey, rootToken } = readKeys(directory)
        writeKeys(directory, { unsealKey: nextUnsealKey, rootToken })
      } catch {
        // Both keys stay in the file; the next start finds out which one opens.
      }
    },
    opened: (key) => {
      try {
        const kept = readKeys(directory)
        const unsealKey = key.toString('base64')
        if (!candidates(kept).includes(unsealKey)) writeKeys(directory, { unsealKey, rootToken: kept.rootToken })
      } catch {
        // The server is open all the same. The next start tells that the file does not fit.
      }
    },
  }
}

/** Returns the unseal keys in the file, one of which opens the store; none if there is no file. */
export function findDevelopmentKeys(directory: string): readonly Buffer[] {
  return existsSync(join(directory, DEVELOPMENT_KEYS)) ? candidates(readKeys(directory)).map(fromBase64) : []
}

/** Returns the root key in the file, which opens where shares of another cluster do; undefined if it has none. */
export function findDevelopmentRootKey(directory: string): Buffer | undefined {
  const rootKey = existsSync(join(directory, DEVELOPMENT_KEYS)) ? readKeys(directory).rootKey : undefined
  return rootKey === undefined ? undefined : fromBase64(rootKey)
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64')

function candidates({ unsealKey, nextUnsealKey }: KeptKeys): readonly string[] {
  return nextUnsealKey === undefined ? [unsealKey] : [unsealKey, nextUnsealKey]
}

/** Returns the unseal key that opened the server; none if the root key did. */
async function unseal(node: WritingNode, directory: string, kept: KeptKeys): Promise<{ readonly unsealKey?: string }> {
  for (const key of candidates(kept)) {
    if (await opens(() => node.unsealWith(fromBase64(key)))) return { unsealKey: key }
  }
  const { rootKey } = kept
  if (rootKey !== undefined && (await opens(() => node.unsealWithRoot(fromBase64(rootKey))))) return {}
  const path = join(directory, DEVELOPMENT_KEYS)
  throw new StorageError(`${path} does not open the store beside it: one of the two is damaged, or of another server`)
}

async function opens(open: () => Promise<void>): Promise<boolean> {
  try {
    await open()
    return true
  } catch (cause) {
    if (cause instanceof Refusal) return false
    throw cause
  }
}

function readKeys(directory: string): KeptKeys {
  const path = join(directory, DEVELOPMENT_KEYS)
  const { unseal_key, root_token, next_unseal_key, root_key } = decodeStored(path, KEYS_FILE, readFile(path))
  return {
    unsealKey: unseal_key,
    rootToken: root_token,
    ...(next_unseal_key === undefined ? {} : { nextUnsealKey: next_unseal_key }),
    ...(root_key === undefined ? {} : { rootKey: root_key }),
  }
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new StorageError(`${path} cannot be read (${code})`)
    throw new StorageError(
      `${path} is missing: the store beside it was not made by a development server, or its key was removed`,
    )
  }
}

/** Replaces the file as a whole or not at all: written beside it, synced, then renamed. */
function writeKeys(directory: string, { unsealKey, nextUnsealKey, rootKey, rootToken }: KeptKeys): void {
  const path = join(directory, DEVELOPMENT_KEYS)
  const unsealKeys = { unseal_key: unsealKey, next_unseal_key: nextUnsealKey }
  const keys = { note: NOTE, ...unsealKeys, root_key: rootKey, root_token: rootToken }
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, `${JSON.stringify(keys, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  syncDirectory(directory)
}
