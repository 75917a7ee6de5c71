// T42 of namespaces: those that a primary made, filled, locked and deleted are so on the cluster that takes its place,
// which also ends the deletion that the primary did not come to the end of.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEAVING_FOLDER, NAMESPACE_FOLDER } from '../../src/namespaces/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import {
  type AskIn,
  type FullNamespace,
  fillNamespace,
  requireFull,
  requireGone,
  requireUnusable,
} from '../fixtures/full-namespace.ts'
import { recordsNaming } from '../fixtures/records-naming.ts'
import { operationsOf, type ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const askOf =
  (servers: ReplicatedServers, { server }: ReplicatedServer): AskIn =>
  (method, path, body, token, namespace = '', wrapTtl) =>
    servers.time.until(
      server.call(method, path, body, token, { namespace, ...(wrapTtl === undefined ? {} : { wrapTtl }) }),
    )

/** Marks it as the request of its deletion does, and does no more. */
async function beginDeletion(servers: ReplicatedServers, { server }: ReplicatedServer, name: string): Promise<void> {
  const key = `root/${name}`
  const work = server.node.storage.transaction(async (folders) => {
    const from = folders.at(systemScope, NAMESPACE_FOLDER)
    const entry = (await from.get(key)) ?? assert.fail(name)
    from.delete(key)
    folders.at(systemScope, LEAVING_FOLDER).put(key, entry)
  })
  await servers.time.until(work)
}

test('namespaces of a primary are the same on the cluster that takes its place', async () => {
  const { servers, primary, secondary } = await followedServers(42)
  const ask = askOf(servers, primary)
  const fill = (name: string): Promise<FullNamespace> => fillNamespace(ask, name)
  const [deleted, kept, locked, going] = [await fill('a'), await fill('b'), await fill('c'), await fill('d')]
  await ask('DELETE', 'sys/namespaces/a')
  const { body } = await ask('POST', 'sys/namespaces/api-lock/lock/c')
  await beginDeletion(servers, primary, 'd')
  const shown = await ask('LIST', 'sys/namespaces')
  await servers.level(primary, secondary)
  primary.kill()

  await servers.time.until(operationsOf(secondary).promote('dr', { clusterAddress: '', force: true }))
  const promoted = askOf(servers, secondary)
  await requireUnusable(promoted, going)
  const { node, world } = secondary.server
  const ended = async () => {
    while (node.namespaces.byId(going.id) !== undefined) await world.timers.sleep(1)
  }
  await servers.time.until(ended())
  const { key_info: before } = shown.body.data as { readonly key_info: Record<string, object> }
  const { key_info: after } = (await promoted('LIST', 'sys/namespaces')).body.data as { readonly key_info: object }
  assert.deepEqual(after, { 'b/': before['b/'], 'c/': before['c/'] })
  await requireFull(promoted, kept)
  assert.equal((await promoted('GET', 'kv/keys/k', undefined, locked.tokens.parent, 'c')).status, 503)
  const { unlock_key } = body.data as { readonly unlock_key: string }
  assert.equal((await promoted('POST', 'sys/namespaces/api-lock/unlock/c', { unlock_key: 'wrong' })).status, 400)
  assert.equal((await promoted('POST', 'sys/namespaces/api-lock/unlock/c', { unlock_key })).status, 204)
  await requireFull(promoted, locked)
  for (const gone of [deleted, going]) {
    const left = await servers.time.until(recordsNaming(secondary.server, gone.id))
    assert.ok(left.every((key) => key.startsWith(`${gone.id}/logical/`) || key.startsWith('root/core/mounts/')))
    await requireGone(promoted, gone)
  }
})
