import { strict as assert } from 'node:assert'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import { OutboundError, outboundTo } from './outbound.ts'
import { realWorld } from './world.ts'

let server: Server
let origin: string
before(async () => {
  server = createServer((incoming, outgoing) => {
    if (incoming.url === '/silent') return
    if (incoming.url === '/large') outgoing.end(Buffer.alloc(2_000_000))
    else if (incoming.url === '/elsewhere') outgoing.writeHead(302, { Location: '/answer' }).end()
    else incoming.on('data', (chunk: Buffer) => outgoing.end(`${incoming.method} ${chunk}`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const send = (path: string, reaches = [origin]) =>
  realWorld(reaches).outbound.request({
    method: 'POST',
    url: origin + path,
    headers: {},
    body: Buffer.from('sent'),
    timeoutMs: 120_000,
  })

test('a request to a configured origin is answered', async () => {
  const { status, body } = await send('/answer')
  assert.deepEqual([status, String(body)], [200, 'POST sent'])
})

test('P-63: no other origin is reached', async () => {
  await assert.rejects(send('/answer', []), OutboundError)
  await assert.rejects(send('/answer', ['http://127.0.0.1:1']), OutboundError)
})

test('a redirect is an answer, and is not followed', async () => {
  assert.equal((await send('/elsewhere')).status, 302)
})

test('time and size are limited', async () => {
  const time = steppedTime(0)
  const asked = { method: 'GET', url: `${origin}/silent`, headers: {}, timeoutMs: 10_000 }
  const silent = assert.rejects(outboundTo([origin], time.timers).request(asked), /took too long/)
  await until(() => time.waiting().length > 0, 'it is asked')
  await time.advance(10_000)
  await silent
  await assert.rejects(send('/large'), /too large/)
})

test('one that is not there is an error', async () => {
  const outbound = realWorld(['http://127.0.0.1:1']).outbound
  const asked = outbound.request({ method: 'GET', url: 'http://127.0.0.1:1/', headers: {}, timeoutMs: 120_000 })
  await assert.rejects(asked, (cause: NodeJS.ErrnoException) => cause.code === 'ECONNREFUSED')
})
