// The answer to secondary/enable: while it is made, the tokens and audit devices of its request are replaced.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type AuditEntry, readEntries, verifyLog } from '../../test/fixtures/audit-log.ts'
import { copyTo } from '../../test/fixtures/copied-store.ts'
import { type MemoryServer, type MemoryServerOptions, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { replicationDouble } from '../../test/fixtures/replication-double.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { ACTIVE_PRIMARY } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { wipeBundle } from '../system/seal/seal-bundle.ts'

const PATH = 'sys/replication/dr/secondary/enable'
const directory = temporaryDirectory()
after(() => directory.cleanUp())
let count = 0
const newFile = (): string => join(directory.path, `audit-${++count}.log`)

const start = (options: MemoryServerOptions = {}): Promise<MemoryServer> =>
  startMemoryServer({ ...options, store: createMemoryStore(realWorld()), isNew: true })

/** A cluster that `secondary/enable` really gives the keys and data of another one. `late` runs when they are there. */
async function stage(options: MemoryServerOptions, late: () => Promise<void> = async () => {}) {
  const primary = await start()
  await primary.call('POST', 'sys/policies/acl/of-the-primary', { policy: '' })
  const { operations } = replicationDouble({
    enableSecondary: async () => {
      const [keyring, leafKey] = [
        await primary.store.get('root/core/keyring'),
        await primary.store.get('root/core/leaf-key'),
      ]
      assert.ok(keyring !== undefined && leafKey !== undefined)
      const bundle = await primary.node.bundle()
      await secondary.node
        .activate({ bundle, keyring, leafKey }, copyTo(primary.store, secondary.store))
        .finally(() => wipeBundle(bundle))
      await secondary.node.changeRole({ role: { ...ACTIVE_PRIMARY, dr: 'bootstrapping' }, primaryAddress: '' })
      await late()
    },
  })
  const secondary: MemoryServer = await start({ ...options, replication: operations })
  return secondary
}

const ofEnable = (file: string): AuditEntry[] => readEntries(file).filter(({ request }) => request.path === PATH)
/** Keys of the chains, in the order in which they begin. */
const keysOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/"event":"start".*"public_key":"([^"]+)"/g)].map(([, key]) => key ?? '')
const declared = (file: string) => ({
  settings: {
    declared: [{ path: 'kept/', type: 'file', description: '', options: { file_path: file }, local: false }],
    allowsApi: true,
  },
})
const addDevice = async ({ call }: MemoryServer, file: string): Promise<void> => {
  assert.equal((await call('POST', 'sys/audit/made', { type: 'file', options: { file_path: file } })).status, 204)
}

test('an activation is answered, and recorded in the devices that have its request', async () => {
  const [kept, made] = [newFile(), newFile()]
  const secondary = await stage({ audit: declared(kept) })
  await addDevice(secondary, made)
  const former = secondary.node.audit.publicKey()
  const { status, body } = await secondary.call('POST', PATH, { token: 't' })
  assert.equal(status, 200)
  assert.equal((body.warnings as string[]).length, 1)
  for (const file of [kept, made]) {
    const entries = ofEnable(file)
    assert.deepEqual(
      entries.map(({ type, request, error }) => [type, request.id, error]),
      [
        ['request', body.request_id, undefined],
        ['response', body.request_id, undefined],
      ],
      file,
    )
  }
  // The configuration declares the one; the other went with the data of before.
  assert.equal((await secondary.call('GET', 'sys/mounts')).status, 400)
  const after = (file: string): number =>
    readEntries(file).filter(({ request }) => request.path === 'sys/mounts').length
  assert.deepEqual([after(kept), after(made)], [2, 0])
  // What comes after it is signed by the key of the set.
  assert.deepEqual(keysOf(kept), [former, secondary.node.audit.publicKey()])
  await secondary.node.audit.stop()
  for (const file of [kept, made]) assert.deepEqual(verifyLog(file).faults, [])
})

test('an activation is answered where the one device that has its request can record no more', async () => {
  const logged: string[] = []
  const log = (_level: string, message: string): void => void logged.push(message)
  const secondary = await stage({ log }, async () => {
    await secondary.node.audit.stop()
  })
  await addDevice(secondary, newFile())
  const { status, body } = await secondary.call('POST', PATH, { token: 't' })
  assert.equal(status, 200)
  assert.equal((body.warnings as string[]).length, 1)
  assert.deepEqual(logged, ['An answer could not be recorded, and is given all the same: it is the only copy'])
})

test('an activation without any device is answered', async () => {
  const secondary = await stage({})
  assert.equal((await secondary.call('POST', PATH, { token: 't' })).status, 200)
})

test('an activation that fails after the data went is refused, and recorded', async () => {
  const kept = newFile()
  const secondary = await stage({ audit: declared(kept) }, async () => {
    throw new Error('the network is gone')
  })
  const { status } = await secondary.call('POST', PATH, { token: 't' })
  assert.equal(status, 500)
  assert.deepEqual(
    ofEnable(kept).map(({ type, error }) => [type, error]),
    [
      ['request', undefined],
      ['response', 'internal error'],
    ],
  )
  await secondary.node.audit.stop()
})
