// A ring and its blocks in storage: the result of each change, compared with a plain list; reads between two commits;
// and damaged entries.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { base64, type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { BLOCK_VERSIONS, decodeHead, encodeRing, layOut, markOf, wipeRing } from './key-ring.ts'
import type { LoadedRing } from './loaded-ring.ts'
import { firstStoredVersion, type VersionHeader } from './ring-header.ts'
import { nameAt, readRing } from './ring-store.ts'

const plaintext = base64('the quick brown fox')

type ListedVersion = { readonly material: string; readonly hmac: string; readonly header: VersionHeader }

/** All that is stored of the versions of a key, the oldest first. */
async function listed(view: MemoryView, name = 'k'): Promise<ListedVersion[]> {
  const ring = (await view.transaction((tx) => readRing(tx, name))) ?? assert.fail('the key is gone')
  const list = ring.secrets.map(({ material, hmac }, at) => ({
    material: material.reveal().toString('hex'),
    hmac: hmac.reveal().toString('hex'),
    header: ring.header.versions[at] ?? assert.fail(),
  }))
  wipeRing(ring)
  return list
}

function blocksOf(view: MemoryView, name = 'k'): number[] {
  const folder = `key-block/${name}/`
  const paths = [...view.entries.keys()].filter((path) => path.startsWith(folder))
  return paths.map((path) => Number(path.slice(folder.length))).sort((one, other) => one - other)
}

const entryOf = (view: MemoryView, name = 'k'): Buffer => Buffer.from(view.entries.get(`key/${name}`) ?? assert.fail())

/** Stores the ring as a program without blocks did. */
async function storeWhole(view: MemoryView, name = 'k'): Promise<void> {
  await view.transaction(async (tx) => {
    const { header, secrets } = (await readRing(tx, name)) ?? assert.fail()
    tx.put(`key/${name}`, encodeRing({ header, secrets }))
    for (const block of await tx.list(`key-block/${name}/`)) tx.delete(`key-block/${name}/${block}`)
  })
}

const shown = ({ header, versions }: LoadedRing) => ({
  header,
  versions: versions.map(({ number, identity, key, header: its }) => {
    return { number, identity, key: key.export().toString('hex'), header: its }
  }),
})

async function rotate({ client }: MountedTransit, times: number, name = 'k'): Promise<void> {
  for (let time = 0; time < times; time += 1)
    assert.equal((await client.write(`keys/${name}/rotate`)).status, 200, `${time}`)
}

async function keyOf(versions: number, mounted = mountTransit(), name = 'k'): Promise<MountedTransit> {
  await mounted.client.write(`keys/${name}`, { exportable: true, allow_plaintext_backup: true })
  await mounted.client.write(`keys/${name}/config`, { deletion_allowed: true })
  await rotate(mounted, versions - 1, name)
  return mounted
}

test('part 4: a key is one entry up to 64 versions, and one more puts those 64 into a block', async () => {
  const mounted = await keyOf(BLOCK_VERSIONS)
  assert.deepEqual([blocksOf(mounted.view), entryOf(mounted.view)[0]], [[], 2])
  await rotate(mounted, 1)
  assert.deepEqual([blocksOf(mounted.view), entryOf(mounted.view)[0]], [[1], 3])
  assert.equal(decodeHead(entryOf(mounted.view)).header.versions.length, 1)
  await rotate(mounted, BLOCK_VERSIONS - 1)
  assert.deepEqual(blocksOf(mounted.view), [1])
  await rotate(mounted, 1)
  assert.deepEqual(blocksOf(mounted.view), [1, 65])
})

type Rings = {
  readonly format1: string
  readonly format2: string
  readonly format3: { readonly entry: string; readonly blocks: Readonly<Record<string, string>> }
}

const stored: Rings = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/rings-v1-v3.json', import.meta.url), 'utf8'),
)

