// What a steady writer, and the thread that writes, notice of something that a server does beside them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { PROJECT } from '../../test/fixtures/server-process.ts'
import { machineMs } from './helpers.ts'
import { creates, type Stage } from './stage.ts'

/** Often enough to meet each pause, and no load. */
const WRITER = { connections: 16, perSecond: 50 }

/** Where a server notes its turns, and how it is told to. */
export function turnsNotedIn(path: string): { readonly turns: string; readonly env: Readonly<Record<string, string>> } {
  const turns = join(path, 'turns')
  const hook = pathToFileURL(join(PROJECT, 'test/fixtures/notes-turns.ts')).href
  return { turns, env: { NODE_OPTIONS: `--import=${hook}`, KEYWRIGHT_TEST_TURNS: turns } }
}

/** A stretch of time beside a writer. */
export type Beside = {
  readonly startMs: number
  readonly endMs: number
  /** At the proxy. */
  readonly bytes: number
  /** The longest time from when a write was due to its answer. */
  readonly longestMs: number
}

/** What a steady writer notices of the work. */
export async function besideWriter(
  stage: Stage,
  primary: Cluster,
  name: string,
  work: () => Promise<void>,
  writer = WRITER,
): Promise<Beside> {
  const before = primary.proxy.bytes
  const load = await stage.load({ ...creates(primary, name), ...writer })
  const startMs = machineMs()
  await work()
  const endMs = machineMs()
  const bytes = primary.proxy.bytes - before
  const { dueMs, answeredMs } = await load.end()
  const longestMs = answeredMs.reduce((most, each, number) => Math.max(most, each - (dueMs[number] ?? each)), 0)
  return { startMs, endMs, bytes, longestMs }
}

/** The longest turn of the writing thread between the two. */
export function longestBusyMs(path: string, startMs: number, endMs: number): number {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const noted = lines.map((line) => line.split(' ').map(Number) as [number, number])
  return Math.max(0, ...noted.filter(([at]) => at >= startMs && at <= endMs).map(([, longestMs]) => longestMs))
}

/** For the table. */
export const ms = (value: number): string => `${value.toFixed(0)} ms`
