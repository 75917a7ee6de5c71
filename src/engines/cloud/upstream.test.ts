import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Answer, type AnsweringCloud, answered, answeringCloud } from '../../../test/fixtures/answering-cloud.ts'
import { LoginDeadline } from './deadline.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { CloudCall } from './upstream.ts'

const CALL: CloudCall = { service: 'graph', method: 'GET', url: 'https://graph.test/a/b?c=d' }

/** What comes of a call, once all time that it may take has passed. */
async function outcome(cloud: AnsweringCloud, ms = 10_000, call = CALL): Promise<unknown> {
  const called = cloud.upstream.call(call, new LoginDeadline(cloud.world, ms)).catch((cause: unknown) => cause)
  // The first attempt is made before any time passes.
  await cloud.time.advance(0)
  await cloud.time.advance(ms + 1)
  assert.equal(cloud.lane.running + cloud.lane.waiting, 0)
  return called
}

const times = ({ asked }: AnsweringCloud): number[] => asked.map(({ atMs }) => atMs)
const busy: Answer = () => answered(503)

function assertUnavailable(cause: unknown, detail: string): void {
  assert.ok(cause instanceof CloudUnavailable)
  assert.deepEqual([cause.what, cause.message], ['graph unavailable', `GET https://graph.test: ${detail}`])
}

const WAITS = [
  { name: 'spread downwards by a fifth', randomByte: 0, most: 3, at: [0, 80, 320, 880] },
  { name: 'spread upwards by as much', randomByte: 255, most: 3, at: [0, 130, 519, 1_428] },
  { name: 'as often as is configured', randomByte: 0, most: 1, at: [0, 80] },
  { name: 'never beyond the longest', randomByte: 0, most: 3, maxDelayMs: 300, at: [0, 80, 320, 620] },
  { name: 'never beyond a quarter of what is left', randomByte: 0, most: 3, ms: 1_000, at: [0, 80, 310, 483] },
  { name: 'not without 50 ms for it', randomByte: 0, most: 9, ms: 60, at: [0] },
]
for (const { name, randomByte, most, maxDelayMs = 60_000, ms = 10_000, at } of WAITS) {
  test(`what may pass is tried again after a time that grows, ${name}`, async () => {
    const cloud = answeringCloud(busy, { retries: { most, delayMs: 100, maxDelayMs }, randomByte })
    assertUnavailable(await outcome(cloud, ms), at.length > most ? 'status 503' : 'no time was left')
    assert.deepEqual(times(cloud), at)
  })
}

const ASKED = [
  { name: 'seconds', retryAfter: '2', ms: 2_050, at: [0, 2_000] },
  { name: 'seconds that do not fit', retryAfter: '2', ms: 2_049, at: [0] },
  { name: 'a date', retryAfter: new Date(3_000).toUTCString(), ms: 10_000, at: [0, 3_000] },
  { name: 'a date that does not fit', retryAfter: new Date(10_000).toUTCString(), ms: 10_000, at: [0] },
  { name: 'a date that has passed', retryAfter: new Date(-5_000).toUTCString(), ms: 10_000, at: [0, 0] },
  { name: 'nothing that is understood', retryAfter: 'soon', ms: 10_000, at: [0, 80] },
]
for (const { name, retryAfter, ms, at } of ASKED) {
  test(`Retry-After with ${name} says when the next attempt is made, if any`, async () => {
    const cloud = answeringCloud(() => answered(429, '', { 'retry-after': retryAfter }), {
      retries: { most: 1, delayMs: 100, maxDelayMs: 300 },
    })
    assertUnavailable(await outcome(cloud, ms), 'status 429')
    assert.deepEqual(times(cloud), at)
  })
}

test('what must not be done twice is repeated only where it was not done', async () => {
  const cases: readonly [Answer, number][] = [
    [() => answered(429), 2],
    [busy, 1],
    [() => new Error('reset'), 1],
  ]
  for (const [answer, attempts] of cases) {
    const cloud = answeringCloud(answer, { retries: { most: 1, delayMs: 100, maxDelayMs: 300 } })
    assert.ok((await outcome(cloud, 10_000, { ...CALL, onlyOnce: true })) instanceof CloudUnavailable)
    assert.equal(cloud.asked.length, attempts)
  }
})

test('an attempt has three seconds, or what is left, and is not made with less than 50 ms', async () => {
  for (const [leftMs, timeoutMs] of [
    [10_000, 3_000],
    [2_999, 2_999],
    [50, 50],
  ] as const) {
    const cloud = answeringCloud(busy)
    await outcome(cloud, leftMs)
    assert.deepEqual(
      cloud.asked.map((each) => each.timeoutMs),
      [timeoutMs],
    )
  }
  const cloud = answeringCloud(busy)
  assertUnavailable(await outcome(cloud, 49), 'no time was left')
  assert.equal(cloud.asked.length, 0)
})

