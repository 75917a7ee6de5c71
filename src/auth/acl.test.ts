import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Acl, type AclOperation, type AclReason, type AclRequest, buildAcl } from './acl.ts'
import { BUILTIN_POLICIES } from './builtin-policies.ts'
import { type Policy, PolicyError, parsePolicy } from './policy.ts'
import type { TemplateReference } from './policy-path.ts'

function policy(text: string, name = 'p', namespace = ''): Policy {
  return { name, namespace, rules: parsePolicy(text).rules }
}
function aclOf(...texts: string[]): Acl {
  return buildAcl(texts.map((text, at) => policy(text, `p${at}`)))
}
/** One rule for each path: `{ 'a/*': 'read list' }`. */
function rules(words: Readonly<Record<string, string>>): string {
  const blocks = Object.entries(words).map(([path, capabilities]) => {
    return `path "${path}" { capabilities = [${capabilities.split(' ').map((word) => `"${word}"`)}] }`
  })
  return blocks.join('\n')
}

type Row = {
  readonly name: string
  readonly rules: Record<string, string>
  readonly path: string
  readonly capabilities: string[]
}

// Which rule applies. Each row tests one step of the search, or one rule of precedence.
const CHOICES: readonly Row[] = [
  { name: 'exact path', rules: { 'a/b': 'read' }, path: 'a/b', capabilities: ['read'] },
  { name: 'no rule', rules: { 'a/b': 'read' }, path: 'a/c', capabilities: ['deny'] },
  { name: 'no prefix without a star', rules: { 'a/b': 'read' }, path: 'a/b/c', capabilities: ['deny'] },
  { name: 'case matters', rules: { 'a/b': 'read' }, path: 'A/b', capabilities: ['deny'] },
  { name: 'leading slash in the rule', rules: { '/a/b': 'read' }, path: 'a/b', capabilities: ['read'] },
  { name: 'leading slash in the request', rules: { 'a/b': 'read' }, path: '/a/b', capabilities: ['read'] },
  { name: 'prefix', rules: { 'a/b*': 'read' }, path: 'a/bcd/e', capabilities: ['read'] },
  { name: 'prefix matches nothing more', rules: { 'a/b*': 'read' }, path: 'a/b', capabilities: ['read'] },
  { name: 'prefix with a slash needs it', rules: { 'a/*': 'read' }, path: 'a', capabilities: ['deny'] },
  { name: 'prefix of everything', rules: { '*': 'read' }, path: 'x/y', capabilities: ['read'] },
  { name: 'a star inside is literal', rules: { 'a/*/c': 'read' }, path: 'a/b/c', capabilities: ['deny'] },
  { name: 'a star inside is literal, itself', rules: { 'a/*/c': 'read' }, path: 'a/*/c', capabilities: ['read'] },
  { name: 'two stars: the first is literal', rules: { 'a**': 'read' }, path: 'ab', capabilities: ['deny'] },
  { name: 'free segment', rules: { 'a/+/c': 'read' }, path: 'a/b/c', capabilities: ['read'] },
  { name: 'free segment first', rules: { '+/c': 'read' }, path: 'a/c', capabilities: ['read'] },
  { name: 'free segment last', rules: { 'a/+': 'read' }, path: 'a/b', capabilities: ['read'] },
  { name: 'free segment alone', rules: { '+': 'read' }, path: 'a', capabilities: ['read'] },
  {
    name: 'threats A-05: a free segment is one segment',
    rules: { 'a/+': 'read' },
    path: 'a/b/c',
    capabilities: ['deny'],
  },
  {
    name: 'threats A-05: a free segment is one segment, inside',
    rules: { 'a/+/c': 'read' },
    path: 'a/b/b/c',
    capabilities: ['deny'],
  },
  { name: 'threats A-05: a free segment is not empty', rules: { 'a/+': 'read' }, path: 'a/', capabilities: ['deny'] },
  {
    name: 'threats A-05: a free segment is not empty, inside',
    rules: { 'a/+/c': 'read' },
    path: 'a//c',
    capabilities: ['deny'],
  },
  {
    name: 'threats A-05: a prefix does not reach its parent',
    rules: { 'a/b/*': 'read' },
    path: 'a/',
    capabilities: ['deny'],
  },
  {
    name: 'threats A-05: a prefix does not reach a sibling',
    rules: { 'a/b/*': 'read' },
    path: 'a/bc/d',
    capabilities: ['deny'],
  },
  { name: 'free segment and star', rules: { 'a/+/c*': 'read' }, path: 'a/b/cd/e/f', capabilities: ['read'] },
  { name: 'free segment and star, too short', rules: { 'a/+/c*': 'read' }, path: 'a/b', capabilities: ['deny'] },
  { name: 'free segment and star, other segment', rules: { 'a/+/c*': 'read' }, path: 'a/b/d', capabilities: ['deny'] },
  { name: 'free segment and lone star', rules: { 'a/+/*': 'read' }, path: 'a/b/', capabilities: ['read'] },
  {
    name: 'free segment and lone star need the slash',
    rules: { 'a/+/*': 'read' },
    path: 'a/b',
    capabilities: ['deny'],
  },
  { name: 'plus inside a segment is literal', rules: { 'a/b+': 'read' }, path: 'a/bx', capabilities: ['deny'] },
  { name: 'plus inside a segment is literal, itself', rules: { 'a/b+': 'read' }, path: 'a/b+', capabilities: ['read'] },
  {
    name: 'segment that begins with plus compares literally',
    rules: { 'a/+b': 'read' },
    path: 'a/xb',
    capabilities: ['deny'],
  },
  {
    name: 'segment that begins with plus matches itself',
    rules: { 'a/+b/+': 'read' },
    path: 'a/+b/c',
    capabilities: ['read'],
  },
  {
    name: 'step 1 before 3',
    rules: { 'a/b': 'read', 'a/b*': 'update', 'a/+': 'delete' },
    path: 'a/b',
    capabilities: ['read'],
  },
  {
    name: 'step 2: exact without the slash',
    rules: { 'a/b': 'list', 'a/b/*': 'read' },
    path: 'a/b/',
    capabilities: ['list'],
  },
  { name: 'step 1 before 2', rules: { 'a/b': 'list', 'a/b/': 'read' }, path: 'a/b/', capabilities: ['read'] },
  {
    name: 'step 3 before 4',
    rules: { 'a/*': 'list', 'a/+': 'update', 'a/b/*': 'deny' },
    path: 'a/b/',
    capabilities: ['deny'],
  },
  { name: 'step 4: wildcard without the slash', rules: { 'a/+': 'list' }, path: 'a/b/', capabilities: ['list'] },
  { name: 'no step adds a slash', rules: { 'a/b/': 'list' }, path: 'a/b', capabilities: ['deny'] },
  {
    name: 'longest prefix',
    rules: { 'a/*': 'read', 'a/b*': 'update', 'a/bc*': 'delete' },
    path: 'a/bd',
    capabilities: ['update'],
  },
  {
    name: 'priority 1: later plus',
    rules: { '+/b/c': 'read', 'a/+/c': 'update' },
    path: 'a/b/c',
    capabilities: ['update'],
  },
  {
    name: 'priority 1: star after plus',
    rules: { 'a/+/c': 'read', 'a/b*': 'update' },
    path: 'a/b/c',
    capabilities: ['update'],
  },
  {
    name: 'priority 1: plus after star',
    rules: { 'a/b/+': 'read', 'a/b*': 'update' },
    path: 'a/b/c',
    capabilities: ['read'],
  },
  {
    name: 'priority 1: equal, so 2: no star at the end',
    rules: { 'a/+/c': 'read', 'a/*': 'update' },
    path: 'a/b/c',
    capabilities: ['read'],
  },
  {
    name: 'priority 2: no star at the end',
    rules: { 'a/+/c*': 'update', 'a/+/+': 'read' },
    path: 'a/b/c',
    capabilities: ['read'],
  },
  {
    name: 'priority 3: fewer free segments',
    rules: { 'a/+/+': 'update', 'a/+/c': 'read' },
    path: 'a/b/c',
    capabilities: ['read'],
  },
  {
    name: 'priority 4: longer',
    rules: { 'a/+/b*': 'update', 'a/+/bc*': 'read' },
    path: 'a/x/bcd',
    capabilities: ['read'],
  },
  {
    name: 'priority 5: greater text',
    rules: { '+/+/a': 'update', '+/a/+': 'read' },
    path: 'x/a/a',
    capabilities: ['read'],
  },
  {
    name: 'deny of the more specific rule',
    rules: { 'a/*': 'read', 'a/b': 'deny' },
    path: 'a/b',
    capabilities: ['deny'],
  },
  {
    name: 'grant of the more specific rule',
    rules: { 'a/*': 'deny', 'a/b': 'read' },
    path: 'a/b',
    capabilities: ['read'],
  },
  {
    name: 'a rule that grants nothing hides a shorter one',
    rules: { 'a/*': 'read', 'a/b/*': 'deny' },
    path: 'a/b/c',
    capabilities: ['deny'],
  },
  { name: 'names of the prototype', rules: { a: 'read' }, path: '__proto__', capabilities: ['deny'] },
]
for (const row of CHOICES) {
  test(`acl choice: ${row.name}`, () => {
    const texts = Object.entries(row.rules).map(([path, words]) => rules({ [path]: words }))
    for (const order of [texts, texts.toReversed()]) {
      assert.deepEqual(aclOf(order.join('\n')).capabilities(row.path), row.capabilities)
      assert.deepEqual(aclOf(...order).capabilities(row.path), row.capabilities)
    }
  })
}

