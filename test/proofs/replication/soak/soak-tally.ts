// What clients of a soak were told: how often, in which words, and what no client may meet.
import type { Cluster } from '../../../fixtures/real-cluster.ts'
import type { ApiAnswer } from '../../../fixtures/server-process.ts'

/** A request that has no answer by then is a fault: the server itself gives up before (`max_request_duration`). */
const LONGEST_ANSWER_MS = 150_000
const MOST_FAULTS_TOLD = 20
const LINES_TOLD = 5

/**
 * `done`: the answer of success, or that there is no such thing. `refused`: nothing was done. `open`: nobody knows
 * whether it was.
 */
export type Outcome = 'done' | 'refused' | 'open' | 'fault'
export type Asked = { readonly outcome: Outcome; readonly answer?: ApiAnswer }
export type Request = {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly token?: string
}

/** Sentences of docs/errors.md with 503 that a cluster may say while something is wrong with its set. */
const ALLOWED: readonly RegExp[] = [
  /^Vault is sealed$/,
  /^This (?:cluster|node) /,
  /^The primary\b.* cannot be reached: nothing was written$/,
  /^The primary\b.* is one no more, or is about to be none: the request was not carried out, or not to its end$/,
  /^The primary\b.* has as much to do for this cluster as it takes at once: nothing was written$/,
  /^The primary\b.* gave no answer in time: whether the request was carried out is not known$/,
  /^The request took too long; whether it was carried out is not known$/,
  /^The write lost against others too often, try again$/,
  /^this cluster (?:has used up the messages|may grant itself no more messages) /,
]
const OPEN = /is not known$/
const DR_SECONDARY = 'DR secondary'

/** Of all clients of a run. */
export class SoakTally {
  acknowledged = 0
  refused = 0
  open = 0
  answers = 0
  readonly faults: string[] = []
  /** How often each sentence was an answer of 503. */
  readonly sentences = new Map<string, number>()
  #calm: object | undefined

  /** All is well from now on, or not any more. While it is, every request is answered as it should be. */
  set isCalm(isCalm: boolean) {
    this.#calm = isCalm ? {} : undefined
  }

  fault(text: string): void {
    this.faults.push(text)
    if (this.faults.length <= MOST_FAULTS_TOLD) console.error(`FAULT ${text}`)
  }

  async ask(cluster: Cluster, request: Request): Promise<Asked> {
    const calm = this.#calm
    const asked = await this.#asked(cluster, request)
    const isUnderWay = asked.outcome === 'refused' || asked.outcome === 'open'
    if (calm !== undefined && calm === this.#calm && isUnderWay && !isSecondary(asked.answer))
      this.#faulty(cluster, `${request.method} ${request.path}, while all is well`, asked.answer)
    return asked
  }

  async #asked(cluster: Cluster, request: Request): Promise<Asked> {
    let answer: ApiAnswer
    try {
      answer = await answerOf(cluster, request)
    } catch (cause) {
      if (cause instanceof DOMException) return this.#faulty(cluster, `${request.path}: no answer at all`)
      // What `fetch` throws where the connection is gone; the system's own error is in it.
      if (!(cause instanceof TypeError && cause.cause !== undefined)) throw cause
      // Nobody listened, so nobody heard it.
      return { outcome: (cause.cause as { code?: string }).code === 'ECONNREFUSED' ? 'refused' : 'open' }
    }
    this.answers += 1
    const { status } = answer
    if (status < 300 || status === 404 || status === 403) return { outcome: 'done', answer }
    if (isSecondary(answer)) return { outcome: 'refused', answer }
    if (status !== 503) return this.#faulty(cluster, `${request.method} ${request.path}`, answer)
    return this.#refusal(cluster, request, answer)
  }

  #refusal(cluster: Cluster, { method, path }: Request, answer: ApiAnswer): Asked {
    const sentence = sentenceOf(answer)
    const shown = sentence.replace(/https?:\/\/[\w.:]+/g, '…')
    this.sentences.set(shown, (this.sentences.get(shown) ?? 0) + 1)
    if (!ALLOWED.some((each) => each.test(sentence))) return this.#faulty(cluster, `${method} ${path}`, answer)
    return { outcome: OPEN.test(sentence) ? 'open' : 'refused', answer }
  }

  #faulty(cluster: Cluster, what: string, answer?: ApiAnswer): Asked {
    const told = answer === undefined ? '' : `: ${answer.status} ${JSON.stringify(answer.body)}`
    const said = answer?.status === 500 ? `, which said: ${lastSaid(cluster)}` : ''
    this.fault(`${cluster.name}: ${what}${told}${said}`)
    return { outcome: 'fault', ...(answer === undefined ? {} : { answer }) }
  }
}

/** What no client is told: the cause of an internal error is in the log alone. */
const lastSaid = (cluster: Cluster): string => cluster.output().trimEnd().split('\n').slice(-LINES_TOLD).join('\n')

const sentenceOf = ({ body }: ApiAnswer): string => String((body.errors as readonly string[] | undefined)?.[0])

const isSecondary = (answer: ApiAnswer | undefined): boolean =>
  answer?.status === 400 && sentenceOf(answer).includes(DR_SECONDARY)

async function answerOf(cluster: Cluster, { method, path, body, token = cluster.token }: Request): Promise<ApiAnswer> {
  const response = await fetch(`${cluster.address}/v1/${path}`, {
    method,
    headers: token === '' ? {} : { 'X-Vault-Token': token },
    signal: AbortSignal.timeout(LONGEST_ANSWER_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}
