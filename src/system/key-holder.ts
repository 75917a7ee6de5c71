// Endpoints that shares alone open need no token, unless the configuration of the listener asks for one.
import { type Endpoint, type EndpointOperation, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import type { Args, Fields } from '../api/fields.ts'
import type { Answer, RequestInfo } from '../api/request.ts'
import type { Shapes } from '../api/shape.ts'
import type { System } from './system.ts'

/** How such an endpoint is declared. */
const KEY_HOLDER = { capability: 'none', body: 'plain', runsOn: 'writer' } as const

type Definition<T, F extends Fields> = {
  readonly id: string
  readonly operation: EndpointOperation
  readonly path: string
  readonly summary: string
  readonly describe?: string
  readonly fields: F
  readonly response?: Shapes
  readonly run: (subject: T, args: Args<F>) => Promise<Answer>
}

/** Declares endpoints that work on `subjectOf` the system, for whoever `what` is open to. */
export function keyHolderEndpoint<T>(what: KeyHolderMatter, subjectOf: (system: System) => T) {
  return <const F extends Fields>({ run, ...definition }: Definition<T, F>): Endpoint =>
    endpoint<System, F>({
      ...definition,
      ...KEY_HOLDER,
      handler: async (system, args, request) => {
        await admitKeyHolder(system, what, definition.path, request)
        return run(subjectOf(system), args)
      },
    })
}

/** What the listener can ask a token for. */
type KeyHolderMatter = 'generateRoot' | 'rekey'

/** @throws Refusal where a token with sudo on the path is asked for and not there */
async function admitKeyHolder(
  system: System,
  what: KeyHolderMatter,
  path: string,
  { caller, operation }: RequestInfo,
): Promise<void> {
  if (system.facts.tokenAskedFor?.[what] !== true) return
  if (caller === undefined) throw fail('permission_denied', [])
  const acl = await system.policies.acl(caller.policies)
  if (!acl.check({ operation, path: `sys/${path}`, parameters: undefined, sudoRequired: true }).allowed)
    throw fail('permission_denied', [])
}
