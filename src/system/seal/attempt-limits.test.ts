// Limits of what shares alone permit, with a clock that the test moves; first alone, then at the endpoints.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Called, startMemoryServer, wireRequest } from '../../../test/fixtures/memory-server.ts'
import { fail, RefusalForNow } from '../../api/errors.ts'
import { bodyText, type WireResponse } from '../../core/exchange.ts'
import {
  ALL_DISRUPTIVE_ACTIONS,
  AMBIGUOUS_FAILURES,
  type AttemptAction,
  AttemptLimits,
  DISRUPTIVE_ACTIONS,
  MAX_ADDRESSES,
  SHARES,
  WrongCombination,
} from './attempt-limits.ts'

const HERE = '192.0.2.1'
const THERE = '192.0.2.2'

/** Undefined: a share that changed nothing. */
type Work = () => Promise<boolean | undefined>

function newLimits() {
  let nowMs = 0
  const logged: string[] = []
  const limits = new AttemptLimits({ nowMs: () => nowMs, monotonicMs: () => nowMs }, (_level, message) => {
    logged.push(message)
  })
  const attempt = (address: string, action: AttemptAction, work: Work = async () => false) =>
    limits.run({ purpose: 'unseal', action, address }, work, (isOver) => isOver)
  return {
    logged,
    attempt,
    /** Seconds to wait; 0 where it was let through. */
    wait: (address: string, action: AttemptAction, work?: Work): Promise<number> =>
      attempt(address, action, work).then(
        () => 0,
        (cause: unknown) => (cause instanceof RefusalForNow ? cause.retryAfterSeconds : 0),
      ),
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

const wrong = async (): Promise<boolean> => {
  throw new WrongCombination(fail('key_share_wrong', ['unseal failed, invalid key']))
}

const malformed = async (): Promise<boolean> => {
  throw fail('not_in_progress', ['no share'])
}

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await work()
}

test('P-60: shares of an address are limited, and those of another are not', async () => {
  const { wait, advance } = newLimits()
  await times(SHARES.burst, async () => assert.equal(await wait(HERE, 'share'), 0))
  assert.equal(await wait(HERE, 'share'), SHARES.everyMs / 1000)
  assert.equal(await wait(THERE, 'share'), 0)
  advance(SHARES.everyMs)
  assert.deepEqual([await wait(HERE, 'share'), await wait(HERE, 'share')], [0, SHARES.everyMs / 1000])
})

test('P-60: the most shares that there can be are typed without a stop, twice over a quarter of an hour', async () => {
  const { wait, advance } = newLimits()
  await times(255, async () => assert.equal(await wait(HERE, 'share'), 0))
  advance(15 * 60_000)
  await times(255, async () => assert.equal(await wait(HERE, 'share'), 0))
})

test('P-60: wrong shares are limited more than right ones, and then no share is taken', async () => {
  const { wait, advance } = newLimits()
  await times(DISRUPTIVE_ACTIONS.burst, () => wait(HERE, 'share', wrong))
  const isRun: boolean[] = []
  const seen = async () => isRun.push(true) > 0
  assert.equal(await wait(HERE, 'share', seen), DISRUPTIVE_ACTIONS.everyMs / 1000)
  assert.deepEqual(isRun, [])
  advance(DISRUPTIVE_ACTIONS.everyMs)
  assert.equal(await wait(HERE, 'share', seen), 0)
})

test('S-02: an address cannot reset what another has begun more often than the limit', async () => {
  const { wait, advance } = newLimits()
  let resets = 0
  const tries = 1_000
  const seconds = 1_000
  for (let i = 0; i < tries; i++) {
    if ((await wait(HERE, 'change')) === 0) resets++
    advance((1_000 * seconds) / tries)
  }
  assert.equal(resets, DISRUPTIVE_ACTIONS.burst + Math.floor((1_000 * (seconds - 1)) / DISRUPTIVE_ACTIONS.everyMs))
  assert.equal(await wait(THERE, 'share'), 0)
})

test('S-02: of a combination of several that was wrong each has a doubt, which bars only the frequent', async () => {
  const { wait, advance } = newLimits()
  for (let i = 0; i < AMBIGUOUS_FAILURES.burst; i++) {
    assert.equal(await wait(HERE, 'share'), 0)
    assert.equal(await wait(`192.0.2.${100 + i}`, 'share', wrong), 0)
    advance(1)
  }
  assert.equal(await wait(HERE, 'share'), AMBIGUOUS_FAILURES.everyMs / 1000)
  assert.equal(await wait('192.0.2.100', 'share'), 0)
})

test('S-02: who sends a share that was given already is no giver, and takes no blame off another', async () => {
  const { wait } = newLimits()
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst; i++) {
    assert.equal(await wait(THERE, 'share', async () => undefined), 0)
    assert.equal(await wait(HERE, 'share', wrong), 0)
  }
  assert.equal(await wait(HERE, 'share'), DISRUPTIVE_ACTIONS.everyMs / 1000)
  assert.equal(await wait(THERE, 'share'), 0)
})

