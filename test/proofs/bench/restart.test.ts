import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'

const run = (args: readonly string[]) =>
  spawnSync('sh', ['bin/with-runtime', 'bench/restart.ts', ...args], { cwd: PROJECT, encoding: 'utf8' })

test('bench:restart measures start, snapshot and restore of a full and of an empty store', {
  skip: process.platform !== 'linux' && 'it reads /proc',
}, (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const json = join(temporary.path, 'result.json')
  const { status, stdout, stderr } = run(['--keys=100', '--tokens=100', '--starts=1', `--json=${json}`])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /\| 1, 1 \| 101, 101 \|/)
  const { empty, full } = JSON.parse(readFileSync(json, 'utf8'))
  for (const { start, saved, restored } of [empty, full]) {
    assert.ok(start.healthMs > 0 && start.healthMs <= start.keyMs && start.keyMs <= start.tokenMs)
    for (const { seconds, peakMebibytes } of [saved, restored]) assert.ok(seconds > 0 && peakMebibytes > 0)
  }
})

test('bench:restart refuses what it does not know', () => {
  for (const args of [['--keys=-1'], ['--tokens=many'], ['--starts=0'], ['--frobnicate']]) {
    const { status, stderr } = run(args)
    assert.notEqual(status, 0)
    assert.match(stderr, /--(keys|tokens|starts|frobnicate)/)
  }
})
