import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readEntries } from '../../../test/fixtures/audit-log.ts'
import { type Called, type MemoryServer, START_MS, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { type ReplicationDouble, replicationDouble } from '../../../test/fixtures/replication-double.ts'
import { temporaryDirectory } from '../../../test/fixtures/server-process.ts'
import { servingBeside } from '../../../test/fixtures/serving-node.ts'
import { fail } from '../../api/errors.ts'
import type { IssuedToken, ReplicationOperations } from '../replication-operations.ts'
import { refusalOfSet } from '../replication-refusal.ts'

const ADDRESS = 'https://keys.test:8200'
const directory = temporaryDirectory()
after(() => directory.cleanUp())

type Stage = { readonly server: MemoryServer; readonly asked: ReplicationDouble['asked'] }

async function stage(answers: Partial<ReplicationOperations> = {}, apiAddress = ADDRESS): Promise<Stage> {
  const { operations, asked } = replicationDouble(answers)
  return { server: await startMemoryServer({ replication: operations, facts: { apiAddress } }), asked }
}

const at = (path: string): string => `sys/replication/dr/${path}`
const errorOf = ({ body }: Called): string => String((body.errors as string[] | undefined)?.[0])
/** The envelope without its id. */
const envelopeOf = ({ body: { request_id: _, ...rest } }: Called): object => rest
const EMPTY_ENVELOPE = {
  lease_id: '',
  renewable: false,
  lease_duration: 0,
  data: null,
  wrap_info: null,
  warnings: null,
  auth: null,
  mount_type: 'system',
}
const ACTIVATION = { token: 't', primary_api_addr: 'https://p.test:8200', ca_file: '/ca.pem', ca_path: '/cas' }
const GIVEN = { token: 't', primaryApiAddress: 'https://p.test:8200', caFile: '/ca.pem', caPath: '/cas' }

const CHANGES: readonly { path: string; body?: object; verb: readonly unknown[]; says: RegExp }[] = [
  { path: 'primary/enable', verb: ['enablePrimary', 'dr', ''], says: /becomes a primary/ },
  {
    path: 'primary/enable',
    body: { primary_cluster_addr: 'https://a.test:8201' },
    verb: ['enablePrimary', 'dr', 'https://a.test:8201'],
    says: /becomes a primary/,
  },
  { path: 'primary/disable', verb: ['disablePrimary', 'dr'], says: /^The set has ended/ },
  {
    path: 'secondary/enable',
    body: ACTIVATION,
    verb: ['enableSecondary', 'dr', GIVEN],
    says: /copied in the background/,
  },
  {
    path: 'secondary/enable',
    body: { token: 't' },
    verb: ['enableSecondary', 'dr', { token: 't', primaryApiAddress: '', caFile: '', caPath: '' }],
    says: /serves no client from now on/,
  },
]
for (const { path, body, verb, says } of CHANGES) {
  test(`POST and PUT ${path} with ${Object.keys(body ?? {}).length} fields change the mode, and warn`, async () => {
    const { server, asked } = await stage()
    for (const method of ['POST', 'PUT']) {
      const answer = await server.call(method, at(path), body)
      const warnings = answer.body.warnings as string[]
      assert.deepEqual([answer.status, warnings.length], [200, 1])
      assert.match(warnings[0] ?? '', says)
      assert.deepEqual(envelopeOf(answer), { ...EMPTY_ENVELOPE, warnings })
      assert.deepEqual(asked(), [verb])
    }
  })
}

test('a primary of which nothing says where its cluster port is reached warns of that', async () => {
  const { server } = await stage({}, '')
  const warningsOf = async (body: object) => (await server.call('POST', at('primary/enable'), body)).body.warnings
  const [becomes, unknown, ...more] = (await warningsOf({})) as string[]
  assert.match(becomes ?? '', /becomes a primary/)
  assert.match(unknown ?? '', /set "cluster_addr" or "api_addr"/)
  assert.deepEqual(more, [])
  assert.deepEqual(await warningsOf({ primary_cluster_addr: 'https://a.test:8201' }), [becomes])
})

test('a secondary is revoked with 204, a key and looks are data', async () => {
  const look = { what: 'clock', result: 'bad', sentence: 'The clock is 5 minutes ahead' } as const
  const { server, asked } = await stage({ check: async () => [look] })
  const revoked = await server.call('POST', at('primary/revoke-secondary'), { id: 'site b/1' })
  assert.deepEqual(revoked, { status: 204, body: {} })
  const rotated = await server.call('POST', at('primary/rotate-authority'))
  assert.deepEqual(envelopeOf(rotated), { ...EMPTY_ENVELOPE, data: { waits_for: ['site-b'] } })
  const key = await server.call('POST', at('secondary/generate-public-key'))
  assert.deepEqual(envelopeOf(key), { ...EMPTY_ENVELOPE, data: { secondary_public_key: 'the-key' } })
  const checked = await server.call('POST', at('secondary/check'), ACTIVATION)
  assert.deepEqual(envelopeOf(checked), { ...EMPTY_ENVELOPE, data: { checks: [look] } })
  assert.deepEqual(asked(), [
    ['revokeSecondary', 'dr', 'site b/1'],
    ['rotateAuthority', 'dr'],
    ['generatePublicKey', 'dr'],
    ['check', 'dr', GIVEN],
  ])
})

const ALL = [
  'primary/enable',
  'primary/disable',
  'primary/secondary-token',
  'primary/revoke-secondary',
  'primary/rotate-authority',
  'secondary/generate-public-key',
  'secondary/enable',
  'secondary/check',
]
const ENOUGH = { id: 'site-b', token: 't' }

test('T16: a wrong method is 405, and asks nothing', async () => {
  const { server, asked } = await stage()
  for (const path of ALL)
    for (const method of ['GET', 'DELETE', 'LIST'])
      assert.equal((await server.call(method, at(path))).status, 405, `${method} ${path}`)
  assert.deepEqual(asked(), [])
})

test('T16: fields that no endpoint knows are ignored with a warning, and what is required is asked for', async () => {
  const { server, asked } = await stage()
  const { status, body } = await server.call('POST', at('primary/enable'), { primary_cluster_address: 'x' })
  assert.equal(status, 200)
  assert.match(JSON.stringify(body.warnings), /primary_cluster_address/)
  asked()
  for (const [path, name] of [
    ['primary/secondary-token', 'id'],
    ['primary/revoke-secondary', 'id'],
    ['secondary/enable', 'token'],
    ['secondary/check', 'token'],
  ] as const) {
    const missing = await server.call('POST', at(path), {})
    assert.equal(missing.status, 400)
    assert.match(errorOf(missing), new RegExp(`"${name}"`))
  }
  for (const name of ['ca_file', 'ca_path']) {
    const long = (length: number) =>
      server.call('POST', at('secondary/check'), { token: 't', [name]: 'x'.repeat(length) })
    assert.equal((await long(4_096)).status, 200)
    assert.equal((await long(4_097)).status, 400)
  }
})

const NEED_SUDO: ReadonlySet<string> = new Set(['primary/secondary-token', 'primary/rotate-authority'])

test('T16: tokens for secondaries and another authority need sudo, the rest what its path needs', async () => {
  const { server, asked } = await stage()
  await server.call('POST', 'sys/policies/acl/plain', {
    policy: 'path "sys/replication/*" { capabilities = ["update"] }',
  })
  const made = await server.call('POST', 'auth/token/create', { policies: ['plain'] })
  const { client_token: token } = made.body.auth as Record<string, string>
  for (const path of ALL) {
    const { status } = await server.call('POST', at(path), ENOUGH, token)
    const isRefused = NEED_SUDO.has(path)
    assert.ok(isRefused ? status === 403 : status < 300, `${path}: ${status}`)
    assert.equal((await server.call('POST', at(path), ENOUGH, '')).status, 403)
  }
  assert.equal(asked().length, ALL.length - NEED_SUDO.size)
})

test('an edition without the family refuses each operation, whatever the cluster is', async () => {
  for (const edition of ['plus', 'community'] as const) {
    const { operations, asked } = replicationDouble()
    const server = await startMemoryServer({ replication: operations, facts: { edition } })
    for (const path of ALL) {
      const answer = await server.call('POST', at(path), ENOUGH)
      assert.equal(answer.status, 400)
      assert.match(errorOf(answer), new RegExp(`^DR Replication .*edition of this server is "${edition}"$`))
    }
    assert.deepEqual(asked(), [])
    assert.deepEqual((await server.call('GET', at('status'), undefined, '')).body.data, { mode: 'disabled' })
  }
})

test('a server that does not replicate refuses each operation', async () => {
  const server = await startMemoryServer()
  for (const path of ALL) {
    const answer = await server.call('POST', at(path), ENOUGH)
    assert.deepEqual([answer.status, errorOf(answer)], [400, 'This server does not replicate'])
  }
})

test('a refusal of an operation keeps status and sentence, with whatever wrapping was asked for', async () => {
  for (const status of [400, 404, 503] as const) {
    const refused = async (): Promise<never> => {
      throw refusalOfSet({ status, message: `No, with ${status}` })
    }
    const { server } = await stage({
      enablePrimary: refused,
      disablePrimary: refused,
      secondaryToken: refused,
      revokeSecondary: refused,
      rotateAuthority: refused,
      generatePublicKey: refused,
      enableSecondary: refused,
      check: refused,
    })
    for (const path of ALL) {
      const wraps = path === 'secondary/enable' ? [{}] : [{}, { wrapTtl: '60' }]
      for (const headers of wraps) {
        const answer = await server.call('POST', at(path), ENOUGH, 'root', headers)
        assert.deepEqual(answer, { status, body: { errors: [`No, with ${status}`] } }, path)
      }
    }
  }
})

test('a DR secondary refuses them all, or who has no operation token, also while its copy is not whole', async () => {
  const { server, asked } = await stage()
  for (const dr of ['bootstrapping', 'secondary'] as const) {
    const { role } = server.node.role.state
    await server.node.changeRole({ role: { ...role, dr }, primaryAddress: '' })
    for (const path of ALL) {
      const answer = await server.call('POST', at(path), ENOUGH)
      if (path === 'secondary/generate-public-key') {
        assert.equal(answer.status, 403)
        assert.match(errorOf(answer), /^permission denied: X-Vault-Token must be a batch token of the set/)
      } else assert.deepEqual([answer.status, errorOf(answer)], [400, 'path disabled in replication DR secondary mode'])
    }
  }
  assert.deepEqual(asked(), [])
})

test('a thread that only serves has them carried out where writes are made', async () => {
  const { server, asked } = await stage()
  const serving = await servingBeside(server)
  for (const path of ALL) {
    const { status } = await serving.send('POST', at(path), Buffer.from(JSON.stringify(ENOUGH)))
    assert.ok(status === 200 || status === 204, `${path}: ${status}`)
  }
  assert.equal(asked().length, ALL.length)
})

type WrapInfo = { readonly token: string; readonly accessor: string } & Readonly<Record<string, unknown>>
const wrapOf = ({ body }: Called): WrapInfo => body.wrap_info as WrapInfo
const partOf = (jwt: string, part: number) =>
  JSON.parse(Buffer.from(jwt.split('.')[part] ?? '', 'base64url').toString()) as Record<string, unknown>
const tokenCall = (server: MemoryServer, body: object, headers = {}) =>
  server.call('POST', at('primary/secondary-token'), body, 'root', headers)

test('a token is wrapped as a JWT for its own time, whatever the request asks for', async () => {
  for (const headers of [{}, { wrapTtl: '60' }, { wrapTtl: '0' }, { wrapTtl: '60', wrapFormat: 'jwt' }]) {
    const { server, asked } = await stage()
    const answer = await tokenCall(server, { id: 'site-b', ttl: '5m' }, headers)
    assert.equal(answer.status, 200)
    const { token, accessor, ...info } = wrapOf(answer)
    assert.deepEqual(envelopeOf(answer), { ...EMPTY_ENVELOPE, wrap_info: { token, accessor, ...info } })
    const created = { creation_time: new Date(START_MS).toISOString(), creation_path: at('primary/secondary-token') }
    assert.deepEqual(info, { ttl: 300, ...created })
    assert.deepEqual(partOf(token, 0), { alg: 'ES512', typ: 'JWT' })
    const { jti, ...claims } = partOf(token, 1)
    const now = START_MS / 1_000
    const times = { iat: now, exp: now + 300, nbf: now - 5 }
    assert.deepEqual(claims, { type: 'wrapping', addr: ADDRESS, accessor: '', ...times })
    assert.match(String(jti), /^hvs\./)
    assert.deepEqual(asked(), [['secondaryToken', 'dr', { id: 'site-b', ttlMs: 300_000, publicKey: '' }]])
    // Redeemed as a secondary does it: the token is the caller.
    const opened = await server.call('PUT', 'sys/wrapping/unwrap', undefined, token)
    assert.deepEqual(envelopeOf(opened), { ...EMPTY_ENVELOPE, data: { token: 'the-token' } })
    assert.equal((await server.call('PUT', 'sys/wrapping/unwrap', undefined, token)).status, 400)
  }
})

test('a token lasts half an hour if nothing else is asked for, and no longer', async () => {
  const { server } = await stage()
  const { token, ttl } = wrapOf(await tokenCall(server, { id: 'site-b' }))
  assert.equal(ttl, 1_800)
  server.advance(1_800)
  assert.equal((await server.call('PUT', 'sys/wrapping/unwrap', undefined, token)).status, 400)
})

test('a token for a public key is data, and is wrapped if the request asks for it, as it asks', async () => {
  const { server, asked } = await stage()
  const wanted = { id: 'site-b', ttl: 60, secondary_public_key: 'their-key' }
  assert.deepEqual(envelopeOf(await tokenCall(server, wanted)), { ...EMPTY_ENVELOPE, data: { token: 'the-token' } })
  assert.deepEqual(asked(), [['secondaryToken', 'dr', { id: 'site-b', ttlMs: 60_000, publicKey: 'their-key' }]])
  const wrapped = await tokenCall(server, wanted, { wrapTtl: '90' })
  assert.equal(wrapOf(wrapped).ttl, 90)
  assert.match(wrapOf(wrapped).token, /^hvs\./)
  const opened = await server.call('PUT', 'sys/wrapping/unwrap', undefined, wrapOf(wrapped).token)
  assert.deepEqual(opened.body.data, { token: 'the-token' })
})

test('without an API address the JWT names none, and the answer says what to do', async () => {
  const { server } = await stage({}, '')
  const answer = await tokenCall(server, { id: 'site-b' })
  assert.equal(Object.hasOwn(partOf(wrapOf(answer).token, 1), 'addr'), false)
  const warnings = answer.body.warnings as string[]
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /"primary_api_addr".*"api_addr"/)
  const opened = await server.call('PUT', 'sys/wrapping/unwrap', undefined, wrapOf(answer).token)
  assert.equal(opened.body.warnings, null)
  const sealed = await tokenCall(server, { id: 'site-b', secondary_public_key: 'their-key' })
  assert.equal(sealed.body.warnings, null)
})

