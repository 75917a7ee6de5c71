// Clients of a set that changes hands. Each writes policies and keys to the cluster that took its last write, one after
// the other, and turns to the other cluster where that one refuses or is gone. Each attempt has a name of its own, so
// that one that had no answer is never taken for another.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../../fixtures/real-cluster.ts'
import type { ApiAnswer } from '../../fixtures/server-process.ts'

const WRITERS = 4
/** Between two attempts of one writer. */
const PAUSE_MS = 10
const COMPARED_AT_ONCE = 16
const PLAINTEXT = Buffer.from('what was encrypted').toString('base64')

/** A write that a cluster answered. */
export type Acknowledged = {
  readonly kind: 'policy' | 'key'
  readonly name: string
  readonly by: Cluster
  /** When the answer was there, by `performance.now`. */
  readonly atMs: number
  /** Of a key: a ciphertext that it made; undefined where the cluster was gone before that. */
  ciphertext: string | undefined
}

/** All clients of a set of two. */
export class MovingWriters {
  readonly acknowledged: Acknowledged[] = []
  /** Names of writes that had an answer, and did not happen by it. */
  readonly refused: string[] = []
  /** What no client may meet. */
  readonly faults: string[] = []
  readonly #name: string
  readonly #clusters: readonly [Cluster, Cluster]
  /** Where each one writes next, and what took its last write. */
  readonly #at: Cluster[]
  readonly #last: (Cluster | undefined)[] = Array.from({ length: WRITERS }, () => undefined)
  #made = 0

  /** All begin with the first cluster. Names of what they write begin with that of the load. */
  constructor(name: string, clusters: readonly [Cluster, Cluster]) {
    this.#name = name
    this.#clusters = clusters
    this.#at = Array.from({ length: WRITERS }, () => clusters[0])
  }

  /** Writes until the work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let isOver = false
    const load = this.#at.map(async (_, writer) => {
      while (!isOver) {
        await this.#attempt(writer)
        await sleep(PAUSE_MS)
      }
    })
    try {
      return await work()
    } finally {
      isOver = true
      await Promise.all(load)
    }
  }

  /** True if this cluster took the last write of each of them. */
  areAt(cluster: Cluster): boolean {
    return this.#last.every((last) => last === cluster)
  }

  /** What this cluster acknowledged since then. */
  by(cluster: Cluster, sinceMs = 0): readonly Acknowledged[] {
    return this.acknowledged.filter(({ by, atMs }) => by === cluster && atMs >= sinceMs)
  }

  /** Which of these writes the cluster does not have as they were acknowledged. */
  async missingAt(cluster: Cluster, writes: readonly Acknowledged[]): Promise<Acknowledged[]> {
    const missing: Acknowledged[] = []
    const left = writes.values()
    const compare = async (): Promise<void> => {
      for (const each of left) if (!(await isThere(cluster, each))) missing.push(each)
    }
    await Promise.all(Array.from({ length: COMPARED_AT_ONCE }, compare))
    return missing
  }

  /** Names of writes that were refused, and yet the cluster has them. */
  async refusedAndThere(cluster: Cluster): Promise<readonly string[]> {
    const there = new Set<string>()
    for (const path of ['sys/policies/acl', 'transit/keys']) {
      const { body } = await cluster.must('LIST', path)
      for (const name of (body.data?.keys ?? []) as readonly string[]) there.add(name)
    }
    return this.refused.filter((name) => there.has(name))
  }

  async #attempt(writer: number): Promise<void> {
    const cluster = this.#at[writer] as Cluster
    const number = this.#made++
    const kind = number % 2 === 0 ? 'policy' : 'key'
    const name = `${this.#name}-${number}`
    const answer = await answered(cluster, ...requestFor(kind, name))
    if (answer !== undefined && answer.status < 300) {
      const write: Acknowledged = { kind, name, by: cluster, atMs: performance.now(), ciphertext: undefined }
      this.acknowledged.push(write)
      this.#last[writer] = cluster
      if (kind === 'key') write.ciphertext = await this.#encrypted(cluster, name)
      return
    }
    if (answer !== undefined) this.#refuse(cluster, name, answer)
    this.#at[writer] = this.#clusters[this.#clusters[0] === cluster ? 1 : 0]
  }

  async #encrypted(cluster: Cluster, name: string): Promise<string | undefined> {
    const answer = await answered(cluster, 'POST', `transit/encrypt/${name}`, { plaintext: PLAINTEXT })
    if (answer?.status === 200) return String(answer.body.data?.ciphertext)
    if (answer !== undefined && !isMoving(answer)) this.#fault(cluster, `encrypting with ${name}`, answer)
    return undefined
  }

  #refuse(cluster: Cluster, name: string, answer: ApiAnswer): void {
    this.refused.push(name)
    if (!isMoving(answer)) this.#fault(cluster, `writing ${name}`, answer)
  }

  #fault({ name }: Cluster, what: string, { status, body }: ApiAnswer): void {
    this.faults.push(`${what} at ${name}: ${status} ${JSON.stringify(body)}`)
  }
}

/** A cluster that writes nothing now says 503, and one that is a secondary for disaster recovery that it is one. */
const isMoving = ({ status, body }: ApiAnswer): boolean =>
  status === 503 || (status === 400 && JSON.stringify(body).includes('DR secondary'))

const requestFor = (kind: Acknowledged['kind'], name: string): [method: string, path: string, body: object] =>
  kind === 'policy'
    ? ['PUT', `sys/policies/acl/${name}`, { policy: policyOf(name) }]
    : ['POST', `transit/keys/${name}`, {}]

const policyOf = (name: string): string => `path "secret/${name}" { capabilities = ["read"] }`

/** Undefined where the connection ended before an answer, or there was none. */
async function answered(cluster: Cluster, method: string, path: string, body: object): Promise<ApiAnswer | undefined> {
  try {
    return await cluster.call(method, path, body)
  } catch (cause) {
    // What `fetch` throws where the connection is gone; the system's own error is in it.
    if (cause instanceof TypeError && cause.cause !== undefined) return undefined
    throw cause
  }
}

async function isThere(cluster: Cluster, { kind, name, ciphertext }: Acknowledged): Promise<boolean> {
  if (kind === 'policy') {
    const { status, body } = await cluster.call('GET', `sys/policies/acl/${name}`)
    return status === 200 && body.data?.policy === policyOf(name)
  }
  if (ciphertext === undefined) return (await cluster.call('GET', `transit/keys/${name}`)).status === 200
  const { status, body } = await cluster.call('POST', `transit/decrypt/${name}`, { ciphertext })
  return status === 200 && body.data?.plaintext === PLAINTEXT
}
