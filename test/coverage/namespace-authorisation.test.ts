// Who may call what in a namespace: every endpoint of the table, by header and by path, with tokens of the namespace,
// of another and of the root; and while it is locked. test/proofs/servers/authorisation.test.ts has the root.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { CAPABILITIES, type PolicyCapability } from '../../src/auth/capabilities.ts'
import {
  missingName,
  mountAll,
  PLACED_ENDPOINTS,
  type Placed,
  pathsOf,
  WIRE_METHODS,
} from '../fixtures/endpoint-table.ts'
import type { Called } from '../fixtures/memory-server.ts'
import { type PlantedNamespaces, plantNamespaces } from '../fixtures/planted-namespaces.ts'

/** Open, but its handler refuses whoever cannot reach the mount that is asked about. */
const CHECKS_ITSELF = 'ui-mounts-read'
/** Says which namespaces a token reaches: without one there is no answer. */
const NEEDS_ANY_TOKEN = 'ui-namespaces'
const UNLOCK = 'sys/namespaces/api-lock/unlock'
/** What only the root has is refused in a locked namespace as in any other. */
const OF_ROOT: Readonly<Record<string, number>> = { root: 404, 'root-keys': 400 }
const ALL = CAPABILITIES.filter((capability) => capability !== 'deny')

let server: PlantedNamespaces
/** The one may do nothing, the other everything in the sibling. */
let powerless: string
let ofSibling: string
before(async () => {
  server = await plantNamespaces('w/', 'v/', 'locked/', 'locked/in/')
  for (const namespace of ['w/', 'v/'])
    await mountAll(async (method, path, body) => server.ask(namespace, method, path, body))
  powerless = await server.tokenOf('w/', ['no-such-policy'])
  ofSibling = await tokenFor('v/', '*', ALL)
})

let policies = 0

/** A token of the namespace that has these capabilities on the path, as the namespace sees it, and nothing else. */
async function tokenFor(namespace: string, path: string, capabilities: readonly PolicyCapability[]): Promise<string> {
  const name = `generated-${++policies}`
  await server.must(namespace, 'POST', `sys/policies/acl/${name}`, {
    policy: JSON.stringify({ path: { [path]: { capabilities } } }),
  })
  return server.tokenOf(namespace, [name])
}

/** By header, and by path. */
const FORMS = [
  (namespace: string, method: string, path: string, token: string) =>
    server.call(method, path, undefined, token, { namespace }),
  (namespace: string, method: string, path: string, token: string) =>
    server.call(method, namespace + path, undefined, token),
] as const

/** A token that is none may have been one: the endpoint says so with the status of a refusal. */
const isRefused = ({ status, body }: Called): boolean =>
  status === 403 && JSON.stringify(body) !== '{"errors":["bad token"]}'

function exactly({ capability, sudo }: Endpoint): readonly PolicyCapability[] {
  const needed = capability === 'create-or-update' ? (['create', 'update'] as const) : [capability as PolicyCapability]
  return sudo === true ? [...needed, 'sudo'] : needed
}

/** The call may have locked it. */
async function openAgain(): Promise<void> {
  if (server.node.namespaces.byPath('w/')?.isLocked === true) await server.must('', 'POST', `${UNLOCK}/w`)
}

const offered = PLACED_ENDPOINTS.filter(({ endpoint: { offeredIn } }) => offeredIn === undefined)

/** A lease is named as one of the namespace: any other is asked about where that is. */
function pathsIn(placed: Placed): readonly string[] {
  const { movesTo } = placed.endpoint
  const isLease = typeof movesTo === 'object' && movesTo.names === 'lease'
  const name = missingName(placed)
  return pathsOf(placed, name).map((path) =>
    isLease && path.includes(name) ? `${path}.${server.ids.get('w/')}` : path,
  )
}

for (const placed of offered.filter(({ endpoint: { capability } }) => capability !== 'none')) {
  const { id, operation, movesTo } = placed.endpoint
  const method = WIRE_METHODS[operation]
  test(`${id} in a namespace needs what it declares, there`, async () => {
    for (const path of pathsIn(placed)) {
      const exact = exactly(placed.endpoint)
      const atHome = await tokenFor('', path, exact)
      const refused = { 'no token': '', 'a token that may do nothing': powerless }
      // A request about the caller's own token goes to the namespace of that.
      const elsewhere = { 'a token of a sibling': ofSibling, 'a token for the path of the root': atHome }
      for (const form of FORMS) {
        for (const [whose, token] of Object.entries(refused))
          assert.equal((await form('w/', method, path, token)).status, 403, `${path}: ${whose}`)
        if (movesTo !== 'token')
          for (const [whose, token] of Object.entries(elsewhere))
            assert.equal((await form('w/', method, path, token)).status, 403, `${path}: ${whose}`)
        const granted = {
          'exactly that': await tokenFor('w/', path, exact),
          'a token of the root for the path': await tokenFor('', movesTo === 'token' ? path : `w/${path}`, exact),
          root: await server.tokenOf('', ['root']),
        }
        for (const [whose, token] of Object.entries(granted)) {
          const answer = await form('w/', method, path, token)
          assert.ok(!isRefused(answer) && answer.status < 500, `${path}: ${whose}: ${JSON.stringify(answer)}`)
          await openAgain()
        }
      }
    }
  })
}

for (const placed of offered.filter(({ endpoint: { capability } }) => capability === 'none')) {
  const { id, operation } = placed.endpoint
  test(`${id} in a namespace answers alike without a token and with any`, async () => {
    for (const path of pathsIn(placed)) {
      const statuses: number[] = []
      for (const form of FORMS)
        for (const token of ['', powerless, ofSibling])
          statuses.push((await form('w/', WIRE_METHODS[operation], path, token)).status)
      if (id === NEEDS_ANY_TOKEN) return assert.deepEqual(statuses, [403, 200, 200, 403, 200, 200])
      assert.equal(new Set(statuses).size, 1, `${path}: ${statuses}`)
      assert.equal(statuses[0] === 403, id === CHECKS_ITSELF, `${path}: ${statuses}`)
      assert.ok(
        statuses.every((status) => status < 500),
        `${path}: ${statuses}`,
      )
    }
  })
}

test('a locked namespace answers nobody, whatever is asked, nor does one within it', async () => {
  await server.must('', 'POST', 'sys/namespaces/api-lock/lock/locked')
  const ofInner = await server.tokenOf('locked/in/', ['default'])
  for (const placed of PLACED_ENDPOINTS) {
    const { id, operation, offeredIn } = placed.endpoint
    for (const path of pathsOf(placed, missingName(placed)))
      for (const [at, form] of FORMS.entries())
        for (const namespace of ['locked/', 'locked/in/'])
          for (const token of ['', 'root', ofInner]) {
            // It would be opened.
            if (path === UNLOCK && namespace === 'locked/' && token === 'root') continue
            const isOpen = (at === 0 && offeredIn === 'all') || (path === UNLOCK && namespace === 'locked/')
            const { status } = await form(namespace, WIRE_METHODS[operation], path, token)
            const about = `${id}: ${namespace} ${path}: ${status}`
            const ofRoot = OF_ROOT[offeredIn ?? '']
            if (ofRoot === undefined) assert.equal(status === 503, !isOpen, about)
            else assert.equal(status, ofRoot, about)
          }
  }
})
