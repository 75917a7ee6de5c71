// Who may call what (threats A-06, P-24): every endpoint of the table, without a token, with tokens that must not be
// enough, and with one that grants exactly what the endpoint declares.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { CAPABILITIES, type PolicyCapability } from '../../../src/auth/capabilities.ts'
import {
  missingName,
  mountEngines,
  PLACED_ENDPOINTS,
  type Placed,
  pathsOf,
  WIRE_METHODS,
} from '../../fixtures/endpoint-table.ts'
import { loopbackAddress, RawConnection } from '../../fixtures/raw-http.ts'
import {
  type ApiAnswer,
  api,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

/** All that answer without a token. Whoever adds one says so here. */
const OPEN_ENDPOINTS = [
  'approle-login',
  'cloud-login',
  'generate-root',
  'generate-root-cancel',
  'generate-root-read',
  'generate-root-update',
  'health',
  'init',
  'init-read',
  'leader',
  'openapi',
  'plugin-identity-configuration',
  'plugin-identity-keys',
  'rekey',
  'rekey-cancel',
  'rekey-read',
  'rekey-recovery-key',
  'rekey-recovery-key-cancel',
  'rekey-recovery-key-read',
  'rekey-recovery-key-update',
  'rekey-recovery-key-verify',
  'rekey-recovery-key-verify-read',
  'rekey-recovery-key-verify-restart',
  'rekey-update',
  'rekey-verify',
  'rekey-verify-read',
  'rekey-verify-restart',
  'replication-dr-secondary-disable',
  'replication-dr-secondary-generate-operation-token',
  'replication-dr-secondary-generate-operation-token-cancel',
  'replication-dr-secondary-generate-operation-token-read',
  'replication-dr-secondary-generate-operation-token-update',
  'replication-dr-secondary-merkle-check',
  'replication-dr-secondary-operation-token-delete',
  'replication-dr-secondary-promote',
  'replication-dr-secondary-recover',
  'replication-dr-secondary-reindex',
  'replication-dr-secondary-undone',
  'replication-dr-secondary-undone-delete',
  'replication-dr-secondary-undone-show',
  'replication-dr-secondary-update-primary',
  'replication-dr-status',
  'replication-performance-status',
  'replication-status',
  'seal-status',
  'ui-mounts-list',
  'ui-mounts-read',
  'ui-namespaces',
  'unseal',
  'userpass-login',
  'wrapping-lookup-read',
  'wrapping-lookup-update',
  'wrapping-pubkey',
]
/** Open, but its handler refuses whoever cannot reach the mount that is asked about. */
const CHECKS_ITSELF = 'ui-mounts-read'
/** Says which namespaces a token reaches: any will do, and without one there is no answer. */
const NEEDS_ANY_TOKEN = 'ui-namespaces'

const directory = temporaryDirectory()
let server: ServerProcess
let powerless: string
/** Tokens that could do everything, by what ended that. */
let gone: Readonly<Record<string, string>>
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data') })
  await mountEngines(server)
  powerless = await tokenWith(['no-such-policy'])
  gone = await tokensThatAreGone()
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

const GARBAGE_TOKEN = 'hvs.AAAAAAAAAAAAAAAAAAAAAAAA'

async function tokenWith(policies: readonly string[]): Promise<string> {
  const { body } = await api(server, 'POST', 'auth/token/create', { policies, no_default_policy: true })
  return String((body.auth as Record<string, unknown>).client_token)
}

async function tokensThatAreGone(): Promise<Readonly<Record<string, string>>> {
  const made = async (body: object, by?: string): Promise<string> => {
    const { status, body: answer } = await api(server, 'POST', 'auth/token/create', body, by)
    assert.equal(status, 200)
    return String((answer.auth as Record<string, unknown>).client_token)
  }
  const expired = await made({ policies: ['root'], ttl: '1s' })
  const revoked = await made({ policies: ['root'] })
  const parent = await made({ policies: ['root'] })
  const orphaned = await made({ policies: ['root'] }, parent)
  const used = await made({ policies: ['root'], num_uses: 1 })
  for (const token of [revoked, parent]) {
    assert.equal((await api(server, 'POST', 'auth/token/revoke', { token })).status, 204)
  }
  assert.equal((await api(server, 'GET', 'auth/token/lookup-self', undefined, used)).status, 200)
  for (;;) {
    const { status } = await api(server, 'GET', 'auth/token/lookup-self', undefined, expired)
    if (status === 403) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    'has expired': expired,
    'was revoked': revoked,
    'lost its parent': orphaned,
    'has no use left': used,
  }
}

let policyCount = 0

/** A token that has these capabilities on the path, and nothing else. */
async function tokenFor(path: string, capabilities: readonly PolicyCapability[]): Promise<string> {
  const name = `generated-${++policyCount}`
  const policy = JSON.stringify({ path: { [path]: { capabilities } } })
  const { status } = await api(server, 'POST', `sys/policies/acl/${name}`, { policy })
  assert.equal(status, 204)
  return tokenWith([name])
}

/** Sends the token only where there is one. */
function call(method: string, path: string, token: string | undefined): Promise<ApiAnswer> {
  return api({ address: server.address }, method, path, undefined, token)
}

async function callIn(namespace: string, method: string, path: string, token: string): Promise<number> {
  const headers = { 'X-Vault-Token': token, 'X-Vault-Namespace': namespace }
  const response = await fetch(`${server.address}/v1/${path}`, { method, headers })
  await response.arrayBuffer()
  return response.status
}

/** Situations in which one endpoint asks for one capability. */
type Situation = {
  readonly name: string
  readonly path: string
  readonly needed: PolicyCapability
  readonly prepare: () => Promise<void>
}

/** How to make the thing be there, for endpoints that tell create from update. */
const MAKE_EXISTING: Readonly<Record<string, (path: string) => Promise<void>>> = {
  'transit-encrypt': async (path) => {
    const { status } = await api(server, 'POST', path.replace('/encrypt/', '/keys/'), {})
    assert.equal(status, 200)
  },
  'token-roles-write': async (path) => {
    const { status } = await api(server, 'POST', path, {})
    assert.equal(status, 204)
  },
  'userpass-users-write': async (path) => {
    const { status } = await api(server, 'POST', path, { password: 'x' })
    assert.equal(status, 204)
  },
  'approle-role-write': async (path) => {
    const { status } = await api(server, 'POST', path, {})
    assert.equal(status, 204)
  },
  'cloud-role-write': async (path) => {
    const { status } = await api(server, 'POST', path, { bound_locations: 'eastus' })
    assert.equal(status, 204)
  },
  'cloud-config-write': async (path) => {
    const config = { tenant_id: 'example.test', resource: 'https://example.test/' }
    const { status } = await api(server, 'POST', path, config)
    assert.equal(status, 204)
  },
}

/** There is one for each mount, so it is made where it was not there before. */
const ONE_EACH = ['cloud-config-write']

/** What they write is there for the calling token alone: no other can have made it before. */
const OWN_ALONE = ['cubbyhole-write']

/** A token that is none may be a wrapping token that somebody used: that is told. */
const statusOfGarbage = ({ endpoint }: Placed): number => (endpoint.takesWrappingToken === true ? 400 : 403)

const nothing = async (): Promise<void> => {}

const existing = (id: string, path: string, make: (path: string) => Promise<void>): Situation => ({
  name: `${path}, which is there${ONE_EACH.includes(id) ? ' now' : ''}`,
  path,
  needed: 'update',
  prepare: () => make(path),
})

function situations(placed: Placed): Situation[] {
  const { id, capability } = placed.endpoint
  const paths = pathsOf(placed, missingName(placed))
  if (capability === 'none') return []
  if (capability !== 'create-or-update')
    return paths.map((path) => ({ name: path, path, needed: capability, prepare: nothing }))
  if (OWN_ALONE.includes(id)) return paths.map((path) => ({ name: path, path, needed: 'create', prepare: nothing }))
  const make = MAKE_EXISTING[id]
  assert(make !== undefined, `${id} tells create from update: say in MAKE_EXISTING how to make the thing`)
  return paths.flatMap((path) => [
    { name: `${path}, which is not there`, path, needed: 'create', prepare: nothing },
    existing(id, ONE_EACH.includes(id) ? path : `${path}-made`, make),
  ])
}

const guarded = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.capability !== 'none')
const open = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.capability === 'none')
/** What closes the server comes last. */
const inOrder = [...guarded].sort(
  (a, b) => Number(a.endpoint.changesSeal ?? false) - Number(b.endpoint.changesSeal ?? false),
)