test('who finds the queue full is told, and who waits in it too long leaves it', async () => {
  const cloud = answeringCloud(() => answered(200, {}))
  const inside = Array.from({ length: 32 }, () => cloud.lane.enter())
  const late = cloud.upstream.call(CALL, new LoginDeadline(cloud.world, 1_000)).catch((cause: unknown) => cause)
  await cloud.time.advance(1_001)
  const cause = await late
  assert.ok(cause instanceof CloudUnavailable && cause.what === 'the cloud did not answer in time')
  assert.deepEqual([cloud.lane.running, cloud.lane.waiting], [32, 0])
  const waiting = Array.from({ length: 256 }, () => cloud.lane.enter())
  const refused = await cloud.upstream.call(CALL, new LoginDeadline(cloud.world)).catch((error: unknown) => error)
  assertUnavailable(refused, 'too many calls wait already')
  for (const each of [...waiting, ...inside]) each?.leave()
  assert.deepEqual(await outcome(cloud), {})
})

test('a request says what it accepts, and of what type its body is', async () => {
  const cloud = answeringCloud(() => answered(200, { a: 1 }))
  const body = { type: 'text/plain', text: 'x' }
  assert.deepEqual(await outcome(cloud, 10_000, { ...CALL, method: 'POST', headers: { B: 'c' }, body, maxBytes: 7 }), {
    a: 1,
  })
  await outcome(cloud)
  const sent = { url: CALL.url, timeoutMs: 3_000, keepsConnection: true }
  const headers = { Accept: 'application/json', 'User-Agent': 'keywright' }
  const withBody = { ...headers, B: 'c', 'Content-Type': 'text/plain' }
  assert.deepEqual(
    cloud.asked.map(({ atMs: _, ...each }) => each),
    [
      { ...sent, method: 'POST', headers: withBody, body: Buffer.from('x'), maxAnswerBytes: 7 },
      { ...sent, method: 'GET', headers, maxAnswerBytes: 1 << 20 },
    ],
  )
})

const JSON_TYPE = 'application/json'
const TAKEN = [
  answered(200, { a: 1 }, { 'content-type': `${JSON_TYPE}; charset=utf-8` }),
  answered(200, { a: 1 }, { 'content-type': JSON_TYPE.toUpperCase(), 'content-encoding': 'identity' }),
  answered(299, { a: 1 }),
]
const NOT_TAKEN = [
  { answer: answered(199), says: 'status 199' },
  { answer: answered(300), says: 'status 300: redirects are not followed' },
  { answer: answered(399), says: 'status 399: redirects are not followed' },
  { answer: answered(200), says: 'the answer is no JSON object' },
  { answer: answered(200, '[]'), says: 'the answer is no JSON object' },
  { answer: answered(200, '{'), says: 'the answer is no JSON object' },
  { answer: answered(200, {}, {}), says: 'the answer is no JSON by its type' },
  { answer: answered(200, {}, { 'content-type': 'application/jsonx' }), says: 'the answer is no JSON by its type' },
  { answer: answered(200, {}, { 'content-type': 'x application/json' }), says: 'the answer is no JSON by its type' },
  {
    answer: answered(200, {}, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }),
    says: 'the answer is compressed, which was not asked for',
  },
]
test('an answer is taken where it is a JSON object by its type and its text, or empty and says so', async () => {
  for (const answer of TAKEN) assert.deepEqual(await outcome(answeringCloud(() => answer)), { a: 1 })
  assert.deepEqual(await outcome(answeringCloud(() => answered(204, '', {}))), {})
  for (const { answer, says } of NOT_TAKEN) assertUnavailable(await outcome(answeringCloud(() => answer)), says)
})

const REASONS = [
  { body: { error: { code: 'AuthorizationFailed' } }, reason: 'AuthorizationFailed' },
  { body: { error: 'invalid_client', error_codes: [7000215, 1] }, reason: 'invalid_client 7000215' },
  { body: { error: 'invalid_client', error_codes: ['7000215'] }, reason: 'invalid_client' },
  { body: { error: 'invalid_client', error_codes: 7000215 }, reason: 'invalid_client' },
  { body: { error: 'words of the cloud' }, reason: '' },
  { body: { error: 7 }, reason: '' },
  { body: 'no JSON', reason: '' },
]
test('a refusal is told with its status and the cloud’s own name of its reason, and is not tried again', async () => {
  for (const { body, reason } of REASONS) {
    const cloud = answeringCloud(() => answered(400, body), { retries: { most: 3, delayMs: 1, maxDelayMs: 1 } })
    const cause = await outcome(cloud)
    assert.ok(cause instanceof CloudRefusal)
    assert.deepEqual([cause.status, cause.reason, cloud.asked.length], [400, reason, 1])
  }
})
