// A planned change of hands between two clusters that only remember what they are: the looks, the steps in their order,
// what is said of the outcome, and of a run that ends between two steps.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import {
  type ApiDouble,
  type Asked,
  envelope,
  type Reply,
  ROOT_TOKEN,
  refused,
  startApiDouble,
} from '../../test/fixtures/api-double.ts'
import { type Ran, runClient } from '../../test/fixtures/cli-run.ts'

const SET = '7a1c'
const OPERATION_TOKEN = 'hvb.op'

/** A cluster, by the members of its status; `refuses` says which operations it refuses. */
type Pretended = {
  readonly api: ApiDouble
  status: Record<string, unknown>
  refuses: readonly string[]
}

let [former, next]: Pretended[] = []
/** What an interruption does, while the command listens for one. */
let interrupt: (() => void) | undefined

beforeEach(async () => {
  const here = await startApiDouble()
  former = {
    api: here,
    refuses: [],
    status: {
      mode: 'primary',
      state: 'running',
      fenced: false,
      cluster_id: SET,
      program_version: '1.2.3',
      history_id: 'aa',
      last_dr_wal: 110,
      secondaries: [{ node_id: 'site-b' }],
      merkle_root: 'ab12',
    },
  }
  next = {
    api: await startApiDouble(),
    refuses: [],
    status: {
      mode: 'secondary',
      state: 'stream-wals',
      connection_state: 'ready',
      cluster_id: SET,
      program_version: '1.2.3',
      secondary_id: 'site-b',
      last_remote_wal: 100,
      lag_ms: '0',
      lag_entries: 0,
      merkle_root: 'ab12',
    },
  }
  former.api.answer = (asked) => answerOf(formerCluster(), asked)
  next.api.answer = (asked) => answerOf(nextCluster(), asked)
})
afterEach(() => Promise.all([formerCluster().api.close(), nextCluster().api.close()]))

const formerCluster = (): Pretended => former ?? assert.fail()
const nextCluster = (): Pretended => next ?? assert.fail()
const data = (members: object): Reply => ({ status: 200, body: envelope({ data: members }) })

/** What the two are after each operation. */
const EFFECTS: Readonly<Record<string, () => object>> = {
  'secondary/promote': () => {
    Object.assign(nextCluster().status, { mode: 'primary', promoted_from: { history_id: 'aa', index: 110 } })
    Object.assign(formerCluster().status, { state: 'idle', fenced: true })
    return {}
  },
  'primary/demote': () => {
    Object.assign(formerCluster().status, { mode: 'secondary', connection_state: 'idle' })
    return {}
  },
  'secondary/generate-public-key': () => ({ secondary_public_key: 'key of the former' }),
  'primary/secondary-token': () => ({ token: 'sealed' }),
  'secondary/update-primary': () => {
    Object.assign(formerCluster().status, { state: 'stream-wals', connection_state: 'ready' })
    return {}
  },
}

/** Rights of the two tokens that are asked with. */
let rights: Record<string, readonly string[]> = {}
let operationToken: object = {}
beforeEach(() => {
  operationToken = { type: 'batch', orphan: true, ttl: 3_600 }
  rights = {
    'secondary/promote': ['update'],
    'secondary/generate-public-key': ['update'],
    'secondary/update-primary': ['update'],
    'primary/demote': ['update'],
    'primary/secondary-token': ['sudo', 'update'],
  }
})

function answerOf(cluster: Pretended, { method, target, headers, body }: Asked): Reply | undefined {
  const path = target.slice('/v1/'.length).split('?')[0] ?? ''
  const operation = path.slice('sys/replication/dr/'.length)
  if (path === 'sys/replication/dr/status') return data(cluster.status)
  if (path === 'sys/leader') return { status: 200, body: { leader_cluster_address: 'https://b:8201' } }
  if (path === 'sys/health') return { status: 200, body: { replication_dr_mode: cluster.status.mode } }
  if (path === 'auth/token/lookup-self' && headers['x-vault-token'] === OPERATION_TOKEN) return data(operationToken)
  if (path === 'sys/capabilities-self') {
    const { paths } = JSON.parse(body) as { readonly paths: readonly string[] }
    return data(Object.fromEntries(paths.map((each) => [each, rights[each.slice('sys/replication/dr/'.length)] ?? []])))
  }
  if (method !== 'POST' || !(operation in EFFECTS)) return undefined
  return cluster.refuses.includes(operation) ? refused(400, `no ${operation}`) : data(EFFECTS[operation]?.() ?? {})
}