test('P-68 part 4: keys that were stored in each format open, and are rotated and trimmed as any other', async () => {
  const { entry, blocks } = stored.format3
  const entries = { format1: stored.format1, format2: stored.format2, format3: entry }
  const mounted = mountTransit()
  const { view, client } = mounted
  for (const [name, bytes] of Object.entries(entries)) view.plant(`key/${name}`, Buffer.from(bytes, 'base64'))
  for (const [first, bytes] of Object.entries(blocks)) {
    view.plant(`key-block/format3/${first}`, Buffer.from(bytes, 'base64'))
  }
  for (const [name, versions] of Object.entries({ format1: 3, format2: 3, format3: 130 })) {
    const made = Array.from({ length: versions }, (_, at) => ({
      material: Buffer.alloc(32, `material ${at + 1} `).toString('hex'),
      hmac: Buffer.alloc(32, `hmac ${at + 1} `).toString('hex'),
      header: { createdAtMs: 1_700_000_000_000 + at, convergentVersion: 0 },
    }))
    assert.deepEqual(await listed(view, name), made)
    const ring = (await mounted.transit.keys.find(name)) ?? assert.fail()
    assert.deepEqual(
      shown(ring).versions.map(({ key }) => key),
      made.map(({ material }) => material),
    )
    await rotate(mounted, 70, name)
    assert.deepEqual((await listed(view, name)).slice(0, versions), made)
    const latest = { min_decryption_version: versions, min_encryption_version: versions }
    assert.equal((await client.write(`keys/${name}/config`, latest)).status, 200)
    assert.equal((await client.write(`keys/${name}/trim`, { min_available_version: versions })).status, 200)
    assert.deepEqual((await listed(view, name))[0], made.at(-1))
    assert.deepEqual(blocksOf(view, name), [versions])
  }
})

test('part 4: the blocks of a ring are laid out to the byte as they were when the format was made', async () => {
  const { view } = mountTransit()
  view.plant('key/k', Buffer.from(stored.format3.entry, 'base64'))
  for (const [first, bytes] of Object.entries(stored.format3.blocks)) {
    view.plant(`key-block/k/${first}`, Buffer.from(bytes, 'base64'))
  }
  const ring = (await view.transaction((tx) => readRing(tx, 'k'))) ?? assert.fail()
  const { entry, blocks } = layOut(ring)
  const made = Buffer.from(stored.format3.entry, 'base64')
  assert.deepEqual(decodeHead(entry), decodeHead(made))
  assert.deepEqual(markOf(entry), markOf(made))
  assert.deepEqual(
    [...blocks].map(([first, bytes]) => [String(first).padStart(16, '0'), bytes.toString('base64')]),
    Object.entries(stored.format3.blocks),
  )
})

type Step =
  | { readonly kind: 'rotate'; readonly times: number }
  | { readonly kind: 'trim' | 'certify' | 'complete' | 'minimum'; readonly at: number }
  | { readonly kind: 'whole' | 'backup' | 'restore' | 'again' | 'settings' | 'reset' }

const at = fc.nat(1_000)
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('rotate' as const), times: fc.integer({ min: 1, max: 70 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('trim', 'certify', 'complete', 'minimum'), at }) as fc.Arbitrary<Step>,
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('whole', 'backup', 'restore', 'again', 'settings', 'reset'),
    }) as fc.Arbitrary<Step>,
  },
)

type Model = { list: ListedVersion[]; first: number; backup: string; backedUp: ListedVersion[]; backedUpFirst: number }

/** Returns one of `count` positions, which `at` chooses. */
const place = (count: number, at: number): number => at % count

