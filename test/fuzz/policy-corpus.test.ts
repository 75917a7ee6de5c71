// Policies in the style of those that operators have, each with what its author meant by it: read, evaluated, and held
// against that. The expectations are written by hand, from the texts and not from the program.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AclOperation, buildAcl } from '../../src/auth/acl.ts'
import type { AclRequest } from '../../src/auth/permissions.ts'
import { parsePolicyDocument } from '../../src/auth/policy.ts'
import type { TemplateResolver } from '../../src/auth/policy-path.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const FOLDER = join(PROJECT, 'test/fixtures/policies')
const NOW_MS = Date.UTC(2026, 0, 1)

type More = Omit<AclRequest, 'operation' | 'path'>
type Case = readonly [verdict: '+' | '-', operation: AclOperation, path: string, more?: More]
type Meant = {
  readonly rules: number
  /** How many things the policy asks for that are not there. */
  readonly warnings?: number
  readonly capabilities: Readonly<Record<string, string>>
  readonly requests?: readonly Case[]
}

const ALL = 'create delete list read sudo update'
const sends = (parameters: Readonly<Record<string, unknown>>): More => ({ parameters })
const wrapped = (wrapTtlSeconds: number): More => ({ wrapTtlSeconds })

const MEANT: Readonly<Record<string, Meant>> = {
  'admin.hcl': {
    rules: 8,
    capabilities: {
      'sys/health': 'read sudo',
      'sys/policies/acl': 'list',
      'sys/policies/acl/': 'list',
      'sys/policies/acl/x': ALL,
      'sys/mounts': 'read',
      'sys/mounts/transit': ALL,
      'auth/userpass/users/eve': ALL,
      'transit/encrypt/k': 'deny',
      'transit/keys/k': 'deny',
    },
    requests: [
      ['+', 'update', 'sys/mounts/transit', { sudoRequired: true }],
      ['-', 'update', 'sys/health', { sudoRequired: true }],
    ],
  },
  'everything.hcl': {
    rules: 1,
    capabilities: { a: ALL, 'a/b/c': ALL },
    requests: [
      ['-', 'patch', 'a'],
      ['-', 'scan', 'a'],
    ],
  },
  'app-encrypt-only.hcl': {
    rules: 3,
    capabilities: {
      'transit/encrypt/orders': 'update',
      'transit/datakey/wrapped/orders': 'update',
      'transit/datakey/plaintext/orders': 'deny',
      'transit/decrypt/orders': 'deny',
      'transit/encrypt/orders2': 'deny',
    },
    requests: [['-', 'create', 'transit/encrypt/orders']],
  },
  'sops.hcl': { rules: 2, capabilities: { 'transit/encrypt/sops': 'update', 'transit/keys/sops': 'deny' } },
  'auto-unseal.hcl': { rules: 2, capabilities: { 'transit/decrypt/autounseal': 'update', transit: 'deny' } },
  'kubernetes-kms.hcl': {
    rules: 3,
    capabilities: {
      'transit/keys/k8s-one': 'read',
      'transit/keys/k8s-': 'read',
      'transit/keys/k8s': 'deny',
      'transit/encrypt/k8s-a/b': 'create update',
    },
  },
  'no-sha1.hcl': {
    rules: 3,
    capabilities: { 'transit/sign/release/sha1': 'deny', 'transit/sign/release/sha2-256': 'update' },
    requests: [
      ['+', 'update', 'transit/sign/release', sends({ input: 'YQ==' })],
      ['+', 'update', 'transit/sign/release', sends({ input: 'YQ==', hash_algorithm: 'sha2-256' })],
      ['-', 'update', 'transit/sign/release', sends({ input: 'YQ==', hash_algorithm: 'sha1' })],
      ['-', 'update', 'transit/sign/release', sends({ input: 'YQ==', HASH_ALGORITHM: 'sha1' })],
      ['-', 'update', 'transit/sign/release', sends({ prehashed: false })],
      ['-', 'update', 'transit/sign/release/sha1', sends({ input: 'YQ==' })],
    ],
  },
  'key-types.hcl': {
    rules: 2,
    capabilities: { 'transit/keys/team-a-x': 'create update', 'transit/keys/team-a-x/config': 'create update' },
    requests: [
      ['+', 'create', 'transit/keys/team-a-x'],
      ['+', 'create', 'transit/keys/team-a-x', sends({ type: 'rsa-4096', derived: 'what ever' })],
      ['-', 'create', 'transit/keys/team-a-x', sends({ type: 'ed25519' })],
      ['-', 'create', 'transit/keys/team-a-x', sends({ type: ['rsa-4096'] })],
      ['+', 'create', 'transit/keys/team-a-x', sends({ exportable: false })],
      ['-', 'create', 'transit/keys/team-a-x', sends({ exportable: true })],
      ['-', 'create', 'transit/keys/team-a-x', sends({ exportable: 'false' })],
      ['-', 'create', 'transit/keys/team-a-x', sends({ auto_rotate_period: '1h' })],
      ['+', 'update', 'transit/keys/other/config', sends({ deletion_allowed: false })],
      ['-', 'update', 'transit/keys/other/config', sends({ deletion_allowed: 'true' })],
      ['-', 'update', 'transit/keys/other/config', sends({ deletion_allowed: 1 })],
    ],
  },
  'change-ticket.hcl': {
    rules: 1,
    capabilities: {
      'transit/keys/a/rotate': 'update',
      'transit/keys/a/b/rotate': 'deny',
      'transit/keys//rotate': 'deny',
    },
    requests: [
      ['-', 'update', 'transit/keys/a/rotate'],
      ['-', 'update', 'transit/keys/a/rotate', sends({ ticket: '4711' })],
      ['+', 'update', 'transit/keys/a/rotate', sends({ ticket: 'CHG-4711', other: 1 })],
    ],
  },
  'wrapped-export.hcl': {
    rules: 2,
    capabilities: { 'transit/export/encryption-key/k': 'read', 'transit/backup/k': 'read' },
    requests: [
      ['-', 'read', 'transit/export/encryption-key/k'],
      ['-', 'read', 'transit/export/encryption-key/k', wrapped(59)],
      ['+', 'read', 'transit/export/encryption-key/k', wrapped(60)],
      ['+', 'read', 'transit/export/encryption-key/k', wrapped(5400)],
      ['-', 'read', 'transit/export/encryption-key/k', wrapped(5401)],
      ['-', 'read', 'transit/backup/k'],
      ['+', 'read', 'transit/backup/k', wrapped(1)],
      ['-', 'read', 'transit/backup/k', wrapped(301)],
    ],
  },
  'approle-broker.hcl': {
    rules: 3,
    capabilities: {
      'auth/approle/role/app/secret-id': 'create update',
      'auth/approle/role/app/role-id': 'read',
      'auth/approle/role/admin/secret-id': 'deny',
      'auth/approle/role/admin/role-id': 'read',
    },
    requests: [
      ['+', 'update', 'auth/approle/role/app/secret-id', wrapped(60)],
      ['-', 'update', 'auth/approle/role/admin/secret-id', wrapped(60)],
    ],
  },
  'own-home.hcl': {
    rules: 5,
    capabilities: {
      'kv/users/alice/x': 'create delete list read update',
      'kv/users/alice': 'list',
      'kv/users/bob/x': 'deny',
      'kv/users': 'list',
      'kv/teams/blue/app/config': 'read',
      'kv/teams/red/app/config': 'deny',
      'kv/nobody/': 'deny',
    },
  },
  'groups.hcl': {
    rules: 2,
    capabilities: { 'kv/group/g-17/x': 'list read', 'kv/alias/vm-1': 'read', 'kv/group/platform/x': 'deny' },
  },
  'metadata-tree.hcl': {
    rules: 5,
    capabilities: {
      'kv/metadata/app': 'list',
      'kv/metadata/private': 'list',
      'kv/metadata/private/': 'deny',
      'kv/metadata/private/x/': 'deny',
      'kv/metadata/private/granted/': 'list read',
      'kv/data/app/one': 'read',
      'kv/data/app/one/secret': 'deny',
      'kv/data/app/one/two/secret': 'read',
    },
    requests: [
      ['-', 'list', 'kv/metadata/private'],
      ['+', 'list', 'kv/metadata/private/granted'],
    ],
  },
  'json-plain.json': { rules: 2, capabilities: { 'transit/encrypt/app': 'update', 'transit/decrypt/app': 'update' } },
  'json-lists.json': {
    rules: 4,
    capabilities: { 'transit/keys': 'list', 'transit/keys/k': 'read update', 'transit/keys/locked': 'deny' },
    requests: [
      ['-', 'update', 'transit/keys/k', sends({ type: 'rsa-2048' })],
      ['-', 'update', 'transit/keys/k', sends({ type: null })],
      ['+', 'update', 'transit/keys/k', sends({ type: 'rsa-4096' })],
    ],
  },
  'json-repeated.json': { rules: 3, capabilities: { 'a/b': 'list read update', 'a/secret': 'deny' } },
  'legacy.hcl': {
    rules: 4,
    capabilities: {
      'secret/a': 'create delete list read update',
      'secret/readonly/a': 'list read',
      'secret/super': ALL,
      'secret/closed/a': 'deny',
    },
  },
  'legacy-mixed.hcl': { rules: 2, capabilities: { 'stage/a': 'create delete list patch read update' } },
  'here-document.hcl': {
    rules: 1,
    capabilities: { 'transit/keys/k': 'read', 'transit/k': 'deny' },
    requests: [['-', 'delete', 'transit/keys/k']],
  },
  'object-form.hcl': {
    rules: 2,
    capabilities: { 'transit/hmac/log': 'update', 'transit/verify/log': 'update' },
    requests: [
      ['-', 'update', 'transit/verify/log', sends({ input: 'YQ==' })],
      ['+', 'update', 'transit/verify/log', sends({ input: 'YQ==', hmac: 'x' })],
    ],
  },
  'duplicates.hcl': {
    rules: 3,
    capabilities: { 'transit/encrypt/k': 'create update' },
    requests: [
      ['+', 'create', 'transit/encrypt/k', sends({ plaintext: 'x', context: 'b' })],
      ['+', 'update', 'transit/encrypt/k', sends({ context: 'cd' })],
      ['-', 'update', 'transit/encrypt/k', sends({ context: 'd' })],
      ['-', 'update', 'transit/encrypt/k', sends({ key_version: 1 })],
    ],
  },
  'slashes.hcl': {
    rules: 5,
    capabilities: {
      'transit/keys': 'list',
      'transit/keys/': 'read',
      'transit/decrypt': 'update',
      'transit/decrypt/k': 'update',
      'transit/decrypted': 'update',
      'transit/a*b': 'read',
      'transit/axb': 'deny',
      'transit/+x/y': 'read',
      'transit/ax/y': 'deny',
    },
    // What a list names with its slash is not passed over for what has none.
    requests: [['-', 'list', 'transit/keys']],
  },
  'unicode.hcl': {
    rules: 3,
    capabilities: { 'transit/keys/büro-1': 'read', 'transit/keys/東京': 'delete read', 'transit/keys/ü': 'read' },
  },
  'pages.hcl': {
    rules: 2,
    capabilities: { 'transit/keys': 'list', 'sys/policies/acl/': 'list scan', 'sys/policies/acl': 'deny' },
    requests: [
      ['+', 'list', 'transit/keys', sends({ limit: 100 })],
      ['-', 'list', 'transit/keys', sends({ limit: '101' })],
      ['-', 'list', 'transit/keys', sends({ limit: 0 })],
      ['+', 'scan', 'sys/policies/acl', sends({ limit: '10' })],
    ],
  },
  'contractor.hcl': {
    rules: 2,
    capabilities: { 'transit/encrypt/project-x': 'update', 'transit/decrypt/project-x': 'update' },
  },
  'needs-approval.hcl': {
    rules: 3,
    warnings: 2,
    capabilities: { 'transit/export/k': 'deny', 'transit/backup/k': 'deny', 'transit/keys/k': 'read' },
  },
  'auditor.hcl': {
    rules: 6,
    capabilities: {
      'sys/audit': 'read sudo',
      'sys/audit/file': 'deny',
      'sys/audit-hash/file': 'update',
      'transit/keys/k': 'read',
      'teams/transit/keys/k': 'read',
      'a/b/c/keys/k': 'deny',
    },
  },
  'crlf.hcl': { rules: 2, capabilities: { 'crlf/a': 'read', 'crlf/x': 'list' } },
}

