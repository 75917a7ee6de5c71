// The picture of replication in every mode, to the letter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, parseExactText } from './exact-json.ts'
import type { Style } from './picture.ts'
import { formatReplication } from './replication-picture.ts'
import { type FamilyName, needsAttention, remainingMs } from './replication-status.ts'

const PLAIN: Style = { isTerminal: false, isUnicode: false, hasColour: false, width: 100 }
const NOW = Date.parse('2026-11-20T10:06:00Z')
const SET = '7a1c6c1e-0000-4000-8000-000000000001'
const ROOT = 'ab'.repeat(32)
const MIB = 1024 * 1024

const LINK = {
  api_address: 'https://b:8200',
  cluster_address: 'https://b:8201',
  clock_skew_ms: '0',
  connection_status: 'connected',
  last_heartbeat: '2026-11-20T10:05:56Z',
  last_heartbeat_duration_ms: '1',
  replication_primary_canary_age_ms: '640',
}
/** What the server says of a peer that it has not heard since it started. */
const NEVER_HEARD = {
  ...LINK,
  last_heartbeat: '0001-01-01T00:00:00Z',
  last_heartbeat_duration_ms: '0',
  replication_primary_canary_age_ms: '0',
}
const PRIMARY = {
  mode: 'primary',
  state: 'running',
  cluster_id: SET,
  epoch: 1,
  primary_cluster_addr: '',
  known_secondaries: ['site-b'],
  secondaries: [{ ...LINK, node_id: 'site-b' }],
  last_wal: 223,
  last_dr_wal: 223,
  merkle_root: ROOT,
  corrupted_merkle_tree: false,
  retained_wal_from: 101,
  retained_wal_bytes: 12 * MIB,
  retained_for: [
    { name: 'dr/site-b', kind: 'secondary', after: 220, bytes: 512, max_bytes: 10 * 1024 * MIB, broken: false },
  ],
}
const SECONDARY = {
  mode: 'secondary',
  state: 'stream-wals',
  connection_state: 'ready',
  cluster_id: SET,
  epoch: 1,
  secondary_id: 'site-b',
  primary_cluster_addr: 'https://a1:8201',
  known_primary_cluster_addrs: ['https://a1:8201', 'https://a2:8201'],
  primaries: [{ ...LINK, api_address: 'https://a1:8200', cluster_address: 'https://a1:8201' }],
  last_remote_wal: 223,
  lag_ms: '0',
  lag_entries: 0,
  merkle_root: ROOT,
  retained_wal_from: 101,
  retained_wal_bytes: 3 * MIB,
  retained_for: [],
}

const picture = (status: Json, leftMs?: number, family: FamilyName = 'dr', style = PLAIN): string =>
  formatReplication({ family, status, remainingMs: leftMs, nowMs: NOW }, style)

