// A rule on the value of a parameter is one on what the value means, in whatever form it is sent.
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { Refusal } from '../../src/api/errors.ts'
import { decodeFields, type Field, object, string } from '../../src/api/fields.ts'
import { checkParameters } from '../../src/auth/parameter-rules.ts'
import type { ParameterValue } from '../../src/auth/parameter-values.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'
import { type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'
import { testSeed } from '../fixtures/seed.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  for (const [path, type] of [
    ['sys/mounts/transit', 'transit'],
    ['sys/auth/userpass', 'userpass'],
  ] as const)
    assert.equal((await server.call('POST', path, { type })).status, 204)
})

async function tokenWith(path: string, rule: string): Promise<string> {
  const policy = `path "${path}" { capabilities = ["create", "read", "update", "sudo"] ${rule} }`
  assert.ok((await server.call('POST', 'sys/policies/acl/tested', { policy })).status < 300)
  const made = await server.call('POST', 'auth/token/create', { policies: ['tested'], no_default_policy: true })
  return String((made.body.auth as { readonly client_token: string }).client_token)
}

type Case = {
  readonly name: string
  readonly path: string
  readonly rule: string
  readonly refused: readonly object[]
  readonly passed: readonly object[]
}

const CASES: readonly Case[] = [
  {
    name: 'a denied switch',
    path: 'transit/keys/switch',
    rule: 'denied_parameters = { "exportable" = [true] }',
    refused: [true, 1, '1', 't', 'T', 'true', 'TRUE', 'True'].map((exportable) => ({ exportable })),
    passed: [{ exportable: false }, { exportable: '0' }, { exportable: null }, {}],
  },
  {
    name: 'a switch that is denied as a text',
    path: 'transit/keys/switch-text',
    rule: 'denied_parameters = { "exportable" = ["true"] }',
    refused: [true, 1, 'TRUE', 'true'].map((exportable) => ({ exportable })),
    passed: [{ exportable: 'FALSE' }],
  },
  {
    name: 'a denied number',
    path: 'transit/random',
    rule: 'denied_parameters = { "bytes" = [16] }',
    refused: [16, '16', '0x10', '020', '0b10000', '1_6', '+16'].map((bytes) => ({ bytes })),
    passed: [{ bytes: 17 }, { bytes: '17' }],
  },
  {
    name: 'a denied element of a list',
    path: 'auth/userpass/users/listed',
    rule: 'denied_parameters = { "token_policies" = ["strong", "root-*"] }',
    refused: [
      'strong',
      'x,strong',
      ' x , STRONG ',
      ['strong'],
      ['x', 'strong'],
      ['Strong '],
      ['x', 'root-a'],
      'x,ROOT-b',
    ].flatMap((value) => [
      { token_policies: value, password: 'x' },
      { policies: value, password: 'x' },
    ]),
    passed: ['x', ['x', 'y'], 'x,y', [], null].map((value) => ({ token_policies: value, password: 'x' })),
  },
  {
    name: 'an allowed list',
    path: 'auth/userpass/users/allowed',
    rule: 'allowed_parameters = { "password" = [], "token_policies" = ["dev-*", "ops"], "token_ttl" = ["1h"] }',
    refused: [
      { token_policies: 'dev-a,root' },
      { token_policies: ['dev-a', 'admin'] },
      { token_policies: 'dev-a, admin' },
      { policies: ['dev-a', 'admin'] },
      { token_policies: [] },
      { token_ttl: 3601 },
      { ttl: '2h' },
    ].map((sent) => ({ password: 'x', ...sent })),
    passed: [
      { token_policies: 'dev-a' },
      { token_policies: ['dev-a', 'ops'] },
      { policies: 'OPS,dev-b' },
      { token_ttl: 3600 },
      { token_ttl: '60m' },
      { ttl: '3600s' },
      { token_ttl: null },
    ].map((sent) => ({ password: 'x', ...sent })),
  },
  {
    name: 'a denied list of several, in any order',
    path: 'auth/userpass/users/several',
    rule: 'denied_parameters = { "token_policies" = ["b,a", ["c", "d"]] }',
    refused: ['a,b', ['b', 'a'], ['a', 'b', 'a'], 'd,c', ['c', 'd']].map((value) => ({
      token_policies: value,
      password: 'x',
    })),
    passed: ['a', ['b'], 'a,b,c', 'c'].map((value) => ({ token_policies: value, password: 'x' })),
  },
  {
    name: 'a required parameter',
    path: 'auth/token/create',
    rule: 'required_parameters = ["ttl"]',
    refused: [{ ttl: null }, { TTL: '1h' }, {}],
    passed: [{ ttl: '1h' }, { ttl: 3600 }],
  },
  {
    name: 'a text that is sent as a number',
    path: 'transit/keys/texts',
    rule: 'denied_parameters = { "managed_key_name" = ["12", "1"] }',
    refused: [{ managed_key_name: 12 }, { managed_key_name: '12' }, { managed_key_name: true }],
    passed: [{ managed_key_name: 13 }],
  },
  {
    name: 'a map',
    path: 'auth/token/create',
    rule: 'denied_parameters = { "meta" = [{ "level" = 1 }] }',
    refused: [{ meta: { level: 1 } }, { meta: { level: '1' } }, { meta: { level: true } }],
    passed: [{ meta: { level: 2 } }, { meta: { level: 1, b: 1 } }],
  },
]

