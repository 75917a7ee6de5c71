import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { ends } from '../../test/fixtures/until.ts'
import type { ByteStream } from '../api/request.ts'
import { Deadlines } from './deadlines.ts'
import { RequestStream } from './streams.ts'

const HEAD = 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n'

/** A body that may pause for three seconds, the socket of its sender, and the time of the server. */
async function received(t: TestContext) {
  const time = steppedTime(0)
  const pauses = new Deadlines(time).queue(3_000)
  const server = createServer()
  const streams = new Promise<ByteStream>((resolve) => {
    server.on('request', (incoming) => resolve(new RequestStream(incoming, pauses).stream))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const sender: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sender.on('error', () => {})
  t.after(() => {
    sender.destroy()
    server.close()
  })
  sender.write(HEAD)
  const reader = (await streams).getReader()
  const read = async (): Promise<string> => {
    const { value } = await reader.read()
    return value === undefined ? 'the end' : Buffer.from(value).toString()
  }
  return { time, sender, read, cancel: () => reader.cancel() }
}

test('a sender that pauses for longer than it may is cut', async (t) => {
  const { time, sender, read } = await received(t)
  sender.write('abc')
  assert.equal(await read(), 'abc')
  const rest = assert.rejects(read(), /The connection ended before the body did/)
  await time.advance(6_000)
  await ends(rest, 'the connection is cut')
})

test('while nobody reads, the sender is not the one who pauses', async (t) => {
  const { time, sender, read } = await received(t)
  await time.advance(60_000)
  sender.write('abc')
  assert.equal(await read(), 'abc')
  await time.advance(60_000)
  sender.write('def')
  assert.equal(await read(), 'def')
  assert.equal(await read(), 'the end')
})

test('what comes behind the answer is thrown away, and its sender may not pause for longer either', async (t) => {
  const { time, sender, read, cancel } = await received(t)
  sender.write('abc')
  assert.equal(await read(), 'abc')
  await cancel()
  const cut = once(sender, 'close')
  await time.advance(6_000)
  await ends(cut, 'the connection is cut')
})
