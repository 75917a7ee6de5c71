import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const SOURCES = join(import.meta.dirname, '..')

/** Modules of the runtime that a process has loaded which imported that file of ours, or of the runtime. */
function loadedBy(file: string): readonly string[] {
  const script = `await import(${JSON.stringify(file)}); process.stdout.write(process.moduleLoadList.join('\\n'))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return stdout.split('\n')
}

const isClient = (module: string): boolean => module.includes('internal/deps/undici')

test('what serves, what calls others and the command line load no second HTTP client', () => {
  // It is what the import statement would do; should the runtime change that, the module here has lost its reason.
  assert.ok(loadedBy('node:http').some(isClient))
  for (const file of ['process/serving.ts', 'process/writer.ts', 'process/server.ts', 'cli/cli.ts']) {
    assert.deepEqual(loadedBy(join(SOURCES, file)).filter(isClient), [], file)
  }
})