const IDENTITY: Readonly<Record<string, string>> = {
  'entity//name/': 'alice',
  'entity//metadata/team': 'blue',
  'group-by-name/platform/id/': 'g-17',
  'alias/auth_cloud_1a2b3c4d/metadata/vm_name': 'vm-1',
}
const resolve: TemplateResolver = ({ subject, selector, field, key }) =>
  IDENTITY[`${subject}/${selector}/${field}/${key}`]

test('every policy of the folder has an expectation, and the other way round', () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), Object.keys(MEANT).sort())
})

for (const [file, { rules, warnings = 0, capabilities, requests = [] }] of Object.entries(MEANT)) {
  test(`${file} means what its author meant`, () => {
    const text = readFileSync(join(FOLDER, file), 'utf8')
    const parsed = parsePolicyDocument(text)
    assert.deepEqual([parsed.rules.length, parsed.warnings.length], [rules, warnings])
    const acl = buildAcl([{ name: file, rules: parsed.rules }], resolve, NOW_MS)
    for (const [path, words] of Object.entries(capabilities)) {
      assert.equal(acl.capabilities(path).join(' '), words, path)
    }
    for (const [verdict, operation, path, more] of requests) {
      const { allowed, reason } = acl.check({ operation, path, ...more })
      assert.equal(allowed, verdict === '+', `${operation} ${path} ${JSON.stringify(more)}: ${reason}`)
    }
    // The same text in base64 is the same policy.
    assert.deepEqual(parsePolicyDocument(Buffer.from(text).toString('base64')).rules, parsed.rules)
  })
}

test('a rule with an end is gone after it', () => {
  const { rules } = parsePolicyDocument(readFileSync(join(FOLDER, 'contractor.hcl'), 'utf8'))
  const at = (ms: number) => buildAcl([{ name: 'contractor', rules }], undefined, ms)
  assert.deepEqual(at(Date.UTC(2030, 5, 30, 21, 59, 58)).capabilities('transit/encrypt/project-x'), ['update'])
  assert.deepEqual(at(Date.UTC(2030, 5, 30, 21, 59, 59)).capabilities('transit/encrypt/project-x'), ['deny'])
  assert.deepEqual(at(Date.UTC(2030, 0, 1)).capabilities('transit/decrypt/project-x'), ['deny'])
})
