// `npm run bench:namespaces`: what many namespaces cost. One server with a mount in the root is measured before and
// after they are made, in turns with requests in one of them, and its start before and after.
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryOf } from '../test/fixtures/process-figures.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../test/fixtures/server-process.ts'
import { Connection } from '../test/model/connection.ts'
import type { Operation } from './operations.ts'
import { markdownTable, median } from './report.ts'
import { KEY, MOUNT, PLAINTEXT, type Target } from './targets.ts'
import { type Measurement, measureSomething } from './wrk.ts'

const HELP = `npm run bench:namespaces -- [options]

  --namespaces N   How many are made (default 1000)
  --mounts N       Mounts in each (default 10)
  --rounds N       How often each load runs; medians are taken (default 5)
  --json FILE      Write what was measured to a file
`
const { values: options } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '1000' },
    mounts: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const SECONDS = 2
const STARTS = 3
/** Enough callers that waiting commits are written together. */
const WRITERS = 32
const MEBIBYTE = 1 << 20
const POLICY = `path "${MOUNT}/encrypt/*" { capabilities = ["update"] }`

async function must(server: ServerProcess, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await api(server, 'POST', path, body)
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** A mount with a key, and a token that may encrypt with it, in the namespace whose path this is. */
async function equip(server: ServerProcess, within: string): Promise<string> {
  await must(server, `${within}sys/mounts/${MOUNT}`, { type: 'transit' })
  await must(server, `${within}${MOUNT}/keys/${KEY}`)
  await must(server, `${within}sys/policies/acl/${MOUNT}`, { policy: POLICY })
  const { auth } = await must(server, `${within}auth/token/create`, { policies: [MOUNT], ttl: '4h' })
  return (auth as { readonly client_token: string }).client_token
}

/** Makes the namespaces and their mounts. Returns the seconds that it took. */
async function fill(server: ServerProcess, namespaces: number, mounts: number): Promise<number> {
  const startMs = performance.now()
  const left = Array.from({ length: namespaces }, (_, i) => i).values()
  const writer = async (): Promise<void> => {
    const connection = new Connection(server.address)
    const made = async (path: string, body?: object): Promise<void> => {
      const { status } = await connection.call(server.token, 'POST', path, body)
      if (status >= 300) throw new Error(`POST ${path}: ${status}`)
    }
    for (const i of left) {
      await made(`sys/namespaces/team-${i}`)
      for (let mount = 1; mount < mounts; mount++)
        await made(`team-${i}/sys/mounts/transit-${mount}`, { type: 'transit' })
    }
    connection.renew()
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return (performance.now() - startMs) / 1_000
}

const encrypt = (path: string, namespace?: string): Operation => ({
  name: path,
  method: 'POST',
  path,
  body: () => ({ plaintext: PLAINTEXT }),
  connections: 16,
  items: 1,
  control: false,
  creates: false,
  ...(namespace === undefined ? {} : { namespace }),
})

const targetOf = (server: ServerProcess, token: string): Target => ({
  name: 'keywright',
  server,
  rootToken: server.token,
  token,
  tokens: new Map(),
  ciphertext: '',
  signatures: new Map(),
  machine: { role_id: '', secret_id: '' },
})

type Load = { readonly name: string; readonly operation: Operation; readonly token: string }

/** The loads in turns. By name: the medians of rate and of processor time for a request. */
async function measureLoads(server: ServerProcess, loads: readonly Load[], rounds: number) {
  const runs = new Map<string, Measurement[]>(loads.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const { name, operation, token } of loads) {
      const measured = await measureSomething(targetOf(server, token), operation, SECONDS)
      if (measured.errors > 0) throw new Error(`${name}: ${measured.errors} errors`)
      runs.get(name)?.push(measured)
    }
  }
  return [...runs].map(([name, all]) => ({
    name,
    perSecond: median(all.map(({ requestsPerSecond }) => requestsPerSecond)),
    cpuMicroseconds: median(all.map(({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest)),
  }))
}

/** Starts of the store: milliseconds to the first encryption at the path, and memory then, in MiB. */
async function measureStarts(directory: string, path: string, token: string) {
  const starts: { ms: number; mebibytes: number }[] = []
  for (let i = 0; i < STARTS; i++) {
    const startMs = performance.now()
    const server = await startServerProcess({ directory })
    const { status } = await api(server, 'POST', path, { plaintext: PLAINTEXT }, token)
    const ms = performance.now() - startMs
    if (status !== 200) throw new Error(`${path}: ${status}`)
    starts.push({ ms, mebibytes: memoryOf(server.pid).bytes / MEBIBYTE })
    await server.stop()
  }
  return { ms: median(starts.map(({ ms }) => ms)), mebibytes: median(starts.map(({ mebibytes }) => mebibytes)) }
}

async function bench(): Promise<void> {
  const [namespaces, mounts, rounds] = [options.namespaces, options.mounts, options.rounds].map(Number) as [
    number,
    number,
    number,
  ]
  const temporary = temporaryDirectory()
  const directory = join(temporary.path, 'data')
  try {
    const loadBefore = loadavg()[0] ?? 0
    let server = await startServerProcess({ directory })
    const token = await equip(server, '')
    const path = `${MOUNT}/encrypt/${KEY}`
    const inRoot = { name: 'root', operation: encrypt(path), token }
    const [alone] = await measureLoads(server, [inRoot], rounds)
    await server.stop()
    const emptyStart = await measureStarts(directory, path, token)
    server = await startServerProcess({ directory })
    const fillSeconds = await fill(server, namespaces, mounts)
    const within = `team-${Math.floor(namespaces / 2)}/`
    const own = await equip(server, within)
    const loads = [
      inRoot,
      { name: 'one of them, by path', operation: encrypt(within + path), token: own },
      { name: 'one of them, by header', operation: encrypt(path, within), token: own },
    ]
    const measured = await measureLoads(server, loads, rounds)
    await server.stop()
    const fullStart = await measureStarts(directory, within + path, own)
    const rows = [{ ...alone, name: 'root, before there are any' }, ...measured].map((one) => [
      one.name,
      String(Math.round(one.perSecond ?? 0)),
      (one.cpuMicroseconds ?? 0).toFixed(1),
    ])
    console.log(`load average before: ${loadBefore.toFixed(2)}; ${namespaces} namespaces with ${mounts} mounts each\n`)
    console.log(markdownTable(['encryptions in', 'a second', 'µs of processor time each'], rows))
    console.log(
      `\nmade in ${fillSeconds.toFixed(1)} s; start to the first encryption ${emptyStart.ms.toFixed(0)} ms before, ` +
        `${fullStart.ms.toFixed(0)} ms with them; memory ${emptyStart.mebibytes.toFixed(1)} and ` +
        `${fullStart.mebibytes.toFixed(1)} MiB`,
    )
    const result = { loadBefore, namespaces, mounts, fillSeconds, alone, measured, emptyStart, fullStart }
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 1)}\n`)
  } finally {
    temporary.cleanUp()
  }
}

if (options.help) console.log(HELP)
else if (process.platform !== 'linux') console.log('bench:namespaces reads /proc, so it needs Linux')
else await bench()
