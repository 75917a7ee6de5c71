// `npm run bench:cloud`: logins by cloud identity against the emulator, which runs beside the server with the callers.
// Two runs: with warm caches, and with machines that are new to the server while a part of its calls is throttled.
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import type { FaultAction } from '../emulator/faults.ts'
import { SAMPLE, SAMPLE_PLAN } from '../emulator/sample-plan.ts'
import { cpuMicroseconds } from '../test/fixtures/process-figures.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../test/fixtures/server-process.ts'
import { markdownTable } from './report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    machines: { type: 'string', default: '1000' },
    callers: { type: 'string', default: '16' },
  },
})
const CALLERS = Number(options.callers)
const SECONDS = Number(options.seconds)
const WARM_UP_MS = 1_000

type Login = { readonly role: string; readonly jwt: string; readonly vm_name: string }
type Figures = { readonly ms: number[]; readonly failed: number; readonly seconds: number; readonly cpuMicros: number }

const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })

function logIn({ address }: ServerProcess, login: Login): Promise<number> {
  const body = JSON.stringify({ subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', ...login })
  return new Promise((resolve, reject) => {
    const sent = request(`${address}/v1/auth/cloud/login`, { method: 'POST', agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Sends logins until `next` gives none. */
async function measure(server: ServerProcess, next: () => Login | undefined): Promise<Figures> {
  const ms: number[] = []
  let failed = 0
  const cpuBefore = cpuMicroseconds(server.pid)
  const startedMs = performance.now()
  const call = async (): Promise<void> => {
    for (let login = next(); login !== undefined; login = next()) {
      const askedMs = performance.now()
      if ((await logIn(server, login)) === 200) ms.push(performance.now() - askedMs)
      else failed += 1
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  const seconds = (performance.now() - startedMs) / 1000
  return { ms: ms.sort((a, b) => a - b), failed, seconds, cpuMicros: cpuMicroseconds(server.pid) - cpuBefore }
}

const at = (sorted: readonly number[], part: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)

function rowOf(name: string, { ms, failed, seconds, cpuMicros }: Figures): string[] {
  const all = ms.length + failed
  const share = `${((ms.length / all) * 100).toFixed(1)} %`
  return [name, (ms.length / seconds).toFixed(0), (cpuMicros / all).toFixed(0), at(ms, 0.5), at(ms, 0.99), share]
}

const forSeconds = (seconds: number, login: Login): (() => Login | undefined) => {
  const endMs = performance.now() + seconds * 1000
  return () => (performance.now() < endMs ? login : undefined)
}

async function newMachines({ machines, minting }: Emulator, label: string, count: number): Promise<Login[]> {
  const logins: Login[] = []
  for (let i = 0; i < count; i++) {
    const name = `${label}-${i}`
    const { id } = machines.addVirtualMachine({ name })
    logins.push({ role: 'bound', jwt: await minting.ofResource(id), vm_name: name })
  }
  return logins
}

const THROTTLED: readonly (readonly [name: string, action: FaultAction | undefined])[] = [
  ['none throttled', undefined],
  ['20 % answered 429 with Retry-After: 1', { kind: 'throttle', retryAfter: '1' }],
  ['20 % answered 429 without it', { kind: 'throttle' }],
]

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
const directory = temporaryDirectory()
const config = join(directory.path, 'cloud.hcl')
writeFileSync(config, emulator.stanza())
const server = await startServerProcess({ directory: join(directory.path, 'data'), args: ['-config', config] })
const write = async (path: string, body: object): Promise<void> => {
  const { status, body: answer } = await api(server, 'POST', path, body)
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
}
const group = `/subscriptions/${SAMPLE.subscription}/resourceGroups/rg-app`
const machine = `${group}/providers/Microsoft.Compute/virtualMachines`
const oid = emulator.resources.systemIdentityOf(`${machine}/vm1`)?.id
await write('sys/auth/cloud', { type: 'cloud' })
await write('auth/cloud/config', {
  tenant_id: SAMPLE.tenant,
  resource: 'https://management.azure.com/',
  environment: 'TestCloud',
  client_id: SAMPLE.clientId,
  client_secret: SAMPLE.clientSecret,
})
const bound = { bound_subscription_ids: SAMPLE.subscription }
await write('auth/cloud/role/bound', bound)
await write('auth/cloud/role/identity', { bound_service_principal_ids: oid })
await write('auth/cloud/role/batch', { ...bound, token_type: 'batch' })

const jwt = await emulator.minting.ofResource(`${machine}/vm1`)
const rows: string[][] = []
for (const [role, name] of [
  ['identity', 'bound to the identity, service token'],
  ['bound', 'bound to a subscription, record kept, service token'],
  ['batch', 'the same, batch token'],
] as const) {
  const login = { role, jwt, vm_name: 'vm1' }
  await measure(server, forSeconds(WARM_UP_MS / 1000, login))
  rows.push(rowOf(name, await measure(server, forSeconds(SECONDS, login))))
}
for (const [index, [name, action]] of THROTTLED.entries()) {
  const logins = await newMachines(emulator, `m${index}`, Number(options.machines))
  emulator.faults.clear()
  if (action !== undefined) emulator.faults.add({ service: 'resourceManager', probability: 0.2, seed: index, action })
  rows.push(rowOf(`a new machine each, ${name}`, await measure(server, () => logins.pop())))
}
process.stdout.write(`Load average before the end: ${loadavg()[0]?.toFixed(1)}; ${CALLERS} callers\n\n`)
process.stdout.write(markdownTable(['login', 'logins/s', 'CPU µs', 'p50 ms', 'p99 ms', 'succeed'], rows))
agent.destroy()
await server.stop()
await emulator.close()
directory.cleanUp()
