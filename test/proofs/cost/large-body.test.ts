// P-42, Q-15: how long one body of 32 MB holds the thread that serves it, as a multiple of what it costs to parse its
// JSON and read its base64, which nothing of ours can make shorter. The bound is wide: it finds a second copy of the
// work, not a slow machine.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { type MemoryServer, startMemoryServer, wireRequest } from '../../fixtures/memory-server.ts'

const BODY_BYTES = 32 << 20
const TIMES = 2
const MOST_TIMES_THE_LEAST = 8
/** A collection of garbage: what a pause may have on top. */
const SLACK_MS = 100

/** Of the processor, by this thread: what else the machine does is no hold of ours. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
})

/** The most that the thread computes between two turns of the event loop while `work` runs. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  // What it does before it first waits counts, too.
  let [longest, last] = [0, cpuMs()]
  const done = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await nextLoop()
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  await done
  return longest
}

const BODIES = [
  {
    name: 'one plaintext',
    path: 'transit/encrypt/k',
    body: JSON.stringify({ plaintext: Buffer.alloc((BODY_BYTES / 4) * 3 - 64).toString('base64') }),
  },
  {
    name: 'a batch of many',
    path: 'transit/encrypt/k',
    body: JSON.stringify({
      batch_input: Array.from({ length: BODY_BYTES / 4096 - 64 }, () => ({ plaintext: 'A'.repeat(4_072) })),
    }),
  },
] as const

for (const { name, path, body } of BODIES) {
  test(`P-42, Q-15: a body of 32 MB with ${name} holds its thread a small multiple of its parse`, async (context) => {
    assert.ok(body.length > 0.9 * BODY_BYTES && body.length <= BODY_BYTES, `${body.length} bytes`)
    const least: number[] = []
    const holds: number[] = []
    for (let i = 0; i < TIMES; i++) {
      const beginMs = cpuMs()
      const bytes = Buffer.from(body)
      const { plaintext, batch_input: items = [{ plaintext }] } = JSON.parse(bytes.toString())
      for (const item of items) Buffer.from(item.plaintext, 'base64')
      least.push(cpuMs() - beginMs)
      const request = { ...wireRequest('POST', path, undefined, 'root'), body: bytes }
      const work = async (): Promise<void> => {
        const { status } = await server.node.core.handle(request)
        assert.equal(status, 200)
      }
      holds.push(await longestHold(work))
    }
    const [hold, parse] = [Math.min(...holds), Math.min(...least)]
    context.diagnostic(`held for ${Math.round(hold)} ms, the parse alone takes ${Math.round(parse)} ms`)
    assert.ok(hold < MOST_TIMES_THE_LEAST * parse + SLACK_MS, `${hold} ms against ${parse} ms`)
  })
}
