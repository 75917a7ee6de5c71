import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { wireRequest } from '../../test/fixtures/memory-server.ts'
import { fail } from '../api/errors.ts'
import type { WireResponse } from '../core/exchange.ts'
import { Unreachable } from '../rpc/errors.ts'
import type { Port } from '../rpc/ports.ts'
import { ServingLink, WriterLink, type WriterService } from './writer-link.ts'

const newLink = (port: Port, apply: (state: string) => Promise<void> = async () => {}): WriterLink<string> =>
  new WriterLink<string>(port, apply, () => {})

/** What went wrong while it answered is what `faults` gathers. */
function serve(
  port: Port,
  handle: WriterService['handle'],
  answer: WriterService['answer'] = async () => undefined,
  faults: string[] = [],
): ServingLink<string> {
  const log: WriterService['log'] = (_level, message, details) => void faults.push(`${message} ${details?.cause}`)
  return new ServingLink<string>(port, { handle, answer, log })
}

test('requests go up and their own answers come down, in whatever order', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  const waiting: (() => void)[] = []
  serve(
    port2,
    (request) =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ status: 200, body: request.rawPath }))
        if (waiting.length === 3) for (const answer of waiting.toReversed()) answer()
      }),
  )
  const answers = await Promise.all(['a', 'b', 'c'].map((path) => link.forward(wireRequest('POST', path, { x: 1 }))))
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['/v1/a', '/v1/b', '/v1/c'],
  )
})

test('a body arrives byte for byte', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  serve(port2, async (request) => ({
    status: 200,
    body: Buffer.from(request.body ?? []).toString('hex'),
  }))
  const body = Buffer.from([0, 255, 1, 254])
  const answer = await link.forward({ ...wireRequest('POST', 'a'), body })
  assert.equal(answer.body, '00ff01fe')
})

test('a long answer comes down byte for byte', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  const body = Buffer.from([0, 255, 1, 254])
  serve(port2, async () => ({ status: 200, body }))
  const answer = await link.forward(wireRequest('POST', 'a'))
  assert.deepEqual(Buffer.from(answer.body as Uint8Array), body)
})

test('news are confirmed when they have been taken over, and not before', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const order: string[] = []
  const takenOver = Promise.withResolvers<void>()
  const link = newLink(port1, async (state) => {
    order.push(`takes over ${state}`)
    await takenOver.promise
    order.push('has taken over')
  })
  const serving = serve(port2, async () => ({ status: 200, body: undefined }))
  const told = serving.tell('open').then(() => order.push('told'))
  // What is asked after it is answered; a confirmation that did not wait would have come before.
  await link.forward(wireRequest('GET', 'x'))
  await link.forward(wireRequest('GET', 'x'))
  assert.deepEqual(order, ['takes over open'])
  takenOver.resolve()
  await told
  assert.deepEqual(order, ['takes over open', 'has taken over', 'told'])
})

test('who waits for a writer that ends is told, and nobody waits after that', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  port2.on('message', () => {})
  const link = newLink(port1)
  const waiting = link.forward(wireRequest('POST', 'a'))
  link.close()
  await assert.rejects(waiting, Unreachable)
  await assert.rejects(link.forward(wireRequest('POST', 'a')), Unreachable)
})

test('what an engine asks the same mount answers, or refuses without a reason, or loses with the writer', async () => {
  const { port1, port2 } = new MessageChannel()
  const link = newLink(port1)
  const handle = async () => ({ status: 200, body: undefined })
  serve(port2, handle, async (mount, question) => {
    if (mount === 'slow') return new Promise(() => {})
    if (mount === 'elsewhere') throw fail('not_primary', [true, 'https://primary:8200'])
    if (mount !== 'there') throw new Error('a secret')
    return { asked: question }
  })
  assert.deepEqual(await link.ask('there', { kind: 'life' }), { asked: { kind: 'life' } })
  await assert.rejects(link.ask('gone', {}), (cause) => cause instanceof Unreachable && !/secret/.test(cause.message))
  const refused = fail('not_primary', [true, 'https://primary:8200'])
  await assert.rejects(link.ask('elsewhere', {}), { code: refused.code, status: 503, message: refused.message })
  const waiting = link.ask('slow', {})
  port2.close()
  await assert.rejects(waiting, Unreachable)
  await assert.rejects(link.ask('there', {}), Unreachable)
})

test('a request that cannot be sent fails alone, and is not waited for', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  serve(port2, async () => ({ status: 204, body: undefined }))
  const unsendable = { ...wireRequest('POST', 'a'), body: (() => {}) as unknown as Buffer }
  // More than may wait at once.
  for (let turn = 0; turn < 10_001; turn++) {
    await assert.rejects(link.forward(unsendable), (cause) => !(cause instanceof Unreachable))
  }
  assert.equal((await link.forward(wireRequest('POST', 'a'))).status, 204)
})

test('A3: a question that cannot be sent fails alone, and is not waited for', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  const handle = async () => ({ status: 204, body: undefined })
  serve(port2, handle, async (_mount, question) => question)
  // More than may wait at once.
  for (let turn = 0; turn < 10_001; turn++) {
    await assert.rejects(
      link.ask('mount', () => {}),
      (cause) => !(cause instanceof Unreachable),
    )
  }
  assert.equal(await link.ask('mount', 'question'), 'question')
})

test('what cannot be sent down fails alone and says why, without a value, and the threads go on', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  const faults: string[] = []
  const unsendable = (() => 'a secret') as unknown as string
  const cancelled = Promise.withResolvers<unknown>()
  const stream = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve })
  const responses: Record<string, () => WireResponse> = {
    '/v1/bad': () => ({ status: 200, body: unsendable }),
    '/v1/stream': () => ({ status: 200, body: unsendable, stream }),
    '/v1/thrown': () => {
      throw new RangeError('a secret')
    },
    '/v1/good': () => ({ status: 200, body: 'text' }),
  }
  serve(
    port2,
    async ({ rawPath }) => (responses[rawPath] as () => WireResponse)(),
    async () => unsendable,
    faults,
  )
  const isNamed = (name: string) => (cause: unknown) =>
    !(cause instanceof Unreachable) && cause instanceof Error && cause.name.includes(name) && !/secret/.test(cause.name)
  await assert.rejects(link.forward(wireRequest('POST', 'bad')), isNamed('DataCloneError'))
  await assert.rejects(link.forward(wireRequest('POST', 'stream')), isNamed('DataCloneError'))
  await cancelled.promise
  await assert.rejects(link.forward(wireRequest('POST', 'thrown')), isNamed('RangeError'))
  await assert.rejects(link.ask('mount', {}), isNamed('DataCloneError'))
  assert.equal((await link.forward(wireRequest('POST', 'good'))).body, 'text')
  assert.equal(faults.length, 4)
  assert.match(faults[2] ?? '', /^An internal call to this thread failed RangeError at .*writer-link\.test\.ts/)
  assert.doesNotMatch(faults.join(), /secret/)
})

test('a body that nobody reads there is cancelled where it comes from', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = newLink(port1)
  serve(port2, async () => ({ status: 403, body: undefined }))
  const cancelled = Promise.withResolvers<unknown>()
  const stream = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve })
  assert.equal((await link.forward({ ...wireRequest('POST', 'a'), stream })).status, 403)
  await cancelled.promise
})
