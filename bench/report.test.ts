import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { OPERATIONS, REFERENCE } from './operations.ts'
import { median, type Name, rowsOf, table } from './report.ts'
import type { Target } from './targets.ts'
import { loadScript, type Measurement, measurementOf } from './wrk.ts'

const measured = (cpu: number, p99: number): Measurement => ({
  requestsPerSecond: 1000,
  cpuMicrosecondsPerRequest: cpu,
  p50Microseconds: 100,
  p99Microseconds: p99,
  errors: 1,
})

test('bench takes the middle, or the mean of the two in the middle', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([7]), 7)
})

test('bench compares with the control of the same load, else with its encryption', () => {
  const control = [measured(10, 20), measured(30, 20), measured(20, 20)]
  const targets = (all: Record<Name, Measurement[]>) => new Map(Object.entries(all) as [Name, Measurement[]][])
  const rows = rowsOf(
    new Map([
      [REFERENCE, targets({ control, keywright: [measured(30, 80)] })],
      ['key read', targets({ keywright: [measured(40, 10)] })],
    ]),
  )
  assert.deepEqual(
    rows.map(({ operation, target, cpuRatio, p99Ratio }) => [operation, target, cpuRatio, p99Ratio]),
    [
      [REFERENCE, 'control', undefined, undefined],
      [REFERENCE, 'keywright', 1.5, 4],
      ['key read', 'keywright', 2, 0.5],
    ],
  )
  assert.equal(rows[0]?.medians.errors, 3, 'errors are added up')
  const lines = table(rows).split('\n')
  assert.equal(lines.length, 5)
  assert.equal(new Set(lines.map((line) => line.length)).size, 1)
  assert.match(lines[3] ?? '', /keywright .* 1\.50 x \| +4\.00 x/)
})

test('bench reads what its script makes wrk print, and refuses a run without requests', () => {
  const output = 'Running 3s test\nRESULT 4000 2000000 150 900 2\nRequests/sec: 2000\n'
  assert.deepEqual(measurementOf(output, 80_000), {
    requestsPerSecond: 2000,
    cpuMicrosecondsPerRequest: 20,
    p50Microseconds: 150,
    p99Microseconds: 900,
    errors: 2,
  })
  assert.throws(() => measurementOf('unable to connect', 0), /made no request/)
  assert.throws(() => measurementOf('RESULT 0 2000000 0 0 0', 0), /made no request/)
})

test('bench sends the token of a policy, and the administrator’s only to create', () => {
  const target = {
    rootToken: 'root-token',
    token: 'policy-token',
    tokens: new Map([10, 100].map((n) => [n, `policy-token-${n}`])),
    ciphertext: 'vault:v1:x',
    signatures: new Map(),
    machine: { role_id: 'r', secret_id: 's' },
  } as Partial<Target> as Target
  for (const operation of OPERATIONS) {
    const script = loadScript(target, operation, 1)
    assert.equal(script.includes('root-token'), operation.creates, operation.name)
    assert.equal(script.includes('X-Vault-Token'), operation.anonymous !== true, operation.name)
    assert.equal(script.includes('X-Vault-Wrap-TTL'), operation.wrapTtl !== undefined, operation.name)
    assert.equal(script.includes('wrk.format('), operation.creates, operation.name)
    assert.equal(script.includes('wrk.body'), operation.method === 'POST', operation.name)
  }
})
