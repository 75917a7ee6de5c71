// A type of audit device is one row (src/audit/device-types). What cannot be derived from it, a page and the help of a
// program that may speak to another server, says the same.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { OPTIONS_TEXT, TYPES_TEXT } from '../../src/audit/device-options.ts'
import { DEVICE_TYPES } from '../../src/audit/device-types/device-types.ts'
import { AUDIT_COMMANDS } from '../../src/cli/commands/audit.ts'
import { PROJECT } from '../fixtures/server-process.ts'

test('docs/audit-format.md has a row for each type of device, with all of its options', () => {
  const page = readFileSync(join(PROJECT, 'docs/audit-format.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \| /gm)].map(([, type, options = '']) => ({ type, options }))
  const named = rows.filter(({ type }) => DEVICE_TYPES.some(({ name }) => name === type))
  assert.deepEqual(
    named.map(({ type }) => type),
    DEVICE_TYPES.map(({ name }) => name),
  )
  for (const [at, { name, options }] of DEVICE_TYPES.entries())
    for (const option of options) assert.ok(named[at]?.options.includes(`\`${option}\``), `${option} of ${name}`)
})

test('the help of audit enable names each type of device', () => {
  const enable = AUDIT_COMMANDS.members.find(({ name }) => name === 'enable')
  assert.ok(enable !== undefined && 'describe' in enable)
  assert.ok(enable.describe.join(' ').includes(`TYPE is ${TYPES_TEXT}.`), enable.describe.join('\n'))
})

test('no two types of device have one name, and texts offer each with its options', () => {
  assert.equal(new Set(DEVICE_TYPES.map(({ name }) => name)).size, DEVICE_TYPES.length)
  const lists = new Map(OPTIONS_TEXT.split('; ').map((list) => list.split(': ') as [string, string]))
  for (const { name, oneOf, options, oldOptions } of DEVICE_TYPES) {
    assert.ok(TYPES_TEXT.split(/, | or /).includes(name), TYPES_TEXT)
    const offered = lists.get(`for ${oneOf}`)?.split(', ') ?? []
    assert.deepEqual([...offered, ...oldOptions].sort(), [...options].sort())
  }
})