test('A-06, M-07, Q-06: exactly the listed endpoints need no token', () => {
  assert.deepEqual(open.map(({ endpoint }) => endpoint.id).sort(), OPEN_ENDPOINTS)
})

/** From an address of its own for each endpoint: attempts are limited by address. */
async function statusFrom(number: number, method: string, path: string, token: string | undefined): Promise<number> {
  const connection = await RawConnection.open(server.address, loopbackAddress(number))
  const head = [`${method} /v1/${path} HTTP/1.1`, 'Host: server', 'Content-Length: 0', 'Connection: close']
  if (token !== undefined) head.push(`X-Vault-Token: ${token}`)
  connection.write(`${head.join('\r\n')}\r\n\r\n`)
  const answer = await connection.read()
  return answer?.status ?? 0
}

for (const [number, placed] of open.entries()) {
  const { id, operation } = placed.endpoint
  test(`${id} answers alike without a token and with any`, async () => {
    for (const path of pathsOf(placed, missingName(placed))) {
      const statuses: number[] = []
      for (const token of [undefined, GARBAGE_TOKEN, powerless]) {
        statuses.push(await statusFrom(number, WIRE_METHODS[operation], path, token))
        // What was started is in the way of the next one.
        if (id === 'generate-root') await statusFrom(number, 'DELETE', path, token)
      }
      if (id === NEEDS_ANY_TOKEN) return assert.deepEqual(statuses, [403, 403, 200])
      assert.deepEqual(new Set(statuses).size, 1, `${path}: ${statuses}`)
      assert.equal(statuses[0] === 403, id === CHECKS_ITSELF, `${path}: ${statuses}`)
    }
  })
}

