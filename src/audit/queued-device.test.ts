// An entry that one device cannot take fails alone: the device and what comes in the same turn are as before.
import assert from 'node:assert/strict'
import { createSocket, Socket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket as StreamSocket } from 'node:net'
import { test } from 'node:test'
import { devicePartsFor } from '../../test/fixtures/device-parts.ts'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import type { Device } from './device.ts'
import { openDevice } from './open-device.ts'
import { QueuedDevice, type Sink } from './queued-device.ts'
import { DeviceSet, NotRecorded, Recorder } from './recorder.ts'

const entry = (bytes: number): string => `"request":{"data":"${'x'.repeat(bytes)}"}`

/** One entry, as the audit records it. */
function recorderOf(): { recorder: Recorder; record(set: DeviceSet, bytes: number): Promise<void> } {
  const recorder = new Recorder(steppedTime(0).timers, (work) => setImmediate(work))
  const record = (set: DeviceSet, bytes: number): Promise<void> => {
    const bodies = set.devices.map(() => entry(bytes))
    return recorder.wait(recorder.append(set, 'request', bodies))
  }
  return { recorder, record }
}

async function receiver(): Promise<{ port: number; lines: string[]; close(): void }> {
  const socket = createSocket('udp4')
  const lines: string[] = []
  socket.on('message', (bytes) => lines.push(bytes.toString('latin1')))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, lines, close: () => socket.close() }
}

const DEVICES = [
  { type: 'socket', options: (port: number) => ({ address: `127.0.0.1:${port}`, socket_type: 'udp' }) },
  { type: 'syslog', options: (port: number) => ({ address: `udp:127.0.0.1:${port}` }) },
] as const

for (const { type, options } of DEVICES) {
  test(`U-12: an entry longer than a datagram fails alone (${type})`, async () => {
    const { port, lines, close } = await receiver()
    const { parts, logged } = devicePartsFor(type, options(port))
    const device = await openDevice(parts)
    const set = new DeviceSet([device])
    const { recorder, record } = recorderOf()
    try {
      await record(set, 10)
      // In one turn: what is too long alone is refused.
      const outcomes = await Promise.allSettled([record(set, 100), record(set, 70_000), record(set, 60_000)])
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert(outcomes[1]?.status === 'rejected' && outcomes[1].reason instanceof NotRecorded)
      // No rest, and the same chain.
      await record(set, 10)
      await until(() => lines.length >= 6, 'what was sent')
      const streams = new Set(lines.map((line) => /"stream":"(\w+)"/.exec(line)?.[1]))
      assert.equal(streams.size, 1)
      assert(lines.some((line) => line.includes('"event":"lost","entries":1,"torn":[]')))
      assert.deepEqual(logged, ['An audit device does not take an entry of this length'])
    } finally {
      recorder.close()
      await device.end()
      close()
    }
  })
}

