// The data key of an encrypted file (docs/file-format.md): made and opened by the server, used here.
import { Base64Error, decodeBase64 } from '../lib/base64.ts'
import type { Client } from './client.ts'
import { exactMember } from './exact-json.ts'
import { contextField, missingResult, type TransitValues, transitPath } from './transit-options.ts'

/** A data key as it stands in the file, and in clear. The caller wipes `dataKey`. */
export type EnvelopeKey = { readonly wrappedKey: string; readonly dataKey: Buffer }

const DATA_KEY_BYTES = 32

/** Has the server make a data key under the transit key of the options. @throws RemoteFailure */
export async function newDataKey(client: Client, options: TransitValues, doing: string): Promise<EnvelopeKey> {
  const path = transitPath(options, 'datakey/plaintext')
  const body = JSON.stringify({ bits: DATA_KEY_BYTES * 8, ...contextField(options) })
  const data = exactMember((await client.send({ doing, method: 'PUT', path, body })).body, 'data')
  const wrappedKey = exactMember(data, 'ciphertext')
  if (typeof wrappedKey !== 'string' || wrappedKey === '') throw missingResult(doing, 'ciphertext')
  return { wrappedKey, dataKey: keyBytes(exactMember(data, 'plaintext'), doing) }
}

/** Has the server open a wrapped data key. The caller wipes the result. @throws RemoteFailure */
export async function openDataKey(
  client: Client,
  options: TransitValues,
  wrappedKey: string,
  doing: string,
): Promise<Buffer> {
  const path = transitPath(options, 'decrypt')
  const body = JSON.stringify({ ciphertext: wrappedKey, ...contextField(options) })
  const data = exactMember((await client.send({ doing, method: 'PUT', path, body })).body, 'data')
  return keyBytes(exactMember(data, 'plaintext'), doing)
}

/** Decodes a key of exactly 32 bytes: a shorter one would weaken the file without a sign of it. */
function keyBytes(text: unknown, doing: string): Buffer {
  try {
    const bytes = typeof text === 'string' ? decodeBase64(text) : undefined
    if (bytes?.length === DATA_KEY_BYTES) return bytes
  } catch (error) {
    if (!(error instanceof Base64Error)) throw error
  }
  throw missingResult(doing, `data key of ${DATA_KEY_BYTES} bytes`)
}
