// What policies allow in a tree of namespaces, asked of a whole server, against the oracle of the policy language.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plantNamespaces } from '../fixtures/planted-namespaces.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'
import { type OraclePolicy, type OracleRule, oracleAllows, oracleCapabilities } from './acl-oracle.ts'

const CASES = Number(process.env.NAMESPACE_CASES ?? 60)
const REQUESTS_PER_CASE = 12

/** Levels 0 to 3. Names repeat at other levels, and one begins as another does. */
const PATHS = ['', 'w/', 'w/w/', 'w/w/t/', 'w/x/', 'wx/', 'wx/w/', 'x/']

/** Requests that are refused by nothing but policies, or for another reason with another status. */
const REQUESTS = [
  { method: 'GET', operation: 'read', path: 'kv/keys/k' },
  { method: 'LIST', operation: 'list', path: 'kv/keys' },
  { method: 'DELETE', operation: 'delete', path: 'kv/keys/k' },
  { method: 'POST', operation: 'update', path: 'kv/keys/k/rotate' },
  { method: 'GET', operation: 'read', path: 'sys/mounts' },
  { method: 'LIST', operation: 'list', path: 'sys/policies/acl' },
] as const
type Asked = (typeof REQUESTS)[number]

const ENDS = ['*', 'kv/*', 'kv/keys/*', 'kv/keys/k', 'kv/keys', 'kv/keys/', '+/keys/k', '+/+/k', 'sys/mounts', 'sys/+']
const CAPABILITIES = ['read', 'list', 'update', 'delete', 'deny']

/** A rule as someone writes it who thinks of a request to a namespace below, or of none. */
function rule(random: PseudoRandom): OracleRule {
  const head = random.pick(['', '', 'w/', 'w/w/', 'w/w/t/', 'x/', '+/', '+/+/', '+/w/', 'w/+/'])
  const path = random.chance(0.15) ? random.pick(['*', 'w*', 'wx*', 'w/*', '+/x', '+/+/x', '+', '+/*']) : ''
  const capabilities = random.several(1, 3, () =>
    random.pick(CAPABILITIES.filter((_, at) => at < 4 || random.chance(0.4))),
  )
  return { path: path === '' ? head + random.pick(ENDS) : path, capabilities }
}

const textOf = (rules: readonly OracleRule[]): string =>
  rules.map(({ path, capabilities }) => `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }`).join('\n')

/** The parts of a full path, of which the first goes into the header and the others into the path of the request. */
function split(random: PseudoRandom, full: string): readonly [namespace: string, path: string] {
  const outer = random.pick(PATHS.filter((path) => full.startsWith(path)))
  return [outer, full.slice(outer.length)]
}

test('policies in a tree: what the server allows and says is what the language says', async (t) => {
  const random = pseudoRandom(testSeed(t))
  const { ask, must, tokenOf } = await plantNamespaces(...PATHS.slice(1))
  for (const path of PATHS) {
    await must(path, 'POST', 'sys/mounts/kv', { type: 'transit' })
    await must(path, 'POST', 'kv/keys/k')
  }
  /** Writes the policy `p` of the namespace, and makes a token with it. */
  const holder = async (home: string, rules: readonly OracleRule[]) => {
    await must(home, 'POST', 'sys/policies/acl/p', { policy: textOf(rules) })
    const policies: readonly OraclePolicy[] = [{ namespace: home, rules }]
    return { home, policies, token: await tokenOf(home, ['p']) }
  }
  const seen = new Map<string, number>()
  for (let at = 0; at < CASES; at++) {
    const home = random.pick(PATHS)
    const one = await holder(
      home,
      random.several(1, 5, () => rule(random)),
    )
    // The same name elsewhere is another policy: one that is taken for the other shows.
    const other = await holder(random.pick(PATHS.filter((path) => path !== home)), [
      { path: '*', capabilities: [random.pick(['deny', 'read'])] },
    ])
    for (let turn = 0; turn < REQUESTS_PER_CASE; turn++) {
      const { policies, token, home: from } = turn % 4 === 0 ? other : one
      const { method, operation, path }: Asked = random.pick(REQUESTS)
      const full = random.pick(PATHS) + path
      const [namespace, rest] = split(random, full)
      const about = JSON.stringify({ policies, method, namespace, rest })
      const allowed = oracleAllows(policies, {}, { operation, path: full, data: {}, wrapTtl: 0, sudo: false }, 0)
      const { status } = await ask(namespace, method, rest, undefined, token)
      assert.equal(status !== 403, allowed, `${status} ${about}`)
      assert.ok(status < 500 && status !== 404, `${status} ${about}`)
      const judged = operation === 'list' ? `${full}/` : full
      const wanted = oracleCapabilities(policies, {}, judged, 0)
      const [askedIn, sent] = split(random, judged)
      const told = await must(askedIn, 'POST', 'sys/capabilities', { token, paths: [sent] })
      assert.deepEqual(told.body.data?.[sent], wanted, `${askedIn} ${sent} ${about}`)
      assert.equal(wanted.includes(operation), allowed, about)
      const outcome = `${allowed} ${from === '' ? 'root' : full.startsWith(from) ? 'at home' : 'elsewhere'}`
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
    }
  }
  const outcomes = ['false at home', 'false elsewhere', 'false root', 'true at home', 'true root']
  assert.deepEqual([...seen.keys()].sort(), outcomes, JSON.stringify([...seen]))
})
