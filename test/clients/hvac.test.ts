// The client hvac for Python, as Debian packages it, against a real server that it initialises itself.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../fixtures/server-process.ts'
import { type FlowReport, PAGE, PARTS_VARIABLE, publish } from './clients-page.ts'
import { newServer } from './new-server.ts'

/** Debian's own: another Python in the PATH does not see Debian's packages. */
const PYTHON = '/usr/bin/python3'
const FLOW = join(import.meta.dirname, 'hvac_flow.py')
const FLOW_LIMIT_MS = 60_000

type Report = { readonly version: string; readonly offered: readonly string[]; readonly flows: readonly FlowReport[] }

function missing(): string | false {
  const { status } = spawnSync(PYTHON, ['-c', 'import hvac'])
  return status === 0 ? false : 'the Debian package python3-hvac is not installed'
}

test('hvac: all that it offers, from a new server to a sealed one', { skip: missing() }, async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const server = await newServer()
  context.after(() => server.end())
  const path = join(directory.path, 'report.json')
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-B', FLOW, server.address, path], {
    encoding: 'utf8',
    timeout: FLOW_LIMIT_MS,
    env: { PATH: process.env.PATH, NO_PROXY: '*' },
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
