// A value that does not fit its field is refused with 400 and the field's name, for every field of every endpoint.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Member } from '../../../src/api/fields.ts'
import { parsePattern } from '../../../src/api/pattern.ts'
import type { JsonObject, JsonValue } from '../../../src/lib/json.ts'
import {
  missingName,
  mountEngines,
  PLACED_ENDPOINTS,
  type Placed,
  pathsOf,
  WIRE_METHODS,
} from '../../fixtures/endpoint-table.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const directory = temporaryDirectory()
let server: ServerProcess
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data') })
  await mountEngines(server)
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

/** By kind, what it must refuse; a query has only texts. */
const MISFITS: Readonly<Record<string, readonly JsonValue[]>> = {
  string: [{ a: 1 }, ['text']],
  int: ['1.5', 'many', 1.5, {}, [1]],
  version: ['newest', '1.5', 1.5, {}, [1]],
  number: ['many', '1e3', '-1', {}, [1]],
  bool: ['perhaps', 2, {}, [true]],
  duration: ['soon', '-1s', -1, '1h1', {}, [1]],
  'signed duration': ['soon', '1h1', {}, [1]],
  bytes: ['not base64!', {}, ['AAAA']],
  strings: [{ a: 'b' }, [{}], [['a']]],
  map: ['text', 1, ['a'], { a: {} }, { constructor: 'a' }],
  object: ['text', 1, ['a']],
  batch: ['text', 1, {}, ['item'], [null]],
}
/** In an item of a batch nothing is converted. */
const ITEM_MISFITS: Readonly<Record<string, readonly JsonValue[]>> = {
  string: [{}, ['text'], true],
  int: ['1', 1.5, {}, true],
}
const FITTING: Readonly<Record<string, JsonValue>> = { string: 'text', int: 1, strings: ['text'] }

type Case = {
  readonly name: string
  /** What a refusal must name. */
  readonly named: string
  readonly body: JsonObject
}

/** Where a body is a stream, fields stand in the query. */
const hasBody = ({ operation, takesStream }: Placed['endpoint']): boolean =>
  (operation === 'update' || operation === 'patch') && takesStream !== true

/** What else must be sent, since it may be missed before the field is looked at. */
function requiredFields(fields: Readonly<Record<string, Member>>): JsonObject {
  const required = Object.entries(fields).filter(([, field]) => field.required)
  const fitting = ({ kind, schema }: Member): JsonValue =>
    Array.isArray(schema.enum) ? (schema.enum[0] as string) : (FITTING[kind] ?? null)
  return Object.fromEntries(required.map(([name, field]) => [name, fitting(field)]))
}

