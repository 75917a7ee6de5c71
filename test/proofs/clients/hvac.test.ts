// The client hvac for Python, as Debian packages it, against a real server that it initialises itself.
import { strict as assert } from 'node:assert'
import { type ExecFileOptions, execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Emulator, startEmulator } from '../../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../../emulator/sample-plan.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { type FlowReport, PAGE, PARTS_VARIABLE, publish } from './clients-page.ts'
import { PYTHON, withoutHvac } from './debian-hvac.ts'
import { newServer } from './new-server.ts'

const FLOW = join(import.meta.dirname, 'hvac_flow.py')
const FLOW_LIMIT_MS = 180_000

type Report = { readonly version: string; readonly offered: readonly string[]; readonly flows: readonly FlowReport[] }

type Ran = { readonly status: number | string; readonly stdout: string; readonly stderr: string }

function run(program: string, args: readonly string[], options: ExecFileOptions): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { ...options, encoding: 'utf8' }, (cause, stdout, stderr) =>
      resolve({ status: cause === null ? 0 : (cause.code ?? 'ended'), stdout, stderr }),
    )
  })
}

/** Of the machine that the flow logs in. */
async function cloudFacts({ resources, minting }: Emulator): Promise<object> {
  const [machine] = resources.all().filter(({ type }) => type === 'Microsoft.Compute/virtualMachines')
  assert.ok(machine !== undefined)
  return { ...SAMPLE, jwt: await minting.ofResource(machine.id), oid: resources.systemIdentityOf(machine.id)?.id }
}

test('hvac: all that it offers, from a new server to a sealed one', { skip: withoutHvac() }, async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const emulator = await startEmulator({ plan: SAMPLE_PLAN })
  context.after(() => emulator.close())
  // hvac itself sends only the vendor's names of clouds.
  const server = await newServer(emulator.stanza(), { CLOUD_ENVIRONMENT: 'TestCloud' })
  context.after(() => server.end())
  const path = join(directory.path, 'report.json')
  // The emulator answers from this process meanwhile.
  const { status, stdout, stderr } = await run(PYTHON, ['-B', FLOW, server.address, path], {
    timeout: FLOW_LIMIT_MS,
    env: { PATH: process.env.PATH, NO_PROXY: '*', CLOUD_FACTS: JSON.stringify(await cloudFacts(emulator)) },
  })
  assert.equal(status, 0, `${stdout}${stderr}`)
  assert.doesNotMatch(stderr, /skipped/)
  const { version, offered, flows } = JSON.parse(readFileSync(path, 'utf8')) as Report
  context.diagnostic(`hvac ${version}: ${flows.length} flows`)
  const made = new Set(flows.flatMap(({ calls }) => calls))
  assert.deepEqual(
    offered.filter((call) => !made.has(call)),
    [],
  )
  // The version is Debian's, and not pinned: the page speaks of one.
  if (process.env[PARTS_VARIABLE] === undefined && !readFileSync(PAGE, 'utf8').includes(`\n## hvac ${version}\n`)) {
    context.diagnostic(`docs/clients.md speaks of another version of hvac than ${version}`)
    return
  }
  publish({ name: 'hvac', version, language: 'Python', flows })
})
