import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Endpoint, type EndpointOperation, endpoint } from './endpoint.ts'
import { string } from './fields.ts'
import { Router } from './router.ts'

function made(operation: EndpointOperation, path: string): Endpoint {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
  return endpoint({
    id: `${operation} ${path}`,
    operation,
    path,
    capability: operation,
    runsOn: 'any-node',
    summary: '',
    fields: Object.fromEntries(names.map((name) => [name, string('')])),
    handler: () => ({}),
  })
}

const ROUTER = new Router([
  made('read', 'keys/:name'),
  made('update', 'keys/:name'),
  made('list', 'keys'),
  made('update', 'keys/:name/config'),
  made('update', 'keys/special/config'),
  made('read', 'keys/special/only'),
  made('read', 'files/:path...'),
  made('update', 'files/:path...'),
  made('list', 'files'),
  made('read', 'files/fixed'),
  made('update', 'random(/:source)(/:bytes)'),
  made('update', 'sign/:name(/:hash)'),
  made('update', 'sign/:name/own/way'),
])

/** Returns the endpoint found with the values of its parameters, or why there is none. */
function found(operation: EndpointOperation, path: string): unknown {
  const route = ROUTER.find(operation, path)
  return route.kind === 'found' ? [route.endpoint.id, { ...route.path }] : route.kind
}

const CASES: readonly (readonly [EndpointOperation, string, unknown])[] = [
  ['read', 'keys/k', ['read keys/:name', { name: 'k' }]],
  ['update', 'keys/k', ['update keys/:name', { name: 'k' }]],
  ['delete', 'keys/k', 'unsupported-operation'],
  ['list', 'keys', ['list keys', {}]],
  ['list', 'keys/', ['list keys', {}]],
  ['read', 'keys', 'unsupported-operation'],
  ['read', 'keys/', 'unsupported-operation'],
  ['update', 'keys/', 'unsupported-operation'],
  ['list', 'keys/k', 'unsupported-operation'],
  ['read', 'keys/k/', 'unsupported-path'],
  ['read', 'keys/k/more', 'unsupported-path'],
  ['read', 'keys//config', 'unsupported-path'],
  ['read', 'nothing', 'unsupported-path'],
  ['read', '', 'unsupported-path'],
  ['update', 'keys/k/config', ['update keys/:name/config', { name: 'k' }]],
  // A literal beats a name, and where it leads nowhere the name is tried.
  ['update', 'keys/special/config', ['update keys/special/config', {}]],
  ['read', 'keys/special', ['read keys/:name', { name: 'special' }]],
  ['read', 'keys/special/only', ['read keys/special/only', {}]],
  // A segment that is no name leads to an unknown path.
  ['read', 'keys/-k', 'unsupported-path'],
  ['read', 'keys/k.', 'unsupported-path'],
  ['read', 'keys/a b', 'unsupported-path'],
  ['read', 'keys/__proto__', ['read keys/:name', { name: '__proto__' }]],
  // The rest takes anything, slashes included, but not nothing.
  ['read', 'files/a', ['read files/:path...', { path: 'a' }]],
  ['read', 'files/a/b c/-', ['read files/:path...', { path: 'a/b c/-' }]],
  ['read', 'files/fixed', ['read files/fixed', {}]],
  ['read', 'files/fixed/a', ['read files/:path...', { path: 'fixed/a' }]],
  ['read', 'files/', 'unsupported-operation'],
  ['list', 'files/', ['list files', {}]],
  ['update', 'random', ['update random(/:source)(/:bytes)', {}]],
  ['update', 'random/seal', ['update random(/:source)(/:bytes)', { source: 'seal' }]],
  ['update', 'random/seal/32', ['update random(/:source)(/:bytes)', { source: 'seal', bytes: '32' }]],
  // Nothing else can be meant there: the field refuses it by its name.
  ['update', 'random/seal/32/x', ['update random(/:source)(/:bytes)', { source: 'seal', bytes: '32/x' }]],
  ['update', 'random/seal/-1', ['update random(/:source)(/:bytes)', { source: 'seal', bytes: '-1' }]],
  ['update', 'random/-1', ['update random(/:source)(/:bytes)', { bytes: '-1' }]],
  ['update', 'random/-1/x', ['update random(/:source)(/:bytes)', { bytes: '-1/x' }]],
  ['update', 'random/seal/', 'unsupported-path'],
  ['read', 'random/-1', 'unsupported-operation'],
  ['update', 'sign/k/sha2-256', ['update sign/:name(/:hash)', { name: 'k', hash: 'sha2-256' }]],
  ['update', 'sign/k/sha2-256/x', ['update sign/:name(/:hash)', { name: 'k', hash: 'sha2-256/x' }]],
  ['update', 'sign/k/own/way', ['update sign/:name/own/way', { name: 'k' }]],
  ['update', 'sign/-k/sha2-256', 'unsupported-path'],
  ['update', 'sign/k/', 'unsupported-path'],
  ['read', 'constructor', 'unsupported-path'],
  ['read', '__proto__', 'unsupported-path'],
]

for (const [operation, path, expected] of CASES) {
  test(`${operation} ${JSON.stringify(path)}`, () => {
    assert.deepEqual(found(operation, path), expected)
  })
}

test('the order of the definitions does not matter', () => {
  const reversed = new Router([...ROUTER.endpoints].reverse())
  for (const [operation, path] of CASES) {
    const [one, other] = [ROUTER.find(operation, path), reversed.find(operation, path)]
    assert.deepEqual(one, other, `${operation} ${path}`)
  }
})

test('two definitions for one place do not start', () => {
  assert.throws(() => new Router([made('read', 'a/:x'), made('read', 'a/:y')]), /defined twice/)
  assert.throws(() => new Router([made('read', 'a(/:x)'), made('read', 'a')]), /defined twice/)
  assert.doesNotThrow(() => new Router([made('read', 'a/:x'), made('update', 'a/:x')]))
})

test('a contradictory definition does not start', () => {
  const definition = {
    id: 'x',
    operation: 'read',
    capability: 'read',
    runsOn: 'any-node',
    summary: '',
    handler: () => ({}),
  } as const
  assert.throws(() => endpoint({ ...definition, path: 'a/:name', fields: {} }), /path parameter name is not in fields/)
  assert.throws(
    () => endpoint({ ...definition, path: 'a', fields: {}, capability: 'create-or-update' }),
    /exists goes with/,
  )
  assert.throws(() => endpoint({ ...definition, path: 'a', fields: {}, exists: async () => true }), /exists goes with/)
  assert.throws(
    () => endpoint({ ...definition, operation: 'list', path: 'a', fields: {}, capability: 'update' }),
    /a list does not update/,
  )
})

test('a router of an engine takes endpoints that take no more of it than it has, or it does not compile', () => {
  const taking = <E>(handler: (engine: E) => object): Endpoint<E> =>
    endpoint({
      id: 'a',
      operation: 'read',
      path: 'a',
      capability: 'read',
      runsOn: 'any-node',
      summary: '',
      fields: {},
      handler,
    })
  type Own = { readonly keys: Map<string, number>; readonly size: number }
  const less = taking(({ size }: { readonly size: number }) => ({ data: { size } }))
  const more = taking(({ other }: { readonly other: number }) => ({ data: { other } }))
  assert.equal(new Router<Own>([less]).endpoints.length, 1)
  // @ts-expect-error: the engine has no `other`
  assert.equal(new Router<Own>([more]).endpoints.length, 1)
})
