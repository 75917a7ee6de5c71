import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { NeighbourRow } from '../../../bench/neighbours.ts'
import { OPERATIONS } from '../../../bench/operations.ts'
import type { Row } from '../../../bench/report.ts'
import { without } from '../../fixtures/debian-packages.ts'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'

const skip = without('wrk')

test('bench runs every load without an error', { skip }, (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const json = join(temporary.path, 'result.json')
  // A load that runs does so at once; how much of it there is proves nothing more.
  const args = ['bin/with-runtime', 'bench/run.ts', '--rounds=1', '--seconds=0.2', '--warm-up=0', `--json=${json}`]
  const { status, stdout, stderr } = spawnSync('sh', args, { cwd: PROJECT, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const { rows } = JSON.parse(readFileSync(json, 'utf8')) as { readonly rows: readonly Row[] }
  const servers = OPERATIONS.flatMap(({ name, control }) => [
    ...(control ? [`${name} control`] : []),
    `${name} keywright`,
  ])
  assert.deepEqual(
    rows.map(({ operation, target }) => `${operation} ${target}`),
    servers,
  )
  for (const { operation, target, medians } of rows) {
    assert.equal(medians.errors, 0, `${operation} ${target}`)
    assert.ok(medians.cpuMicrosecondsPerRequest > 0)
    assert.ok(stdout.includes(operation))
  }
})

test('bench compares numbers of threads, and what a neighbour costs', { skip }, (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const json = join(temporary.path, 'result.json')
  const short = ['--rounds=1', '--seconds=1', '--warm-up=0', `--json=${json}`]
  const rowsWith = (args: readonly string[]): unknown => {
    const words = ['bin/with-runtime', 'bench/run.ts', ...short, ...args]
    const { status, stderr } = spawnSync('sh', words, { cwd: PROJECT, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return JSON.parse(readFileSync(json, 'utf8')).rows
  }
  const loads = rowsWith(['--threads=1,2', '--ops=key read']) as readonly Row[]
  assert.deepEqual(
    loads.map(({ target }) => target),
    ['keywright -threads=1', 'keywright -threads=2'],
  )
  const rows = rowsWith(['--neighbours', '--ops=32 MB']) as readonly NeighbourRow[]
  assert.deepEqual(
    rows.map(({ target }) => target),
    ['control', 'keywright'],
  )
  for (const { quiet, noisy, neighboursPerSecond, neighbourErrors } of rows) {
    assert.ok(neighboursPerSecond > 0)
    assert.equal(quiet.errors + noisy.errors + neighbourErrors, 0)
  }
})

test('bench refuses what it does not know', () => {
  for (const args of [
    ['--rounds=0'],
    ['--seconds=9'],
    ['--seconds=0.1'],
    ['--seconds=many'],
    ['--ops=nothing'],
    ['--threads=0'],
    ['--neighbours', '--ops=nothing'],
    ['--frobnicate'],
  ]) {
    const { status, stderr } = spawnSync('sh', ['bin/with-runtime', 'bench/run.ts', ...args], {
      cwd: PROJECT,
      encoding: 'utf8',
    })
    assert.notEqual(status, 0)
    assert.match(stderr, /--(rounds|seconds|ops|threads|frobnicate)/)
  }
})
