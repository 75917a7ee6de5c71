// Has a server hold one commit open, so that a kill can meet it: before the store commits, between two writes of its
// pages, or after, when the client was not told yet.
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { PROJECT } from '../../fixtures/server-process.ts'
import { cannotTrace, readTask, tasksOf, trace } from '../../fixtures/strace.ts'

export type Moment = 'before' | 'within' | 'after'

/** Commits follow each other under load: one that takes longer to come is none. */
const PATIENCE_MS = 120_000
/** How long strace holds each write of a page; the kill comes well before its end. */
const WRITE_HELD_MICROSECONDS = 2_000_000
/** Of pwrite64(2), as /proc shows them. */
const PAGE_WRITE: Readonly<Record<string, string>> = { x64: '18', arm64: '68' }

/** The environment of a server whose commits can be held with the file `request`. */
export function holdable(request: string): Record<string, string> {
  const hook = pathToFileURL(join(PROJECT, 'test/fixtures/holds-commits.ts')).href
  return { NODE_OPTIONS: `--import=${hook}`, KEYWRIGHT_TEST_HOLD: request }
}

/** Whether commits can be held `within`. */
export function canHoldWithin(): boolean {
  return PAGE_WRITE[process.arch] !== undefined && cannotTrace() === false
}

/**
 * Resolves when a commit is open; false where none came in time. It stays so until the process is killed; `release`
 * is called behind that.
 */
export async function holdCommit(
  pid: number,
  request: string,
  moment: Moment,
): Promise<{ readonly held: boolean; release(): void }> {
  if (moment === 'within') return holdWithin(pid)
  writeFileSync(`${request}.new`, moment)
  renameSync(`${request}.new`, request)
  return {
    held: await within(() => existsSync(`${request}.held`)),
    release: () => {
      for (const path of [request, `${request}.held`]) rmSync(path, { force: true })
    },
  }
}

async function holdWithin(pid: number): Promise<{ readonly held: boolean; release(): void }> {
  const inject = `inject=pwrite64:delay_enter=${WRITE_HELD_MICROSECONDS}:when=2+`
  const tracer = trace(pid, ['-e', 'trace=pwrite64', '-e', inject])
  return { held: await within(() => isWritingPage(pid)), release: () => tracer.kill('SIGKILL') }
}

/** A thread that is stopped at the entry of a write shows its number for as long as it is held. */
function isWritingPage(pid: number): boolean {
  const number = `${PAGE_WRITE[process.arch]} `
  return tasksOf(pid).some((task) => readTask(pid, task, 'syscall').startsWith(number))
}

async function within(reached: () => boolean): Promise<boolean> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(1)) {
    if (reached()) return true
  }
  return false
}