test('what a token replaces is told beside it, with fields that were ignored', async () => {
  for (const [replaced, says] of [
    ['unused token', /was not used, and is void now/],
    ['claimed token', /was handed the keys of the set.*If it is not yours, rotate/],
    ['secondary', /refused from now on/],
  ] as const) {
    const { server } = await stage({
      secondaryToken: async (_family, { publicKey }): Promise<IssuedToken> => ({
        kind: publicKey === '' ? 'wrapped' : 'sealed',
        text: 'the-token',
        replaced,
        hadFilter: false,
      }),
    })
    for (const key of ['', 'their-key']) {
      const answer = await tokenCall(server, { id: 'site-b', secondary_public_key: key, other: 1 })
      const [ignored, told, ...more] = answer.body.warnings as string[]
      assert.match(ignored ?? '', /other/)
      assert.match(told ?? '', says)
      assert.deepEqual(more, [])
    }
  }
})

test('secondary/enable is never wrapped: its answer comes when the tokens here are gone', async () => {
  const { server, asked } = await stage()
  const { status } = await server.call('POST', at('secondary/enable'), { token: 't' }, 'root', { wrapTtl: '60' })
  assert.equal(status, 400)
  assert.deepEqual(asked(), [])
})

test('tokens and keys are recorded as HMACs', async () => {
  const { server } = await stage({
    check: async () => {
      throw fail('replication_refused', ['No'])
    },
  })
  const file = join(directory.path, 'audit.log')
  await server.call('POST', 'sys/audit/file', { type: 'file', options: { file_path: file } })
  const wrapped = await tokenCall(server, { id: 'site-b' })
  await tokenCall(server, { id: 'site-b', secondary_public_key: 'their-key' })
  await server.call('POST', at('secondary/generate-public-key'))
  for (const path of ['secondary/check', 'secondary/enable'])
    await server.call('POST', at(path), { token: 'given-token', ca_file: '/ca.pem' })
  const all = readEntries(file).filter(({ request: { path } }) => path.startsWith('sys/replication/'))
  assert.equal(all.length, 10)
  assert.doesNotMatch(JSON.stringify(all), /the-token|the-key|their-key|given-token|"eyJ|hvs\./)
  const { token, accessor } = wrapOf(wrapped)
  const hash = async (input: string): Promise<unknown> =>
    (await server.call('POST', 'sys/audit-hash/file', { input })).body.data?.hash
  assert.equal(all[1]?.response?.wrap_info?.token, await hash(token))
  assert.equal(all[1]?.response?.wrap_info?.accessor, await hash(accessor))
  assert.deepEqual(all[3]?.response?.data, { token: await hash('the-token') })
  assert.deepEqual(all[5]?.response?.data, { secondary_public_key: await hash('the-key') })
  for (const each of all.slice(6)) assert.equal(each.request.data?.token, await hash('given-token'))
  await server.node.audit.stop()
})
