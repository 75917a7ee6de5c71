// Runs many transactions at once, each of which notes every answer it got, then replays them one after the other in
// the order of the log on a naive model. Where an answer differs, the store let a transaction see what no order of
// them explains. Own writes, ranges, limits and the order of keys are checked on the way.
import assert from 'node:assert/strict'
import type { Scope, Store, Transaction } from '../../src/storage/contract.ts'
import { SeededRandom } from './seeded-random.ts'

const WORKERS = 8
const TRANSACTIONS = Number(process.env.STORAGE_TRANSACTIONS ?? 20)
const NAMES = ['a', 'a/1', 'a/2', 'a!', 'b/1', 'b/c/1', 'b/c/2', 'd', '\uff5e', '\u{1f511}/1', '\u{1f511}/2']
const PREFIXES = ['', 'a/', 'b/', 'b/c/', 'none/']
const AFTER = ['', 'a', 'a!', 'a/', 'a/1', 'b/', '\uff5e']
const LIMITS = [1, 2, 3, Number.POSITIVE_INFINITY]

type OneKey<Verb> = { readonly verb: Verb; readonly name: string }
type ManyKeys<Verb> = { readonly verb: Verb; readonly prefix: string; readonly after: string; readonly limit: number }
type Step = OneKey<'get'> | OneKey<'put'> | OneKey<'delete'> | ManyKeys<'list'> | ManyKeys<'scan'>

/** The state as the naive model has it: names to values. */
type State = Map<string, string>

export async function serialHistory(store: Store, scope: Scope, seed: number): Promise<void> {
  const random = new SeededRandom(seed)
  const root = `root/logical/${scope.mount}/`
  const names = `${root}names/`
  const plans = new Map<string, readonly Step[]>()
  const seen = new Map<string, readonly unknown[]>()
  const worker = async (number: number): Promise<void> => {
    for (let turn = 0; turn < TRANSACTIONS; turn++) {
      const id = `${number}-${turn}`
      const plan = planOf(random)
      plans.set(id, plan)
      await store.transaction(async (tx) => {
        seen.set(id, await runSteps(tx, scope, names, plan, id))
        tx.put(scope, `${root}marks/${id}`, Buffer.from(id))
      })
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, number) => worker(number)))
  const changes = await store.changesSince(0, Number.POSITIVE_INFINITY)
  assert.equal(changes.length, WORKERS * TRANSACTIONS)
  const state: State = new Map()
  for (const { index, operations } of changes) {
    const mark = operations.find(({ key }) => key.startsWith(`${root}marks/`))
    const id = mark?.value.toString() ?? ''
    const expected = (plans.get(id) ?? []).map((step) => modelStep(state, step, id))
    assert.deepEqual(seen.get(id), expected, `transaction ${id}, index ${index}`)
  }
  const last = await store.scan(names, '', Number.POSITIVE_INFINITY)
  const stored = last.map(({ key, value }) => [key.slice(names.length), value.toString()])
  assert.deepEqual(
    stored,
    modelStep(state, { verb: 'scan', prefix: '', after: '', limit: Number.POSITIVE_INFINITY }, ''),
  )
}

function planOf(random: SeededRandom): Step[] {
  return Array.from({ length: 1 + random.below(7) }, (): Step => {
    const verb = random.pick(['get', 'get', 'put', 'put', 'delete', 'list', 'scan'] as const)
    if (verb === 'get' || verb === 'put' || verb === 'delete') return { verb, name: random.pick(NAMES) }
    return { verb, prefix: random.pick(PREFIXES), after: random.pick(AFTER), limit: random.pick(LIMITS) }
  })
}

async function runSteps(tx: Transaction, scope: Scope, names: string, plan: readonly Step[], id: string) {
  const answers: unknown[] = []
  for (const step of plan) answers.push(await runStep(tx, scope, names, step, id))
  return answers
}

async function runStep(tx: Transaction, scope: Scope, names: string, step: Step, id: string): Promise<unknown> {
  if (step.verb === 'get') return (await tx.get(names + step.name))?.toString()
  if (step.verb === 'put') return tx.put(scope, names + step.name, Buffer.from(`${id} ${step.name}`))
  if (step.verb === 'delete') return tx.delete(scope, names + step.name)
  const { prefix, after, limit } = step
  if (step.verb === 'list') return tx.list(names + prefix, { after, limit })
  const entries = await tx.scan(names + prefix, names + prefix + after, limit)
  return entries.map(({ key, value }) => [key.slice(names.length), value.toString()])
}

function modelStep(state: State, step: Step, id: string): unknown {
  if (step.verb === 'get') return state.get(step.name)
  if (step.verb === 'put') return void state.set(step.name, `${id} ${step.name}`)
  if (step.verb === 'delete') return void state.delete(step.name)
  const { prefix, after, limit } = step
  const below = [...state].filter(([name]) => name.startsWith(prefix)).sort(([a], [b]) => compareBytes(a, b))
  if (step.verb === 'scan') return below.filter(([name]) => compareBytes(name, prefix + after) > 0).slice(0, limit)
  const children = new Set(below.map(([name]) => name.slice(prefix.length).replace(/\/.*/, '/')))
  return [...children]
    .sort(compareBytes)
    .filter((name) => compareBytes(name, after) > 0)
    .slice(0, limit)
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
