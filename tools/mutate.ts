// Plants small faults in the rooms that keep secrets, one after another, in a copy of the tree. It finds out whether a
// test notices each. It is no part of `npm test`: a fault takes from a second to minutes.
//   npm run mutate -- [--count 40] [--seed 1] [--minutes 30] [--tests 40] [--seconds 90] [--jobs 2]
//                     [--results FILE] [--again] [part of a path]...
// tools/mutation/faults.ts has the kinds of faults; a seed chooses a kind, and then a place. A fault that gives wrong
// types counts as not planted. Then the tests run that reach its file, the nearest first: at most --tests of them, each
// for at most --seconds. They stop when one notices: it fails, and passes without the fault. A test that does not lie
// beside the code has to fail twice.
// Results are kept in --results, and a further run goes on from there until --count faults are planted. For a survivor
// that no test can notice, a person adds the property `equivalent` with the reason; --again tries the other survivors.
import { existsSync, globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pseudoRandom } from '../test/fixtures/pseudo-random.ts'
import { TreeCopy } from './mutation/copy.ts'
import { type Fault, faultsOf, RULE_NAMES } from './mutation/faults.ts'
import { type Reach, reachOf } from './mutation/reach.ts'
import { describe, isSame, type Planted, type Record, readRecord, summary, writeRecord } from './mutation/record.ts'
import { Types } from './mutation/types.ts'
import { inGroups, type TestGroup } from './test-groups.ts'
import { readTree } from './tree.ts'

const PLACES = [
  'src/storage/**/*.ts',
  'src/engines/transit/**/*.ts',
  'src/auth/*.ts',
  'src/engines/cloud/*.ts',
  'src/system/seal/*.ts',
  'src/replication/set/*.ts',
]

/** With `--check` it tells which pages differ from the program. */
const PAGES = 'tools/generate.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '30' },
    tests: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '90' },
    jobs: { type: 'string', default: '2' },
    results: { type: 'string', default: join(tmpdir(), 'keywright-mutations.json') },
    again: { type: 'boolean', default: false },
  },
})

/** Test files that share a process where they do not notice: more, and the one that does is found later. */
const MOST_TOGETHER = 5
/** Runs the files that it is given, in a copy of the tree that has it. */
const GROUP_ENTRY = join(import.meta.dirname, 'test-group.ts')

type Failure = { readonly test: string; readonly name: string }

type Candidate = Fault & Pick<Planted, 'path' | 'from' | 'source' | 'column'>

class Mutations {
  private readonly root = process.cwd()
  private readonly record: Record = readRecord(values.results, Number(values.seed))
  private readonly copy = new TreeCopy(this.root)
  private readonly types = new Types(this.copy.path)
  private readonly reach: Reach = reachOf(readTree(this.root))
  /** Whether each test file passes without a fault. */
  private readonly sound = new Map<string, boolean>()
  private readonly endMs = performance.now() + Number(values.minutes) * 60_000

  async run(): Promise<void> {
    try {
      const candidates = this.candidates()
      for (const candidate of values.again ? this.survivors(candidates) : this.chosen(candidates)) {
        if (performance.now() > this.endMs) break
        if (!values.again && this.plantedCount() >= Number(values.count)) break
        this.keep(candidate, await this.judge(candidate))
      }
    } finally {
      this.close()
    }
    for (const line of summary(this.record)) console.log(line)
  }

  close(): void {
    this.types.close()
    this.copy.remove()
  }

  private candidates(): Candidate[] {
    const files = PLACES.flatMap((place) => globSync(place, { cwd: this.root }))
      .filter((path) => !path.endsWith('.test.ts') && positionals.every((part) => path.includes(part)))
      .toSorted()
    return files.flatMap((path) => {
      const tree = this.types.tree(path)
      const lines = tree.text.split('\n')
      return faultsOf(tree).map((fault) => ({
        ...fault,
        path,
        from: tree.text.slice(fault.start, fault.end),
        source: lines[fault.line - 1]?.trim() ?? '',
        column: placeInLine(tree.text, fault.start),
      }))
    })
  }

  /** Yields candidates in the order of the seed: a rule, then a place, so that rules with few places come up too. */
  private *chosen(candidates: readonly Candidate[]): Generator<Candidate> {
    const random = pseudoRandom(this.record.seed)
    const left = new Map(RULE_NAMES.map((rule) => [rule, candidates.filter((each) => each.rule === rule)]))
    for (let rest = candidates.length; rest > 0; rest--) {
      const rule = random.pick(RULE_NAMES.filter((name) => left.get(name)?.length))
      const places = left.get(rule) ?? []
      const [candidate] = places.splice(random.int(places.length), 1)
      if (candidate !== undefined && !this.record.planted.some((each) => isSame(each, candidate))) yield candidate
    }
  }

  private survivors(candidates: readonly Candidate[]): Candidate[] {
    const open = this.record.planted.filter(({ verdict, equivalent }) => verdict === 'survived' && !equivalent)
    return open.flatMap((each) => candidates.find((candidate) => isSame(each, candidate)) ?? [])
  }

