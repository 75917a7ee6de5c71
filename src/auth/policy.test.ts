import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { encodeBase64 } from '../lib/base64.ts'
import {
  BUILTIN_POLICIES,
  UNASSIGNABLE_POLICIES,
  UNDELETABLE_POLICIES,
  UNEDITABLE_POLICIES,
} from './builtin-policies.ts'
import { normalizePolicyName, PolicyError, type PolicyRule, parsePolicy, parsePolicyDocument } from './policy.ts'
import { fillPattern, type TemplateReference } from './policy-path.ts'

function only(text: string): PolicyRule {
  const { rules } = parsePolicy(text)
  assert.equal(rules.length, 1)
  const [rule] = rules
  assert.ok(rule !== undefined)
  return rule
}

test('a policy is read from HCL with all its parts', () => {
  const rule = only(`# comment
    path "transit/encrypt/app-*" {
      comment             = "what it is for"
      capabilities        = ["update", "create", "update"]
      required_parameters = ["plaintext", "Context"]
      allowed_parameters  = { "plaintext" = [], "Type" = ["rsa-*", 1, true, ["a"], { k = "v" }], "*" = [] }
      denied_parameters   = { "type" = ["rsa-*"] }
      min_wrapping_ttl    = "1s"
      max_wrapping_ttl    = "90m"
      pagination_limit    = 100
      expiration          = "2030-01-31T00:00:00Z"
    }`)
  assert.deepEqual(rule, {
    path: { kind: 'prefix', parts: ['transit/encrypt/app-*'] },
    pathText: 'transit/encrypt/app-*',
    line: 2,
    capabilities: ['create', 'update'],
    allowedParameters: new Map([
      ['plaintext', []],
      ['type', ['rsa-*', 1, true, ['a'], new Map([['k', 'v']])]],
      ['*', []],
    ]),
    deniedParameters: new Map([['type', ['rsa-*']]]),
    requiredParameters: ['plaintext', 'context'],
    minWrappingTtlSeconds: 1,
    maxWrappingTtlSeconds: 5400,
    pageLimit: 100,
    expiresAtMs: Date.UTC(2030, 0, 31),
  })
})

const PATHS_OF: readonly { name: string; text: string; paths: readonly string[] }[] = [
  { name: 'several blocks, the same path twice', text: 'path "a" {} path "b" {} path "a" {}', paths: ['a', 'b', 'a'] },
  { name: 'an object of paths', text: 'path = { "a" = { capabilities = ["read"] } "b" {} }', paths: ['a', 'b'] },
  { name: 'JSON', text: '{"path":{"a/b":{"capabilities":["read"]}}}', paths: ['a/b'] },
  {
    name: 'a JSON list',
    text: '{"path":[{"a":{"capabilities":["read"]}},{"a":{"policy":"deny"},"b":{}}]}',
    paths: ['a', 'a', 'b'],
  },
  {
    name: 'JSON with a repeated path',
    text: '{"path":{"a":{"policy":"deny"},"a":{"policy":"read"}}}',
    paths: ['a', 'a'],
  },
  {
    name: 'JSON with a repeated "path"',
    text: '{"path":{"a":{"policy":"deny"}},"path":{"a":{"policy":"read"}}}',
    paths: ['a', 'a'],
  },
  { name: 'a name, which means nothing', text: 'name = "x" path "a" {}', paths: ['a'] },
  { name: 'no path at all', text: '# nothing yet', paths: [] },
]
for (const { name, text, paths } of PATHS_OF) {
  test(`a policy may hold ${name}`, () => {
    assert.deepEqual(
      parsePolicy(text).rules.map((rule) => rule.path.parts.join('')),
      paths,
    )
  })
}

