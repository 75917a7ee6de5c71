import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { StorageCorrupt, StorageFull, StorageReadOnly } from '../../../storage/errors.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { MESSAGE_LIMITS } from '../budget/message-limits.ts'
import { MAX_NAME_CHARACTERS } from './keys.ts'
import { LoadedRing } from './loaded-ring.ts'
import { nameAt } from './ring-store.ts'

const plaintext = base64('the quick brown fox')

const WRITES: readonly { name: string; path: string; body?: Record<string, boolean | number>; deletes?: boolean }[] = [
  { name: 'rotate', path: 'keys/k/rotate' },
  { name: 'config', path: 'keys/k/config', body: { min_decryption_version: 2, exportable: true } },
  { name: 'delete', path: 'keys/k', deletes: true },
]
for (const { name, path, body = {}, deletes = false } of WRITES) {
  test(`C-07 a ${name} that cannot be written leaves the old state, in memory and stored`, async () => {
    const { view, client } = mountTransit()
    await client.write('keys/k')
    await client.write('keys/k/rotate')
    await client.write('keys/k/config', { deletion_allowed: true })
    const before = await client.read('keys/k')
    view.beforeCommit = () => {
      throw new StorageFull('The device is full')
    }
    await assert.rejects(deletes ? client.delete(path) : client.write(path, body), StorageFull)
    assert.deepEqual(await client.read('keys/k'), before)
    assert.deepEqual(await mountTransit(view).client.read('keys/k'), before)
    view.beforeCommit = () => {}
    assert.ok((deletes ? await client.delete(path) : await client.write(path, body)).status < 300)
    assert.notDeepEqual(await client.read('keys/k'), before)
  })
}

test('C-07 a key that cannot be written is not there, whether made or made by encrypt', async () => {
  const { view, client } = mountTransit()
  view.beforeCommit = () => {
    throw new StorageFull('The device is full')
  }
  await assert.rejects(client.write('keys/k'), StorageFull)
  await assert.rejects(client.write('encrypt/k', { plaintext }), StorageFull)
  assert.equal((await client.read('keys/k')).status, 404)
  assert.equal(view.entries.size, 0)
})

test('a transaction whose work runs twice makes one version', async () => {
  const { view, client } = mountTransit()
  view.runsTwice = true
  await client.write('keys/k')
  const { data } = await client.write('keys/k/rotate')
  assert.equal(data.latest_version, 2)
  const { data: encrypted } = await client.write('encrypt/new', { plaintext })
  assert.equal((await client.write('decrypt/new', { ciphertext: encrypted.ciphertext })).data.plaintext, plaintext)
})

test('rotations at the same time all count', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.write('keys/k/rotate')))
  assert.equal(new Set(answers.map(({ data }) => data.latest_version)).size, 20)
  assert.equal((await client.read('keys/k')).data.latest_version, 21)
})

test('a name is taken once: all who make it at the same time get the same key', async () => {
  const { client } = mountTransit()
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.write('encrypt/k', { plaintext })))
  for (const { status, data } of answers) {
    assert.equal(status, 200)
    assert.equal((await client.write('decrypt/k', { ciphertext: data.ciphertext })).data.plaintext, plaintext)
  }
})

test('what one thread changes the others see: rotate, minimums, delete, and a new key of the same name', async () => {
  const writer = mountTransit()
  const reader = mountTransit(writer.view)
  await writer.client.write('keys/k')
  const first = (await reader.client.write('encrypt/k', { plaintext })).data.ciphertext
  await writer.client.write('keys/k/rotate')
  assert.equal((await reader.client.write('encrypt/k', { plaintext })).data.key_version, 2)
  await writer.client.write('keys/k/config', { min_decryption_version: 2, deletion_allowed: true })
  assert.match((await reader.client.write('decrypt/k', { ciphertext: first })).errors[0] ?? '', /too old/)
  await writer.client.delete('keys/k')
  assert.equal((await reader.client.read('keys/k')).status, 404)
  await writer.client.write('keys/k')
  assert.match((await reader.client.write('decrypt/k', { ciphertext: first })).errors[0] ?? '', /authentication failed/)
})

test('reset forgets every loaded key', async () => {
  const { view, transit, client } = mountTransit()
  await client.write('keys/k')
  await client.read('keys/k')
  assert.ok(transit.keys.find('k') instanceof LoadedRing)
  transit.reset()
  view.get = async () => undefined
  assert.equal(await transit.keys.find('k'), undefined)
})

const STORING = [
  { name: 'a new key', path: 'keys/new', body: {} },
  { name: 'a key that encrypt made', path: 'encrypt/new', body: { plaintext } },
  {
    // Its count is not read after it is stored.
    name: 'a key that a large batch of encrypt made',
    path: 'encrypt/new',
    body: { batch_input: Array(MESSAGE_LIMITS.free + 1).fill({ plaintext }) },
  },
  { name: 'a new version', path: 'keys/k/rotate', body: {} },
]
for (const { name, path, body } of STORING) {
  test(`P-15 ${name} that cannot be read again is no success`, async () => {
    const memory = new MemoryView()
    await mountTransit(memory).client.write('keys/k')
    let isStored = false
    const { client } = mountTransit(memory, {
      get: async (wanted) => {
        const bytes = await memory.get(wanted)
        return isStored && wanted.startsWith('key/') ? bytes?.subarray(0, -1) : bytes
      },
      list: (...given) => memory.list(...given),
      transaction: async (work) => {
        const done = await memory.transaction(work)
        isStored = memory.entries.get('key/new') !== before.new || memory.entries.get('key/k') !== before.k
        return done
      },
    })
    const before = { new: memory.entries.get('key/new'), k: memory.entries.get('key/k') }
    await assert.rejects(client.write(path, body), StorageCorrupt)
    assert.ok(isStored)
  })
}

