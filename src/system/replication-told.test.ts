import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import {
  CONNECTED,
  PRIMARY_TOLD,
  SECONDARY_LINK,
  SECONDARY_TOLD,
  SET_ID,
  SINCE_MS,
} from '../../test/fixtures/replication-double.ts'
import type { PrimaryStatus } from '../replication/link/link-sides.ts'
import type { SinkProgress } from '../replication/sink/sink-parts.ts'
import type { FamilyTold } from './replication-operations.ts'
import { toldMembers, treeMembers } from './replication-told.ts'

const NOTHING = { addresses: false, version: false }
const NOW_MS = SINCE_MS + 60_000
const members = (mode: 'bootstrapping' | 'primary' | 'secondary', told: FamilyTold | undefined, withheld = NOTHING) =>
  toldMembers(mode, told, NOW_MS, withheld) as Readonly<Record<string, unknown>>

const NOT_YET = {
  ssct_generation_counter: 0,
}
const PEER = {
  api_address: 'https://peer.test:8200',
  cluster_address: 'https://peer.test:8201',
  connection_status: 'connected',
  last_heartbeat: '2025-12-01T10:01:00Z',
  last_heartbeat_duration_ms: '1',
  clock_skew_ms: '-2',
  replication_primary_canary_age_ms: '640',
}

test('a primary tells its set, and each secondary that it has seen', () => {
  assert.deepEqual(members('primary', PRIMARY_TOLD), {
    ...NOT_YET,
    cluster_id: SET_ID,
    program_version: '1.2.3',
    state: 'running',
    fenced: false,
    primary_cluster_addr: '',
    known_secondaries: ['site-b', 'site-c'],
    secondaries: [{ ...PEER, node_id: 'site-b' }],
  })
})

test('a secondary tells who it is, whom it follows, and how far it is behind', () => {
  assert.deepEqual(members('secondary', SECONDARY_TOLD), {
    ...NOT_YET,
    cluster_id: SET_ID,
    program_version: '1.2.3',
    state: 'stream-wals',
    connection_state: 'ready',
    secondary_id: 'site-b',
    primary_cluster_addr: 'https://first.test:8201',
    known_primary_cluster_addrs: ['https://peer.test:8201', 'https://other.test:8201'],
    primaries: [PEER],
    last_start: '2025-12-01T10:00:00Z',
    lag_ms: '12',
    lag_entries: 3,
    server_version: '1.2.3',
  })
})

test('one that is bootstrapping tells the same, and how far its copy is', () => {
  const progress = { what: 'copy', index: 223, entries: 40, totalEntries: 100 } as const
  const told = { ...SECONDARY_TOLD, primary: { ...SECONDARY_LINK, progress } }
  const same = members('secondary', told)
  assert.deepEqual(members('bootstrapping', told), same)
  assert.equal(same.state, 'merkle-sync')
  assert.deepEqual(same.merkle_sync_progress, { sync_progress: 40, sync_total_keys: 100 })
  assert.equal(same.lag_entries, 0)
})

test('a fenced primary says so, and its state is idle', () => {
  const { state } = PRIMARY_TOLD
  const shown = members('primary', { ...PRIMARY_TOLD, state: { ...state, isFenced: true } })
  assert.deepEqual([shown.state, shown.fenced, shown.idle_reason], ['idle', true, 'fenced'])
  assert.match(String(shown.idle_sentence), /demote it with "primary\/demote"/)
})

test('a promoted cluster tells where the log of its former primary ended for it', () => {
  const promotedFrom = { historyId: Buffer.from('cd01', 'hex'), index: 220 }
  const shown = members('primary', { ...PRIMARY_TOLD, promotedFrom })
  assert.deepEqual(shown.promoted_from, { history_id: 'cd01', index: 220 })
})

test('a primary whose cluster port cannot be opened says so, without addresses where those are withheld', () => {
  const told = { ...PRIMARY_TOLD, portFaults: ['The cluster port one:8201 is in use'] }
  const shown = members('primary', told)
  assert.deepEqual([shown.state, shown.idle_reason, shown.idle_sentence], ['idle', 'port', told.portFaults[0]])
  const withheld = members('primary', told, { addresses: true, version: false })
  assert.deepEqual([withheld.state, withheld.idle_reason, withheld.idle_sentence], ['idle', 'port', undefined])
})