async function run(mounted: MountedTransit, model: Model, step: Step): Promise<void> {
  const { client, transit, view } = mounted
  const latest = model.first + model.list.length - 1
  const must = async (path: string, body = {}) => assert.ok((await client.write(path, body)).status < 300, path)
  switch (step.kind) {
    case 'rotate': {
      await rotate(mounted, step.times)
      const list = await listed(view)
      assert.deepEqual(list.slice(0, model.list.length), model.list)
      assert.equal(list.length, model.list.length + step.times)
      assert.equal(new Set(list.map(({ material }) => material)).size, list.length)
      model.list = list
      return
    }
    case 'minimum':
      await must('keys/k/config', {
        min_decryption_version: model.first + place(model.list.length, step.at),
        min_encryption_version: latest,
      })
      return
    case 'trim': {
      const lowest = model.first + place(model.list.length, step.at)
      await must('keys/k/config', { min_decryption_version: latest, min_encryption_version: latest })
      await must('keys/k/trim', { min_available_version: lowest })
      await must('keys/k/config', { min_decryption_version: lowest })
      model.list = model.list.slice(lowest - model.first)
      model.first = lowest
      return
    }
    case 'certify': {
      const index = place(model.list.length, step.at)
      const certified = (header: VersionHeader): VersionHeader => ({ ...header, certificates: [`${step.at}`] })
      await transit.keys.update('k', ({ header, secrets }) => {
        const versions = header.versions.map((one, number) => (number === index ? certified(one) : one))
        return { header: { ...header, versions }, secrets }
      })
      model.list = model.list.map((one, number) => {
        return number === index ? { ...one, header: certified(one.header) } : one
      })
      return
    }
    case 'complete': {
      const index = place(model.list.length, step.at)
      const material = Buffer.alloc(32, `${step.at} ${model.list.length} ${latest}`)
      await transit.keys.update('k', ({ header, secrets }) => ({
        header,
        secrets: secrets.map((one, number) => {
          return number === index ? { material: new Secret(material), hmac: one.hmac } : one
        }),
      }))
      model.list = model.list.map((one, number) => {
        return number === index ? { ...one, material: material.toString('hex') } : one
      })
      return
    }
    case 'whole':
      return storeWhole(view)
    case 'backup':
      model.backup = (await client.read('backup/k')).data.backup
      model.backedUp = model.list
      model.backedUpFirst = model.first
      return
    case 'restore':
      if (model.backup === '') return
      await must('restore/k', { backup: model.backup, force: true })
      model.list = await listed(view)
      model.first = model.backedUpFirst
      assert.deepEqual(
        model.list.map(({ material, hmac }) => [material, hmac]),
        model.backedUp.map(({ material, hmac }) => [material, hmac]),
      )
      return
    case 'again':
      await must('keys/k/config', { deletion_allowed: true })
      assert.equal((await client.delete('keys/k')).status, 204)
      assert.deepEqual(
        [...view.entries.keys()].filter((path) => nameAt(path) === 'k'),
        [],
      )
      await keyOf(1, mounted)
      model.list = await listed(view)
      model.first = 1
      return
    case 'settings':
      await must('keys/k/config', { deletion_allowed: true, auto_rotate_period: '0' })
      await client.delete('keys/k/soft-delete')
      await must('keys/k/soft-delete-restore')
      return
    case 'reset':
      transit.reset()
  }
}

test('part 4: any order of changes leaves the versions that a plain list has, and no other block', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 12 }), async (steps) => {
      const mounted = await keyOf(60)
      const reader = mountTransit(mounted.view)
      const other = await keyOf(70, mounted, 'k.1')
      const untouched = await listed(other.view, 'k.1')
      const model: Model = { list: await listed(mounted.view), first: 1, backup: '', backedUp: [], backedUpFirst: 1 }
      let held: unknown[] = []
      for (const step of steps) {
        await run(mounted, model, step)
        assert.deepEqual(await listed(mounted.view), model.list)
        const { header, older } = decodeHead(entryOf(mounted.view))
        const count = older === undefined ? 0 : (firstStoredVersion(header) - older.first) / BLOCK_VERSIONS
        const expected = Array.from({ length: count }, (_, block) => model.first + block * BLOCK_VERSIONS)
        assert.deepEqual(blocksOf(mounted.view), expected)
        if (step.kind !== 'whole') assert.ok(header.versions.length <= BLOCK_VERSIONS || older === undefined)
        const rings = [mounted, reader, mountTransit(mounted.view)].map(({ transit }) => transit.keys.find('k'))
        const [here, there, anew] = (await Promise.all(rings)).map((ring) => ring ?? assert.fail())
        assert.ok(here && there && anew)
        held = [here, there]
        assert.deepEqual(shown(here), shown(anew))
        assert.deepEqual(shown(there), shown(anew))
        const usable = model.list.slice(anew.header.minDecryptionVersion - model.first)
        assert.deepEqual(
          shown(anew).versions.map(({ key, header: its }) => [key, its]),
          usable.map(({ material, header: its }) => [material, its]),
        )
      }
      assert.ok(held)
      assert.deepEqual(await listed(mounted.view, 'k.1'), untouched)
      assert.deepEqual(blocksOf(mounted.view, 'k.1'), [1])
    }),
    { seed: testSeed(t), numRuns: 8 },
  )
})