test('threats A-01: for a list the longest match wins, with and without the trailing slash', () => {
  const acl = aclOf(
    rules({
      'foo/metadata/*': 'list scan read',
      'foo/metadata/private/*': 'deny',
      'foo/metadata/private/granted/*': 'list scan read',
    }),
  )
  for (const [path, allowed] of [
    ['foo/metadata/', true],
    ['foo/metadata/open', true],
    ['foo/metadata/private', false],
    ['foo/metadata/private/x', false],
    ['foo/metadata/private/granted', true],
    ['foo/metadata/private/granted/x', true],
    ['foo/metadata', true],
    ['foo', false],
  ] as const) {
    for (const operation of ['list', 'scan'] as const) {
      const bare = path.endsWith('/') ? path.slice(0, -1) : path
      for (const asked of [bare, `${bare}/`]) {
        assert.equal(acl.check({ operation, path: asked }).allowed, allowed, `${operation} ${asked}`)
      }
    }
  }
  // A read gets no slash added, unlike a list.
  assert.equal(acl.check({ operation: 'read', path: 'foo/metadata/private' }).allowed, true)
  assert.equal(acl.check({ operation: 'read', path: 'foo/metadata/private/' }).allowed, false)
})

test('capabilities of a path: recorded exact, prefix and deny', () => {
  const acl = aclOf(rules({ 'transit/*': 'read', 'transit/keys/*': 'read list update', 'transit/keys/a': 'deny' }))
  const expected = {
    'transit/keys/b': ['list', 'read', 'update'],
    'transit/keys/a': ['deny'],
    'transit/keys': ['read'],
    'transit/keys/': ['list', 'read', 'update'],
    'transit/config/keys': ['read'],
    'sys/mounts': ['deny'],
  }
  for (const [path, capabilities] of Object.entries(expected))
    assert.deepEqual(acl.capabilities(path), capabilities, path)
  assert.equal(acl.check({ operation: 'update', path: 'transit/keys/a' }).reason, 'denied-by-rule')
  assert.equal(acl.check({ operation: 'list', path: 'transit/keys' }).allowed, true)
  assert.equal(acl.check({ operation: 'update', path: 'transit/encrypt/b' }).reason, 'capability-missing')
})

