import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { openStore } from '../commit/transactional-store.ts'
import { MAX_VALUE_BYTES, type Store, systemScope } from '../contract.ts'
import { HistoryGone, StorageClosed, StorageCorrupt, StorageError, StorageFailed, StorageFull } from '../errors.ts'
import { encodeChange } from '../log/change-record.ts'
import { SqliteBackend } from './sqlite-backend.ts'
import { openSqliteReader } from './sqlite-reader.ts'
import { openSqliteStore } from './sqlite-store.ts'

const random = new SeededRandom(1)
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const FOLDER = 'root/sys/policy/'
const NONE = Buffer.alloc(0)

function newDirectory(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'keywright-sqlite-'))
  t.after(() => rmSync(parent, { recursive: true }))
  return join(parent, 'made', 'data')
}

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory, clock, random })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

function put(store: Store, name: string, value = 'value'): Promise<void> {
  return store.transaction(async (tx) => tx.put(systemScope, FOLDER + name, Buffer.from(value)))
}

/** A closed store with three records. */
async function closedStore(t: TestContext): Promise<{ directory: string; file: string }> {
  const directory = newDirectory(t)
  const store = await open(directory)
  for (const name of ['a', 'b', 'c']) await put(store, name)
  await store.close()
  return { directory, file: join(directory, 'keywright.db') }
}

function withDatabase(file: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file)
  work(database)
  database.close()
}

test('D-01, P-07: directory and files are for their owner alone, whatever the umask', async (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const directory = newDirectory(t)
  const store = await open(directory)
  t.after(() => store.close())
  await put(store, 'a')
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
  assert.equal(mode(directory), '700')
  const files = readdirSync(directory).sort()
  assert.deepEqual(files, ['keywright.db', 'keywright.db-shm', 'keywright.db-wal', 'keywright.lock'])
  for (const file of files) assert.equal(mode(join(directory, file)), '600', file)
})

