// When a primary that hands over is written to again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { VirtualTime } from '../../../test/simulator/virtual-time.ts'
import { demotePrimary } from '../../replication/set/changing-hands.ts'
import { clearHandingOver } from '../../replication/set/handing-over-note.ts'
import { askerOf, HandingOver, LEASE_MS, OPERATOR, PROMOTION_MS } from './handing-over.ts'
import { storedRole } from './stored-role.ts'

/** A primary whose roles are noted as it takes them over: true where it writes nothing. */
async function stage() {
  const cluster = new SetCluster(1)
  await cluster.begin('dr')
  const time = new VirtualTime(NOW, () => 0)
  const roles: boolean[] = []
  const isHandingOver = async () => (await cluster.run(storedRole))?.role.isHandingOver === true
  const start = (): HandingOver =>
    new HandingOver({
      view: cluster.view,
      logEnd: async () => 7 + roles.length,
      world: time.newThread(),
      log: () => {},
      changed: async () => void roles.push(await isHandingOver()),
    })
  return { cluster, time, roles, start, isHandingOver }
}

test('a primary writes nothing until the one that asked takes it back', async () => {
  const { roles, start } = await stage()
  const handingOver = start()
  await handingOver.end('two')
  assert.deepEqual(roles, [])
  await handingOver.begin('two')
  assert.deepEqual(roles, [true])
  await handingOver.end('two')
  assert.deepEqual(roles, [true, false])
})

test('what a secondary has counts for it only where it was written behind the lease', async () => {
  const { time, roles, start } = await stage()
  const handingOver = start()
  const places: number[] = [handingOver.overAt]
  const note = (): unknown => places.push(handingOver.overAt)
  await handingOver.goOn()
  note()
  await handingOver.begin('two')
  note()
  await time.pass(LEASE_MS - 1)
  note()
  await time.pass(1)
  note()
  const begun = handingOver.begin('two')
  note()
  await begun
  await handingOver.end('two')
  note()
  assert.deepEqual(places, [Infinity, 7, Infinity, Infinity, 8, Infinity, 10])
  assert.deepEqual(roles, [true, false, true, false])
})

test('it writes nothing as long as another one counts on that', async () => {
  const { roles, start } = await stage()
  const handingOver = start()
  await handingOver.begin('two')
  await handingOver.begin('three')
  await handingOver.end('three')
  await handingOver.end('four')
  assert.deepEqual(roles, [true, true])
  await handingOver.end('two')
  assert.deepEqual(roles, [true, true, false])
})

test('secondaries of the two families are told apart, whatever their ids', async () => {
  const { roles, start } = await stage()
  const handingOver = start()
  await handingOver.begin(askerOf('dr', 'two'))
  await handingOver.begin(askerOf('performance', 'two'))
  await handingOver.end(askerOf('performance', 'two'))
  assert.deepEqual([roles, handingOver.isAskedBy('dr')], [[true, true], true])
  await handingOver.end(askerOf('dr', 'two'))
  assert.deepEqual([roles, handingOver.isAskedBy('dr')], [[true, true, false], false])
})

test('a demotion for performance leaves the secondary for disaster recovery what it counts on', async () => {
  const { cluster, time, roles, start, isHandingOver } = await stage()
  await cluster.begin('performance')
  const handingOver = start()
  await handingOver.begin(OPERATOR)
  await handingOver.begin(askerOf('performance', 'three'))
  await handingOver.begin(askerOf('dr', 'two'))
  await handingOver.demoted('performance')
  assert.deepEqual([await isHandingOver(), handingOver.isOn], [true, true])
  await handingOver.end(askerOf('dr', 'two'))
  assert.deepEqual([await isHandingOver(), handingOver.isOn], [false, false])
  await handingOver.begin(OPERATOR)
  await handingOver.begin(askerOf('performance', 'three'))
  await handingOver.demoted('performance')
  assert.deepEqual([await isHandingOver(), handingOver.isOn], [false, false])
  await time.pass(LEASE_MS)
  assert.equal(roles.at(-1), false)
})

// PERFORMANCE=1 SEED=810012634: restarted and demoted for performance, it wrote while its DR secondary was promoted.
test('after a restart a secondary for disaster recovery may count on it: a demotion takes nothing back', async () => {
  const { cluster, start, isHandingOver } = await stage()
  await cluster.begin('performance')
  const before = start()
  await before.begin(askerOf('dr', 'two'))
  before.drop()
  const handingOver = start()
  await handingOver.goOn()
  assert.equal(handingOver.isAskedBy('dr'), true)
  await handingOver.begin(OPERATOR)
  await handingOver.demoted('performance')
  assert.deepEqual([await isHandingOver(), handingOver.isOn], [true, true])
})

test('it writes again when nobody is heard of for longer than a promotion takes', async () => {
  const { time, roles, start } = await stage()
  const handingOver = start()
  await handingOver.begin('two')
  await time.pass(PROMOTION_MS)
  await handingOver.begin('three')
  await time.pass(LEASE_MS - 1)
  assert.deepEqual([roles, handingOver.isOn], [[true, true], true])
  await time.pass(1)
  assert.deepEqual([roles, handingOver.isOn], [[true, true, false], false])
})

test('a restart changes nothing, and the time begins again', async () => {
  const { time, roles, start, isHandingOver } = await stage()
  const before = start()
  await before.begin('two')
  await time.pass(LEASE_MS - 1)
  before.drop()
  const handingOver = start()
  assert.equal(await isHandingOver(), true, 'before anything of it runs')
  await handingOver.goOn()
  await time.pass(LEASE_MS - 1)
  assert.deepEqual(roles, [true])
  await time.pass(1)
  assert.deepEqual(roles, [true, false])
  await start().goOn()
  await time.pass(LEASE_MS)
  assert.deepEqual(roles, [true, false], 'there is no note any more')
})

test('the note goes with the role, and a cluster that is no primary has none', async () => {
  const { cluster, start, isHandingOver } = await stage()
  const handingOver = start()
  await handingOver.begin('two')
  await cluster.run((tx) => demotePrimary(tx, 'dr', { historyId: Buffer.alloc(16), nowMs: NOW }))
  handingOver.drop()
  assert.equal(await isHandingOver(), false)
  await handingOver.begin('')
  assert.equal(await isHandingOver(), false)
  await cluster.run(async (tx) => clearHandingOver(tx))
})