function switchover(more = '-yes'): Promise<Ran> {
  const options = ['-id=site-a', `-secondary-addr=${nextCluster().api.address}`, '-operation-token=-']
  return runClient(['operator', 'replication', 'switchover', ...options, ...more.split(' ')], {
    env: { VAULT_ADDR: formerCluster().api.address, VAULT_TOKEN: ROOT_TOKEN },
    stdin: OPERATION_TOKEN,
    onInterrupt: (work) => {
      interrupt = work
      return () => {
        interrupt = undefined
      }
    },
  })
}

/** The operations that each cluster was told to do. */
const told = ({ api }: Pretended): string[] =>
  api.asked
    .filter(({ method, target }) => method === 'POST' && target.includes('/replication/'))
    .map(({ target, body }) => `${target.slice('/v1/sys/replication/dr/'.length)} ${body}`)

/** Addresses and times as the same text in every run. */
const steady = (text: string): string =>
  text
    .replaceAll(formerCluster().api.address, 'FORMER')
    .replaceAll(nextCluster().api.address, 'NEXT')
    .replace(/\d+ ms/g, 'N ms')

const LOOKS = `[good]  primary          FORMER is a primary, running
[good]  secondary        NEXT is a secondary, stream-wals
[good]  set              Both are in set 7a1c
[good]  version          Both have version 1.2.3
[good]  log              The secondary has all that the primary is known to have
[-]     cluster port     Whether the former primary reaches https://b:8201 shows when it follows
[good]  operation token  A batch token of the set that may do all steps, for 3600 s
[good]  token            The token of the caller may do all steps

Nothing found against a switchover
`

test('a dry run looks, and changes nothing', async () => {
  const ran = await switchover('-dry-run')
  assert.deepEqual([ran.code, steady(ran.stdout), ran.stderr], [0, LOOKS, ''])
  assert.deepEqual([told(formerCluster()), told(nextCluster())], [[], []])
})

test('a switchover takes each step once, and says what it came to', async () => {
  const ran = await switchover()
  assert.deepEqual([ran.code, ran.stderr], [0, ''])
  assert.equal(
    steady(ran.stdout),
    `${LOOKS}
[done]  promoted  NEXT is the primary (N ms)
[done]  demoted   FORMER is a secondary without a primary (N ms)
[done]  led       FORMER has NEXT as its primary (N ms)
[done]  followed  FORMER follows the log (N ms)
[done]  compared  Both have the same root over all that is stored (N ms)

Write pause: N ms at most
Records handed over: 10
Records lost: 0
`,
  )
  assert.deepEqual(told(formerCluster()), [
    'primary/demote {}',
    'secondary/generate-public-key {"dr_operation_token":"hvb.op"}',
    'secondary/update-primary {"dr_operation_token":"hvb.op","token":"sealed"}',
  ])
  assert.deepEqual(told(nextCluster()), [
    'secondary/promote {"dr_operation_token":"hvb.op"}',
    'primary/secondary-token {"id":"site-a","secondary_public_key":"key of the former"}',
  ])
  assert.equal(interrupt, undefined)
})

test('programs get looks, steps and figures', async () => {
  const ran = await switchover('-yes -format=json -primary-cluster-addr=https://lb:8201')
  const { looks, steps, write_pause_ms_at_most: pause, ...figures } = JSON.parse(ran.stdout)
  assert.deepEqual(figures, { drained_records: 10, lost_records: 0, same_root: true })
  assert.deepEqual([looks.length, steps.length, typeof pause], [8, 5, 'number'])
  assert.match(told(nextCluster())[0] ?? '', /"primary_cluster_addr":"https:\/\/lb:8201"/)
})

