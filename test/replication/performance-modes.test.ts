// What a cluster in each pair of modes is asked, through its API: an operation that the pair does not allow is refused
// by its name, and changes nothing. Whole servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FAMILY_OPERATIONS,
  type FamilyOperation,
  refusalOfOperation,
} from '../../src/replication/set/family-operations.ts'
import { REPLICATION_FAMILIES } from '../../src/replication/set/peer-name.ts'
import type { ReplicationFamily } from '../../src/storage/peer-log.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const FAMILY = 'performance'
/** Filters have paths of their own, in one family. */
const OPERATIONS = FAMILY_OPERATIONS.filter((operation) => !operation.endsWith('-filter'))
const NO_TOKEN = { id: 'nobody', token: 'garbage', update_primary_addrs: [], dr_operation_token: 'any' }

/** A cluster for each pair of modes, dr first. */
async function clusters(): Promise<readonly (readonly [string, ReplicatedServer])[]> {
  const { servers, primary, secondary } = await performanceServers(68)
  const start = (name: string) => servers.start(name)
  const alone = await start('alone')
  const ofDr = await start('of-dr')
  await servers.enable(ofDr)
  const ofBoth = await start('of-both')
  for (const family of REPLICATION_FAMILIES) await servers.enable(ofBoth, family)
  const copy = await start('copy')
  const copyOfBoth = await start('copy-of-both')
  await servers.activate(ofDr, copy)
  await servers.activate(ofBoth, copyOfBoth)
  await servers.level(ofDr, copy)
  await servers.level(ofBoth, copyOfBoth)
  const third = await start('three')
  await servers.activate(primary, third, 'three', FAMILY)
  await servers.level(primary, third, 60_000, FAMILY)
  await servers.giveRootToken(primary, third)
  await servers.enable(third)
  return [
    ['disabled disabled', alone],
    ['disabled primary', primary],
    ['disabled secondary', secondary],
    ['primary disabled', ofDr],
    ['primary primary', ofBoth],
    ['primary secondary', third],
    ['secondary disabled', copy],
    ['secondary disabled', copyOfBoth],
  ]
}

/** What it says of itself in both families. */
const modesOf = async (of: ReplicatedServer): Promise<string> =>
  (await Promise.all(REPLICATION_FAMILIES.map((family) => of.status(family)))).map(({ mode }) => mode).join(' ')

/** Modes and sets, which no refusal changes. */
const standingOf = async (of: ReplicatedServer): Promise<unknown> =>
  Promise.all(
    REPLICATION_FAMILIES.map(async (family) => {
      const { mode, cluster_id: id, known_secondaries: known, primary_cluster_addr: at } = await of.status(family)
      return [mode, id, known, at]
    }),
  )

/** Operations that are refused there, by the rules (2.5, 2.6). */
function refusedIn(modes: string, family: ReplicationFamily): FamilyOperation[] {
  const [dr, performance] = modes.split(' ') as ['disabled', 'disabled']
  const parts = { dr: { mode: dr, isFenced: false }, performance: { mode: performance, isFenced: false } }
  return OPERATIONS.filter((operation) => refusalOfOperation(parts, family, operation) !== undefined)
}

/** The table of 2.6, and the edges that are none in 2.5, by hand: the rules above must come to it. */
const ALLOWED: Readonly<Record<string, Readonly<Record<ReplicationFamily, string>>>> = {
  'disabled disabled': { dr: 'enable key follow', performance: 'enable key follow' },
  'disabled primary': { dr: 'enable key', performance: 'primary' },
  'disabled secondary': { dr: 'enable key', performance: 'secondary' },
  'primary disabled': { dr: 'primary', performance: 'enable key' },
  'primary primary': { dr: 'primary', performance: 'primary' },
  'primary secondary': { dr: 'primary', performance: 'secondary' },
  'secondary disabled': { dr: 'secondary', performance: '' },
}
const NAMED: Readonly<Record<string, readonly FamilyOperation[]>> = {
  enable: ['primary/enable'],
  key: ['secondary/generate-public-key'],
  follow: ['secondary/enable'],
  primary: [
    'primary/demote',
    'primary/disable',
    'primary/secondary-token',
    'primary/revoke-secondary',
    'primary/rotate-authority',
  ],
  secondary: ['secondary/generate-public-key', 'secondary/promote', 'secondary/disable', 'secondary/update-primary'],
}

test('T68: the operations that a pair of modes allows', () => {
  for (const [modes, families] of Object.entries(ALLOWED)) {
    for (const family of REPLICATION_FAMILIES) {
      const named = families[family].split(' ').flatMap((name) => NAMED[name] ?? [])
      const allowed = OPERATIONS.filter((one) => !refusedIn(modes, family).includes(one))
      assert.deepEqual(allowed.toSorted(), named.toSorted(), `${modes} ${family}`)
    }
  }
})

