// What a message that carries records of a log goes through on its way from a cluster to itself, below HTTP. The
// control does with the same bytes what no such way can do without: it copies, hashes and encrypts them.
import { strict as assert } from 'node:assert'
import { createCipheriv, createHash, type KeyObject } from 'node:crypto'
import { forgetCommits } from '../src/assembly/build-storage.ts'
import { importSecret } from '../src/crypto/primitives/secret-key.ts'
import type { Random } from '../src/lib/world.ts'
import { Barrier } from '../src/storage/barrier.ts'
import type { AdoptOptions, LogRecord, Scope, Store } from '../src/storage/contract.ts'
import { Invalidation } from '../src/storage/invalidation.ts'
import { decodeRun } from '../src/storage/log/change-record.ts'
import type { History } from '../src/storage/peer-log.ts'
import { sentOf } from '../test/fixtures/followed-log.ts'

const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const FOLDER = `root/logical/${MOUNT}/key/`
const scope: Scope = { namespace: 'root', mount: MOUNT, local: false }
/** Of all stores here: a log can be followed only under the same. */
export const LEAF_KEY = Buffer.alloc(32, 1)
/** Every fourth record changes an entry that is there. */
const WRITES_PER_NAME = 4 / 3
/** Transactions under way at once while the log is made. */
const AT_ONCE = 256
const INDEX_BYTES = 8
const HEAD_BYTES = INDEX_BYTES + 4
const NONCE_BYTES = 12

/** What a step took: milliseconds of the clock, and of the processor. */
export type Cost = { readonly ms: number; readonly cpuMs: number }
/** Costs by the name of their step, summed over all messages. */
export type Costs = Map<string, Cost>

/** Runs a step and adds its cost. */
export async function taken<T>(costs: Costs, name: string, work: () => T | Promise<T>): Promise<T> {
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const result = await work()
  const ms = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  const before = costs.get(name) ?? { ms: 0, cpuMs: 0 }
  costs.set(name, { ms: before.ms + ms, cpuMs: before.cpuMs + (user + system) / 1000 })
  return result
}

/** A barrier with one key. */
export function newBarrier(random: Random): Barrier {
  const terms = new Map([[1, { key: importSecret(random.bytes(32)), installedAtMs: 0 }]])
  return new Barrier(random, { activeTerm: 1, terms })
}

/** Fills an empty store with a log: one entry a record, with a sealed value of so many bytes. */
export async function fill(store: Store, barrier: Barrier, records: number, valueBytes: number): Promise<void> {
  const value = Buffer.alloc(valueBytes, 'v')
  const names = Math.ceil(records / WRITES_PER_NAME)
  for (let at = 0; at < records; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, records - at) }, (_, more) => {
      const key = `${FOLDER}${(at + more) % names}`
      return store.transaction(async (tx) => tx.put(scope, key, barrier.seal(key, value)))
    })
    await Promise.all(some)
  }
}

/** A message: index u64 | length u32 | record, for each record. */
export function frame(records: readonly LogRecord[]): Buffer {
  const parts = records.flatMap(({ index, record }) => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeBigUInt64BE(BigInt(index))
    head.writeUInt32BE(record.length, INDEX_BYTES)
    return [head, record]
  })
  return Buffer.concat(parts)
}

/** The records of a message, as views of it. */
export function unframe(message: Buffer): LogRecord[] {
  const records: LogRecord[] = []
  for (let at = 0; at < message.length; ) {
    const start = at + HEAD_BYTES
    const end = start + message.readUInt32BE(at + INDEX_BYTES)
    records.push({ index: Number(message.readBigUInt64BE(at)), record: message.subarray(start, end) })
    at = end
  }
  return records
}

/** Who sends: its log is read from the beginning. */
export type Sender = { readonly store: Store; readonly histories: readonly History[]; readonly batch: number }

/** Sends the whole log to the store, which is empty, in messages of `batch` records. Returns how many there were. */
export async function sendAll({ store: from, histories, batch }: Sender, to: Store, costs: Costs): Promise<number> {
  const [history] = histories
  assert.ok(history !== undefined)
  const cached = new Map<string, Buffer>()
  const invalidation = new Invalidation()
  for (const prefix of ['sys/policy/', 'sys/identity/', 'core/mounts/', 'logical/']) {
    invalidation.register({ prefix, changed: (_, key) => cached.delete(key), reset: () => cached.clear() })
  }
  forgetCommits(to, invalidation)
  let [sent, index] = [0, 0]
  for (;;) {
    const records = await taken(costs, 'read', () => from.records(index, batch))
    if (records.length === 0) return sent
    const message = await taken(costs, 'frame', () => frame(records))
    const received = await taken(costs, 'unframe', () => unframe(message))
    const [changes, at] = await taken(costs, 'decode', () => sentOf(decodeRun(received), histories))
    for (const { operations } of changes) for (const { key, value } of operations) cached.set(key, value)
    const after: AdoptOptions['after'] = { family: at.family, historyId: history.id, index }
    const mode = index === 0 ? 'redo' : 'follow'
    const adopted = await taken(costs, 'adopt', () => to.adopt(changes, { mode, after, at }))
    assert.deepEqual([adopted.kind, cached.size], ['adopted', 0])
    index = at.index
    sent += records.length
  }
}

/** Seals and opens a value for each record. */
export async function sealAll(barrier: Barrier, records: number, valueBytes: number, costs: Costs): Promise<void> {
  const value = Buffer.alloc(valueBytes, 'v')
  const keys = Array.from({ length: records }, (_, at) => `${FOLDER}${at}`)
  const sealed = await taken(costs, 'seal', () => keys.map((key) => barrier.seal(key, value)))
  await taken(costs, 'open', () => {
    for (const [at, key] of keys.entries()) barrier.open(key, sealed[at] ?? assert.fail())
  })
}

/** Copies, hashes and encrypts each of the records. */
export async function controlAll(records: readonly LogRecord[], key: KeyObject, costs: Costs): Promise<void> {
  let number = 0
  await taken(costs, 'control', () => {
    for (const { record } of records) {
      const copy = Buffer.from(record)
      createHash('sha256').update(copy).digest()
      const nonce = Buffer.alloc(NONCE_BYTES)
      nonce.writeUInt32BE(++number)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      Buffer.concat([cipher.update(copy), cipher.final(), cipher.getAuthTag()])
    }
  })
}

/** Two stores are equal: nothing was lost on the way. */
export async function requireEqual(one: Store, other: Store): Promise<void> {
  assert.deepEqual((await one.roots()).all, (await other.roots()).all)
  assert.notEqual(await one.get(`${FOLDER}0`), undefined)
}