test('a key is kept from its first use on, not from when it is made', async () => {
  const { transit, client } = mountTransit()
  await client.write('keys/k')
  const loading = transit.keys.find('k')
  assert.ok(loading instanceof Promise)
  const ring = await loading
  assert.equal(transit.keys.find('k'), ring)
})

test('where nothing is written, an existing key works, and every write travels without effect', async () => {
  const { view, client, transit } = mountTransit()
  await client.write('keys/k')
  await transit.budgets.begin()
  view.readOnly = true
  assert.equal((await client.write('encrypt/k', { plaintext })).status, 200)
  assert.equal((await client.write('keys/k')).status, 200)
  await assert.rejects(client.write('encrypt/new', { plaintext }), StorageReadOnly)
  await assert.rejects(client.write('keys/new'), StorageReadOnly)
  await assert.rejects(client.write('keys/k/rotate'), StorageReadOnly)
  assert.equal((await client.write('encrypt/new', { plaintext: '!' })).status, 400)
  view.readOnly = false
  assert.deepEqual((await client.list('keys')).data.keys, ['k'])
})

test('P-19 a change that takes back what cannot be disabled is not stored, whoever asks for it', async () => {
  const { client, transit } = mountTransit()
  await client.write('keys/k', { exportable: true })
  const change = transit.keys.update('k', (ring) => ({ ...ring, header: { ...ring.header, exportable: false } }))
  await assert.rejects(change, /stays exportable/)
  assert.equal((await client.read('keys/k')).data.exportable, true)
})

test('N-10 bytes with keys in them are wiped once they were loaded or written', async () => {
  const memory = new MemoryView()
  const seen: Buffer[] = []
  const isOfRing = (path: string) => nameAt(path) !== undefined
  const note = <T extends Buffer | undefined>(bytes: T): T => {
    if (bytes !== undefined) seen.push(bytes)
    return bytes
  }
  const view: View = {
    get: async (path) => (isOfRing(path) ? note(await memory.get(path)) : memory.get(path)),
    list: (path, options) => memory.list(path, options),
    transaction: (work) =>
      memory.transaction((tx) =>
        work({
          ...tx,
          get: async (path) => (isOfRing(path) ? note(await tx.get(path)) : tx.get(path)),
          put: (path, value) => {
            tx.put(path, isOfRing(path) ? note(value) : value)
          },
        }),
      ),
  }
  const { client, transit } = mountTransit(memory, view)
  await client.write('keys/k')
  await client.write('keys/k/rotate')
  await client.write('encrypt/new', { plaintext })
  assert.ok(seen.length >= 6)
  // A ring with blocks: grown, loaded again, laid out again, and damaged.
  for (let time = 0; time < 140; time += 1) await client.write('keys/k/rotate')
  transit.reset()
  assert.equal((await client.read('keys/k')).status, 200)
  await client.write('keys/k/config', { min_decryption_version: 70, min_encryption_version: 70 })
  await client.write('keys/k/trim', { min_available_version: 70 })
  const [block = ''] = [...memory.entries.keys()].filter((path) => path.startsWith('key-block/'))
  memory.plant(block, Buffer.from('damaged'))
  transit.reset()
  await assert.rejects(client.read('keys/k'), StorageCorrupt)
  for (const bytes of seen) assert.ok(bytes.every((byte) => byte === 0))
})

test('C-06 a name is stored as it is: twins in case, odd names, the longest, and one character more', async () => {
  const { client } = mountTransit()
  const longest = 'n'.repeat(MAX_NAME_CHARACTERS)
  const names = ['A', '__proto__', 'a', 'a..b', 'a.b', 'constructor', longest]
  for (const name of names) assert.equal((await client.write(`keys/${name}`)).data.name, name)
  assert.deepEqual((await client.list('keys')).data.keys, names)
  const tooLong = await client.write(`keys/${longest}n`)
  assert.equal(tooLong.status, 400)
  assert.match(tooLong.errors[0] ?? '', /at most 512 characters/)
  assert.equal((await client.write(`encrypt/${longest}n`, { plaintext })).status, 400)
  assert.equal((await client.read(`keys/${longest}n`)).status, 404)
})

for (const name of ['a/b', '..', '.', 'a%2fb', '', 'a\0b', 'a\nb', 'a b', '-a', 'a-', '\u00e9']) {
  test(`C-06 ${JSON.stringify(name)} is no name of a key`, async () => {
    const { view, client } = mountTransit()
    assert.ok((await client.write(`keys/${name}`)).status >= 404)
    assert.ok((await client.write(`encrypt/${name}`, { plaintext })).status >= 404)
    assert.equal(view.entries.size, 0)
  })
}

test('a name that no path can have names no key', async () => {
  const { transit } = mountTransit()
  for (const name of ['x'.repeat(MAX_NAME_CHARACTERS + 1), 'lone \ud800', '\ud800'.repeat(MAX_NAME_CHARACTERS + 1)])
    assert.equal(await transit.keys.find(name), undefined)
})
