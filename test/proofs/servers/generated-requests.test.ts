// Requests made by chance from the endpoint table: whatever is sent, the server answers in time, as its table says, and
// goes on (P-43: no input ends the process; a caller's mistake is never a 5xx).
//   SEED=… repeats a run; REQUESTS=100000 is the long form; with SEED and ONLY=17 just that request is sent.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { answerFaults, type Expectation, endpointOf } from '../../coverage/answer-faults.ts'
import { CONTEXT, type Pool, SECRET_MARK } from '../../coverage/field-values.ts'
import {
  describeRequest,
  type GeneratedRequest,
  generateRequest,
  type Material,
} from '../../coverage/generated-request.ts'
import { mountEngines, PLACED_ENDPOINTS } from '../../fixtures/endpoint-table.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { loopbackAddress, type RawAnswer, RawConnection } from '../../fixtures/raw-http.ts'
import { testSeed } from '../../fixtures/seed.ts'
import {
  api,
  type RunningProcess,
  type ServerProcess,
  startConfigured,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

const REQUESTS = Number(process.env.REQUESTS ?? 6_000)
const ONLY = process.env.ONLY === undefined ? undefined : Number(process.env.ONLY)
/** Of each server that is sealed and unsealed meanwhile. */
const SEAL_REQUESTS = 1_000
/** So many of those: each is initialised once, and what follows from how is met by chance. */
const SEALED_SERVERS = ONLY === undefined ? Math.ceil(REQUESTS / 10 / SEAL_REQUESTS) : 1
const SEALING_ADDRESSES = 4
/** From so many on, chance leaves no endpoint without a success. */
const REQUESTS_FOR_ALL = 10_000
const WORKERS = 8
/** A good request is sent after so many. */
const CHECK_EVERY = 500
const MOST_FAULTS = 20

const NAMES = ['k', 'k', 'k', 'derived', 'convergent', 'new-1', 'new-2', 'generated', 'plaintext', 'wrapped']
/** Those that come and go while requests are under way; others are never touched. */
const MOUNTS = ['fleeting', 'fleeting', 'generated', 'fleeting/inside']
const EXPECTED: Expectation = { mounts: ['fleeting/', 'generated/', 'steady/'], mayBeClosed: false }

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
    ['k', 'derived', 'convergent'].map(async (name) => {
      const derived = name !== 'k'
      await api(server, 'POST', `transit/keys/${name}`, { derived, convergent_encryption: name === 'convergent' })
      const sent = { plaintext: 'c29tZQ==', context: derived ? CONTEXT : '' }
      const { body } = await api(server, 'POST', `transit/encrypt/${name}`, sent)
      return [name, String(body.data?.ciphertext)] as const
    }),
  )
  // By a role of their own: so their leases can be told from those of whoever sends the requests.
  await api(server, 'POST', 'auth/token/roles/of-the-pool', { allowed_policies: ['default'], orphan: true })
  const made = await Promise.all(Array.from({ length: 10 }, () => newToken({}, 'create/of-the-pool')))
  const { body } = await api(server, 'LIST', 'sys/leases/lookup/auth/token/create/of-the-pool')
  const leases = ((body.data?.keys ?? []) as string[]).map((key) => `auth/token/create/of-the-pool/${key}`)
  return {
    ciphertexts: Object.fromEntries(ciphertexts),
    tokens: [...made.map(({ token }) => token), 'hvs.AAAAAAAAAAAAAAAAAAAAAAAA'],
    accessors: [...made.map(({ accessor }) => accessor), 'AAAAAAAAAAAAAAAAAAAAAAAA'],
    leases: [...leases.slice(-20), `auth/token/create/h${'0'.repeat(64)}`],
    shares: ['AAAAAAAAAAAAAAAAAAAAAA=='],
    ...(await freshIdentities()),
  }
}

/** Some of each, with aliases of names that nothing else has. */
async function freshIdentities(): Promise<Pick<Pool, 'identity' | 'loginAccessor'>> {
  const { body } = await api(server, 'GET', 'sys/internal/ui/mounts')
  const logins = body.data?.auth as Record<string, { readonly accessor: string }> | undefined
  const loginAccessor = String(logins?.['token/']?.accessor)
  const made = async (thing: string, sent: object): Promise<string> => {
    const answer = await api(server, 'POST', `identity/${thing}`, sent)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return String(answer.body.data?.id)
  }
  const several = (thing: string, body: () => object): Promise<string[]> =>
    Promise.all(Array.from({ length: 6 }, () => made(thing, body())))
  const alias = () => ({ name: `alias-${++aliasCount}`, mount_accessor: loginAccessor })
  return {
    loginAccessor,
    identity: {
      entity: await several('entity', () => ({})),
      'entity-alias': await several('entity-alias', alias),
      group: await several('group', () => ({ type: 'external' })),
      'group-alias': await several('group-alias', alias),
    },
  }
}
let aliasCount = 0

async function newToken(fields: object, path = 'create-orphan'): Promise<{ token: string; accessor: string }> {
  const { status, body } = await api(server, 'POST', `auth/token/${path}`, { ...fields, no_default_policy: true })
  assert.equal(status, 200, JSON.stringify(body))
  const auth = body.auth as Record<string, unknown>
  return { token: String(auth.client_token), accessor: String(auth.accessor) }
}

