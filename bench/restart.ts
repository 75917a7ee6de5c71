// `npm run bench:restart`: how long a start takes with a full store and with an empty one, and how long saving and
// restoring its snapshot takes.
import { createReadStream, createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../test/fixtures/server-process.ts'
import { Connection } from '../test/model/connection.ts'
import { median } from './report.ts'
import { KEY, MOUNT } from './targets.ts'

const HELP = `npm run bench:restart -- [options]

  --keys N         Keys in the full store (default 100000)
  --tokens N       Tokens in it (default 100000)
  --starts N       Starts of each store; medians are taken (default 5)
  --directory DIR  Where the data are meanwhile (default: the system's temporary directory)
  --json FILE      Write what was measured to a file
`
const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' },
    tokens: { type: 'string', default: '100000' },
    starts: { type: 'string', default: '5' },
    directory: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function wholeNumber(name: 'keys' | 'tokens' | 'starts', least: number): number {
  const number = Number(options[name])
  if (Number.isInteger(number) && number >= least && number <= 10_000_000) return number
  throw new Error(`--${name} is a number from ${least} to 10000000`)
}

/** Enough callers that waiting commits are written together. */
const WRITERS = 64
const PORT_TIMEOUT_MS = 5

type Start = {
  readonly healthMs: number
  readonly keyMs: number
  readonly tokenMs: number
  readonly residentMebibytes: number
  readonly peakMebibytes: number
}
type Step = { readonly seconds: number; readonly peakMebibytes: number }

/** Reads a figure of /proc/PID/status, which is in KiB, as MiB. */
function mebibytes(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Math.round(Number(found?.[1]) / 1024)
}

/** Resets the peak of memory (proc(5), clear_refs). */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Waits until a path answers 200. The development server opens by itself, and says that it listens when it is open. */
async function answered(server: ServerProcess, path: string, startMs: number, token = server.token): Promise<number> {
  for (;;) {
    const { status } = await api(server, 'GET', path, undefined, token)
    if (status === 200) return performance.now() - startMs
    await new Promise((resolve) => setTimeout(resolve, PORT_TIMEOUT_MS))
  }
}

async function measureStart(directory: string, token: string): Promise<Start> {
  const startMs = performance.now()
  const server = await startServerProcess({ directory })
  try {
    const healthMs = await answered(server, 'sys/health', startMs)
    const keyMs = await answered(server, `${MOUNT}/keys/${KEY}`, startMs)
    const tokenMs = await answered(server, 'auth/token/lookup-self', startMs, token)
    const memory = { residentMebibytes: mebibytes(server.pid, 'VmRSS'), peakMebibytes: mebibytes(server.pid, 'VmHWM') }
    return { healthMs, keyMs, tokenMs, ...memory }
  } finally {
    await server.stop()
  }
}

async function measureStarts(directory: string, token: string, count: number): Promise<Start> {
  const starts: Start[] = []
  for (let i = 0; i < count; i++) starts.push(await measureStart(directory, token))
  const of = (name: keyof Start): number => Math.round(median(starts.map((start) => start[name])))
  return {
    healthMs: of('healthMs'),
    keyMs: of('keyMs'),
    tokenMs: of('tokenMs'),
    residentMebibytes: of('residentMebibytes'),
    peakMebibytes: of('peakMebibytes'),
  }
}

const TOKEN = 'bench-token'

/** Fills a store with one key and one token, and `keys` and `tokens` more. */
async function fill(directory: string, keys: number, tokens: number): Promise<void> {
  const server = await startServerProcess({ directory })
  const must = async (connection: Connection, path: string, body?: object): Promise<void> => {
    const { status } = await connection.call(server.token, 'POST', path, body)
    if (status >= 300) throw new Error(`POST ${path}: ${status}`)
  }
  try {
    const first = new Connection(server.address)
    await must(first, `sys/mounts/${MOUNT}`, { type: 'transit' })
    await must(first, `${MOUNT}/keys/${KEY}`)
    await must(first, 'auth/token/create', { id: TOKEN, ttl: '24h', policies: ['default'] })
    const left = Array.from({ length: keys + tokens }, (_, i) => i).values()
    const writer = async (): Promise<void> => {
      const connection = new Connection(server.address)
      for (const i of left) {
        if (i < keys) await must(connection, `${MOUNT}/keys/key-${i}`)
        else await must(connection, 'auth/token/create', { ttl: '24h', policies: ['default'] })
      }
      connection.renew()
    }
    await Promise.all(Array.from({ length: WRITERS }, writer))
    first.renew()
  } finally {
    await server.stop()
  }
}

async function save(server: ServerProcess, file: string): Promise<Step> {
  return step(server, async () => {
    const answer = await exchange(server, 'GET')
    await pipeline(answer, createWriteStream(file))
  })
}

/** Restores a snapshot, and waits until the opened server answers with the restored key. */
async function restore(server: ServerProcess, file: string): Promise<Step> {
  return step(server, async () => {
    const answer = await exchange(server, 'POST', file)
    if (answer.statusCode !== 200) throw new Error(`the restore was answered with ${answer.statusCode}`)
    answer.resume()
    const key = /Unseal Key: (\S+)/.exec(server.output())?.[1]
    await api(server, 'PUT', 'sys/unseal', { key })
    await answered(server, `${MOUNT}/keys/${KEY}`, 0)
  })
}

function exchange(server: ServerProcess, method: string, file?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-Vault-Token': server.token, ...(file && { 'Content-Length': statSync(file).size }) }
    const sent = request(`${server.address}/v1/sys/storage/snapshot`, { method, headers }, resolve)
    sent.on('error', reject)
    if (file === undefined) sent.end()
    else void pipeline(createReadStream(file), sent).catch(reject)
  })
}

