import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { type Store, systemScope } from '../contract.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { summarizeStore } from './store-summary.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }

function newDirectory(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'keywright-look-'))
  t.after(() => rmSync(parent, { recursive: true }))
  return join(parent, 'data')
}

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory, clock, random: new SeededRandom(1) })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

test('a look tells a store that is open, its last change and its bytes, and changes nothing of it', async (t) => {
  const directory = newDirectory(t)
  assert.deepEqual(summarizeStore(directory), { kind: 'none' })
  const store = await open(directory)
  const empty = summarizeStore(directory)
  assert.ok(empty.kind === 'sound')
  assert.deepEqual([empty.isInUse, empty.index, empty.committedAtMs], [true, 0, undefined])
  for (const name of ['a', 'b']) {
    await store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.from(name)))
  }
  const used = summarizeStore(directory)
  assert.ok(used.kind === 'sound' && used.journalBytes > 0)
  assert.deepEqual([used.isInUse, used.index, used.committedAtMs], [true, 2, 1_700_000_000_000])
  await store.close()
  const closed = summarizeStore(directory)
  assert.ok(closed.kind === 'sound' && closed.databaseBytes > 0)
  assert.deepEqual([closed.isInUse, closed.index, closed.journalBytes], [false, 2, 0])
})

test('a look tells what is wrong with a store that cannot be opened', async (t) => {
  const directory = newDirectory(t)
  await (await open(directory)).close()
  const file = join(directory, 'keywright.db')
  truncateSync(file, 5_000)
  const cut = summarizeStore(directory)
  assert.ok(cut.kind === 'damaged' && cut.fault.includes(file), JSON.stringify(cut))
  rmSync(file)
  writeFileSync(`${file}-wal`, 'journal', { mode: 0o600 })
  assert.deepEqual(summarizeStore(directory), {
    kind: 'damaged',
    fault: `${file} is missing, and its journal is there`,
  })
})
