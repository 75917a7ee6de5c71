// The same over real TLS and loopback, in time that stands still: what does not depend on the simulated network.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newStore } from '../../../test/fixtures/followed-pair.ts'
import { KEY_PACKAGE, MemoryLinkOwner } from '../../../test/fixtures/link-owner.ts'
import { identityOf, partOf, serverIdentity } from '../../../test/fixtures/linked-clusters.ts'
import { NOW, RECEIVER, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import { ends, until } from '../../../test/fixtures/until.ts'
import { tlsLinks } from '../../lib/tls-links.ts'
import { eventLoop } from '../../lib/world.ts'
import { systemScope } from '../../storage/contract.ts'
import { MAX_ASK_BYTES } from '../protocol/messages.ts'
import { LinkHost } from './link-host.ts'
import type { LinkState } from './link-sides.ts'

const HOST = '127.0.0.1'
const FACTS = { version: '1.2.0', clusterId: 'c', clusterAddresses: [], apiAddress: '' }
const SEALED: LinkState = { facts: FACTS, listenAt: [], parts: [] }

test('a cluster is let in and follows over real links, and an older one reads why it cannot', async (t) => {
  const registry = new SetCluster(1)
  const set = { setId: await registry.begin('dr'), family: 'dr' } as const
  const { clock, timers } = steppedTime(NOW)
  const newCluster = (seed: number) => {
    const store = newStore(seed)
    const owner = new MemoryLinkOwner({ store, clock, cluster: registry })
    const world = { clock, timers, random: registry.random, ticks: eventLoop, links: tlsLinks({ clock, timers }) }
    const host = new LinkHost({ world, owner, store, log: () => {}, counts: () => () => {} })
    t.after(() => host.play(SEALED))
    return { store, owner, host }
  }
  const primary = newCluster(2)
  for (const key of ['a', 'b', 'c']) {
    const value = Buffer.alloc(2_000_000, key)
    await primary.store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${key}`, value))
  }
  const identity = await serverIdentity(registry, set)
  const listenAt = [{ host: HOST, port: 0 }]
  await primary.host.play({ facts: FACTS, listenAt, parts: [{ role: 'primary', set, identity }] })
  const [port] = (await primary.host.status()).ports
  const address = `https://${HOST}:${port}`

  const { bundle } = await registry.issue('dr', 's')
  const s = newCluster(3)
  const knock = { set, id: 's', identity: identityOf(bundle), address, facts: FACTS, receiver: RECEIVER }
  const nonce = bundle.nonce.reveal()
  const claimed = await ends(s.host.knock({ ...knock, nonce, what: 'claim' }), 'the claim')
  assert.deepEqual(claimed, { kind: 'package', package: KEY_PACKAGE, clockSkewMs: 0 })
  s.owner.toConfirm = { nonce, receiver: RECEIVER }
  const part = { ...partOf(bundle), addresses: [address] }
  await s.host.play({ facts: FACTS, listenAt: [], parts: [part] })
  await until(async () => {
    const { progress } = (await s.host.status()).primaries[0] ?? assert.fail('it follows nothing')
    return progress?.what === 'stream' && progress.index === (await primary.store.lastIndex())
  }, 'the secondary has all')
  assert.deepEqual(await s.store.roots(), { ...(await primary.store.roots()), index: (await s.store.roots()).index })

  const old = newCluster(4)
  const { bundle: other } = await registry.issue('dr', 't')
  await registry.letIn(other)
  const oldPart = { ...partOf(other), addresses: [address] }
  await old.host.play({ facts: { ...FACTS, version: '1.0.0' }, listenAt: [], parts: [oldPart] })
  const idleOf = async () => (await old.host.status()).primaries[0]?.idle
  await until(async () => (await idleOf())?.reason === 'version', 'the older cluster idles')
  assert.match((await idleOf())?.sentence ?? '', /upgrade the secondary first/)

  await primary.host.disconnect('dr', 's')
  await until(async () => (await s.host.status()).primaries[0]?.connection !== 'ready', 'the link is closed')
})

test('a request of 33 MiB and its answer pass over real links, beside small ones', async (t) => {
  const registry = new SetCluster(5)
  const set = { setId: await registry.begin('performance'), family: 'performance' } as const
  const { clock, timers } = steppedTime(NOW)
  const newHost = (seed: number) => {
    const store = newStore(seed)
    const owner = new MemoryLinkOwner({ store, clock, cluster: registry })
    const world = { clock, timers, random: registry.random, ticks: eventLoop, links: tlsLinks({ clock, timers }) }
    const host = new LinkHost({ world, owner, store, log: () => {}, counts: () => () => {} })
    t.after(() => host.play(SEALED))
    return { owner, host }
  }
  const primary = newHost(6)
  primary.owner.answers = async (_call, body) => body
  const identity = await serverIdentity(registry, set)
  const listenAt = [{ host: HOST, port: 0 }]
  await primary.host.play({ facts: FACTS, listenAt, parts: [{ role: 'primary', set, identity }] })
  const [port] = (await primary.host.status()).ports
  const { bundle } = await registry.issue('performance', 's')
  await registry.letIn(bundle)
  const s = newHost(7)
  const part = { ...partOf(bundle), addresses: [`https://${HOST}:${port}`] }
  await s.host.play({ facts: FACTS, listenAt: [], parts: [part] })
  const body = Buffer.alloc(MAX_ASK_BYTES, 'a')
  await until(async () => (await s.host.ask('carryOut', Buffer.alloc(0))).kind === 'answer', 'the link is there')
  const asked = [body, Buffer.from('small')].map((one) => s.host.ask('carryOut', one))
  const answers = await ends(Promise.all(asked), 'both answers')
  assert.deepEqual(
    answers.map((one) => one.kind === 'answer' && one.body.length),
    [body.length, 5],
  )
  assert.ok(answers[0]?.kind === 'answer' && answers[0].body.equals(body))
  await primary.host.disconnect('performance', 's')
  await until(async () => (await s.host.ask('carryOut', body)).kind === 'no-link', 'the link is closed')
})
