import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Knock, LinkState } from '../replication/link/link-sides.ts'
import { LateLinks, type LinksHost, NO_LINKS } from './late-links.ts'

const IDLE: LinkState = {
  facts: { version: '1', clusterId: 'c', clusterAddresses: [], apiAddress: '' },
  listenAt: [],
  parts: [],
}
const LISTENING: LinkState = { ...IDLE, listenAt: [{ host: '127.0.0.1', port: 8201 }] }
const KNOCK = { address: 'https://p:8201' } as Knock

function stage(begin?: () => Promise<LinksHost>) {
  const heard: string[] = []
  const host: LinksHost = {
    play: async ({ listenAt }) => void heard.push(`play ${listenAt.length}`),
    disconnect: async (family, id) => void heard.push(`disconnect ${family} ${id}`),
    knock: async ({ address }) => {
      heard.push(`knock ${address}`)
      return { kind: 'welcome', version: '1', clockSkewMs: 0 }
    },
    handOver: async (family, withinMs) => {
      heard.push(`handOver ${family} ${withinMs}`)
      return { kind: 'drained', grantsNothing: true }
    },
    takeBack: async (family) => void heard.push(`takeBack ${family}`),
    ask: async (call, body) => {
      heard.push(`ask ${call}`)
      return { kind: 'answer', body }
    },
    sealChanged: (sealId) => void heard.push(`sealChanged ${sealId}`),
    recover: async (family) => void heard.push(`recover ${family}`),
    compareAgain: async (family) => void heard.push(`compare ${family}`),
    status: async () => ({ ...NO_LINKS, ports: [8201] }),
    close: async () => void heard.push('close'),
  }
  const links = new LateLinks(async () => {
    heard.push('begin')
    return begin === undefined ? host : begin()
  })
  return { heard, links, host }
}

test('nothing is begun for a state without addresses and parts, or by anything that is said of links', async () => {
  const { heard, links } = stage()
  await links.play(IDLE)
  await links.disconnect('dr', 'a')
  links.sealChanged('one')
  assert.equal(await links.status(), NO_LINKS)
  await links.close()
  assert.deepEqual(heard, [])
})

test('the first state with something to do begins the host, which is told that and all further states', async () => {
  const { heard, links } = stage()
  await Promise.all([links.play(LISTENING), links.play(IDLE), links.disconnect('dr', 'a')])
  links.sealChanged('one')
  assert.deepEqual((await links.status()).ports, [8201])
  await links.close()
  assert.deepEqual(heard, ['begin', 'play 1', 'play 0', 'disconnect dr a', 'sealChanged one', 'close'])
})

test('a knock begins the host', async () => {
  const { heard, links } = stage()
  assert.equal((await links.knock(KNOCK)).kind, 'welcome')
  assert.deepEqual(heard, ['begin', 'knock https://p:8201'])
})

test('a question to the primary begins nothing, and goes to the host that there is', async () => {
  const { heard, links } = stage()
  assert.deepEqual(await links.ask('carryOut', Buffer.from('a')), { kind: 'no-link' })
  await links.play(LISTENING)
  assert.deepEqual(await links.ask('carryOut', Buffer.from('a')), { kind: 'answer', body: Buffer.from('a') })
  assert.deepEqual(heard, ['begin', 'play 1', 'ask carryOut'])
})

test('a host that could not begin is begun again for the next state', async () => {
  let tries = 0
  const { heard, links, host } = stage(async () => {
    if (++tries === 1) throw new Error('no such file')
    return host
  })
  await assert.rejects(links.play(LISTENING), { message: 'no such file' })
  assert.equal(await links.status(), NO_LINKS)
  await links.play(LISTENING)
  assert.deepEqual(heard, ['begin', 'begin', 'play 1'])
})

test('once it is closed nothing is begun, opened or asked', async () => {
  const { heard, links } = stage()
  await links.close()
  await links.play(LISTENING)
  const knocked = await links.knock(KNOCK)
  assert.equal(knocked.kind, 'no-link')
  assert.match('sentence' in knocked ? knocked.sentence : '', /https:\/\/p:8201/)
  assert.deepEqual(heard, [])
})

test('a host that is begun while it is closed is closed as soon as it is there', async () => {
  const begun = Promise.withResolvers<LinksHost>()
  const { heard, links, host } = stage(() => begun.promise)
  const played = links.play(LISTENING)
  const closed = links.close()
  begun.resolve(host)
  await Promise.all([played, closed])
  assert.deepEqual(heard, ['begin', 'play 1', 'close'])
})
