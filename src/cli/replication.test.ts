// The commands of replication: the request that each sends, its output, and its exit code.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, afterEach, beforeEach, test } from 'node:test'
import {
  type ApiDouble,
  envelope,
  type Reply,
  ROOT_TOKEN,
  refused,
  startApiDouble,
} from '../../test/fixtures/api-double.ts'
import { collector, type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'
import { runCli } from './cli.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

const folder = mkdtempSync(join(tmpdir(), 'keywright-replication-'))
after(() => rmSync(folder, { recursive: true }))
const TOKEN_FILE = join(folder, 'activation-token')
writeFileSync(TOKEN_FILE, 'aaa.bbb.ccc\n')

function client(argv: string, { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  const all = { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN, ...env }
  return runClient(`operator replication ${argv}`.split(' '), { env: all, ...more })
}

const asked = (): string[] =>
  api.asked.map(({ method, target, body }) => `${method} ${target.slice(4)} ${body}`.trimEnd())
const answers = (...replies: readonly Reply[]): void => {
  const left = [...replies]
  api.answer = () => (left.length > 1 ? left.shift() : left[0])
}
const data = (members: object): Reply => ({ status: 200, body: envelope({ data: members }) })
const warned = (warning: string): Reply => ({ status: 200, body: envelope({ warnings: [warning] }) })

const WRAPPED: Reply = {
  status: 200,
  body: envelope({
    wrap_info: {
      token: 'aaa.bbb.ccc',
      accessor: 'acc',
      ttl: 1800,
      creation_time: '2026-11-20T10:00:00Z',
      creation_path: 'sys/replication/dr/primary/secondary-token',
    },
    warnings: ['No address of the API could be put into the token'],
  }),
}
const WRAP_WARNING = 'The server warns:\n\n* No address of the API could be put into the token\n\n'

const CASES: readonly {
  readonly argv: string
  readonly asks: string
  readonly answer: Reply
  readonly stdout: string
  readonly stderr?: string
  readonly stdin?: string
}[] = [
  {
    argv: 'enable',
    asks: 'POST sys/replication/dr/primary/enable {}',
    answer: warned('It becomes a primary'),
    stdout: 'Success! This cluster is a primary: Disaster recovery\n',
    stderr: 'The server warns:\n\n* It becomes a primary\n\n',
  },
  {
    argv: 'enable -family=dr -primary-cluster-addr=https://lb:8201',
    asks: 'POST sys/replication/dr/primary/enable {"primary_cluster_addr":"https://lb:8201"}',
    answer: warned('It becomes a primary'),
    stdout: 'Success! This cluster is a primary: Disaster recovery\n',
    stderr: 'The server warns:\n\n* It becomes a primary\n\n',
  },
  {
    argv: 'disable -yes',
    asks: 'POST sys/replication/dr/primary/disable {}',
    answer: warned('It is switched off'),
    stdout: 'Success! Replication is disabled: Disaster recovery\n',
    stderr: 'The server warns:\n\n* It is switched off\n\n',
  },
  {
    argv: 'secondary-token -id=site-b',
    asks: 'POST sys/replication/dr/primary/secondary-token {"id":"site-b"}',
    answer: WRAPPED,
    stdout: 'aaa.bbb.ccc\n',
    stderr: WRAP_WARNING,
  },
  {
    argv: 'secondary-token -id=site-b -field=wrapping_accessor',
    asks: 'POST sys/replication/dr/primary/secondary-token {"id":"site-b"}',
    answer: WRAPPED,
    stdout: 'acc',
    stderr: WRAP_WARNING,
  },
  {
    argv: 'secondary-token -id=site-b -ttl=10m -secondary-public-key=some-key -format=json',
    asks:
      'POST sys/replication/dr/primary/secondary-token ' +
      '{"id":"site-b","ttl":"10m","secondary_public_key":"some-key"}',
    answer: data({ token: 'sealed' }),
    stdout: `${JSON.stringify(envelope({ data: { token: 'sealed' } }), null, 2)}\n`,
  },
  {
    argv: 'secondary-token -id=site-b -secondary-public-key=-',
    asks: 'POST sys/replication/dr/primary/secondary-token {"id":"site-b","secondary_public_key":"some-key"}',
    answer: data({ token: 'sealed' }),
    stdin: 'some-key\n',
    stdout: 'sealed\n',
  },
  {
    argv: 'revoke -id=site-b',
    asks: 'POST sys/replication/dr/primary/revoke-secondary {"id":"site-b"}',
    answer: { status: 204 },
    stdout: 'Success! Revoked secondary: site-b\n',
  },
  {
    argv: 'rotate-authority -format=json',
    asks: 'POST sys/replication/dr/primary/rotate-authority {}',
    answer: data({ waits_for: ['site-b'] }),
    stdout: `${JSON.stringify(envelope({ data: { waits_for: ['site-b'] } }), null, 2)}\n`,
  },
  {
    argv: 'public-key',
    asks: 'POST sys/replication/dr/secondary/generate-public-key {}',
    answer: data({ secondary_public_key: 'some-key' }),
    stdout: 'some-key\n',
  },
  ...[
    { argv: `activate @${TOKEN_FILE}` },
    { argv: 'activate aaa.bbb.ccc' },
    { argv: 'activate -', stdin: ' aaa.bbb.ccc\r\n' },
    { argv: 'activate', stdin: 'aaa.bbb.ccc\n' },
  ].map((typed) => ({
    ...typed,
    asks: 'POST sys/replication/dr/secondary/enable {"token":"aaa.bbb.ccc"}',
    answer: warned('It is set up'),
    stdout: 'Success! This cluster is a secondary: Disaster recovery\n',
    stderr: 'The server warns:\n\n* It is set up\n\n',
  })),
  {
    argv:
      'activate -primary-api-addr=https://a:8200 -primary-ca-file=/ca.pem -primary-ca-path=/ca ' +
      '-format=raw aaa.bbb.ccc',
    asks:
      'POST sys/replication/dr/secondary/enable {"token":"aaa.bbb.ccc",' +
      '"primary_api_addr":"https://a:8200","ca_file":"/ca.pem","ca_path":"/ca"}',
    answer: warned('It is set up'),
    stdout: `${JSON.stringify(envelope({ warnings: ['It is set up'] }))}\n`,
  },
]

for (const { argv, asks, answer, stdout, stderr = '', stdin = '' } of CASES) {
  test(`replication ${argv.replace(TOKEN_FILE, 'FILE')}${stdin === '' ? '' : ' < standard input'}`, async () => {
    answers(answer)
    const ran = await client(argv, { stdin })
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, stdout, stderr])
    assert.deepEqual(asked(), [asks])
  })
}

