// P-29 over kill -9: a token with a limited number of uses gives no more than these, however often the server is
// killed meanwhile, and none when they are used up. LIMITED_KILLS says how often; a few suffice for every change.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const KILLS = Number(process.env.LIMITED_KILLS ?? '3')
const TOKENS = 8
const USES = 10
const CALLERS = 4
const MOST_LOAD_MS = 150

type Limited = { readonly token: string; served: number }

test(`limited tokens give no use too many over ${KILLS} kills`, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const directory = `${temporary.path}/data`
  let server = await startServerProcess({ directory })
  context.after(() => server.kill())
  const all: Limited[] = []
  const spent: Limited[] = []
  for (let kills = 0; kills < KILLS; kills++) {
    const fresh = await Promise.all(Array.from({ length: TOKENS }, () => make(server)))
    all.push(...fresh)
    const load = Promise.all(Array.from({ length: CALLERS }, () => useUp(server, fresh, spent)))
    await sleep(random.int(MOST_LOAD_MS + 1))
    await server.kill()
    await load
    server = await startServerProcess({ directory })
    for (const { token } of spent) assert.equal(await isServed(server, token), false, 'a used-up token came back')
  }
  await Promise.all(all.map((one) => useUp(server, [one], spent)))
  for (const { token, served } of all) {
    assert.ok(served <= USES, `${served} uses of ${USES}`)
    assert.equal(await isServed(server, token), false)
  }
  context.diagnostic(`${all.length} tokens, ${all.reduce((sum, { served }) => sum + served, 0)} uses were answered`)
  assert.ok(all.some(({ served }) => served === USES))
  assert.equal(await server.stop(), 0)
})

async function make(server: ServerProcess): Promise<Limited> {
  const { body } = await api(server, 'POST', 'auth/token/create', { policies: ['default'], num_uses: USES })
  return { token: String((body.auth as Record<string, unknown>).client_token), served: 0 }
}

const isServed = async (server: ServerProcess, token: string): Promise<boolean> =>
  (await api(server, 'GET', 'auth/token/lookup-self', undefined, token)).status === 200

/** Until each is refused, or the server is no more; who is refused is used up for good. */
async function useUp(server: ServerProcess, tokens: readonly Limited[], spent: Limited[]): Promise<void> {
  try {
    for (const one of tokens) {
      while (await isServed(server, one.token)) one.served++
      spent.push(one)
    }
  } catch {
    // Killed: whether the last request was counted is not known, and it was not answered.
  }
}
