import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildAcl } from './acl.ts'
import { explainAccess, neededFor } from './explain.ts'
import type { AclRequest } from './permissions.ts'
import { type Policy, parsePolicy } from './policy.ts'
import type { TemplateResolver } from './policy-path.ts'

const NOW_MS = Date.UTC(2026, 0, 1)

const policies = (texts: Readonly<Record<string, string>>): Policy[] =>
  Object.entries(texts).map(([name, text]) => ({ name, rules: parsePolicy(text).rules }))

function explained(texts: Readonly<Record<string, string>>, request: AclRequest, resolve?: TemplateResolver) {
  const all = policies(texts)
  const answer = explainAccess(all, request, resolve, NOW_MS)
  const { allowed, reason } = buildAcl(all, resolve, NOW_MS).check(request)
  assert.deepEqual({ allowed: answer.allowed, reason: answer.reason }, { allowed, reason })
  const { rule, considered } = answer
  const roles = considered.map((one) => `${one.policy}:${one.line} ${one.role}`)
  return { ...answer, rule: rule === undefined ? undefined : `${rule.policy}:${rule.line} ${rule.path}`, roles }
}

const APP = `# what the application may do
path "transit/*" {
  capabilities = ["read"]
}
path "transit/keys/+" {
  capabilities = ["read", "update"]
}

path "transit/keys/secret" {
  capabilities = ["deny"]
}
`
const OPS = `path "transit/keys/secret" { capabilities = ["read"] }

path "/transit/keys/+" {
  capabilities        = ["delete"]
  required_parameters = ["reason"]
  denied_parameters   = { "type" = ["rsa-*"] }
}`

test('the rule that decides is named with its policy and line, the others with why they do not count', () => {
  const read = explained({ app: APP }, { operation: 'read', path: 'transit/keys/a' })
  assert.deepEqual([read.allowed, read.rule, read.needed], [true, 'app:5 transit/keys/+', ['read']])
  assert.deepEqual(read.roles, ['app:5 decides', 'app:2 less-specific'])
  const denied = explained({ app: APP, ops: OPS }, { operation: 'read', path: '/transit/keys/secret' })
  assert.deepEqual([denied.allowed, denied.reason, denied.rule], [false, 'denied-by-rule', 'app:9 transit/keys/secret'])
  assert.deepEqual(denied.roles, [
    'app:9 decides',
    'ops:1 joined',
    'app:2 less-specific',
    'app:5 less-specific',
    'ops:3 less-specific',
  ])
})

test('of joined rules the one is named that brings the decision about', () => {
  const both = { app: APP, ops: OPS }
  const request = { operation: 'update', path: 'transit/keys/a' } as const
  const missing = explained(both, request)
  assert.deepEqual([missing.reason, missing.rule], ['parameter-required', 'ops:3 /transit/keys/+'])
  const denied = explained(both, { ...request, parameters: { reason: 'x', type: 'rsa-2048' } })
  assert.deepEqual([denied.reason, denied.rule], ['parameter-denied', 'ops:3 /transit/keys/+'])
  const granted = explained(both, { ...request, parameters: { reason: 'x' } })
  assert.deepEqual([granted.reason, granted.rule], ['granted', 'app:5 transit/keys/+'])
  assert.equal(explained(both, { operation: 'delete', path: 'transit/keys/a' }).rule, 'ops:3 /transit/keys/+')
})

test('sudo, wrapping and page limits are explained by the rule that sets them', () => {
  const text = `path "a" { capabilities = ["read", "list"] }
path "a" {
  max_wrapping_ttl = "1m"
}
path "b/" {
  capabilities     = ["list"]
  pagination_limit = 5
}`
  const sudo = explained({ p: text }, { operation: 'read', path: 'a', sudoRequired: true })
  assert.deepEqual([sudo.reason, sudo.needed], ['sudo-missing', ['read', 'sudo']])
  assert.deepEqual(neededFor({ operation: 'update', path: 'a', sudoRequired: true }), ['sudo', 'update'])
  const bare = explained({ p: text }, { operation: 'read', path: 'a' })
  assert.deepEqual([bare.reason, bare.rule], ['wrapping-required', 'p:2 a'])
  const long = explained({ p: text }, { operation: 'read', path: 'a', wrapTtlSeconds: 61 })
  assert.deepEqual([long.reason, long.rule], ['wrapping-ttl-too-long', 'p:2 a'])
  assert.equal(explained({ p: text }, { operation: 'read', path: 'a', wrapTtlSeconds: 60 }).rule, 'p:1 a')
  const page = explained({ p: text }, { operation: 'list', path: 'b', parameters: { limit: 6 } })
  assert.deepEqual([page.reason, page.rule], ['page-limit', 'p:5 b/'])
})

test('a list is explained with the fallbacks that it has', () => {
  const text = 'path "x" { capabilities = ["list"] }\npath "x/*" { capabilities = ["deny"] }'
  const exact = explained({ p: text }, { operation: 'list', path: 'x' })
  assert.deepEqual([exact.allowed, exact.roles], [true, ['p:1 decides', 'p:2 less-specific']])
  assert.deepEqual(explained({ p: text }, { operation: 'list', path: 'x/' }), exact)
  assert.equal(explained({ p: text }, { operation: 'read', path: 'x/y' }).rule, 'p:2 x/*')
})

test('rules that are over, or whose template has no usable value, are named as such', () => {
  const text = `path "id/{{identity.entity.name}}/*" { capabilities = ["read"] }
path "id/a/x" {
  capabilities = ["read"]
  expiration   = "2025-12-31T00:00:00Z"
}`
  const request = { operation: 'read', path: 'id/a/x' } as const
  assert.deepEqual(explained({ p: text }, request).roles, ['p:1 no-value', 'p:2 expired'])
  assert.deepEqual(explained({ p: text }, request, () => 'a/b').roles, ['p:1 unsafe-value', 'p:2 expired'])
  assert.deepEqual(explained({ p: text }, request, () => 'a').roles, ['p:1 decides', 'p:2 expired'])
  assert.equal(explained({ p: text }, request, () => 'a').rule, 'p:1 id/{{identity.entity.name}}/*')
  assert.deepEqual(explained({ p: text }, request, () => 'b').roles, ['p:2 expired'])
})

test('no rule, root, and more rules than are listed', () => {
  const none = explained({ app: APP }, { operation: 'read', path: 'sys/mounts' })
  assert.deepEqual([none.reason, none.rule, none.roles], ['no-rule', undefined, []])
  const root = explainAccess([{ name: 'root', rules: [] }], { operation: 'delete', path: 'x' }, undefined, NOW_MS)
  assert.deepEqual([root.allowed, root.reason, root.rule, root.considered], [true, 'root', undefined, []])
  const many = 'path "a*" { capabilities = ["read"] }\n'.repeat(70)
  const cut = explained({ p: many }, { operation: 'read', path: 'abc' })
  assert.deepEqual([cut.considered.length, cut.omitted, cut.rule], [50, 20, 'p:1 a*'])
})

test('in the JSON form a rule has the line of its path', () => {
  const text = '{\n  "path": {\n    "a": {"capabilities": ["read"]},\n    "b/*": {"capabilities": ["list"]}\n  }\n}'
  assert.equal(explained({ p: text }, { operation: 'list', path: 'b/c' }).rule, 'p:4 b/*')
})
