// A copy of the tree in which faults are planted, and the runs of its tests. The checkout never changes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The outcome of a test file. */
export type TestRun = {
  readonly passed: boolean
  /** It did not end in time. */
  readonly timedOut: boolean
  /** Name of the first test that failed, or ''. */
  readonly failed: string
  readonly seconds: number
}

/** Output of a test file beyond this is dropped. */
const MOST_OUTPUT = 4 * 1024 * 1024

/** The copy. The caller has to `remove` it in the end. */
export class TreeCopy {
  readonly path: string
  private readonly top: string
  private readonly running = new Set<ChildProcess>()

  /** Copies the files that git knows or would add in `root`, uncommitted changes included, and links its packages. */
  constructor(root: string) {
    // The path is short because sockets lie below it, whose paths are bounded.
    this.top = realpathSync(mkdtempSync(join(tmpdir(), 'kwm-')))
    this.path = join(this.top, 'c')
    mkdirSync(join(this.top, 't'))
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: MOST_OUTPUT })
    if (status !== 0) throw new Error(stderr)
    for (const path of new Set(stdout.split('\0'))) {
      if (path === '' || !existsSync(join(root, path))) continue
      mkdirSync(dirname(join(this.path, path)), { recursive: true })
      cpSync(join(root, path), join(this.path, path))
    }
    symlinkSync(realpathSync(join(root, 'node_modules')), join(this.path, 'node_modules'))
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), 'utf8')
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.path, path), text)
  }

  /** Runs one file, mostly a test file, until one of its tests fails. Processes that it leaves are ended. */
  async run(words: readonly string[], mostSeconds: number): Promise<TestRun> {
    const startMs = performance.now()
    const child = spawn(process.execPath, [...process.execArgv, ...words], {
      cwd: this.path,
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.running.add(child)
    let output = ''
    const take = (chunk: unknown): void => {
      if (output.length < MOST_OUTPUT) output += String(chunk)
    }
    child.stdout.on('data', (chunk) => {
      take(chunk)
      // The rest of the file cannot change the outcome.
      if (firstFailure(output.slice(0, output.lastIndexOf('\n') + 1)) !== '') endGroup(child)
    })
    child.stderr.on('data', take)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child)
    }, mostSeconds * 1000)
    const [status] = (await once(child, 'exit')) as [number | null]
    clearTimeout(timer)
    endGroup(child)
    this.running.delete(child)
    const seconds = Math.round((performance.now() - startMs) / 100) / 10
    return { passed: status === 0, timedOut, failed: firstFailure(output), seconds }
  }

  /** Ends the test files that run. */
  stop(): void {
    for (const child of this.running) endGroup(child)
  }

  remove(): void {
    this.stop()
    rmSync(this.top, { recursive: true, force: true })
  }

  private environment(): NodeJS.ProcessEnv {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      TMPDIR: join(this.top, 't'),
      NODE_COMPILE_CACHE: join(this.top, 'k'),
    }
    delete env.NODE_TEST_CONTEXT
    delete env.KEYWRIGHT_REQUIRE
    return env
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has ended already.
  }
}

function firstFailure(output: string): string {
  const line = /^\s*✖ (?!failing tests)(.*?)(?: \([\d.]+m?s\))?$/m.exec(output)?.[1]
  return line ?? ''
}