test('S-02: a stranger who spoils each attempt keeps nobody out who gives a share every ten seconds', async () => {
  const { wait, advance } = newLimits()
  for (let i = 0; i < 1_000; i++) {
    advance(10_000)
    assert.equal(await wait(HERE, 'share'), 0, String(i))
    await wait(THERE, 'share', wrong)
  }
})

test('S-02: who gave to a combination that was right pays for none of others any more', async () => {
  const { wait } = newLimits()
  await wait(HERE, 'share', async () => true)
  for (let i = 0; i < AMBIGUOUS_FAILURES.burst * 2; i++) {
    assert.equal(await wait(HERE, 'share'), 0)
    await wait(THERE, 'share', wrong)
  }
  assert.ok((await wait(THERE, 'share')) > 0)
})

test('S-02: a share that is refused for itself is of who gave it alone, and who gave before stays known', async () => {
  const { wait } = newLimits()
  await wait(HERE, 'share')
  await times(DISRUPTIVE_ACTIONS.burst, () => wait(THERE, 'share', malformed))
  assert.ok((await wait(THERE, 'share')) > 0)
  await times(DISRUPTIVE_ACTIONS.burst * 2, () => wait(HERE, 'share'))
  assert.equal(await wait(HERE, 'share'), 0)
})

test('S-02: of an attempt that came to its end nobody pays for the next one', async () => {
  const { wait } = newLimits()
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst; i++) {
    await wait(HERE, 'share', async () => true)
    await wait(THERE, 'share', wrong)
  }
  assert.equal(await wait(HERE, 'share'), 0)
  assert.ok((await wait(THERE, 'share')) > 0)
})

test('S-02: many that have spoiled before are limited together, and who has not is let through', async () => {
  const { wait } = newLimits()
  const address = (i: number): string => `10.0.${i >> 8}.${i & 255}`
  for (let i = 0; i < ALL_DISRUPTIVE_ACTIONS.burst; i++) assert.equal(await wait(address(i), 'change'), 0)
  assert.equal(await wait(address(0), 'change'), ALL_DISRUPTIVE_ACTIONS.everyMs / 1000)
  assert.equal(await wait(address(0), 'share'), ALL_DISRUPTIVE_ACTIONS.everyMs / 1000)
  assert.equal(await wait(HERE, 'change'), 0)
  assert.ok((await wait(HERE, 'change')) > 0)
})

test('S-02: an operator who tries once a minute beside eight networks that spoil always gets through', async () => {
  for (const spoil of [wrong, malformed]) {
    const { wait, advance } = newLimits()
    for (let second = 1; second <= 3_600; second++) {
      advance(1_000)
      for (let i = 1; i <= 8; i++) await wait(`${i}.0.0.1`, 'share', spoil)
      if (second % 60 === 0) assert.equal(await wait(HERE, 'share', wrong), 0, `second ${second}`)
    }
  }
})

