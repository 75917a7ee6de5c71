// A log that cannot be written must not end the server: a full device, and a pipe without a reader.
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT } from '../../fixtures/server-process.ts'

const ARGS = [join(PROJECT, 'bin/with-runtime'), join(PROJECT, 'test/fixtures/endless-log.ts')]

async function endOf(stderr: number | 'pipe'): Promise<readonly [number | null, string]> {
  const child = spawn('sh', ARGS, { stdio: ['ignore', 'pipe', stderr] })
  child.stderr?.destroy()
  let said = ''
  child.stdout?.on('data', (chunk) => {
    said += chunk
  })
  await once(child, 'close')
  return [child.exitCode, said]
}

test('N-21: a log on a full device ends no thread', {
  skip: process.platform !== 'linux' && 'there is no /dev/full',
}, async () => {
  const full = openSync('/dev/full', 'w')
  assert.deepEqual(await endOf(full), [0, 'still there\n'])
  closeSync(full)
})

test('N-21: a log into a pipe that nobody reads ends no thread', async () => {
  assert.deepEqual(await endOf('pipe'), [0, 'still there\n'])
})
