// The disk of one of the two is full: the other one goes on, and both do when there is space.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { cannotMount, type SmallDisk, smallDisk } from '../../fixtures/small-disk.ts'
import { until } from '../../fixtures/until.ts'

/** More than the journal may grow to and the data beside it, 16 in all: a disk that is full of these stays so. */
const DISK_MEBIBYTES = 40
const STORAGE_FULL = 507
const policyOf = (bytes: number): object => ({ policy: `path "a" { capabilities = ["read"] } # ${'x'.repeat(bytes)}` })

async function withClusters(
  onSmall: 'one' | 'two',
  work: (one: Cluster, two: Cluster, disk: SmallDisk) => Promise<void>,
) {
  const temporary = temporaryDirectory()
  const disk = smallDisk(DISK_MEBIBYTES)
  const clusters: Cluster[] = []
  try {
    for (const name of ['one', 'two'])
      clusters.push(await Cluster.make(name, name === onSmall ? disk.path : temporary.path))
    const [one, two] = clusters as [Cluster, Cluster]
    await work(one, two, disk)
  } finally {
    for (const cluster of clusters) await cluster.end()
    disk.unmount()
    temporary.cleanUp()
  }
}

const write = (cluster: Cluster, name: string, bytes: number) =>
  cluster.call('PUT', `sys/policies/acl/${name}`, policyOf(bytes))

test('T12: a secondary whose disk is full says so, and goes on where it stopped when there is space', {
  skip: cannotMount(),
}, async () => {
  await withClusters('two', async (one, two, disk) => {
    // A copy of some MB, which is slow enough to meet the full disk in its middle.
    for (let each = 0; each < 60; each++) await write(one, `p${each}`, 100_000)
    one.proxy.set({ bytesPerSecond: 2_000_000 })
    await activate(one, two)
    disk.fill()
    await until(async () => {
      disk.fill()
      return (await two.status()).idle_reason === 'storage_full'
    }, 'the secondary says that its disk is full')
    assert.equal((await write(one, 'meanwhile', 100)).status, 204, 'the primary goes on')
    one.proxy.heal()
    disk.release()
    // It would try again by itself after half a minute (link-host.test.ts).
    await two.kill()
    await two.restart()
    await levelled(one, two)
    assert.equal((await one.status()).merkle_root, (await two.status()).merkle_root)
  })
})

test('T38: a primary whose disk is full refuses writes, its secondary stays, and both go on when there is space', {
  skip: cannotMount(),
}, async () => {
  await withClusters('one', async (one, two, disk) => {
    await activate(one, two)
    await levelled(one, two)
    for (let each = 0, refused = 0; refused < 5; each++) {
      assert.ok(each < 10_000, 'the disk becomes full')
      disk.fill()
      const { status } = await write(one, `p${each % 50}`, 50_000)
      assert.ok(status === 204 || status === STORAGE_FULL, `${status}`)
      if (status === STORAGE_FULL) refused++
    }
    assert.equal((await two.status()).mode, 'secondary')
    disk.release()
    await until(async () => (await write(one, 'afterwards', 100)).status === 204)
    await levelled(one, two)
    assert.equal((await one.status()).merkle_root, (await two.status()).merkle_root)
  })
})
