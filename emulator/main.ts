// `npm run emulator`: starts the sample cloud, prints its addresses and the stanza for a server, and runs until it is
// ended. `npm run emulator -- --port=0` takes free ports.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AddressName } from './addresses.ts'
import { type Emulator, startEmulator } from './emulator.ts'
import type { Scheme, Service } from './exchange.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

/** Addresses in the order of their ports. */
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
const METADATA_QUERY = 'api-version=2018-02-01&resource=https://management.azure.com/'
const USAGE = `Usage: npm run emulator [-- --port=NUMBER --tls]
  --port  the first of ${PORTS.length} ports in a row, 0 for any that are free; ${FIRST_PORT} by default
  --tls   tokens that machines get are issued by the https address of the directory, for a server that is told of it`

async function main(args: string[]): Promise<void> {
  const options = readOptions(args)
  if (options === undefined) {
    console.error(USAGE)
    process.exitCode = 1
    return
  }
  const { firstPort, issuerScheme } = options
  const ports = Object.fromEntries(PORTS.map((name, index) => [name, firstPort === 0 ? 0 : firstPort + index]))
  const emulator = await startEmulator({ plan: SAMPLE_PLAN, ports, issuerScheme })
  const directory = mkdtempSync(join(tmpdir(), 'emulator-'))
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, emulator.authorityCertificate)
  console.log(await describe(emulator, caFile, issuerScheme))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(directory, { recursive: true, force: true })
      emulator.close().catch((cause: unknown) => console.error(cause))
    })
  }
}

type Options = { readonly firstPort: number; readonly issuerScheme: Scheme }

/** Reads the command line; undefined if it is not understood. */
function readOptions(args: string[]): Options | undefined {
  try {
    const { values } = parseArgs({ args, options: { port: { type: 'string' }, tls: { type: 'boolean' } } })
    const firstPort = Number(values.port ?? FIRST_PORT)
    if (!Number.isInteger(firstPort) || firstPort < 0 || firstPort + PORTS.length > HIGHEST_PORT) return undefined
    return { firstPort, issuerScheme: values.tls === true ? 'https' : 'http' }
  } catch {
    return undefined
  }
}

async function describe(emulator: Emulator, caFile: string, issuerScheme: Scheme): Promise<string> {
  const metadata = await emulator.metadataOf(SAMPLE.vm1)
  const environment = issuerScheme === 'https' ? 'TestCloudTls' : 'TestCloud'
  const rows: [string, string][] = PORTS.map((name) => {
    const [scheme, service] = name.split('.') as [Scheme, Service]
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
    emulator.stanza({ name: 'TestCloudTls', scheme: 'https', caFile, metadata }),
    'For the configuration of the login method:',
    '',
    `tenant_id=${SAMPLE.tenant} resource=https://management.azure.com/ environment=${environment}`,
    `client_id=${SAMPLE.clientId} client_secret=${JSON.stringify(SAMPLE.clientSecret)}`,
    '',
    'A token as vm1 gets it:',
    '',
    `curl -s -H Metadata:true '${metadata}/metadata/identity/oauth2/token?${METADATA_QUERY}'`,
    '',
  ].join('\n')
}

await main(process.argv.slice(2))
