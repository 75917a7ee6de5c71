// The work of a rotation does not grow with the versions of the key.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { materialOf } from '../../../../test/fixtures/known-material.ts'
import { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { base64, type MountedTransit, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import type { ListOptions } from '../../../storage/contract.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import type { MessageBudget } from '../budget/message-budget.ts'
import { type CountedVersion, MessageCounter } from '../budget/message-counter.ts'
import { BLOCK_VERSIONS, decodeRing, encodeRing, type StoredRing } from '../ring/key-ring.ts'
import { MADE_HERE, type RingHeader } from '../ring/ring-header.ts'
import { rotate as rotateKey } from '../ring/rotation.ts'
import { FIRST_BOUNDS } from '../ring/versions.ts'

const plaintext = base64('the quick brown fox')

type Work = { readonly parsed: number; readonly read: number; readonly shown: number }

/** Returns the work of the third rotation of a key with so many versions. Earlier rings are held, so that they stay. */
async function workOfRotation(t: TestContext, name: string, versions: number): Promise<Work> {
  const type = KEY_TYPES.get(name) ?? assert.fail()
  const view = new MemoryView()
  let read = 0
  const counting: View = {
    get: (path) => {
      read += 1
      return view.get(path)
    },
    list: (path: string, options?: ListOptions) => view.list(path, options),
    transaction: (work) => view.transaction((tx) => work({ ...tx, get: (path) => counted(tx.get(path)) })),
  }
  const counted = <T>(value: T): T => {
    read += 1
    return value
  }
  const { client, transit } = mountTransit(view, counting)
  plantKey(view, 'k', name, await materialOf(type), 'plain', {
    versions: Array(versions).fill({ createdAtMs: 0, convergentVersion: 0 }),
    latestVersion: versions,
  })
  const held = []
  for (let time = 0; time < 2; time += 1) {
    assert.equal((await client.write('keys/k/rotate')).status, 200)
    held.push(await transit.keys.find('k'))
  }
  const load = t.mock.method(type, 'load')
  const text = type.publicPart && t.mock.method(type.publicPart, 'text')
  read = 0
  const { status, data } = await client.write('keys/k/rotate')
  assert.deepEqual([status, data.latest_version, Object.keys(data.keys).length], [200, versions + 3, versions + 3])
  assert.equal(held.length, 2)
  const work = { parsed: load.mock.callCount(), read, shown: text?.mock.callCount() ?? 0 }
  t.mock.restoreAll()
  return work
}

for (const name of ['aes256-gcm96', 'xchacha20-poly1305', 'ecdsa-p256', 'ed25519', 'hmac']) {
  test(`part 4: a ${name} key of 1,000 versions is rotated with the work of one of 2`, async (t) => {
    const few = await workOfRotation(t, name, 2)
    assert.deepEqual(await workOfRotation(t, name, 1_000), few)
    assert.ok(few.parsed <= 2 && few.read <= 6, JSON.stringify(few))
  })
}

/** Stores a key of so many versions as one entry, as it was before there were blocks; each has secrets of its own. */
function plantVersions(view: MemoryView, versions: number): void {
  const header: RingHeader = {
    ...FIRST_BOUNDS,
    ...MADE_HERE,
    type: 'aes256-gcm96',
    derived: false,
    convergent: false,
    exportable: false,
    allowPlaintextBackup: false,
    deletionAllowed: false,
    autoRotatePeriodSeconds: 0,
    keySizeBytes: 0,
    latestVersion: versions,
    versions: Array(versions).fill({ createdAtMs: 1_700_000_000_123, convergentVersion: 0 }),
  }
  const secrets = header.versions.map((_, at) => ({
    material: new Secret(Buffer.alloc(32, `material ${at}`)),
    hmac: new Secret(Buffer.alloc(32, `hmac ${at}`)),
  }))
  view.plant('key/k', encodeRing({ header, secrets }))
}

type Cost = {
  read: number
  readBytes: number
  written: number
  writtenBytes: number
  parsedBytes: number
  loaded: number
  budgets: number
}

/** Returns the highest cost among 130 rotations of a key that had so many versions, here and in another thread. */
async function costOfRotations(t: TestContext, versions: number): Promise<Cost> {
  const view = new MemoryView()
  plantVersions(view, versions)
  // Each version notes the lives of the mount: from here on always a number of four digits.
  view.plant('lives', Buffer.from('{"format":1,"lives":1000}'))
  const none: Cost = { read: 0, readBytes: 0, written: 0, writtenBytes: 0, parsedBytes: 0, loaded: 0, budgets: 0 }
  let cost = { ...none }
  const noteRead = (bytes: Buffer | undefined) => {
    cost.read += 1
    cost.readBytes += bytes?.length ?? 0
    return bytes
  }
  const counting: View = {
    get: async (path) => noteRead(await view.get(path)),
    list: async (path, options) => {
      const names = await view.list(path, options)
      cost.read += names.length + 1
      return names
    },
    transaction: (work) =>
      view.transaction((tx) =>
        work({
          ...tx,
          get: async (path) => noteRead(await tx.get(path)),
          put: (path, value) => {
            cost.written += 1
            cost.writtenBytes += value.length
            tx.put(path, value)
          },
          delete: (path) => {
            cost.written += 1
            tx.delete(path)
          },
        }),
      ),
  }
  const writer = mountTransit(view, counting)
  const reader = mountTransit(view, counting)
  const most = { ...none }
  let held: unknown[] = []
  const rotate = async (): Promise<void> => {
    cost = { ...none }
    // Not through a client: its answer lists all versions, as the recorded one does.
    assert.ok(await rotateKey(writer.transit, 'k'))
    const rings = [await writer.transit.keys.find('k'), await reader.transit.keys.find('k')]
    assert.ok(rings.every((ring) => ring?.versions.length === ring?.header.latestVersion))
    held = rings
  }
  for (let time = 0; time < 2; time += 1) await rotate()
  const type = KEY_TYPES.get('aes256-gcm96') ?? assert.fail()
  const { load } = type
  const { parse } = JSON
  const { of, holds } = MessageCounter.prototype
  t.mock.method(type, 'load', (material: Buffer) => {
    cost.loaded += 1
    return load(material)
  })
  t.mock.method(JSON, 'parse', (text: string) => {
    cost.parsedBytes += text.length
    return parse(text)
  })
  t.mock.method(MessageCounter.prototype, 'of', function (this: MessageCounter, version: CountedVersion) {
    cost.budgets += 1
    return of.call(this, version)
  })
  t.mock.method(MessageCounter.prototype, 'holds', function (this: MessageCounter, budget: MessageBudget) {
    cost.budgets += 1
    return holds.call(this, budget)
  })
  for (let time = 0; time < 2 * BLOCK_VERSIONS + 2; time += 1) {
    await rotate()
    for (const name of Object.keys(most) as (keyof Cost)[]) most[name] = Math.max(most[name], cost[name])
  }
  t.mock.restoreAll()
  assert.equal(held.length, 2)
  return most
}

test('part 4: where a long key of before is split into blocks, its keys are not loaded again', async (t) => {
  const view = new MemoryView()
  plantVersions(view, 1_000)
  const { transit } = mountTransit(view)
  const held = await transit.keys.find('k')
  const load = t.mock.method(KEY_TYPES.get('aes256-gcm96') ?? assert.fail(), 'load')
  const rotated = (await rotateKey(transit, 'k')) ?? assert.fail()
  assert.deepEqual([rotated.versions.length, view.entries.has(`key-block/k/${'1'.padStart(16, '0')}`)], [1_001, true])
  // Only the new version is loaded: for its proof, and with the ring.
  assert.equal(load.mock.callCount(), 2)
  assert.equal(rotated.version(1).key, held?.version(1).key)
})

test('part 4: a rotation of a key of 10,000 versions reads, writes, parses and loads what one of 2 does', async (t) => {
  const few = await costOfRotations(t, 2)
  assert.ok(few.written === 2 && few.read < 20 && few.loaded < 6, JSON.stringify(few))
  for (const versions of [BLOCK_VERSIONS, BLOCK_VERSIONS + 1, 10_000]) {
    const many = await costOfRotations(t, versions)
    // Room for the digits of longer numbers.
    const digits = { readBytes: 64, writtenBytes: 64, parsedBytes: 64 }
    for (const [name, more] of Object.entries({ ...digits, read: 0, written: 0, loaded: 0, budgets: 0 })) {
      const [one, other] = [few[name as keyof Cost], many[name as keyof Cost]]
      assert.ok(other <= one + more, `${name} of ${versions}: ${other}, of 2: ${one}`)
    }
  }
})

/** Mounts the same storage once more, as a thread that has to load the whole key. */
const elsewhere = ({ view }: MountedTransit): MountedTransit => mountTransit(view)

test('part 4: a rotated key opens what each version sealed, here and where it is loaded anew', async () => {
  const mounted = mountTransit()
  await mounted.client.write('keys/k', { type: 'aes256-gcm96' })
  const ciphertexts: string[] = []
  for (let version = 1; version <= 30; version += 1) {
    if (version > 1) await mounted.client.write('keys/k/rotate')
    ciphertexts.push((await mounted.client.write('encrypt/k', { plaintext })).data.ciphertext)
  }
  for (const { client } of [mounted, elsewhere(mounted)]) {
    for (const [index, ciphertext] of ciphertexts.entries()) {
      assert.ok(ciphertext.startsWith(`vault:v${index + 1}:`))
      assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
    }
  }
})

type Step = { readonly what: string; readonly run: (mounted: MountedTransit) => Promise<unknown> }
const config = (body: Record<string, number>): Step['run'] => {
  return ({ client }) => client.write('keys/k/config', body)
}
/** Changes the stored ring below the server, as replication would. */
function stored({ view }: MountedTransit, change: (ring: StoredRing) => StoredRing): void {
  const ring = decodeRing(Buffer.from(view.entries.get('key/k') ?? assert.fail()))
  view.plant('key/k', encodeRing(change(ring)))
}
const CHANGES: readonly Step[] = [
  { what: 'min_decryption_version is raised', run: config({ min_decryption_version: 3 }) },
  {
    what: 'min_decryption_version is raised and lowered again',
    run: async (mounted) => {
      await config({ min_decryption_version: 4 })(mounted)
      assert.equal((await mounted.client.read('keys/k')).status, 200)
      await config({ min_decryption_version: 2 })(mounted)
    },
  },
  {
    what: 'its first versions are trimmed',
    run: async (mounted) => {
      await config({ min_decryption_version: 3, min_encryption_version: 3 })(mounted)
      await mounted.client.write('keys/k/trim', { min_available_version: 3 })
    },
  },
  {
    what: 'it is deleted, and another made of the name',
    run: async ({ client }) => {
      await client.write('keys/k/config', { deletion_allowed: true })
      await client.delete('keys/k')
      await client.write('keys/k')
      for (let time = 0; time < 6; time += 1) await client.write('keys/k/rotate')
    },
  },
  {
    what: 'the secret of its first version becomes another one',
    run: async (mounted) => {
      stored(mounted, ({ header, secrets: [first, ...others] }) => {
        assert.ok(first)
        const material = others[0]?.material ?? assert.fail()
        return { header, secrets: [{ ...first, material }, ...others] }
      })
    },
  },
  {
    what: 'the times of its versions become others',
    run: async (mounted) => {
      stored(mounted, ({ header, secrets }) => {
        return {
          header: { ...header, versions: header.versions.map((one) => ({ ...one, createdAtMs: 7_000 })) },
          secrets,
        }
      })
    },
  },
  {
    what: 'it loses its last version',
    run: async (mounted) => {
      stored(mounted, ({ header, secrets }) => {
        const versions = header.versions.slice(0, -1)
        return {
          header: { ...header, latestVersion: header.latestVersion - 1, versions },
          secrets: secrets.slice(0, -1),
        }
      })
    },
  },
]
for (const { what, run } of CHANGES) {
  test(`part 4: where ${what}, the key is what it is where it is loaded anew`, async () => {
    const mounted = mountTransit()
    await mounted.client.write('keys/k')
    const ciphertexts: string[] = []
    const use = async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        const { data } = await mounted.client.write('encrypt/k', { plaintext })
        if (data !== undefined) ciphertexts.push(data.ciphertext)
        await mounted.client.write('keys/k/rotate')
      }
    }
    await use(5)
    const held = await mounted.transit.keys.find('k')
    await run(mounted)
    for (const rotated of [false, true]) {
      if (rotated) await use(2)
      const other = elsewhere(mounted)
      const [one, two] = [await mounted.client.read('keys/k'), await other.client.read('keys/k')]
      // Counts are of the thread that encrypted.
      assert.deepEqual({ ...one.data, encryption_counts: 0 }, { ...two.data, encryption_counts: 0 })
      for (const ciphertext of ciphertexts) {
        const here = await mounted.client.write('decrypt/k', { ciphertext })
        assert.deepEqual(here, await other.client.write('decrypt/k', { ciphertext }))
      }
    }
    assert.ok(held)
  })
}
