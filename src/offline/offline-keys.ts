// Opens the keys of a store from its shares without a server, for the commands that work on a data directory.

import { Refusal } from '../api/errors.ts'
import { CliError } from '../cli/cli-error.ts'
import { readInputText, STDIN } from '../cli/input.ts'
import { type CliIo, writeAll } from '../cli/io.ts'
import { askSecret } from '../cli/secret-prompt.ts'
import { asciiTrim } from '../lib/ascii.ts'
import type { World } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import { locationIn } from '../storage/drivers.ts'
import { StorageReadOnly } from '../storage/errors.ts'
import { type VerifyKeys, verifyKeysOf } from '../storage/verify-keys.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import { Seal } from '../system/seal/seal.ts'
import type { OpenedKeys } from '../system/seal/seal-records.ts'
import { decodeShare } from '../system/seal/share-text.ts'

/** Takes shares until they open the store. @throws CliError if they do not; StorageError */
export function openWithShares(directory: string, shares: AsyncIterable<string>, world: World): Promise<VerifyKeys> {
  return openOffline(directory, world, async (seal) => {
    for await (const share of shares) {
      const opened = await give(seal, share)
      if (opened !== undefined) return opened
    }
    throw new CliError(`The store needs ${seal.status().threshold} unseal keys, ${seal.status().progress} were given`)
  })
}

/**
 * Opens the store with the first of these unseal keys that fits, else with the root key, if there is one.
 * @throws CliError if none does; StorageError
 */
export function openWithKey(
  directory: string,
  unsealKeys: readonly Buffer[],
  world: World,
  rootKey?: Buffer,
): Promise<VerifyKeys> {
  return openOffline(directory, world, async (seal) => {
    const ways = unsealKeys.map((key) => () => seal.openWith(key))
    if (rootKey !== undefined) ways.push(() => seal.unsealWithRoot(rootKey))
    for (const open of ways) {
      try {
        return await open()
      } catch (cause) {
        if (!(cause instanceof Refusal)) throw cause
      }
    }
    throw new CliError('The unseal keys do not unseal this store')
  })
}

/** Reads keys without checking the contents first: the store may be damaged, and a server may be running on it. */
async function openOffline(
  directory: string,
  world: World,
  open: (seal: Seal) => Promise<OpenedKeys>,
): Promise<VerifyKeys> {
  const reader = await locationIn(directory).openUnchecked()
  try {
    const seal = new Seal(readOnlyStore(reader), world, undefined)
    await loadFor(seal)
    if (!seal.status().initialized) throw new CliError('The store has no keys: its server was never initialised')
    const opened = await open(seal)
    const keys = verifyKeysOf(new Barrier(world.random, opened.keyring), opened.leafKey)
    opened.leafKey.fill(0)
    return keys
  } finally {
    await reader.close()
  }
}

/** A store with a static key has no unseal keys that an operator could type. @throws CliError for such a store */
async function loadFor(seal: Seal): Promise<void> {
  try {
    await seal.load()
  } catch (cause) {
    if (!(cause instanceof AutoSealFailed)) throw cause
    throw new CliError('The store is unsealed by a static key, not by unseal keys: check it without -unseal-key', cause)
  }
}

/** Clears the share after use. @throws CliError if the shares do not fit the store */
async function give(seal: Seal, text: string): Promise<OpenedKeys | undefined> {
  const share = readShare(text)
  try {
    return await seal.give(share)
  } catch (cause) {
    if (cause instanceof Refusal) throw new CliError('The unseal keys do not unseal this store', cause)
    throw cause
  } finally {
    share.fill(0)
  }
}

/** Decodes a share. The message of an error repeats nothing of it. @throws CliError */
function readShare(text: string): Buffer {
  try {
    return decodeShare(text)
  } catch (cause) {
    if (cause instanceof Refusal) throw new CliError('An unseal key is neither hexadecimal nor base64', cause)
    throw cause
  }
}

/** Gives shares from standard input, one a line; on a terminal asks for them as long as they are taken. */
export async function* typedShares(io: CliIo): AsyncGenerator<string> {
  if (io.stdin.isTTY === true) {
    await writeAll(io.stderr, 'Enter unseal keys until the threshold is reached.\n')
    for (;;) yield await askSecret(io, 'Unseal Key')
  }
  for (const line of (await readInputText(io, STDIN)).split('\n')) {
    const share = asciiTrim(line)
    if (share !== '') yield share
  }
}

/** A store for the seal, which only reads here. What it would write is the business of a server. */
function readOnlyStore(reader: ReadStore): Store {
  const refuseNow = (): never => {
    throw new StorageReadOnly('An offline store is read-only')
  }
  const refuse = async (): Promise<never> => refuseNow()
  return {
    get: (key) => reader.get(key),
    list: (prefix, options) => reader.list(prefix, options),
    scan: (prefix, after, limit) => reader.scan(prefix, after, limit),
    lastIndex: () => reader.lastIndex(),
    position: () => reader.position(),
    histories: () => reader.histories(),
    changesSince: (index, limit) => reader.changesSince(index, limit),
    records: (index, limit) => reader.records(index, limit),
    snapshot: () => reader.snapshot(),
    close: () => reader.close(),
    transaction: refuse,
    commit: refuse,
    positionNow: refuseNow,
    committedAfter: refuse,
    adopt: refuse,
    beginHistory: refuse,
    onCommit: () => {},
    setLeafKey: () => {},
    setWritable: async () => {},
    keysReplaced: async () => {},
    roots: refuse,
    scopes: refuse,
    rootsNow: refuse,
    tree: refuse,
    image: refuse,
    hold: refuse,
    release: refuse,
    retained: refuse,
    purge: refuse,
    checkTree: refuse,
    reindex: refuse,
  }
}
