// The development server opens itself: it keeps its unseal key beside its data, which protects nothing. Never for
// production; it says so wherever it shows itself.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from './api/errors.ts'
import { isJsonObject, JsonError, type JsonValue, parseStoredJson } from './lib/json.ts'
import { StorageError } from './storage/contract.ts'
import type { Made, WriterHouse } from './writer-house.ts'

const FILE = 'development-keys.json'
const NOTE = 'This server is for development: the key in this file opens its storage. Never keep real secrets in it.'

export type DevelopmentKeys = { readonly unsealKey: string; readonly rootToken: string }

/** Initialises the store if it is new, opens it, and makes sure that the root token asked for is one. */
export async function openDevelopment(
  house: WriterHouse,
  directory: string,
  wanted: string | undefined,
): Promise<DevelopmentKeys> {
  const path = join(directory, FILE)
  if (!house.seal.status().initialized) {
    const keep = (made: Made): void => {
      writeKeys(path, { unsealKey: (made.shares[0] as Buffer).toString('base64'), rootToken: made.rootToken })
    }
    await house.initialise({ shares: 1, threshold: 1 }, '', {
      ...(wanted === undefined ? {} : { rootToken: wanted }),
      keep,
    })
  }
  const kept = readKeys(path)
  await unseal(house, path, kept.unsealKey)
  const rootToken = wanted ?? kept.rootToken
  if ((await house.tokens.find(rootToken)) === undefined)
    await house.tokens.insert(rootToken, house.tokenService.rootEntry())
  if (rootToken !== kept.rootToken) {
    // One root token at a time, or every one that was ever asked for would open the store for ever.
    await house.tokens.revoke(house.tokens.idOf(kept.rootToken))
    writeKeys(path, { ...kept, rootToken })
  }
  return { ...kept, rootToken }
}

async function unseal(house: WriterHouse, path: string, unsealKey: string): Promise<void> {
  try {
    await house.operations.unseal(Buffer.from(unsealKey, 'base64'))
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    throw new StorageError(`${path} does not open the store beside it: one of the two is damaged, or of another server`)
  }
}

function readKeys(path: string): DevelopmentKeys {
  const value = parsed(path, readFile(path))
  if (!isJsonObject(value) || typeof value.unseal_key !== 'string' || typeof value.root_token !== 'string') {
    throw new StorageError(`${path} does not hold unseal_key and root_token`)
  }
  return { unsealKey: value.unseal_key, rootToken: value.root_token }
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

function parsed(path: string, bytes: Buffer): JsonValue {
  try {
    return parseStoredJson(bytes)
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw new StorageError(`${path} is ${cause.message}`)
  }
}

/** Whole or not at all: written beside, synced, then renamed. */
function writeKeys(path: string, keys: DevelopmentKeys): void {
  const text = JSON.stringify({ note: NOTE, unseal_key: keys.unsealKey, root_token: keys.rootToken }, null, 2)
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, `${text}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}
