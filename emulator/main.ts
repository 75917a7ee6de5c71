// `npm run emulator`: starts the sample cloud, says where it is and how a server is told of it, and runs until it is
// ended. `npm run emulator -- --port=0` takes ports that are free.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AddressName } from './addresses.ts'
import { type Emulator, startEmulator } from './emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

/** In the order of their ports. */
const PORTS: readonly AddressName[] = [
  'http.authority',
  'http.resourceManager',
  'http.graph',
  'http.metadata',
  'http.cluster',
  'http.elsewhere',
  'http.control',
  'https.authority',
  'https.resourceManager',
  'https.graph',
  'https.cluster',
  'https.elsewhere',
]
const FIRST_PORT = 9101
const HIGHEST_PORT = 65_535
const MACHINE = `/subscriptions/${SAMPLE.subscription}/resourceGroups/rg-app/providers/Microsoft.Compute/virtualMachines/vm1`
const USAGE = `Usage: npm run emulator [-- --port=NUMBER]
  --port  the first of ${PORTS.length} ports in a row, 0 for any that are free; ${FIRST_PORT} by default`

async function main(args: string[]): Promise<void> {
  const firstPort = readPort(args)
  if (firstPort === undefined) {
    console.error(USAGE)
    process.exitCode = 1
    return
  }
  const ports = Object.fromEntries(PORTS.map((name, index) => [name, firstPort === 0 ? 0 : firstPort + index]))
  const emulator = await startEmulator({ plan: SAMPLE_PLAN, ports })
  const directory = mkdtempSync(join(tmpdir(), 'emulator-'))
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, emulator.authorityCertificate)
  console.log(await describe(emulator, caFile))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(directory, { recursive: true, force: true })
      emulator.close().catch((cause: unknown) => console.error(cause))
    })
  }
}

/** Undefined for whatever is not understood. */
function readPort(args: string[]): number | undefined {
  try {
    const { port } = parseArgs({ args, options: { port: { type: 'string' } } }).values
    const first = port === undefined ? FIRST_PORT : Number(port)
    return Number.isInteger(first) && first >= 0 && first + PORTS.length <= HIGHEST_PORT ? first : undefined
  } catch {
    return undefined
  }
}

async function describe(emulator: Emulator, caFile: string): Promise<string> {
  const metadata = await emulator.metadataOf(MACHINE)
  const rows: [string, string][] = PORTS.map((name) => {
    const [scheme, service] = name.split('.') as ['http', 'authority']
    return [name, emulator.origin(service, scheme)]
  })
  return [
    'The emulated cloud is up; it forgets everything when it ends.',
    '',
    ...[...rows, ['metadata of vm1', metadata] as const].map(([name, origin]) => `${name.padEnd(22)} ${origin}`),
    '',
    'For the configuration file of a server, over HTTP or over TLS:',
    '',
    emulator.stanza({ metadata }),
    emulator.stanza({ name: 'TestCloudTls', scheme: 'https', caFile }),
    'For the configuration of the login method:',
    '',
    `tenant_id=${SAMPLE.tenant} resource=https://management.azure.com/ environment=TestCloud`,
    `client_id=${SAMPLE.clientId} client_secret=${JSON.stringify(SAMPLE.clientSecret)}`,
    '',
    'A token as vm1 gets it:',
    '',
    `curl -s -H Metadata:true '${metadata}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/'`,
    '',
  ].join('\n')
}

await main(process.argv.slice(2))