test('what the former primary has beyond the promotion is lost, and said', async () => {
  formerCluster().status.last_dr_wal = 113
  assert.match((await switchover()).stdout, /^Records lost: 3$/m)
})

test('a former primary of another history tells nothing of what is lost', async () => {
  formerCluster().status.history_id = 'bb'
  assert.match((await switchover()).stdout, /^Records lost: not known/m)
})

const BAD: readonly (readonly [what: string, change: () => unknown, says: RegExp])[] = [
  [
    'a primary that is none',
    () => Object.assign(formerCluster().status, { mode: 'secondary' }),
    /is no primary: its mode/,
  ],
  ['a fenced primary', () => Object.assign(formerCluster().status, { fenced: true }), /is fenced: another cluster/],
  ['a secondary that is none', () => Object.assign(nextCluster().status, { mode: 'disabled' }), /is no secondary: its/],
  [
    'a secondary that copies',
    () => Object.assign(nextCluster().status, { state: 'merkle-sync' }),
    /does not follow the log: its state is merkle-sync/,
  ],
  [
    'a secondary without a link',
    () => Object.assign(nextCluster().status, { connection_state: 'connecting', idle_reason: 'refused' }),
    /has no link to its primary: it is connecting\. refused/,
  ],
  ['two sets', () => Object.assign(nextCluster().status, { cluster_id: 'other' }), /and the secondary in set other/],
  [
    'a secondary that is newer',
    () => Object.assign(nextCluster().status, { program_version: '1.3.0' }),
    /version 1\.2\.3, and the secondary 1\.3\.0, which the former primary could not follow: upgrade it/,
  ],
  [
    'a secondary that is behind',
    () => Object.assign(nextCluster().status, { lag_entries: 7, lag_ms: '4000' }),
    /is 7 records and 4000 ms behind: wait until it has caught up/,
  ],
  ['a service token', () => Object.assign(operationToken, { type: 'service' }), /no batch token without a parent/],
  ['a token with a parent', () => Object.assign(operationToken, { orphan: false }), /no batch token without a parent/],
  [
    'a token that ends soon',
    () => Object.assign(operationToken, { ttl: 299 }),
    /It ends in 299 s: make one that lasts/,
  ],
  [
    'a token without a right',
    () => Object.assign(rights, { 'secondary/update-primary': ['read'] }),
    /do not allow "update" on\s+sys\/replication\/dr\/secondary\/update-primary/,
  ],
  [
    'a caller without sudo',
    () => Object.assign(rights, { 'primary/secondary-token': ['update'] }),
    /do not allow "sudo" on\s+sys\/replication\/dr\/primary\/secondary-token/,
  ],
]

for (const [what, change, says] of BAD) {
  test(`${what} is a bad look: nothing is changed, exit code 2`, async () => {
    change()
    const ran = await switchover()
    assert.deepEqual([ran.code, ran.stderr], [2, ''])
    assert.match(ran.stdout.replace(/\n {10,}/g, ' '), says)
    assert.match(ran.stdout, /\nA switchover would not work\. Nothing was changed\n$/)
    assert.deepEqual([told(formerCluster()), told(nextCluster())], [[], []])
  })
}

test('an operation token that the primary does not know is a bad look', async () => {
  formerCluster().api.answer = (asked) =>
    asked.target.endsWith('lookup-self') ? refused(403, 'permission denied') : answerOf(formerCluster(), asked)
  const ran = await switchover('-dry-run')
  assert.equal(ran.code, 2)
  assert.match(ran.stdout, /\[bad\] {3}operation token {2}The primary does not know it\./)
})