/** Sends requests one after the other, as many connections as it takes. */
class Sender {
  readonly #address: string
  readonly #expected: Expectation
  readonly #from: string | undefined
  #connection: RawConnection | undefined

  constructor(address: string, expected: Expectation, from?: string) {
    this.#address = address
    this.#from = from
    this.#expected = expected
  }

  /** The answer, and what is wrong with it. */
  async send(request: GeneratedRequest): Promise<{ answer: RawAnswer | undefined; faults: string[] }> {
    if (this.#connection === undefined || this.#connection.isClosed) {
      this.#connection = await RawConnection.open(this.#address, this.#from)
    }
    try {
      const answer = await this.#connection.exchange(request.bytes)
      if (answer === undefined) return { answer, faults: ['the connection ended without an answer'] }
      if (answer.headers.get('connection') === 'close') this.close()
      const faults = answerFaults(request, answer, this.#expected)
      return { answer, faults: faults.map((fault) => `${fault}: ${answer.status} ${answer.body.slice(0, 1000)}`) }
    } catch (cause) {
      this.close()
      return { answer: undefined, faults: [String(cause)] }
    }
  }

  close(): void {
    this.#connection?.close()
  }
}

/** Counts requests and successes, and gathers faults with what repeats them. */
class Tally {
  readonly faults: string[] = []
  readonly succeeded = new Set<string>()
  readonly #seed: number
  readonly #end: number
  #next = ONLY ?? 0

  constructor(seed: number, requests: number) {
    this.#seed = seed
    this.#end = ONLY === undefined ? requests : ONLY + 1
  }

  /** The number of the next request; undefined where it is enough. */
  next(): number | undefined {
    return this.#next < this.#end && this.faults.length < MOST_FAULTS ? this.#next++ : undefined
  }