const OPERATIONS: Readonly<Record<Exclude<AclOperation, 'help'>, string>> = {
  create: 'create',
  read: 'read',
  update: 'update',
  delete: 'delete',
  list: 'list',
  scan: 'scan',
  patch: 'patch',
  renew: 'update',
  revoke: 'update',
  rollback: 'update',
}
for (const [operation, capability] of Object.entries(OPERATIONS)) {
  test(`acl operation: ${operation} needs ${capability} and nothing else`, () => {
    const request = { operation: operation as AclOperation, path: 'a' }
    assert.equal(aclOf(rules({ a: capability })).check(request).allowed, true)
    const others = [...new Set(Object.values(OPERATIONS)), 'sudo', 'subscribe', 'recover'].filter(
      (word) => word !== capability,
    )
    assert.equal(aclOf(rules({ a: others.join(' ') })).check(request).reason, 'capability-missing')
    assert.equal(aclOf('path "a" {}').check(request).reason, 'capability-missing')
    assert.equal(aclOf(rules({ a: `${capability} deny` })).check(request).reason, 'denied-by-rule')
    assert.equal(buildAcl([]).check(request).reason, 'no-rule')
  })
}

test('help is always allowed', () => {
  assert.equal(buildAcl([]).check({ operation: 'help', path: 'a', sudoRequired: true }).allowed, true)
})

test('root alone allows everything, and must be alone', () => {
  const acl = buildAcl([{ name: 'root', rules: [] }])
  const verdict = acl.check({ operation: 'delete', path: 'sys/raw/x', sudoRequired: true, parameters: { a: 1 } })
  assert.deepEqual(
    [verdict.allowed, verdict.reason, verdict.policies],
    [true, 'root', [{ name: 'root', namespace: '' }]],
  )
  assert.deepEqual(acl.capabilities('anything/'), ['root'])
  assert.throws(() => buildAcl([{ name: 'root', rules: [] }, policy('path "a" {}')]), PolicyError)
})

test('threats I-01: only the name root is root', () => {
  for (const name of ['Root', 'root ', 'ROOT', '\u00a0root']) {
    assert.equal(buildAcl([{ name, rules: [] }]).check({ operation: 'read', path: 'a' }).allowed, false)
  }
})

test('sudo is needed where the endpoint asks for it, beside its capability', () => {
  const acl = aclOf(
    rules({ 'sys/*': 'read update list create delete', 'sys/audit': 'read sudo', 'sys/rotate': 'sudo' }),
  )
  const reason = (path: string, operation: AclOperation, sudoRequired: boolean): AclReason =>
    acl.check({ operation, path, sudoRequired }).reason
  assert.equal(reason('sys/mounts', 'read', false), 'granted')
  assert.equal(reason('sys/audit', 'read', true), 'granted')
  assert.equal(reason('sys/seal', 'update', true), 'sudo-missing')
  assert.equal(reason('sys/rotate', 'update', true), 'capability-missing')
  assert.deepEqual(acl.capabilities('sys/audit'), ['read', 'sudo'])
})

test('rules for one path are joined: capabilities add up, deny wins, across policies and blocks', () => {
  assert.deepEqual(aclOf(rules({ a: 'read' }), rules({ '/a': 'list' })).capabilities('a'), ['list', 'read'])
  assert.deepEqual(aclOf(`${rules({ 'a/*': 'read' })}\n${rules({ 'a/*': 'update' })}`).capabilities('a/b'), [
    'read',
    'update',
  ])
  assert.deepEqual(aclOf(rules({ 'a/+': 'read' }), rules({ 'a/+': 'deny' })).capabilities('a/b'), ['deny'])
  assert.deepEqual(aclOf(rules({ a: 'deny' }), rules({ a: 'read sudo' })).capabilities('a'), ['deny'])
})

