import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { devicePartsFor } from '../../test/fixtures/device-parts.ts'
import { until } from '../../test/fixtures/until.ts'
import { FileDevice } from './file-device.ts'

const directory = mkdtempSync(join(tmpdir(), 'keywright-'))
after(() => rmSync(directory, { recursive: true }))

/** How many descriptors of this process are open on the file. */
function openOn(file: string): number {
  let count = 0
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(join('/proc/self/fd', name)) === file) count++
    } catch {
      // The one that listed them is gone.
    }
  }
  return count
}

test('F-07: a file that was reopened for a device that ended meanwhile is closed again', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, async () => {
  const file = join(directory, `${randomBytes(4).toString('hex')}.log`)
  const { parts } = devicePartsFor('file', { file_path: file })
  const { target } = parts.settings
  assert(target.file !== undefined)
  const device = await FileDevice.open(parts, target.file)
  device.append('request', '"request":{}', '')
  assert.equal(device.flush(), true)
  const swap = await device.reopen()
  assert(typeof swap === 'function')
  assert.equal(openOn(file), 2)
  await device.end()
  swap()
  await until(() => openOn(file) === 0, 'the file is closed')
})
