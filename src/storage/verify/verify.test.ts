// F-05 for a store as a whole: what was changed behind its back is found and named.
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { Barrier } from '../barrier.ts'
import { openStore } from '../commit/transactional-store.ts'
import { type AdoptedChange, type Store, systemScope, type Transaction } from '../contract.ts'
import type { StoreVerifyReport } from '../driver.ts'
import { StorageError } from '../errors.ts'
import { encodeChange } from '../log/change-record.ts'
import { firstHistory } from '../log/histories.ts'
import { leafOf, NO_LEAF } from '../log/leaf.ts'
import { sealedTransaction } from '../sealed-storage.ts'
import { createDatabase } from '../sqlite/sqlite-schema.ts'
import { openSqliteBackend, openSqliteStore } from '../sqlite/sqlite-store.ts'
import { verifyKeysOf } from '../verify-keys.ts'
import { verifyStore } from './verify.ts'

const random = new SeededRandom(1)
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const LEAF_KEY = Buffer.alloc(32, 1)
const dataKey = { key: importSecret(Buffer.alloc(32, 2)), installedAtMs: 0 }
const barrier = new Barrier(random, { activeTerm: 1, terms: new Map([[1, dataKey]]) })
const keys = verifyKeysOf(barrier, LEAF_KEY)
const POLICY = 'root/sys/policy/'
const RECORDS = 30

const parent = mkdtempSync(join(tmpdir(), 'keywright-verify-'))
after(() => rmSync(parent, { recursive: true }))
const sound = join(parent, 'sound')

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory, clock, random })
  store.setLeafKey(LEAF_KEY)
  return store
}

async function put(store: Store, name: string, value: string): Promise<void> {
  await store.transaction(async (tx) =>
    sealedTransaction(barrier, systemScope, POLICY, tx).put(name, Buffer.from(value)),
  )
}

/** Records 1 to 30: p0 to p9 three times over; p9 is deleted by record 31. */
async function makeSoundStore(): Promise<void> {
  const store = await open(sound)
  for (let number = 0; number < RECORDS; number++) await put(store, `p${number % 10}`, `value ${number}`)
  await store.transaction(async (tx) => tx.delete(systemScope, `${POLICY}p9`))
  await store.roots()
  await store.close()
}
const made = makeSoundStore()

