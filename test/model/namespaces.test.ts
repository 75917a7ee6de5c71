// A server with namespaces against the model of them (namespace-model.ts): from a seed, namespaces come, change, lock
// and go, their policies, mounts, groups and tokens with them; in between, requests by header, by path and by both are
// answered as the model says, with what is of their namespace and of no other. NAMESPACE_LIVES and NAMESPACE_STEPS say
// how many servers there are, and how many changes in each; `npm run torture:namespaces` is the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRuns } from '../fixtures/seeded-runs.ts'
import { NamespaceLife } from './namespace-life.ts'

const LIVES = Number(process.env.NAMESPACE_LIVES ?? 3)
const STEPS = Number(process.env.NAMESPACE_STEPS ?? 120)
/** What the lives together have met, or they show little. */
const MET = [
  '200 alive at home',
  '200 alive elsewhere',
  '200 by a group',
  '200 to a delegate elsewhere',
  '403 alive at home',
  '403 alive elsewhere',
  '403 dead elsewhere',
  '404 alive elsewhere',
  '404 alive nowhere',
  '503 alive elsewhere',
  '503 root elsewhere',
  'DELETE namespaces',
  'POST remount',
]

test('namespaces that come, change and go: what is answered is what the model says', async (t) => {
  const seen = new Map<string, number>()
  await seededRuns(t, LIVES, async (seed) => {
    const life = await NamespaceLife.begin(seed)
    for (let step = 0; step < STEPS; step++) await life.step()
    await life.requireAll()
    for (const [outcome, count] of life.seen) seen.set(outcome, (seen.get(outcome) ?? 0) + count)
  })
  const told = [...seen].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')
  t.diagnostic(told)
  for (const outcome of MET) assert.ok(seen.has(outcome), `${outcome}: ${told}`)
})
