// The OpenAPI document as a server gives it: complete, well-formed, and what the documentation holds.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { expandPattern } from '../../../src/api/pattern.ts'
import { TABLES } from '../../../tools/endpoint-tables.ts'
import { mountEngines, PLACED_ENDPOINTS, type Placed } from '../../fixtures/endpoint-table.ts'
import {
  api,
  PROJECT,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

type Json = Record<string, unknown>
type Operation = Json & {
  readonly operationId: string
  readonly parameters?: readonly Json[]
  readonly responses: Json
}
type Document = { readonly paths: Record<string, Record<string, Operation>>; readonly components: Record<string, Json> }

const directory = temporaryDirectory()
let server: ServerProcess
let document: Document
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data') })
  await mountEngines(server)
  document = await served()
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

/** Nobody needs a token for it. */
async function served(): Promise<Document> {
  const { status, body } = await api({ address: server.address }, 'GET', 'sys/internal/specs/openapi')
  assert.equal(status, 200)
  return body as unknown as Document
}

function operations(of: Document): { readonly path: string; readonly method: string; readonly operation: Operation }[] {
  return Object.entries(of.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

test('the document is the one in docs/api', () => {
  const written = JSON.parse(readFileSync(join(PROJECT, 'docs/api/openapi.json'), 'utf8'))
  assert.deepEqual(document, written)
})

test('every engine that can be mounted is in the tables of the documentation', async () => {
  const offeredAt = async (path: string): Promise<string[]> => {
    const { body } = await api(server, 'POST', path, { type: 'no-such-engine' })
    return /offered are (.*)$/.exec(String((body.errors as unknown[])[0]))?.[1]?.split(', ') ?? []
  }
  assert.deepEqual(
    // The vendor's name of the method `cloud`.
    [...(await offeredAt('sys/mounts/any')), ...(await offeredAt('sys/auth/any'))].filter((type) => type !== 'azure'),
    TABLES.flatMap(({ type }) => type ?? []),
  )
})

const METHODS = { read: 'get', list: 'get', update: 'post', patch: 'patch', delete: 'delete' } as const

function expectedKeys({ mountPath, endpoint: { path, operation } }: Placed): string[] {
  // SCAN would be a second GET at its path.
  if (operation === 'scan') return []
  return expandPattern(path).map((segments) => {
    const shown = segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${segment.name}}`)).join('/')
    return `${METHODS[operation]} /${mountPath}${shown}${operation === 'list' ? '/' : ''}`
  })
}

test('every form of every path is in it once, and nothing else', () => {
  const found = operations(document).map(({ path, method }) => `${method} ${path}`)
  assert.deepEqual(found.sort(), PLACED_ENDPOINTS.flatMap(expectedKeys).sort())
})

test('a second mount of an engine adds its paths under ids of their own', async () => {
  await api(server, 'POST', 'sys/mounts/team/a', { type: 'transit' })
  const both = await served()
  await api(server, 'DELETE', 'sys/mounts/team/a')
  const added = operations(both).filter(({ path }) => path.startsWith('/team/a/'))
  const transit = operations(document).filter(({ path }) => path.startsWith('/transit/'))
  assert.deepEqual(
    added.map(({ path }) => path.replace('/team/a/', '/transit/')).sort(),
    transit.map(({ path }) => path).sort(),
  )
  const ids = operations(both).map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(await served(), document)
})

test('ids of operations are unique', () => {
  const ids = operations(document).map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
})

test('what stands in braces is a parameter of the path, and the other way round', () => {
  for (const { path, method, operation } of operations(document)) {
    const parameters = operation.parameters ?? []
    const named = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
    const braces = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
    assert.deepEqual(named.sort(), braces.sort(), `${method} ${path}`)
    for (const one of parameters) if (one.in === 'path') assert.equal(one.required, true, path)
    const all = parameters.map((one) => `${one.in} ${one.name}`)
    assert.equal(new Set(all).size, all.length, path)
  }
})

test('every operation has a success and a refusal, and says whether it needs a token', () => {
  for (const { path, method, operation } of operations(document)) {
    const { responses, security } = operation
    assert('200' in responses || '204' in responses, `${method} ${path}`)
    assert('default' in responses, `${method} ${path}`)
    assert(Array.isArray(security), `${method} ${path}`)
  }
  const open = operations(document).filter(({ operation }) => (operation.security as unknown[]).length === 0)
  const capabilities = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.capability === 'none')
  assert.equal(open.length, capabilities.length)
})

test('all schemas are well-formed', () => {
  let count = 0
  visit(document, '', (value, where) => {
    const { schema } = value
    if (schema === undefined) return
    count++
    checkSchema(schema as Json, where)
  })
  for (const [name, schema] of Object.entries(document.components.schemas ?? {})) checkSchema(schema as Json, name)
  assert(count > PLACED_ENDPOINTS.length, `${count} schemas`)
})

test('all references lead somewhere', () => {
  visit(document, '', (value, where) => {
    if (value.$ref === undefined) return
    const [root, ...steps] = String(value.$ref).split('/')
    assert.equal(root, '#', where)
    assert.deepEqual(Object.keys(value), ['$ref'], `${where}: nothing stands beside a reference`)
    let at: unknown = document
    for (const step of steps) at = (at as Json | undefined)?.[step]
    assert.notEqual(at, undefined, `${where}: ${value.$ref}`)
  })
})

/** Every object in it, but names that are data: what lies below `properties` is visited, not itself taken for one. */
function visit(value: unknown, where: string, seen: (value: Json, where: string) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && !where.endsWith('/properties') && !where.endsWith('/schemas')) seen(value as Json, where)
  for (const [name, inner] of Object.entries(value)) visit(inner, `${where}/${name}`, seen)
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  number: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}
const KEYWORDS = [
  '$ref',
  'additionalProperties',
  'allOf',
  'default',
  'description',
  'enum',
  'format',
  'items',
  'maxLength',
  'maximum',
  'minimum',
  'nullable',
  'properties',
  'required',
  'type',
]

function checkSchema(schema: Json, where: string): void {
  assert.deepEqual(
    Object.keys(schema).filter((name) => !KEYWORDS.includes(name)),
    [],
    where,
  )
  const { type, items, properties, required, enum: values, default: fallback } = schema
  if (type !== undefined) checkType(schema, String(type), where)
  if (items !== undefined) checkSchema(items as Json, `${where}/items`)
  if (schema.additionalProperties !== undefined) checkSchema(schema.additionalProperties as Json, `${where}/others`)
  for (const [index, one] of ((schema.allOf ?? []) as Json[]).entries()) checkSchema(one, `${where}/${index}`)
  for (const [name, one] of Object.entries((properties ?? {}) as Json)) checkSchema(one as Json, `${where}/${name}`)
  if (required !== undefined) {
    const names = required as string[]
    assert(names.length > 0, `${where}: an empty list of required members is not allowed`)
    assert.deepEqual(
      names.filter((name) => !Object.hasOwn(properties as Json, name)),
      [],
      where,
    )
  }
  if (fallback !== undefined && values !== undefined) assert((values as unknown[]).includes(fallback), where)
}

function checkType(schema: Json, type: string, where: string): void {
  const fits = TYPES[type]
  assert(fits !== undefined, `${where}: ${type}`)
  assert.equal(type === 'array', schema.items !== undefined, where)
  for (const value of [schema.default, ...((schema.enum ?? []) as unknown[])]) {
    assert(value === undefined || fits(value), `${where}: ${JSON.stringify(value)} is not of type ${type}`)
  }
}