/** A listener that takes lines over TCP, and can be stopped. */
async function collector(): Promise<{
  port: number
  peers: StreamSocket[]
  streams(): (string | undefined)[]
  stop(): void
}> {
  const peers: StreamSocket[] = []
  let text = ''
  const server = createServer((peer) => {
    peers.push(peer)
    peer.on('error', () => {})
    peer.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // One a line, in both forms.
  const streams = () => [...text.matchAll(/"stream":"(\w+)"/g)].map(([, stream]) => stream)
  const stop = (): void => {
    server.close()
    for (const peer of peers) peer.destroy()
  }
  return { port, peers, streams, stop }
}

const OVER_TCP = [
  { type: 'socket', options: (port: number) => ({ address: `127.0.0.1:${port}` }) },
  { type: 'syslog', options: (port: number) => ({ address: `tcp:127.0.0.1:${port}` }) },
] as const

for (const { type, options } of OVER_TCP) {
  test(`an entry for a connection that has just ended is not taken for stored (${type})`, async (context) => {
    for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const { port, peers, streams, stop } = await collector()
      context.after(stop)
      const { parts } = devicePartsFor(type, options(port))
      const device = await openDevice(parts)
      context.after(() => device.end())
      device.append('request', entry(10), '')
      assert.equal(await device.flush(), true)
      await until(() => streams().length >= 2, 'what was sent')
      // In one turn: nothing has told the device yet.
      for (const peer of peers) peer[end]()
      device.append('request', entry(10), '')
      assert.equal(await device.flush(), false, end)
    }
  })

  test(`the end of a connection is noticed without an entry; the next goes to a new one (${type})`, async (context) => {
    for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const { port, peers, streams, stop } = await collector()
      context.after(stop)
      const { parts, logged } = devicePartsFor(type, options(port))
      const device = await openDevice(parts)
      const set = new DeviceSet([device])
      const { recorder, record } = recorderOf()
      context.after(() => {
        recorder.close()
        return device.end()
      })
      await record(set, 10)
      assert.equal(device.flush(), true)
      await until(() => streams().length >= 2, 'what was sent')
      for (const peer of peers) peer[end]()
      await until(() => logged.length > 0, 'the end of the connection')
      assert.deepEqual([device.flush(), logged], [false, ['An audit device cannot be written']], end)
      // Without a rest, in a chain of its own.
      await record(set, 10)
      assert.equal(peers.length, 2)
      assert.deepEqual(logged, ['An audit device cannot be written', 'An audit device can be written again'])
      await until(() => streams().length >= 4, 'what was sent')
      assert.equal(new Set(streams()).size, 2)
      // The listener is gone: a request that cannot be recorded is not carried out.
      stop()
      await until(() => logged.length > 2, 'the end of the connection')
      await assert.rejects(record(set, 10), NotRecorded)
    }
  })
}

test('an entry that one device cannot take is recorded by the other', async () => {
  const { port, close } = await receiver()
  const datagrams = await openDevice(devicePartsFor('socket', DEVICES[0].options(port)).parts)
  const discard = await openDevice(devicePartsFor('file', { file_path: 'discard' }).parts)
  const { recorder, record } = recorderOf()
  try {
    await record(new DeviceSet([datagrams, discard]), 70_000)
    await assert.rejects(record(new DeviceSet([datagrams]), 70_000), NotRecorded)
  } finally {
    recorder.close()
    await datagrams.end()
    close()
  }
})

test('P-39: an entry that the queue has no room for does not fail those of the same turn', async () => {
  let written = 0
  const sink: Sink = {
    write: async (lines) => {
      written += lines.length
    },
    close: () => {},
  }
  const device: Device = new QueuedDevice(devicePartsFor('socket', { address: '127.0.0.1:1' }).parts, async () => sink)
  const set = new DeviceSet([device])
  const { recorder, record } = recorderOf()
  const MEBIBYTE = 1024 * 1024
  const outcomes = await Promise.allSettled([1_000, 40 * MEBIBYTE, 40 * MEBIBYTE, 1_000].map((n) => record(set, n)))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert(written > 40 * MEBIBYTE && written < 41 * MEBIBYTE)
  recorder.close()
  await device.end()
})

test('U-12: a datagram that the system does not take is refused, and no lost connection', async (context) => {
  // Some sockets take less than IP would: on many systems, and on routes with a small path MTU.
  const most = 9_000
  const send = Socket.prototype.send as (...given: unknown[]) => void
  context.mock.method(Socket.prototype, 'send', function (this: Socket, bytes: Buffer, done: (cause?: Error) => void) {
    if (bytes.length > most) done(Object.assign(new Error('too long'), { code: 'EMSGSIZE' }))
    else send.call(this, bytes, done)
  })
  const { port, lines, close } = await receiver()
  const { parts, logged } = devicePartsFor('syslog', { address: `udp:127.0.0.1:${port}` })
  const device = await openDevice(parts)
  const set = new DeviceSet([device])
  const { recorder, record } = recorderOf()
  try {
    await record(set, 10)
    await assert.rejects(record(set, 20_000), NotRecorded)
    // At once, without a rest: what is too long is known before, and the rest goes on.
    await record(set, 100)
    const outcomes = await Promise.allSettled([record(set, 200), record(set, 30_000), record(set, 8_000)])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    const sent = (bytes: number): boolean => lines.some((line) => line.includes(`"${'x'.repeat(bytes)}"`))
    await until(() => [10, 100, 200, 8_000].every(sent), 'what was sent')
    assert.deepEqual(logged, ['An audit device does not take an entry of this length'])
  } finally {
    recorder.close()
    await device.end()
    close()
  }
})
