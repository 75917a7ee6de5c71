import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomTool } from './mixed-random.ts'
import { RandomnessFailed } from './random-bytes.ts'

const OWN = Buffer.from('00ff0f010203040506070809', 'hex')
const DEVICE = Buffer.from('ffff00ff00ff00ff00ff00ff', 'hex')
const MIXED = Buffer.from('ff000ffe02fc04fa06f808f6', 'hex')
const tool = randomTool((count) => Buffer.from(OWN.subarray(0, count)))

test('bytes of a device are mixed with those of this machine, and neither alone decides', () => {
  assert.deepEqual(tool.mixed(Buffer.from(DEVICE), 12), MIXED)
  assert.deepEqual(tool.mixed(Buffer.alloc(12), 12), OWN)
  assert.deepEqual(tool.platform(12), OWN)
})

test('a device that gives another number of bytes than was asked for gives none', () => {
  for (const count of [11, 13]) assert.throws(() => tool.mixed(Buffer.from(DEVICE), count), RandomnessFailed)
})

test('C-03 a broken source of this machine is not hidden by a device', () => {
  const broken = randomTool((count) => Buffer.alloc(count))
  assert.throws(() => broken.mixed(Buffer.from(DEVICE), 12), RandomnessFailed)
})
