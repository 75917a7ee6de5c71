// A full disk under a running server (threats P-03): writes are refused and leave nothing, reads go on, and so do
// writes when there is space again. Its log is on the same disk (N-21).
import { strict as assert } from 'node:assert'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess } from '../../fixtures/server-process.ts'
import { cannotMount, smallDisk } from '../../fixtures/small-disk.ts'
import { faultsOf } from '../../fixtures/store-faults.ts'
import { ABSENT, keyValue, Ledger, REVOKED, type Register, VALID, versionOf } from '../torture/ledger.ts'

/** More than the journal may grow to and the data beside it, 16 in all: a disk that is full of these stays so. */
const DISK_MEBIBYTES = 40
const WRITERS = 4
const WRITES_WITH_SPACE = 100
const REFUSALS = 200
const STORAGE_FULL = 507
const LIMIT_MS = 180_000

test('P-03 F-04 N-21: a full disk refuses writes whole, reads go on, and writes when there is space', {
  skip: cannotMount(),
}, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const disk = smallDisk(DISK_MEBIBYTES)
  context.after(() => disk.unmount())
  const directory = join(disk.path, 'data')
  const start = () => {
    const log = openSync(join(disk.path, 'log'), 'a', 0o600)
    return startServerProcess({ directory, args: ['-threads=2'], stderr: log }).finally(() => closeSync(log))
  }
  const ledger = new Ledger()
  let server = await start()
  context.after(() => server.kill())
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/read')
  ledger.add('key', 'read', keyValue(1, false))
  const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(`w${i}`, ledger, random))

  await runAll(writers, server, ({ done }) => done >= WRITES_WITH_SPACE)
  assert.equal(refusedBy(writers), 0)

  for (let round = 0; round < 2; round++) {
    const before = refusedBy(writers)
    const deadline = Date.now() + LIMIT_MS
    const isEnough = () => refusedBy(writers) - before >= REFUSALS || Date.now() > deadline
    await Promise.all([
      runAll(writers, server, isEnough),
      keepFull(disk.fill, isEnough),
      read(server, isEnough),
      spendTokens(server, isEnough),
    ])
    assert.ok(refusedBy(writers) - before >= REFUSALS, 'the disk did not stay full')
    await ledger.compare(server, random, true)
    disk.release()
    const refused = refusedBy(writers)
    for (const writer of writers) writer.done = 0
    await runAll(writers, server, ({ done }) => done >= WRITES_WITH_SPACE || refusedBy(writers) > refused)
    assert.equal(refusedBy(writers), refused, 'there is space, and a write was refused')
    await ledger.compare(server, random, true)
  }

  await server.kill()
  assert.deepEqual(faultsOf(directory), [])
  server = await start()
  await ledger.compare(server, random, true)
  assert.deepEqual(ledger.faults.slice(0, 10), [])
  context.diagnostic(`${ledger.acknowledged} writes were acknowledged, ${refusedBy(writers)} refused`)
  assert.equal(await server.stop(), 0)
})

const refusedBy = (writers: readonly Writer[]): number => writers.reduce((sum, { refused }) => sum + refused, 0)

async function runAll(
  writers: readonly Writer[],
  server: ServerProcess,
  isDone: (writer: Writer) => boolean,
): Promise<void> {
  await Promise.all(
    writers.map(async (writer) => {
      while (!isDone(writer)) await writer.step(server)
    }),
  )
}

/** What the server gives back meanwhile is taken again. */
async function keepFull(fill: () => void, isDone: () => boolean): Promise<void> {
  for (; !isDone(); await sleep(2)) fill()
}

async function read(server: ServerProcess, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const answers = await Promise.all([
      api(server, 'POST', 'transit/encrypt/read', { plaintext: 'YQ==' }),
      api(server, 'GET', 'transit/keys/read'),
      api(server, 'GET', 'auth/token/lookup-self'),
      api(server, 'LIST', 'sys/policies/acl'),
      api(server, 'GET', 'sys/health'),
    ])
    for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body))
  }
}

/** A token whose last use was stored, and that cannot be removed, is a line in the log: on a disk that has no space. */
async function spendTokens(server: ServerProcess, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const made = await api(server, 'POST', 'auth/token/create', { num_uses: 2 })
    if (made.status !== 200) continue
    const { client_token: token } = made.body.auth as { readonly client_token: string }
    for (let uses = 0; uses < 2; uses++) {
      const { status } = await api(server, 'GET', 'auth/token/lookup-self', undefined, token)
      assert.ok([200, 403, STORAGE_FULL].includes(status), `status ${status}`)
    }
  }
}

/** Writes one commit after the other; what is refused must not have happened. */
class Writer {
  readonly #name: string
  readonly #ledger: Ledger
  readonly #random: PseudoRandom
  readonly #own: Register[] = []
  done = 0
  refused = 0

  constructor(name: string, ledger: Ledger, random: PseudoRandom) {
    this.#name = name
    this.#ledger = ledger
    this.#random = random
  }

  async step(server: ServerProcess): Promise<void> {
    const known = this.#own.filter(({ known }) => known !== ABSENT && known !== REVOKED)
    const register = known.length === 0 ? undefined : this.#random.pick(known)
    const name = `${this.#name}-${this.#own.length}`
    const chosen = this.#random.int(4)
    if (chosen === 0 && known.length < 20) return this.#write(server, this.#add('key', name), keyValue(1, false), name)
    if (chosen === 1 && known.length < 20) return this.#createToken(server)
    if (register?.kind === 'token') return this.#write(server, register, REVOKED, register.name)
    if (register?.kind === 'key') {
      return this.#write(server, register, keyValue(versionOf(register) + 1, false), `${register.name}/rotate`)
    }
    // Large enough that space runs out soon.
    const path = `${this.#random.int(2 ** 31)}/${'x'.repeat(this.#random.int(8_000))}`
    const policy = `path "${path}" { capabilities = ["read"] }`
    await this.#write(server, register ?? this.#add('policy', name), policy, register?.name ?? name)
  }

  #add(kind: Register['kind'], name: string): Register {
    const register = this.#ledger.add(kind, name, ABSENT)
    this.#own.push(register)
    return register
  }

  async #write(server: ServerProcess, register: Register, value: string, name: string): Promise<void> {
    const { status, body } = await request(server, register, value, name)
    if (status === STORAGE_FULL) this.refused++
    else if (status >= 300) this.#ledger.fault(`${register.kind} ${name}: ${status} ${JSON.stringify(body)}`)
    else {
      this.done++
      this.#ledger.begin(register, value)
      this.#ledger.acknowledge([register])
    }
  }

  async #createToken(server: ServerProcess): Promise<void> {
    const { status, body } = await api(server, 'POST', 'auth/token/create', { policies: ['root'] })
    if (status === STORAGE_FULL) this.refused++
    else if (status !== 200) this.#ledger.fault(`creating a token gave ${status} ${JSON.stringify(body)}`)
    else {
      this.done++
      const { client_token: token } = body.auth as { readonly client_token: string }
      const register = this.#add('token', token)
      this.#ledger.begin(register, VALID)
      this.#ledger.acknowledge([register])
    }
  }
}

function request(server: ServerProcess, { kind }: Register, value: string, name: string) {
  if (kind === 'key') return api(server, 'POST', `transit/keys/${name}`)
  if (kind === 'policy') return api(server, 'POST', `sys/policies/acl/${name}`, { policy: value })
  return api(server, 'POST', 'auth/token/revoke', { token: name })
}