/** A copy of the store, changed by SQL as an attacker with an editor could. */
async function damaged(
  t: TestContext,
  damage: (database: DatabaseSync, directory: string) => void,
  from = sound,
): Promise<string> {
  await made
  const directory = mkdtempSync(join(parent, 'copy-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'keywright.db')
  copyFileSync(join(from, 'keywright.db'), file)
  chmodSync(file, 0o600)
  const database = new DatabaseSync(file)
  damage(database, directory)
  if (database.isOpen) database.close()
  return directory
}

function verify(directory: string, withKeys = true): StoreVerifyReport & { readonly sentences: string[] } {
  const sentences: string[] = []
  const onFinding = (sentence: string) => sentences.push(sentence)
  const report = verifyStore({ directory, keys: withKeys ? keys : undefined, onFinding })
  assert.equal(report.findings, sentences.length)
  return { ...report, sentences }
}

function flipped(bytes: unknown, bit: number): Buffer {
  assert.ok(bytes instanceof Uint8Array)
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  return copy
}

const flip = (table: string, column: string, where: string, bit: number) => (database: DatabaseSync) => {
  const row = database.prepare(`SELECT ${column} AS bytes FROM ${table} WHERE ${where}`).get()
  database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(flipped(row?.bytes, bit))
}
const sql = (text: string) => (database: DatabaseSync) => database.exec(text)

test('verify finds nothing in a sound store, with keys and without', async (t) => {
  const directory = await damaged(t, () => {})
  const report = verify(directory)
  assert.deepEqual(report.sentences, [])
  assert.deepEqual([report.index, report.entries, report.records], [31, 9, 31])
  assert.deepEqual(report.unchecked, [])
  const without = verify(directory, false)
  assert.deepEqual(without.sentences, [])
  assert.match(without.unchecked.join(), /no unseal key/)
})

test('S1: the place in the log of a peer may lie behind the last record of it, and never before it', async (t) => {
  const directory = mkdtempSync(join(parent, 'origins-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const store = await open(directory)
  await put(store, 'own', 'value')
  const [family, historyId] = ['performance', Buffer.alloc(16, 9)] as const
  const at = (index: number) => ({ family, historyId, index, chain: Buffer.alloc(16, index) })
  const change = (index: number) => {
    const key = `${POLICY}peer${index}`
    const value = barrier.seal(key, Buffer.from('of the peer'))
    const newLeaf = leafOf(importSecret(LEAF_KEY), 'replicated', systemScope.mount, key, value)
    const put = { kind: 'put', class: 'replicated', scope: systemScope, key, value, oldLeaf: NO_LEAF, newLeaf } as const
    return { origins: [at(index)], committedAtMs: 0, operations: [put] }
  }
  const follow = async (changes: readonly AdoptedChange[], end: number) => {
    const [{ index } = { index: 0 }] = (await store.position()).origins
    const adopted = await store.adopt(changes, { mode: index === 0 ? 'redo' : 'follow', after: at(index), at: at(end) })
    assert.equal(adopted.kind, 'adopted')
  }
  await follow([change(2)], 3)
  assert.deepEqual(verify(directory, false).sentences, [])
  const place = () => {
    const database = new DatabaseSync(join(directory, 'keywright.db'))
    return { database, get: () => database.prepare('SELECT performance_origin AS origin FROM meta').get()?.origin }
  }
  const before = place()
  const early = before.get() as Uint8Array
  before.database.close()
  await follow([change(5)], 5)
  await store.close()
  assert.deepEqual(verify(directory, false).sentences, [])
  const { database } = place()
  database.prepare('UPDATE meta SET performance_origin = ?').run(early)
  database.close()
  const { sentences } = verify(directory, false)
  assert.ok(
    sentences.includes('The last origin of the family performance in the log is not the one that the store names'),
  )
})

const P3 = `key = '${POLICY}p3'`
const CASES: readonly {
  readonly name: string
  readonly damage: (database: DatabaseSync) => void
  readonly says: readonly RegExp[]
  /** Found without keys too. */
  readonly always: boolean
}[] = [
  { name: 'a flipped bit in a value', damage: flip('data', 'value', P3, 200), says: [/policy\/p3/], always: true },
  { name: 'a flipped bit in a leaf', damage: flip('data', 'leaf', P3, 5), says: [/policy\/p3/], always: true },
  { name: 'another class', damage: sql(`UPDATE data SET class = 2 WHERE ${P3}`), says: [/p3/], always: true },
  { name: 'an unknown class', damage: sql(`UPDATE data SET class = 9 WHERE ${P3}`), says: [/p3/], always: true },
  { name: 'a removed entry', damage: sql(`DELETE FROM data WHERE ${P3}`), says: [/p3 is missing/], always: true },
  {
    name: 'an entry that was put there',
    damage: sql(`INSERT INTO data SELECT '${POLICY}q', class, leaf, value FROM data WHERE ${P3}`),
    says: [/policy\/q was written by no log record/],
    always: true,
  },
  {
    name: 'a deleted entry that is back',
    damage: sql(`INSERT INTO data SELECT '${POLICY}p9', class, leaf, value FROM data WHERE ${P3}`),
    says: [/p9 is there, and was deleted by log record 31/],
    always: true,
  },
  {
    name: 'two swapped values',
    damage: (database) => {
      const values = ['p3', 'p4'].map((name) => {
        return database.prepare('SELECT value FROM data WHERE key = ?').get(POLICY + name)?.value as Uint8Array
      })
      const update = database.prepare('UPDATE data SET value = ? WHERE key = ?')
      for (const [at, name] of ['p4', 'p3'].entries()) update.run(values[at] as Uint8Array, POLICY + name)
    },
    says: [/p3/, /p4/],
    always: true,
  },
  {
    name: 'a gap in the log',
    damage: sql('DELETE FROM log WHERE idx = 7'),
    says: [/record 7 is missing/],
    always: true,
  },
  {
    name: 'a wide gap in the log',
    damage: sql('DELETE FROM log WHERE idx BETWEEN 7 AND 12'),
    says: [/records 7 to 12 are missing/],
    always: true,
  },
  {
    name: 'a lost tail of the log',
    damage: sql('DELETE FROM log WHERE idx > 29'),
    says: [/ends with record 29, the store is at index 31/],
    always: true,
  },
  { name: 'a log without records', damage: sql('DELETE FROM log'), says: [/ends with record 0, the/], always: true },
  {
    name: 'a flipped bit in the chain of the store',
    damage: flip('meta', 'chain', 'only = 1', 3),
    says: [/last log record, 31, is not the one/],
    always: true,
  },
  {
    name: 'a flipped bit in the history id',
    damage: flip('meta', 'history_id', 'only = 1', 3),
    says: [/The list of histories does not end with that of the store/],
    always: true,
  },
  {
    name: 'a store that was set back as a whole',
    damage: (database) => {
      const record = database.prepare('SELECT record FROM log WHERE idx = 28').get()?.record as Uint8Array
      database.prepare('UPDATE meta SET last_index = 28, chain = ?').run(record.subarray(8, 24))
      database.exec('DELETE FROM log WHERE idx > 28')
    },
    says: [/saved at index 31, the store is at 28/, /p8 is not what was written by log record 19/],
    always: true,
  },
  {
    name: 'a tree that was saved behind another record',
    damage: flip('checkpoint', 'chain', 'idx = 31', 3),
    says: [/saved behind another record 31 than the last/, /record 31 is not the one that the saved tree stands for/],
    always: true,
  },
  {
    name: 'a damaged page of the tree',
    damage: sql("UPDATE tree SET digests = x'00'"),
    says: [/tree is damaged/],
    always: true,
  },
]
for (const { name, damage, says, always } of CASES) {
  test(`verify finds ${name}`, async (t) => {
    const directory = await damaged(t, damage)
    for (const withKeys of always ? [true, false] : [true]) {
      const { sentences } = verify(directory, withKeys)
      for (const expected of says) assert.match(sentences.join('\n'), expected, `with keys: ${withKeys}`)
    }
  })
}

test('verify says of a gap that records are missing, and nothing of entries that they may have written', async (t) => {
  for (const { gap, says } of [
    { gap: 'idx = 12', says: 'Log record 12 is missing' },
    { gap: 'idx BETWEEN 7 AND 12', says: 'Log records 7 to 12 are missing' },
  ]) {
    const directory = await damaged(t, sql(`DELETE FROM log WHERE ${gap}`))
    for (const withKeys of [true, false]) assert.deepEqual(verify(directory, withKeys).sentences, [says])
  }
})

test('P-04: verify finds every flipped bit of a record', async (t) => {
  await made
  const directory = await damaged(t, () => {})
  const file = join(directory, 'keywright.db')
  const database = new DatabaseSync(file)
  const sound = database.prepare('SELECT record FROM log WHERE idx = 12').get()?.record as Uint8Array
  const update = database.prepare('UPDATE log SET record = ? WHERE idx = 12')
  // Every bit of the head and of the first operation's head, then one in each 13.
  for (let bit = 0; bit < sound.length * 8; bit += bit < 640 ? 5 : 31) {
    update.run(flipped(sound, bit))
    assert.match(verify(directory, false).sentences.join(), /record 12/, `bit ${bit}`)
  }
  database.close()
})

test('verify finds by the tree what the log no longer reaches: an entry set back, one removed', async (t) => {
  let old: Record<string, unknown> | undefined
  const directory = await damaged(t, (database) => {
    old = database.prepare(`SELECT leaf, value FROM data WHERE ${P3}`).get()
  })
  for (const name of ['p3', 'p5']) {
    const store = await open(directory)
    await put(store, name, 'newer')
    await store.roots()
    await store.close()
  }
  const database = new DatabaseSync(join(directory, 'keywright.db'))
  database.exec('DELETE FROM log WHERE idx <= 32')
  assert.match(verify(directory).sentences.join(), /begins with record 33: it was kept from record 1 on/)
  database.exec('UPDATE meta SET first_index = 33')
  const shortened = verify(directory)
  assert.deepEqual(shortened.sentences, [])
  assert.match(shortened.unchecked.join(), /before record 33/)
  database.exec('BEGIN')
  database
    .prepare(`UPDATE data SET leaf = ?, value = ? WHERE ${P3}`)
    .run(old?.leaf as Uint8Array, old?.value as Uint8Array)
  database.exec('COMMIT')
  assert.match(verify(directory).sentences.join(), /tree differs .* \(root\/sys\/policy\/p3\)/)
  database.exec(`DELETE FROM data WHERE ${P3}`)
  assert.match(verify(directory).sentences.join(), /tree differs .* an entry is missing there/)
  database.close()
})

test('F11: a tree that an earlier release saved is not compared, and is no finding', async (t) => {
  const directory = await damaged(t, (database) =>
    database.exec("UPDATE checkpoint SET chain = substr(chain, 1, 16); DELETE FROM tree WHERE scope = 'root/system'"),
  )
  const { sentences, unchecked } = verify(directory)
  assert.deepEqual(sentences, [])
  assert.match(unchecked.join(), /The tree: the log cannot be read on from where the tree was saved/)
})

test('S2: verify follows a log into its next history, and finds what is wrong there', async (t) => {
  const directory = await damaged(t, () => {})
  const store = await open(directory)
  const next = { id: Buffer.alloc(16, 5), knownIndex: 0, knownEpoch: 0 }
  await store.beginHistory(
    async (tx) => tx.put(systemScope, `${POLICY}promoted`, keys.barrier.seal(`${POLICY}promoted`, Buffer.from('v'))),
    next,
  )
  await put(store, 'later', 'v')
  await store.close()
  const start = 2 ** 20
  for (const withKeys of [true, false]) assert.deepEqual(verify(directory, withKeys).sentences, [])
  for (const [change, says] of [
    ['DELETE FROM log WHERE idx = 31', 'Log record 31 is missing'],
    [
      'UPDATE history SET parent_chain = zeroblob(16)',
      `Log record 31 is not the one that the history of log record ${start} goes on from`,
    ],
    [
      'UPDATE history SET parent_index = 30 WHERE parent_index IS NOT NULL',
      `Log record 31 is not the one that the history of log record ${start} goes on from`,
    ],
    [
      `DELETE FROM history WHERE start_index = ${start}`,
      `Log record ${start} begins a history that is not in the list`,
    ],
    [`UPDATE history SET epoch = 1`, 'The list of histories does not grow'],
    [
      'UPDATE meta SET last_replicated = 31',
      `Log record ${start} has replicated operations, and the store says that 31 was the last such`,
    ],
    [`DELETE FROM log WHERE idx = ${start}`, `Log records 32 to ${start} are missing`],
  ] as const) {
    const copy = await damaged(t, sql(change), directory)
    assert.ok(verify(copy, false).sentences.includes(says), `${change}: ${verify(copy, false).sentences.join('\n')}`)
  }
})

test('S2: verify finds nothing where a history begins at the very next index', async (t) => {
  const directory = mkdtempSync(join(parent, 'next-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const start = 2 ** 20
  createDatabase(directory, { ...firstHistory(Buffer.alloc(16, 4), 1, 0), startIndex: start - 1 })
  const store = await openStore(openSqliteBackend(directory, random, 1), { clock })
  store.setLeafKey(LEAF_KEY)
  await put(store, 'a', 'v')
  const work = async (tx: Transaction) => tx.delete(systemScope, `${POLICY}a`)
  await store.beginHistory(work, { id: Buffer.alloc(16, 5), knownIndex: 0, knownEpoch: 0 })
  assert.equal(await store.lastIndex(), start)
  await store.close()
  assert.deepEqual(verify(directory, false).sentences, [])
})

test('verify finds a record that was forged with its chain, by the leaf', async (t) => {
  const directory = await damaged(t, (database) => {
    const meta = database.prepare('SELECT chain FROM meta').get()
    const value = Buffer.from('forged')
    const operation = {
      kind: 'put' as const,
      class: 'replicated' as const,
      scope: systemScope,
      key: `${POLICY}forged`,
      oldLeaf: Buffer.alloc(0),
      newLeaf: Buffer.alloc(16, 7),
      value,
    }
    const head = { index: 32, epoch: 1, committedAtMs: 0, beginsHistory: undefined, origins: [] }
    const draft = { ...head, operations: [operation] }
    const { change, record } = encodeChange(draft, Buffer.from(meta?.chain as Uint8Array))
    database.prepare('INSERT INTO log VALUES (32, ?)').run(record)
    database.prepare('UPDATE meta SET last_index = 32, last_replicated = 32, chain = ?').run(change.chain)
    database.prepare('INSERT INTO data VALUES (?, 1, ?, ?)').run(operation.key, operation.newLeaf, value)
  })
  assert.deepEqual(verify(directory, false).sentences, [])
  const { sentences } = verify(directory)
  assert.equal(sentences.length, 3)
  for (const sentence of sentences) assert.match(sentence, /forged/)
})

test('P-04: verify finds a damaged file: a page of zeros, a lost end', async (t) => {
  for (const damage of [
    (bytes: Buffer) => bytes.fill(0, 8_192, 12_288),
    (bytes: Buffer) => bytes.fill(0, 0, 100),
    (bytes: Buffer) => bytes.subarray(0, bytes.length - 4_096),
  ]) {
    const directory = await damaged(t, (database, at) => {
      database.close()
      const file = join(at, 'keywright.db')
      writeFileSync(file, damage(readFileSync(file)))
    })
    assert.ok(verify(directory, false).findings > 0)
  }
})

test('verify says at its end how much there was, and that it has looked at all of it', async (t) => {
  const directory = await damaged(t, () => {})
  const told: unknown[] = []
  const onProgress = (progress: object) => told.push({ ...progress })
  verifyStore({ directory, keys, onFinding: assert.fail, onProgress })
  assert.deepEqual(told, [{ entries: 9, allEntries: 9, records: 31, allRecords: 31 }])
})

test('S2: a history that begins before any record is no gap, and one without its records is', async () => {
  const directory = mkdtempSync(join(parent, 'promoted-'))
  const store = await open(directory)
  const work = async (tx: Transaction) => tx.delete(systemScope, `${POLICY}p0`)
  const next = { id: Buffer.alloc(16, 7), knownIndex: 0, knownEpoch: 0 }
  await assert.rejects(store.beginHistory(work, next), StorageError)
  const seal = async (tx: Transaction) =>
    sealedTransaction(barrier, systemScope, POLICY, tx).put('p0', Buffer.from('v'))
  await store.beginHistory(seal, next)
  await put(store, 'p1', 'value')
  await store.close()
  assert.deepEqual(verify(directory).sentences, [])
  const database = new DatabaseSync(join(directory, 'keywright.db'))
  database.exec('DELETE FROM log WHERE idx = (SELECT min(idx) FROM log)')
  database.close()
  assert.match(verify(directory, false).sentences.join(), /it was kept from record 1 on/)
})

test('verify refuses what is no store of ours, instead of judging it', async (t) => {
  const other = await damaged(t, sql('PRAGMA application_id = 7'))
  assert.throws(() => verify(other), StorageError)
  const newer = await damaged(t, sql('PRAGMA user_version = 99'))
  assert.throws(() => verify(newer), /store format 99/)
  assert.throws(() => verify(join(parent, 'nowhere')), /is missing/)
  const empty = await damaged(t, (database, directory) => {
    database.close()
    rmSync(join(directory, 'keywright.db'))
  })
  assert.throws(() => verify(empty), /there is no store/)
})

test('verify runs beside an open store and sees one state of it', async (t) => {
  const directory = await damaged(t, () => {})
  const store = await open(directory)
  await put(store, 'more', 'value')
  const report = verify(directory)
  assert.deepEqual(report.sentences, [])
  assert.equal(report.index, 32)
  assert.match(report.unchecked.join(), /a server has the store open/)
  await store.close()
})

test('verify finds a damaged place in the journal of a killed server', async (t) => {
  const directory = await damaged(t, () => {})
  const store = await open(directory)
  for (let number = 0; number < 5; number++) await put(store, `j${number}`, 'value')
  const copy = await damaged(t, () => {})
  for (const suffix of ['', '-wal']) {
    copyFileSync(join(directory, `keywright.db${suffix}`), join(copy, `keywright.db${suffix}`))
    chmodSync(join(copy, `keywright.db${suffix}`), 0o600)
  }
  await store.close()
  assert.deepEqual(verify(copy).sentences, [])
  const journal = join(copy, 'keywright.db-wal')
  writeFileSync(journal, flipped(readFileSync(journal), 8 * 200))
  assert.match(verify(copy).sentences.join(), /keywright\.db-wal/)
})
