// P-11: however a server ends, no key version is counted lower than it was used, and its limit holds. COUNT_KILLS says
// how often it is killed.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MESSAGE_LIMITS } from '../../../src/engines/transit/budget/message-limits.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const KILLS = Number(process.env.COUNT_KILLS ?? '1')
const CALLERS = 6
const MOST_LOAD_MS = 400
const { most, block, freeShare } = MESSAGE_LIMITS
/** What threads may be given; the rest is for those that do not ask. */
const LIMIT = most - freeShare
const NEAR = LIMIT - 2 ** 17
/** Messages that threads seal without asking: those of three starts. */
const UNASKED = 3 * 8 * MESSAGE_LIMITS.free
/** Messages of a batch: more than a thread may seal without asking. */
const LARGE = 5_000
const plaintext = 'YQ=='

/** Seals until the server is gone; what was answered counts as sealed. */
async function seal(server: ServerProcess, sealed: { messages: number }): Promise<void> {
  const body = { batch_input: Array.from({ length: 700 }, () => ({ plaintext })) }
  try {
    for (;;) {
      const { status } = await api(server, 'POST', 'transit/encrypt/k', body)
      if (status !== 200) return
      sealed.messages += body.batch_input.length
    }
  } catch {
    // Killed.
  }
}

test(`P-11 C-13: ${KILLS} kills leave no count too low, near the limit too`, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const config = join(temporary.path, 'raw.hcl')
  writeFileSync(config, 'raw_storage_endpoint = true\n')
  const start = () =>
    startServerProcess({ directory: join(temporary.path, 'data'), args: ['-threads=2', '-config', config] })
  let server = await start()
  context.after(() => server.kill())
  const read = async () => (await api(server, 'GET', 'transit/keys/k')).body.data ?? {}
  const counted = async () => Number((await read()).encryption_counts?.['1' as never])
  const mounted = await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  assert.equal(mounted.status, 204)
  await api(server, 'POST', 'transit/keys/k')
  const uuid = (await api(server, 'GET', 'sys/mounts/transit')).body.data?.uuid
  const sealed = { messages: 0 }
  for (let kill = 0; kill < KILLS; kill += 1) {
    const load = Promise.all(Array.from({ length: CALLERS }, () => seal(server, sealed)))
    for (const before = sealed.messages; sealed.messages === before; ) await sleep(10)
    await sleep(random.int(MOST_LOAD_MS))
    await server.kill()
    await load
    server = await start()
    assert.ok((await counted()) >= sealed.messages, `after kill ${kill}`)
  }

  const { keys: stored } = (await api(server, 'LIST', `sys/raw/logical/${uuid}/cluster/use`)).body.data ?? {}
  const [identity, ...others] = stored as string[]
  assert.deepEqual(others, [], 'one key has one count')
  const plant = async (path: string, record: object) => {
    const value = JSON.stringify({ format: 1, ...record })
    const raw = await api(server, 'POST', `sys/raw/logical/${uuid}/${path}`, { value })
    assert.equal(raw.status, 204, JSON.stringify(raw.body))
  }
  const lives = (await api(server, 'GET', `sys/raw/logical/${uuid}/cluster/lives`)).body.data?.value
  const { cluster } = JSON.parse(String(lives))
  const granted = most - block
  await plant(`use/${identity}`, { granted, clusters: { [cluster]: { granted, number: granted / block } } })
  await plant(`cluster/use/${identity}`, { granted: NEAR, cluster })
  const last = { messages: 0 }
  const load = Promise.all(Array.from({ length: CALLERS }, () => seal(server, last)))
  while (last.messages === 0) await sleep(10)
  await server.kill()
  await load
  server = await start()
  await Promise.all(Array.from({ length: CALLERS }, () => seal(server, last)))
  // Each thread uses up what it was given, so which request is the first to be refused is chance.
  const large = () => api(server, 'POST', 'transit/encrypt/k', { batch_input: Array(LARGE).fill({ plaintext }) })
  let refused = await large()
  for (; refused.status === 200 && last.messages <= LIMIT - NEAR + UNASKED; refused = await large())
    last.messages += LARGE
  assert.match(String(refused.body.errors), /2\^32 messages/)
  assert.ok(last.messages <= LIMIT - NEAR + UNASKED, 'more than may be were sealed')
  await api(server, 'POST', 'transit/keys/k/config', { auto_rotate_period: '24h' })
  do {
    const rotated = await large()
    assert.equal(rotated.status, 200, JSON.stringify(rotated.body.errors))
    last.messages += LARGE
  } while ((await read()).latest_version === 1 && last.messages <= LIMIT - NEAR + UNASKED)
  assert.equal((await read()).latest_version, 2)
  context.diagnostic(`${sealed.messages} sealed, counted as ${await counted()}; near the limit ${last.messages}`)
  assert.equal(await server.stop(), 0)
})
