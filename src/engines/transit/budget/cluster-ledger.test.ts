// S6, D4: however many clusters seal with a key version, and whichever of them is the primary, the sum has its bound.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Killed, SMALL_LIMITS, TestCluster } from '../../../../test/fixtures/cluster-set.ts'
import { base64 } from '../../../../test/fixtures/mounted-transit.ts'
import { type PseudoRandom, pseudoRandom } from '../../../../test/fixtures/pseudo-random.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { MessageBudget } from './message-budget.ts'

/** How many sets of clusters are played; `npm run torture:counts` plays more. */
const SETS = Number(process.env.SETS ?? '12')
const STEPS = 400

const plaintext = base64('the quick brown fox')
const batch = (count: number) => ({ batch_input: Array.from({ length: count }, () => ({ plaintext })) })

/** Counts what is really sealed of each version, on all clusters: a message counts as soon as it may be sealed. */
function countSealed(t: TestContext): ReadonlyMap<string, number> {
  const sealed = new Map<string, number>()
  const { take, spend } = MessageBudget.prototype
  const add = (identity: string, messages: number) => sealed.set(identity, (sealed.get(identity) ?? 0) + messages)
  t.mock.method(MessageBudget.prototype, 'take', function (this: MessageBudget, isAskedFor: boolean) {
    take.call(this, isAskedFor)
    add(this.pool.identity, 1)
  })
  t.mock.method(MessageBudget.prototype, 'spend', function (this: MessageBudget, messages: number) {
    spend.call(this, messages)
    add(this.pool.identity, messages)
  })
  return sealed
}

/** A set of a primary, two clusters that follow it, and one that may take its place; and what happens to them. */
class Clusters {
  readonly #random: PseudoRandom
  readonly #sealed: ReadonlyMap<string, number>
  #primary = new TestCluster('primary')
  /** A former primary that does not know of it yet: it goes on as before. */
  #former: TestCluster | undefined
  #secondaries = [new TestCluster('one'), new TestCluster('two')]
  #heir: TestCluster | undefined = new TestCluster('heir')

  constructor(random: PseudoRandom, sealed: ReadonlyMap<string, number>) {
    this.#random = random
    this.#sealed = sealed
  }

  async begin(): Promise<void> {
    for (const name of ['a', 'b']) await this.#primary.client.write(`keys/${name}`)
    await this.#primary.transit.budgets.begin()
    for (const one of this.#secondaries) one.follow(this.#primary, 'performance')
    this.#heir?.follow(this.#primary, 'dr')
  }

  get #followers(): TestCluster[] {
    return [...this.#secondaries, ...(this.#heir === undefined ? [] : [this.#heir])]
  }

  async step(): Promise<void> {
    const random = this.#random
    const cluster = random.pick([this.#primary, ...this.#secondaries, this.#former ?? this.#primary])
    const choice = random.int(100)
    if (choice < 70) await this.#seal(cluster)
    else if (choice < 84) random.pick(this.#followers).deliver(random.chance(0.5) ? 1 + random.int(4) : undefined)
    else if (choice < 88) random.pick(this.#followers).isLinked = random.chance(0.7)
    else if (choice < 91) cluster.restart()
    else if (choice < 94) cluster.endThread()
    else if (choice < 97) cluster.killAt = random.pick(['before', 'behind'])
    else if (choice < 98)
      await this.#primary.client.write(`keys/${random.pick(['a', 'b'])}/rotate`).catch(restarting(this.#primary))
    else if (choice < 99) await this.#failOver()
    else this.#comeBack()
    await this.#check()
  }

  async #seal(cluster: TestCluster): Promise<void> {
    const random = this.#random
    const client = random.chance(0.7) ? cluster.servingClient : cluster.client
    const name = random.chance(0.8) ? 'a' : 'b'
    const version = random.chance(0.7) ? { key_version: 1 } : {}
    const { batch_input } = batch(1 + random.int(90))
    const items = batch_input.map((item) => ({ ...item, ...version }))
    const body = random.chance(0.2) ? { plaintext, ...version } : { batch_input: items }
    const reply = await client.write(`encrypt/${name}`, body).catch(restarting(cluster))
    if (reply !== undefined && reply.status !== 200)
      assert.match(reply.errors[0] ?? '', /2\^32 messages|decryption goes on|encryption key not found|cannot/)
  }

  /** The primary is cut off, and another cluster takes its place. */
  async #failOver(): Promise<void> {
    if (this.#former !== undefined) return
    const next = this.#random.pick(this.#followers)
    this.#former = this.#primary
    await next.promote()
    this.#primary = next
    if (this.#heir === next) this.#heir = undefined
    this.#secondaries = this.#secondaries.filter((one) => one !== next)
    for (const one of this.#followers) {
      one.isLinked = true
      one.follow(next, one === this.#heir ? 'dr' : 'performance')
    }
  }

  /** The former primary follows the new one. */
  #comeBack(): void {
    if (this.#former === undefined) return
    const isHeir = this.#heir === undefined && this.#random.chance(0.5)
    this.#former.killAt = undefined
    this.#former.followers.clear()
    this.#former.follow(this.#primary, isHeir ? 'dr' : 'performance')
    if (isHeir) this.#heir = this.#former
    else this.#secondaries.push(this.#former)
    this.#former = undefined
  }

  async #check(): Promise<void> {
    for (const [identity, messages] of this.#sealed)
      assert.ok(messages <= SMALL_LIMITS.most, `${messages} messages under ${identity}`)
    for (const name of ['a', 'b']) {
      const ring = await this.#primary.transit.keys.find(name)
      const shown = (await this.#primary.client.read(`keys/${name}`)).data.encryption_counts
      for (const { number, identity } of ring?.versions ?? [])
        assert.ok(shown[number] >= (this.#sealed.get(identity) ?? 0), `${name} ${number} is counted too low`)
    }
  }
}

const restarting =
  (cluster: TestCluster) =>
  (cause: unknown): undefined => {
    if (!(cause instanceof Killed)) throw cause
    cluster.restart()
  }

test(`S6 D4 in ${SETS} sets no version is sealed with too often, through failovers and kills`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const sealed = countSealed(t)
  for (let set = 0; set < SETS; set += 1) {
    const clusters = new Clusters(random, sealed)
    await clusters.begin()
    for (let step = 0; step < STEPS; step += 1) await clusters.step()
  }
  const most = Math.max(...sealed.values())
  t.diagnostic(`at most ${most} of ${SMALL_LIMITS.most}`)
  assert.ok(most > SMALL_LIMITS.most / 2, 'no version came near its limit')
})
