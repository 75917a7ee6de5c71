// However a snapshot is damaged, its restore is answered: with 400 and a reason, over a connection that carries the
// answer to whoever sends all of it before they read.
import { strict as assert } from 'node:assert'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assembleWriting, type WritingNode } from '../../src/assembly/writing-node.ts'
import type { WireRequest, WireResponse } from '../../src/core/exchange.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { restorableStore } from '../../src/process/restorable-store.ts'
import { storageIn, storeLocation } from '../../src/storage/drivers.ts'
import { ReplaceableStore } from '../../src/storage/replaceable-store.ts'
import { CHUNK_HEAD_BYTES, HASH_BYTES, headerLength, PREFIX_BYTES } from '../../src/storage/snapshot/snapshot-format.ts'
import { wireRequest } from '../fixtures/memory-server.ts'
import { type OpenListener, openListener } from '../fixtures/open-listener.ts'
import { type RawAnswer, RawConnection } from '../fixtures/raw-http.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'

const PATH = '/v1/sys/storage/snapshot'
/** More than sockets hold: who sends it is still at it when a damage at the beginning is found. */
const LONG = Buffer.alloc(24 * 1024 * 1024, 'long ')

const { path: directory, cleanUp } = temporaryDirectory()
let server: WritingNode
let store: ReplaceableStore
let listener: OpenListener
let snapshot: Buffer

before(async () => {
  const world = realWorld()
  const { random, clock } = world
  const storage = storageIn(directory)
  const open = () => storeLocation(storage).open({ random, clock, onFatal: (cause) => assert.fail(cause) })
  store = new ReplaceableStore(await open())
  server = await assembleWriting({
    role: 'all',
    store,
    world,
    slow: inlineWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: storage.type, apiAddress: '', clusterName: '' },
    tokenLimits: { defaultTtlSeconds: 3600, maxTtlSeconds: 3600 },
    restorable: restorableStore(storage, store, open),
  })
  const { shares } = await server.initialise({ shares: 1, threshold: 1 }, '', { rootToken: 'root' })
  await server.operations.unseal(shares[0] as Buffer)
  const { stream } = await server.core.handle(wireRequest('GET', PATH.slice(4), undefined, 'root'))
  const parts: Uint8Array[] = []
  for await (const part of stream ?? []) parts.push(part)
  snapshot = Buffer.concat(parts)
  // The time stands still: who had to wait for a deadline would wait for good.
  const time = steppedTime(0)
  listener = await openListener({ handle, takesStream: (method) => method === 'POST', time })
})
after(async () => {
  await listener.stop()
  await server.operations.seal()
  await store.close()
  cleanUp()
})

/** The stream goes to another thread, as it does in a server. */
async function handle(request: WireRequest): Promise<WireResponse> {
  if (request.stream === undefined) return server.core.handle(request)
  const stream = structuredClone(request.stream, { transfer: [request.stream] })
  try {
    return await server.core.handle({ ...request, stream })
  } finally {
    stream.cancel().catch(() => {})
  }
}

type Framing = 'length' | 'chunked'

async function restore(
  body: Buffer,
  framing: Framing,
  more: { readonly token?: string; readonly headers?: string } = {},
): Promise<RawAnswer | undefined> {
  const { token = 'root', headers = '' } = more
  const head = `POST ${PATH}?force=true HTTP/1.1\r\nHost: a\r\nX-Vault-Token: ${token}\r\n${headers}`
  const sent = framing === 'length' ? withLengthBefore(head, body) : inChunks(head, body)
  const { port } = listener.listener
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  // As many clients do, it sends all before it reads: a connection that is reset meanwhile loses the answer.
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(sent, (error) => (error ? reject(error) : resolve()))
  })
  const connection = RawConnection.over(socket)
  const answer = await connection.read()
  connection.close()
  return answer
}

const withLengthBefore = (head: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body])