test('a primary shows which secondaries a filter is for, and a secondary that one is', () => {
  const filters = [
    { id: 'site-b', mode: 'deny', paths: 2 },
    { id: 'a-region-of-its-own', mode: 'allow', paths: 1 },
  ]
  const primary = picture({ ...PRIMARY, retained_for: [], paths_filters: filters }, undefined, 'performance')
  const lines = [
    '  Filters       `keywright operator replication filter show` says what is filtered now',
    '    site-b      deny, 2 paths',
    '    a-region-of-its-own',
    '                allow, 1 path',
  ]
  assert.ok(primary.includes(`\n${lines.join('\n')}\n`), primary)
  assert.doesNotMatch(picture(PRIMARY), /Filters/)
  const secondary = picture({ ...SECONDARY, filtered: true }, undefined, 'performance')
  assert.match(secondary, /\n {2}Filtered {6}the primary keeps mounts or namespaces from it: `keywright operator/)
  assert.doesNotMatch(picture(SECONDARY), /Filtered/)
})

const PICTURES: readonly {
  readonly name: string
  readonly status: Json
  readonly leftMs?: number
  readonly attention: boolean
  readonly shows: string
}[] = [
  {
    name: 'disabled',
    status: { mode: 'disabled' },
    attention: false,
    shows: '* Disaster recovery: disabled\n',
  },
  {
    name: 'bootstrapping',
    status: { mode: 'bootstrapping' },
    attention: false,
    shows: `* Disaster recovery: bootstrapping
                It is being set up as a secondary: look again
`,
  },
  {
    name: 'bootstrapping, while the copy runs',
    status: {
      mode: 'bootstrapping',
      state: 'merkle-sync',
      connection_state: 'ready',
      secondary_id: 'site-b',
      primary_cluster_addr: 'https://a1:8201',
      known_primary_cluster_addrs: ['https://a1:8201'],
      primaries: [],
      merkle_sync_progress: { sync_progress: 1000, sync_total_keys: 4000 },
    },
    leftMs: 90_000,
    attention: false,
    shows: `* Disaster recovery: bootstrapping site-b, merkle-sync
                It is being set up as a secondary: look again
  Primary       https://a1:8201, link: ready
  Copying       ######..................  1000 of 4000 keys, about 2 min
`,
  },
  {
    name: 'a primary that nobody follows yet',
    status: { ...PRIMARY, known_secondaries: [], secondaries: [], retained_for: [] },
    attention: false,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Secondaries   none: \`keywright operator replication secondary-token\` lets one in
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a primary that is followed',
    status: PRIMARY,
    attention: false,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Secondaries   1 of 1 connected
    site-b      connected, up to date as of 640 ms ago, heard 4 s ago, round trip 1 ms
  Log           12.0 MiB, from change 101, needed by
    dr/site-b   512 B of at most 10.0 GiB, behind change 220
`,
  },
  {
    name: 'a primary with secondaries that are away, behind, or never came, and a log that was too short',
    status: {
      ...PRIMARY,
      primary_cluster_addr: 'https://keys.example.org:8201',
      known_secondaries: ['site-b', 'site-c', 'a-secondary-of-a-long-name'],
      secondaries: [
        {
          ...LINK,
          node_id: 'site-b',
          replication_primary_canary_age_ms: '95000',
          clock_skew_ms: '-5000',
        },
        { ...LINK, node_id: 'site-c', connection_status: 'disconnected', last_heartbeat: '2026-11-20T09:03:00Z' },
      ],
      retained_for: [
        { name: 'dr/site-c', kind: 'secondary', after: 20, bytes: 512, max_bytes: MIB, broken: true },
        { name: 'copy', kind: 'copy', after: 20, bytes: 512, max_bytes: MIB, broken: true },
      ],
    },
    attention: true,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Cluster port  given to secondaries: https://keys.example.org:8201
  Secondaries   1 of 3 connected
    site-b      connected, up to date as of 1 min 35 s ago, heard 4 s ago, round trip 1 ms, its
                clock is 5 s behind
    site-c      disconnected since 2026-11-20T09:03:00Z (1 h 3 min ago)
    a-secondary-of-a-long-name
                its activation token is not used yet, or it could not reach this cluster
  Log           12.0 MiB, from change 101, needed by
    dr/site-c   broken: records that it needs are gone, so it has to start over.
                log_retention_secondary_bytes keeps more for the next time
    copy        broken: records that it needs are gone, so it has to start over.
                log_retention_copy_bytes keeps more for the next time
`,
  },
  {
    name: 'a primary that was restarted, with one secondary that did not come back yet and one that copies',
    status: {
      ...PRIMARY,
      known_secondaries: ['site-b', 'site-c', 'site-d'],
      secondaries: [
        { ...NEVER_HEARD, node_id: 'site-b', connection_status: 'disconnected' },
        { ...NEVER_HEARD, node_id: 'site-c' },
        { ...LINK, node_id: 'site-d', replication_primary_canary_age_ms: '0' },
      ],
      retained_for: [],
    },
    attention: true,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Secondaries   2 of 3 connected
    site-b      disconnected, no link since this server started
    site-c      connected
    site-d      connected, heard 4 s ago, round trip 1 ms
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a primary that another one took over from',
    status: {
      ...PRIMARY,
      state: 'idle',
      idle_reason: 'fenced',
      idle_sentence: 'Another cluster took over: demote this one',
      corrupted_merkle_tree: true,
      secondaries: [],
      known_secondaries: [],
      retained_for: [],
    },
    attention: true,
    shows: `* Disaster recovery: primary, idle
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
                The tree does not fit the stored data: \`keywright storage verify\` says where
  Secondaries   none: \`keywright operator replication secondary-token\` lets one in
  Idle          fenced
                Another cluster took over: demote this one
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a promoted cluster whose former primary does not know yet',
    status: {
      ...PRIMARY,
      epoch: 2,
      last_wal: 225,
      promoted_from: { history_id: 'cd01', index: 220 },
      former_primary: 'https://a1:8201 does not answer',
      known_secondaries: [],
      secondaries: [],
      retained_for: [],
    },
    attention: false,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 2
  Last change   225, the last one for secondaries: 223
  Merkle root   ${ROOT}
  Promoted      with the log of the former primary up to change 220 (history cd01)
  Not told      the former primary does not know yet, and may serve clients: https://a1:8201 does
                not answer
  Secondaries   none: \`keywright operator replication secondary-token\` lets one in
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a primary that does not know whether a secondary took over',
    status: { ...PRIMARY, secondaries: [], known_secondaries: [], retained_for: [], may_have_taken_over: ['b', 'c'] },
    attention: true,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Secondaries   none: \`keywright operator replication secondary-token\` lets one in
  Handed over   to b, c, and nothing was heard since. No messages of keys are granted: demote this
                cluster if another one was promoted, or else revoke who does not come back
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a cluster that keeps what was undone here',
    status: { ...PRIMARY, secondaries: [], known_secondaries: [], retained_for: [], undone_records: 5 },
    attention: false,
    shows: `* Disaster recovery: primary, running
  Set           ${SET}, epoch 1
  Last change   223
  Merkle root   ${ROOT}
  Secondaries   none: \`keywright operator replication secondary-token\` lets one in
  Undone        5 records that the primary did not have, kept aside: \`keywright operator replication
                undone\` shows them
  Log           12.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a secondary without a primary',
    status: {
      ...SECONDARY,
      state: 'idle',
      connection_state: 'idle',
      idle_reason: 'no_primary',
      idle_sentence: 'This cluster follows no primary',
      secondary_id: '',
      primary_cluster_addr: '',
      known_primary_cluster_addrs: [],
      primaries: [],
      last_remote_wal: 0,
    },
    attention: true,
    shows: `* Disaster recovery: secondary, idle
  Set           ${SET}, epoch 1
  Merkle root   ${ROOT}
  Primary       none: it follows nobody
  Idle          no_primary
                This cluster follows no primary
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a secondary that follows',
    status: SECONDARY,
    attention: false,
    shows: `* Disaster recovery: secondary site-b, stream-wals
  Set           ${SET}, epoch 1
  Merkle root   ${ROOT}
  Primary       https://a1:8201, 2 addresses known, link: ready
    https://a1:8201
                connected, heard 4 s ago, round trip 1 ms
  Behind        nothing missing, the primary's change 223 is applied
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a secondary that copies',
    status: {
      ...SECONDARY,
      state: 'merkle-sync',
      lag_ms: '120',
      lag_entries: 7,
      last_remote_wal: 0,
      merkle_sync_progress: { sync_progress: 1000, sync_total_keys: 4000 },
    },
    leftMs: 90_000,
    attention: false,
    shows: `* Disaster recovery: secondary site-b, merkle-sync
  Set           ${SET}, epoch 1
  Merkle root   ${ROOT}
  Primary       https://a1:8201, 2 addresses known, link: ready
    https://a1:8201
                connected, heard 4 s ago, round trip 1 ms
  Behind        120 ms and 7 records behind, the primary's change 0 is applied
  Copying       ######..................  1000 of 4000 keys, about 2 min
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a secondary that compares, and does not know yet how much there is',
    status: { ...SECONDARY, state: 'merkle-diff', lag_ms: undefined as never, lag_entries: 7, merkle_root: '' },
    attention: false,
    shows: `* Disaster recovery: secondary site-b, merkle-diff
  Set           ${SET}, epoch 1
  Primary       https://a1:8201, 2 addresses known, link: ready
    https://a1:8201
                connected, heard 4 s ago, round trip 1 ms
  Behind        7 records behind, the primary's change 223 is applied
  Comparing     comparing begins
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'a secondary whose primary is gone',
    status: {
      ...SECONDARY,
      connection_state: 'connecting',
      primaries: [{ ...SECONDARY.primaries[0], connection_status: 'disconnected' } as Json],
      idle_reason: 'refused',
      idle_sentence: 'a1:8201 refused the connection: is the primary running and unsealed?',
    },
    attention: true,
    shows: `* Disaster recovery: secondary site-b, stream-wals
  Set           ${SET}, epoch 1
  Merkle root   ${ROOT}
  Primary       https://a1:8201, 2 addresses known, link: connecting
    https://a1:8201
                disconnected since 2026-11-20T10:05:56Z (4 s ago)
  Behind        nothing missing, the primary's change 223 is applied
  No link       refused
                a1:8201 refused the connection: is the primary running and unsealed?
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'an idle secondary says why, and what to do',
    status: {
      ...SECONDARY,
      state: 'idle',
      connection_state: 'idle',
      primary_cluster_addr: '',
      known_primary_cluster_addrs: [],
      primaries: [],
      idle_reason: 'revoked',
      idle_sentence: 'The primary has revoked this secondary: issue a new token for this id\u001b[2J',
    },
    attention: true,
    shows: `* Disaster recovery: secondary site-b, idle
  Set           ${SET}, epoch 1
  Merkle root   ${ROOT}
  Primary       no address known, link: idle
  Behind        nothing missing, the primary's change 223 is applied
  Idle          revoked
                The primary has revoked this secondary: issue a new token for this id\\u001b[2J
  Log           3.0 MiB, from change 101, needed by nobody
`,
  },
  {
    name: 'an idle secondary of a server that does not say why',
    status: { mode: 'secondary', state: 'idle' },
    attention: true,
    shows: `* Disaster recovery: secondary, idle
  Primary       no address known
  Idle          nothing is replicated
                The log of the server says why
`,
  },
  {
    name: 'a secondary behind its activation, whose link to follow by is being made',
    status: { mode: 'secondary', state: 'idle', connection_state: 'connecting' },
    attention: true,
    shows: `* Disaster recovery: secondary, idle
  Primary       no address known, link: connecting
  Idle          nothing is replicated
                The link to the primary is being made
`,
  },
]

for (const { name, status, leftMs, attention, shows } of PICTURES) {
  test(`replication picture: ${name}`, () => {
    assert.equal(picture(status, leftMs), shows)
    assert.equal(needsAttention(status), attention)
  })
}

test('a picture of performance: what its secondaries get, ids of any length, mounts that local ones hide', () => {
  const id = 'a-region-of-a-name-that-is-longer-than-any-label-'.repeat(3)
  const { last_dr_wal: _, ...known } = PRIMARY
  const status = {
    ...known,
    last_performance_wal: 219,
    known_secondaries: [id],
    secondaries: [{ ...LINK, node_id: id }],
    retained_for: [{ ...PRIMARY.retained_for[0], name: `performance/${id}` } as Json],
  }
  assert.equal(
    picture(status, undefined, 'performance'),
    `* Performance: primary, running
  Set           ${SET}, epoch 1
  Last change   223, the last one for secondaries: 219
  Merkle root   ${ROOT}
  Secondaries   1 of 1 connected
    ${id}
                connected, up to date as of 640 ms ago, heard 4 s ago, round trip 1 ms
  Log           12.0 MiB, from change 101, needed by
    performance/${id}
                512 B of at most 10.0 GiB, behind change 220
`,
  )
  const hidden = { ...SECONDARY, conflicting_local_mounts: ['transit/', 'auth/people/'] }
  const rows = picture(hidden, undefined, 'performance').split('\n').slice(7, 9)
  assert.deepEqual(rows, [
    '  Hidden        transit/, auth/people/ of the set: a local mount here has that path. It appears when',
    '                the local one is gone',
  ])
})

test('a picture names its family, and has signs and colours on a terminal that wants them', () => {
  assert.equal(picture({ mode: 'disabled' }, undefined, 'performance'), '* Performance: disabled\n')
  const style = { ...PLAIN, isUnicode: true, hasColour: true }
  const [head, , , , , peer] = picture(
    { ...PRIMARY, secondaries: [{ node_id: 'b', connection_status: 'disconnected' }] },
    undefined,
    'dr',
    style,
  ).split('\n')
  assert.equal(head, '\u001b[31m●\u001b[0m Disaster recovery: \u001b[31mprimary, running\u001b[0m')
  assert.equal(peer, '      b           \u001b[31mdisconnected, no link since this server started\u001b[0m'.slice(2))
})

test('each thing alone is a reason to look', () => {
  const hold = { name: 'x', kind: 'copy', after: 0, bytes: 0, max_bytes: 0, broken: true }
  const alarming: Json[] = [
    { ...PRIMARY, state: 'idle' },
    { ...PRIMARY, corrupted_merkle_tree: true },
    { ...PRIMARY, retained_for: [hold] },
    { ...PRIMARY, may_have_taken_over: ['site-b'] },
    { ...PRIMARY, secondaries: [{ ...LINK, connection_status: 'disconnected' }] },
    { ...SECONDARY, retained_for: [hold] },
    { ...SECONDARY, idle_reason: 'gap' },
    ...['idle', 'transient_failure', 'shutdown'].map((connection_state) => ({ ...SECONDARY, connection_state })),
  ]
  for (const status of alarming) assert.equal(needsAttention(status), true, JSON.stringify(status))
  const quiet: Json[] = [
    { ...SECONDARY, connection_state: 'connecting', primaries: [] },
    { ...PRIMARY, known_secondaries: ['site-b', 'not-used-yet'] },
  ]
  for (const status of quiet) assert.equal(needsAttention(status), false, JSON.stringify(status))
})

test('the rest of a transfer is estimated from two looks, where they allow it', () => {
  const at = (done: number, total = 4_000, state = 'merkle-sync'): Json => ({
    mode: 'secondary',
    state,
    merkle_sync_progress: { sync_progress: done, sync_total_keys: total },
  })
  assert.equal(remainingMs(at(1_000), at(1_100)), 29_000)
  assert.equal(remainingMs(at(3_990), at(4_010)), 0)
  const unknown: readonly (readonly [Json, Json])[] = [
    [at(1_000), at(1_000)],
    [at(1_000), at(900)],
    [at(1_000), at(1_100, 0)],
    [at(1_000), at(1_100, 4_000, 'merkle-diff')],
    [null, at(1_100)],
    [at(1_000), SECONDARY],
  ]
  for (const [before, now] of unknown) assert.equal(remainingMs(before, now), undefined)
  const shown = [0, 900, 60_000, 61_000, 3_600_000, 90_000_000].map((ms) => /about .*/.exec(picture(at(1), ms))?.[0])
  assert.deepEqual(shown, ['about 1 s', 'about 1 s', 'about 1 min', 'about 2 min', 'about 1 h', 'about 2 d'])
})

test('indexes beyond the numbers of JavaScript keep their digits', () => {
  const status = parseExactText('{"mode":"primary","last_wal":9007199254740993}') ?? null
  assert.match(picture(status), /^ {2}Last change {3}9007199254740993$/m)
})

test('a primary shows whom writes wait for, and what becomes of them while one is away', () => {
  const synchronous = [
    { id: 'site-b', state: 'in-step', since: '2026-11-20T10:00:00Z' },
    { id: 'c', state: 'away', since: '2026-11-20T10:05:00Z' },
    { id: 'd', state: 'unknown' },
  ]
  const status = parseExactText(JSON.stringify({ ...PRIMARY, synchronous })) ?? assert.fail()
  const lines = formatReplication({ family: 'dr', status, remainingMs: undefined, nowMs: NOW }, PLAIN).split('\n')
  const first = lines.findIndex((line) => line.includes('Writes wait'))
  assert.deepEqual(lines.slice(first, first + 6), [
    '  Writes wait   for 3 secondaries',
    '    site-b      in step: it has every write that was answered, since 2026-11-20T10:00:00Z (6 min',
    '                ago)',
    '    c           away: writes are answered without it, and may be lost with this cluster, since',
    '                2026-11-20T10:05:00Z (1 min ago)',
    '    d           not let in, or sent away: no write waits for it',
  ])
  assert.equal(needsAttention(status), true)
  const inStep = parseExactText(JSON.stringify({ ...PRIMARY, synchronous: synchronous.slice(0, 1) })) ?? assert.fail()
  assert.equal(needsAttention(inStep), false)
})
