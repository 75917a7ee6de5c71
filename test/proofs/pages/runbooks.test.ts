import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { localLinks, readPage } from './follow-page.ts'
import { followRunbooks, RUNBOOKS, runbookNames } from './runbooks.ts'

test('the index of the runbooks has every page, and their links lead somewhere', () => {
  assert.deepEqual(localLinks(readPage(join(RUNBOOKS, 'README.md'))).toSorted(), runbookNames.toSorted())
  for (const name of runbookNames) {
    for (const link of localLinks(readPage(join(RUNBOOKS, name)))) {
      assert.ok(existsSync(join(RUNBOOKS, link.split('#')[0] ?? '')), `${name} leads to ${link}`)
    }
  }
})

followRunbooks('server')
