import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canKeep, filteredBy, type Placed } from './filtered.ts'

/** A tree in which names begin alike. UUIDs and ids are told by the paths: `kv/` has the UUID `kv/`. */
const NAMESPACES = ['ns1/', 'ns1/in/', 'ns1/in/deep/', 'ns10/', 'ns2/']
const MOUNTS = [
  'kv/',
  'kv2/',
  'a/kv/',
  'auth/app/',
  'auth/app2/',
  'ns1/kv/',
  'ns1/auth/app/',
  'ns1/in/kv/',
  'ns1/in/deep/kv/',
  'ns10/kv/',
  'ns2/kv/',
]
const SYSTEM = ['sys/', 'identity/', 'auth/token/', 'ns1/auth/token/', 'ns1/in/auth/token/']
const TYPES: Readonly<Record<string, string>> = { 'sys/': 'system', 'identity/': 'identity', 'auth/token/': 'token' }

const around = (path: string): string => NAMESPACES.findLast((one) => path.startsWith(one)) ?? ''
const idOf = (path: string): string => (path === '' ? 'root' : path.slice(0, -1).replaceAll('/', '.'))

function placed(namespaces: readonly string[], mounts: readonly string[]): Placed {
  return {
    namespaces: namespaces.map((path) => {
      const name = path.slice(0, -1).split('/').at(-1) ?? ''
      return { id: idOf(path), path, entry: `${idOf(path.slice(0, -name.length - 1))}/${name}` }
    }),
    mounts: mounts.map((full) => {
      const path = full.slice(around(full).length)
      return { uuid: full, namespace: idOf(around(full)), path, type: TYPES[path] ?? 'kv' }
    }),
  }
}

const ALL = placed(NAMESPACES, [...MOUNTS, ...SYSTEM])
const ENTRIES: Readonly<Record<string, string>> = {
  root: '',
  ns1: 'root/ns1',
  'ns1.in': 'ns1/in',
  'ns1.in.deep': 'ns1.in/deep',
  ns10: 'root/ns10',
  ns2: 'root/ns2',
}

/** What is not there, under either mode. */
const CASES: readonly {
  readonly what: string
  readonly paths: readonly string[]
  readonly deny: { readonly mounts: readonly string[]; readonly namespaces: readonly string[] }
  readonly allow: { readonly mounts: readonly string[]; readonly namespaces: readonly string[] }
}[] = [
  {
    what: 'nothing',
    paths: [],
    deny: { mounts: [], namespaces: [] },
    allow: { mounts: MOUNTS, namespaces: NAMESPACES },
  },
  {
    what: 'a mount of the root',
    paths: ['kv/'],
    deny: { mounts: ['kv/'], namespaces: [] },
    allow: { mounts: MOUNTS.filter((one) => one !== 'kv/'), namespaces: NAMESPACES },
  },
  {
    what: 'a login method, by its whole path',
    paths: ['auth/app/'],
    deny: { mounts: ['auth/app/'], namespaces: [] },
    allow: { mounts: MOUNTS.filter((one) => one !== 'auth/app/'), namespaces: NAMESPACES },
  },
  {
    what: 'a login method without auth/, which names nothing',
    paths: ['app/'],
    deny: { mounts: [], namespaces: [] },
    allow: { mounts: MOUNTS, namespaces: NAMESPACES },
  },
  {
    what: 'a mount with a longer path',
    paths: ['a/kv/'],
    deny: { mounts: ['a/kv/'], namespaces: [] },
    allow: { mounts: MOUNTS.filter((one) => one !== 'a/kv/'), namespaces: NAMESPACES },
  },
  {
    what: 'a namespace with others in it',
    paths: ['ns1/'],
    deny: {
      mounts: ['ns1/auth/app/', 'ns1/in/deep/kv/', 'ns1/in/kv/', 'ns1/kv/'],
      namespaces: ['ns1/', 'ns1/in/', 'ns1/in/deep/'],
    },
    allow: {
      mounts: ['a/kv/', 'auth/app/', 'auth/app2/', 'kv/', 'kv2/', 'ns10/kv/', 'ns2/kv/'],
      namespaces: ['ns10/', 'ns2/'],
    },
  },
  {
    what: 'a namespace in another one',
    paths: ['ns1/in/'],
    deny: { mounts: ['ns1/in/deep/kv/', 'ns1/in/kv/'], namespaces: ['ns1/in/', 'ns1/in/deep/'] },
    allow: {
      mounts: MOUNTS.filter((one) => !one.startsWith('ns1/in/')),
      namespaces: ['ns10/', 'ns2/'],
    },
  },
  {
    what: 'a mount in a namespace in another one',
    paths: ['ns1/in/kv/'],
    deny: { mounts: ['ns1/in/kv/'], namespaces: [] },
    allow: {
      mounts: MOUNTS.filter((one) => one !== 'ns1/in/kv/'),
      namespaces: ['ns1/in/deep/', 'ns10/', 'ns2/'],
    },
  },
  {
    what: 'a mount, a namespace and one within it',
    paths: ['kv2/', 'ns2/', 'ns1/', 'ns1/in/'],
    deny: {
      mounts: MOUNTS.filter((one) => one === 'kv2/' || one.startsWith('ns1/') || one.startsWith('ns2/')),
      namespaces: ['ns1/', 'ns1/in/', 'ns1/in/deep/', 'ns2/'],
    },
    allow: {
      mounts: ['a/kv/', 'auth/app/', 'auth/app2/', 'kv/', 'ns10/kv/'],
      namespaces: ['ns10/'],
    },
  },
  {
    what: 'mounts of the system, which stay',
    paths: ['sys/', 'auth/token/', 'ns1/auth/token/'],
    deny: { mounts: [], namespaces: [] },
    allow: { mounts: MOUNTS, namespaces: NAMESPACES },
  },
  {
    what: 'what is not there',
    paths: ['gone/', 'ns3/', 'ns1/in/other/', 'k/'],
    deny: { mounts: [], namespaces: [] },
    allow: { mounts: MOUNTS, namespaces: NAMESPACES },
  },
]

