import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'

const run = (args: readonly string[]) =>
  spawnSync('sh', ['bin/with-runtime', 'bench/message.ts', ...args], { cwd: PROJECT, encoding: 'utf8' })

test('bench:message measures each step of a message beside the control', (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const json = join(temporary.path, 'result.json')
  const { status, stdout, stderr } = run(['--records=300', '--batch=64', '--rounds=1', `--json=${json}`])
  assert.equal(status, 0, stderr)
  const { rows } = JSON.parse(readFileSync(json, 'utf8'))
  const steps = rows.map(({ step }: { readonly step: string }) => step)
  const ways = ['memory', 'SQLite']
  for (const step of ['control', 'seal', 'open', ...ways.flatMap((way) => [`adopt, ${way}`, `whole, ${way}`])]) {
    assert.ok(steps.includes(step), step)
    assert.ok(stdout.includes(step))
  }
  for (const { recordsPerSecond, cpuMicroseconds } of rows) assert.ok(recordsPerSecond > 0 && cpuMicroseconds >= 0)
})

test('bench:message refuses what it does not know', () => {
  for (const args of [['--records=0'], ['--batch=many'], ['--rounds=0'], ['--frobnicate']]) {
    const { status, stderr } = run(args)
    assert.notEqual(status, 0)
    assert.match(stderr, /--(records|batch|rounds|frobnicate)/)
  }
})
