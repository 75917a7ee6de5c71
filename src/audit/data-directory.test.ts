import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { liesIn } from './data-directory.ts'

test('a file lies in a directory by whatever way its path goes there', async (context) => {
  const { path: root, cleanUp } = temporaryDirectory()
  context.after(cleanUp)
  const data = join(root, 'data')
  const inside = [`${data}/a.log`, `${data}/sub/a.log`, `${root}/x/../data/a.log`, `${data}//a.log`, `${data}/./a.log`]
  const outside = [`${root}/a.log`, `${root}/data.log`, `${root}/data2/a.log`, `${data}/../a.log`, '/a.log']
  for (const isThere of [false, true]) {
    if (isThere) mkdirSync(join(data, 'sub'), { recursive: true })
    for (const file of inside) assert.equal(await liesIn(file, data), true, file)
    for (const file of outside) assert.equal(await liesIn(file, data), false, file)
  }
  symlinkSync(join(data, 'sub'), join(root, 'link'))
  symlinkSync(data, join(root, 'other'))
  mkdirSync(join(root, 'far'))
  symlinkSync(join(root, 'far'), join(data, 'out'))
  assert.equal(await liesIn(join(root, 'link', 'a.log'), data), true)
  // The system follows the link first, and goes up from its target.
  assert.equal(await liesIn(`${root}/link/../a.log`, data), true)
  assert.equal(await liesIn(`${data}/out/../a.log`, data), false)
  assert.equal(await liesIn(`${root}/a.log`, `${root}/link/..`), false)
  assert.equal(await liesIn(`${data}/a.log`, `${root}/link/..`), true)
  assert.equal(await liesIn(join(data, 'a.log'), join(root, 'other')), true)
  assert.equal(await liesIn(join(data, 'out', 'a.log'), data), false, 'it leads out again')
})
