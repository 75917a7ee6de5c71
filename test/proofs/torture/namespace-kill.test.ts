// T-18: a deletion of a namespace survives kill -9 at any moment, under load. What it did not come to it does after
// the next start, by itself; nobody uses the namespace meanwhile; and nothing of it is left. NAMESPACE_KILLS says how
// often; `npm run torture:deletions` is the long form.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { realWorld } from '../../../src/lib/world.ts'
import { LEAVING_FOLDER, NAMESPACE_FOLDER } from '../../../src/namespaces/records.ts'
import { storageIn, storeLocation } from '../../../src/storage/drivers.ts'
import { askProcess } from '../../fixtures/ask-process.ts'
import {
  type FullNamespace,
  fillNamespace,
  requireFull,
  requireGone,
  requireUnusable,
} from '../../fixtures/full-namespace.ts'
import { NamespaceWriter } from '../../fixtures/namespace-writers.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const KILLS = Number(process.env.NAMESPACE_KILLS ?? '3')
const WRITERS = 4
/** How long they write before the deletion begins. */
const LOAD_MS = 60
/** From the request of the deletion to the kill: before it is committed, or while it goes on. */
const MOST_MS = 60

test(`T-18 T12: a deletion is ended over ${KILLS} kills under load, and leaves nothing behind`, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const directory = `${temporary.path}/data`
  let server = await startServerProcess({ directory })
  context.after(() => server.kill())
  const ask = askProcess(() => server)
  const gone: FullNamespace[] = []
  const met = { 'not begun': 0, 'cut off': 0, ended: 0 }
  for (let kills = 0; kills < KILLS; kills++) {
    const full = await fillNamespace(ask, `going-${kills}`)
    await requireFull(ask, full)
    let isOver = false
    const writers = Array.from(
      { length: WRITERS },
      () => new NamespaceWriter(ask, full, pseudoRandom(random.int(2 ** 31))),
    )
    const pause = () => sleep(random.int(4))
    const load = Promise.all(writers.map((writer) => writer.run(() => isOver, pause)))
    await sleep(random.int(LOAD_MS))
    const answered = ask('DELETE', `sys/namespaces/${full.path}`).catch(() => undefined)
    await sleep(random.int(MOST_MS))
    await server.kill()
    isOver = true
    const answer = await answered
    assert.ok(answer === undefined || answer.status === 200)
    await load
    assert.deepEqual(
      writers.flatMap(({ faults }) => faults),
      [],
    )
    const keys = await storedKeys(directory)
    const isThere = keys.includes(`${NAMESPACE_FOLDER}root/${full.path}`)
    const isGoing = keys.includes(`${LEAVING_FOLDER}root/${full.path}`)
    met[isThere ? 'not begun' : isGoing ? 'cut off' : 'ended']++
    server = await startServerProcess({ directory })
    if (isThere) {
      assert.equal(answer, undefined, 'a deletion that was answered is forgotten')
      assert.equal((await ask('DELETE', `sys/namespaces/${full.path}`)).status, 200)
    }
    await requireUnusable(ask, full)
    await until(async () => (await ask('GET', `sys/namespaces/${full.path}`)).status === 404, 'the end of the deletion')
    await requireGone(ask, full)
    gone.push(full)
  }
  context.diagnostic(JSON.stringify(met))
  assert.equal(await server.stop(), 0)
  await requireNothing(directory, gone)
})

async function storedKeys(directory: string): Promise<readonly string[]> {
  const { random, clock } = realWorld()
  const store = await storeLocation(storageIn(directory)).open({
    random,
    clock,
    onFatal: (cause) => assert.fail(cause),
  })
  const snapshot = await store.snapshot()
  const keys = (await snapshot.stored('', Number.POSITIVE_INFINITY)).map(({ key }) => key)
  await snapshot.close()
  await store.close()
  return keys
}

/** What is stored of them is what left them before. */
async function requireNothing(directory: string, gone: readonly FullNamespace[]): Promise<void> {
  const keys = await storedKeys(directory)
  const mounts = new Set(keys.filter((key) => key.startsWith('root/core/mounts/')).map((key) => key.split('/').at(-1)))
  for (const { id } of gone) {
    const left = keys.filter((key) => key.includes(id))
    const isOfMoved = (key: string) => key.startsWith(`${id}/logical/`) && mounts.has(key.split('/')[2])
    assert.deepEqual(
      left.filter((key) => !isOfMoved(key)),
      [],
    )
    assert.ok(left.length > 0)
  }
}
