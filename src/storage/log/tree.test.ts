import assert from 'node:assert/strict'
import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { MAX_KEY_BYTES, type TreeClass } from '../contract.ts'
import { leafOf } from './leaf.ts'
import { bucketKeyOf, bucketOf, faultOfPage, placesOfScope, Tree, treeScopeOf } from './tree.ts'

const LEAF_KEY_BYTES = Buffer.alloc(32, 7)
const leafKey = importSecret(LEAF_KEY_BYTES)
const bucketKey = bucketKeyOf(leafKey)
const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'

type Item = { readonly class: TreeClass; readonly key: string; readonly value: string }

function add(tree: Tree, { class: storageClass, key, value }: Item): void {
  tree.add(storageClass, key, leafOf(leafKey, storageClass, 'system', key, Buffer.from(value)), bucketKey)
}

function treeOf(items: readonly Item[]): Tree {
  const tree = new Tree()
  for (const item of items) add(tree, item)
  return tree
}

const policy = (name: number, value = 'v'): Item => ({ class: 'replicated', key: `root/sys/policy/${name}`, value })
const token = (name: number, value = 'v'): Item => ({ class: 'local', key: `root/sys/token/${name}`, value })
const item = fc
  .tuple(fc.boolean(), fc.nat(200), fc.constantFrom('x', 'y'))
  .map(([isLocal, name, value]) => (isLocal ? token(name, value) : policy(name, value)))
const items = fc.uniqueArray(item, { selector: ({ key }) => key, maxLength: 60 })

test('the roots of two entries are the ones that another program computes from the drawing', () => {
  const key = `root/logical/${MOUNT}/k`
  const tree = treeOf([{ class: 'replicated', key, value: 'v' }])
  const sha = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()
  const derived = Buffer.from(hkdfSync('sha256', LEAF_KEY_BYTES, '', 'keywright tree buckets', 32))
  const bucket = createHmac('sha256', derived).update(key).digest()
  const digest = leafOf(leafKey, 'replicated', 'system', key, Buffer.from('v'))
  const scope = Buffer.from(`root/${MOUNT}`)
  const page = sha(bucket.subarray(1, 2), digest)
  const scopeHash = sha(bucket.subarray(0, 1), page)
  const replicated = sha(Buffer.from([0, scope.length]), scope, scopeHash)
  const local = sha(Buffer.alloc(0))
  assert.deepEqual(tree.roots(), { replicated, local, all: sha(replicated, local) })
  assert.deepEqual(tree.scopes('replicated'), [`root/${MOUNT}`])
  assert.equal(bucketOf(bucketKey, key), bucket.readUInt16BE(0))
})

const scopes: { readonly path: string; readonly scope: string }[] = [
  { path: `core/mounts/${MOUNT}`, scope: MOUNT },
  { path: `core/local-mounts/${MOUNT}`, scope: MOUNT },
  { path: `core/unmounting/${MOUNT}`, scope: MOUNT },
  { path: `core/local-unmounting/${MOUNT}`, scope: MOUNT },
  { path: `core/global-reload/${MOUNT}`, scope: MOUNT },
  { path: `auth/${MOUNT}/role/a`, scope: MOUNT },
  { path: `logical/${MOUNT}/cluster/use/a`, scope: MOUNT },
  { path: `sys/identity/alias-name/userpass_1/${MOUNT}`, scope: 'system' },
  { path: `core/audit/${MOUNT}`, scope: 'system' },
  { path: 'core/mounts/other', scope: 'system' },
  { path: `core/mounts/${MOUNT}/x`, scope: 'system' },
  { path: 'core/keyring', scope: 'system' },
]
for (const { path, scope } of scopes) {
  test(`F11: ${path} stands in the tree scope of ${scope === MOUNT ? 'its mount' : 'the system'}`, () => {
    assert.equal(treeScopeOf(`root/${path}`), `root/${scope}`)
  })
}

