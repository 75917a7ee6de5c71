// Runs everything that a merge needs, as `npm test` and `npm run ok`: one line for each phase. What is looked at
// without running it goes first, all of it side by side. The tests run if nothing is wrong there.
// With arguments only the tests that they name run: npm test -- src/auth
// npm test -- --times FILE writes how long each test file took.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { checkImports, runtimePackages } from './check-imports.ts'
import { citationFindings } from './citations.ts'
import { GENERATED, staleOutputs } from './generated.ts'
import { readTestOptions, runTests, type TestOptions } from './run-tests.ts'
import { formatSizes, oversizes } from './sizes.ts'
import { tidyLines } from './tidy.ts'
import { formatFinding, readTree } from './tree.ts'

type Phase = {
  readonly title: string
  /** Runs the phase. Returns what is wrong; empty if nothing is. */
  readonly run: () => string | Promise<string>
}

const root = process.cwd()
const tree = readTree(root)

/** One line for each error or warning, hints left out. `npm run format` mends most of them. */
const BIOME_OPTIONS = [
  '--colors=off',
  '--reporter=concise',
  '--diagnostic-level=warn',
  '--error-on-warnings',
  '--max-diagnostics=200',
]

const PHASES: readonly Phase[] = [
  {
    title: 'format and lint',
    run: () => program('@biomejs/biome/bin/biome', ['ci', ...BIOME_OPTIONS]),
  },
  { title: 'types', run: () => program('typescript/bin/tsc', ['-p', '.']) },
  {
    title: 'tidy',
    run: () => tidyLines(root, tree).join('\n'),
  },
  { title: 'imports', run: () => checkImports(tree, runtimePackages(root)).map(formatFinding).join('\n') },
  { title: 'citations', run: () => citationFindings(root).map(formatFinding).join('\n') },
  { title: 'generated files', run: () => staleOutputs(root, GENERATED).join('\n') },
]

/** Runs a program of a development package. Returns its output if it failed. */
async function program(path: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [`node_modules/${path}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const ended = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await ended
    return status === 0 ? '' : `${stdout}${stderr}`.trim() || `${path} ended with exit code ${status}`
  } catch (cause) {
    return String(cause)
  }
}

function closePhase(title: string, well: boolean, ms: number): void {
  console.log(`${well ? 'ok    ' : 'FAILED'}  ${title.padEnd(16)} ${(ms / 1000).toFixed(1)} s`)
}

/** Programs come first in the list: what runs in this process holds up none of them. */
async function runPhases(): Promise<boolean> {
  const startMs = performance.now()
  const running = PHASES.map(async ({ title, run }) => {
    const wrong = await run()
    return { title, wrong, ms: performance.now() - startMs }
  })
  let isWell = true
  for (const phase of running) {
    const { title, wrong, ms } = await phase
    if (wrong !== '') console.log(wrong)
    closePhase(title, wrong === '', ms)
    isWell &&= wrong === ''
  }
  return isWell
}

async function ok(options: TestOptions): Promise<boolean> {
  if (options.patterns.length === 0) {
    if (!(await runPhases())) return false
    console.log(formatSizes(oversizes(tree), 0))
  }
  const startMs = performance.now()
  const well = await runTests(root, options)
  closePhase('tests', well, performance.now() - startMs)
  return well
}

process.exitCode = (await ok(readTestOptions(process.argv.slice(2)))) ? 0 : 1
