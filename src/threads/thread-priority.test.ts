import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const skip = process.platform !== 'linux' && 'threads have no priority of their own'

/** proc_pid_stat(5): the name, in parentheses, may hold blanks. */
const niceOf = (path: string): number => Number(readFileSync(path, 'latin1').split(') ').at(-1)?.split(' ')[16])

test('a thread that steps back does so alone', { skip }, async () => {
  const before = niceOf('/proc/thread-self/stat')
  const program = `
    import { readFileSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    import { lowerThreadPriority } from '${new URL('thread-priority.ts', import.meta.url)}'
    lowerThreadPriority()
    parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'latin1').split(') ').at(-1).split(' ')[16])`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`))
  const nice = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  await worker.terminate()
  assert.equal(Number(nice), Math.min(before + 5, 19))
  assert.equal(niceOf('/proc/thread-self/stat'), before)
})
