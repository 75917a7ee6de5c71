// T61: either side ends at any point of a promotion or a demotion. Whole servers, over the simulated network, in
// virtual time. After it each cluster is what it was, or what it was to be, and the operator can go on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DR, follow, has, modeOf, pair, promote, shareOf, write } from '../fixtures/failing-over.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'

const POINTS = Number(process.env.POINTS ?? 5)
/** A promotion takes so long over links of a millisecond, until the former primary knows. */
const PROMOTION_MS = 30
const DEMOTION_MS = 70
const MOST_STEPS = 40

const isWriting = (mode: unknown): boolean => JSON.stringify(mode) === JSON.stringify(['primary', false, null])

/** Ends one side at a point of the operation; says what came of it. */
async function killedAt(ms: number, steps: number, what: 'promote' | 'demote', who: 'primary' | 'secondary') {
  const { servers, primary, secondary, token } = await pair(61)
  const share = shareOf(primary)
  await write(primary, 4, 'last')
  // What a primary acknowledged right before its end, and did not send, is lost: nobody else knows of it.
  if (who === 'primary' && what === 'promote') await servers.level(primary, secondary)
  const asked =
    what === 'promote'
      ? secondary.server.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token }, '')
      : primary.server.call('POST', `${DR}/primary/demote`)
  asked.catch(() => {})
  await servers.time.pass(ms)
  await servers.time.steps(steps)
  const killed = who === 'primary' ? primary : secondary
  killed.kill()
  await servers.time.pass(500)
  await servers.time.until(killed.restart(Buffer.from(share)))
  // A primary that handed over to a cluster that ended writes again, and one that was replaced hears of it.
  await servers.time.pass(30_000)
  const modes = [await modeOf(primary), await modeOf(secondary)]
  const shown = JSON.stringify(modes)
  const writing = modes.filter(isWriting).length
  const isChanged = what === 'promote' ? isWriting(modes[1]) : !isWriting(modes[0])
  assert.equal(writing, what === 'promote' || !isChanged ? 1 : 0, shown)
  if (what === 'demote' && isChanged) assert.deepEqual(modes[0], ['secondary', 'idle', 'no_primary'])
  // The operator goes on from there.
  if (!isWriting(modes[1])) {
    const again = await promote(secondary, token, { force: what === 'demote' && who === 'secondary' })
    assert.equal(again.status, 200, JSON.stringify([again.body, shown]))
  }
  for (let each = 0; each < 4; each++) assert.ok(await has(secondary, `last${each}`), `last${each}`)
  await servers.time.pass(15_000)
  if ((await primary.status()).mode === 'primary') await primary.must('POST', `${DR}/primary/demote`)
  const followed = await follow(servers, secondary, primary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(secondary, primary, 120_000)
  await servers.requireSame(secondary, primary)
  return isChanged
}

for (const [what, during] of [
  ['promote', PROMOTION_MS],
  ['demote', DEMOTION_MS],
] as const) {
  for (const who of ['primary', 'secondary'] as const) {
    test(`T61: a ${who} that ends at any of ${POINTS} points within ${what} leaves no half of it`, async (t) => {
      const outcomes = new Set<boolean>()
      const random = pseudoRandom(testSeed(t))
      for (let point = 0; point < POINTS; point++) {
        const [ms, steps] = [Math.floor((during * point) / POINTS), random.int(MOST_STEPS)]
        try {
          outcomes.add(await killedAt(ms, steps, what, who))
        } catch (cause) {
          throw new Error(`${steps} steps after ${ms} ms`, { cause })
        }
      }
      assert.ok(outcomes.has(true), 'some points are behind it')
    })
  }
}