function inChunks(head: string, body: Buffer): Buffer {
  const size = body.length === 0 ? '' : `${body.length.toString(16)}\r\n`
  const end = body.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n'
  return Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${size}`), body, Buffer.from(end)])
}

const with_ = (at: number, byte: number, bytes = snapshot): Buffer => bytes.with(at, byte) as Buffer
const flipped = (at: number): Buffer => with_(at, (snapshot[at] ?? 0) ^ 1)
const withLength = (at: number, length: number): Buffer => {
  const bytes = Buffer.from(snapshot)
  bytes.writeUInt32BE(length, at)
  return bytes
}
const followed = (bytes: Buffer): Buffer => Buffer.concat([bytes, LONG])
const chunkAt = (): number => PREFIX_BYTES + headerLength(snapshot)
const cut = (length: number): Buffer => snapshot.subarray(0, length)

const DAMAGES: readonly { readonly name: string; readonly bytes: () => Buffer; readonly says: RegExp }[] = [
  { name: 'nothing', bytes: () => Buffer.alloc(0), says: /ends inside its beginning/ },
  { name: 'a byte', bytes: () => cut(1), says: /ends inside its beginning/ },
  { name: 'its beginning alone', bytes: () => cut(PREFIX_BYTES), says: /ends inside its header/ },
  { name: 'half a header', bytes: () => cut(PREFIX_BYTES + 9), says: /ends inside its header/ },
  { name: 'a header alone', bytes: () => cut(chunkAt()), says: /ends inside chunk 1/ },
  { name: 'the head of a chunk', bytes: () => cut(chunkAt() + CHUNK_HEAD_BYTES), says: /ends inside chunk 1/ },
  { name: 'all but a byte', bytes: () => cut(snapshot.length - 1), says: /ends inside chunk/ },
  { name: 'no last chunk', bytes: () => cut(snapshot.length - 4 - HASH_BYTES), says: /ends inside chunk/ },
  { name: 'another magic', bytes: () => flipped(0), says: /no snapshot of Keywright/ },
  { name: 'another magic, and more', bytes: () => followed(flipped(0)), says: /no snapshot of Keywright/ },
  { name: 'another format', bytes: () => followed(with_(8, 9)), says: /has format 9/ },
  { name: 'a header that is too long', bytes: () => followed(withLength(9, 65_537)), says: /header .* is damaged/ },
  { name: 'a header without end', bytes: () => followed(withLength(9, 2 ** 32 - 1)), says: /header .* is damaged/ },
  { name: 'a header that is no JSON', bytes: () => followed(with_(PREFIX_BYTES, 0x5b)), says: /header .* is damaged/ },
  { name: 'a header that is another', bytes: () => followed(flipped(PREFIX_BYTES + 20)), says: /damaged, or is not/ },
  {
    name: 'a chunk that is too long',
    bytes: () => followed(withLength(chunkAt() + 1, 2 ** 31)),
    says: /cannot be so long/,
  },
  { name: 'an unknown kind', bytes: () => followed(with_(chunkAt(), 7)), says: /damaged, or is not in its place/ },
  { name: 'a flipped bit in a chunk', bytes: () => followed(flipped(chunkAt() + 40)), says: /damaged, or is not/ },
  { name: 'a flipped bit in the last hash', bytes: () => flipped(snapshot.length - 1), says: /damaged, or is not/ },
  {
    name: 'a byte behind its end',
    bytes: () => Buffer.concat([snapshot, Buffer.alloc(1)]),
    says: /bytes behind its last/,
  },
  { name: 'much behind its end', bytes: () => followed(snapshot), says: /bytes behind its last/ },
  { name: 'itself behind its end', bytes: () => Buffer.concat([snapshot, snapshot]), says: /bytes behind its last/ },
  { name: 'a compressed form', bytes: () => gzipSync(snapshot), says: /no snapshot of Keywright/ },
  { name: 'a compressed form, and more', bytes: () => followed(gzipSync(snapshot)), says: /no snapshot of Keywright/ },
  { name: 'a text', bytes: () => LONG, says: /no snapshot of Keywright/ },
]

for (const { name, bytes, says } of DAMAGES) {
  test(`a snapshot with ${name} is answered with 400 and a reason, whoever sends it`, async () => {
    for (const framing of ['length', 'chunked'] as const)
      for (const headers of ['', 'Connection: close\r\n']) {
        const answer = await restore(bytes(), framing, { headers })
        assert.ok(answer !== undefined, 'the connection was cut')
        assert.equal(answer.status, 400, answer.body)
        assert.match(answer.body, says)
        assert.match(answer.body, /Nothing was changed/)
      }
  })
}

test('who may not restore is told so, however much they send', async () => {
  for (const framing of ['length', 'chunked'] as const) {
    const answer = await restore(LONG, framing, { token: 'none' })
    assert.equal(answer?.status, 403)
  }
})

test('behind all of these the snapshot is taken', async () => {
  const answer = await restore(snapshot, 'length')
  assert.equal(answer?.status, 200, String(answer?.body))
})
