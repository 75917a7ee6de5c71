// What is done in a namespace, and about it, at the moment of its deletion: nothing is left behind, and nobody is told
// of a fault of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AskIn, fillNamespace, requireUnusable } from '../fixtures/full-namespace.ts'
import { type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { NamespaceWriter, writeAll } from '../fixtures/namespace-writers.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { recordsNaming } from '../fixtures/records-naming.ts'
import { testSeed } from '../fixtures/seed.ts'
import { turns } from '../fixtures/turns.ts'

const ROUNDS = Number(process.env.NAMESPACE_ROUNDS ?? 3)
const WRITERS = 8

const askOf =
  (server: MemoryServer): AskIn =>
  (method, path, body, token, namespace = '', wrapTtl) =>
    server.call(method, path, body, token, { namespace, ...(wrapTtl === undefined ? {} : { wrapTtl }) })

/** Waits for the end of its deletion. */
async function goneFrom(server: MemoryServer, id: string): Promise<void> {
  while (server.node.namespaces.byId(id) !== undefined) await turns(1)
}

test('T12: who writes in a namespace that is deleted leaves nothing behind, and is told no fault', async (t) => {
  const random = pseudoRandom(testSeed(t))
  const server = await startMemoryServer()
  const ask = askOf(server)
  const ids: string[] = []
  const statuses = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const full = await fillNamespace(ask, `going-${round}`)
    ids.push(full.id)
    let isOver = false
    const writers = Array.from(
      { length: WRITERS },
      () => new NamespaceWriter(ask, full, pseudoRandom(random.int(2 ** 31))),
    )
    const load = Promise.all(
      writers.map((writer) =>
        writer.run(
          () => isOver,
          () => turns(5),
        ),
      ),
    )
    await turns(20 + random.int(150))
    const deleted = await ask('DELETE', `sys/namespaces/${full.path}`)
    assert.deepEqual([deleted.status, deleted.body.data], [200, { status: 'in-progress' }])
    await requireUnusable(ask, full)
    await goneFrom(server, full.id)
    isOver = true
    await load
    for (const writer of writers) {
      assert.deepEqual(writer.faults, [])
      for (const [status, count] of writer.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count)
    }
    await requireNothing(server, ids)
  }
  t.diagnostic(JSON.stringify([...statuses]))
  for (const status of [200, 204, 404]) assert.ok(statuses.has(status), String(status))
})

test('T12: whatever was let in before the deletion, and comes to write behind it, writes nothing', async (t) => {
  const server = await startMemoryServer()
  const ask = askOf(server)
  const full = await fillNamespace(ask, 'w')
  const held = Promise.withResolvers<void>()
  // Every request waits there, between its judgement and its handler.
  const { audit } = server.node
  const begin = audit.begin.bind(audit)
  const waiting = t.mock.method(audit, 'begin', async (...given: Parameters<typeof begin>) => {
    await held.promise
    await begin(...given)
  })
  const answers = writeAll(ask, full, 'late')
  await turns(20)
  assert.ok(waiting.mock.callCount() > 20)
  waiting.mock.restore()
  await ask('DELETE', `sys/namespaces/${full.path}`)
  await goneFrom(server, full.id)
  held.resolve()
  const { within, about } = await answers
  for (const { status } of within) assert.ok(status >= 400 && status < 500, JSON.stringify(within))
  for (const { status } of about) assert.ok(status < 500, JSON.stringify(about))
  await requireNothing(server, [full.id])
})

test('T12: the built-in mount of a namespace that is gone is not tuned, which would store it', async () => {
  const server = await startMemoryServer()
  const ask = askOf(server)
  await ask('POST', 'sys/namespaces/w')
  const { mounts, namespaces } = server.node
  const namespace = namespaces.byPath('w/')
  assert.ok(namespace !== undefined)
  await ask('DELETE', 'sys/namespaces/w')
  await goneFrom(server, namespace.id)
  await assert.rejects(
    mounts.tune(namespace, 'auth/token/', (entry) => entry),
    { status: 404 },
  )
  assert.deepEqual(await recordsNaming(server, namespace.id), [])
})

test('a namespace and a mount at one path, asked for at one moment: one of them is made', async () => {
  const server = await startMemoryServer()
  const ask = askOf(server)
  const won = { namespace: 0, mount: 0 }
  for (let round = 0; round < 40; round++) {
    const name = `r${round}`
    const asks = [
      () => ask('POST', `sys/namespaces/${name}`),
      () =>
        ask('POST', `sys/mounts/${name}${round % 3 === 0 ? '/below' : ''}`, {
          type: 'transit',
          local: round % 2 === 0,
        }),
    ]
    // Each of them begins a little before the other in turn.
    const [first, second] = round % 4 < 2 ? asks : asks.toReversed()
    const begun = first?.()
    await turns(round % 5)
    const [one, other] = await Promise.all([begun, second?.()])
    const [namespace, mount] = round % 4 < 2 ? [one, other] : [other, one]
    const made = [namespace?.status === 200, mount?.status === 204]
    assert.equal(made.filter(Boolean).length, 1, JSON.stringify([namespace, mount]))
    assert.equal(made[0] ? mount?.status : namespace?.status, 400)
    won[made[0] ? 'namespace' : 'mount']++
  }
  assert.ok(won.namespace > 0 && won.mount > 0, JSON.stringify(won))
})

test('a name that is deleted and made at once, in a loop: it is refused, or a clean one', async () => {
  const server = await startMemoryServer()
  const ask = askOf(server)
  const ids = new Set<string>()
  let refused = 0
  for (let round = 0; round < 12; round++) {
    const made = await ask('POST', 'sys/namespaces/w')
    ids.add(String((made.body.data as { readonly id: string }).id))
    await ask('POST', 'sys/policies/acl/p', { policy: '' }, undefined, 'w')
    await ask('POST', 'sys/mounts/kv', { type: 'transit' }, undefined, 'w')
    const { body } = await ask('POST', 'auth/token/create', {}, undefined, 'w')
    const token = String((body.auth as { readonly client_token: string }).client_token)
    const deleted = ask('DELETE', 'sys/namespaces/w')
    await turns(round)
    const again = await ask('POST', 'sys/namespaces/w')
    if (again.status === 400) refused++
    // It came before the deletion, or behind it.
    else assert.equal(again.status, 200)
    assert.equal((await deleted).status, 200)
    assert.equal((await ask('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
    while ((await ask('GET', 'sys/namespaces/w')).body.data !== undefined) {
      const policies = await ask('LIST', 'sys/policies/acl', undefined, undefined, 'w')
      if (policies.status === 200) assert.deepEqual((policies.body.data as { keys: unknown }).keys, ['default'])
      await ask('DELETE', 'sys/namespaces/w')
      await turns(1)
    }
  }
  assert.ok(refused > 0)
  assert.equal(ids.size, 12)
  for (const id of ids) assert.deepEqual(await recordsNaming(server, id), [])
})

/** What is stored of those that are gone: mounts that moved to the root, with their data. */
async function requireNothing(server: MemoryServer, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const left = await recordsNaming(server, id)
    const mounts = left.filter((key) => key.startsWith('root/core/mounts/')).map((key) => key.split('/').at(-1))
    const isOfMount = (key: string) => key.startsWith(`${id}/logical/`) && mounts.includes(key.split('/')[2])
    assert.deepEqual(
      left.filter((key) => !isOfMount(key) && !key.startsWith('root/core/mounts/')),
      [],
    )
  }
}
