// Random sequences of what opens and closes a server, with requests on their way all the time.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { pseudoRandom } from '../../../test/fixtures/pseudo-random.ts'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { ends } from '../../../test/fixtures/until.ts'

/** SEAL_STEPS for a longer run. */
const STEPS = Number(process.env.SEAL_STEPS ?? '400')

test('S-06: no sequence of init, unseal, seal and stop hangs, answers 500 or leaves it half open', async (t) => {
  const random = pseudoRandom(testSeed(t))
  let stage: MemoryServer = await startMemoryServer({ shares: 0 })
  let key = ''
  let token = ''
  const statuses = new Set<number>()
  const inFlight = new Set<Promise<unknown>>()
  const send = (method: string, path: string, body?: object): void => {
    const answer = stage.call(method, path, body, token).then(({ status }) => statuses.add(status))
    const done = ends(answer, path).finally(() => inFlight.delete(done))
    inFlight.add(done)
  }
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    init: async () => {
      const { status, body } = await stage.call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
      if (status !== 200) return assert.equal(status, 400)
      key = (body.keys as string[])[0] ?? ''
      token = String(body.root_token)
    },
    unseal: () => stage.call('PUT', 'sys/unseal', { key }, ''),
    'unseal twice at once': () =>
      Promise.all([stage.call('PUT', 'sys/unseal', { key }, ''), stage.call('PUT', 'sys/unseal', { key }, '')]),
    'wrong share': () => stage.call('PUT', 'sys/unseal', { key: 'ab'.repeat(32) }, ''),
    reset: () => stage.call('PUT', 'sys/unseal', { reset: true }, ''),
    seal: () => stage.call('PUT', 'sys/seal', undefined, token),
    rotate: () => stage.call('POST', 'sys/rotate', undefined, token),
    stop: async () => {
      await stage.node.rest()
      await Promise.all(inFlight)
      stage = await startMemoryServer({ store: stage.store, threshold: 0 })
    },
  }
  const names = Object.keys(steps)
  const open = new Set<boolean>()
  for (let step = 0; step < STEPS; step++) {
    for (let requests = random.int(4); requests > 0; requests--) {
      if (random.int(2) === 0) send('POST', `sys/policies/acl/p${random.int(5)}`, { policy: 'path "a" { }' })
      else send('GET', 'sys/mounts')
    }
    const name = names[random.int(names.length)] as string
    await ends((steps[name] as () => Promise<unknown>)(), `step ${step}, ${name}`)
    const { sealed } = (await ends(stage.call('GET', 'sys/seal-status', undefined, ''), 'seal-status')).body
    assert.equal(sealed, stage.node.storage.barrier.sealed, `step ${step}, ${name}`)
    open.add(sealed === false)
  }
  await Promise.all(inFlight)
  // A request is served, or refused because the server is sealed, has no keys, or does not know the token.
  for (const status of statuses) assert.ok([200, 204, 400, 403, 503].includes(status), String(status))
  assert.ok(statuses.has(200) && statuses.has(503))
  assert.equal(open.size, 2)
})
