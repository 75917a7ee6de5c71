// The names of Object.prototype where a caller or an operator says one: in each path, header, metadata and field of
// every endpoint. Nothing that every object inherits is found, shown or changed by them (threats N-07).
import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import type { Member } from '../../src/api/fields.ts'
import { wireHeaders } from '../../src/http/headers.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { TABLES } from '../../tools/endpoint-tables.ts'
import { mountAll, PLACED_ENDPOINTS, type Placed, pathsOf, WIRE_METHODS } from '../fixtures/endpoint-table.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'

const NAMES = Object.getOwnPropertyNames(Object.prototype)

/** What they lead to is a function, the prototype itself, and a method that code calls. */
const MOST_HARMFUL = ['constructor', '__proto__', 'hasOwnProperty']

/** They end the run for all others. */
const ENDS_THE_SERVER = new Set(['seal', 'step-down'])
const CALLED = PLACED_ENDPOINTS.filter(({ endpoint }) => !ENDS_THE_SERVER.has(endpoint.id))

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await mountAll(server.call)
})

/** The endpoint may end the token that calls it. */
async function freshRoot(): Promise<string> {
  const { status, body } = await server.call('POST', 'auth/token/create-orphan', { policies: ['root'] })
  assert.equal(status, 200, JSON.stringify(body))
  return String((body.auth as { readonly client_token: string }).client_token)
}

const OF_KIND: Readonly<Record<string, (name: string, member: Member) => JsonValue>> = {
  bytes: (name) => Buffer.from(name).toString('base64'),
  int: () => 1,
  // As a rate it limits nobody here.
  number: () => 1_000_000,
  version: () => 1,
  bool: () => true,
  duration: () => 60,
  'signed duration': () => 60,
  strings: (name) => [name],
  map: (name) => ({ [name]: name }),
  object: (name, { members = {} }) => ({ [name]: name, ...bodyOf(members, name) }),
  batch: (name, { members = {} }) => [{ [name]: name, ...bodyOf(members, name) }],
}

const fieldOf = (name: string, member: Member): JsonValue => (OF_KIND[member.kind] ?? (() => name))(name, member)

/** Fields hold the name, or hold something of it; a field with few values has the first of them. */
function bodyOf(fields: Readonly<Record<string, Member>>, name: string): Record<string, JsonValue> {
  const of = (field: Member): JsonValue =>
    Array.isArray(field.schema.enum) ? String(field.schema.enum[0]) : fieldOf(name, field)
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, of(field)]))
}

/** What of an inherited thing would be seen in an answer: its text, or members that it has. */
const INHERITED = /\[native code\]|\[object |function [\w$]*\(|=>/

function faultOf({ status, body }: Called): string | undefined {
  const text = JSON.stringify(body)
  if (status >= 500) return `${status} ${text}`
  return INHERITED.test(text) && body.data?.openapi === undefined ? `shows ${text.slice(0, 500)}` : undefined
}

/** The bodies for one name: what is missing otherwise is what the others are refused for. */
function bodiesOf({ endpoint }: Placed, name: string): (Record<string, JsonValue> | undefined)[] {
  if (endpoint.operation !== 'update') return [undefined]
  const all = bodyOf(endpoint.fields, name)
  const required = Object.entries(all).filter(([key]) => endpoint.fields[key]?.required === true)
  const typed =
    'type' in all
      ? [
          { ...all, type: 'aes256-gcm96' },
          { ...all, type: 'transit' },
        ]
      : []
  // Each field by itself, since what the others hold may be refused first.
  const alone = MOST_HARMFUL.includes(name) ? Object.entries(all) : []
  const even = alone.map(([key, value]) => Object.fromEntries([...required, [key, value]]))
  // An own member of that name, as JSON text can have one.
  return [all, { ...Object.fromEntries(required), [name]: { [name]: name } }, ...typed, ...even]
}

for (const { mountPath } of TABLES) {
  const here = CALLED.filter((placed) => placed.mountPath === mountPath)
  test(`A3: no name that all objects inherit means anything below ${mountPath}`, async () => {
    const faults: string[] = []
    for (const placed of here) {
      const method = WIRE_METHODS[placed.endpoint.operation]
      for (const name of NAMES) {
        const token = await freshRoot()
        for (const path of pathsOf(placed, name))
          for (const body of bodiesOf(placed, name)) {
            const fault = faultOf(await server.call(method, path, body, token))
            if (fault !== undefined) faults.push(`${method} ${path} ${JSON.stringify(body)}: ${fault}`)
          }
      }
    }
    assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults`)
    const write = await server.call('POST', 'cubbyhole/plain', { a: 'b' })
    assert.equal(write.status, 204, JSON.stringify(write.body))
    assert.deepEqual((await server.call('GET', 'cubbyhole/plain')).body.data, { a: 'b' })
  })
}

test('A3: a query and headers with these names mean nothing, and can be sent to other threads', async () => {
  for (const name of NAMES) {
    const list = await server.call('LIST', `sys/policies/acl?${name}=${name}&after=${name}`)
    assert.equal(faultOf(list), undefined)
    for (const sent of [{}, { [name]: 'value' }]) {
      const headers = wireHeaders(sent, NAMES)
      const expected = Object.hasOwn(sent, name) ? { [name]: 'value' } : {}
      assert.deepEqual({ ...structuredClone(headers).audited }, expected)
      const read = await server.call('GET', `cubbyhole/${name}`, undefined, 'root', headers)
      assert.ok(read.status < 500, JSON.stringify(read))
    }
    for (const header of [
      'wrapTtl',
      'wrapFormat',
      'namespace',
      'contentType',
      'origin',
      'pageAsksFor',
      'traceparent',
    ]) {
      const answer = await server.call('POST', 'cubbyhole/plain', { a: 'b' }, 'root', { [header]: name })
      assert.equal(faultOf(answer), undefined, header)
    }
  }
})

test('A3: no endpoint declares a field that all objects have', () => {
  const fields = PLACED_ENDPOINTS.flatMap(({ endpoint }) => Object.keys(endpoint.fields))
  assert.deepEqual(
    fields.filter((field) => field in Object.prototype),
    [],
  )
})