type Parameters = NonNullable<AclRequest['parameters']>
const PARAMETERS: readonly {
  name: string
  rule: string
  data: Parameters | undefined
  operation?: AclOperation
  reason: AclReason
}[] = [
  { name: 'a required one is there', rule: 'required_parameters = ["Type"]', data: { type: '' }, reason: 'granted' },
  {
    name: 'a required one is missing',
    rule: 'required_parameters = ["type"]',
    data: { x: 1 },
    reason: 'parameter-required',
  },
  {
    name: 'a required one is missing, no data',
    rule: 'required_parameters = ["type"]',
    data: undefined,
    reason: 'parameter-required',
  },
  {
    name: 'a required one in upper case is not it',
    rule: 'required_parameters = ["type"]',
    data: { Type: 1 },
    reason: 'parameter-required',
  },
  {
    name: 'a required one is not inherited',
    rule: 'required_parameters = ["constructor"]',
    data: {},
    reason: 'parameter-required',
  },
  { name: 'no data passes a denial of all', rule: 'denied_parameters = { "*" = [] }', data: {}, reason: 'granted' },
  {
    name: 'absent data passes a denial of all',
    rule: 'denied_parameters = { "*" = [] }',
    data: undefined,
    reason: 'granted',
  },
  {
    name: 'any data fails a denial of all',
    rule: 'denied_parameters = { "*" = [] }',
    data: { x: 1 },
    reason: 'parameter-denied',
  },
  {
    name: 'a denial of all with values is one of all',
    rule: 'denied_parameters = { "*" = ["y"] }',
    data: { x: 1 },
    reason: 'parameter-denied',
  },
  { name: 'a denied name', rule: 'denied_parameters = { "x" = [] }', data: { x: 1 }, reason: 'parameter-denied' },
  {
    name: 'a denied name in other case',
    rule: 'denied_parameters = { "tYPE" = [] }',
    data: { Type: 1 },
    reason: 'parameter-denied',
  },
  {
    name: 'a denied value',
    rule: 'denied_parameters = { "type" = ["rsa-*"] }',
    data: { type: 'rsa-2048' },
    reason: 'parameter-denied',
  },
  {
    name: 'another value than the denied one',
    rule: 'denied_parameters = { "type" = ["rsa-*"] }',
    data: { type: 'ed25519' },
    reason: 'granted',
  },
  {
    name: 'a denied value in a list is another value',
    rule: 'denied_parameters = { "p" = ["admin"] }',
    data: { p: ['admin'] },
    reason: 'granted',
  },
  {
    name: 'a denied value among commas is another value',
    rule: 'denied_parameters = { "p" = ["admin"] }',
    data: { p: 'x,admin' },
    reason: 'granted',
  },
  {
    name: 'a value that is no JSON is denied where values are',
    rule: 'denied_parameters = { "x" = ["y"] }',
    data: { x: Buffer.from('y') },
    reason: 'parameter-denied',
  },
  { name: 'an allowed name', rule: 'allowed_parameters = { "x" = [] }', data: { x: 1 }, reason: 'granted' },
  {
    name: 'an allowed name in other case',
    rule: 'allowed_parameters = { "X" = [] }',
    data: { x: 1 },
    reason: 'granted',
  },
  {
    name: 'a name that is not allowed',
    rule: 'allowed_parameters = { "x" = [] }',
    data: { x: 1, y: 1 },
    reason: 'parameter-not-allowed',
  },
  {
    name: 'a name of the prototype is not allowed',
    rule: 'allowed_parameters = { "x" = [] }',
    data: JSON.parse('{"__proto__":1}'),
    reason: 'parameter-not-allowed',
  },
  { name: 'no data where some is allowed', rule: 'allowed_parameters = { "x" = ["y"] }', data: {}, reason: 'granted' },
  { name: 'allowed all', rule: 'allowed_parameters = { "*" = [] }', data: { x: 1 }, reason: 'granted' },
  {
    name: 'allowed all with a value is allowed all',
    rule: 'allowed_parameters = { "*" = ["y"] }',
    data: { x: 1 },
    reason: 'granted',
  },
  {
    name: 'an empty block is no block',
    rule: 'allowed_parameters = {} denied_parameters = {}',
    data: { x: 1 },
    reason: 'granted',
  },
  {
    name: 'others beside a listed one',
    rule: 'allowed_parameters = { "*" = [] "x" = ["y"] }',
    data: { z: 1, x: 'y' },
    reason: 'granted',
  },
  {
    name: 'a listed one keeps its values',
    rule: 'allowed_parameters = { "*" = [] "x" = ["y"] }',
    data: { x: 'z' },
    reason: 'parameter-not-allowed',
  },
  {
    name: 'a value that is no JSON is not allowed',
    rule: 'allowed_parameters = { "x" = ["y"] }',
    data: { x: Buffer.from('y') },
    reason: 'parameter-not-allowed',
  },
  {
    name: 'an undefined value is not allowed',
    rule: 'allowed_parameters = { "x" = ["y"] }',
    data: { x: undefined },
    reason: 'parameter-not-allowed',
  },
  {
    name: 'denied beats allowed',
    rule: 'allowed_parameters = { "x" = [] } denied_parameters = { "x" = ["y"] }',
    data: { x: 'y' },
    reason: 'parameter-denied',
  },
  {
    name: 'a map as data',
    rule: 'denied_parameters = { "x" = ["y"] }',
    data: new Map([['x', 'y']]),
    reason: 'parameter-denied',
  },
  { name: 'an empty map is no data', rule: 'denied_parameters = { "*" = [] }', data: new Map(), reason: 'granted' },
  {
    name: 'read has data',
    rule: 'denied_parameters = { "x" = [] }',
    data: { x: 1 },
    operation: 'read',
    reason: 'parameter-denied',
  },
  {
    name: 'create has data',
    rule: 'denied_parameters = { "x" = [] }',
    data: { x: 1 },
    operation: 'create',
    reason: 'parameter-denied',
  },
  {
    name: 'patch has data',
    rule: 'denied_parameters = { "x" = [] }',
    data: { x: 1 },
    operation: 'patch',
    reason: 'parameter-denied',
  },
  {
    name: 'delete has none',
    rule: 'denied_parameters = { "x" = [] }',
    data: { x: 1 },
    operation: 'delete',
    reason: 'granted',
  },
  { name: 'list has none', rule: 'required_parameters = ["x"]', data: {}, operation: 'list', reason: 'granted' },
]
for (const { name, rule, data, operation = 'update', reason } of PARAMETERS) {
  test(`acl parameters: ${name}`, () => {
    const acl = aclOf(`path "a" { capabilities = ["create", "read", "update", "delete", "list", "patch"] ${rule} }`)
    assert.equal(acl.check({ operation, path: 'a', parameters: data }).reason, reason)
  })
}