test('T68: what a pair of modes does not allow in a family is a 400 that changes nothing, in each pair', async () => {
  let asked = 0
  for (const [modes, of] of await clusters()) {
    assert.equal(await modesOf(of), modes)
    const before = await standingOf(of)
    const isCopy = modes.startsWith('secondary')
    for (const family of REPLICATION_FAMILIES) {
      for (const operation of refusedIn(modes, family)) {
        const { status, body } = await of.call('POST', `sys/replication/${family}/${operation}`, NO_TOKEN)
        assert.equal(status, 400, `${modes} ${family} ${operation} ${JSON.stringify(body)}`)
        const says = isCopy ? /path disabled|in mode/ : /in mode|disable (that|dr) first/
        assert.match(JSON.stringify(body), says, `${modes} ${family} ${operation}`)
        asked++
      }
    }
    assert.deepEqual(await standingOf(of), before)
  }
  assert.ok(asked > 60, String(asked))
})

test('T68: a wrong method is a 405 in every pair of modes', async () => {
  for (const [modes, of] of await clusters()) {
    if (modes.startsWith('secondary')) continue
    for (const family of REPLICATION_FAMILIES) {
      for (const operation of OPERATIONS) {
        const { status } = await of.call('GET', `sys/replication/${family}/${operation}`)
        assert.equal(status, 405, `${modes} ${family} ${operation}`)
      }
    }
  }
})

test('2.6: while a cluster is copied what its mode does not allow is a 400 too, what has to wait a 503', async () => {
  const servers = new ReplicatedServers(681)
  const [primary, copied] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, copied, 'two', FAMILY)
  servers.cut(primary, copied)
  assert.equal(await modesOf(copied), 'disabled bootstrapping')
  await servers.giveRootToken(primary, copied)
  const before = await standingOf(copied)
  const waits = ['secondary/promote', 'secondary/update-primary']
  for (const family of REPLICATION_FAMILIES) {
    for (const operation of OPERATIONS) {
      const isAllowed = family === 'dr' && operation === 'secondary/generate-public-key'
      if (isAllowed || operation === 'secondary/disable') continue
      const { status, body } = await copied.call('POST', `sys/replication/${family}/${operation}`, NO_TOKEN)
      const expected = family === FAMILY && waits.includes(operation) ? 503 : 400
      assert.equal(status, expected, `${family} ${operation} ${JSON.stringify(body)}`)
    }
  }
  assert.deepEqual(await standingOf(copied), before)
  assert.equal((await copied.call('GET', 'sys/mounts')).status, 503)
  await copied.must('POST', `sys/replication/${FAMILY}/secondary/disable`)
  assert.equal(await modesOf(copied), 'disabled disabled')
})

test('2.6: while a cluster is copied for disaster recovery, it is nothing in the other family', async () => {
  const servers = new ReplicatedServers(682)
  const [primary, copied] = [await servers.start('one'), await servers.start('two')]
  for (const family of REPLICATION_FAMILIES) await servers.enable(primary, family)
  await servers.activate(primary, copied)
  servers.cut(primary, copied)
  assert.equal(await modesOf(copied), 'bootstrapping disabled')
  const before = await standingOf(copied)
  for (const operation of OPERATIONS) {
    const { status, body } = await copied.call('POST', `sys/replication/${FAMILY}/${operation}`, NO_TOKEN)
    assert.equal(status, 400, `${operation} ${JSON.stringify(body)}`)
    assert.match(JSON.stringify(body), /path disabled/, operation)
  }
  assert.deepEqual(await standingOf(copied), before)
  servers.heal(primary, copied)
  await servers.level(primary, copied)
  assert.equal(await modesOf(copied), 'secondary disabled')
})

test('2.6, 2.7: disabled and enabled in one family, a cluster stays what it is in the other', async () => {
  const { servers, primary, secondary } = await performanceServers(683)
  const standIn = await servers.start('stand-in')
  await servers.activate(primary, standIn)
  await servers.level(primary, standIn)
  const set = async (of: ReplicatedServer, family: ReplicationFamily) => (await of.status(family)).cluster_id
  const [ofDr, ofPerformance] = [await set(primary, 'dr'), await set(primary, FAMILY)]
  assert.notEqual(ofDr, ofPerformance)
  await primary.must('POST', 'sys/replication/dr/primary/disable')
  await servers.time.pass(2_000)
  assert.equal(await modesOf(primary), 'disabled primary')
  assert.equal(await set(primary, FAMILY), ofPerformance)
  assert.ok(await servers.isLevel(primary, secondary, FAMILY))
  await primary.must('POST', 'sys/replication/dr/primary/enable', {})
  assert.notEqual(await set(primary, 'dr'), ofDr)
  await servers.time.pass(120_000)
  assert.equal((await standIn.status()).state, 'idle')
  // A performance secondary has a set of its own for disaster recovery, which ends without it.
  await servers.enable(secondary)
  assert.equal(await modesOf(secondary), 'primary secondary')
  assert.ok(![ofDr, ofPerformance, await set(primary, 'dr')].includes(await set(secondary, 'dr')))
  await secondary.must('POST', `sys/replication/${FAMILY}/secondary/disable`)
  assert.equal(await modesOf(secondary), 'primary disabled')
})
