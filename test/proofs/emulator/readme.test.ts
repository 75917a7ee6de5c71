import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const PROJECT = join(import.meta.dirname, '../../..')

test('the example of the README runs', () => {
  const page = readFileSync(join(PROJECT, 'emulator/README.md'), 'utf8')
  const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? []
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '--eval', example],
    {
      cwd: PROJECT,
      encoding: 'utf8',
    },
  )
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^cloud "TestCloud" \{\n {2}authority {17}= "http:\/\/127\.0\.0\.1:\d+"\n/)
  assert.match(stdout, /\n0\n$/)
})
