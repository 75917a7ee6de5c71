// U-01: secrets of every kind are sent through every place that takes them, and looked for in everything that the
// server writes: audit, log, and the texts of errors.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Field } from '../../../src/api/fields.ts'
import { mountEngines, PLACED_ENDPOINTS, pathsOf, WIRE_METHODS } from '../../fixtures/endpoint-table.ts'
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { ToldSecrets } from '../../fixtures/told-secrets.ts'

const directory = temporaryDirectory()
const file = join(directory.path, 'audit.log')
const secrets = new ToldSecrets()
/** All that errors said. */
let told = ''
let server: ServerProcess
/** Requests that the audit is to have recorded; it is there from the first test on. */
let recorded = 0
/** Endpoints that tell the state of the server, or change it while nothing can be recorded. */
const UNRECORDED = new Set(
  PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.whileSealed === true).flatMap((placed) => pathsOf(placed, 'k')),
)

before(async () => {
  const token = randomBytes(20).toString('hex')
  server = await startServerProcess({ directory: join(directory.path, 'data'), token, args: ['-threads=2'] })
  secrets.add('the root token', token)
  await mountEngines(server)
  const { status } = await call('POST', 'sys/audit/file', { type: 'file', options: { file_path: file } })
  assert.equal(status, 204)
  // That which makes the device is not in it.
  recorded = 0
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

/** A new secret, long enough to be nothing else by chance. */
function canary(from: string): string {
  const text = `canary${randomBytes(18).toString('hex')}`
  secrets.add(from, text)
  return text
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Record<string, unknown> & { data?: Record<string, unknown> } }> {
  const response = await fetch(`${server.address}/v1/${path}`, {
    method,
    headers: { 'X-Vault-Token': server.token, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  assert(response.status < 500, `${method} ${path}: ${response.status} ${text}`)
  if (!UNRECORDED.has(path.split('?')[0] ?? '')) recorded++
  if (response.status >= 400) told += `${text}\n`
  const isJson = response.headers.get('content-type') === 'application/json'
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : {} }
}

/** A request that does what it is for: one that were refused before would show nothing. */
async function answers(status: number, ...request: Parameters<typeof call>): Promise<void> {
  const answer = await call(...request)
  assert.equal(answer.status, status, `${request[0]} ${request[1]}: ${JSON.stringify(answer.body)}`)
}

/** What can be sent in a field so that a secret is in it, in forms that pass and in some that do not. */
function valuesOf(from: string, { kind, members }: Pick<Field, 'kind' | 'members'>): unknown[] {
  const base64 = () => Buffer.from(canary(from)).toString('base64')
  switch (kind) {
    case 'batch': {
      // What the caller calls an item by is repeated in its result.
      const partOf = (name: string, member: Pick<Field, 'kind'>): unknown =>
        name === 'reference' ? 'r' : member.kind === 'int' ? 1 : base64()
      const item = () =>
        Object.fromEntries(Object.entries(members ?? {}).map(([name, one]) => [name, partOf(name, one)]))
      return [[item(), item()], canary(from), [canary(from)]]
    }
    case 'object':
    case 'map':
      return [{ inside: canary(from) }, canary(from)]
    case 'strings':
      return [[canary(from), canary(from)], canary(from)]
    default:
      return [canary(from), base64(), [canary(from)], { inside: canary(from) }, `${canary(from)}\n\u2028`]
  }
}

/** Whatever in the table is said to be secret. */
const SECRET_FIELDS = PLACED_ENDPOINTS.flatMap((placed) =>
  Object.entries(placed.endpoint.fields)
    .filter(([, { secret }]) => secret)
    .map(([name, field]) => ({ placed, name, field })),
)

test('secrets go through every field that is marked', async () => {
  assert(SECRET_FIELDS.length > 40)
  for (const { placed, name, field } of SECRET_FIELDS) {
    const { endpoint } = placed
    if (endpoint.id === 'seal') continue
    const from = `${endpoint.id} ${name}`
    const inPath = endpoint.path.includes(`:${name}`)
    const method = WIRE_METHODS[endpoint.operation]
    const statuses: number[] = []
    for (const value of inPath ? [canary(from)] : valuesOf(from, field)) {
      for (const path of pathsOf(placed, inPath ? String(value) : 'k')) {
        // A share that is none ends the attempt; the others are harmless.
        const answer =
          endpoint.operation === 'update'
            ? await call(method, path, { [name]: value })
            : await call(method, `${path}?${name}=${encodeURIComponent(String(value))}`)
        statuses.push(answer.status)
      }
    }
    // It came as far as the endpoint: nothing else looks at its fields.
    assert(
      statuses.some((status) => ![401, 404, 405, 415, 429].includes(status)),
      `${from}: ${statuses}`,
    )
  }
})

test('secrets come back in answers, and in tokens, wrapped and opened', async () => {
  const plaintext = Buffer.from(canary('a plaintext')).toString('base64')
  await call('POST', 'transit/keys/k2', {})
  const sealed = await call('POST', 'transit/encrypt/k2', { plaintext })
  secrets.add('a ciphertext', String(sealed.body.data?.ciphertext))
  const opened = await call('POST', 'transit/decrypt/k2', { ciphertext: sealed.body.data?.ciphertext })
  assert.equal(opened.body.data?.plaintext, plaintext)
  const dataKey = await call('POST', 'transit/datakey/plaintext/k2', {})
  secrets.add('a data key', String(dataKey.body.data?.plaintext))
  const made = await call('POST', 'auth/token/create', { policies: ['default'], meta: { who: 'kim' } })
  const auth = made.body.auth as Record<string, string>
  secrets.add('a token', auth.client_token ?? '')
  secrets.add('an accessor', auth.accessor ?? '')
  await answers(200, 'POST', 'auth/token/lookup-accessor', { accessor: auth.accessor })
  await answers(200, 'GET', 'auth/token/lookup-self', undefined, { 'X-Vault-Token': auth.client_token ?? '' })
  await answers(403, 'GET', 'nothing', undefined, { Authorization: `Bearer ${auth.client_token}`, 'X-Vault-Token': '' })
  const kept = canary('a cubbyhole')
  await answers(204, 'POST', 'cubbyhole/mine', { kept, deep: { kept: [kept] } })
  await answers(200, 'GET', 'cubbyhole/mine')
  const wrapped = await call('GET', 'cubbyhole/mine', undefined, { 'X-Vault-Wrap-TTL': '60s' })
  const info = wrapped.body.wrap_info as Record<string, string>
  secrets.add('a wrapping token', info.token ?? '')
  secrets.add('its accessor', info.accessor ?? '')
  await answers(200, 'POST', 'sys/wrapping/lookup', { token: info.token })
  const unwrapped = await call('POST', 'sys/wrapping/unwrap', { token: info.token })
  assert.equal(unwrapped.body.data?.kept, kept)
  const again = await call('POST', 'sys/wrapping/wrap', { kept }, { 'X-Vault-Wrap-TTL': '60s' })
  secrets.add('a second one', String((again.body.wrap_info as Record<string, string>).token))
  // The twins that ask for a token: nobody limits how often an operator tries.
  const attempt = await call('POST', 'sys/generate-root-token/attempt', {})
  secrets.add('a one-time password', String(attempt.body.data?.otp))
  const { nonce } = attempt.body.data ?? {}
  await answers(400, 'POST', 'sys/generate-root-token/update', { nonce, key: canary('a share') })
  await answers(204, 'DELETE', 'sys/generate-root-token/attempt')
  await answers(204, 'POST', 'auth/userpass/users/kim', { password: canary('a password') })
  await answers(400, 'POST', 'auth/userpass/login/kim', { password: canary('a wrong password') })
  await answers(204, 'POST', 'auth/approle/role/r', {})
  const secretId = await call('POST', 'auth/approle/role/r/secret-id', {})
  secrets.add('a secret id', String(secretId.body.data?.secret_id))
})

test('secrets stand where nobody expects them', async () => {
  const header = (name: string) => ({ [name]: canary(`the header ${name}`) })
  await answers(403, 'GET', 'transit/keys/k2', undefined, header('X-Vault-Token'))
  await answers(403, 'GET', 'transit/keys/k2', undefined, {
    Authorization: `Bearer ${canary('a bearer')}`,
    'X-Vault-Token': '',
  })
  for (const [name, status] of [
    ['X-Vault-Wrap-TTL', 400],
    ['X-Vault-Namespace', 404],
    ['Cookie', 200],
    ['X-Other', 200],
  ] as const)
    await answers(status, 'GET', 'transit/keys/k2', undefined, header(name))
  const broken = canary('a broken body')
  for (const body of [`{"plaintext": "${broken}"`, `"${broken}"`, `[1, "${broken}"]`, `plaintext=${broken}&x=1`])
    await answers(400, 'POST', 'transit/encrypt/k2', body)
  await answers(200, 'POST', 'transit/encrypt/k2', { nothing: canary('an unknown field'), plaintext: 'c29tZQ==' })
  await answers(200, 'GET', `transit/keys/k2?nothing=${canary('a query')}`)
})

test('U-01, U-08, P-35, Q-07: none of them is in the audit log, the log of the server, or an error', async () => {
  assert(secrets.count > 200, `${secrets.count}`)
  const entries = readFileSync(file, 'utf8').trimEnd().split('\n')
  const ofType = (type: string): number => entries.filter((line) => JSON.parse(line).type === type).length
  // Every request reached the log, and its answer; a log without them would hold no secret either.
  assert.deepEqual([ofType('request'), ofType('response')], [recorded, recorded])
  const places = { audit: readFileSync(file, 'latin1'), log: server.output(), errors: told }
  // The development server tells its own root token, once, where it is started.
  const found = secrets.foundIn(places).filter((each) => each !== 'the root token is in log')
  assert.deepEqual(found, [])
})