const KINDS_OF_OTHERS: readonly string[] = [
  `entity/a1B2c3/${MOUNT}`,
  'entity-name/a1B2c3/ann',
  'entity-name/a1B2c3/root',
  `alias/a1B2c3/${MOUNT}/${MOUNT}.a1B2c3`,
  'alias-name/a1B2c3/auth_userpass_01234567/digest',
  `entity-group/a1B2c3/${MOUNT}/12ab34cd.${MOUNT}`,
  'kind-to-come/a1B2c3/anything',
]
const KINDS_OF_ROOT: readonly string[] = [
  `entity/${MOUNT}`,
  'entity-name/a1B2c3',
  `alias/${MOUNT}/${MOUNT}`,
  'alias-name/auth_userpass_01234567/digest',
  `entity-group/${MOUNT}/12ab34cd.${MOUNT}.a1B2c3`,
  `group-entity/${MOUNT}/${MOUNT}.a1B2c3`,
  'login-groups-moved',
]
for (const folder of ['identity', 'local-identity']) {
  test(`F11: ${folder} of another namespace stands in the tree scope of that one, and of the root in its own`, () => {
    for (const path of KINDS_OF_OTHERS) assert.equal(treeScopeOf(`root/sys/${folder}/${path}`), 'a1B2c3/system', path)
    for (const path of KINDS_OF_ROOT) assert.equal(treeScopeOf(`root/sys/${folder}/${path}`), 'root/system', path)
    assert.equal(treeScopeOf(`a1B2c3/sys/${folder}/entity/d4E5f6/x`), 'a1B2c3/system')
  })

  test(`F11: what ${folder} has of a namespace lies where its scope says, whatever the kind`, () => {
    const { folders, spread } = placesOfScope('a1B2c3/system')
    assert.deepEqual(folders, ['a1B2c3/sys/', 'a1B2c3/core/'])
    for (const path of KINDS_OF_OTHERS) {
      const within = spread.find((one) => one.within === `root/sys/${folder}/`) ?? assert.fail(folder)
      assert.ok(path.slice(path.indexOf('/') + 1).startsWith(within.name), path)
    }
  })
}

for (const folder of ['namespace', 'leaving-namespace']) {
  test(`F11: an entry of ${folder} stands in the tree scope of its namespace, below its parent`, () => {
    for (const entry of ['root/team', 'a1B2c/team']) {
      assert.equal(treeScopeOf(`root/core/${folder}/${entry}`), `root/namespace/${entry}`)
    }
    assert.equal(treeScopeOf(`a1B2c/core/${folder}/root/team`), 'a1B2c/system')
  })
}

test('the scope of an entry is shorter than the longest key, so that a message can name it', () => {
  const longest = (folder: string): string => folder + 'x'.repeat(MAX_KEY_BYTES - folder.length)
  for (const folder of ['root/core/namespace/root/', 'root/core/leaving-namespace/', `root/logical/${MOUNT}/`]) {
    assert.ok(Buffer.byteLength(treeScopeOf(longest(folder))) < MAX_KEY_BYTES, folder)
  }
})

test('roots over wanted scopes are those of a tree that has only these', (t) => {
  const inMount = (name: number, uuid: string): Item => ({
    class: 'replicated',
    key: `ns/logical/${uuid}/${name}`,
    value: 'v',
  })
  const uuids = [MOUNT, MOUNT.replace('6f', '7a')]
  const namespace = (name: number): Item => ({
    class: 'replicated',
    key: `root/core/namespace/root/${name}`,
    value: 'v',
  })
  const all = [0, 1, 2, 3].flatMap((name) => [policy(name), token(name), namespace(name)])
  for (const uuid of uuids) all.push(inMount(1, uuid), inMount(2, uuid))
  const tree = treeOf(all)
  const names = [...tree.scopes('replicated'), ...tree.scopes('local')]
  assert.equal(new Set(names).size, 7)
  fc.assert(
    fc.property(fc.subarray(names), (wanted) => {
      const isWanted = (scope: string): boolean => wanted.includes(scope)
      const expected = treeOf(all.filter(({ key }) => isWanted(treeScopeOf(key))))
      assert.deepEqual(tree.roots(isWanted), expected.roots())
    }),
    { seed: testSeed(t), numRuns: 100 },
  )
  assert.deepEqual(tree.roots(), treeOf(all).roots())
})

test('the order of entries does not matter, and what came and went leaves nothing', (t) => {
  fc.assert(
    fc.property(items, items, (stay, go) => {
      const kept = new Set(stay.map(({ key }) => key))
      const gone = go.filter(({ key }) => !kept.has(key))
      const tree = treeOf([...gone, ...stay.toReversed()])
      for (const each of gone) add(tree, each)
      const expected = treeOf(stay)
      assert.deepEqual(tree.roots(), expected.roots())
      assert.deepEqual(tree.pages().length, expected.pages().length)
      assert.deepEqual(tree.scopes('local'), expected.scopes('local'))
    }),
    { seed: testSeed(t), numRuns: 100 },
  )
})

