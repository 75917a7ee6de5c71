// Quotas over several threads: exactly so many requests as they allow, whatever connection they come by.
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { readEntries } from '../../fixtures/audit-log.ts'
import { type RawAnswer, RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'
import { until } from '../../fixtures/until.ts'

const directory = temporaryDirectory()
let server: ThreadedServer
before(async () => {
  server = await startThreadedServer('serving')
  assert.equal((await server.call('POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
  assert.equal((await server.call('POST', 'transit/keys/k', {})).status, 200)
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})
afterEach(async () => {
  const { body } = await server.call('LIST', 'sys/quotas/rate-limit')
  for (const name of (body.data?.keys ?? []) as string[]) await server.call('DELETE', `sys/quotas/rate-limit/${name}`)
})

const write = async (name: string, fields: object): Promise<void> => {
  const { status, body } = await server.call('POST', `sys/quotas/rate-limit/${name}`, fields)
  assert.equal(status, 204, JSON.stringify(body))
}

async function once(method: string, path: string, body: unknown, token = 'root'): Promise<RawAnswer> {
  const connection = await RawConnection.open(server.address)
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const answer = await connection.exchange(rawRequest(method, `/v1/${path}`, [['X-Vault-Token', token]], bytes))
  connection.close()
  assert.ok(answer !== undefined)
  return answer
}

async function statuses(count: number, path: string, body?: unknown, token?: string): Promise<Record<number, number>> {
  const method = body === undefined ? 'GET' : 'POST'
  const answers = await Promise.all(Array.from({ length: count }, () => once(method, path, body, token)))
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('P-45: of 200 requests at once to two threads exactly as many pass as the quota allows', async () => {
  await write('all', { path: 'transit/', rate: 50, interval: '10m' })
  assert.deepEqual(await statuses(200, 'transit/keys/k'), { 200: 50, 429: 150 })
  assert.equal((await once('GET', 'sys/mounts', undefined)).status, 200, 'other mounts are not counted')
})

test('H-03: who is refused needs no token and no body, and is told when to come back', async () => {
  await write('strict', { path: 'transit/encrypt/k', rate: 1, interval: 600 })
  assert.equal((await once('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).status, 200)
  const { status, headers, body } = await once('POST', 'transit/encrypt/k', 'no object', 'no token')
  assert.equal(status, 429)
  assert.deepEqual(JSON.parse(body), { errors: ['request path "transit/encrypt/k": rate limit quota exceeded'] })
  const seconds = Number(headers.get('retry-after'))
  assert.ok(seconds > 590 && seconds <= 600, `${seconds}`)
  assert.equal(headers.has('x-ratelimit-limit'), false)
})

test('the most specific quota alone counts', async () => {
  await write('everything', { rate: 1_000, interval: 600 })
  await write('mount', { path: 'transit/', rate: 100, interval: 600 })
  await write('beginning', { path: 'transit/encrypt/*', rate: 3, interval: 600 })
  await write('path', { path: 'transit/encrypt/k', rate: 7, interval: 600 })
  const plaintext = { plaintext: 'YQ==' }
  assert.deepEqual(await statuses(20, 'transit/encrypt/k', plaintext), { 200: 7, 429: 13 })
  assert.deepEqual(await statuses(20, 'transit/encrypt/other', plaintext), { 200: 3, 429: 17 })
  assert.deepEqual(await statuses(20, 'transit/keys/k'), { 200: 20 })
})

test('headers tell what is left where they are asked for, and exempt paths are not counted', async () => {
  const config = { enable_rate_limit_response_headers: true, rate_limit_exempt_paths: ['sys/health', 'sys/internal/*'] }
  assert.equal((await server.call('POST', 'sys/quotas/config', config)).status, 204)
  await write('system', { path: 'sys/mounts', rate: 2, interval: 600 })
  const first = await once('GET', 'sys/mounts', undefined)
  assert.deepEqual(
    ['limit', 'remaining'].map((name) => first.headers.get(`x-ratelimit-${name}`)),
    ['2', '1'],
  )
  await write('system', { path: 'sys/', rate: 1 })
  assert.deepEqual(await statuses(10, 'sys/health'), { 200: 10 })
  assert.deepEqual(await statuses(10, 'sys/internal/ui/mounts'), { 200: 10 })
  // Whoever shut himself out can still lift it.
  assert.equal((await once('GET', 'sys/mounts', undefined)).status, 200)
  assert.equal((await once('GET', 'sys/mounts', undefined)).status, 429)
  const { body } = await server.call('GET', 'sys/quotas/config')
  assert.deepEqual(body.data, { ...config, enable_rate_limit_audit_logging: false })
})

test('who is blocked stays so beyond the interval', async () => {
  await write('block', { path: 'transit/', rate: 2, interval: 1, block_interval: 600 })
  // Where this machine stands still the interval is over before the third of them: then come the next ones.
  await until(async () => ((await statuses(4, 'transit/keys/k'))[429] ?? 0) > 0, 'more than two within a second')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const { status, headers } = await once('GET', 'transit/keys/k', undefined)
  assert.equal(status, 429)
  assert.ok(Number(headers.get('retry-after')) > 500)
})

test('entities are counted each for themselves, and others by their address', async () => {
  const accessors = (await server.call('GET', 'sys/auth')).body.data as Record<string, { accessor: string }>
  const mount_accessor = accessors['token/']?.accessor
  const tokens: string[] = []
  await server.call('POST', 'sys/policies/acl/reader', { policy: 'path "transit/*" { capabilities = ["read"] }' })
  await server.call('POST', 'auth/token/roles/r', { allowed_entity_aliases: ['a', 'b'], allowed_policies: ['reader'] })
  for (const name of ['a', 'b']) {
    const made = await server.call('POST', 'identity/entity', { name })
    await server.call('POST', 'identity/entity-alias', { name, mount_accessor, canonical_id: made.body.data?.id })
    const { body } = await server.call('POST', 'auth/token/create/r', { entity_alias: name, policies: ['reader'] })
    tokens.push(String((body.auth as Record<string, unknown>).client_token))
  }
  await write('entities', { path: 'transit/', rate: 5, secondary_rate: 2, interval: 600, group_by: 'entity_then_ip' })
  for (const token of tokens)
    assert.deepEqual(await statuses(9, 'transit/keys/k', undefined, token), { 200: 5, 429: 4 })
  assert.deepEqual(await statuses(9, 'transit/keys/k', undefined, 'no token'), { 403: 2, 429: 7 })
})

test('a quota of a role counts the logins with it, before any other does', async () => {
  await server.call('POST', 'sys/auth/approle', { type: 'approle' })
  const roleIds: string[] = []
  for (const role of ['busy', 'calm']) {
    await server.call('POST', `auth/approle/role/${role}`, {
      bind_secret_id: false,
      secret_id_bound_cidrs: '127.0.0.0/8',
    })
    roleIds.push(String((await server.call('GET', `auth/approle/role/${role}/role-id`)).body.data?.role_id))
  }
  await write('busy-logins', { path: 'auth/approle/', role: 'busy', rate: 3, interval: 600 })
  const [busy, calm] = roleIds
  assert.deepEqual(await statuses(8, 'auth/approle/login', { role_id: busy }), { 200: 3, 429: 5 })
  assert.deepEqual(await statuses(8, 'auth/approle/login', { role_id: calm }), { 200: 8 })
  assert.deepEqual(await statuses(8, 'auth/approle/role/busy'), { 200: 8 })
})

test('H-03: what is refused before a quota is looked for counts for the one of everything', async () => {
  const send = async (method: string, path: string, headers: [string, string][]): Promise<number> => {
    const connection = await RawConnection.open(server.address)
    const answer = await connection.exchange(rawRequest(method, `/v1/${path}`, headers, undefined))
    connection.close()
    return answer?.status ?? 0
  }
  const floods: readonly (readonly [string, string, string, [string, string][], number])[] = [
    ['method', 'PATCH', 'x/y', [], 415],
    ['namespace', 'GET', 'x/y', [['X-Vault-Namespace', 'z']], 404],
    ['wrapping', 'GET', 'x/y', [['X-Vault-Wrap-TTL', 'z']], 400],
    ['path', 'GET', 'x/../y', [], 400],
    ['path of quotas', 'GET', 'sys/quotas/../y', [], 400],
  ]
  for (const group_by of ['ip', 'entity_then_ip']) {
    for (const [name, method, path, headers, status] of floods) {
      await write('everything', { rate: 3, interval: 600, group_by })
      const seen: number[] = []
      for (let i = 0; i < 6; i++) seen.push(await send(method, path, headers))
      assert.deepEqual(seen, [status, status, status, 429, 429, 429], `${name}, ${group_by}`)
      await server.call('DELETE', 'sys/quotas/rate-limit/everything')
    }
  }
  await write('everything', { rate: 1, interval: 600 })
  for (let i = 0; i < 5; i++) assert.equal(await send('PATCH', 'sys/quotas/config', []), 415)
})

test('H-03: what is refused before its mount is looked for counts for the quota of that mount', async () => {
  const send = async (method: string, path: string, headers: [string, string][]): Promise<number> => {
    const connection = await RawConnection.open(server.address)
    const answer = await connection.exchange(rawRequest(method, `/v1/${path}`, headers, undefined))
    connection.close()
    return answer?.status ?? 0
  }
  const floods: readonly (readonly [string, string, [string, string][], number])[] = [
    ['method', 'PATCH', [], 415],
    ['namespace', 'GET', [['X-Vault-Namespace', 'z']], 404],
    ['wrapping', 'GET', [['X-Vault-Wrap-TTL', 'z']], 400],
  ]
  for (const [name, method, headers, status] of floods) {
    await write('mount', { path: 'transit/keys/*', rate: 3, interval: 600 })
    const seen: number[] = []
    for (let i = 0; i < 5; i++) seen.push(await send(method, 'transit/keys/k', headers))
    assert.deepEqual(seen, [status, status, status, 429, 429], name)
    assert.equal((await once('GET', 'transit/keys/k', undefined)).status, 429, name)
    assert.equal(await send(method, 'transit/encrypt/k', headers), status, 'other paths are not counted')
    await server.call('DELETE', 'sys/quotas/rate-limit/mount')
  }
})

test('enable_rate_limit_audit_logging: what a quota refuses is recorded where that is asked for', async () => {
  const file = join(directory.path, 'audit.log')
  const enabled = await server.call('PUT', 'sys/audit/log', { type: 'file', options: { file_path: file } })
  assert.equal(enabled.status, 204)
  const refusals = () => readEntries(file).filter(({ error }) => error?.includes('rate limit quota exceeded') === true)
  await write('few', { path: 'transit/keys/k', rate: 1, interval: 600 })
  await statuses(4, 'transit/keys/k')
  assert.equal(refusals().length, 0)
  assert.equal((await server.call('POST', 'sys/quotas/config', { enable_rate_limit_audit_logging: true })).status, 204)
  assert.equal((await server.call('GET', 'sys/quotas/config')).body.data?.enable_rate_limit_audit_logging, true)
  assert.deepEqual(await statuses(4, 'transit/keys/k'), { 429: 4 })
  assert.deepEqual(
    refusals()
      .map(({ type }) => type)
      .sort(),
    ['request', 'request', 'request', 'request'].concat(Array(4).fill('response')),
  )
  assert.equal(refusals()[0]?.request.path, 'transit/keys/k')
  assert.equal((await server.call('POST', 'sys/quotas/config', { enable_rate_limit_audit_logging: false })).status, 204)
  await statuses(2, 'transit/keys/k')
  assert.equal(refusals().length, 8)
  assert.equal((await server.call('DELETE', 'sys/audit/log')).status, 204)
})

test('A-08: a quota of a role counts its logins in every form, and however large they are', async () => {
  await server.call('POST', 'sys/auth/numbered', { type: 'approle' })
  await server.call('POST', 'auth/numbered/role/digits', {
    role_id: '4711',
    bind_secret_id: false,
    secret_id_bound_cidrs: '127.0.0.0/8',
  })
  await write('digits', { path: 'auth/numbered/', role: 'digits', rate: 2, interval: 600 })
  assert.deepEqual(await statuses(4, 'auth/numbered/login', { role_id: 4711 }), { 200: 2, 429: 2 })
  // With a token a body may be larger than those that are looked into.
  const large = { role_id: '4711', padding: 'x'.repeat(300_000) }
  const { status } = await server.call('POST', 'auth/numbered/login', large)
  assert.equal(status, 413)
})

test('a login whose body is no JSON counts, without a role', async () => {
  await server.call('POST', 'sys/auth/again', { type: 'approle' })
  await write('of-role', { path: 'auth/again/', role: 'r', rate: 100, interval: 600 })
  await write('everything', { rate: 2, interval: 600 })
  const seen: (number | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    const connection = await RawConnection.open(server.address)
    const answer = await connection.exchange(rawRequest('POST', '/v1/auth/again/login', [], Buffer.from('{"role_id":')))
    seen.push(answer?.status)
    connection.close()
  }
  assert.deepEqual(seen, [400, 400, 429, 429])
})

test('a quota moves with its mount and goes with it', async () => {
  await server.call('POST', 'sys/mounts/first', { type: 'transit' })
  await write('of-first', { path: 'first/keys/*', rate: 5, interval: 60 })
  await server.call('POST', 'sys/remount', { from: 'first', to: 'second' })
  const { body } = await server.call('GET', 'sys/quotas/rate-limit/of-first')
  assert.deepEqual(body.data, {
    type: 'rate-limit',
    name: 'of-first',
    path: 'second/keys/*',
    role: '',
    rate: 5,
    interval: 60,
    block_interval: 0,
    group_by: 'ip',
    secondary_rate: 0,
    inheritable: true,
  })
  await server.call('DELETE', 'sys/mounts/second')
  assert.equal((await server.call('GET', 'sys/quotas/rate-limit/of-first')).status, 404)
})

test('what cannot be a quota is refused by the field that is wrong', async () => {
  const refusals: [string, object][] = [
    ['rate', { path: 'transit/' }],
    ['rate', { rate: 0 }],
    ['path', { rate: 1, path: 'nowhere/at/all' }],
    ['role', { rate: 1, path: 'transit/', role: 'r' }],
    ['role', { rate: 1, role: 'r' }],
    ['group_by', { rate: 1, group_by: 'moon' }],
    ['secondary_rate', { rate: 1, secondary_rate: 1 }],
    ['secondary_rate', { rate: 1, secondary_rate: -1, group_by: 'entity_then_ip' }],
    ['interval', { rate: 1, interval: 0 }],
  ]
  for (const [field, fields] of refusals) {
    const { status, body } = await server.call('POST', 'sys/quotas/rate-limit/wrong', fields)
    assert.deepEqual(
      [status, JSON.stringify(body).includes(`\\"${field}\\"`)],
      [400, true],
      JSON.stringify([fields, body]),
    )
  }
  await write('one', { rate: 1_000 })
  const twice = await server.call('POST', 'sys/quotas/rate-limit/two', { rate: 5 })
  assert.deepEqual(twice.body, {
    errors: ['quota rule with similar properties exists under the name "one"'],
  })
})