test('S-02: at the machine itself only its own limits count', async () => {
  const { wait } = newLimits()
  for (let i = 0; i < ALL_DISRUPTIVE_ACTIONS.burst; i++) await wait(`10.0.0.${i}`, 'change')
  for (const here of ['127.0.0.1', '127.8.0.1', '::ffff:127.0.0.2', '::1', '']) {
    await times(DISRUPTIVE_ACTIONS.burst, async () => assert.equal(await wait(here, 'change'), 0, here))
    assert.equal(await wait(here, 'change'), DISRUPTIVE_ACTIONS.everyMs / 1000)
  }
})

test('P-60: a network of IPv6 counts as one address', async () => {
  const { wait } = newLimits()
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst; i++)
    assert.equal(await wait(`2001:db8::${i.toString(16)}`, 'change'), 0)
  assert.ok((await wait('2001:db8::ffff', 'change')) > 0)
  assert.equal(await wait('2001:db8:1::1', 'change'), 0)
})

test('P-60: addresses are forgotten when there are too many, and a flood is a line of the log a minute', async () => {
  const { wait, advance, logged } = newLimits()
  await times(DISRUPTIVE_ACTIONS.burst, () => wait(HERE, 'change'))
  await times(50, () => wait(HERE, 'change'))
  assert.equal(logged.length, 1)
  for (let i = 0; i < MAX_ADDRESSES; i++) {
    await wait(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'share')
    advance(1_000)
  }
  // The address was forgotten, so its budget is full again.
  await times(DISRUPTIVE_ACTIONS.burst, async () => assert.equal(await wait(HERE, 'change'), 0))
  assert.ok((await wait(HERE, 'change')) > 0)
  assert.equal(logged.length, 2)
})

test('what fails for another reason than the share counts for nobody', async () => {
  const { attempt, wait } = newLimits()
  const broken = (): Promise<boolean> => Promise.reject(new Error('the disk'))
  await times(DISRUPTIVE_ACTIONS.burst + 1, () => assert.rejects(attempt(HERE, 'share', broken), /the disk/))
  assert.equal(await wait(HERE, 'share'), 0)
})

test('S-02: who gives shares to an open server is not taken for one whose share was right', async () => {
  const { node, from, garbage, shares } = await startServer()
  assert.equal((await from(THERE, 'PUT', 'sys/unseal', { key: garbage(1) })).status, 200)
  await node.operations.seal()
  for (let i = 0; i < AMBIGUOUS_FAILURES.burst; i++) {
    await node.operations.reset()
    await from(`192.0.3.${i}`, 'PUT', 'sys/unseal', { key: shares[0]?.toString('hex') })
    assert.equal((await from(THERE, 'PUT', 'sys/unseal', { key: garbage(i) })).status, 400)
  }
  assert.equal((await from(THERE, 'PUT', 'sys/unseal', { key: garbage(1) })).status, 429)
})

/** A server whose requests come from an address that the test chooses. */
async function startServer() {
  const memory = await startMemoryServer({ shares: 3, threshold: 2 })
  const from = (address: string, method: string, path: string, body?: unknown): Promise<WireResponse> =>
    memory.node.core.handle({ ...wireRequest(method, path, body, ''), remoteAddress: address })
  const garbage = (i: number): string => Buffer.alloc(33, i).toString('hex')
  return { ...memory, from, garbage }
}

const sentenceOf = (answer: WireResponse | Called): string => JSON.stringify(answer.body)

test('S-02, P-60: a flood at sys/unseal is told 429 and when to come back, and nothing else', async () => {
  const { node, shares, from, garbage } = await startServer()
  await node.operations.seal()
  const told = new Set<string>()
  for (let i = 0; i < 500; i++) {
    const response = await from(HERE, 'PUT', 'sys/unseal', { key: garbage(i % 256) })
    if (response.status !== 429) continue
    assert.equal(response.headers?.['Retry-After'], '30')
    told.add(bodyText(response))
  }
  assert.deepEqual([...told], ['{"errors":["Too many attempts, try again in 30 s"]}\n'])
  // A right share is refused in the same words.
  const right = await from(HERE, 'PUT', 'sys/unseal', { key: shares[0]?.toString('hex') })
  assert.deepEqual([right.status, [...told]], [429, [right.body]])
  for (const share of shares.slice(0, 2)) {
    assert.equal((await from(THERE, 'PUT', 'sys/unseal', { key: share.toString('hex') })).status, 200)
  }
  assert.equal(node.seal.status().sealed, false)
})