  private plantedCount(): number {
    return this.record.planted.filter(({ verdict }) => verdict !== 'unplanted').length
  }

  private keep(
    { path, line, rule, from, to, source, column }: Candidate,
    verdict: Pick<Planted, 'verdict' | 'by'>,
  ): void {
    const planted = { path, line, rule, from, to, source, column, ...verdict }
    const others = this.record.planted.filter((each) => !isSame(each, planted))
    this.record.planted = [...others, planted]
    writeRecord(values.results, this.record)
    if (planted.verdict === 'unplanted') return
    console.log(`${this.plantedCount()} ${planted.verdict}: ${describe(planted)}: ${planted.by}`)
  }

  private async judge(candidate: Candidate): Promise<Pick<Planted, 'verdict' | 'by'>> {
    const { path, start, end, to } = candidate
    const before = this.copy.read(path)
    const after = `${before.slice(0, start)}${to}${before.slice(end)}`
    const tests = this.reach.testsOf(path).slice(0, Number(values.tests))
    const passed = new Set<string>()
    try {
      this.plant(path, after)
      if (!this.types.areRight([path, ...this.reach.importersOf(path)])) return { verdict: 'unplanted', by: '' }
      for (;;) {
        this.plant(path, after)
        const failure = await this.firstFailure(tests, passed)
        if (failure === undefined) return await this.judgedByPages(`${passed.size} test files`)
        this.plant(path, before)
        if (!(await this.isSound(failure.test))) continue
        this.plant(path, after)
        if (await this.failsAgain(failure.test)) {
          return { verdict: 'noticed', by: `${failure.test} ${failure.name}`.trim() }
        }
        passed.add(failure.test)
      }
    } finally {
      this.plant(path, before)
    }
  }

  /** Checks whether generated files notice the fault: a phase of `npm test` compares them. */
  private async judgedByPages(tried: string): Promise<Pick<Planted, 'verdict' | 'by'>> {
    if (!existsSync(join(this.copy.path, PAGES))) return { verdict: 'survived', by: tried }
    const { passed } = await this.copy.run([PAGES, '--check'], Number(values.seconds))
    return passed ? { verdict: 'survived', by: tried } : { verdict: 'noticed', by: 'generated files' }
  }

  private plant(path: string, text: string): void {
    if (this.copy.read(path) === text) return
    this.copy.write(path, text)
    this.types.changed(path)
  }

  /** Runs the remaining tests, --jobs at a time, until one fails. Tests that fail without the fault are skipped. */
  private async firstFailure(tests: readonly string[], passed: Set<string>): Promise<Failure | undefined> {
    const remaining = tests.filter((test) => this.sound.get(test) !== false && !passed.has(test))
    let failure: Failure | undefined
    const take = async (groups: TestGroup[]): Promise<void> => {
      for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
        const found = await this.failureIn(group)
        if (found === undefined) for (const test of group) passed.add(test)
        else if (failure === undefined) {
          failure = found
          groups.length = 0
          this.copy.stop()
        }
      }
    }
    // The nearest test runs alone first: mostly it notices.
    await take(inGroups(remaining.splice(0, 1), 1))
    if (failure !== undefined) return failure
    const groups = inGroups(remaining, MOST_TOGETHER)
    await Promise.all(Array.from({ length: Number(values.jobs) }, () => take(groups)))
    return failure
  }

  /** Runs a group in one process. If a test fails, runs its files one by one to find out which. */
  private async failureIn(group: TestGroup): Promise<Failure | undefined> {
    const [test = ''] = group
    if (group.length === 1) {
      const run = await this.copy.run([test], Number(values.seconds))
      if (run.passed) return undefined
      return { test, name: run.timedOut ? `does not end within ${values.seconds} s` : run.failed }
    }
    const paths = group.map((path) => join(this.copy.path, path))
    if ((await this.copy.run([GROUP_ENTRY, ...paths], Number(values.seconds))).passed) return undefined
    for (const one of group) {
      const found = await this.failureIn([one])
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Runs a test again if it does not lie beside the code: on a busy machine it may fail by itself. */
  private async failsAgain(test: string): Promise<boolean> {
    return test.startsWith('src/') || !(await this.copy.run([test], Number(values.seconds))).passed
  }

  private async isSound(test: string): Promise<boolean> {
    const known = this.sound.get(test)
    if (known !== undefined) return known
    const { passed } = await this.copy.run([test], Number(values.seconds))
    this.sound.set(test, passed)
    if (!passed) console.log(`${test} fails without a fault: it is left out`)
    return passed
  }
}

/** Returns the column of an offset, counted behind the blanks at the beginning of its line. */
function placeInLine(text: string, at: number): number {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trimStart().length
}

const mutations = new Mutations()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    mutations.close()
    process.exit(1)
  })
}
await mutations.run()