/** A view in which something happens right after the entry was read, once. */
function interrupted(
  view: MemoryView,
  between: () => Promise<void>,
): { readonly view: View; readonly reads: string[] } {
  const reads: string[] = []
  let isDone = false
  return {
    reads,
    view: {
      get: async (path) => {
        reads.push(path)
        const bytes = await view.get(path)
        if (path.startsWith('key/') && !isDone) {
          isDone = true
          await between()
        }
        return bytes
      },
      list: (path, options) => view.list(path, options),
      transaction: (work) => view.transaction(work),
    },
  }
}

type Between = {
  readonly what: string
  readonly change: (mounted: MountedTransit) => Promise<unknown>
  readonly isGone?: true
}
const raise = { min_decryption_version: 140, min_encryption_version: 140 }
const BETWEEN: readonly Between[] = [
  { what: 'a rotation', change: (mounted) => rotate(mounted, 1) },
  { what: 'a rotation that fills a block', change: (mounted) => rotate(mounted, BLOCK_VERSIONS) },
  {
    what: 'a trim',
    change: async ({ client }) => {
      await client.write('keys/k/config', raise)
      await client.write('keys/k/trim', { min_available_version: 100 })
    },
  },
  {
    what: 'a trim that leaves no block',
    change: async ({ client }) => {
      await client.write('keys/k/config', raise)
      await client.write('keys/k/trim', { min_available_version: 139 })
    },
  },
  {
    what: 'a change of an old version',
    change: ({ transit }) =>
      transit.keys.update('k', ({ header, secrets }) => {
        const versions = header.versions.map((one, index) => (index === 3 ? { ...one, certificates: ['A'] } : one))
        return { header: { ...header, versions }, secrets }
      }),
  },
  {
    what: 'a restore',
    change: async (mounted) => {
      const { client } = mounted
      await keyOf(150, mounted, 'other')
      const { backup } = (await client.read('backup/other')).data
      assert.equal((await client.write('restore/k', { backup, force: true })).status, 204)
    },
  },
  { what: 'a removal', change: ({ client }) => client.delete('keys/k'), isGone: true },
  {
    what: 'a removal, and a key of the name that was made anew',
    change: async (mounted) => {
      await mounted.client.delete('keys/k')
      await keyOf(140, mounted)
    },
  },
]
for (const { what, change, isGone } of BETWEEN) {
  test(`part 4: a reader between whose reads ${what} comes gets a key as it was or is, not parts of two`, async () => {
    const mounted = await keyOf(140)
    const before = shown((await mountTransit(mounted.view).transit.keys.find('k')) ?? assert.fail())
    const between = interrupted(mounted.view, async () => {
      await change(mounted)
    })
    const { transit } = mountTransit(mounted.view, between.view)
    const read = await transit.keys.find('k')
    const after = await mountTransit(mounted.view).transit.keys.find('k')
    if (isGone) assert.deepEqual([read, after], [undefined, undefined])
    else {
      const now = shown(after ?? assert.fail())
      const got = shown(read ?? assert.fail())
      assert.notDeepEqual(now, before)
      assert.deepEqual(got, what.startsWith('a rotation') ? before : now)
    }
    // A ring that changed while it was read is not cached.
    assert.deepEqual((await transit.keys.find('k'))?.header, after?.header)
  })
}

const block = 'key-block/k/0000000000000001'
type Damage = { readonly what: string; readonly done: (view: MemoryView) => Promise<void>; readonly says: RegExp }
const copyOf = (view: MemoryView, path: string): Buffer => Buffer.from(view.entries.get(path) ?? assert.fail())
const DAMAGE: readonly Damage[] = [
  { what: 'is missing', done: (view) => view.transaction(async (tx) => tx.delete(block)), says: /is missing/ },
  {
    what: 'is one of another key',
    done: async (view) => view.plant(block, copyOf(view, 'key-block/other/0000000000000001')),
    says: /is none of the key as it is/,
  },
  {
    what: 'is the next one',
    done: async (view) => view.plant(block, copyOf(view, 'key-block/k/0000000000000065')),
    says: /is none of the key as it is/,
  },
  {
    what: 'is cut',
    done: async (view) => view.plant(block, copyOf(view, block).subarray(0, -1)),
    says: /is none of the key as it is/,
  },
  { what: 'is empty', done: async (view) => view.plant(block, Buffer.alloc(0)), says: /is none of the key as it is/ },
]
for (const { what, done, says } of DAMAGE) {
  test(`part 4: a key one of whose blocks ${what} is corrupt, which names the block`, async () => {
    const mounted = await keyOf(140)
    await keyOf(140, mounted, 'other')
    const { client, view, transit } = mounted
    const ciphertext = (await client.write('encrypt/other', { plaintext })).data.ciphertext
    await done(view)
    const isTold = (cause: unknown) => {
      assert.ok(cause instanceof StorageCorrupt)
      assert.ok(cause.message.startsWith(block), cause.message)
      assert.match(cause.message, says)
      return true
    }
    transit.reset()
    await assert.rejects(client.read('keys/k'), isTold)
    await assert.rejects(client.write('keys/k/config', { exportable: true }), isTold)
    await assert.rejects(client.delete('keys/k'), isTold)
    // Other keys still work, and a backup can replace the damaged one.
    assert.equal((await client.write('decrypt/other', { ciphertext })).data.plaintext, plaintext)
    const { backup } = (await client.read('backup/other')).data
    assert.equal((await client.write('restore/k', { backup, force: true })).status, 204)
    assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  })
}

