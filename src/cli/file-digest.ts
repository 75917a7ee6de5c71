// The input of a file signature: files have any size, and only a hash travels (docs/file-format.md).
import { namedHashOf } from '../crypto/primitives/named-hash.ts'
import type { Client } from './client.ts'
import { exactMember } from './exact-json.ts'
import { missingResult, type TransitValues, transitPath } from './transit-options.ts'

/** Fields of a request of `sign`, and the same of `verify`: a signature verifies only if both are made alike. */
export type SignedInput = {
  readonly input: string
  readonly prehashed: boolean
  readonly hash_algorithm: string
}

/** Sets the statement apart from every other message that the same key signs: no other begins with this line. */
const STATEMENT = 'keywright file signature 1\n'

/**
 * Hashes the content. Keys of RSA and ECDSA sign the hash itself, so that other programs verify it.
 * Keys that only sign whole messages sign a statement of the hash.
 * @throws RangeError unless `hash` is one of HASH_NAMES
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

/** Asks for the type of the key, which decides what is signed. @throws RemoteFailure */
export async function askKeyType(client: Client, options: TransitValues): Promise<string> {
  const doing = `reading the type of the key "${options.key}"`
  const answer = await client.send({ doing, method: 'GET', path: transitPath(options, 'keys') })
  const type = exactMember(exactMember(answer.body, 'data'), 'type')
  if (typeof type !== 'string') throw missingResult(doing, 'type')
  return type
}