test('a primary whose links could not be asked says so', () => {
  const shown = members('primary', { ...PRIMARY_TOLD, secondaries: [], isSilent: true })
  assert.deepEqual([shown.state, shown.idle_reason], ['idle', 'unknown'])
  assert.match(String(shown.idle_sentence), /Ask again soon/)
})

test('peers that never sent a heartbeat have the values that stand for never', () => {
  const silent = {
    ...CONNECTED,
    isConnected: false,
    apiAddress: '',
    lastBeatMs: undefined,
    roundTripMs: undefined,
    clockSkewMs: undefined,
    canaryAgeMs: undefined,
  }
  const { primaries } = members('secondary', { ...SECONDARY_TOLD, primary: { ...SECONDARY_LINK, peers: [silent] } })
  assert.deepEqual(primaries, [
    {
      api_address: '',
      cluster_address: 'https://peer.test:8201',
      connection_status: 'disconnected',
      last_heartbeat: '0001-01-01T00:00:00Z',
      last_heartbeat_duration_ms: '0',
      clock_skew_ms: '0',
      replication_primary_canary_age_ms: '0',
    },
  ])
})

const idle = { reason: 'version', sentence: 'The primary at https://peer.test:8201 is older' }
const difference = (entries: number): SinkProgress => ({ what: 'difference', index: 5, entries, totalEntries: 0 })
const beat = (agoMs: number) => [{ ...CONNECTED, isConnected: false, lastBeatMs: NOW_MS - agoMs }]
const STATES: readonly { what: string; link: Partial<PrimaryStatus>; state: string }[] = [
  { what: 'a comparison that has found no value yet', link: { progress: difference(0) }, state: 'merkle-diff' },
  { what: 'a comparison that fetches values', link: { progress: difference(1) }, state: 'merkle-sync' },
  { what: 'a link over which nothing came yet', link: { progress: undefined }, state: 'merkle-diff' },
  { what: 'a link on which it does not go on', link: { idle }, state: 'idle' },
  { what: 'no link, until someone looks at it', link: { connection: 'idle', idle, peers: beat(0) }, state: 'idle' },
  {
    what: 'a link lost less than ten seconds ago',
    link: { connection: 'transient_failure', idle, peers: beat(9_999) },
    state: 'stream-wals',
  },
  {
    what: 'a link lost ten seconds ago',
    link: { connection: 'transient_failure', idle, peers: beat(10_000) },
    state: 'idle',
  },
  { what: 'a link that is made anew', link: { connection: 'connecting', peers: beat(1) }, state: 'stream-wals' },
  { what: 'the first link, that is made', link: { connection: 'connecting', progress: undefined }, state: 'idle' },
  { what: 'a primary that was never heard', link: { connection: 'connecting', peers: [] }, state: 'idle' },
]
for (const { what, link, state } of STATES) {
  test(`with ${what} the state of a secondary is ${state}`, () => {
    const shown = members('secondary', { ...SECONDARY_TOLD, primary: { ...SECONDARY_LINK, ...link } })
    assert.equal(shown.state, state)
    assert.equal(shown.connection_state, link.connection ?? 'ready')
    assert.deepEqual([shown.idle_reason, shown.idle_sentence], [link.idle?.reason, link.idle?.sentence])
    assert.equal(
      Object.hasOwn(shown, 'merkle_sync_progress'),
      state.startsWith('merkle') && 'progress' in link && link.progress !== undefined,
    )
  })
}