// A-10, P-24: who may do nothing cannot tell what is there from what is not.
const UNKNOWN_PATHS = [
  'nowhere',
  'nowhere/else',
  'transi',
  'transit2/keys/k',
  'transit/nothing',
  'transit/keys/k/nothing',
  'transit/keys/not%20a%20name',
  'sys/nothing',
  'sys/mount',
  'auth/nowhere/login',
  'auth/token/nothing',
  'auth/token/lookup-self/more',
]

/** One that exists, of those that everybody knows or of those that nobody may learn of. */
const knownLike = (path: string): string =>
  path.startsWith('sys/') || path.startsWith('auth/token/') ? 'sys/policies/acl/default' : 'transit/keys/k'

for (const path of UNKNOWN_PATHS) {
  test(`${path} is refused like a known path, and told to root`, async () => {
    for (const method of Object.values(WIRE_METHODS)) {
      for (const token of [undefined, GARBAGE_TOKEN, powerless]) {
        const like = knownLike(path)
        const [unknown, known] = await Promise.all([call(method, path, token), call(method, like, token)])
        assert.equal(unknown.status, 403, method)
        // A hint names the path that was asked for, as it was understood, and differs in nothing else.
        const asked = decodeURIComponent(path).replaceAll(' ', '?')
        assert.deepEqual(JSON.stringify(unknown).replace(asked, '…'), JSON.stringify(known).replace(like, '…'), method)
        assert.equal(
          JSON.stringify(unknown.body).includes(asked),
          token === powerless,
          'who has no token learns nothing',
        )
      }
      const { status } = await call(method, path, server.token)
      assert([404, 405].includes(status), `${method}: ${status}`)
    }
  })
}

test('a write to a folder is refused like a known path, and told to root', async () => {
  assert.equal((await call('POST', 'transit/keys/', powerless)).status, 403)
  assert.equal((await call('POST', 'transit/keys/', undefined)).status, 403)
  assert.equal((await call('POST', 'transit/keys/', server.token)).status, 400)
})

for (const placed of inOrder) {
  const { id, offeredIn, operation, sudo } = placed.endpoint
  for (const { name, path, needed, prepare } of situations(placed)) {
    test(`${id} needs ${sudo ? 'sudo and ' : ''}${needed} on ${name}`, async () => {
      await prepare()
      const status = async (token: string | undefined): Promise<number> =>
        (await call(WIRE_METHODS[operation], path, token)).status
      const exact: readonly PolicyCapability[] = sudo === true ? [needed, 'sudo'] : [needed]
      const without = (missing: PolicyCapability): readonly PolicyCapability[] =>
        CAPABILITIES.filter((capability) => capability !== missing && capability !== 'deny')
      // None of these does anything, so their order is no matter, and they need not wait for one another.
      const refused: readonly (readonly [
        why: string,
        expected: number,
        token: Promise<string> | string | undefined,
      ])[] = [
        ['without a token', 403, undefined],
        ['with a token that does not exist', statusOfGarbage(placed), GARBAGE_TOKEN],
        ['with a token that may do nothing', 403, powerless],
        ...Object.entries(gone).map(
          ([why, token]) => [`with a token that ${why}`, statusOfGarbage(placed), token] as const,
        ),
        ...exact.map(
          (missing) => [`with all capabilities but ${missing}`, 403, tokenFor(path, without(missing))] as const,
        ),
        ['with the capability below the path', 403, tokenFor(`${path}/below`, exact)],
      ]
      const exactToken = tokenFor(path, exact)
      const elsewhere = callIn('team-a', WIRE_METHODS[operation], path, server.token)
      const statuses = await Promise.all(refused.map(async ([, , token]) => status(await token)))
      for (const [at, [why, expected]] of refused.entries()) assert.equal(statuses[at], expected, why)
      const unknown = offeredIn === 'all' ? 200 : 404
      assert.equal(await elsewhere, unknown, 'in a namespace that does not exist, with a root token')
      const granted = await call(WIRE_METHODS[operation], path, await exactToken)
      // Who may look up a token is told that it is none, with the same status.
      const isBadToken = id === 'token-lookup-by-path' && JSON.stringify(granted.body) === '{"errors":["bad token"]}'
      assert(granted.status !== 403 || isBadToken, `with ${exact}`)
    })
  }
}

// P-58. The endpoint that seals came last.
for (const placed of PLACED_ENDPOINTS) {
  const { id, operation, whileSealed } = placed.endpoint
  test(`P-58: sealed: ${id} ${whileSealed === true ? 'answers' : 'is refused'}`, async () => {
    for (const path of pathsOf(placed, missingName(placed))) {
      const tokens = [undefined, server.token]
      const asked = tokens.map((token) => call(WIRE_METHODS[operation], path, token))
      for (const answer of asked) {
        const { status, body } = await answer
        const isSealed = status === 503 && JSON.stringify(body) === '{"errors":["Vault is sealed"]}'
        assert.equal(isSealed, whileSealed !== true, `${path}: ${status}`)
      }
    }
  })
}
