// The commands of replication for performance: the token of the caller stands where disaster recovery has an operation
// token, and a primary with other addresses needs no token at all.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, type Reply, ROOT_TOKEN, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

const folder = mkdtempSync(join(tmpdir(), 'keywright-performance-'))
after(() => rmSync(folder, { recursive: true }))
const ACTIVATION = join(folder, 'activation-token')
writeFileSync(ACTIVATION, 'aaa.bbb.ccc\n')

const FAMILY = '-family=performance'

function client(argv: string, { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  const all = { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN, ...env }
  return runClient(`operator replication ${argv}`.split(' '), { env: all, ...more })
}

const BELOW = '/v1/sys/replication/'.length
const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target.slice(BELOW)} ${body}`)

const warned = (data: object | null = null): Reply => ({ status: 200, body: envelope({ data, warnings: ['mind it'] }) })

const CASES: readonly {
  readonly argv: string
  readonly asks: string
  readonly says: string
  readonly data?: object
}[] = [
  { argv: 'enable', asks: 'primary/enable {}', says: 'Success! This cluster is a primary: Performance\n' },
  { argv: 'disable -yes', asks: 'primary/disable {}', says: 'Success! Replication is disabled: Performance\n' },
  {
    argv: 'disable -secondary -yes',
    asks: 'secondary/disable {}',
    says: 'Success! Replication is disabled: Performance\n',
  },
  {
    argv: 'secondary-token -id=region-b',
    asks: 'primary/secondary-token {"id":"region-b"}',
    data: { token: 'sealed' },
    says: 'sealed\n',
  },
  {
    argv: 'revoke -id=region-b',
    asks: 'primary/revoke-secondary {"id":"region-b"}',
    says: 'Success! Revoked secondary: region-b\n',
  },
  {
    argv: 'rotate-authority -field=waits_for',
    asks: 'primary/rotate-authority {}',
    data: { waits_for: ['region-b'] },
    says: '["region-b"]',
  },
  {
    argv: 'public-key',
    asks: 'secondary/generate-public-key {}',
    data: { secondary_public_key: 'some-key' },
    says: 'some-key\n',
  },
  {
    argv: `activate @${ACTIVATION}`,
    asks: 'secondary/enable {"token":"aaa.bbb.ccc"}',
    says: 'Success! This cluster is a secondary: Performance\n',
  },
  {
    argv: 'promote',
    asks: 'secondary/promote {}',
    says: 'Success! This cluster is the primary of its set: Performance\n',
  },
  {
    argv: 'promote -force -yes -primary-cluster-addr=https://lb:8201',
    asks: 'secondary/promote {"primary_cluster_addr":"https://lb:8201","force":true}',
    says: 'Success! This cluster is the primary of its set: Performance\n',
  },
  {
    argv: 'demote -yes',
    asks: 'primary/demote {}',
    says: 'Success! This cluster is a secondary without a primary: Performance\n',
  },
  {
    argv: `update-primary -force @${ACTIVATION}`,
    asks: 'secondary/update-primary {"token":"aaa.bbb.ccc","force":true}',
    says: 'Success! This cluster has a new primary: Performance\n',
  },
  {
    argv: 'update-primary -none',
    asks: 'secondary/update-primary {"token":""}',
    says: 'Success! This cluster follows nobody: Performance\n',
  },
  {
    argv: 'update-primary -primary-addr=https://b:8201 -primary-addr https://c:8201',
    asks: 'secondary/update-primary {"update_primary_addrs":["https://b:8201","https://c:8201"]}',
    says: 'Success! This cluster follows its primary at the new address: Performance\n',
  },
]

for (const { argv, asks, says, data } of CASES) {
  test(`replication ${argv.replace(`${folder}/`, '')} for performance`, async () => {
    api.answer = () => warned(data)
    const ran = await client(`${argv} ${FAMILY}`, { env: { KEYWRIGHT_OPERATION_TOKEN: 'hvb.of-the-other-family' } })
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, says, 'The server warns:\n\n* mind it\n\n'])
    assert.deepEqual(asked(), [`POST performance/${asks}`])
    assert.equal(api.asked[0]?.headers['x-vault-token'], ROOT_TOKEN)
  })
}

test('an activation token may come over standard input, where no operation token does', async () => {
  api.answer = () => warned()
  const ran = await client(`update-primary ${FAMILY}`, { stdin: 'aaa.bbb.ccc\n' })
  assert.equal(ran.code, 0)
  assert.deepEqual(asked(), ['POST performance/secondary/update-primary {"token":"aaa.bbb.ccc"}'])
})

test('recover goes by the token of the caller, and for disaster recovery by an operation token', async () => {
  api.answer = () => warned()
  assert.equal((await client(`recover ${FAMILY}`)).stdout, 'Success! This cluster calls its primary\n')
  assert.equal((await client('recover -operation-token=-', { stdin: 'hvb.op' })).code, 0)
  assert.deepEqual(asked(), ['POST recover {}', 'POST dr/secondary/recover {"dr_operation_token":"hvb.op"}'])
})

const NOT_SENT: readonly (readonly [argv: string, says: RegExp])[] = [
  ['promote -operation-token=hvb.op', /-operation-token is for disaster recovery: .* the token of the caller counts/],
  ['disable -secondary -yes -operation-token=-', /-operation-token is for disaster recovery/],
  ['update-primary -operation-token=@nowhere a.b.c', /-operation-token is for disaster recovery/],
  ['recover -operation-token=hvb.op', /-operation-token is for disaster recovery/],
  ['promote -force', /lost for good: confirm it with -yes/],
  ['demote', /write nothing that the set shares until it has a primary: confirm it with -yes/],
  ['update-primary', /^Error: The activation token is empty: hand it in on standard input\n$/],
  ...['a.b.c', '-none', '-force'].map(
    (more) => [`update-primary -primary-addr=https://b:8201 ${more}`, /with -primary-addr the primary stays/] as const,
  ),
]

for (const [argv, says] of NOT_SENT) {
  test(`replication ${argv} for performance: nothing is sent`, async () => {
    const ran = await client(`${argv} ${FAMILY}`)
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, says)
    assert.deepEqual(asked(), [])
  })
}

test('addresses of the primary are for performance alone', async () => {
  const ran = await client('update-primary -primary-addr=https://b:8201')
  assert.equal(ran.code, 1)
  assert.match(ran.stderr, /-primary-addr goes with -family=performance: give an activation token/)
  assert.deepEqual(asked(), [])
})

test('update-primary waits for a link to the new address, whatever the state of before says', async () => {
  const status = { mode: 'secondary', state: 'stream-wals' }
  const looks = ['transient_failure', 'connecting', 'ready'].map((connection_state) => ({
    ...status,
    connection_state,
  }))
  api.answer = ({ method }) =>
    method === 'POST' ? warned() : { status: 200, body: envelope({ data: looks.shift() ?? null }) }
  const ran = await client(`update-primary -wait -primary-addr=https://b:8201 ${FAMILY}`, { sleeps: [] })
  assert.deepEqual([ran.code, looks.length, asked().length], [0, 0, 4])
})