async function step(server: ServerProcess, work: () => Promise<void>): Promise<Step> {
  forgetPeak(server.pid)
  const startMs = performance.now()
  await work()
  const seconds = Math.round(performance.now() - startMs) / 1000
  return { seconds, peakMebibytes: mebibytes(server.pid, 'VmHWM') }
}

async function measureStore(directory: string, keys: number, tokens: number, starts: number) {
  await fill(directory, keys, tokens)
  const start = await measureStarts(directory, TOKEN, starts)
  const server = await startServerProcess({ directory })
  const file = `${directory}.snapshot`
  try {
    const saved = await save(server, file)
    const restored = await restore(server, file)
    const snapshotMebibytes = Math.round(statSync(file).size / 2 ** 20)
    return { keys: keys + 1, tokens: tokens + 1, start, saved, restored, snapshotMebibytes }
  } finally {
    await server.kill()
  }
}

type Measured = Awaited<ReturnType<typeof measureStore>>

const HEAD = '| | empty | full |\n|---|---:|---:|'

function table(empty: Measured, full: Measured): string {
  const rows: readonly (readonly [string, (one: Measured) => string])[] = [
    ['keys, tokens', ({ keys, tokens }) => `${keys}, ${tokens}`],
    ['start to the first answer of `sys/health`', ({ start }) => `${start.healthMs} ms`],
    ['start to the first read of a key', ({ start }) => `${start.keyMs} ms`],
    ['start to the first look-up of a token', ({ start }) => `${start.tokenMs} ms`],
    ['memory then; its peak', ({ start }) => `${start.residentMebibytes}; ${start.peakMebibytes} MiB`],
    ['snapshot: size', ({ snapshotMebibytes }) => `${snapshotMebibytes} MiB`],
    ['snapshot: time; peak of memory', ({ saved }) => `${saved.seconds} s; ${saved.peakMebibytes} MiB`],
    [
      'restore, opened and answering: time; peak of memory',
      ({ restored }) => `${restored.seconds} s; ${restored.peakMebibytes} MiB`,
    ],
  ]
  return [HEAD, ...rows.map(([name, of]) => `| ${name} | ${of(empty)} | ${of(full)} |`)].join('\n')
}

async function bench(): Promise<void> {
  const [keys, tokens, starts] = [wholeNumber('keys', 0), wholeNumber('tokens', 0), wholeNumber('starts', 1)]
  const temporary = temporaryDirectory(options.directory)
  try {
    const loadBefore = loadavg()[0] ?? 0
    const empty = await measureStore(join(temporary.path, 'empty'), 0, 0, starts)
    const full = await measureStore(join(temporary.path, 'full'), keys, tokens, starts)
    console.log(`load average before: ${loadBefore.toFixed(2)}; medians of ${starts} starts\n\n${table(empty, full)}`)
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify({ loadBefore, empty, full }, null, 1)}\n`)
  } finally {
    temporary.cleanUp()
  }
}

if (options.help) console.log(HELP)
else if (process.platform !== 'linux') console.log('bench:restart reads /proc, so it needs Linux')
else await bench()
