import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'

const run = (args: readonly string[]) =>
  spawnSync('sh', ['bin/with-runtime', 'bench/replication.ts', ...args], { cwd: PROJECT, encoding: 'utf8' })

/** The least of each part that shows that it works. */
const LEAST = [
  ...['--small', '--seconds=0.3', '--rounds=1', '--rates=50', '--records=200', '--missed=200', '--keys=200'],
  ...['--different=20', '--leases=200', '--writes=10', '--switchovers=1'],
]

test('bench:replication has figures of each part', {
  skip: process.platform !== 'linux' && 'it reads /proc',
}, (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const json = join(temporary.path, 'result.json')
  const { status, stdout, stderr } = run([...LEAST, `--json=${json}`])
  assert.equal(status, 0, stderr)
  type Row = { readonly part: string; readonly what: string; readonly figure: string }
  const rows: readonly Row[] = JSON.parse(readFileSync(json, 'utf8')).rows
  const parts = [
    ...['lag', 'records', 'catch-up', 'copy', 'reindex', 'throughput', 'encrypt'],
    ...['region', 'region-lag', 'region-start', 'promote', 'switchover', 'synchronous'],
  ]
  assert.deepEqual([...new Set(rows.map(({ part }) => part))], parts)
  for (const { what, figure } of rows) {
    assert.match(figure, /^\d/, what)
    assert.doesNotMatch(figure, /NaN|Infinity/, what)
    assert.ok(stdout.includes(what))
  }
})

test('bench:replication refuses what it does not know', () => {
  for (const args of [['--parts=nothing'], ['--keys=0'], ['--rates=many'], ['--seconds=0'], ['--frobnicate']]) {
    const { status, stderr } = run(args)
    assert.notEqual(status, 0)
    assert.match(stderr, /--(parts|keys|rates|seconds|frobnicate)/)
  }
})
