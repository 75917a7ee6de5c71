// The client hvac for Python, as Debian packages it, against a real server that it initialises itself.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startConfigured, temporaryDirectory } from '../fixtures/server-process.ts'

/** Debian's own: another Python in the PATH does not see Debian's packages. */
const PYTHON = '/usr/bin/python3'
const FLOW = join(import.meta.dirname, 'hvac_flow.py')
const FLOW_LIMIT_MS = 60_000

function missing(): string | false {
  const { status } = spawnSync(PYTHON, ['-c', 'import hvac'])
  return status === 0 ? false : 'the Debian package python3-hvac is not installed'
}

test('hvac initialises, unseals, uses and seals a server', { skip: missing() }, async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const config = join(directory.path, 'server.hcl')
  writeFileSync(
    config,
    `listener "tcp" { address = "127.0.0.1:0" }
     storage "sqlite" { path = ${JSON.stringify(join(directory.path, 'data'))} }`,
  )
  const server = await startConfigured(config)
  context.after(() => server.stop())
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-B', FLOW, server.address], {
    encoding: 'utf8',
    timeout: FLOW_LIMIT_MS,
    env: { PATH: process.env.PATH, NO_PROXY: '*' },
  })
  assert.equal(status, 0, `${stdout}${stderr}`)
  const ran = /^Ran (\d+) tests? in/m.exec(stderr)?.[1]
  assert.ok(Number(ran) > 0, `the flow holds no test: ${stderr}`)
  assert.doesNotMatch(stderr, /skipped/)
  context.diagnostic(`hvac: ${ran} flows`)
})
