// One run of wrk (https://github.com/wg/wrk) with one operation against one target.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMicroseconds } from '../test/fixtures/process-figures.ts'
import type { Operation } from './operations.ts'
import type { Target } from './targets.ts'

/** The figures of one run. */
export type Measurement = {
  readonly requestsPerSecond: number
  /** CPU time of all threads of the server. */
  readonly cpuMicrosecondsPerRequest: number
  readonly p50Microseconds: number
  readonly p99Microseconds: number
  /** Answers with a status from 400 on, and connections that failed. */
  readonly errors: number
}

/** True if wrk is installed. */
export function wrkIsInstalled(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined
}

/** Makes the names of what runs create differ. */
let runs = 0

/** Makes one run. @throws NoAnswer if not one answer came in the time */
export async function measure(target: Target, operation: Operation, seconds: number): Promise<Measurement> {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-bench-'))
  try {
    const script = join(directory, 'load.lua')
    writeFileSync(script, loadScript(target, operation, ++runs))
    const url = `${target.server.address}/v1/${operation.path}`
    const before = cpuMicroseconds(target.server.pid)
    const args = ['-t1', '-T60s', `-c${operation.connections}`, `-d${Math.ceil(seconds)}s`, '-s', script, url]
    const output = await wrk(args, seconds)
    const used = cpuMicroseconds(target.server.pid) - before
    return measurementOf(output, used)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Makes a run, and a longer one if no answer came: a busy machine may need more time for a login by password. */
export async function measureSomething(target: Target, operation: Operation, seconds: number): Promise<Measurement> {
  try {
    return await measure(target, operation, seconds)
  } catch (cause) {
    if (!(cause instanceof NoAnswer) || seconds > LONGEST_SECONDS / 2) throw cause
    return measureSomething(target, operation, seconds * 2)
  }
}

const LONGEST_SECONDS = 64

async function wrk(args: readonly string[], seconds: number): Promise<string> {
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  // wrk takes whole seconds only, and prints what it has when it is interrupted.
  const end = Number.isInteger(seconds) ? undefined : setTimeout(() => child.kill('SIGINT'), seconds * 1_000)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(end)
  if (signal === 'SIGINT') throw new NoAnswer('wrk was told to end before it had begun')
  if (code !== 0) throw new Error(`wrk ended with ${code}: ${output}`)
  return output
}

/** Returns the script that wrk runs, in Lua. */
export function loadScript(target: Target, operation: Operation, run: number): string {
  const { method, path, body, creates, policies, wrapTtl, namespace, anonymous } = operation
  const sent = body(target)
  const token = policies === undefined ? target.token : target.tokens.get(policies)
  if (token === undefined) throw new Error(`The target has no token with ${policies} policies`)
  return [
    `wrk.method = "${method}"`,
    ...(anonymous === true ? [] : [`wrk.headers["X-Vault-Token"] = "${creates ? target.rootToken : token}"`]),
    ...(wrapTtl === undefined ? [] : [`wrk.headers["X-Vault-Wrap-TTL"] = "${wrapTtl}"`]),
    ...(namespace === undefined ? [] : [`wrk.headers["X-Vault-Namespace"] = "${namespace}"`]),
    'wrk.headers["Content-Type"] = "application/json"',
    ...(sent === undefined ? [] : [`wrk.body = [==[${JSON.stringify(sent)}]==]`]),
    ...(creates
      ? [
          'local made = 0',
          `request = function() made = made + 1; return wrk.format(nil, "/v1/${path}-${run}-" .. made) end`,
        ]
      : []),
    'done = function(summary, latency)',
    '  local errors = summary.errors',
    '  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout',
    `  io.write(string.format("${RESULT} %d %d %d %d %d\\n", summary.requests, summary.duration,`,
    '    latency:percentile(50), latency:percentile(99), failed))',
    'end',
  ].join('\n')
}

const RESULT = 'RESULT'

/** Not one answer came in the whole time of a run. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

/** Reads the output of the script; times are microseconds. @throws NoAnswer */
export function measurementOf(output: string, cpu: number): Measurement {
  const line = output.split('\n').find((one) => one.startsWith(RESULT))
  const numbers = (line ?? '').split(' ').slice(1).map(Number)
  const [requests, duration, p50Microseconds, p99Microseconds, errors] = numbers
  if (
    requests === undefined ||
    duration === undefined ||
    p50Microseconds === undefined ||
    p99Microseconds === undefined ||
    errors === undefined ||
    requests === 0
  ) {
    throw new NoAnswer(`wrk made no request: ${output}`)
  }
  return {
    requestsPerSecond: (requests / duration) * 1e6,
    cpuMicrosecondsPerRequest: cpu / requests,
    p50Microseconds,
    p99Microseconds,
    errors,
  }
}
