// The server that ratios are taken from: it does the least that a server in this runtime must do for an encryption.
// node:http reads the request, JSON is parsed, AES-256-GCM encrypts, the envelope is written. No routing, no token, no
// policy, no storage, one thread. It is good for nothing else.
import { createCipheriv, createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Nonces are drawn in blocks, because each call of the generator costs about a microsecond. */
const NONCES_AT_ONCE = 4096

type Item = { readonly plaintext?: string }
type Body = Item & { readonly batch_input?: readonly Item[] }

const key = createSecretKey(randomBytes(32))
let nonces = Buffer.alloc(0)
let nextNonce = 0

function freshNonce(): Buffer {
  if (nextNonce === nonces.length) {
    nonces = randomBytes(NONCE_BYTES * NONCES_AT_ONCE)
    nextNonce = 0
  }
  nextNonce += NONCE_BYTES
  return nonces.subarray(nextNonce - NONCE_BYTES, nextNonce)
}

function encrypt({ plaintext = '' }: Item): { readonly ciphertext: string; readonly key_version: number } {
  const nonce = freshNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  const sealed = [nonce, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()]
  return { ciphertext: `vault:v1:${Buffer.concat(sealed).toString('base64')}`, key_version: 1 }
}

function answer(body: Body): string {
  const data = body.batch_input === undefined ? encrypt(body) : { batch_results: body.batch_input.map(encrypt) }
  return JSON.stringify({
    request_id: randomUUID(),
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: null,
    auth: null,
  })
}

const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const text = answer(JSON.parse(Buffer.concat(chunks).toString()))
    outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    outgoing.end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