for (const { name, path, rule, refused, passed } of CASES) {
  test(`A5: ${name} is judged in every form`, async () => {
    const token = await tokenWith(path, rule)
    for (const body of refused)
      assert.equal((await server.call('POST', path, body, token)).status, 403, `${JSON.stringify(body)} refused`)
    for (const body of passed)
      assert.notEqual((await server.call('POST', path, body, token)).status, 403, `${JSON.stringify(body)} passed`)
  })
}

test('A5: a form is judged as JSON is', async () => {
  const path = 'auth/userpass/users/formed'
  const token = await tokenWith(path, 'denied_parameters = { "token_num_uses" = [5], "token_policies" = ["strong"] }')
  for (const [form, status] of [
    ['password=x&token_num_uses=5', 403],
    ['password=x&token_num_uses=05', 403],
    ['password=x&token_policies=a%2Cstrong', 403],
    ['password=x&token_policies=a%2Cb', 204],
  ] as const) {
    const request = wireRequest('POST', path, undefined, token)
    const headers = { ...request.headers, contentType: 'application/x-www-form-urlencoded' }
    const answer = await server.node.core.handle({ ...request, body: Buffer.from(form), headers })
    assert.equal(answer.status, status, form)
  }
})

test('A5: the page of a list is judged as its number', async () => {
  const policy = 'path "transit/keys" { capabilities = ["list"] pagination_limit = 10 }'
  assert.equal((await server.call('POST', 'sys/policies/acl/paged', { policy })).status, 204)
  const made = await server.call('POST', 'auth/token/create', { policies: ['paged'], no_default_policy: true })
  const token = String((made.body.auth as { readonly client_token: string }).client_token)
  const status = async (limit: string) =>
    (await server.call('LIST', `transit/keys?limit=${limit}`, undefined, token)).status
  for (const limit of ['10', '012', '0xa', '1_0']) assert.notEqual(await status(limit), 403, limit)
  for (const limit of ['11', '013', '0xb', '0', '-1', '', '000']) assert.equal(await status(limit), 403, limit)
})

test('A5: explain judges values as requests do', async () => {
  const rule = 'denied_parameters = { "token_policies" = ["strong"] }'
  const token = await tokenWith('auth/userpass/users/eve', rule)
  const asked = { token, path: 'auth/userpass/users/EVE', operation: 'update', parameters: { policies: 'a,STRONG' } }
  const { body } = await server.call('POST', 'sys/policies/explain', asked)
  assert.deepEqual([body.data?.allowed, body.data?.reason], [false, 'parameter-denied'])
})

/** Forms in which clients send one value, by kind of field; some of them mean the same. */
const FORMS: Readonly<Record<string, readonly JsonValue[]>> = {
  string: ['', 'a', 'A', ' a', '1', 1, true, '0', false, null, 'a*', 'b', '12', 12, 'auto', 'x,y', '10.0.0.1'],
  int: [0, '0', '', '-0', 1, '1', '01', '0x1', true, '+1', 2, '2', '0b10', 8, '010', null, false, 'f', 1.5],
  version: [0, '', 'latest', 1, '1', '0x1', null, 'x', 3, '03'],
  number: [0, '0', '0.0', 1, '1', '1.0', '1.50', 1.5, null],
  bool: [true, 'true', 'TRUE', 't', 1, '1', false, 'F', '', 0, '0', null, 'yes'],
  duration: [0, '0', '', '0s', 60, '60', '1m', '60s', 3600, '1h', '60m', '1.5h', 90, null, 0.5, 1, 'x'],
  'signed duration': [-1, '-1', '-1s', 60, '1m', 0, '', null],
  strings: [[], '', ' ', null, 'a', ['a'], ' a ', 'a,b', ['a', 'b'], 'b, a', ['b', 'a'], ['A'], 'A,B', [1], '1', 'a*'],
  bytes: ['', null, 'YQ==', 'YWI=', '!'],
  map: [{}, null, { a: 1 }, { a: '1' }, { a: true }, { a: 'b', c: 'd' }, { c: 'd', a: 'b' }, { a: null }, { a: '' }],
  object: [{}, null, { description: 1 }, { description: '1' }, { a: [1, { b: 2 }], c: 1 }, { c: 1, a: [1, { b: 2 }] }],
  batch: [[], null, [{ plaintext: 'YQ==' }], [{ plaintext: 'YQ==', x: 1 }], [{ plaintext: 'Yg==' }], [{}]],
}