const NOT_SENT: readonly (readonly [argv: string, says: RegExp])[] = [
  ['disable', /^keywright operator replication disable: every secondary of the set .* confirm it with -yes\n/],
  ['secondary-token', /-id is missing/],
  ['revoke -id=', /-id is missing/],
  ['enable -family=both', /-family must be dr or performance, not "both"/],
  ['status -family=both', /-family must be dr or performance, not "both"/],
  ['activate -', /^Error: The activation token is empty\n$/],
  ['activate', /^Error: The activation token is empty: hand it in on standard input\n$/],
  ['activate @/nowhere/at/all', /^Error: Cannot read \/nowhere\/at\/all: there is no such file or folder\n$/],
  ['check one two', /there are 2 arguments, and at most 1 are expected/],
]

for (const [argv, says] of NOT_SENT) {
  test(`replication ${argv}: nothing is sent`, async () => {
    const ran = await client(argv)
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, says)
    assert.deepEqual(asked(), [])
  })
}

test('the commands of replication alone are listed', async () => {
  const ran = await runClient(['operator', 'replication'])
  assert.deepEqual([ran.code, ran.stdout], [1, ''])
  const names = [...ran.stderr.matchAll(/^ {4}(\S+) {2,}/gm)].map(([, name]) => name)
  const all = ['status', 'enable', 'disable', 'secondary-token', 'revoke', 'rotate-authority', 'filter', 'public-key']
  all.push('check', 'activate', 'recover', 'undone', 'switchover', 'promote', 'demote', 'update-primary')
  assert.deepEqual(names, all)
})

