// What of a file is signed: files of any size, of which only a hash travels.
import { namedHashOf } from '../crypto/primitives/named-hash.ts'
import type { Client } from './client.ts'
import { exactMember } from './exact-json.ts'
import { missingResult, type TransitValues, transitPath } from './transit-options.ts'

/** As the server is asked: the same to sign and to verify. */
export type SignedInput = {
  readonly input: string
  readonly prehashed: boolean
  readonly hash_algorithm: string
}

/** The beginning of what is signed with keys that sign messages only: nothing else that they sign begins so. */
const STATEMENT = 'keywright file signature 1\n'

/**
 * `hash` is one of HASH_NAMES. Keys of RSA and ECDSA sign the hash of the file itself, as other programs verify it.
 * Keys that only sign whole messages sign a statement of the hash (docs/file-format.md).
 */
export async function signedInput(type: string, hash: string, content: AsyncIterable<Buffer>): Promise<SignedInput> {
  const digest = await namedHashOf(hash, content)
  if (digest === undefined) throw new RangeError(`There is no hash ${hash}`)
  if (/^(rsa-|ecdsa-)/.test(type)) {
    return { input: digest.toString('base64'), prehashed: true, hash_algorithm: hash }
  }
  const statement = `${STATEMENT}${hash} ${digest.toString('hex')}\n`
  return { input: Buffer.from(statement).toString('base64'), prehashed: false, hash_algorithm: hash }
}

/** The type of the key, which decides what is signed. @throws RemoteFailure */
export async function askKeyType(client: Client, options: TransitValues): Promise<string> {
  const doing = `reading the type of the key "${options.key}"`
  const answer = await client.send({ doing, method: 'GET', path: transitPath(options, 'keys') })
  const type = exactMember(exactMember(answer.body, 'data'), 'type')
  if (typeof type !== 'string') throw missingResult(doing, 'type')
  return type
}