test('A6: rules on what is not read yet are left for later, and the decision says whether there are any', () => {
  const acl = aclOf(`path "a" { capabilities = ["update", "delete"] required_parameters = ["reason"] }
    path "b" { capabilities = ["update"] }
    path "c" { capabilities = ["list"] pagination_limit = 5 }`)
  const decided = (request: AclRequest) => {
    const { reason, judgesData } = acl.check(request)
    return [reason, judgesData]
  }
  const isUnread = true
  assert.deepEqual(decided({ operation: 'update', path: 'a', isUnread }), ['granted', true])
  assert.deepEqual(decided({ operation: 'update', path: 'a', isUnread: false }), ['parameter-required', false])
  assert.deepEqual(decided({ operation: 'delete', path: 'a', isUnread }), ['granted', false])
  assert.deepEqual(decided({ operation: 'update', path: 'b', isUnread }), ['granted', false])
  const parameters = { limit: 6 }
  assert.deepEqual(decided({ operation: 'list', path: 'c', isUnread, parameters }), ['granted', true])
  assert.deepEqual(decided({ operation: 'list', path: 'c', parameters }), ['page-limit', false])
  assert.deepEqual(decided({ operation: 'read', path: 'a', isUnread }), ['capability-missing', false])
})

const VALUES: readonly { listed: string; equal: readonly unknown[]; other: readonly unknown[] }[] = [
  { listed: '"a"', equal: ['a'], other: ['A', 'ab', ['a'], 1, null, true, { a: 'a' }] },
  { listed: '"a*"', equal: ['a', 'ab'], other: ['ba', ['ab']] },
  { listed: '"*a"', equal: ['a', 'ba'], other: ['ab'] },
  { listed: '"*a*"', equal: ['a', 'bab'], other: ['b'] },
  { listed: '"*"', equal: ['*'], other: ['', 'a', 1, null] },
  { listed: '1', equal: [1, 1n], other: ['1', 2, true, 1.5] },
  { listed: '1.5', equal: [1.5], other: ['1.5', 1, 2n] },
  { listed: '9007199254740993', equal: [9007199254740993n], other: [9007199254740992, 9007199254740992n] },
  { listed: 'true', equal: [true], other: ['true', 1, false] },
  { listed: 'null', equal: [null], other: ['', 'null', 0, false, []] },
  { listed: '["a*", 1]', equal: [['a*', 1]], other: [['ab', 1], ['a*'], [1, 'a*'], ['a*', 1, 2], 'a*'] },
  {
    listed: '{"k": "v", "l": [1]}',
    equal: [
      { l: [1], k: 'v' },
      new Map<string, unknown>([
        ['k', 'v'],
        ['l', [1]],
      ]),
    ],
    other: [{ k: 'v' }, { k: 'v', l: [1], m: 1 }, { k: 'v', l: [2] }, ['v'], new Map([['k', 'v']])],
  },
]
for (const { listed, equal, other } of VALUES) {
  test(`acl values: ${listed} in a list`, () => {
    const acl = aclOf(`{"path":{"a":{"capabilities":["update"],"allowed_parameters":{"x":[${listed}]}}}}`)
    const allowed = (x: unknown) => acl.check({ operation: 'update', path: 'a', parameters: { x } }).allowed
    for (const value of equal) assert.equal(allowed(value), true, String(value))
    for (const value of other) assert.equal(allowed(value), false, String(value))
  })
}

test('a value that is nested deeper than any policy is compared without recursion into it', () => {
  let deep: unknown = 'a'
  for (let level = 0; level < 100_000; level++) deep = [deep]
  const acl = aclOf('path "a" { capabilities = ["update"] denied_parameters = { "x" = [[["a"]]] } }')
  assert.equal(acl.check({ operation: 'update', path: 'a', parameters: { x: deep } }).allowed, true)
  assert.equal(acl.check({ operation: 'update', path: 'a', parameters: { x: [['a']] } }).allowed, false)
})

