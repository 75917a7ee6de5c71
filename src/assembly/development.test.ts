// What a development server keeps when it follows another cluster, whose shares it does not know.
import { strict as assert } from 'node:assert'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { copyTo } from '../../test/fixtures/copied-store.ts'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type RoleState } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { wipeBundle } from '../system/seal/seal-bundle.ts'
import { DEVELOPMENT_KEYS, developmentKeeper, findDevelopmentRootKey, openDevelopment } from './development.ts'

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'keywright-development-'))
  context.after(() => rmSync(path, { recursive: true }))
  return path
}

/** Two development servers; each can be started again on its store and directory. */
function two(context: TestContext) {
  const stores = [0, 1].map(() => createMemoryStore(realWorld()))
  const directories = [folder(context), folder(context)]
  return async (at: 0 | 1, firstRole: RoleState = FOLLOWS_NONE) => {
    const [store, directory] = [stores[at] ?? assert.fail(), directories[at] ?? assert.fail()]
    const keyKeeper = developmentKeeper(directory)
    const server = await startMemoryServer({ store, keyKeeper, threshold: 0, firstRole })
    const keys = await openDevelopment(server.node, directory, undefined)
    const file = (): Record<string, string | undefined> =>
      JSON.parse(readFileSync(join(directory, DEVELOPMENT_KEYS), 'utf8'))
    return { ...server, directory, keys, file }
  }
}

test('S9: a development server that follows another opens by the root key, and by its shares', async (context) => {
  const start = two(context)
  const [primary, secondary] = [await start(0), await start(1)]
  const bundle = await primary.node.bundle()
  const [keyring, leafKey] = [
    await primary.store.get('root/core/keyring'),
    await primary.store.get('root/core/leaf-key'),
  ]
  assert.ok(keyring !== undefined && leafKey !== undefined)
  // Killed before anything was replaced: the own unseal key opens.
  const killed = secondary.node.activate({ bundle, keyring, leafKey }, () => Promise.reject(new Error('killed')))
  await assert.rejects(killed, /killed/)
  assert.notEqual(secondary.file().root_key, undefined)
  const again = await start(1)
  assert.equal(again.keys.unsealKey, secondary.keys.unsealKey)
  await again.node.activate({ bundle, keyring, leafKey }, copyTo(primary.store, again.store))
  wipeBundle(bundle)
  const after = await start(1)
  assert.equal(after.keys.unsealKey, undefined)
  assert.equal((await after.call('GET', 'sys/mounts', undefined, after.keys.rootToken)).status, 200)
  assert.equal(findDevelopmentRootKey(after.directory)?.length, 32)
  await after.call('PUT', 'sys/seal', undefined, after.keys.rootToken)
  assert.equal((await after.call('PUT', 'sys/unseal', { key: primary.keys.unsealKey }, '')).body.sealed, false)
  // The key that opened is kept now, in the place of the root key.
  assert.deepEqual([after.file().unseal_key, after.file().root_key], [primary.keys.unsealKey, undefined])
  assert.equal((await start(1)).keys.unsealKey, primary.keys.unsealKey)
})

test('S9: on a cluster for disaster recovery a development server makes no token', async (context) => {
  const start = two(context)
  const first = await start(0)
  await first.node.tokens.revoke(first.node.tokens.idOf(first.keys.rootToken))
  const second = await start(0, { role: { ...ACTIVE_PRIMARY, isStandby: true }, primaryAddress: '' })
  assert.equal(second.node.seal.status().sealed, false)
  assert.equal(await second.node.tokens.find(first.keys.rootToken), undefined)
})
