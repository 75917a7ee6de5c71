// T35 with processes, files and real TLS: after another authority has followed that of the set, leaves of both prove
// their clusters, through kills of either side. What years bring is seen in virtual time: test/replication.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const temporary = temporaryDirectory()
let [primary, secondary]: Cluster[] = []
const both = () => [primary as Cluster, secondary as Cluster] as const

before(async () => {
  primary = await Cluster.make('one', temporary.path)
  secondary = await Cluster.make('two', temporary.path)
  await activate(primary, secondary)
  await levelled(primary, secondary)
})

after(async () => {
  for (const cluster of both()) await cluster.end()
  temporary.cleanUp()
})

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

const links = async (cluster: Cluster): Promise<number | undefined> =>
  (await cluster.metrics()).get('keywright_replication_links_total{family="dr"}')

/** How often the primary has said that another authority followed. */
const changes = (cluster: Cluster): number => cluster.output().split('was followed by another one').length - 1

async function rotate(): Promise<void> {
  const [one] = both()
  const before = changes(one)
  await one.must('POST', 'sys/replication/dr/primary/rotate-authority')
  await until(async () => changes(one) > before, 'another authority signs')
}

test('T35: another authority follows under writes, and no link ends; both prove themselves after kills', async () => {
  const [one, two] = both()
  await levelled(one, two)
  const linked = await links(one)
  let isOver = false
  let written = 0
  const writing = (async () => {
    for (; !isOver; written++) await one.must('PUT', `sys/policies/acl/p${written}`, POLICY)
  })()
  try {
    await rotate()
  } finally {
    isOver = true
    await writing
  }
  await levelled(one, two)
  assert.ok(written > 0 && (linked ?? 0) > 0, `${written} writes over ${linked} links`)
  assert.deepEqual([linked, await links(one)], [linked, linked])
  // The node of the primary has a leaf of the new authority, the secondary one of the old.
  for (const killed of [[one], [two], [one, two]]) {
    for (const each of killed) await each.kill()
    for (const each of killed) await each.restart()
    await one.must('PUT', `sys/policies/acl/after${killed.length}`, POLICY)
    await levelled(one, two)
  }
})
