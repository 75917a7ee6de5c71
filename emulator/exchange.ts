// One request to a service and its answer, as plain data.
import { isJsonObject, JsonError, type JsonObject, parseJson } from '../src/lib/json.ts'

/** As the configuration of a cloud names them; `cluster` issues tokens of pods, `elsewhere` is somebody else's host. */
export const SERVICES = [
  'authority',
  'resourceManager',
  'graph',
  'metadata',
  'cluster',
  'elsewhere',
  'control',
] as const
export type Service = (typeof SERVICES)[number]
export type Scheme = 'http' | 'https'

export type CloudRequest = {
  readonly service: Service
  readonly scheme: Scheme
  /** Where it came in: `https://127.0.0.1:40001`. */
  readonly origin: string
  readonly method: string
  /** As it was sent, undecoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export type CloudAnswer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is bytes already; no body where it is left out. */
  readonly body?: JsonObject | Buffer
}

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

/** The parts of a path, each decoded; undefined where it does not fit. Patterns: `/:tenant/discovery/keys`. */
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

/** What is not well encoded stays as it is, and so is no name that anything has. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Answers one kind of request, given the parts of its path by name. */
export type Route = (request: CloudRequest, parts: Record<string, string>) => CloudAnswer | Promise<CloudAnswer>

/** `GET /:tenant/discovery/keys` and what answers it, in order. */
export type Routes = Readonly<Record<string, Route>>

/** Answers by the first route that fits; `refuse` where none does. */
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

/** The body as an object; undefined for anything else. */
export function jsonBody({ body }: Pick<CloudRequest, 'body'>): JsonObject | undefined {
  try {
    const value = parseJson(body)
    return isJsonObject(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