test('joined parameters: names add up, lists join, an empty list wins, no rule lifts the block of another', () => {
  const block = (text: string) => `path "a" { capabilities = ["update"] ${text} }`
  const allowed = (data: Parameters, ...texts: string[]) =>
    [texts, texts.toReversed()].map(
      (order) => aclOf(...order.map(block)).check({ operation: 'update', path: 'a', parameters: data }).allowed,
    )
  const x = 'allowed_parameters = { "x" = ["1"] }'
  assert.deepEqual(allowed({ y: '1' }, x, ''), [false, false])
  assert.deepEqual(allowed({ x: '1', y: '1' }, x, 'allowed_parameters = { "y" = [] }'), [true, true])
  assert.deepEqual(allowed({ x: '2' }, x, 'allowed_parameters = { "X" = ["2"] }'), [true, true])
  assert.deepEqual(allowed({ x: '3' }, x, 'allowed_parameters = { "x" = ["2"] }'), [false, false])
  assert.deepEqual(allowed({ x: '3' }, x, 'allowed_parameters = { "x" = [] }'), [true, true])
  assert.deepEqual(allowed({ x: '3' }, 'denied_parameters = { "x" = ["1"] }', 'denied_parameters = { "x" = [] }'), [
    false,
    false,
  ])
  assert.deepEqual(allowed({ x: '2' }, 'denied_parameters = { "x" = ["1"] }', ''), [true, true])
  assert.deepEqual(allowed({ x: '1' }, 'required_parameters = ["x"]', 'required_parameters = ["y"]'), [false, false])
  assert.deepEqual(allowed({ x: '1', y: '1' }, 'required_parameters = ["x"]', 'required_parameters = ["y"]'), [
    true,
    true,
  ])
})

const WRAPPING: readonly { name: string; rule: string; wrapTtlSeconds?: number; reason: AclReason }[] = [
  { name: 'no limit, no wrapping', rule: '', reason: 'granted' },
  { name: 'no limit, wrapping', rule: '', wrapTtlSeconds: 60, reason: 'granted' },
  { name: 'a maximum wants wrapping', rule: 'max_wrapping_ttl = "2m"', reason: 'wrapping-required' },
  { name: 'a minimum wants wrapping', rule: 'min_wrapping_ttl = "1m"', reason: 'wrapping-required' },
  {
    name: 'a time of 0 is no wrapping',
    rule: 'max_wrapping_ttl = "2m"',
    wrapTtlSeconds: 0,
    reason: 'wrapping-required',
  },
  { name: 'the maximum', rule: 'max_wrapping_ttl = "2m"', wrapTtlSeconds: 120, reason: 'granted' },
  { name: 'above the maximum', rule: 'max_wrapping_ttl = "2m"', wrapTtlSeconds: 121, reason: 'wrapping-ttl-too-long' },
  { name: 'the minimum', rule: 'min_wrapping_ttl = "1m"', wrapTtlSeconds: 60, reason: 'granted' },
  { name: 'below the minimum', rule: 'min_wrapping_ttl = "1m"', wrapTtlSeconds: 59, reason: 'wrapping-ttl-too-short' },
  {
    name: 'between both',
    rule: 'min_wrapping_ttl = "1m" max_wrapping_ttl = "2m"',
    wrapTtlSeconds: 90,
    reason: 'granted',
  },
  { name: 'a minimum below a second', rule: 'min_wrapping_ttl = "100ms"', reason: 'wrapping-required' },
]
for (const { name, rule, wrapTtlSeconds, reason } of WRAPPING) {
  test(`acl wrapping: ${name}`, () => {
    const acl = aclOf(`path "a" { capabilities = ["update", "read", "list"] ${rule} }`)
    for (const operation of ['update', 'read', 'list'] as const) {
      assert.equal(acl.check({ operation, path: 'a', wrapTtlSeconds }).reason, reason)
    }
    assert.deepEqual(acl.capabilities('a'), ['list', 'read', 'update'])
  })
}

test('joined wrapping limits: the lowest of each that is set, and none that can be met is a denial', () => {
  const block = (text: string) => `path "a" { capabilities = ["read"] ${text} }`
  const reason = (wrapTtlSeconds: number, ...texts: string[]) =>
    aclOf(...texts.map(block)).check({ operation: 'read', path: 'a', wrapTtlSeconds }).reason
  assert.equal(reason(100, 'max_wrapping_ttl = 90', 'max_wrapping_ttl = 120'), 'wrapping-ttl-too-long')
  assert.equal(reason(90, 'max_wrapping_ttl = 90', ''), 'granted')
  assert.equal(reason(0, 'max_wrapping_ttl = 90', 'max_wrapping_ttl = 0'), 'wrapping-required')
  assert.equal(reason(30, 'min_wrapping_ttl = 30', 'min_wrapping_ttl = 60'), 'granted')
  const impossible = aclOf(block('min_wrapping_ttl = 60'), block('max_wrapping_ttl = 59'))
  assert.equal(impossible.check({ operation: 'read', path: 'a', wrapTtlSeconds: 60 }).reason, 'denied-by-rule')
  assert.deepEqual(impossible.capabilities('a'), ['deny'])
})

