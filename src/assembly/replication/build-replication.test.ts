// What is left of the links where a server is sealed while they are being opened.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { primaryOfSet } from '../../../test/fixtures/set-cluster.ts'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import type { LinkIdentity } from '../../lib/links.ts'
import type { LinkState } from '../../replication/link/link-sides.ts'
import { EARLY_MS } from '../../replication/set/certificates.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { NO_LINKS } from '../../threads/late-links.ts'
import { buildReplication } from './build-replication.ts'

const DAY_MS = 86_400_000
type Parts = Parameters<typeof buildReplication>
const invalidation = { register: () => {} }

const identitiesIn = ({ parts }: LinkState): readonly LinkIdentity[] => parts.map(({ identity }) => identity)

test('a key that was made while the server was being sealed is told to no link, and is not kept', async () => {
  const { cluster } = await primaryOfSet(61)
  const played: LinkState[] = []
  let held = Promise.resolve()
  const begun = Promise.withResolvers<void>()
  const view: Pick<View, 'transaction'> = {
    transaction: async (work) => {
      begun.resolve()
      await held
      return cluster.view.transaction(work)
    },
  }
  const control = {
    play: async (state: LinkState) => void played.push(state),
    status: async () => ({ isSilent: false, ports: [], faults: [], secondaries: [], primaries: [] }),
  }
  const world = {
    clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 },
    random: cluster.random,
    timers: { after: () => ({ cancel: () => {} }) },
  }
  const links = { control, primaryApi: {}, listenAt: [], clusterAddress: () => '' }
  const [parts, rooms, seal] = [
    { world, store: {}, log: () => {}, links, facts: { apiAddress: '' } },
    { storage: { view: () => view, barrier: {} }, services: { treeChecks: {} }, invalidation },
    { seal: { status: () => ({ cluster: { id: 'a-node' } }), id: '' } },
  ] as unknown as Parts
  const room = buildReplication(parts, rooms, seal)

  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  const opening = room.open()
  await begun.promise
  // As a seal does it: the work ends first.
  room.close()
  const forgotten = room.forget()
  resolve()
  await Promise.all([opening, forgotten])
  assert.deepEqual(played.map(identitiesIn), [[]])

  cluster.nowMs += DAY_MS
  await room.open()
  const first = identitiesIn(played.at(-1) ?? assert.fail())
  const { notBeforeMs } = readCertificate(first[0]?.certificate ?? assert.fail())
  assert.equal(notBeforeMs, cluster.nowMs - EARLY_MS, 'it is not the one that was made then')
  await room.open()
  assert.equal(identitiesIn(played.at(-1) ?? assert.fail())[0], first[0], 'an open server keeps its leaf')
  room.close()
  await room.forget()
  await room.open()
  assert.notEqual(identitiesIn(played.at(-1) ?? assert.fail())[0], first[0])
  room.close()
})

for (const where of ['the records', 'the links', 'their status'] as const) {
  test(`links that could not be opened for ${where} are opened soon`, async () => {
    const { cluster } = await primaryOfSet(62)
    const time = steppedTime(cluster.nowMs)
    let fails = true
    const failing = async (here: typeof where): Promise<void> => {
      if (fails && here === where) throw new Error('not now')
    }
    const played: LinkState[] = []
    const view: Pick<View, 'transaction'> = {
      transaction: async (work) => {
        await failing('the records')
        return cluster.view.transaction(work)
      },
    }
    const control = {
      play: async (state: LinkState) => {
        await failing('the links')
        played.push(state)
      },
      status: async () => ({ ...NO_LINKS, isSilent: fails && where === 'their status', ports: [8_201] }),
    }
    const links = { control, primaryApi: {}, listenAt: [], clusterAddress: (port?: number) => `port ${port}` }
    const world = {
      clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 },
      random: cluster.random,
      timers: time.timers,
    }
    const [parts, rooms, seal] = [
      { world, store: { retained: async () => ({ holds: [] }) }, log: () => {}, links, facts: { apiAddress: '' } },
      { storage: { view: () => view, barrier: {} }, services: { treeChecks: {} }, invalidation },
      { seal: { status: () => ({ cluster: { id: 'a-node' } }), id: '' } },
    ] as unknown as Parts
    const room = buildReplication(parts, rooms, seal)
    await room.open()
    await time.advance(20_000)
    const told = () => played.at(-1)?.facts.clusterAddresses
    assert.notDeepEqual(told(), ['port 8201'])
    fails = false
    await time.advance(70_000)
    assert.deepEqual(told(), ['port 8201'])
    const count = played.length
    await time.advance(3_600_000)
    assert.equal(played.length, count, 'and then left alone')
    room.close()
  })
}
