// Which endpoints of sys/ a namespace offers: each of the list says so, and those that only the root has answer in any
// other with one status, by header and by path, to root and to a stranger alike.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { SYSTEM_ENDPOINTS } from '../../src/system/endpoints.ts'
import { entryTail } from '../fixtures/audit-log.ts'
import { PLACED_ENDPOINTS, type Placed, pathsOf, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'

/** First parts of paths below sys/ that each namespace offers about itself. Whoever adds one says so here. */
const OFFERED_IN_EACH = [
  'auth',
  'capabilities',
  'capabilities-accessor',
  'capabilities-self',
  'internal/counters/entities',
  'internal/counters/tokens',
  'internal/specs',
  'internal/ui',
  'leases',
  'locked-users',
  'mounts',
  'namespaces',
  'plugins',
  'policies',
  'policy',
  'remount',
  'renew',
  'revoke',
  'revoke-force',
  'revoke-prefix',
  'tools',
  'version-history',
  'wrapping',
]
/** About the server, and answered in every namespace as in the root. */
const OFFERED_TO_ALL = ['ha-status', 'leader', 'seal-status']
/** Namespaces have no keys of their own. */
const OF_KEYS = ['key-status', 'rotate', 'rotate-config', 'rotate-config-read', 'rotate-keyring']

const STATUS = { root: 404, 'root-keys': 400 } as const

const directory = temporaryDirectory()
after(() => directory.cleanUp())

let server: MemoryServer
let entries: ReturnType<typeof entryTail>
before(async () => {
  server = await startMemoryServer()
  const file = join(directory.path, 'audit.log')
  for (const [path, body] of [
    ['sys/namespaces/w1', {}],
    ['sys/audit/file', { type: 'file', options: { file_path: file } }],
  ] as const) {
    const { status } = await server.call('POST', path, body)
    assert.ok(status === 200 || status === 204, path)
  }
  entries = entryTail(file)
})

const isAt = (path: string, first: string): boolean => path === first || /^[/(]/.test(path.slice(first.length))

test('each endpoint of sys/ is offered in the root alone, or is in the list of the others', () => {
  const open = SYSTEM_ENDPOINTS.filter(({ offeredIn }) => offeredIn === undefined)
  const isListed = ({ path }: { readonly path: string }) =>
    OFFERED_IN_EACH.some((first) => path.startsWith(first) && isAt(path, first))
  assert.deepEqual(
    open.filter((endpoint) => !isListed(endpoint)).map(({ id }) => id),
    [],
  )
  for (const first of OFFERED_IN_EACH)
    assert.ok(
      open.some(({ path }) => path.startsWith(first) && isAt(path, first)),
      first,
    )
  const idsOf = (mark: string) =>
    SYSTEM_ENDPOINTS.filter(({ offeredIn }) => offeredIn === mark)
      .map(({ id }) => id)
      .sort()
  assert.deepEqual(idsOf('all'), OFFERED_TO_ALL)
  assert.deepEqual(idsOf('root-keys'), OF_KEYS)
})

test('no other mount has an endpoint that only the root has', () => {
  const others = PLACED_ENDPOINTS.filter(
    ({ mountPath, endpoint }) => mountPath !== 'sys/' && endpoint.offeredIn !== undefined,
  )
  assert.deepEqual(others, [])
})

const ROOT_ONLY = PLACED_ENDPOINTS.filter(
  ({ mountPath, endpoint: { offeredIn } }) =>
    mountPath === 'sys/' && (offeredIn === 'root' || offeredIn === 'root-keys'),
)

/** The endpoint in w1, by header and by path, and each asked by root and by a stranger. */
async function askedIn({ endpoint }: Placed, path: string): Promise<readonly Called[]> {
  const method = WIRE_METHODS[endpoint.operation]
  const answers: Called[] = []
  for (const token of ['root', ''])
    for (const [sent, headers] of [
      [path, { namespace: 'w1' }],
      [`w1/${path}`, {}],
    ] as const)
      answers.push(await server.call(method, sent, {}, token, headers))
  return answers
}

test('what only the root has is refused in a namespace with one status, and recorded', async () => {
  entries()
  for (const placed of ROOT_ONLY) {
    const { id, offeredIn, whileSealed } = placed.endpoint
    for (const path of pathsOf(placed, '1')) {
      const answers = await askedIn(placed, path)
      const expected = STATUS[offeredIn as keyof typeof STATUS]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [expected, expected, expected, expected],
        `${id} ${path}`,
      )
      const said = new Set(answers.map(({ body }) => JSON.stringify(body.errors)))
      assert.equal(said.size, 1, id)
      // Those about the state of the server are recorded nowhere.
      const recorded = entries().filter(({ type }) => type === 'response')
      assert.equal(recorded.length, whileSealed === true ? 0 : 4, id)
      for (const { request } of recorded) {
        assert.equal((request.namespace as { path: string }).path, 'w1/')
        assert.equal(request.path, path, id)
      }
    }
  }
})

test('the OpenAPI document of a namespace has what that one offers, and no more', async () => {
  await server.call('POST', 'sys/mounts/only-there', { type: 'transit' }, 'root', { namespace: 'w1' })
  const pathsIn = async (namespace: string): Promise<ReadonlySet<string>> => {
    const { body } = await server.call('GET', 'sys/internal/specs/openapi', undefined, '', { namespace })
    return new Set(
      Object.entries(body.paths as object).flatMap(([path, has]) =>
        Object.keys(has).map((method) => `${method} ${path}`),
      ),
    )
  }
  const [root, child] = [await pathsIn(''), await pathsIn('w1')]
  const only = (one: ReadonlySet<string>, other: ReadonlySet<string>) => [...one].filter((path) => !other.has(path))
  const rootOnly = new Set(ROOT_ONLY.flatMap(({ endpoint }) => endpoint.path.split('/')[0] ?? []))
  assert.ok(only(child, root).every((path) => path.includes(' /only-there/')))
  assert.ok(
    child.has('get /only-there/keys/{name}') &&
      child.has('get /sys/seal-status') &&
      child.has('post /sys/mounts/{path}'),
  )
  const missing = only(root, child)
  assert.ok(
    missing.every((path) => rootOnly.has(path.split('/')[2] ?? '')),
    String(missing),
  )
  for (const path of ['get /sys/health', 'post /sys/rotate', 'get /sys/audit', 'get /sys/raw/{path}'])
    assert.ok(missing.includes(path), path)
})

test('the state of the server is told in each namespace, and by a name that none has', async () => {
  for (const path of ['sys/seal-status', 'sys/leader', 'sys/ha-status'])
    for (const namespace of ['w1', 'w9', '/w1/'])
      assert.equal(
        (await server.call('GET', path, undefined, 'root', { namespace })).status,
        200,
        `${path} ${namespace}`,
      )
  assert.equal((await server.call('GET', 'w1/sys/seal-status', undefined, '')).status, 200)
})
