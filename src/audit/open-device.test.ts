// A device that cannot be written is refused when it is made: later it would hold up every request.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { devicePartsFor } from '../../test/fixtures/device-parts.ts'
import { until } from '../../test/fixtures/until.ts'
import { Refusal } from '../api/errors.ts'
import { requireUsableTarget } from './open-device.ts'

async function receiver(context: TestContext): Promise<{ port: number; lines: string[]; close(): void }> {
  const socket = createSocket('udp4')
  const lines: string[] = []
  socket.on('message', (bytes) => lines.push(bytes.toString('latin1')))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  let isOpen = true
  const close = (): void => {
    if (isOpen) socket.close()
    isOpen = false
  }
  context.after(close)
  return { port, lines, close }
}

const overDatagrams = (address: string) => devicePartsFor('socket', { address, socket_type: 'udp' }).parts

const refusedAs =
  (why: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Refusal && error.status === 400 && why.test(error.message)

test('datagrams that nobody takes are no device', async (context) => {
  const { port, close } = await receiver(context)
  close()
  await assert.rejects(
    requireUsableTarget(overDatagrams(`127.0.0.1:${port}`)),
    refusedAs(/cannot be written: ECONNREFUSED/),
  )
  const syslog = devicePartsFor('syslog', { address: `udp:127.0.0.1:${port}` }).parts
  await assert.rejects(requireUsableTarget(syslog), refusedAs(/cannot be written: ECONNREFUSED/))
})

test('datagrams that somebody takes are one, tried with two lines', async (context) => {
  const { port, lines } = await receiver(context)
  await requireUsableTarget(overDatagrams(`127.0.0.1:${port}`))
  await until(() => lines.length >= 2, 'both lines')
  assert.deepEqual(
    lines.map((line) => /"event":"(\w+)"/.exec(line)?.[1]),
    ['start', 'end'],
  )
})

test('a name that is not found is told as such', async () => {
  const why = /cannot be connected to: (ENOTFOUND|EAI_AGAIN)/
  await assert.rejects(requireUsableTarget(overDatagrams('nosuch.invalid:80')), refusedAs(why))
})
