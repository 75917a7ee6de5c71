// Requests made by chance from the endpoint table: whatever is sent, the server answers in time, as its table says, and
// goes on (decisions: a caller's mistake is never a 5xx, and no input ends the process).
//   SEED=… repeats a run; REQUESTS=100000 is the long form; with SEED and ONLY=17 just that request is sent.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { mountEngines, PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { RawConnection } from '../fixtures/raw-http.ts'
import { testSeed } from '../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../fixtures/server-process.ts'
import { answerFaults } from './answer-faults.ts'
import { CONTEXT, type Pool, SECRET_MARK } from './field-values.ts'
import { describeRequest, type GeneratedRequest, generateRequest, type Material } from './generated-request.ts'

const REQUESTS = Number(process.env.REQUESTS ?? 10_000)
const ONLY = process.env.ONLY === undefined ? undefined : Number(process.env.ONLY)
const WORKERS = 8
/** A good request is sent after so many. */
const CHECK_EVERY = 500
/** Comes and goes while requests are under way. */
const FLEETING_MOUNT = 'fleeting/'
const NAMES = ['k', 'k', 'k', 'derived', 'convergent', 'new-1', 'new-2', 'generated', 'plaintext', 'wrapped']
const MOUNTS = ['fleeting', 'fleeting', 'generated', 'fleeting/inside']

const directory = temporaryDirectory()
let server: ServerProcess
let pool: Pool
before(async () => {
  // A token that no generated text names, since generated requests revoke what they name.
  server = await startServerProcess({ directory: join(directory.path, 'data'), token: 'keeper-of-the-run' })
  await mountEngines(server)
  await api(server, 'POST', 'sys/mounts/steady', { type: 'transit' })
  await api(server, 'POST', 'steady/keys/k', {})
  await api(server, 'POST', 'sys/policies/acl/everything', {
    policy: 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }',
  })
  pool = await freshPool()
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

/** Keys with what they encrypted, and tokens: generated requests delete, rotate and revoke them all the time. */
async function freshPool(): Promise<Pool> {
  const ciphertexts = await Promise.all(
    ['k', 'k', 'k', 'derived', 'convergent'].map(async (name) => {
      const derived = name !== 'k'
      await api(server, 'POST', `transit/keys/${name}`, { derived, convergent_encryption: name === 'convergent' })
      const sent = { plaintext: 'c29tZQ==', context: derived ? CONTEXT : '' }
      const { body } = await api(server, 'POST', `transit/encrypt/${name}`, sent)
      return String(body.data?.ciphertext)
    }),
  )
  const made = await Promise.all(Array.from({ length: 10 }, () => newToken(['default'])))
  return {
    ciphertexts,
    tokens: [...made.map(({ token }) => token), 'hvs.AAAAAAAAAAAAAAAAAAAAAAAA'],
    accessors: [...made.map(({ accessor }) => accessor), 'AAAAAAAAAAAAAAAAAAAAAAAA'],
    shares: ['AAAAAAAAAAAAAAAAAAAAAA==', '00'.repeat(33)],
  }
}

async function newToken(policies: readonly string[]): Promise<{ token: string; accessor: string }> {
  const { status, body } = await api(server, 'POST', 'auth/token/create-orphan', { policies, no_default_policy: true })
  assert.equal(status, 200, JSON.stringify(body))
  const auth = body.auth as Record<string, unknown>
  return { token: String(auth.client_token), accessor: String(auth.accessor) }
}

/** What opens and closes the server is tried on one of its own. */
const calm = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.changesSeal !== true)
/** The engines once more, where their mount comes and goes. */
const fleeting = calm
  .filter(({ mountPath }) => mountPath === 'transit/')
  .map(({ endpoint }) => ({ mountPath: FLEETING_MOUNT, endpoint }))

/** Sends one request; what is wrong with the answer. */
async function tryOut(connection: RawConnection, request: GeneratedRequest): Promise<string[]> {
  try {
    const answer = await connection.exchange(request.bytes)
    if (answer === undefined) return ['the connection ended without an answer']
    if (answer.headers.get('connection') === 'close') connection.close()
    ;(globalThis as any).st ??= {}; { const k = (globalThis as any).cur.get(request); const e=((globalThis as any).st[k] ??= {}); e[answer.status]=(e[answer.status]??0)+1 }
    const faults = answerFaults(request, answer, [FLEETING_MOUNT, 'steady/', 'generated/'])
    return faults.map((fault) => `${fault}: ${answer.status} ${answer.body.slice(0, 1000)}`)
  } catch (cause) {
    connection.close()
    return [String(cause)]
  }
}

async function stillServes(): Promise<void> {
  const encrypted = await api(server, 'POST', 'steady/encrypt/k', { plaintext: 'YWdhaW4=' })
  const { body } = await api(server, 'POST', 'steady/decrypt/k', { ciphertext: encrypted.body.data?.ciphertext })
  assert.equal(body.data?.plaintext, 'YWdhaW4=')
}

test(`${REQUESTS} generated requests are answered as the table says`, async (context) => {
  const seed = testSeed(context)
  const started = performance.now()
  const faults: string[] = []
  let next = ONLY ?? 0
  const end = ONLY === undefined ? REQUESTS : ONLY + 1
  const work = async (): Promise<void> => {
    let { token } = await newToken(['everything'])
    let connection = await RawConnection.open(server.address)
    while (next < end && faults.length < 20) {
      const index = next++
      const material: Material = {
        endpoints: index % 5 === 0 ? fleeting : calm,
        pool,
        names: NAMES,
        mounts: MOUNTS,
        token,
        otherTokens: [...pool.tokens, 'garbage', 'x'.repeat(600)],
      }
      const request = generateRequest(pseudoRandom(seed + index * 7_919), material)
      ;((globalThis as any).cur ??= new Map()).set(request, (request as any).id); if (connection.isClosed) connection = await RawConnection.open(server.address)
      const found = await tryOut(connection, request)
      faults.push(...found.map((fault) => `SEED=${seed} ONLY=${index}\n  ${describeRequest(request)}\n  ${fault}`))
      if (request.target.includes('revoke-self')) token = (await newToken(['everything'])).token
      if (index % CHECK_EVERY === 0) {
        await stillServes()
        pool = await freshPool()
      }
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  context.diagnostic(`${next} requests in ${Math.round(performance.now() - started)} ms`)
  console.log(Object.entries((globalThis as any).st).map(([a,b]) => a+' '+JSON.stringify(b)).join('\n')); if (faults.length > 0) assert.fail(faults.join('\n\n'))
  await stillServes()
  assert.doesNotMatch(server.output(), /failed inside/)
  assert.equal(server.output().includes(SECRET_MARK), false)
})