test('an activation token that is typed is hidden', async () => {
  const [stdout, stderr] = [collector(), collector()]
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  stdin.write('aaa.bbb.ccc\r')
  answers(warned('It is set up'))
  const io = {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { VAULT_ADDR: api.address },
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
  assert.equal(await runCli(['operator', 'replication', 'activate'], io), 0)
  assert.match(stderr.bytes().toString(), /^activation token \(will be hidden\): \n/)
  assert.deepEqual(asked(), ['POST sys/replication/dr/secondary/enable {"token":"aaa.bbb.ccc"}'])
  assert.ok(!(stdout.bytes().toString() + stderr.bytes().toString()).includes('aaa.bbb.ccc'))
})

const SAID = '"primary/enable" is not for a cluster in mode secondary'
const COMMANDS = ['enable', 'disable -yes', 'secondary-token -id=b', 'revoke -id=b', 'rotate-authority', 'public-key']
COMMANDS.push('activate a.b.c')

for (const argv of COMMANDS) {
  test(`a refusal of ${argv} is shown as it is, exit code 2`, async () => {
    answers(refused(400, SAID))
    const ran = await client(argv)
    assert.deepEqual([ran.code, ran.stdout], [2, ''])
    const [error, , url, ...rest] = ran.stderr.split('\n')
    assert.match(error ?? '', /^Error .*: the server refused the request$/)
    assert.match(url ?? '', /^URL: POST .*\/v1\/sys\/replication\/dr\//)
    assert.deepEqual(rest, ['Code: 400. Errors:', '', `* ${SAID}`, ''])
    assert.ok(!ran.stderr.includes('a.b.c'))
  })
}

test('an activation is sent once, whatever the server answers', async () => {
  answers(refused(503, 'not now'))
  const ran = await client('activate -max-retries=5 a.b.c')
  assert.deepEqual([ran.code, asked().length], [2, 1])
})

test('an answer without the token or the key is a failure', async () => {
  answers(data({}))
  for (const argv of ['secondary-token -id=b', 'public-key']) {
    const ran = await client(argv)
    assert.deepEqual([ran.code, ran.stdout], [2, ''])
    assert.match(ran.stderr, /the answer has none\n$/)
  }
})

const OFF = { mode: 'disabled' }
const SECONDARY = { mode: 'secondary', state: 'stream-wals', connection_state: 'ready', secondary_id: 'b' }
const copying = (done: number): object => ({
  ...SECONDARY,
  state: 'merkle-sync',
  merkle_sync_progress: { sync_progress: done, sync_total_keys: 400 },
})

test('status shows both families, without a token', async () => {
  answers(data({ dr: OFF, performance: OFF }))
  const ran = await client('status', { env: { VAULT_TOKEN: '' } })
  assert.deepEqual(
    [ran.code, ran.stdout, ran.stderr],
    [0, '* Disaster recovery: disabled\n\n* Performance: disabled\n', ''],
  )
  assert.deepEqual(asked(), ['GET sys/replication/status'])
  assert.equal(api.asked[0]?.headers['x-vault-token'], undefined)
})

test('status of one family', async () => {
  answers(data(SECONDARY))
  const ran = await client('status -family=dr')
  const shows = '* Disaster recovery: secondary b, stream-wals\n  Primary       no address known, link: ready\n'
  assert.deepEqual([ran.code, ran.stdout], [0, shows])
  assert.deepEqual(asked(), ['GET sys/replication/dr/status'])
})

test('status prints answers and fields for programs, after one look', async () => {
  const body = envelope({ data: { dr: copying(100), performance: OFF } })
  answers({ status: 200, body })
  const sleeps: number[] = []
  assert.equal((await client('status -format=json', { sleeps })).stdout, `${JSON.stringify(body, null, 2)}\n`)
  answers(data({ ...SECONDARY, merkle_root: 'ab12' }))
  assert.equal((await client('status -family=dr -field=merkle_root', { sleeps })).stdout, 'ab12')
  assert.deepEqual([sleeps, asked()], [[], ['GET sys/replication/status', 'GET sys/replication/dr/status']])
})

test('status looks twice, a second apart, while something is copied', async () => {
  answers(data({ dr: copying(100), performance: OFF }), data({ dr: copying(102), performance: OFF }))
  const sleeps: number[] = []
  const ran = await client('status', { sleeps })
  assert.match(ran.stdout, /^ {2}Copying {7}######\.{18} {2}102 of 400 keys, about 3 min$/m)
  assert.deepEqual([ran.code, sleeps, asked().length], [0, [1_000], 2])
})

test('status: exit code 2 if one family needs attention, in every format', async () => {
  answers(data({ dr: OFF, performance: { ...SECONDARY, state: 'idle' } }))
  for (const argv of ['status', 'status -format=json', 'status -field=dr.mode'])
    assert.equal((await client(argv)).code, 2, argv)
})

test('status: exit code 1 where it cannot be told', async () => {
  const replies = [refused(400, 'no'), data({}), data({ dr: OFF }), refused(503, 'Vault is sealed')]
  for (const reply of replies) {
    answers(reply)
    const ran = await client('status')
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, /^Error reading the replication status: /)
  }
})

const CHECKS = [
  { what: 'token', result: 'good', sentence: 'The token is one of set 7a1c' },
  { what: 'api', result: 'not looked at', sentence: 'The token was encrypted for this cluster: no call is needed' },
  { what: 'cluster port', result: 'good', sentence: 'https://a1:8201 answers' },
]
const BAD = { what: 'clock', result: 'bad', sentence: `It is 5 min ahead: ${'set the clock '.repeat(8)}right` }

test('check prints each look, exit code 0 if none is bad', async () => {
  answers(data({ checks: CHECKS }))
  const ran = await client('check -primary-ca-file=/ca.pem a.b.c')
  assert.deepEqual(asked(), ['POST sys/replication/dr/secondary/check {"token":"a.b.c","ca_file":"/ca.pem"}'])
  assert.deepEqual([ran.code, ran.stderr], [0, ''])
  assert.equal(
    ran.stdout,
    `[good]  token         The token is one of set 7a1c
[-]     api           The token was encrypted for this cluster: no call is needed
[good]  cluster port  https://a1:8201 answers

An activation would work
`,
  )
})

test('check: exit code 0 if nothing is bad, though the cluster port was not looked at, and that is said', async () => {
  const port = { what: 'cluster port', result: 'not looked at', sentence: 'Only the wrapped part tells it' }
  answers(data({ checks: [CHECKS[0], { ...CHECKS[1], result: 'good' }, port] }))
  const ran = await client('check a.b.c')
  const verdict = 'Nothing found against an activation. The cluster port of the primary was not checked'
  assert.deepEqual([ran.code, ran.stdout.split('\n').slice(-3)], [0, ['', verdict, '']])
})

test('check: exit code 2 if one look is bad, in every format', async () => {
  answers(data({ checks: [BAD, { ...BAD, result: 'of a newer server', sentence: 'x' }] }))
  const ran = await client('check a.b.c')
  assert.equal(ran.code, 2)
  assert.equal(
    ran.stdout,
    `[bad]   clock  It is 5 min ahead: set the clock set the clock set the clock set the clock set the
               clock set the clock set the clock set the clock right
[bad]   clock  x

An activation would not work
`,
  )
  const json = await client('check -format=json a.b.c')
  assert.deepEqual([json.code, JSON.parse(json.stdout).data.checks.length], [2, 2])
})

test('check: exit code 1 where it cannot be made', async () => {
  for (const reply of [refused(403, 'permission denied'), data({}), data({ checks: [] })]) {
    answers(reply)
    const ran = await client('check a.b.c')
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, /^Error checking an activation: /)
  }
})

test('activate -wait shows how far it is, until the log is followed', async () => {
  answers(
    warned('It is set up'),
    data({ mode: 'bootstrapping' }),
    refused(503, 'The server begins anew'),
    data(copying(100)),
    data(copying(200)),
    data({ ...SECONDARY, state: 'merkle-diff' }),
    data(SECONDARY),
  )
  const sleeps: number[] = []
  const ran = await client(`activate -wait @${TOKEN_FILE}`, { sleeps })
  assert.equal(ran.code, 0)
  assert.equal(
    ran.stdout,
    'Success! This cluster is a secondary: Disaster recovery\n' +
      '* Disaster recovery: secondary b, stream-wals\n  Primary       no address known, link: ready\n',
  )
  assert.equal(
    ran.stderr,
    'The server warns:\n\n* It is set up\n\n' +
      'bootstrapping\n' +
      'Error reading the replication status: the server failed to process the request\n' +
      'secondary, merkle-sync, 100 of 400 keys\n' +
      'secondary, merkle-diff, comparing begins\n',
  )
  assert.deepEqual(sleeps, [1_000, 1_000, 1_000, 1_000, 1_000])
  assert.deepEqual(new Set(asked().slice(1)), new Set(['GET sys/replication/dr/status']))
})

test('activate -wait -format=json prints one answer, the last', async () => {
  answers(warned('It is set up'), data(SECONDARY))
  const ran = await client('activate -wait -format=json a.b.c')
  assert.deepEqual([ran.code, JSON.parse(ran.stdout).data, ran.stderr], [0, SECONDARY, ''])
})

test('activate -wait gives up when nothing has moved for the time of -timeout, and says what it saw', async () => {
  const idle = {
    ...SECONDARY,
    state: 'idle',
    connection_state: 'idle',
    idle_reason: 'gap',
    idle_sentence: 'Look there',
  }
  answers(warned('It is set up'), data(copying(100)), data(copying(101)), data(copying(102)), data(idle))
  const sleeps: number[] = []
  const ran = await client('activate -wait -timeout=2s a.b.c', { sleeps })
  assert.equal(ran.code, 2)
  assert.deepEqual(sleeps.length, 5)
  assert.ok(
    ran.stderr.endsWith(
      'Error waiting for the secondary: nothing has moved for 2 s. ' +
        'The last look: secondary, idle, link: idle, gap, Look there\n\n' +
        'The cluster is activated, and goes on by itself: `keywright operator replication status -family=dr` shows ' +
        'how far it is.\n',
    ),
    ran.stderr,
  )
})

test('activate -wait does not take tries of a link for moves', async () => {
  const tries = ['connecting', 'transient_failure'].map((connection_state) =>
    data({ ...SECONDARY, state: 'idle', connection_state, idle_reason: 'refused' }),
  )
  let look = 0
  api.answer = ({ method }) => (method === 'POST' ? warned('It is set up') : tries[look++ % 2])
  const sleeps: number[] = []
  const ran = await client('activate -wait -timeout=5s a.b.c', { sleeps })
  assert.deepEqual([ran.code, sleeps.length], [2, 5])
  assert.equal(ran.stderr.match(/^secondary, idle/gm)?.length, 1)
})

test('activate -wait that was refused does not wait', async () => {
  answers(refused(400, 'The token has ended'))
  const ran = await client('activate -wait a.b.c')
  assert.deepEqual([ran.code, asked().length], [2, 1])
})

test('on a terminal the wait has one line, which is written anew', async () => {
  const [stdout, stderr] = [collector(), collector()]
  answers(warned('It is set up'), data(copying(100)), data(copying(200)), data(SECONDARY))
  const io = {
    stdin: new PassThrough(),
    stdout: stdout.stream,
    stderr: Object.assign(stderr.stream, { isTTY: true, columns: 40 }),
    env: { VAULT_ADDR: api.address },
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
  assert.equal(await runCli(['operator', 'replication', 'activate', '-wait', 'a.b.c'], io), 0)
  const [, after = ''] = stderr.bytes().toString().split('* It is set up\n\n')
  const lines = ['secondary, merkle-sync, 100 of 400 keys', 'secondary, merkle-sync, 200 of 400 keys, about 2 s']
  assert.equal(after, `${lines.map((line) => `\r${line.slice(0, 39)}\u001b[K`).join('')}\n`)
})
