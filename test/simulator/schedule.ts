// A life of one server, drawn from a seed: it is initialised, unsealed and filled; callers come in bursts; time passes,
// in the end a month of it; it is sealed, killed in the middle of its work, and unsealed again. Everything that it ever
// said or stored is in the trace.
import { createHash } from 'node:crypto'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { type Called, type Headers, wireRequest } from '../fixtures/memory-server.ts'
import { type SimulatedServer, Simulation } from './simulation.ts'

export type Trace = {
  /** In the order in which they came. */
  readonly answers: readonly string[]
  readonly logged: readonly string[]
  /** Lines of the audit log. */
  readonly audit: readonly string[]
  /** Digests of the records of the log, in the order of the commits. */
  readonly records: readonly string[]
  /** Digests of everything stored, and of a snapshot. */
  readonly stored: string
  readonly snapshot: string
}

/** One text for all of it. */
export const digestOf = (trace: Trace): string => sha256(JSON.stringify(trace))

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const AUDIT_LOG = '/var/log/audit.log'
const POLICY = 'path "transit/*" { capabilities = ["create", "read", "update", "list"] }'
const ROUNDS = 12
const DAYS = 30

type Call = {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly token?: string
  readonly headers?: Headers
}
const post = (path: string, body: object = {}): Call => ({ method: 'POST', path, body })
const get = (path: string): Call => ({ method: 'GET', path })

/** Callers, each of whom may ask while others do. None asks for what node draws itself (drawn-by-node.ts). */
const ACTIONS: readonly ((life: Life) => Call)[] = [
  (life) => post(`transit/keys/${life.key()}`, { type: life.draw.pick([...KEY_TYPES.keys()]), exportable: true }),
  (life) => post(`transit/keys/${life.key()}`, { auto_rotate_period: `${1 + life.draw.below(72)}h` }),
  (life) => post(`transit/keys/${life.key()}/rotate`),
  (life) => post(`transit/encrypt/aes`, { plaintext: life.text() }),
  (life) => post(`transit/encrypt/new-${life.draw.below(9)}`, { plaintext: life.text() }),
  (life) => post('transit/decrypt/aes', { ciphertext: life.draw.pick(life.ciphertexts) }),
  (life) => post('transit/rewrap/aes', { ciphertext: life.draw.pick(life.ciphertexts) }),
  (life) => post('transit/sign/ed25519', { input: life.text() }),
  (life) => post('transit/sign/rsa-2048', { input: life.text(), signature_algorithm: 'pkcs1v15' }),
  (life) => post(`transit/hmac/${life.key()}`, { input: life.text() }),
  () => post('transit/datakey/plaintext/aes'),
  () => post('transit/random/20'),
  (life) => get(`transit/keys/${life.key()}`),
  (life) => get(`transit/export/encryption-key/${life.key()}`),
  (life) => post(`transit/keys/${life.key()}/config`, { min_decryption_version: 1 + life.draw.below(2) }),
  (life) => post('local/encrypt/here', { plaintext: life.text() }),
  (life) => post('auth/token/create', { ttl: `${1 + life.draw.below(900)}m`, policies: ['p'] }),
  (life) => ({ ...post('transit/encrypt/aes', { plaintext: life.text() }), token: life.draw.pick(life.tokens) }),
  (life) => ({ ...post('auth/token/renew-self'), token: life.draw.pick(life.tokens) }),
  (life) => ({ ...post('auth/token/revoke-self'), token: life.draw.pick(life.tokens) }),
  (life) => ({ ...post(`auth/userpass/login/u${life.draw.below(3)}`, { password: 'x' }), token: '' }),
  () => ({ ...post('auth/userpass/login/u0', { password: 'wrong' }), token: '' }),
  (life) => post(`auth/userpass/users/u${life.draw.below(3)}`, { password: 'x', token_policies: ['p'] }),
  () => post('auth/approle/role/a/secret-id'),
  (life) => post(`identity/entity/name/e${life.draw.below(5)}`, { metadata: { a: life.text() } }),
  (life) => post('identity/group', { name: `g${life.draw.below(3)}`, policies: ['p'] }),
  (life) => post(`sys/policies/acl/p${life.draw.below(3)}`, { policy: POLICY, ttl: `${1 + life.draw.below(500)}h` }),
  (life) => post(`sys/mounts/m${life.draw.below(3)}`, { type: 'transit', local: life.draw.below(2) === 1 }),
  (life) => ({ method: 'DELETE', path: `sys/mounts/m${life.draw.below(3)}` }),
  (life) => post('sys/remount', { from: `m${life.draw.below(3)}`, to: `m${life.draw.below(3)}` }),
  (life) =>
    post(`sys/quotas/rate-limit/q${life.draw.below(2)}`, { rate: 1 + life.draw.below(1_000), path: 'transit/' }),
  () => post('sys/rotate'),
  () => get('sys/key-status'),
  () => ({ method: 'LIST', path: 'auth/token/accessors' }),
  () => ({ ...post('sys/wrapping/wrap', { a: 'b' }), headers: { wrapTtl: '60' } }),
  (life) => ({ ...post('sys/wrapping/unwrap'), token: life.draw.pick(life.wrapped) }),
  (life) => ({ ...post('auth/approle/login', life.draw.pick(life.secretIds)), token: '' }),
]

