// ACL_CASES=1000000 node --test test/coverage/acl-oracle.test.ts runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AclOperation, buildAcl } from '../../src/auth/acl.ts'
import { type Policy, PolicyError, parsePolicy } from '../../src/auth/policy.ts'
import type { TemplateReference, TemplateResolver } from '../../src/auth/policy-path.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'
import {
  type OracleIdentity,
  type OracleJson,
  type OraclePolicy,
  type OracleRequest,
  type OracleRule,
  oracleAllows,
  oracleCapabilities,
  oracleRefusesPath,
} from './acl-oracle.ts'

const CASES = Number(process.env.ACL_CASES ?? 100_000)
const REQUESTS_PER_ACL = 10

const LITERALS = ['a', 'b', 'ab', 'aba', 'c']
const CAPABILITIES = ['create', 'read', 'update', 'delete', 'list', 'patch', 'sudo', 'deny', 'scan']
const OPERATIONS: readonly AclOperation[] = [
  'create',
  'read',
  'update',
  'delete',
  'list',
  'list',
  'list',
  'scan',
  'patch',
  'help',
  'renew',
  'revoke',
  'rollback',
]
const NAMES = ['type', 'Type', 'ttl', 'x']
const LISTED: readonly OracleJson[] = ['a', 'a*', '*a', '*b*', '*', '**', 1, '1', true, null, ['a'], { k: 'a' }, []]
const SENT: readonly OracleJson[] = [
  'a',
  'ab',
  'ba',
  'abc',
  '*',
  '',
  1,
  '1',
  2,
  true,
  false,
  null,
  ['a'],
  ['a', 'b'],
  { k: 'a' },
]
const TEMPLATES = [
  'identity.entity.id',
  'identity.entity.name',
  'identity.entity.metadata.team',
  'identity.entity.aliases.acc_1.name',
  'identity.entity.aliases.acc_1.metadata.k.v',
  'identity.entity.aliases.acc_2.custom_metadata.k',
  'identity.groups.ids.g1.name',
  'identity.groups.names.ops.id',
  'identity.groups.names.ops.metadata.k',
]
const VALUES = ['a', 'ab', 'c', 'b', 'a/b', '*', 'a*', '+', '', 'a\nb']
const NOW_SECONDS = 1_000_000
const LIMITS: readonly OracleJson[] = [0, 1, 2, 3, -1, 1.5, '2', '0', '02', '-2', 'x', '', null, [2], true]

/** What stood between the braces. */
function nameOf({ subject, selector, field, key }: TemplateReference): string {
  const heads = {
    entity: 'identity.entity',
    alias: `identity.entity.aliases.${selector}`,
    'group-by-id': `identity.groups.ids.${selector}`,
    'group-by-name': `identity.groups.names.${selector}`,
  }
  return `${heads[subject]}.${field}${key === '' ? '' : `.${key}`}`
}

function identityOf(random: PseudoRandom): OracleIdentity {
  const identity: Record<string, string> = {}
  for (const name of TEMPLATES) if (random.chance(0.7)) identity[name] = random.pick(VALUES)
  return identity
}

function template(random: PseudoRandom): string {
  const name = random.pick(TEMPLATES)
  return random.pick([`{{${name}}}`, `{{ ${name} }}`, `{{${name}  }}`])
}

function rulePath(random: PseudoRandom): string {
  const segment = () => {
    const kind = random.int(20)
    if (kind < 4) return '+'
    if (kind === 4)
      return random.pick(['*', '+a', 'a+', 'a*b', '', '+*', template(random), `a${template(random)}`, template(random)])
    return random.pick(LITERALS)
  }
  const path = random.several(1, 4, segment).join('/')
  const end = random.int(10)
  const ended = end < 4 ? `${path}*` : end < 6 ? `${path}/*` : end === 6 ? `${path}/` : path
  return random.chance(0.05) ? `/${ended}` : ended
}