test('threats A-08: a page limit holds for every way to write a limit', () => {
  const acl = aclOf(
    'path "a/" { capabilities = ["list", "scan", "read"] pagination_limit = 10 }',
    'path "a/" { pagination_limit = 20 }',
  )
  const check = (parameters: Parameters | undefined) => acl.check({ operation: 'list', path: 'a/', parameters })
  for (const limit of [1, 10, '1', '10']) assert.equal(check({ limit }).reason, 'granted', String(limit))
  for (const limit of [
    0,
    -1,
    11,
    1.5,
    2 ** 60,
    Infinity,
    Number.NaN,
    '0',
    '-1',
    '11',
    '',
    ' 5',
    '1e1',
    '0x1',
    '9'.repeat(400),
    [5],
    null,
    true,
    {},
    undefined,
  ]) {
    assert.equal(check({ limit }).reason, 'page-limit', String(limit))
  }
  // Without a limit in the request the endpoint cuts the list.
  assert.deepEqual([check({}).pageLimit, check(undefined).pageLimit], [10, 10])
  assert.equal(acl.check({ operation: 'scan', path: 'a', parameters: new Map([['limit', 11]]) }).reason, 'page-limit')
  assert.equal(acl.check({ operation: 'read', path: 'a/', parameters: { limit: 11 } }).pageLimit, 0)
  const single = aclOf('path "a/" { capabilities = ["list"] pagination_limit = 1 }')
  const reasons = [1, 2].map((limit) => single.check({ operation: 'list', path: 'a/', parameters: { limit } }).reason)
  assert.deepEqual(reasons, ['granted', 'page-limit'])
})

test('rules with an expiration hold until then', () => {
  const granting = policy(
    'path "a" { capabilities = ["read"] expiration = 1000 } path "b" { capabilities = ["read"] expiration = 2000 }',
  )
  const at = (seconds: number) => buildAcl([granting], undefined, seconds * 1000)
  assert.deepEqual([at(999).capabilities('a'), at(1000).capabilities('a')], [['read'], ['deny']])
  assert.deepEqual([at(999).staleAtMs, at(1000).staleAtMs, at(2000).staleAtMs], [1_000_000, 2_000_000, Infinity])
  // Without a time, grants that expire do not hold, and denials that expire do.
  assert.deepEqual(buildAcl([granting]).capabilities('a'), ['deny'])
  const denying = policy(
    'path "a/*" { capabilities = ["read"] } path "a/b" { capabilities = ["deny"] expiration = 1000 }',
  )
  assert.deepEqual(buildAcl([denying]).capabilities('a/b'), ['deny'])
  assert.deepEqual(buildAcl([denying], undefined, 1_000_000).capabilities('a/b'), ['read'])
})

test('a decision names the policies that grant the capability, for the audit log', () => {
  const acl = buildAcl([
    policy(rules({ a: 'read' }), 'one'),
    policy(rules({ a: 'read list' }), 'two', ''),
    policy(rules({ a: 'list' }), 'three'),
  ])
  const names = (operation: AclOperation) =>
    acl.check({ operation, path: 'a' }).policies.map((granting) => granting.name)
  assert.deepEqual([names('read'), names('list'), names('update')], [['one', 'two'], ['two', 'three'], []])
})

test('threats A-05: policies of a namespace reach into it and below, and nowhere else', () => {
  for (const path of ['*', '+/x', '+/+', '/+/*', 'x', 'a*']) {
    const acl = buildAcl([policy(rules({ [path]: 'read' }), 'p', 'ns1/')])
    for (const outside of ['x', 'a/x', 'ns2/x', 'ns2/a/x', 'ns1', 'ns10/a/x', 'ns', '']) {
      assert.deepEqual(acl.capabilities(outside), ['deny'], `${path} ${outside}`)
    }
  }
  const acl = buildAcl([policy(rules({ '*': 'read', '+/x': 'update' }), 'p', 'ns1/')])
  assert.deepEqual(acl.capabilities('ns1/a/b'), ['read'])
  assert.deepEqual(acl.capabilities('ns1/a/x'), ['update'])
  const root = buildAcl([{ name: 'root', namespace: 'ns1/', rules: [] }])
  assert.deepEqual(
    [root.capabilities('ns1/sys/raw'), root.capabilities('sys/raw'), root.capabilities('ns10/x')],
    [['root'], ['deny'], ['deny']],
  )
  assert.equal(root.check({ operation: 'read', path: 'ns2/x' }).allowed, false)
})

