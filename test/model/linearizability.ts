// Whether what several callers were told of one object can be explained by some order of their calls that agrees with
// real time: a call takes effect at one moment between question and answer (Herlihy and Wing, "Linearizability", 1990),
// or in steps of one moment each where it is known to: a request is let in first, and does its work then.
// The search goes along with the calls and takes an order only when an answer asks for it (Lowe, "Testing for
// linearizability", 2017), so histories may be as long as they like while few calls overlap.

/** In place of an answer: the call goes on with its next step, and others may come in between. */
export const NEXT = 0

/** What the call does to the object when it takes effect, and what it then answers; undefined: anything may be. */
export type Step<S> = (state: S) => readonly [S, string | undefined | typeof NEXT]

type Pending<S> = { readonly name: string; readonly steps: readonly Step<S>[] }

/** How many steps of a call took effect, and what it answers; NEXT while others are to come. */
type Progress = { readonly steps: number; readonly answer: string | undefined | typeof NEXT }

/** A state the object may be in, with the calls that began to take effect and have not returned. */
type Configuration<S> = { readonly state: S; readonly calls: ReadonlyMap<number, Progress> }

/** Calls that a fault is reported with. */
const KEPT_CALLS = 30

/** `S` is plain data that is never changed; two states are the same where their JSON is. */
export class History<S> {
  readonly #name: string
  #configurations: readonly Configuration<S>[]
  readonly #pending = new Map<number, Pending<S>>()
  #lastId = 0
  #recent: string[] = []

  constructor(name: string, initial: S) {
    this.#name = name
    this.#configurations = [{ state: initial, calls: new Map() }]
  }

  /** A call is about to be sent; its id for `returned`. */
  called(name: string, ...steps: readonly Step<S>[]): number {
    const id = ++this.#lastId
    this.#pending.set(id, { name, steps })
    this.#note(`${id} ${name} …`)
    return id
  }

  /** Its answer has arrived. A sentence where no order of the calls explains all answers so far. */
  returned(id: number, answer: string): string | undefined {
    this.#note(`${id} … ${this.#pending.get(id)?.name}: ${answer}`)
    const before = this.#configurations
    this.#configurations = distinct(this.#reachable().flatMap((one) => settled(one, id, answer)))
    this.#pending.delete(id)
    if (this.#configurations.length > 0) return undefined
    const states = before.map(({ state }) => JSON.stringify(state)).join(' or ')
    return `${this.#name}: no order explains call ${id}; it was ${states}\n  ${this.#recent.join('\n  ')}`
  }

  /** Every configuration that some of the pending calls, in any order, lead to. */
  #reachable(): Configuration<S>[] {
    const found = new Map(this.#configurations.map((one) => [keyOf(one), one]))
    for (const { state, calls } of found.values()) {
      for (const [id, { steps }] of this.#pending) {
        const { steps: done, answer: soFar } = calls.get(id) ?? NOT_BEGUN
        const step = steps[done]
        if (soFar !== NEXT || step === undefined) continue
        const [next, answer] = step(state)
        const configuration = { state: next, calls: new Map(calls).set(id, { steps: done + 1, answer }) }
        const key = keyOf(configuration)
        if (!found.has(key)) found.set(key, configuration)
      }
    }
    return [...found.values()]
  }

  #note(line: string): void {
    this.#recent.push(line)
    if (this.#recent.length > KEPT_CALLS) this.#recent = this.#recent.slice(-KEPT_CALLS)
  }
}

const NOT_BEGUN: Progress = { steps: 0, answer: NEXT }

/** The configuration without the call, where the call took effect in it and gave this answer. */
function settled<S>({ state, calls }: Configuration<S>, id: number, answer: string): Configuration<S>[] {
  const expected = (calls.get(id) ?? NOT_BEGUN).answer
  if (expected === NEXT || (expected !== undefined && expected !== answer)) return []
  const others = new Map(calls)
  others.delete(id)
  return [{ state, calls: others }]
}

function distinct<S>(configurations: readonly Configuration<S>[]): Configuration<S>[] {
  return [...new Map(configurations.map((one) => [keyOf(one), one])).values()]
}

function keyOf<S>({ state, calls }: Configuration<S>): string {
  const sorted = [...calls].sort(([a], [b]) => a - b)
  return `${JSON.stringify(state)} ${JSON.stringify(sorted)}`
}