function lists(random: PseudoRandom): Record<string, OracleJson[]> {
  const made: Record<string, OracleJson[]> = {}
  for (const name of random.several(1, 3, () => random.pick([...NAMES, '*']))) {
    made[name] = random.several(0, 2, () => random.pick(LISTED))
  }
  return made
}

/** `paths` are those of earlier rules: a path that comes again makes rules that are joined. */
function rule(random: PseudoRandom, paths: string[]): OracleRule {
  const path = paths.length > 0 && random.chance(0.3) ? random.pick(paths) : rulePath(random)
  paths.push(path)
  const made: { -readonly [K in keyof OracleRule]: OracleRule[K] } = {
    path,
    capabilities: random.several(0, 8, () =>
      random.pick(CAPABILITIES.filter((c) => c !== 'deny' || random.chance(0.15))),
    ),
  }
  if (random.chance(0.1)) made.legacy = random.pick(['deny', 'read', 'write', 'sudo'])
  if (random.chance(0.1)) made.pageLimit = random.int(4)
  if (random.chance(0.1)) made.expires = NOW_SECONDS - 1 + random.int(3)
  if (random.chance(0.2)) made.allowed = lists(random)
  if (random.chance(0.2)) made.denied = lists(random)
  if (random.chance(0.1)) made.required = random.several(1, 2, () => random.pick(NAMES))
  if (random.chance(0.15)) made.minWrap = random.int(4)
  if (random.chance(0.15)) made.maxWrap = made.minWrap === undefined ? random.int(5) : made.minWrap + random.int(3)
  return made
}

function request(random: PseudoRandom, namespaces: readonly string[], rules: readonly OracleRule[]): OracleRequest {
  const data: Record<string, OracleJson> = {}
  for (const name of random.several(0, 2, () => random.pick(NAMES))) data[name] = random.pick(SENT)
  if (random.chance(0.2)) data.limit = random.pick(LIMITS)
  const near = random.chance(0.85) ? nearPath(random, random.pick(rules).path) : undefined
  const path = near ?? random.several(1, 4, () => random.pick(LITERALS)).join('/')
  return {
    operation: random.pick(OPERATIONS),
    path: random.pick(namespaces) + (random.chance(0.3) ? `${path}/` : path),
    data,
    wrapTtl: random.chance(0.6) ? 0 : random.int(6),
    sudo: random.chance(0.1),
  }
}

/** A path that a rule is likely to be about. */
function nearPath(random: PseudoRandom, pattern: string): string | undefined {
  const path = pattern
    .split('/')
    .map((segment) => (segment === '+' ? random.pick(LITERALS) : segment))
    .join('/')
    .replaceAll(/\{\{[^}]*\}\}/g, () => random.pick(['a', 'ab', 'b', 'c', 'a/b', 'a\nb']))
  const ended = path.endsWith('*') ? path.slice(0, -1) + random.pick(['', 'a', 'b/c', 'ab/']) : path
  return ended === '' || ended.startsWith('/') ? undefined : ended
}

/** What a policy may hold between its parts without a meaning. */
const NOTHING = ['', '', ' ', '\n', '# path "a" {\n', '// }\n', '/* "\n*/ ']

function asHcl(rules: readonly OracleRule[], random?: PseudoRandom): string {
  const blank = () => random?.pick(NOTHING) ?? ''
  const value = (json: OracleJson): string => {
    if (Array.isArray(json)) return `[${json.map(value).join(', ')}]`
    if (typeof json !== 'object' || json === null) return JSON.stringify(json)
    return `{ ${Object.entries(json)
      .map(([key, member]) => `"${key}" = ${value(member)}`)
      .join(', ')} }`
  }
  const line = (key: string, json: OracleJson | undefined) => (json === undefined ? '' : `  ${key} = ${value(json)}\n`)
  return rules
    .map(
      (one) =>
        `${blank()}path ${JSON.stringify(one.path)} {\n${blank()}${line('capabilities', one.capabilities)}` +
        `${line('policy', one.legacy)}${blank()}${line('pagination_limit', one.pageLimit)}` +
        `${line('expiration', one.expires)}` +
        `${line('allowed_parameters', one.allowed)}` +
        `${line('denied_parameters', one.denied)}${line('required_parameters', one.required)}` +
        `${line('min_wrapping_ttl', one.minWrap)}${line('max_wrapping_ttl', one.maxWrap)}}\n`,
    )
    .join('')
}