test('a change of one entry changes the root of its class, and is found in its bucket alone', () => {
  const all = Array.from({ length: 300 }, (_, name) => [policy(name), token(name)]).flat()
  const tree = treeOf(all)
  const before = tree.roots()
  const other = tree.copy()
  add(other, policy(17))
  add(other, policy(17, 'changed'))
  const after = other.roots()
  assert.notDeepEqual(after.replicated, before.replicated)
  assert.notDeepEqual(after.all, before.all)
  assert.deepEqual(after.local, before.local)
  const bucket = bucketOf(bucketKey, policy(17).key)
  const place = { class: 'replicated', scope: 'root/system', page: bucket >>> 8, place: bucket & 0xff }
  assert.deepEqual(tree.differences(other), [place])
  assert.deepEqual(other.differences(tree), [place])
  assert.deepEqual(tree.roots(), before)
})

test('a class of its own and a scope of its own: the same leaf elsewhere gives other roots', () => {
  const leaf = Buffer.alloc(16, 1)
  const trees = [
    ['replicated', `root/logical/${MOUNT}/k`],
    ['local', `root/logical/${MOUNT}/k`],
    ['replicated', `other/logical/${MOUNT}/k`],
    ['replicated', 'root/sys/policy/k'],
  ] as const
  const roots = trees.map(([storageClass, key]) => {
    const tree = new Tree()
    tree.add(storageClass, key, leaf, bucketKey)
    return tree.roots().all.toString('hex')
  })
  assert.equal(new Set(roots).size, roots.length)
})

test('pages that were taken and loaded again make the same tree, changes by changes', (t) => {
  fc.assert(
    fc.property(items, items, (first, second) => {
      const tree = treeOf(first)
      const saved = new Map<string, ReturnType<Tree['pages']>[number]>()
      const save = (): void => {
        for (const page of tree.takeChangedPages()) saved.set(`${page.class} ${page.scope} ${page.page}`, page)
      }
      save()
      for (const each of second) add(tree, each)
      save()
      assert.deepEqual(tree.takeChangedPages(), [])
      const loaded = new Tree()
      for (const page of saved.values()) {
        assert.equal(faultOfPage(page), undefined)
        if (page.digests.length > 0) loaded.load(page)
      }
      assert.deepEqual(loaded.roots(), tree.roots())
      assert.deepEqual(loaded.takeChangedPages(), [])
    }),
    { seed: testSeed(t), numRuns: 50 },
  )
})

test('a page that cannot have been stored is told from a good one', () => {
  const place = { class: 'replicated', scope: 'root/system', page: 1 } as const
  const bucket = (number: number, fill: number): Buffer =>
    Buffer.concat([Buffer.from([number]), Buffer.alloc(16, fill)])
  assert.equal(faultOfPage({ ...place, digests: Buffer.concat([bucket(1, 1), bucket(2, 1)]) }), undefined)
  for (const digests of [
    Buffer.alloc(16, 1),
    bucket(1, 0),
    Buffer.concat([bucket(2, 1), bucket(1, 1)]),
    Buffer.concat([bucket(1, 1), bucket(1, 1)]),
  ]) {
    assert.notEqual(faultOfPage({ ...place, digests }), undefined)
  }
  assert.notEqual(faultOfPage({ ...place, page: 256, digests: bucket(1, 1) }), undefined)
})

test('a page that is loaded after the roots were asked for is in them', () => {
  const whole = treeOf([policy(1), policy(2), token(1)])
  const tree = new Tree()
  tree.roots()
  for (const page of whole.pages()) {
    tree.load(page)
    tree.roots()
  }
  assert.deepEqual(tree.roots(), whole.roots())
})

test('T48: keys that fall into one bucket of another store are spread over those of this one', () => {
  const other = bucketKeyOf(importSecret(Buffer.alloc(LEAF_KEY_BYTES.length, 8)))
  const chosen: string[] = []
  for (let name = 0; chosen.length < 200; name++) {
    // A narrower target than one bucket of 65,536 would take long to hit: the upper byte is that of a page.
    if (bucketOf(other, `root/sys/policy/${name}`) >> 8 === 7) chosen.push(`root/sys/policy/${name}`)
  }
  const [pages, buckets] = [new Set<number>(), new Set<number>()]
  for (const key of chosen) {
    pages.add(bucketOf(bucketKey, key) >> 8)
    buckets.add(bucketOf(bucketKey, key))
  }
  assert.ok(pages.size > 110 && buckets.size > 190, `${pages.size} pages, ${buckets.size} buckets`)
})
