// Each endpoint on a performance secondary of whole servers, in virtual time. T69: what engines and login methods do is
// carried out there or by the primary, as the contract has it; what came to the primary is read from its audit log.
// E-08: whatever is asked, with the link and without, no answer is a failure of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountAll, PLACED_ENDPOINTS, type Placed } from '../fixtures/endpoint-table.ts'
import type { Called, MemoryServer } from '../fixtures/memory-server.ts'
import { inOrder, makeThings, plausibleCall, type Things } from '../fixtures/plausible-calls.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const LOG = '/audit.log'
const OF_ENGINES = /^(transit|auth\/(approle|userpass|cloud))\//
/** Carried out by a secondary itself, by endpoint. All others of the engines and login methods go to the primary. */
const OWN = [
  /^transit-(key-read|key-list|byok-export|export|keys-config-read|cache-config-read|key-csr)$/,
  /^transit-(decrypt|rewrap|datakey|datakeys|sign|verify|hmac|cmac|random|hash)$/,
  /^(userpass-users|approle-role|cloud-config|cloud-role|approle-secret-id)(-.*)?-(list|read|lookup)$/,
  // The entity is asked for by a question of its own.
  /^(userpass-login|cloud-login|cloud-explain)$/,
  // Without the id that their fields want, they are refused before they go anywhere.
  /^approle-secret-id-(accessor-destroy|destroy-delete)/,
]
/** `encrypt` makes a key that it does not find, on the primary. The others come to a write late. */
const UPSERT = 'transit-encrypt'
/** They would change what the clusters are to each other, seal one, or have bodies of any length. */
const CHANGES_ROLES =
  /^(replication-|paths-filter|dynamic-filter|seal$|step-down|snapshot-|init|rekey|generate-root|rotate-root)/

async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const call: MemoryServer['call'] = (...asked) => servers.time.until(primary.server.call(...asked))
  await mountAll(call)
  const things = await makeThings({ call })
  const device = { type: 'file', local: true, options: { file_path: LOG } }
  await primary.must('POST', 'sys/audit/own', device)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  // Time for the mounts to be joined by the secondary.
  await servers.time.pass(12_000)
  await level()
  return { servers, primary, secondary, things, level }
}

/** Requests of its secondary that the primary has recorded. */
const handedTo = ({ server }: ReplicatedServer): number =>
  String(server.machine.files.read(LOG))
    .split('\n')
    .filter((line) => line.includes('"replication_cluster"') && line.includes('"type":"request"')).length

const isOwn = (id: string): boolean => OWN.some((one) => one.test(id))
const shown = ({ endpoint: { id } }: Placed, { status, body }: Called) => `${id}: ${status} ${JSON.stringify(body)}`

async function callOn(secondary: ReplicatedServer, placed: Placed, things: Things): Promise<Called> {
  const { method, path, body } = plausibleCall(placed, things)
  return secondary.call(method, path, body)
}

test('T69: each endpoint of engines and login methods is carried out here or by the primary', async () => {
  const { primary, secondary, things, level } = await started(1)
  const counts = { own: 0, handed: 0 }
  for (const placed of inOrder(PLACED_ENDPOINTS.filter(({ mountPath }) => OF_ENGINES.test(mountPath)))) {
    const before = handedTo(primary)
    const answer = await callOn(secondary, placed, things)
    assert.ok(answer.status < 500, shown(placed, answer))
    const kind = isOwn(placed.endpoint.id) ? 'own' : 'handed'
    assert.equal(handedTo(primary) - before, kind === 'own' ? 0 : 1, shown(placed, answer))
    counts[kind]++
    await level()
  }
  assert.ok(counts.own > 35 && counts.handed > 50, JSON.stringify(counts))
  const { ciphertext } = (await secondary.must('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).body.data ?? {}
  const before = handedTo(primary)
  await secondary.must('POST', 'transit/decrypt/k', { ciphertext })
  await secondary.must('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })
  assert.equal(handedTo(primary), before, `${UPSERT} with a key that is there`)
})

test('T69: without its link a secondary carries out the same by itself, and refuses the rest', async () => {
  const { servers, primary, secondary, things } = await started(2)
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  for (const placed of inOrder(PLACED_ENDPOINTS.filter(({ mountPath }) => OF_ENGINES.test(mountPath)))) {
    const { id } = placed.endpoint
    const answer = await callOn(secondary, placed, things)
    if (isOwn(id) && !id.endsWith('-login')) assert.ok(answer.status < 500, shown(placed, answer))
    else if (!isOwn(id)) assert.equal(answer.status, 503, shown(placed, answer))
  }
})

for (const isLinked of [true, false]) {
  test(`E-08: a secondary ${isLinked ? 'with' : 'without'} its link answers every endpoint as it should`, async () => {
    const { servers, primary, secondary, things } = await started(isLinked ? 3 : 4)
    if (!isLinked) {
      servers.cut(primary, secondary)
      await servers.time.pass(20_000)
    }
    const called = PLACED_ENDPOINTS.filter(({ endpoint: { id } }) => !CHANGES_ROLES.test(id))
    for (const placed of inOrder(called)) {
      const answer = await callOn(secondary, placed, things)
      const isRefused =
        answer.status === 503 && !isLinked && /primary, (at )?https:\/\/one:8200/.test(shown(placed, answer))
      assert.ok(answer.status < 500 || isRefused, shown(placed, answer))
    }
    const faults = secondary.server.logged.filter((line) => line.includes(' error '))
    assert.deepEqual(faults, [])
  })
}
