import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openReadOnly } from './sqlite-view.ts'

test('P-04: what only reads looks at the cells of each page, trusts no schema and cannot write', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-view-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'keywright.db')
  const made = new DatabaseSync(path)
  made.exec('CREATE TABLE data (key TEXT)')
  made.close()
  const database = openReadOnly(path)
  t.after(() => database.close())
  const setting = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
  assert.deepEqual([setting('cell_size_check'), setting('trusted_schema'), setting('busy_timeout')], [1, 0, 5_000])
  assert.throws(() => database.exec("INSERT INTO data VALUES ('a')"), /readonly/)
})
