// One request to a service and its answer, as plain data, and the routing from one to the other.
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../src/lib/json.ts'

/**
 * Names of the services; the first ones are keys of the stanza `cloud`. `cluster` issues tokens of pods; `elsewhere` is
 * a host of another party, to which no request may be led.
 */
export const SERVICES = [
  'authority',
  'resourceManager',
  'graph',
  'metadata',
  'cluster',
  'elsewhere',
  'control',
] as const
/** A service. */
export type Service = (typeof SERVICES)[number]
/** Services are served over both, but for those that only listen in clear. */
export type Scheme = 'http' | 'https'

/** A request as it came in. */
export type CloudRequest = {
  readonly service: Service
  readonly scheme: Scheme
  /** The address it came in at: `https://127.0.0.1:40001`. */
  readonly origin: string
  readonly method: string
  /** The path as it was sent, undecoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** An answer; faults may change it before it is sent. */
export type CloudAnswer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is bytes already; no body if it is left out. */
  readonly body?: JsonObject | Buffer
}

/** Answers the requests of one service. It may throw a Refusal. */
export type Handler = (request: CloudRequest) => CloudAnswer | Promise<CloudAnswer>

/** A refusal that a handler throws. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly answer: CloudAnswer

  constructor(answer: CloudAnswer) {
    super(JSON.stringify(answer.body))
    this.answer = answer
  }
}

/** Matches a path against a pattern such as `/:tenant/discovery/keys`. Returns its parts, decoded, if it fits. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const parts: Record<string, string> = {}
  for (const [index, name] of wanted.entries()) {
    const part = given[index] ?? ''
    if (name.startsWith(':')) parts[name.slice(1)] = decodePart(part)
    else if (name.toLowerCase() !== part.toLowerCase()) return undefined
  }
  return parts
}

/** Decodes a part of a path. A malformed one stays as it is: nothing has such a name, so it is not found. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Answers one kind of request, given the parts of its path by name. */
export type Route = (request: CloudRequest, parts: Record<string, string>) => CloudAnswer | Promise<CloudAnswer>

/** Handlers by method and pattern, `GET /:tenant/discovery/keys`. The first that fits answers. */
export type Routes = Readonly<Record<string, Route>>

/** Makes a handler of routes; `refuse` answers if none fits. */
export function route(routes: Routes, refuse: Handler): Handler {
  const rows = Object.entries(routes).map(([name, answer]) => {
    const [method = '', pattern = ''] = name.split(' ')
    return { method, pattern, answer }
  })
  return (request) => {
    for (const { method, pattern, answer } of rows) {
      if (method !== request.method) continue
      const parts = matchPath(pattern, request.path)
      if (parts !== undefined) return answer(request, parts)
    }
    return refuse(request)
  }
}

/** Returns the body if it is a JSON object; undefined if not. */
export function jsonBody({ body }: Pick<CloudRequest, 'body'>): JsonObject | undefined {
  try {
    const value = parseJson(body)
    return isJsonObject(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
