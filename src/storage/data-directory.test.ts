import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { measureSync } from './data-directory.ts'

test('how long a flush takes is the quickest of three, and nothing of it is left', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-look-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const moments = [0, 5, 10, 12, 20, 29]
  assert.equal(
    measureSync(directory, () => moments.shift() ?? assert.fail('a fourth one')),
    2,
  )
  assert.deepEqual([moments, readdirSync(directory)], [[], []])
})