for (const { what, paths, ...modes } of CASES) {
  for (const mode of ['deny', 'allow'] as const) {
    if (!canKeep({ mode, paths: [...paths] })) continue
    test(`a filter that names in mode ${mode}: ${what}`, () => {
      const { reach, filteredMounts, filteredNamespaces } = filteredBy({ mode, paths: [...paths] }, ALL)
      const { mounts, namespaces } = modes[mode]
      assert.deepEqual(filteredMounts, mounts.toSorted())
      assert.deepEqual(filteredNamespaces, namespaces)
      const gone = new Set(namespaces)
      const there = [
        ...MOUNTS.filter((one) => !mounts.includes(one)),
        ...SYSTEM.filter((one) => !gone.has(around(one))),
      ]
      assert.equal(reach?.lacksNothing, mounts.length === 0 && namespaces.length === 0)
      assert.deepEqual([...(reach?.mounts ?? [])].sort(), there.sort())
      const ids = ['', ...NAMESPACES].filter((path) => !gone.has(path)).map(idOf)
      assert.deepEqual(reach?.namespaces, new Map(ids.map((id) => [id, ENTRIES[id]])))
    })
  }
}

test('without a filter, and with one that can keep nothing, a secondary gets everything', () => {
  for (const filter of [undefined, { mode: 'deny' as const, paths: [] }])
    assert.deepEqual(filteredBy(filter, ALL), { reach: undefined, filteredMounts: [], filteredNamespaces: [] })
})

const reached = (mode: 'allow' | 'deny', paths: string[], mount: Partial<Placed['mounts'][number]>) => {
  const made = { uuid: 'made', namespace: 'root', path: 'made/', type: 'kv', ...mount }
  return filteredBy({ mode, paths }, { ...ALL, mounts: [...ALL.mounts, made] }).reach?.mounts.has('made')
}

test('a mount that is made later is there where its path says so', () => {
  assert.equal(reached('deny', ['kv/'], {}), true)
  assert.equal(reached('deny', ['made/'], {}), false)
  assert.equal(reached('deny', ['ns1/'], { namespace: 'ns1.in' }), false)
  assert.equal(reached('deny', ['ns1/'], { namespace: 'ns10' }), true)
  assert.equal(reached('allow', ['kv/'], {}), false)
  assert.equal(reached('allow', ['made/'], {}), true)
  assert.equal(reached('allow', ['ns1/'], { namespace: 'ns1.in' }), true)
  assert.equal(reached('allow', ['ns1/kv/'], { namespace: 'ns1' }), false)
})

test('a mount that is moved is judged where it is now', () => {
  const moves = (mode: 'allow' | 'deny') =>
    ['ns1', 'ns2', 'root'].map((namespace) => reached(mode, ['ns1/', 'ns2/made/'], { namespace }))
  assert.deepEqual(moves('deny'), [false, false, true])
  assert.deepEqual(moves('allow'), [true, true, false])
})

test('a mount whose namespace is not there is not there either, and is not named', () => {
  for (const mode of ['allow', 'deny'] as const) {
    for (const type of ['kv', 'token']) {
      const lost = { uuid: 'lost', namespace: 'none', path: 'kv/', type }
      const { reach, filteredMounts } = filteredBy({ mode, paths: ['x/'] }, { namespaces: [], mounts: [lost] })
      assert.deepEqual([reach?.mounts.size, filteredMounts], [0, []])
    }
  }
})