test('S-02, P-60: resets of sys/unseal are limited', async () => {
  const { node, shares, from } = await startServer()
  await node.operations.seal()
  const statuses: number[] = []
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst + 5; i++)
    statuses.push((await from(HERE, 'PUT', 'sys/unseal', { reset: true })).status)
  assert.deepEqual(statuses.slice(DISRUPTIVE_ACTIONS.burst), Array(5).fill(429))
  await from(THERE, 'PUT', 'sys/unseal', { key: shares[0]?.toString('hex') })
  assert.equal((await from(HERE, 'PUT', 'sys/unseal', { reset: true })).status, 429)
  assert.equal(node.seal.status().progress, 1)
})

const MATTERS = [
  { name: 'generate-root', start: ['PUT', 'sys/generate-root/attempt', {}], drop: 'sys/generate-root/attempt' },
  {
    name: 'rekey',
    start: ['PUT', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 }],
    drop: 'sys/rekey/init',
  },
] as const

for (const { name, start, drop } of MATTERS) {
  test(`S-02, P-60: starting and dropping attempts of ${name} is limited, reading them is not`, async () => {
    const { from } = await startServer()
    const [method, path, body] = start
    for (let i = 0; i < DISRUPTIVE_ACTIONS.burst / 2; i++) {
      assert.equal((await from(HERE, method, path, body)).status, 200)
      assert.equal((await from(HERE, 'DELETE', drop)).status, 204)
    }
    assert.equal((await from(HERE, method, path, body)).status, 429)
    assert.equal((await from(HERE, 'GET', drop)).status, 200)
    assert.equal((await from(THERE, method, path, body)).status, 200)
    assert.equal((await from(HERE, 'DELETE', drop)).status, 429)
    const { started } = JSON.parse(bodyText(await from(THERE, 'GET', drop)))
    assert.equal(started, true)
  })
}

test('P-60, T-19: the same share again is refused and counts as a wrong one', async () => {
  const { shares, from } = await startServer()
  const { nonce } = JSON.parse(bodyText(await from(THERE, 'PUT', 'sys/generate-root/attempt', {})))
  const key = shares[0]?.toString('hex')
  assert.equal((await from(THERE, 'PUT', 'sys/generate-root/update', { key, nonce })).status, 200)
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst; i++)
    assert.equal((await from(HERE, 'PUT', 'sys/generate-root/update', { key, nonce })).status, 400)
  assert.equal((await from(HERE, 'PUT', 'sys/generate-root/update', { key, nonce })).status, 429)
})

test('S-02: with a token that has sudo nobody is limited', async () => {
  const { call } = await startServer()
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst + 5; i++) {
    assert.equal((await call('PUT', 'sys/generate-root-token/attempt', {})).status, 200)
    assert.equal((await call('DELETE', 'sys/generate-root-token/attempt')).status, 204)
  }
  const asked = await startMemoryServer({ listener: { tokenAskedFor: { generateRoot: true, rekey: true } } })
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst + 5; i++) {
    assert.equal((await asked.call('PUT', 'sys/generate-root/attempt', {})).status, 200)
    assert.equal((await asked.call('DELETE', 'sys/generate-root/attempt')).status, 204)
  }
})

test('a server that has keys refuses sys/init before it looks at OpenPGP keys', async () => {
  const { call } = await startServer()
  const answer = await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1, pgp_keys: ['no key'] }, '')
  assert.deepEqual([answer.status, sentenceOf(answer)], [400, '{"errors":["Vault is already initialized"]}'])
})
