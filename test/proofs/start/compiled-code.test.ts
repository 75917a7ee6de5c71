// What a server compiled is there for its next start, in each of its threads.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

/** Each thread says at its end whether the runtime loaded what takes types out: it does so at the first such file. */
const WATCH = `
import { threadName } from 'node:worker_threads'
process.on('exit', () => {
  const strips = process.moduleLoadList.some((name) => name.includes('amaro'))
  process._rawDebug(\`thread:\${threadName || 'first'}:\${strips ? 'strips' : 'loads'}:\`)
})
`

test('no thread of a server takes the types out of a file that one compiled before', async (context) => {
  const { path, cleanUp } = temporaryDirectory()
  context.after(cleanUp)
  const watch = join(path, 'watch.mjs')
  writeFileSync(watch, WATCH)
  const env = { HOME: path, XDG_CACHE_HOME: '', NODE_COMPILE_CACHE: '', NODE_OPTIONS: `--import=${watch}` }
  let hasLinks = false
  const threads = async (): Promise<string[]> => {
    const server = await startServerProcess({ directory: join(path, 'data'), args: ['-threads=1'], env })
    context.after(() => server.kill())
    // The links are loaded behind the start. What one start ended before, the next one would compile.
    if (!hasLinks) {
      const headers = { 'X-Vault-Token': server.token }
      const url = `${server.address}/v1/sys/replication/performance/primary/enable`
      assert.equal((await fetch(url, { method: 'POST', headers })).status, 200)
      hasLinks = true
    }
    assert.equal(await server.stop(), 0)
    const said = server.output().matchAll(/thread:(\w+):(\w+):/g)
    return Array.from(said, ([, name, does]) => `${name} ${does}`).toSorted()
  }
  assert.deepEqual(await threads(), ['first strips', 'linking strips', 'serving strips', 'writer strips'])
  assert.deepEqual(await threads(), ['first loads', 'linking loads', 'serving loads', 'writer loads'])
})