function casesOf({ endpoint }: Placed): Case[] {
  const { path, fields } = endpoint
  const inPath = new Set(parsePattern(path).flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
  const others = requiredFields(fields)
  return Object.entries(fields)
    .filter(([name]) => !inPath.has(name))
    .flatMap(([name, field]) => {
      const wrong = (value: JsonValue, named: string): Case => ({
        name: `${named} = ${JSON.stringify(value)}`,
        named,
        body: { ...others, [name]: value },
      })
      const own = misfitsOf(field).map((value) => wrong(value, name))
      if (hasBody(endpoint)) return [...own, ...insideCases(name, field, wrong)]
      return own.filter(({ body }) => typeof body[name] === 'string')
    })
}

function misfitsOf({ kind, schema }: Member): JsonValue[] {
  const found = MISFITS[kind]
  assert(found !== undefined, `say in MISFITS what the kind ${kind} refuses`)
  const { minimum, maximum, items } = schema
  // An item of null may stand for an empty one.
  const takesNulls = kind === 'batch' && (items as { nullable?: true }).nullable === true
  return [
    ...(takesNulls ? found.filter((value) => !Array.isArray(value) || value[0] !== null) : found),
    ...(Array.isArray(schema.enum) ? ['none of them'] : []),
    ...(typeof minimum === 'number' ? [minimum - 1, String(minimum - 1)] : []),
    ...(typeof maximum === 'number' ? [maximum + 1, String(maximum + 1)] : []),
  ]
}

/** Fields of objects and of items of batches. */
function insideCases(name: string, field: Member, wrong: (value: JsonValue, named: string) => Case): Case[] {
  const { members = {}, kind } = field
  const others = requiredFields(members)
  return Object.entries(members).flatMap(([inner, member]) => {
    if (kind !== 'batch')
      return misfitsOf(member).map((value) => wrong({ ...others, [inner]: value }, `${name}.${inner}`))
    const missing = member.required ? [wrong([{ ...others }, {}], `${name}[1].${inner}`)] : []
    const misfits = ITEM_MISFITS[member.kind] ?? []
    return [
      ...missing,
      ...misfits.map((value) => wrong([{ ...others }, { ...others, [inner]: value }], `${name}[1].${inner}`)),
    ]
  })
}

for (const placed of PLACED_ENDPOINTS) {
  const { id, operation } = placed.endpoint
  const cases = casesOf(placed)
  if (cases.length === 0) continue
  test(`${id} names the field that does not fit (${cases.length} values)`, async () => {
    const [path = ''] = pathsOf(placed, missingName(placed))
    for (const { name, named, body } of cases) {
      const query = new URLSearchParams(body as Record<string, string>)
      const answer = hasBody(placed.endpoint)
        ? await api(server, WIRE_METHODS[operation], path, body)
        : await api(server, WIRE_METHODS[operation], `${path}?${query}`)
      assert.equal(answer.status, 400, `${name}: ${JSON.stringify(answer.body)}`)
      assert(
        JSON.stringify(answer.body.errors).includes(`field \\"${named}`),
        `${name}: ${JSON.stringify(answer.body)}`,
      )
    }
  })
}

test('all fields are tried but texts in a query and what stands in the path', () => {
  const untried = PLACED_ENDPOINTS.flatMap((placed) => {
    const tried = new Set(casesOf(placed).map(({ named }) => named))
    const { id, operation, path, fields } = placed.endpoint
    return Object.entries(fields)
      .filter(
        ([name, { kind }]) =>
          !tried.has(name) && !path.includes(`:${name}`) && !(operation !== 'update' && kind === 'string'),
      )
      .map(([name]) => `${id}.${name}`)
  })
  assert.deepEqual(untried, [])
})

test('a required field that is missing is named', async () => {
  for (const placed of PLACED_ENDPOINTS) {
    const { operation, path, fields } = placed.endpoint
    const [first] = Object.entries(fields).filter(([name, { required }]) => required && !path.includes(`:${name}`))
    if (first === undefined) continue
    const [target = ''] = pathsOf(placed, missingName(placed))
    const { status, body } = await api(server, WIRE_METHODS[operation], target, operation === 'update' ? {} : undefined)
    assert.equal(status, 400, placed.endpoint.id)
    assert.deepEqual(body, { errors: [`Missing required field "${first[0]}"`] })
  }
})

/** Half a character, which no store takes (threats N-18), a control character, and a way out of a folder. */
const HOSTILE_TEXTS = ['tex\udc00t', 'a\u0000b', '../../a']

/** Values of the kind that hold such a text wherever one may stand. */
function hostileValues({ kind, members = {} }: Member): JsonValue[] {
  if (kind === 'string' || kind === 'bytes') return HOSTILE_TEXTS
  if (kind === 'strings') return HOSTILE_TEXTS.map((text) => [text])
  if (kind === 'map') return HOSTILE_TEXTS.flatMap((text) => [{ a: text }, { [text]: 'a' }])
  const others = requiredFields(members)
  const inside = Object.entries(members).flatMap(([name, member]) =>
    hostileValues(member).map((value) => ({ ...others, [name]: value })),
  )
  if (kind === 'object') return [...inside, ...HOSTILE_TEXTS.map((text) => ({ [text]: text }))]
  return kind === 'batch' ? inside.map((item) => [item]) : []
}

test('no text in a body is more than the server can bear', async () => {
  for (const placed of PLACED_ENDPOINTS) {
    const { endpoint } = placed
    if (!hasBody(endpoint) || endpoint.changesSeal === true) continue
    const [path = ''] = pathsOf(placed, missingName(placed))
    const others = requiredFields(endpoint.fields)
    for (const [name, field] of Object.entries(endpoint.fields)) {
      if (endpoint.path.includes(`:${name}`)) continue
      for (const value of hostileValues(field)) {
        const { status, body } = await api(server, 'POST', path, { ...others, [name]: value })
        assert.ok(status < 500, `${endpoint.id}, ${name} = ${JSON.stringify(value)}: ${status} ${JSON.stringify(body)}`)
      }
    }
  }
})
