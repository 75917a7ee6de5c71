// Keys that another server of this API made, used and backed up: restored here they open, verify and compute all that
// it produced. A part of the recordings is committed; where the folder of all is beside the project, all are played.
import { strict as assert } from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PROJECT, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { replay, type Scenario } from '../../wire/replay.ts'

const WHOLE = join(PROJECT, '../shared/vectors/interop/interop.json')
const COMMITTED = join(PROJECT, 'test/wire/interop-subset.json')

const scenarios: readonly Scenario[] = JSON.parse(readFileSync(existsSync(WHOLE) ? WHOLE : COMMITTED, 'utf8'))

let server: ServerProcess
const directory = temporaryDirectory()
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data') })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

for (const scenario of scenarios) {
  test(`${scenario.name} (${scenario.steps.length} exchanges)`, async () => {
    assert.deepEqual(await replay(scenario, server), [])
  })
}

test('there are recordings of every family of keys', () => {
  assert.ok(scenarios.length >= 16)
  const committed: readonly Scenario[] = JSON.parse(readFileSync(COMMITTED, 'utf8'))
  assert.ok(committed.every(({ steps }) => steps.length > 5))
})