class Life {
  readonly simulation: Simulation
  readonly draw
  readonly answers: string[] = []
  readonly ciphertexts = ['vault:v1:AAAA']
  readonly tokens = ['none']
  readonly wrapped = ['none']
  readonly secretIds: object[] = [{ role_id: 'the-role', secret_id: 'none' }]
  readonly #logged: string[] = []
  #server: SimulatedServer
  #token = ''
  #shares: readonly string[] = []

  private constructor(simulation: Simulation, server: SimulatedServer) {
    this.simulation = simulation
    this.draw = simulation.stream('schedule')
    this.#server = server
  }

  static async begin(seed: number): Promise<Life> {
    const simulation = new Simulation(seed)
    return new Life(simulation, await simulation.startServer('server'))
  }

  key(): string {
    return this.draw.pick(['aes', 'ed25519', 'rsa-2048', 'k0', 'k1', 'k2', 'k3'])
  }

  text(): string {
    return this.draw.bytes(this.draw.below(300)).toString('base64')
  }

  /** Asks without waiting for the answer. */
  async #ask({ method, path, body, token = this.#token, headers }: Call): Promise<Called> {
    const answer = await this.#server.call(method, path, body, token, headers)
    this.answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`)
    this.#remember(path, answer.body)
    return answer
  }

  /** Keeps what later calls can name. */
  #remember(path: string, body: Called['body']): void {
    const told = body as {
      readonly auth?: { client_token?: string } | null
      readonly wrap_info?: { token?: string } | null
    }
    const data = body.data ?? {}
    if (path === 'transit/encrypt/aes' && data.ciphertext !== undefined) this.ciphertexts.push(String(data.ciphertext))
    if (data.secret_id !== undefined) this.secretIds.push({ role_id: 'the-role', secret_id: data.secret_id })
    if (typeof told.auth?.client_token === 'string') this.tokens.push(told.auth.client_token)
    if (typeof told.wrap_info?.token === 'string') this.wrapped.push(told.wrap_info.token)
  }

  async call(call: Call): Promise<Called> {
    return this.simulation.time.until(this.#ask(call))
  }

  /** Each of them has to succeed: what follows stands on it. */
  async must(...calls: Call[]): Promise<Called['body']> {
    let body: Called['body'] = {}
    for (const call of calls) {
      const answer = await this.call(call)
      if (answer.status >= 300) throw new Error(`${call.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      body = answer.body
    }
    return body
  }

  async initialise(): Promise<void> {
    const [shares, threshold] = this.draw.pick([
      [1, 1],
      [3, 2],
      [5, 3],
    ])
    const made = await this.must({
      ...post('sys/init', { secret_shares: shares, secret_threshold: threshold }),
      token: '',
    })
    this.#shares = (made.keys as string[]).slice(0, threshold)
    this.#token = String(made.root_token)
    await this.unseal()
  }

  async unseal(): Promise<void> {
    for (const key of this.#shares) await this.must({ ...post('sys/unseal', { key }), token: '' })
  }

  async fill(): Promise<void> {
    await this.must(
      post('sys/audit/log', { type: 'file', options: { file_path: AUDIT_LOG } }),
      post('sys/mounts/transit', { type: 'transit' }),
      post('sys/mounts/local', { type: 'transit', local: true }),
      post('sys/auth/userpass', { type: 'userpass' }),
      post('sys/auth/approle', { type: 'approle' }),
      post('auth/approle/role/a', { token_policies: ['p'] }),
      post('auth/approle/role/a/role-id', { role_id: 'the-role' }),
      post('auth/approle/role/a/secret-id'),
      post('auth/userpass/users/u0', { password: 'x' }),
      post('sys/policies/acl/p', { policy: POLICY }),
      post('sys/rotate/config', { interval: '200h' }),
      post('transit/keys/aes', { auto_rotate_period: '30h', exportable: true }),
      post('transit/keys/ed25519', { type: 'ed25519' }),
      ...[...KEY_TYPES.keys()].map((type) => post(`transit/keys/${type}`, { type })),
    )
    await this.burst(20)
  }

  /** Several ask at once. */
  async burst(most: number): Promise<void> {
    const count = 1 + this.draw.below(most)
    const calls = Array.from({ length: count }, () => this.draw.pick(ACTIONS)(this))
    await this.simulation.time.until(Promise.all(calls.map((call) => this.#ask(call))))
  }

  async round(): Promise<void> {
    await this.burst(6)
    const { time } = this.simulation
    await this.draw.pick([
      async () => {},
      () => time.pass(this.draw.below(90 * SECOND_MS)),
      () => time.leap(this.draw.below(HOUR_MS)),
    ])()
  }

  async sealAndUnseal(): Promise<void> {
    await this.must(post('sys/seal'))
    await this.simulation.time.pass(SECOND_MS)
    await this.unseal()
  }

  /** The power goes while some ask; what they were told by then they were told. */
  async killAndStart(): Promise<void> {
    for (let caller = 0; caller < 6; caller++) void this.#ask(this.draw.pick(ACTIONS)(this))
    await this.simulation.time.steps(this.draw.below(12))
    this.#server.kill()
    this.#logged.push(...this.#server.logged)
    this.#server = await this.simulation.startServer('server', { machine: this.#server.machine })
    await this.unseal()
  }

  async month(): Promise<void> {
    for (let day = 0; day < DAYS; day++) {
      await this.burst(4)
      for (let part = 0; part < 3; part++) await this.simulation.time.leap(DAY_MS / 3)
      await this.simulation.time.pass(5 * SECOND_MS)
    }
  }

  async trace(): Promise<Trace> {
    const { time } = this.simulation
    const snapshot = await time.until(this.#snapshotBytes())
    await time.pass(2 * SECOND_MS)
    const { store, logged, machine } = this.#server
    const stored = await time.until(storedDigest(this.#server))
    const records = await time.until(store.records(0, Number.MAX_SAFE_INTEGER))
    return {
      answers: this.answers,
      logged: [...this.#logged, ...logged],
      audit: machine.files.read(AUDIT_LOG).toString('latin1').split('\n'),
      records: records.map(({ record }) => sha256(record)),
      stored,
      snapshot: sha256(snapshot),
    }
  }

  async #snapshotBytes(): Promise<Buffer> {
    const request = wireRequest('GET', 'sys/storage/snapshot', undefined, this.#token)
    const { stream } = await this.#server.node.core.handle(request)
    const parts: Uint8Array[] = []
    for await (const part of stream ?? []) parts.push(part)
    return Buffer.concat(parts)
  }
}

/** A digest of all that a store holds: its entries, its log, its tree and its place. */
export async function storedDigest({ store }: Pick<SimulatedServer, 'store'>): Promise<string> {
  const snapshot = await store.snapshot()
  const all = await snapshot.stored('', Number.MAX_SAFE_INTEGER)
  await snapshot.close()
  const entries = all.map((entry) => `${entry.class} ${entry.key} ${hex(entry.leaf)} ${hex(entry.value)}`)
  const records = await store.records(0, Number.MAX_SAFE_INTEGER)
  const rest = [await store.roots(), await store.position(), await store.histories()]
  return sha256(JSON.stringify([entries, records.map(({ record }) => hex(record)), rest]))
}

const hex = (bytes: Buffer): string => bytes.toString('hex')

/** Lives the life of that seed. */
export async function runSchedule(seed: number): Promise<Trace> {
  const life = await Life.begin(seed)
  await life.initialise()
  await life.fill()
  for (let round = 0; round < ROUNDS; round++) await life.round()
  await life.sealAndUnseal()
  await life.killAndStart()
  for (let round = 0; round < ROUNDS; round++) await life.round()
  await life.month()
  await life.sealAndUnseal()
  return life.trace()
}

// node schedule.ts SEED: prints the digest of a run in a process of its own.
if (import.meta.main) process.stdout.write(digestOf(await runSchedule(Number(process.argv[2]))))
