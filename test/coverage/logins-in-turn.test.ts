// Logins by password wait in turn by address. The worker is held by the test, so the order is that of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOGINS_AT_ONCE, WAITING_LOGINS_OF_ADDRESS } from '../../src/api/login-queue.ts'
import type { SlowWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'
import { quickWork } from '../fixtures/quick-work.ts'
import { until } from '../fixtures/until.ts'

/** While it is held, work that was begun waits for `step`. */
function heldWork() {
  const inline = quickWork(realWorld())
  const held: { readonly name: string; readonly go: () => void }[] = []
  const state = { isHeld: false }
  const slow: SlowWork = {
    ...inline,
    run: async (job, input, moved) => {
      if (state.isHeld)
        await new Promise<void>((go) => held.push({ name: (input as { password: string }).password, go }))
      return inline.run(job, input, moved)
    },
  }
  return { slow, held, state }
}

async function stage() {
  const work = heldWork()
  const memory = await startMemoryServer({ slow: work.slow })
  for (const mount of ['people', 'others']) {
    await memory.call('POST', `sys/auth/${mount}`, { type: 'userpass' })
    await memory.call('POST', `auth/${mount}/users/ann`, { password: 'right' })
  }
  work.state.isHeld = true
  return { ...work, memory }
}

/** The status; the password names the attempt where the worker is held. */
const logIn = async (
  { node }: MemoryServer,
  address: string,
  password: string,
  { mount = 'people', user = 'ann' } = {},
) => {
  const request = wireRequest('POST', `auth/${mount}/login/${user}`, { password })
  const response = await node.core.handle({ ...request, remoteAddress: address })
  return { status: response.status, headers: response.headers }
}

test('a flood of logins from one address delays others by those under way, over all mounts', async () => {
  const { held, memory } = await stage()
  const flood = Array.from({ length: 40 }, (_, index) =>
    logIn(memory, '10.0.0.1', `flood-${index}`, { user: `nobody-${index}` }),
  )
  await until(() => held.length === LOGINS_AT_ONCE)
  const ann = logIn(memory, '10.0.0.2', 'right')
  const other = logIn(memory, '10.0.0.3', 'right', { mount: 'others' })
  const sameNetwork = ['2001:db8::1', '2001:db8::2'].map((address) => logIn(memory, address, 'wrong'))
  // Before its turn a login waits for nothing but storage in memory: so they are all there.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  const order: string[] = []
  while (order.length < 44) {
    await until(() => held.length > 0)
    const next = held.shift()
    order.push(next?.name ?? '')
    next?.go()
  }
  const places = (name: string): number[] => order.flatMap((found, index) => (found === name ? [index] : []))
  // Those under way, and before each of them at most one of every address that waits.
  assert.ok(
    places('right').every((place) => place < LOGINS_AT_ONCE + 4),
    order.join(),
  )
  const [first = 0, second = 0] = places('wrong')
  assert.ok(first < LOGINS_AT_ONCE + 4 && second - first > 1, `one network is one address: ${order.join()}`)
  assert.deepEqual([(await ann).status, (await other).status], [200, 200])
  for (const { status } of await Promise.all([...flood, ...sameNetwork])) assert.equal(status, 400)
})

test('of one address so many logins wait, and one more is a 429 that counts as no failure', async () => {
  const { held, state, memory } = await stage()
  const most = LOGINS_AT_ONCE + WAITING_LOGINS_OF_ADDRESS
  const statuses: number[] = []
  const flood = Array.from({ length: most + 3 }, async (_, index) => {
    const { status, headers } = await logIn(memory, '10.0.0.1', 'wrong', { user: `nobody-${index}` })
    statuses.push(status)
    return headers
  })
  await until(() => statuses.length === 3)
  for (let guess = 0; guess < 10; guess++) {
    const { status, headers } = await logIn(memory, '10.0.0.1', 'wrong')
    assert.deepEqual([status, headers], [429, { 'Retry-After': '1' }])
  }
  const waits = logIn(memory, '10.0.0.2', 'right')
  state.isHeld = false
  while (held.length > 0) held.shift()?.go()
  assert.equal((await waits).status, 200, 'ann is not locked')
  await Promise.all(flood)
  assert.deepEqual(statuses.toSorted(), [...Array(most).fill(400), 429, 429, 429])
})
