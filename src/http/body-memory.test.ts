// Memory that bodies take from the budget which all share, over real connections.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type OpenListener, type OpenOptions, openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { until } from '../../test/fixtures/until.ts'
import type { WireRequest } from '../core/exchange.ts'

const BODY = 'x'.repeat(300_000)
/** Memory that the body takes beyond its first block. */
const BODY_KIB = 256

type Held = { readonly open: OpenListener; readonly bodies: Map<string, Uint8Array>; answer(): void }

/** Requests are taken, and answered when the test says so. */
async function held(context: TestContext, options: OpenOptions = {}): Promise<Held> {
  const bodies = new Map<string, Uint8Array>()
  const work = Promise.withResolvers<void>()
  const handle = async ({ rawPath, body }: WireRequest) => {
    if (body !== undefined) bodies.set(rawPath, body)
    await work.promise
    return { status: 204, body: undefined }
  }
  const open = await openListener({ ...options, handle })
  context.after(async () => {
    work.resolve()
    await open.stop()
  })
  return { open, bodies, answer: () => work.resolve() }
}

const takenKib = ({ open }: Held): number => open.figures.cells[1] ?? 0
const connections = ({ open }: Held): number => open.figures.cells[0] ?? 0

test('P-40: a body that is worked on stays whole when its client is gone, and is let go of after', async (context) => {
  const stage = await held(context)
  const connection = await RawConnection.open(stage.open.address)
  connection.write(rawRequest('POST', '/v1/x', [], BODY))
  await until(() => stage.bodies.has('/v1/x'))
  connection.close()
  await until(() => connections(stage) === 0)
  const body = stage.bodies.get('/v1/x')
  assert.equal(body?.length, BODY.length)
  assert.equal(takenKib(stage), BODY_KIB)
  stage.answer()
  await until(() => takenKib(stage) === 0)
  assert.equal(body?.length, 0)
})

test('P-40: what waits behind a request gives its memory back when the connection ends', async (context) => {
  const stage = await held(context)
  const connection = await RawConnection.open(stage.open.address)
  const waiting = [1, 2, 3].map((index) => rawRequest('POST', `/v1/waiting-${index}`, [], BODY))
  connection.write(Buffer.concat([rawRequest('POST', '/v1/first', [], 'x'), ...waiting]))
  await until(() => takenKib(stage) === 3 * BODY_KIB)
  // Both in one turn: the end of the connection is told only after the answer.
  connection.close()
  stage.answer()
  await until(() => connections(stage) === 0)
  await until(() => takenKib(stage) === 0)
  assert.deepEqual([...stage.bodies.keys()], ['/v1/first'])
})

test('P-40: a body that is cut off behind another request gives its memory back', async (context) => {
  const stage = await held(context)
  const connection = await RawConnection.open(stage.open.address)
  const cut = rawRequest('POST', '/v1/cut', [], BODY).subarray(0, 250_000)
  connection.write(Buffer.concat([rawRequest('POST', '/v1/first', [], 'x'), cut]))
  await until(() => takenKib(stage) >= 192)
  connection.close()
  stage.answer()
  await until(() => connections(stage) === 0)
  await until(() => takenKib(stage) === 0)
})