test('a secondary whose primary is not known says what it lacks', () => {
  const { primary: _, ...told } = SECONDARY_TOLD
  const shown = members('secondary', { ...told, identity: undefined, primary: undefined })
  assert.deepEqual(shown, {
    ...NOT_YET,
    cluster_id: SET_ID,
    program_version: '1.2.3',
    state: 'idle',
    connection_state: 'idle',
    idle_reason: 'no_primary',
    idle_sentence:
      'This cluster follows no primary: "secondary/update-primary" gives it one, and "secondary/promote" makes it one',
    secondary_id: '',
    primary_cluster_addr: '',
    known_primary_cluster_addrs: [],
    primaries: [],
    last_start: '2025-12-01T10:00:00Z',
  })
})

test('until the primary told its addresses, the one of the token is all that is known', () => {
  const { identity } = SECONDARY_TOLD
  const told = { ...SECONDARY_TOLD, identity: identity && { ...identity, knownAddresses: [] } }
  assert.deepEqual(members('secondary', told).known_primary_cluster_addrs, ['https://first.test:8201'])
})

test('a listener that withholds addresses and versions withholds them here too', () => {
  const withheld = { addresses: true, version: true }
  const link = { ...SECONDARY_LINK, connection: 'idle', idle } as const
  const named = { ...PRIMARY_TOLD, state: { ...PRIMARY_TOLD.state, clusterAddress: 'https://own.test:8201' } }
  assert.equal(members('primary', named).primary_cluster_addr, 'https://own.test:8201')
  const all = [
    members('primary', named, withheld),
    members('secondary', { ...SECONDARY_TOLD, primary: link }, withheld),
    members('bootstrapping', { ...SECONDARY_TOLD, primary: link }, withheld),
  ]
  assert.doesNotMatch(JSON.stringify(all), /\.test|1\.2\.3/)
  assert.deepEqual(
    all.map((one) => one.idle_reason),
    [undefined, 'version', 'version'],
  )
})

test('where the links tell nothing the state is idle, and says so', () => {
  const untold = {
    ...NOT_YET,
    state: 'idle',
    idle_reason: 'unknown',
    idle_sentence: 'What the links do could not be found out: the log of this server has the cause',
  }
  assert.deepEqual(members('primary', undefined), untold)
  assert.deepEqual(members('secondary', undefined), { ...untold, connection_state: 'idle' })
})

test('T46: the tree tells what was found in it last, and how far a reindex is', () => {
  const found = { buckets: 0, entries: 0, checkedAtMs: null, reindexedAtMs: null, reindex: undefined }
  const never = {
    corrupted_merkle_tree: false,
    last_corruption_check_epoch: '-62135596800',
    last_reindex_epoch: '0',
  }
  assert.deepEqual(treeMembers(found, undefined), never)
  const since = String(Math.floor(SINCE_MS / 1000))
  assert.deepEqual(treeMembers(found, SINCE_MS), { ...never, last_reindex_epoch: since })
  for (const wrong of [{ buckets: 1 }, { entries: 1 }]) {
    const shown = treeMembers({ ...found, ...wrong, checkedAtMs: 1_764_583_299_999 }, undefined)
    assert.deepEqual(shown, { ...never, corrupted_merkle_tree: true, last_corruption_check_epoch: '1764583299' })
  }
  const reindex = { stage: 'building', done: 40, total: 100 } as const
  assert.deepEqual(treeMembers({ ...found, reindexedAtMs: SINCE_MS + 2_000, reindex }, SINCE_MS), {
    ...never,
    last_reindex_epoch: String(Math.floor(SINCE_MS / 1000) + 2),
    reindex_in_progress: true,
    reindex_stage: 'building',
    reindex_building_progress: 40,
    reindex_building_total: 100,
  })
})

test('a primary shows the secondaries that writes wait for, and since when', () => {
  const synchronous = [
    { id: 'site-b', state: 'away', sinceMs: NOW_MS },
    { id: 'site-c', state: 'unknown', sinceMs: undefined },
  ] as const
  const shown = members('primary', { ...PRIMARY_TOLD, synchronous }) as { readonly synchronous: readonly object[] }
  const since = `${new Date(NOW_MS).toISOString().slice(0, 19)}Z`
  assert.deepEqual(shown.synchronous, [
    { id: 'site-b', state: 'away', since },
    { id: 'site-c', state: 'unknown' },
  ])
})
