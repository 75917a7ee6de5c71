import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { refuseExisting, writeNewFile } from './new-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keywright-file-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string, force = false) => ({ path: join(folder, name), force, mode: 0o600 })

test('new file: is written with its mode', async () => {
  await refuseExisting(file('a'))
  await writeNewFile(file('a'), Buffer.from([0, 255]))
  assert.deepEqual(readFileSync(join(folder, 'a')), Buffer.from([0, 255]))
  assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o600)
})

test('new file: an existing one stays', async () => {
  writeFileSync(join(folder, 'a'), 'old')
  await assert.rejects(refuseExisting(file('a')), /exists already: replace it with -force/)
  await assert.rejects(writeNewFile(file('a'), 'new'), /exists already/)
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), 'old')
})

test('new file: force replaces one, with the mode of the new, and leaves nothing beside it', async () => {
  writeFileSync(join(folder, 'a'), 'old', { mode: 0o644 })
  writeFileSync(join(folder, 'a.partial'), 'left over')
  await refuseExisting(file('a', true))
  await writeNewFile(file('a', true), 'new')
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), 'new')
  assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['a'])
})

test('new file: a link to nowhere is not followed', async () => {
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'a'))
  await assert.rejects(refuseExisting(file('a')), /exists already/)
  await assert.rejects(writeNewFile(file('a'), 'new'), /exists already/)
  assert.deepEqual(readdirSync(folder), ['a'])
})

test('new file: a folder that is not there is named', async () => {
  await assert.rejects(writeNewFile(file('no/a'), 'new'), {
    message: `Cannot write ${join(folder, 'no/a')}: there is no such file or folder`,
  })
})
