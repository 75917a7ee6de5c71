// The commands by which a set changes hands: the request that each sends, where it takes its secrets from, and what it
// wants confirmed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import {
  type ApiDouble,
  envelope,
  type Reply,
  ROOT_TOKEN,
  refused,
  startApiDouble,
} from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

const folder = mkdtempSync(join(tmpdir(), 'keywright-failover-'))
after(() => rmSync(folder, { recursive: true }))
const OPERATION = join(folder, 'operation-token')
const ACTIVATION = join(folder, 'activation-token')
writeFileSync(OPERATION, 'hvb.op\n')
writeFileSync(ACTIVATION, 'aaa.bbb.ccc\n')

function client(argv: string, { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  const all = { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN, ...env }
  return runClient(`operator replication ${argv}`.split(' '), { env: all, ...more })
}

const asked = (): string[] =>
  api.asked.map(({ method, target, body }) => `${method} ${target.slice('/v1/sys/replication/dr/'.length)} ${body}`)

const WARNED: Reply = { status: 200, body: envelope({ warnings: ['mind it'] }) }

type Case = {
  readonly argv: string
  readonly asks: string
  readonly says: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

const PROMOTED = 'This cluster is the primary of its set: Disaster recovery'
const CASES: readonly Case[] = [
  ...[
    { argv: `promote -operation-token=@${OPERATION}` },
    { argv: 'promote -operation-token=-', stdin: 'hvb.op\n' },
    { argv: 'promote', stdin: 'hvb.op\n' },
    { argv: 'promote', env: { KEYWRIGHT_OPERATION_TOKEN: 'hvb.op' } },
  ].map((typed) => ({ ...typed, asks: 'POST secondary/promote {"dr_operation_token":"hvb.op"}', says: PROMOTED })),
  {
    argv: `promote -force -yes -primary-cluster-addr=https://lb:8201 -operation-token=@${OPERATION}`,
    asks:
      'POST secondary/promote ' +
      '{"dr_operation_token":"hvb.op","primary_cluster_addr":"https://lb:8201","force":true}',
    says: PROMOTED,
  },
  {
    argv: 'demote -yes',
    asks: 'POST primary/demote {}',
    says: 'This cluster is a secondary without a primary: Disaster recovery',
  },
  ...[
    { argv: `update-primary -operation-token=@${OPERATION} @${ACTIVATION}` },
    { argv: `update-primary -operation-token=@${OPERATION}`, stdin: 'aaa.bbb.ccc' },
    { argv: `update-primary @${ACTIVATION}`, stdin: 'hvb.op' },
  ].map((typed) => ({
    ...typed,
    asks: 'POST secondary/update-primary {"dr_operation_token":"hvb.op","token":"aaa.bbb.ccc"}',
    says: 'This cluster has a new primary: Disaster recovery',
  })),
  {
    argv: `update-primary -force -primary-api-addr=https://a:8200 -operation-token=@${OPERATION} @${ACTIVATION}`,
    asks:
      'POST secondary/update-primary {"dr_operation_token":"hvb.op","token":"aaa.bbb.ccc",' +
      '"primary_api_addr":"https://a:8200","force":true}',
    says: 'This cluster has a new primary: Disaster recovery',
  },
  {
    argv: `update-primary -none -operation-token=@${OPERATION}`,
    asks: 'POST secondary/update-primary {"dr_operation_token":"hvb.op","token":""}',
    says: 'This cluster follows nobody: Disaster recovery',
  },
  {
    argv: `disable -secondary -yes -operation-token=@${OPERATION}`,
    asks: 'POST secondary/disable {"dr_operation_token":"hvb.op"}',
    says: 'Replication is disabled: Disaster recovery',
  },
]

for (const { argv, asks, says, ...more } of CASES) {
  const from = more.env === undefined ? (more.stdin === undefined ? '' : ' < a secret') : ', of the environment'
  test(`replication ${argv.replaceAll(`${folder}/`, '')}${from}`, async () => {
    api.answer = () => WARNED
    const ran = await client(argv, more)
    const expected = [0, `Success! ${says}\n`, 'The server warns:\n\n* mind it\n\n']
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], expected)
    assert.deepEqual(asked(), [asks])
  })
}

const NOT_SENT: readonly (readonly [argv: string, says: RegExp])[] = [
  ['promote', /^Error: The operation token is empty: hand it in on standard input\n$/],
  [`promote -force -operation-token=@${OPERATION}`, /lost for good: confirm it with -yes/],
  ['demote', /serve no client any more: confirm it with -yes/],
  [`disable -secondary -operation-token=@${OPERATION}`, /no copy of its primary any more: confirm it with -yes/],
  ['disable -secondary -yes', /The operation token is empty/],
  ['update-primary', /standard input holds one secret: give the operation token in a file/],
  ['update-primary -operation-token=- -', /standard input holds one secret/],
  [`update-primary -none -operation-token=@${OPERATION} @${ACTIVATION}`, /with -none there is no activation token/],
  [`update-primary -none -wait -operation-token=@${OPERATION}`, /nothing to wait for/],
]

for (const [argv, says] of NOT_SENT) {
  test(`replication ${argv.replaceAll(`${folder}/`, '')}: nothing is sent`, async () => {
    const ran = await client(argv)
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, says)
    assert.deepEqual(asked(), [])
  })
}

test('a promotion that lacks something is refused once, with what is missing and what to do', async () => {
  const said = 'This cluster is not caught up: 3 records of its primary are missing. "force" promotes it all the same'
  api.answer = () => refused(503, said)
  const ran = await client(`promote -max-retries=5 -operation-token=@${OPERATION}`)
  assert.deepEqual([ran.code, ran.stdout, asked().length], [2, '', 1])
  assert.ok(ran.stderr.includes(`* ${said}\n`), ran.stderr)
  assert.match(ran.stderr, /Nothing was changed\. If its primary comes back, wait .* -force -yes it takes over/s)
  assert.ok(!ran.stderr.includes('hvb.op'))
})

test('a wrong operation token is no missing token of the caller, and a secondary says what to call', async () => {
  const said = 'permission denied: "dr_operation_token" must be an operation token of this cluster, or another'
  api.answer = () => refused(403, said)
  const promote = await client(`promote -operation-token=@${OPERATION}`, { env: { VAULT_TOKEN: '' } })
  assert.equal(promote.code, 2)
  assert.match(promote.stderr, /Make one with `keywright operator generate-root -dr-token`/)
  assert.ok(!promote.stderr.includes('log in'), promote.stderr)
  api.answer = () => refused(400, 'path disabled in replication DR secondary mode')
  for (const command of ['undone', 'demote -yes']) {
    const { code, stderr } = await client(command)
    assert.equal(code, 2)
    assert.match(stderr, /call its primary \(-address\)\. To operate the secondary itself, give .* an -operation-token/)
  }
})

test('update-primary waits until the cluster follows', async () => {
  const status = { mode: 'secondary', state: 'stream-wals', connection_state: 'ready' }
  api.answer = ({ method }) => (method === 'POST' ? WARNED : { status: 200, body: envelope({ data: status }) })
  const ran = await client(`update-primary -wait -operation-token=@${OPERATION} @${ACTIVATION}`)
  assert.deepEqual([ran.code, asked().at(-1)], [0, 'GET status '])
})
