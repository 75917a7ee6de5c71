// Examples of endpoints, and their form on pages. A test sends the same examples to a server, in their order
// (test/coverage/examples.test.ts).
import type { EndpointOperation } from '../src/api/endpoint.ts'
import { METHODS } from '../src/api/help.ts'
import { formatJson } from './format-json.ts'

/** One call that succeeds; without `answer` its status is 204. */
export type Example = Call & {
  /** Id of the endpoint. */
  readonly id: string
  /** The state that the example presumes, for the reader. */
  readonly about?: string
  /** Calls that make that state. They are sent first, and not shown. */
  readonly before?: readonly (Call & { readonly operation: EndpointOperation })[]
  /** The whole `data` of the answer. */
  readonly answer?: Members
}

/** A request. `path` begins below the mount. */
export type Call = { readonly path: string; readonly body?: Members }

/** A value of a body or an answer. */
export type Value = string | number | Sample | Earlier | boolean | readonly Value[] | Members
/** An object of such values. */
export type Members = { readonly [name: string]: Value }

/** A text that differs in each run, such as a ciphertext. */
export class Sample {
  /** The part that is the same in every run. */
  readonly start: string
  /** The rest, as it was in one run; `…` at its end stands for more. */
  readonly rest: string

  constructor(start: string, rest: string) {
    this.start = start
    this.rest = rest
  }

  get shown(): string {
    return this.start + this.rest
  }

  /** True if `text` could stand in its place. */
  fits(text: unknown): boolean {
    if (typeof text !== 'string' || !text.startsWith(this.start)) return false
    return this.rest.endsWith('…') ? text.length > this.shown.length : text.length === this.shown.length
  }
}

/** A value that comes from the answer to an earlier example. */
export class Earlier {
  /** Id of the endpoint. */
  readonly id: string
  /** Names of members, from the outermost. */
  readonly steps: readonly string[]

  constructor(id: string, steps: readonly string[]) {
    this.id = id
    this.steps = steps
  }

  /** Returns the member of `answer`. @throws Error if there is none */
  takeFrom(answer: unknown): unknown {
    let at = answer
    for (const step of this.steps) at = (at as Record<string, unknown> | undefined)?.[step]
    if (at === undefined) throw new Error(`the example of ${this.id} is not answered ${this.steps.join('.')}`)
    return at
  }
}

/** Returns the example of an endpoint as Markdown, for its section. @throws Error if there is none */
export function exampleText(
  examples: readonly Example[],
  { id, operation }: { readonly id: string; readonly operation: EndpointOperation },
  mountPath: string,
): string[] {
  const example = examples.find((each) => each.id === id)
  if (example === undefined) throw new Error(`${id} has no example`)
  const { about, path, body, answer } = example
  const request = `${METHODS[operation]} /v1/${mountPath}${path}`
  const asked = body === undefined ? `${request}\n` : `${request}\n\n${shownJson(examples, body)}`
  return [
    about === undefined ? 'Example:' : `Example, ${about}:`,
    fence('http', asked),
    ...(answer === undefined
      ? ['The answer is 204.']
      : ['The answer is 200, with this `data`:', fence('json', shownJson(examples, answer))]),
  ]
}

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\`\`\``

const shownJson = (examples: readonly Example[], value: Value): string => formatJson(shown(examples, value))

function shown(examples: readonly Example[], value: Value): unknown {
  if (value instanceof Sample) return value.shown
  if (value instanceof Earlier) {
    const from = examples.find(({ id }) => id === value.id)
    return shown(examples, value.takeFrom(from?.answer) as Value)
  }
  return mapped(value, (inner) => shown(examples, inner))
}

/** Returns a value with `each` applied to its members or items. */
export function mapped(value: Exclude<Value, Sample | Earlier>, each: (inner: Value) => unknown): unknown {
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(each)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]))
}