/** What was sent as the handler gets it, and is no default; undefined where it is refused. */
function meaningOf(field: Field, value: JsonValue): { readonly decoded: unknown } | undefined {
  try {
    const plain: Field = { ...field, required: false, default: undefined }
    const { x } = decodeFields({ x: plain }, { x: value })
    const text = (one: unknown) => (typeof one === 'string' ? (field.canonical?.(one) ?? one) : one)
    const isText = field.kind === 'string' || field.kind === 'strings'
    return { decoded: !isText ? x : Array.isArray(x) ? x.map(text) : text(x) }
  } catch (cause) {
    if (cause instanceof Refusal) return undefined
    throw cause
  }
}

type Sample = { readonly id: string; readonly name: string; readonly field: Field; readonly other: string | undefined }
const SAMPLES: readonly Sample[] = PLACED_ENDPOINTS.flatMap(({ endpoint }) =>
  Object.entries(endpoint.fields).map(([name, field]) => ({
    id: endpoint.id,
    name,
    field,
    other: endpoint.otherNames?.get(name)?.[0],
  })),
)

test('A5: every kind of field has forms', () => {
  const kinds = new Set(SAMPLES.map(({ field }) => field.kind))
  assert.deepEqual([...kinds].sort(), Object.keys(FORMS).sort())
})

test('A5: two values that mean the same to an endpoint get the same judgement, whatever a rule says', (context) => {
  const byKind = fc.constantFrom(...Object.keys(FORMS))
  const scene = byKind.chain((kind) => {
    const samples = SAMPLES.filter(({ field }) => field.kind === kind)
    const value = fc.constantFrom(...(FORMS[kind] as readonly JsonValue[]))
    const listed = fc.array(fc.oneof(value, fc.constantFrom('a*', '*1', '*', 'true', '1h')), { maxLength: 3 })
    return fc.record({
      sample: fc.constantFrom(...samples),
      values: fc.tuple(value, value),
      listed,
      side: fc.constantFrom('allowed' as const, 'denied' as const),
      hasEvery: fc.boolean(),
      isRequired: fc.boolean(),
      isOld: fc.boolean(),
    })
  })
  let same = 0
  let refusals = 0
  fc.assert(
    fc.property(scene, ({ sample, values, listed, side, hasEvery, isRequired, isOld }) => {
      const { name, field, other } = sample
      const [a, b] = [meaningOf(field, values[0]), meaningOf(field, values[1])]
      if (a === undefined || b === undefined || !isDeepStrictEqual(a, b)) return
      same++
      const lists = new Map<string, readonly ParameterValue[]>([
        [isOld ? (other ?? name) : name, listed.map(ruleValue)],
      ])
      if (hasEvery && side === 'allowed') lists.set('*', [])
      const none = new Map<string, readonly ParameterValue[]>()
      const rules = { allowed: none, denied: none, [side]: lists, required: isRequired ? [name] : [] }
      const otherNames = new Map(other === undefined ? [] : [[name, [other]]])
      const declared = { fields: { [name]: field }, otherNames }
      const judge = (value: JsonValue) => checkParameters(rules, { [name]: value } as JsonObject, declared)
      const found = judge(values[0])
      if (found !== undefined) refusals++
      assert.equal(judge(values[1]), found)
    }),
    { seed: testSeed(context), numRuns: 20_000 },
  )
  assert.ok(same > 2_000 && refusals > 500, `${same} ${refusals}`)
})

/** As the text of a policy would hold it. */
function ruleValue(value: JsonValue): ParameterValue {
  if (Array.isArray(value)) return value.map(ruleValue)
  if (typeof value !== 'object' || value === null) return value
  return new Map(Object.entries(value).map(([name, member]) => [name, ruleValue(member as JsonValue)]))
}

test('A5: what a value means is found out only where a rule is about values of its parameter', () => {
  let decodings = 0
  const plain = object('An object', { inner: string('A text') }) as Field
  const decode: Field['decode'] = (value, name) => {
    decodings++
    return plain.decode(value, name)
  }
  const declared = { fields: { counted: { ...plain, decode }, other: string('A text') } }
  const listed = (name: string, values: readonly ParameterValue[]) => new Map([[name, values]])
  const none = new Map<string, readonly ParameterValue[]>()
  const check = (rules: Pick<Parameters<typeof checkParameters>[0], 'allowed' | 'denied' | 'required'>) =>
    checkParameters(rules, { counted: { inner: 'x' } }, declared)
  assert.equal(check({ allowed: none, denied: listed('other', ['x']), required: [] }), undefined)
  assert.equal(check({ allowed: none, denied: listed('counted', []), required: [] }), 'parameter-denied')
  assert.equal(check({ allowed: listed('counted', []), denied: none, required: ['counted'] }), undefined)
  assert.equal(check({ allowed: listed('other', ['x']), denied: none, required: [] }), 'parameter-not-allowed')
  assert.equal(decodings, 0)
  const same = new Map([['inner', 'x']])
  assert.equal(check({ allowed: none, denied: listed('counted', [same]), required: [] }), 'parameter-denied')
  assert.equal(decodings, 2, 'the value that was sent, and that of the rule')
})