test('P-07: a second store on the directory is refused until the first is closed', async (t) => {
  const directory = newDirectory(t)
  const first = await open(directory)
  const message = `The data directory ${directory} is in use by another process`
  await assert.rejects(open(directory), new StorageError(message))
  const script = `
    import { openSqliteStore } from ${JSON.stringify(import.meta.resolve('./sqlite-store.ts'))}
    import { realWorld } from ${JSON.stringify(import.meta.resolve('../../lib/world.ts'))}
    const opened = openSqliteStore({ ...realWorld(), directory: process.argv[1] })
    opened.then(() => process.exit(7), (error) => process.stdout.write(error.message))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script, directory], { encoding: 'utf8' })
  assert.equal(child.stdout, message, child.stderr)
  await put(first, 'a')
  await first.close()
  const second = await open(directory)
  await put(second, 'b')
  await second.close()
})

test('D-01, P-07: links, second names, other files and wide modes are refused', async (t) => {
  const { directory, file } = await closedStore(t)
  const aside = join(directory, 'aside')
  renameSync(file, aside)
  symlinkSync(aside, file)
  await assert.rejects(open(directory), { message: `${file} is not a plain file` })
  rmSync(file)
  linkSync(aside, file)
  await assert.rejects(open(directory), { message: `${file} has a second name (hard link)` })
  rmSync(aside)
  chmodSync(file, 0o640)
  await assert.rejects(open(directory), { message: `${file} may be used by others: its mode must be 600 (chmod)` })
  await assert.rejects(openSqliteReader(directory), { message: /may be used by others/ })
  chmodSync(file, 0o600)
  chmodSync(directory, 0o750)
  await assert.rejects(open(directory), { message: `${directory} may be used by others: its mode must be 700 (chmod)` })
  chmodSync(directory, 0o700)
  const lock = join(directory, 'keywright.lock')
  rmSync(lock)
  mkdirSync(lock)
  await assert.rejects(open(directory), { message: `${lock} is not a plain file` })
  rmSync(lock, { recursive: true })
  await (await open(directory)).close()
})

const damages: { name: string; damage: (file: string) => void; error: RegExp; type?: typeof StorageError }[] = [
  { name: 'an empty file', damage: (file) => truncateSync(file), error: /keywright\.db is empty/ },
  {
    name: 'a header of garbage',
    damage: (file) => overwrite(file, 0, Buffer.from('not an SQLite file at all')),
    error: /cannot be used: it is damaged/,
  },
  { name: 'a file cut in half', damage: (file) => truncateSync(file, 8192), error: /cannot be used: it is damaged/ },
  {
    name: 'another program’s database',
    damage: (file) => withDatabase(file, (database) => database.exec('PRAGMA application_id = 7')),
    error: /keywright\.db is a database of another program/,
    type: StorageError,
  },
  {
    name: 'P-68: a newer format',
    damage: (file) => withDatabase(file, (database) => database.exec('PRAGMA user_version = 3')),
    error: /has the store format 3, this version of Keywright reads 1 to 2/,
    type: StorageError,
  },
  {
    name: 'a lost last record',
    damage: (file) => withDatabase(file, (database) => database.exec('DELETE FROM log WHERE idx = 3')),
    error: /its log ends at 2, its state is that of 3/,
  },
  {
    name: 'a lost log',
    damage: (file) => withDatabase(file, (database) => database.exec('DELETE FROM log')),
    error: /its log ends at 0, its state is that of 3/,
  },
  {
    name: 'a record from elsewhere',
    damage: (file) =>
      withDatabase(file, (database) =>
        database.exec('UPDATE log SET record = (SELECT record FROM log WHERE idx = 2) WHERE idx = 3'),
      ),
    error: /log record 3 says that it is number 2/,
  },
  {
    name: 'an altered record',
    damage: (file) =>
      withDatabase(file, (database) => {
        const record = Buffer.from(database.prepare('SELECT record FROM log WHERE idx = 3').get()?.record as Uint8Array)
        record[60] = (record[60] ?? 0) ^ 1
        database.prepare('UPDATE log SET record = ? WHERE idx = 3').run(record)
      }),
    error: /log record 3 cannot be read: its checksum does not match/,
  },
  {
    name: 'another chain',
    damage: (file) => withDatabase(file, (database) => database.exec('UPDATE meta SET chain = zeroblob(16)')),
    error: /its log ends at 3, its state is that of 3/,
  },
  {
    name: 'another history',
    damage: (file) =>
      withDatabase(file, (database) =>
        database.exec(`DELETE FROM log WHERE idx > 1; UPDATE meta SET last_index = 1, history_id = zeroblob(16),
          chain = (SELECT substr(record, 9, 16) FROM log); UPDATE history SET id = zeroblob(16)`),
      ),
    error: /log record 1 begins a history that is not in its list/,
  },
  {
    name: 'another history than its list says',
    damage: (file) => withDatabase(file, (database) => database.exec('UPDATE history SET id = zeroblob(16)')),
    error: /its list of histories does not end with its own/,
  },
  {
    name: 'another epoch than its list says',
    damage: (file) => withDatabase(file, (database) => database.exec('UPDATE history SET epoch = 2')),
    error: /its list of histories does not end with its own/,
  },
  {
    name: 'no history',
    damage: (file) => withDatabase(file, (database) => database.exec('DELETE FROM history')),
    error: /its list of histories does not end with its own/,
  },
  {
    name: 'an impossible own row',
    damage: (file) => withDatabase(file, (database) => database.exec('UPDATE meta SET history_id = zeroblob(3)')),
    error: /own row is damaged/,
  },
  {
    name: 'no own row',
    damage: (file) => withDatabase(file, (database) => database.exec('DELETE FROM meta')),
    error: /lost its own row/,
  },
]

function overwrite(file: string, at: number, bytes: Buffer): void {
  const content = readFileSync(file)
  bytes.copy(content, at)
  writeFileSync(file, content)
}

for (const { name, damage, error, type = StorageCorrupt } of damages) {
  test(`a store with ${name} is refused in one sentence, by store and reader`, async (t) => {
    const { directory, file } = await closedStore(t)
    damage(file)
    const size = statSync(file).size
    for (const opening of [open, openSqliteReader]) {
      const failure = await opening(directory).then(
        () => assert.fail('it was opened'),
        (failure: unknown) => failure,
      )
      assert.ok(failure instanceof type, String(failure))
      assert.match(failure.message, error)
    }
    assert.equal(statSync(file).size, size, 'nothing was repaired')
  })
}

test('a journal without its store is refused, an interrupted creation is begun anew', async (t) => {
  const { directory, file } = await closedStore(t)
  renameSync(file, `${file}-wal`)
  await assert.rejects(open(directory), new StorageCorrupt(`${file} is missing, and its journal is there`))
  await assert.rejects(openSqliteReader(directory), {
    message: `${file} is missing: there is no store in the directory`,
  })
  renameSync(`${file}-wal`, `${file}.new`)
  truncateSync(`${file}.new`, 5000)
  const store = await open(directory)
  assert.equal(await store.lastIndex(), 0)
  assert.equal(existsSync(`${file}.new`), false)
  await store.close()
})

test('a reader sees each commit, and its snapshot does not', async (t) => {
  const directory = newDirectory(t)
  const store = await open(directory)
  await put(store, 'a')
  const reader = await openSqliteReader(directory)
  const snapshot = await reader.snapshot()
  for (let round = 0; round < 50; round++) {
    await put(store, 'a', String(round))
    assert.deepEqual(await reader.get(`${FOLDER}a`), Buffer.from(String(round)))
    assert.equal(await reader.lastIndex(), round + 2)
    assert.deepEqual(await reader.changesSince(round + 1, 5), await store.changesSince(round + 1, 5))
  }
  await put(store, 'b/c')
  assert.deepEqual(await reader.list(FOLDER), ['a', 'b/'])
  assert.deepEqual(await reader.scan(FOLDER, '', 5), await store.scan(FOLDER, '', 5))
  assert.deepEqual(await snapshot.get(`${FOLDER}a`), Buffer.from('value'))
  assert.equal(snapshot.index, 1)
  await reader.close()
  await assert.rejects(snapshot.get(`${FOLDER}a`), StorageClosed)
  await assert.rejects(reader.lastIndex(), StorageClosed)
  await store.close()
})

test('history that was removed from the log is refused by name', async (t) => {
  const { directory, file } = await closedStore(t)
  withDatabase(file, (database) => database.exec('DELETE FROM log WHERE idx <= 2'))
  const store = await open(directory)
  await assert.rejects(store.changesSince(1, 10), new HistoryGone('The log does not hold what follows index 1'))
  assert.equal((await store.changesSince(2, 10)).length, 1)
  await put(store, 'd')
  await store.close()
})

test('P-03: a full database refuses the write, keeps all else, and takes writes when there is room', async (t) => {
  const { directory, file } = await closedStore(t)
  const fatal: Error[] = []
  const connection = new DatabaseSync(file)
  const store = await openStore(new SqliteBackend(file, connection), { clock, onFatal: (error) => fatal.push(error) })
  store.setLeafKey(Buffer.alloc(32, 1))
  connection.exec('PRAGMA max_page_count = 20')
  const large = 'x'.repeat(100_000)
  await assert.rejects(put(store, 'large', large), StorageFull)
  await put(store, 'small')
  await assert.rejects(put(store, 'large', large), StorageFull)
  assert.equal(await store.lastIndex(), 4)
  assert.deepEqual(await store.list(FOLDER), ['a', 'b', 'c', 'small'])
  connection.exec('PRAGMA max_page_count = 10000')
  await put(store, 'large', large)
  assert.deepEqual(fatal, [])
  await store.close()
  const again = await open(directory)
  assert.equal((await again.get(`${FOLDER}large`))?.length, 100_000)
  assert.equal((await again.changesSince(0, 10)).length, 5)
  await again.close()
})

test('P-02: a commit that fails ends writing, and reading goes on without what failed', async (t) => {
  const { file } = await closedStore(t)
  const fatal: Error[] = []
  const backend = new SqliteBackend(file, new DatabaseSync(file))
  const store = await openStore(backend, { clock, onFatal: (error) => fatal.push(error) })
  store.setLeafKey(Buffer.alloc(32, 1))
  await put(store, 'd')
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(put(store, 'e'), StorageFailed)
  other.exec('ROLLBACK')
  other.close()
  await assert.rejects(put(store, 'f'), StorageFailed)
  assert.equal(fatal.length, 1)
  const { chain } = await backend.position()
  await assert.rejects(
    backend.append([changeAt(5, 'root/core/cluster', chain)]),
    StorageFailed,
    'the connection that is left cannot write',
  )
  assert.deepEqual(await store.list(FOLDER), ['a', 'b', 'c', 'd'])
  assert.equal(await store.lastIndex(), 4)
  await store.close()
})

test('what another process commits to the file is noticed before the next commit', async (t) => {
  const { file } = await closedStore(t)
  const store = await openStore(new SqliteBackend(file, new DatabaseSync(file)), { clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  withDatabase(file, (database) => database.exec('UPDATE meta SET last_index = 4'))
  await assert.rejects(put(store, 'd'), StorageFailed)
  await store.close()
})

/** A change that makes one entry. */
function changeAt(index: number, key: string, before: Buffer) {
  const operation = { kind: 'put', class: 'ignored', scope: systemScope, key, value: NONE } as const
  const operations = [{ ...operation, oldLeaf: NONE, newLeaf: NONE }]
  return encodeChange({ index, epoch: 1, committedAtMs: 0, beginsHistory: undefined, origins: [], operations }, before)
}

test('a group moves the store to the last of its changes, and an empty one nowhere', async (t) => {
  const { file } = await closedStore(t)
  const backend = new SqliteBackend(file, new DatabaseSync(file))
  const before = await backend.position()
  await backend.append([])
  assert.deepEqual(await backend.position(), before)
  const first = changeAt(before.index + 1, 'root/core/one', before.chain)
  const second = changeAt(before.index + 2, 'root/core/two', first.change.chain)
  const third = changeAt(before.index + 3, 'root/core/three', second.change.chain)
  await backend.append([first, second, third])
  const { index, chain } = third.change
  assert.deepEqual(await backend.position(), { ...before, index, chain })
  assert.deepEqual(
    (await backend.records(before.index, 9))?.map((record) => record.index),
    [before.index + 1, before.index + 2, index],
  )
  await backend.close()
})

test('a group of changes that do not follow each other is refused as a whole', async (t) => {
  const { file } = await closedStore(t)
  const backend = new SqliteBackend(file, new DatabaseSync(file))
  const { index, chain } = await backend.position()
  const first = changeAt(index + 1, 'root/core/one', chain)
  const third = changeAt(index + 3, 'root/core/three', first.change.chain)
  await assert.rejects(backend.append([first, third]), StorageFailed)
  assert.equal((await backend.position()).index, index)
  assert.deepEqual(await backend.list('root/core/', '', 9), [])
  await backend.close()
})

test('closing leaves one file besides the lock', async (t) => {
  const { directory } = await closedStore(t)
  assert.deepEqual(readdirSync(directory).sort(), ['keywright.db', 'keywright.lock'])
})

test('the journal does not grow without end', async (t) => {
  const directory = newDirectory(t)
  const store = await open(directory)
  const value = 'x'.repeat(40_000)
  for (let round = 0; round < 150; round++) await put(store, 'a', value)
  const size = statSync(join(directory, 'keywright.db-wal')).size
  assert.ok(size < 6 * 1024 * 1024, `the journal has ${size} bytes after 150 commits of twice 40,000`)
  await store.close()
})

// Takes seconds: its log record and its pages are written too.
if (process.env.STORAGE_LARGE !== undefined) {
  test('the largest value passes, and is there after opening again', async (t) => {
    const directory = newDirectory(t)
    const store = await open(directory)
    const value = 'x'.repeat(MAX_VALUE_BYTES)
    await put(store, 'large', value)
    await store.close()
    const again = await open(directory)
    assert.equal((await again.get(`${FOLDER}large`))?.equals(Buffer.from(value)), true)
    assert.equal((await again.changesSince(0, 1)).length, 1)
    await again.close()
  })
}

test('what a killed process left in the journal is moved into the file at the next start', async (t) => {
  const [killed, next] = [newDirectory(t), newDirectory(t)]
  const store = await open(killed)
  for (const name of ['a', 'b', 'c']) await put(store, name)
  mkdirSync(next, { recursive: true, mode: 0o700 })
  for (const name of ['keywright.db', 'keywright.db-wal']) copyFileSync(join(killed, name), join(next, name))
  await store.close()
  assert.ok(statSync(join(next, 'keywright.db-wal')).size > 0)
  const again = await open(next)
  t.after(() => again.close())
  // Frames of that run would lie behind those of this one.
  assert.equal(statSync(join(next, 'keywright.db-wal')).size, 0)
  assert.equal((await again.snapshot()).index, 3)
})
