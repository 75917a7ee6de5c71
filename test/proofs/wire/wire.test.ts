// Recorded exchanges with a real server of this API, one test a scenario: those committed here, and, where the folder
// of all recordings is beside the project, their newest form.
import { strict as assert } from 'node:assert'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PROJECT, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { EXCEPTIONS } from '../../wire/exceptions.ts'
import { type Difference, difference, replay, type Scenario } from '../../wire/replay.ts'

const COMMITTED = [
  'transit-symmetric.json',
  'transit-signing.json',
  'transit-moving.json',
  'transit-life.json',
  'core-first-light.json',
  'core-seals.json',
  'core-policies.json',
  // Before the one that lists leases: none of its tokens may be left.
  'core-wrapping.json',
  'core-tokens.json',
  'core-capabilities.json',
  'core-logins.json',
  'core-audit.json',
  'namespaces.json',
]
/** The recording names it. */
const RECORDED_AUDIT_LOG = '/tmp/w-audit.log'
const RECORDINGS = join(PROJECT, '../shared/vectors/wire')

function read(path: string): Scenario[] {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** The committed scenarios; a newer recording of the same name is played as well. */
function scenarios(): { readonly from: string; readonly scenario: Scenario }[] {
  const committed = COMMITTED.flatMap((file) => read(join(PROJECT, 'test/wire', file))).map((scenario) => ({
    from: 'committed',
    scenario,
  }))
  if (!existsSync(RECORDINGS)) return committed
  const names = new Set(committed.map(({ scenario }) => scenario.name))
  const beside = ['transit.json', 'core.json', 'namespaces.json']
    .flatMap((file) => read(join(RECORDINGS, file)))
    .filter(({ name }) => names.has(name))
  const texts = new Set(committed.map(({ scenario }) => JSON.stringify(scenario)))
  return [
    ...committed,
    ...beside.filter((one) => !texts.has(JSON.stringify(one))).map((scenario) => ({ from: 'beside', scenario })),
  ]
}

let server: ServerProcess
const directory = temporaryDirectory()
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data') })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
  rmSync(RECORDED_AUDIT_LOG, { force: true })
})

for (const { from, scenario } of scenarios()) {
  test(`${from}: ${scenario.name} (${scenario.steps.length} exchanges)`, async () => {
    const differences = await replay(scenario, server)
    const excepted = new Set(EXCEPTIONS.filter((one) => one.scenario === scenario.name).flatMap(({ steps }) => steps))
    const unexpected = differences.filter(({ step }) => !excepted.has(step))
    assert.deepEqual(unexpected.map(described(scenario)), [])
    const stale = [...excepted].filter((step) => !differences.some((one) => one.step === step))
    assert.deepEqual(stale, [], 'steps listed in exceptions.ts that no longer differ')
  })
}

const described =
  (scenario: Scenario) =>
  ({ step, what }: Difference): string =>
    `step ${step} ${scenario.steps[step]?.req.slice(0, 2).join(' ')}: ${what}`

test('exceptions name scenarios that are played', () => {
  const names = new Set(scenarios().map(({ scenario }) => scenario.name))
  assert.deepEqual(
    EXCEPTIONS.filter(({ scenario }) => !names.has(scenario)),
    [],
  )
})

test('the comparison sees what is different', () => {
  const cases = [
    { wanted: { a: 1 }, got: { a: 2 } },
    { wanted: { a: 1 }, got: {} },
    { wanted: { a: '$ciphertext:v2' }, got: { a: 'vault:v1:AAAA' } },
    { wanted: { data: { keys: ['a'] } }, got: { data: { keys: ['a', 'b'] } } },
    { wanted: { warnings: null }, got: { warnings: ['w'] } },
    { wanted: { error: 'x' }, got: {} },
    { wanted: { ttl: 3600 }, got: { ttl: 1800 } },
  ]
  for (const { wanted, got } of cases) assert.notDeepEqual(difference(wanted, got, ''), [], JSON.stringify(wanted))
  assert.deepEqual(
    difference({ a: '$now', errors: ['x'] }, { a: Math.floor(Date.now() / 1000), b: 1, errors: ['y'] }, ''),
    [],
  )
})
