// P-59, F-14: seal under load. No request starts after it, those that run finish or are refused, and it does not wait.
import { strict as assert } from 'node:assert'
import { type TestContext, test } from 'node:test'
import { leastMs } from '../../fixtures/measured.ts'
import { api, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const CALLERS = 16
/** The promise is a second; a machine that does other work besides may be slower, and this is no benchmark. */
const LIMIT_MS = 5_000

test('P-59: seal under load is done soon, and nothing is served once it was answered', async (t) => {
  const tookMs = await leastMs(LIMIT_MS, () => sealUnderLoad(t))
  t.diagnostic(`sealed after ${Math.round(tookMs)} ms under ${CALLERS} callers`)
  assert.ok(tookMs < LIMIT_MS, `${tookMs} ms`)
})

/** Of a server of its own; resolves with how long the seal took. */
async function sealUnderLoad(t: TestContext): Promise<number> {
  const { path, cleanUp } = temporaryDirectory()
  const server = await startServerProcess({ directory: `${path}/data`, args: ['-threads=2'] })
  t.after(async () => {
    await server.stop()
    cleanUp()
  })
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/k')
  let isSealed = false
  let isOver = false
  const served: number[] = []
  const caller = async (number: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const beganSealed = isSealed
      const { status } =
        i % 4 === 0
          ? await api(server, 'PUT', `sys/policies/acl/p${number}`, { policy: 'path "a" { }' })
          : await api(server, 'POST', 'transit/encrypt/k', { plaintext: 'YQ==' })
      if (beganSealed) assert.equal(status, 503)
      else assert.ok([200, 204, 503].includes(status), String(status))
      served.push(status)
    }
  }
  const callers = Array.from({ length: CALLERS }, (_, number) => caller(number))
  while (served.length < 200) await new Promise((resolve) => setTimeout(resolve, 5))
  const beganMs = performance.now()
  assert.equal((await api(server, 'PUT', 'sys/seal')).status, 204)
  const tookMs = performance.now() - beganMs
  isSealed = true
  const before = served.length
  while (served.length < before + 100) await new Promise((resolve) => setTimeout(resolve, 5))
  isOver = true
  await Promise.all(callers)
  return tookMs
}