test('part 4: a message budget of an old version reads its block alone, and names it where it is damaged', async () => {
  const { view, transit } = await keyOf(140)
  const ring = (await transit.keys.find('k')) ?? assert.fail()
  const ask = (number: number) => {
    const { identity } = ring.version(number)
    return transit.handleWriterCall({ kind: 'block', name: 'k', version: number, identity, wanted: 10, atLeast: 1 })
  }
  for (const number of [1, 64, 65, 128, 129, 140]) {
    const answer = await ask(number)
    assert.ok(!('failed' in answer))
    assert.deepEqual([answer.granted, answer.isOther, answer.latestVersion], [10, false, 140], `version ${number}`)
  }
  const unknown = await transit.handleWriterCall({
    kind: 'block',
    name: 'k',
    version: 141,
    identity: 'x',
    wanted: 10,
    atLeast: 1,
  })
  assert.ok(!('failed' in unknown) && unknown.isOther)
  view.plant(block, copyOf(view, block).subarray(0, -1))
  await assert.rejects(ask(1), (cause) => cause instanceof StorageCorrupt && cause.message.startsWith(block))
  assert.ok(!('failed' in (await ask(65))))
})

const allHold = (transit: MountedTransit['transit'], { versions }: LoadedRing): boolean =>
  versions.every(({ budget }) => budget !== undefined && transit.budgets.holds(budget))

test('C-13 part 4: versions in blocks keep their budgets, unless more was given of one meanwhile', async () => {
  const { view, transit } = await keyOf(140)
  const before = (await transit.keys.find('k')) ?? assert.fail()
  assert.equal(before.version(3).budget?.isNearLimit, false)
  view.plant(`use/${before.version(3).identity}`, Buffer.from(`{"format":1,"granted":${2 ** 31}}`))
  const after = (await transit.keys.find('k')) ?? assert.fail()
  assert.deepEqual(
    after.versions.filter(({ budget }) => budget?.isNearLimit === true).map(({ number }) => number),
    [3],
  )
  assert.ok(allHold(transit, after))
  transit.keys.forget('k')
  const again = (await transit.keys.find('k')) ?? assert.fail()
  assert.ok(again !== after && again.version(3) === after.version(3) && again.version(65) === before.version(65))
})

test('C-13 part 4: where the book of budgets began anew, no version in a block keeps a budget of before', async () => {
  const { transit } = await keyOf(140)
  const before = (await transit.keys.find('k')) ?? assert.fail()
  const { beginnings } = transit.budgets
  const standing = { reserved: 0, hasFirst: true, from: 0 }
  for (let count = 0; transit.budgets.beginnings === beginnings; count += 1) {
    assert.ok(count < 60_000)
    transit.budgets.of({ name: 'other', version: count, identity: `other ${count}`, standing })
  }
  assert.ok(!allHold(transit, before))
  transit.keys.forget('k')
  assert.ok(allHold(transit, (await transit.keys.find('k')) ?? assert.fail()))
})

test('part 4: the path of an entry and of a block name their key, whatever it is called', () => {
  for (const name of ['k', 'key', 'key-block', '0000000000000001', 'a.b', '__proto__']) {
    assert.equal(nameAt(`key/${name}`), name)
    assert.equal(nameAt(`key-block/${name}/0000000000000001`), name)
  }
  for (const path of ['use/k', 'lives', 'due/1/k', 'config/keys']) assert.equal(nameAt(path), undefined)
})
