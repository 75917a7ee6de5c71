// Runs everything that a merge needs, as `npm test` and `npm run ok`: one line for each phase. The first that fails
// ends the run.
// With arguments only the tests that they name run: npm test -- src/auth
// npm test -- --times FILE writes how long each test file took.
import { spawnSync } from 'node:child_process'
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
  readonly run: () => string
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
function program(path: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [`node_modules/${path}`, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) return error.message
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `${path} ended with exit code ${status}`
}

function closePhase(title: string, well: boolean, startMs: number): void {
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  console.log(`${well ? 'ok    ' : 'FAILED'}  ${title.padEnd(16)} ${seconds} s`)
}

function runPhases(): boolean {
  return PHASES.every(({ title, run }) => {
    const startMs = performance.now()
    const wrong = run()
    if (wrong !== '') console.log(wrong)
    closePhase(title, wrong === '', startMs)
    return wrong === ''
  })
}

async function ok(options: TestOptions): Promise<boolean> {
  if (options.patterns.length === 0) {
    if (!runPhases()) return false
    console.log(formatSizes(oversizes(tree), 0))
  }
  const startMs = performance.now()
  const well = await runTests(root, options)
  closePhase('tests', well, startMs)
  return well
}

process.exitCode = (await ok(readTestOptions(process.argv.slice(2)))) ? 0 : 1