  generate(index: number, material: Material): GeneratedRequest {
    return generateRequest(pseudoRandom(this.#seed + index * 7_919), material)
  }

  take(index: number, request: GeneratedRequest, answer: RawAnswer | undefined, faults: readonly string[]): void {
    this.faults.push(
      ...faults.map((fault) => `SEED=${this.#seed} ONLY=${index}\n  ${describeRequest(request)}\n  ${fault}`),
    )
    if (answer !== undefined && answer.status < 300) this.succeeded.add(request.id)
  }
}

async function stillServes(): Promise<void> {
  const encrypted = await api(server, 'POST', 'steady/encrypt/k', { plaintext: 'YWdhaW4=' })
  const { body } = await api(server, 'POST', 'steady/decrypt/k', { ciphertext: encrypted.body.data?.ciphertext })
  assert.equal(body.data?.plaintext, 'YWdhaW4=')
}

const LAST_WORDS_CHARACTERS = 4_000

/** What the server said before it was found at fault. */
const lastWords = ({ output }: RunningProcess): string => `the server said:\n${output().slice(-LAST_WORDS_CHARACTERS)}`

function assertQuiet({ output }: RunningProcess): void {
  assert.doesNotMatch(output(), /failed inside/)
  assert.equal(output().includes(SECRET_MARK), false, 'a secret is in the log')
}

/** A quota made by chance would refuse the rest of the run, and a demoted server serves nobody. */
const LIMITS_ALL = [
  'rate-limit-quota-write',
  'quotas-config-write',
  'replication-dr-primary-demote',
  'replication-performance-primary-demote',
  'replication-former-primary-demote',
]
/** What opens and closes the server is tried on one of its own. */
const CALM = PLACED_ENDPOINTS.filter(
  ({ endpoint }) => endpoint.changesSeal !== true && !LIMITS_ALL.includes(endpoint.id),
)
/** The engines once more, where their mount comes and goes. */
const FLEETING = CALM.filter(({ mountPath }) => mountPath === 'transit/').map(({ endpoint }) => ({
  mountPath: 'fleeting/',
  endpoint,
}))

test(`${REQUESTS} generated requests are answered as the table says`, async (context) => {
  const tally = new Tally(testSeed(context), REQUESTS)
  const work = async (): Promise<void> => {
    const sender = new Sender(server.address, EXPECTED)
    let { token } = await newToken({ policies: ['everything'] })
    for (let index = tally.next(); index !== undefined; index = tally.next()) {
      const endpoints = index % 5 === 0 ? FLEETING : CALM
      const otherTokens = [...pool.tokens, 'garbage', 'x'.repeat(600)]
      const request = tally.generate(index, { endpoints, pool, names: NAMES, mounts: MOUNTS, token, otherTokens })
      // A path that was cut short may be the one that seals, limits all or demotes.
      const met = endpointOf(request, EXPECTED.mounts)
      if (met?.changesSeal === true || LIMITS_ALL.includes(met?.id ?? '')) continue
      const { answer, faults } = await sender.send(request)
      tally.take(index, request, answer, faults)
      if (request.target.includes('revoke-self')) token = (await newToken({ policies: ['everything'] })).token
      if (index % CHECK_EVERY === 0) {
        await stillServes()
        pool = await freshPool()
      }
    }
    sender.close()
  }
  try {
    await Promise.all(Array.from({ length: WORKERS }, work))
  } catch (cause) {
    throw new Error([String(cause), ...tally.faults, lastWords(server)].join('\n\n'), { cause })
  }
  if (tally.faults.length > 0) assert.fail([...tally.faults, lastWords(server)].join('\n\n'))
  await stillServes()
  assertQuiet(server)
  const missing = CALM.map(({ endpoint }) => endpoint.id).filter((id) => !tally.succeeded.has(id) && !needsShares(id))
  // What needs a token that wraps, a quota or a device, chance hits seldom; that it hits most shows it tries for real.
  if (REQUESTS >= REQUESTS_FOR_ALL && ONLY === undefined)
    assert.ok(missing.length <= CALM.length / 3, `no request to them succeeded: ${missing.join(', ')}`)
})

/** Chance does not find the shares that these need, and one server has one of the two kinds. */
const needsShares = (id: string): boolean =>
  ['rekey', 'rotate-root', 'rotate-recovery'].some((matter) => id.startsWith(matter)) ||
  ['generate-root-update', 'generate-root-token-update'].includes(id)

const CHANGES_SEAL = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.changesSeal === true)
/** Half of it what opens and closes the server, and never what ends the only token that may. */
const SEALING = [
  ...PLACED_ENDPOINTS.filter(({ endpoint }) => !['token-revoke-self', ...LIMITS_ALL].includes(endpoint.id)),
  ...Array.from({ length: Math.ceil(PLACED_ENDPOINTS.length / CHANGES_SEAL.length) }, () => CHANGES_SEAL).flat(),
]

type Keys = { readonly keys: readonly string[]; readonly root_token: string }

/** Opens the server with its shares, however far others got, and closes it again. */
async function opensAndCloses({ address }: RunningProcess, { keys, root_token: token }: Keys): Promise<void> {
  const at = { address, token }
  if ((await api(at, 'GET', 'sys/seal-status')).body.sealed === true)
    await api(at, 'POST', 'sys/unseal', { reset: true })
  let { body } = await api(at, 'GET', 'sys/seal-status')
  for (const key of keys) {
    if (body.sealed === true) ({ body } = await api(at, 'POST', 'sys/unseal', { key }))
  }
  assert.equal(body.sealed, false)
  assert.equal((await api(at, 'GET', 'auth/token/lookup-self')).status, 200)
  assert.equal((await api(at, 'POST', 'sys/seal')).status, 204)
}

function startClosable(name: string): Promise<RunningProcess> {
  const config = join(directory.path, `${name}.hcl`)
  writeFileSync(
    config,
    `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\n` +
      `storage "sqlite" { path = "${directory.path}/${name}" }\n`,
  )
  return startConfigured(config)
}

/** What the requests of one run were answered with; and what the initialisation gave, where one succeeded. */
async function sendSealing(address: string, tally: Tally): Promise<Keys | undefined> {
  // From several addresses, since attempts are limited by address; what opens the server in the end has another one.
  const senders = Array.from(
    { length: SEALING_ADDRESSES },
    (_, i) => new Sender(address, { mounts: [], mayBeClosed: true }, loopbackAddress(i)),
  )
  const unknown = {
    endpoints: SEALING,
    pool,
    names: NAMES,
    mounts: MOUNTS,
    token: 'none yet',
    otherTokens: ['garbage'],
  }
  let material: Material = unknown
  let made: Keys | undefined
  for (let index = tally.next(); index !== undefined; index = tally.next()) {
    const request = tally.generate(index, material)
    const { answer, faults } = await (senders[index % senders.length] as Sender).send(request)
    tally.take(index, request, answer, faults)
    // A snapshot is no JSON.
    const isJson = answer?.status === 200 && answer.headers.get('content-type') === 'application/json'
    const body = isJson && answer.body !== '' ? JSON.parse(answer.body) : {}
    if (!Array.isArray(body.keys_base64) || body.verification_required === true) continue
    // A rekey gives new shares and no token.
    made = { ...made, ...body } as Keys
    material = { ...unknown, token: made.root_token, pool: { ...pool, shares: [...body.keys, ...body.keys_base64] } }
  }
  for (const sender of senders) sender.close()
  return made
}

const SEALINGS = `${SEALED_SERVERS} times ${SEAL_REQUESTS} generated requests initialise, seal and unseal a server`
test(SEALINGS, async (context) => {
  const seed = testSeed(context)
  for (let round = 0; round < SEALED_SERVERS; round++) {
    const closable = await startClosable(`closable-${round}`)
    try {
      const tally = new Tally(seed + round, SEAL_REQUESTS)
      const made = await sendSealing(closable.address, tally)
      if (tally.faults.length > 0) assert.fail([...tally.faults, lastWords(closable)].join('\n\n'))
      assertQuiet(closable)
      if (ONLY !== undefined) return
      assert(made !== undefined, 'no request initialised the server')
      await opensAndCloses(closable, made)
    } finally {
      await closable.stop()
    }
  }
})