test('templates are filled from the identity; a rule without its value is left out and the others hold', () => {
  const values = new Map([
    ['entity..name.', 'bob'],
    ['alias.acc.metadata.team', 'red'],
    ['group-by-name.ops.id.', 'g1'],
    ['entity..metadata.wild', 'a/*'],
  ])
  const resolve = ({ subject, selector, field, key }: TemplateReference) =>
    values.get(`${subject}.${selector}.${field}.${key}`)
  const text = rules({
    'home/{{identity.entity.name}}/*': 'read',
    'team/{{ identity.entity.aliases.acc.metadata.team }}/+/x': 'update',
    'group/{{identity.groups.names.ops.id}}': 'list',
    'wild/{{identity.entity.metadata.wild}}': 'delete',
    'none/{{identity.entity.id}}*': 'delete',
    plain: 'read',
  })
  const acl = buildAcl([policy(text)], resolve)
  assert.deepEqual(acl.capabilities('home/bob/a'), ['read'])
  assert.deepEqual(acl.capabilities('home/eve/a'), ['deny'])
  assert.deepEqual(acl.capabilities('team/red/any/x'), ['update'])
  assert.deepEqual(acl.capabilities('group/g1'), ['list'])
  for (const path of ['wild/a/', 'wild/a/b', 'wild/a/*', 'none/', 'none/x'])
    assert.deepEqual(acl.capabilities(path), ['deny'], path)
  assert.deepEqual(acl.capabilities('plain'), ['read'])
  assert.deepEqual(buildAcl([policy(text)]).capabilities('plain'), ['read'])
  assert.deepEqual(buildAcl([policy(text)]).capabilities('home//a'), ['deny'])
})

test('a filled path is joined with the same path written out', () => {
  const acl = buildAcl([policy(rules({ 'a/{{identity.entity.name}}': 'read', 'a/bob': 'deny' }))], () => 'bob')
  assert.deepEqual(acl.capabilities('a/bob'), ['deny'])
})

const REACHES: readonly { name: string; rules: Record<string, string>; reached: boolean }[] = [
  { name: 'an exact rule below', rules: { 'kv/team/a': 'read' }, reached: true },
  { name: 'a rule for the folder', rules: { 'kv/': 'list' }, reached: true },
  { name: 'a rule for the folder without its slash', rules: { kv: 'list' }, reached: true },
  { name: 'a prefix below', rules: { 'kv/team/*': 'read' }, reached: true },
  { name: 'a prefix above', rules: { 'k*': 'read' }, reached: true },
  { name: 'a prefix above, denied more exactly', rules: { 'k*': 'read', 'kv/*': 'deny' }, reached: false },
  { name: 'a prefix above, denied, and a rule below', rules: { 'kv/*': 'deny', 'kv/a': 'read' }, reached: true },
  { name: 'a free segment below', rules: { '+/team/+': 'read' }, reached: true },
  { name: 'a free segment elsewhere', rules: { '+/': 'deny', 'kw/+': 'read' }, reached: false },
  { name: 'a free segment above', rules: { '+': 'read' }, reached: true },
  { name: 'another mount', rules: { 'kv2/*': 'read', kv2: 'read', k: 'read' }, reached: false },
  { name: 'a rule that denies', rules: { 'kv/a': 'deny', 'kv/b*': 'deny', 'kv/+/c': 'deny' }, reached: false },
  { name: 'nothing', rules: {}, reached: false },
]
for (const row of REACHES) {
  test(`acl reaches a mount: ${row.name}`, () => {
    assert.equal(buildAcl([policy(`# rules\n${rules(row.rules)}`)]).reaches('kv/'), row.reached)
  })
}

test('root reaches every mount of its namespace', () => {
  assert.equal(buildAcl([{ name: 'root', rules: [] }]).reaches('kv/'), true)
  assert.equal(buildAcl([{ name: 'root', namespace: 'ns1/', rules: [] }]).reaches('kv/'), false)
})

test('the policy default grants what every token needs', () => {
  const text = BUILTIN_POLICIES.get('default') ?? ''
  const acl = buildAcl([policy(text, 'default')], ({ field }) => (field === 'id' ? 'e-1' : 'bob'))
  const expected: Readonly<Record<string, string[]>> = {
    'auth/token/lookup-self': ['read'],
    'auth/token/renew-self': ['update'],
    'auth/token/revoke-self': ['update'],
    'sys/capabilities-self': ['update'],
    'identity/entity/id/e-1': ['read'],
    'identity/entity/id/e-2': ['deny'],
    'identity/entity/name/bob': ['read'],
    'sys/internal/ui/resultant-acl': ['read'],
    'sys/leases/renew': ['update'],
    'sys/leases/lookup': ['update'],
    'sys/renew': ['update'],
    'cubbyhole/a/b': ['create', 'delete', 'list', 'read', 'update'],
    'sys/wrapping/wrap': ['update'],
    'sys/wrapping/lookup': ['update'],
    'sys/wrapping/unwrap': ['update'],
    'sys/tools/hash': ['update'],
    'sys/tools/hash/sha2-256': ['update'],
    'sys/tools/random': ['deny'],
    'auth/token/renew': ['deny'],
    'identity/oidc/provider/p/authorize': ['read', 'update'],
    'sys/control-group/request': ['update'],
    'sys/policies/acl/default': ['deny'],
  }
  for (const [path, capabilities] of Object.entries(expected))
    assert.deepEqual(acl.capabilities(path), capabilities, path)
})

test('the policy response-wrapping reads its value and nothing else', () => {
  const acl = buildAcl([policy(BUILTIN_POLICIES.get('response-wrapping') ?? '')])
  assert.deepEqual(acl.capabilities('cubbyhole/response'), ['create', 'read'])
  assert.deepEqual(acl.capabilities('sys/wrapping/unwrap'), ['update'])
  assert.deepEqual(acl.capabilities('cubbyhole/other'), ['deny'])
})