test('a log that the primary is just writing is handed over, and other secondaries are named', async () => {
  Object.assign(nextCluster().status, { lag_entries: 7, lag_ms: '40' })
  formerCluster().status.secondaries = [{ node_id: 'site-b' }, { node_id: 'site-c' }]
  const ran = await switchover('-dry-run')
  assert.equal(ran.code, 0)
  assert.match(ran.stdout, /is 7 records and 40 ms behind: the primary hands them over/)
  assert.match(ran.stdout, /\[-\] {5}others {11}site-c will follow nobody/)
})

const GOES_ON = {
  demote: 'keywright operator replication demote -address=FORMER -yes',
  token: 'keywright operator replication secondary-token -address=NEXT -id=site-a > activation-token',
  follow:
    'keywright operator replication update-primary -address=FORMER -wait -operation-token=@FILE @activation-token',
}

const STOPS: readonly (readonly [operation: string, stands: string, goesOn: readonly string[]])[] = [
  ['secondary/promote', 'Nothing was changed: NEXT is a secondary still', []],
  ['primary/demote', 'is not demoted', [GOES_ON.demote, GOES_ON.token, GOES_ON.follow]],
  ['secondary/generate-public-key', 'is demoted, and has no primary yet', [GOES_ON.token, GOES_ON.follow]],
  ['primary/secondary-token', 'is demoted, and has no primary yet', [GOES_ON.token, GOES_ON.follow]],
  ['secondary/update-primary', 'is demoted, and has no primary yet', [GOES_ON.token, GOES_ON.follow]],
]

for (const [operation, stands, goesOn] of STOPS) {
  test(`${operation} is refused: where the set stands, and what goes on`, async () => {
    formerCluster().refuses = [operation]
    nextCluster().refuses = [operation]
    const ran = await switchover()
    assert.equal(ran.code, 2)
    const said = steady(ran.stderr)
    assert.ok(said.includes(`* no ${operation}\n`) && said.includes(stands), said)
    const commands = said.split('\n').flatMap((line) => (line.startsWith('    ') ? [line.trim()] : []))
    assert.deepEqual(commands, goesOn)
    assert.ok(!(ran.stdout + ran.stderr).includes(OPERATION_TOKEN))
  })
}

test('a promotion whose answer is lost is done all the same', async () => {
  nextCluster().api.answer = (asked) => {
    const reply = answerOf(nextCluster(), asked)
    return asked.target.endsWith('secondary/promote') ? { status: 200, body: 'cut of' } : reply
  }
  const ran = await switchover()
  assert.deepEqual([ran.code, told(nextCluster()).length], [0, 2])
})

test('an interruption ends the run behind the step that is being done', async () => {
  formerCluster().api.answer = (asked) => {
    if (asked.target.endsWith('primary/demote')) interrupt?.()
    return answerOf(formerCluster(), asked)
  }
  const ran = await switchover()
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /^Stops behind the step that is being done; Ctrl-C again ends at once\nStopped, as was/)
  assert.match(steady(ran.stderr), /FORMER is demoted, and has no primary yet\. This goes on:/)
  assert.deepEqual(told(formerCluster()), ['primary/demote {}'])
})

const MISSING: readonly (readonly [argv: string, says: RegExp])[] = [
  ['-id=site-a -yes', /-secondary-addr is missing/],
  ['-secondary-addr=http://b:8200 -yes', /-id is missing/],
  ['-secondary-addr=http://b:8200 -id=site-a', /will change places: confirm it with -yes, or only look with -dry-run/],
  ['-secondary-addr=b:8200 -id=site-a -yes', /The address of the server must begin with http/],
]

for (const [argv, says] of MISSING) {
  test(`switchover ${argv}: nothing is asked`, async () => {
    const words = ['operator', 'replication', 'switchover', ...argv.split(' ')]
    const ran = await runClient(words, { env: { VAULT_ADDR: formerCluster().api.address } })
    assert.deepEqual([ran.code, formerCluster().api.asked.length], [1, 0])
    assert.match(ran.stderr, says)
  })
}