const CAPABILITIES: readonly { text: string; capabilities: readonly string[] }[] = [
  { text: 'capabilities = []', capabilities: [] },
  { text: '', capabilities: [] },
  { text: 'capabilities = ["read"]', capabilities: ['read'] },
  {
    text: 'capabilities = ["update","sudo","scan","read","patch","list","delete","create","subscribe","recover"]',
    capabilities: ['create', 'delete', 'list', 'patch', 'read', 'recover', 'scan', 'subscribe', 'sudo', 'update'],
  },
  { text: 'capabilities = ["read", "deny", "sudo"]', capabilities: ['deny'] },
  { text: 'capabilities = ["read"] capabilities = ["list"]', capabilities: ['list', 'read'] },
  { text: 'capabilities = ["read"] capabilities = ["deny"]', capabilities: ['deny'] },
  { text: 'policy = "deny"', capabilities: ['deny'] },
  { text: 'policy = "read"', capabilities: ['list', 'read'] },
  { text: 'policy = "write"', capabilities: ['create', 'delete', 'list', 'read', 'update'] },
  { text: 'policy = "sudo"', capabilities: ['create', 'delete', 'list', 'read', 'sudo', 'update'] },
  { text: 'policy = "read" capabilities = ["update"]', capabilities: ['list', 'read', 'update'] },
  { text: 'policy = "deny" capabilities = ["update"]', capabilities: ['deny'] },
]
for (const { text, capabilities } of CAPABILITIES) {
  test(`a rule with ${text === '' ? 'nothing' : text} grants ${capabilities.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(only(`path "a" { ${text} }`).capabilities, capabilities)
  })
}

const REFUSED: readonly { name: string; text: string; says: string }[] = [
  { name: 'empty text', text: '', says: 'the policy text is empty' },
  { name: 'blank text', text: ' \n\t', says: 'the policy text is empty' },
  { name: 'text that is not HCL', text: 'path a {', says: 'line 1, column 9: expected a key or "}"' },
  { name: 'an unknown key at the top', text: '\npaths "a" {}', says: 'invalid key "paths" on line 2' },
  { name: 'an unknown key at the top of JSON', text: '{"path":{},"rules":{}}', says: 'invalid key "rules" on line 1' },
  {
    name: 'an unknown key in a rule',
    text: 'path "a" { capabilities = ["read"] wrong = 1 }',
    says: 'path "a": invalid key "wrong" on line 1',
  },
  { name: 'a key in other case', text: 'path "a" { Capabilities = [] }', says: 'path "a": invalid key "Capabilities"' },
  {
    name: 'a key of the prototype (threats N-07)',
    text: 'path "a" { __proto__ = {} }',
    says: 'path "a": invalid key "__proto__"',
  },
  {
    name: 'an unknown capability',
    text: 'path "a" { capabilities = ["nope"] }',
    says: 'path "a": invalid capability "nope"',
  },
  {
    name: 'a capability in upper case',
    text: 'path "a" { capabilities = ["READ"] }',
    says: 'path "a": invalid capability "READ"',
  },
  {
    name: 'a capability that is a key of objects',
    text: 'path "a" { capabilities = ["constructor"] }',
    says: 'path "a": invalid capability',
  },
  {
    name: 'an unknown capability beside deny',
    text: 'path "a" { capabilities = ["deny", "x"] }',
    says: 'path "a": invalid capability "x"',
  },
  {
    name: 'a capability outside a list',
    text: 'path "a" { capabilities = "read" }',
    says: 'path "a": capabilities on line 1 must be a list',
  },
  {
    name: 'a capability that is no text',
    text: 'path "a" { capabilities = [1] }',
    says: 'path "a": capabilities on line 1 must be a list',
  },
  { name: 'an unknown legacy policy', text: 'path "a" { policy = "admin" }', says: 'path "a": invalid policy' },
  {
    name: 'a legacy policy in a list',
    text: 'path "a" { policy = ["read"] }',
    says: 'path "a": policy on line 1 must be a single value',
  },
  {
    name: 'a legacy policy given twice',
    text: 'path "a" { policy = "deny"\n policy = "sudo" }',
    says: 'path "a": policy is given a second time on line 2',
  },
  { name: 'a path with two labels', text: 'path "a" "b" {}', says: 'the block has a label too many' },
  { name: 'a path without a block', text: 'path = "a"', says: 'expected a label and a block' },
  { name: 'a rule that is no block', text: '{"path":{"a":["read"]}}', says: 'expected a block' },
  {
    name: 'a labelled key in a rule',
    text: 'path "a" { allowed_parameters "x" {} }',
    says: 'path "a": allowed_parameters takes no label',
  },
  {
    name: 'allowed_parameters as a list',
    text: 'path "a" { allowed_parameters = ["x"] }',
    says: 'must be parameter names, each with a list',
  },
  {
    name: 'a parameter without a list',
    text: 'path "a" { denied_parameters = { "x" = "y" } }',
    says: 'denied_parameters needs a list of values for "x"',
  },
  {
    name: 'a parameter with labels',
    text: 'path "a" { denied_parameters = { "x" "y" {} } }',
    says: 'denied_parameters needs a list of values for "x"',
  },
  {
    name: 'a value with a repeated key',
    text: 'path "a" { denied_parameters = { "x" = [{ k = 1, k = 2 }] } }',
    says: 'a key given twice',
  },
  {
    name: 'required_parameters as an object',
    text: 'path "a" { required_parameters = { "x" = [] } }',
    says: 'required_parameters on line 1 must be a list',
  },
  {
    name: 'a limit that is no duration',
    text: 'path "a" { min_wrapping_ttl = "soon" }',
    says: 'min_wrapping_ttl on line 1 must be seconds or a duration',
  },
  {
    name: 'a negative limit',
    text: 'path "a" { max_wrapping_ttl = "-1s" }',
    says: 'must be a duration that is not negative',
  },
  { name: 'a limit that is a bool', text: 'path "a" { max_wrapping_ttl = true }', says: 'must be a duration' },
  {
    name: 'a maximum below the minimum',
    text: 'path "a" { min_wrapping_ttl = "2m" max_wrapping_ttl = 119 }',
    says: 'max_wrapping_ttl is shorter than min',
  },
  {
    name: 'a limit given twice',
    text: 'path "a" { max_wrapping_ttl = 1 max_wrapping_ttl = 2 }',
    says: 'max_wrapping_ttl is given a second time',
  },
  {
    name: 'a negative page (threats A-08)',
    text: 'path "a" { pagination_limit = -1 }',
    says: 'must be a whole number that is not negative',
  },
  { name: 'a page that is no number', text: 'path "a" { pagination_limit = "many" }', says: 'must be a whole number' },
  { name: 'half a page', text: 'path "a" { pagination_limit = 1.5 }', says: 'must be a whole number' },
  {
    name: 'a page beyond counting',
    text: 'path "a" { pagination_limit = 9007199254740993 }',
    says: 'must be a whole number',
  },
  {
    name: 'an expiration that is no time',
    text: 'path "a" { expiration = "tomorrow" }',
    says: 'expiration on line 1 must be seconds since 1970 or a time',
  },
  {
    name: 'an expiration of no calendar',
    text: 'path "a" { expiration = "2030-13-01T00:00:00Z" }',
    says: 'expiration on line 1 must be',
  },
  { name: 'a plus before a star', text: 'path "a/+*" {}', says: 'path "a/+*": "+*" is not allowed' },
  { name: 'a plus before a star, inside', text: 'path "a+*b" {}', says: '"+*" is not allowed' },
  { name: 'an open template', text: 'path "a/{{identity.entity.id" {}', says: '"{{" without "}}"' },
  { name: 'a template that closes twice', text: 'path "a/}}" {}', says: '"}}" without "{{"' },
]
for (const { name, text, says } of REFUSED) {
  test(`a policy with ${name} is refused`, () => {
    assert.throws(
      () => parsePolicy(text),
      (error) => {
        assert.ok(error instanceof PolicyError)
        assert.ok(error.message.includes(says), error.message)
        return true
      },
    )
  })
}

test('a message shows of a policy what is short and visible only', () => {
  const text = `path "${'x'.repeat(500)}\\u0007é" { wrong = 1 }`
  assert.throws(
    () => parsePolicy(text),
    (error) => error instanceof PolicyError && error.message.length < 200,
  )
  assert.throws(() => parsePolicy('path "\\u0007\\u00e9" { wrong = 1 }'), /path "\?\?": invalid key "wrong"/)
})

const LIMITS: readonly { text: string; seconds: number }[] = [
  { text: '90', seconds: 90 },
  { text: '"90"', seconds: 90 },
  { text: '"1h30m"', seconds: 5400 },
  { text: '"100ms"', seconds: 0.1 },
  { text: '"2d"', seconds: 172_800 },
  { text: '0', seconds: 0 },
  { text: '""', seconds: 0 },
]
for (const { text, seconds } of LIMITS) {
  test(`a wrapping limit of ${text} is ${seconds} seconds`, () => {
    assert.equal(only(`path "a" { min_wrapping_ttl = ${text} }`).minWrappingTtlSeconds, seconds)
  })
}

test('a maximum of 0 is no maximum', () => {
  assert.equal(only('path "a" { min_wrapping_ttl = 60 max_wrapping_ttl = 0 }').maxWrappingTtlSeconds, 0)
})

for (const [text, atMs] of [
  ['1893456000', 1893456000_000],
  ['"1893456000"', 1893456000_000],
  ['"2030-01-01T01:00:00.5+01:00"', 1893456000_500],
] as const) {
  test(`an expiration of ${text} is read`, () => {
    assert.equal(only(`path "a" { expiration = ${text} }`).expiresAtMs, atMs)
  })
}

test('parameter names that differ in case only, and repeated blocks, are joined; an empty list wins', () => {
  const rule = only(`path "a" {
    allowed_parameters = { "Type" = ["a"] "TYPE" = ["b"] "x" = ["a"] }
    allowed_parameters = { "x" = [] "x" = ["b"] }
  }`)
  assert.deepEqual(
    rule.allowedParameters,
    new Map([
      ['type', ['a', 'b']],
      ['x', []],
    ]),
  )
})

test('keys that this service cannot honour take the grant with them, with a warning', () => {
  const rows = [
    { text: 'control_group = { factor = {} }', capabilities: [], key: 'control_group' },
    { text: 'mfa_methods = ["duo"]', capabilities: [], key: 'mfa_methods' },
    {
      text: 'list_scan_response_keys_filter_path = "x"',
      capabilities: ['read'],
      key: 'list_scan_response_keys_filter_path',
    },
  ]
  for (const { text, capabilities, key } of rows) {
    const { rules, warnings } = parsePolicy(`path "a" { capabilities = ["read", "list", "scan"] ${text} }`)
    assert.deepEqual(rules[0]?.capabilities, capabilities, text)
    assert.equal(warnings.length, 1)
    assert.ok(warnings[0]?.startsWith(`path "a": ${key} is not available`), warnings.join())
    assert.deepEqual(only(`path "a" { capabilities = ["deny"] ${text} }`).capabilities, ['deny'])
  }
  const empty = parsePolicy(
    'path "a" { capabilities = ["read"] control_group = {} mfa_methods = [] subscribe_event_types = ["*"] }',
  )
  assert.deepEqual([empty.rules[0]?.capabilities, empty.warnings], [['read'], []])
})

const PATTERNS: readonly { path: string; kind: 'exact' | 'prefix' | 'segment'; text?: string }[] = [
  { path: 'a/b', kind: 'exact' },
  { path: '', kind: 'exact' },
  { path: '/a/b', kind: 'exact', text: 'a/b' },
  { path: '//a', kind: 'exact', text: '/a' },
  { path: 'a/b/', kind: 'exact' },
  { path: '*', kind: 'prefix' },
  { path: 'a/*', kind: 'prefix' },
  { path: 'a/b*', kind: 'prefix' },
  { path: 'a**', kind: 'prefix' },
  { path: 'a/*/b', kind: 'exact' },
  { path: '*a', kind: 'exact' },
  { path: '+', kind: 'segment' },
  { path: '+/a', kind: 'segment' },
  { path: 'a/+/b', kind: 'segment' },
  { path: 'a/+', kind: 'segment' },
  { path: 'a/+/b*', kind: 'segment' },
  { path: 'a/+/*', kind: 'segment' },
  { path: 'a/+b', kind: 'segment' },
  { path: 'a+/b', kind: 'exact' },
  { path: 'a+b*', kind: 'prefix' },
  { path: 'a/b+', kind: 'exact' },
]
for (const { path, kind, text } of PATTERNS) {
  test(`the path "${path}" is of kind ${kind}`, () => {
    const pattern = only(`path "${path}" {}`).path
    assert.deepEqual(pattern, { kind, parts: [text ?? path] })
  })
}

const reference = (
  subject: TemplateReference['subject'],
  selector: string,
  field: TemplateReference['field'],
  key = '',
) => ({
  subject,
  selector,
  field,
  key,
})
const TEMPLATES: readonly { text: string; is: TemplateReference | undefined }[] = [
  { text: 'identity.entity.id', is: reference('entity', '', 'id') },
  { text: '  identity.entity.name\t', is: reference('entity', '', 'name') },
  { text: 'identity.entity.metadata.team', is: reference('entity', '', 'metadata', 'team') },
  { text: 'identity.entity.metadata.a.b c', is: reference('entity', '', 'metadata', 'a.b c') },
  { text: 'identity.entity.aliases.auth_x_1.id', is: reference('alias', 'auth_x_1', 'id') },
  { text: 'identity.entity.aliases.auth_x_1.name', is: reference('alias', 'auth_x_1', 'name') },
  { text: 'identity.entity.aliases.auth_x_1.metadata.k', is: reference('alias', 'auth_x_1', 'metadata', 'k') },
  {
    text: 'identity.entity.aliases.auth_x_1.custom_metadata.k',
    is: reference('alias', 'auth_x_1', 'custom_metadata', 'k'),
  },
  { text: 'identity.groups.ids.g-1.name', is: reference('group-by-id', 'g-1', 'name') },
  { text: 'identity.groups.ids.g-1.Ab0Cd9.name', is: reference('group-by-id', 'g-1.Ab0Cd9', 'name') },
  {
    text: 'identity.groups.ids.g-1.Ab0Cd9.metadata.k.l',
    is: reference('group-by-id', 'g-1.Ab0Cd9', 'metadata', 'k.l'),
  },
  { text: 'identity.groups.ids.g-1.metadata.k', is: reference('group-by-id', 'g-1', 'metadata', 'k') },
  { text: 'identity.groups.names.ops.id', is: reference('group-by-name', 'ops', 'id') },
  { text: 'identity.groups.names.ops.metadata.k', is: reference('group-by-name', 'ops', 'metadata', 'k') },
  ...[
    '',
    'identity',
    'identity.entity',
    'identity.entity.',
    'identity.entity.ID',
    'identity.entity.id.',
    'identity.entity.id.x',
    'identity.entity.metadata',
    'identity.entity.metadata.',
    'identity.entity.custom_metadata.k',
    'identity.entity.policies',
    'identity.entity.aliases',
    'identity.entity.aliases.x',
    'identity.entity.aliases..id',
    'identity.entity.aliases.x.custom_metadata',
    'identity.groups',
    'identity.groups.ids',
    'identity.groups.ids.g',
    'identity.groups.ids..name',
    'identity.groups.ids.g.id',
    'identity.groups.ids.g.Ab0Cd9',
    'identity.groups.ids.g.Ab0Cd9.id',
    'identity.groups.ids.g.Ab0Cd9.x.name',
    'identity.groups.names.g.name',
    'identity.groups.all.g.name',
    'identity.groups.names.g.custom_metadata.k',
    'entity.id',
    'time.now',
    'identity.entity.metadata.{{x',
  ].map((text) => ({ text, is: undefined })),
]
for (const { text, is } of TEMPLATES) {
  test(`the template {{${text}}} is ${is === undefined ? 'refused' : 'read'}`, () => {
    const policy = `path "a/{{${text}}}/b" {}`
    if (is === undefined) assert.throws(() => parsePolicy(policy), PolicyError)
    else assert.deepEqual(only(policy).path.parts, ['a/', is, '/b'])
  })
}

test('a template may stand at either end, and beside another', () => {
  const id = '{{identity.entity.id}}'
  assert.equal(only(`path "${id}" {}`).path.parts.length, 1)
  assert.equal(only(`path "/${id}${id}*" {}`).path.kind, 'prefix')
  assert.equal(only(`path "a/+/${id}" {}`).path.kind, 'segment')
})

test('wildcards inside a template name metadata and are no wildcards of the path', () => {
  assert.equal(only('path "a/{{identity.entity.metadata./+*}}" {}').path.kind, 'exact')
})

test('threats A-03: a value that is empty, or holds a slash, a wildcard or a control character, drops the rule', () => {
  const { path } = only('path "a/x{{identity.entity.name}}/*" {}')
  const filled = (value: string | undefined) => fillPattern(path, () => value, 'root')
  assert.deepEqual(filled('bob'), { text: 'a/xbob/*' })
  assert.deepEqual(filled('b.o-b {{x}} é'), { text: 'a/xb.o-b {{x}} é/*' })
  for (const value of ['/', 'a/b', '*', 'a*', '+', 'a+b', 'a\nb', '\0', '\x7f', '\x85', '\ud800']) {
    assert.deepEqual(filled(value), { unfilled: 'unsafe-value' }, JSON.stringify(value))
  }
  for (const value of [undefined, '']) assert.deepEqual(filled(value), { unfilled: 'no-value' })
  assert.deepEqual(fillPattern(path, undefined, 'root'), { unfilled: 'no-value' })
})

test('a policy may come as base64 of its text', () => {
  const text = 'path "a" { capabilities = ["read"] } # é'
  const encoded = encodeBase64(Buffer.from(text))
  for (const document of [text, encoded, `${encoded.slice(0, 20)}\r\n${encoded.slice(20)}\n`]) {
    const parsed = parsePolicyDocument(document)
    assert.equal(parsed.text, text)
    assert.deepEqual(parsed.rules, parsePolicy(text).rules)
  }
})

test('base64 of what is no policy is refused', () => {
  assert.throws(() => parsePolicyDocument(''), PolicyError)
  assert.throws(() => parsePolicyDocument(encodeBase64(Buffer.from([0xff, 0xfe]))), /not UTF-8/)
  assert.throws(() => parsePolicyDocument(encodeBase64(Buffer.from('hello'))), /expected "=" or "{"/)
  // A byte order mark is not taken off silently: the text that is stored is the one that was sent.
  assert.throws(() => parsePolicyDocument(encodeBase64(Buffer.from('\ufeffpath "a" {}'))), /U\+FEFF/)
  // Encoded once is decoded once.
  const twice = encodeBase64(Buffer.from(encodeBase64(Buffer.from('path "a" {}'))))
  assert.throws(() => parsePolicyDocument(twice), PolicyError)
})

const NAMES: readonly { given: string; is: string | undefined }[] = [
  { given: 'app', is: 'app' },
  { given: 'W-UPPER', is: 'w-upper' },
  { given: ' \t\r\n\v\fApp\n', is: 'app' },
  { given: 'team a', is: 'team a' },
  { given: 'Team/A', is: 'team/a' },
  { given: ' ', is: '' },
  { given: 'ROOT', is: 'root' },
  { given: 'rOOt ', is: 'root' },
  { given: '\u00a0root', is: undefined },
  { given: '\ufeffroot', is: undefined },
  { given: 'root\u2028', is: undefined },
  { given: '\u212aey', is: undefined },
  { given: 'r\u01d2ot', is: undefined },
  { given: 'ſudo', is: undefined },
  { given: 'ro\x00ot', is: undefined },
  { given: 'a\nb', is: undefined },
  { given: 'root\x1f', is: undefined },
  { given: '\x7f', is: undefined },
]
for (const { given, is } of NAMES) {
  const outcome = is === undefined ? 'refused' : `"${is}"`
  test(`threats I-01, N-17: the policy name ${JSON.stringify(given)} is ${outcome}`, () => {
    if (is === undefined) assert.throws(() => normalizePolicyName(given), PolicyError)
    else assert.equal(normalizePolicyName(given), is)
  })
}

test('threats I-01: a normalised name stays as it is, and only spellings of root in ASCII become root', (context) => {
  const near = fc.constantFrom(
    'r',
    'R',
    'o',
    'O',
    '\u00f6',
    't',
    'T',
    ' ',
    '\t',
    '\u00a0',
    '\ufeff',
    '\u212a',
    '\u0130',
    '-',
  )
  const names = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: near, maxLength: 8 }))
  fc.assert(
    fc.property(names, (name) => {
      let normal: string
      try {
        normal = normalizePolicyName(name)
      } catch (error) {
        return error instanceof PolicyError
      }
      assert.equal(normalizePolicyName(normal), normal)
      const bytes = Buffer.from(name).toString('latin1')
      return (normal === 'root') === /^[ \t\n\v\f\r]*[rR][oO][oO][tT][ \t\n\v\f\r]*$/.test(bytes)
    }),
    { seed: testSeed(context), numRuns: 1000 },
  )
})

test('the built-in policies are valid, and their names are kept from change', () => {
  for (const [name, text] of BUILTIN_POLICIES) {
    assert.equal(normalizePolicyName(name), name)
    const { rules, warnings } = parsePolicy(text)
    assert.ok(rules.length > 0 && rules.every((rule) => rule.capabilities.length > 0), name)
    assert.deepEqual(warnings, [])
  }
  assert.deepEqual([...UNASSIGNABLE_POLICIES].sort(), ['control-group', 'response-wrapping'])
  assert.deepEqual([...UNEDITABLE_POLICIES].sort(), ['control-group', 'response-wrapping', 'root'])
  assert.deepEqual([...UNDELETABLE_POLICIES].sort(), ['control-group', 'default', 'response-wrapping', 'root'])
})