function asJson(rules: readonly OracleRule[]): string {
  return JSON.stringify({
    path: rules.map((one) => ({
      [one.path]: {
        capabilities: one.capabilities,
        policy: one.legacy,
        pagination_limit: one.pageLimit,
        expiration: one.expires,
        allowed_parameters: one.allowed,
        denied_parameters: one.denied,
        required_parameters: one.required,
        min_wrapping_ttl: one.minWrap,
        max_wrapping_ttl: one.maxWrap,
      },
    })),
  })
}

/** HCL has no null, so rules that list one are written as JSON. */
function textOf(random: PseudoRandom, rules: readonly OracleRule[]): string {
  const json = asJson(rules)
  return json.includes('null') || random.chance(0.3) ? json : asHcl(rules, random)
}

test('A-01, P-25: the acl agrees with an independent reading of the rules on random policies', (context) => {
  const random = pseudoRandom(testSeed(context))
  let allowed = 0
  for (let done = 0; done < CASES; ) {
    const oraclePolicies: OraclePolicy[] = []
    const paths: string[] = []
    const policies: Policy[] = []
    for (const namespace of random.several(1, 3, () => (random.chance(0.15) ? 'n/' : ''))) {
      const rules = random.several(1, 5, () => rule(random, paths))
      const refused = rules.find((one) => oracleRefusesPath(one.path))
      if (refused !== undefined) assert.throws(() => parsePolicy(asHcl([refused])), PolicyError)
      const kept = rules.filter((one) => !oracleRefusesPath(one.path))
      if (kept.length === 0) continue
      oraclePolicies.push({ namespace, rules: kept })
      policies.push({ name: `p${policies.length}`, namespace, rules: parsePolicy(textOf(random, kept)).rules })
    }
    if (policies.length === 0) continue
    const identity = identityOf(random)
    const resolve: TemplateResolver = (reference) => identity[nameOf(reference)]
    const acl = buildAcl(policies, resolve, NOW_SECONDS * 1000)
    const allRules = oraclePolicies.flatMap((policy) => policy.rules)
    for (let turn = 0; turn < REQUESTS_PER_ACL; turn++, done++) {
      const asked = request(
        random,
        oraclePolicies.map((policy) => policy.namespace),
        allRules,
      )
      const about = () => JSON.stringify({ oraclePolicies, identity, asked }, null, 1)
      const parameters = random.chance(0.5) ? asked.data : new Map(Object.entries(asked.data))
      const operation = asked.operation as AclOperation
      const verdict = acl.check({
        operation,
        path: asked.path,
        parameters,
        wrapTtlSeconds: asked.wrapTtl,
        sudoRequired: asked.sudo,
      })
      assert.equal(verdict.allowed, oracleAllows(oraclePolicies, identity, asked, NOW_SECONDS), about())
      assert.deepEqual(
        acl.capabilities(asked.path),
        oracleCapabilities(oraclePolicies, identity, asked.path, NOW_SECONDS),
        about(),
      )
      if (verdict.allowed && operation !== 'help') allowed++
    }
  }
  // Cases that are nearly all refused, or nearly all allowed, would compare nothing.
  context.diagnostic(`allowed ${allowed} of ${CASES}`)
  assert.ok(allowed > CASES * 0.05 && allowed < CASES * 0.95)
})
