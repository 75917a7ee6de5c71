// The examples in docs/api, sent to a server in the order of their table: each succeeds with the answer that its page
// shows. What is another text in each run has the kind, the beginning and the length of the one that is shown.
import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { before, test } from 'node:test'
import type { EndpointOperation } from '../../src/api/endpoint.ts'
import { METHODS } from '../../src/api/help.ts'
import { GENERATE_RSA } from '../../src/crypto/key-types/rsa-key-types.ts'
import { TRANSIT } from '../../src/engines/transit/transit.ts'
import { inlineWork, type Job, type SlowWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { type Call, Earlier, type Example, mapped, Sample, type Value } from '../../tools/example.ts'
import { TRANSIT_EXAMPLES } from '../../tools/transit-examples.ts'
import { publishedRsa } from '../fixtures/known-material.ts'
import { type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

const { endpoints } = TRANSIT.router

/** A new RSA key takes seconds, which say nothing about examples: a known one takes its place. */
function withKnownRsa(real: SlowWork): SlowWork {
  const known = createPrivateKey({ key: publishedRsa('rsa-4096'), format: 'der', type: 'pkcs8' })
  return {
    run: async <I, O>(job: Job<I, O>, input: I) =>
      job.name === GENERATE_RSA.name && input === 4096 ? (known as O) : real.run(job, input),
    split: () => real.split(),
    forget: () => real.forget(),
  }
}

let server: MemoryServer
before(async () => {
  server = await startMemoryServer({ slow: withKnownRsa(inlineWork(realWorld())) })
  assert.equal((await server.call('POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
})

test('every endpoint of transit has one example, and each example is of the endpoint that its path leads to', () => {
  assert.deepEqual(TRANSIT_EXAMPLES.map(({ id }) => id).sort(), endpoints.map(({ id }) => id).sort())
  for (const { id, path } of TRANSIT_EXAMPLES) {
    const found = TRANSIT.router.find(operationOf(id), path)
    assert.equal(found.kind === 'found' && found.endpoint.id, id, path)
  }
})

function operationOf(id: string): EndpointOperation {
  const found = endpoints.find((endpoint) => endpoint.id === id)
  assert(found !== undefined, `no endpoint of transit has the id ${id}`)
  return found.operation
}

/** By the id of the endpoint. */
const answers = new Map<string, unknown>()

for (const example of TRANSIT_EXAMPLES) {
  test(`the example of ${example.id} is answered as its page says`, async () => {
    for (const { operation, ...call } of example.before ?? []) {
      const { status, body } = await send(operation, call)
      assert([200, 204].includes(status), `before it, ${call.path}: ${status} ${JSON.stringify(body)}`)
    }
    await check(example)
  })
}

async function check(example: Example): Promise<void> {
  const { status, body } = await send(operationOf(example.id), example)
  assert.equal(status, example.answer === undefined ? 204 : 200, JSON.stringify(body))
  if (example.answer === undefined) return
  assert.equal(body.warnings, null)
  assert.deepEqual(body.data, expected(example.answer, body.data))
  answers.set(example.id, body.data)
}

function send(operation: EndpointOperation, { path, body }: Call) {
  return server.call(METHODS[operation], `transit/${path}`, body === undefined ? undefined : filled(body))
}

/** With the answers of this run in the places that name earlier ones. */
function filled(value: Value): unknown {
  if (value instanceof Earlier) return value.takeFrom(answers.get(value.id))
  assert(!(value instanceof Sample), 'a sample was made in another run, and says nothing in a request')
  return mapped(value, filled)
}

/** What is shown, with those texts of the real answer that a sample stands for and that fit it. */
function expected(shown: Value, real: unknown): unknown {
  if (shown instanceof Sample) return shown.fits(real) ? real : `${shown.shown}, or one like it`
  assert(!(shown instanceof Earlier), 'an answer shows texts of its own')
  if (typeof shown !== 'object') return shown
  const members = Object.entries(shown).map(([name, inner]) => [
    name,
    expected(inner, (real as Record<string, unknown> | undefined)?.[name]),
  ])
  return Array.isArray(shown) ? members.map(([, value]) => value) : Object.fromEntries(members)
}

test('a sample is not like texts with another beginning, length or kind', () => {
  const whole = new Sample('vault:v1:', 'abcd')
  const shortened = new Sample('vault:v1:', 'ab…')
  assert.deepEqual(
    ['vault:v1:wxyz', 'vault:v1:wxyz0', 'vault:v2:wxyz', 'vault:v1:wx', 1].map((text) => [
      whole.fits(text),
      shortened.fits(text),
    ]),
    [
      [true, true],
      [false, true],
      [false, false],
      [false, false],
      [false, false],
    ],
  )
})
