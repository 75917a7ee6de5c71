// What holders of shares call. Each matter has two places: an open one, for which shares are the permission unless the
// configuration of the listener asks for a token too, and its authenticated twin, which needs a token with sudo and
// answers in an envelope. Both are made from one definition.
import { type Endpoint, type EndpointOperation, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import type { Args, Fields } from '../../api/fields.ts'
import type { Answer, RequestInfo } from '../../api/request.ts'
import type { Shapes } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** What they take of the system. */
export type SystemWithHolders = Pick<Whole, 'attempts' | 'policies' | 'rightsOf' | 'seal'>

/** Where the endpoints of a matter are, and what their ids begin with. */
export type EndpointGroup = { readonly id: string; readonly path: string }

export type Matter<T> = {
  /** What the listener can ask a token for at the open place. */
  readonly asks: KeyHolderMatter
  readonly open: EndpointGroup
  readonly authenticated: EndpointGroup
  readonly subjectOf: (system: SystemWithHolders) => T
}

type Definition<T, F extends Fields> = {
  /** Behind the id of the place; empty for the one that has no other name. */
  readonly name: string
  readonly operation: Exclude<EndpointOperation, 'list'>
  /** Behind the path of the place. */
  readonly path: string
  readonly summary: string
  readonly describe?: string
  readonly neverWrapped?: true
  readonly fields: F
  readonly response?: Shapes
  readonly run: (subject: T, args: Args<F>) => Promise<Answer>
}

/** Declares an endpoint at both places of a matter. */
export function keyHolderEndpoints<T>({ asks, open, authenticated, subjectOf }: Matter<T>) {
  return <const F extends Fields>({
    name,
    path,
    run,
    ...definition
  }: Definition<T, F>): readonly Endpoint<SystemWithHolders>[] => {
    const at = (place: EndpointGroup) => ({
      ...definition,
      id: name === '' ? place.id : `${place.id}-${name}`,
      path: `${place.path}/${path}`,
      runsOn: 'writer' as const,
    })
    return [
      endpoint<SystemWithHolders, F>({
        ...at(open),
        capability: 'none',
        body: 'plain',
        handler: async (system, args, request) => {
          const work = () => run(subjectOf(system), args)
          if (await admitKeyHolder(system, asks, at(open).path, request)) return work()
          if (definition.operation === 'read') return work()
          const act = 'key' in definition.fields ? 'share' : 'change'
          const attempt = { matter: open.path, act, address: request.remoteAddress } as const
          return system.attempts.run(attempt, work, isComplete)
        },
      }),
      endpoint<SystemWithHolders, F>({
        ...at(authenticated),
        capability: definition.operation,
        sudo: true,
        handler: (system, args) => run(subjectOf(system), args),
      }),
    ]
  }
}

/** Of the answer to a share: it was the last one of the attempt. */
const isComplete = ({ data }: Answer): boolean => data !== undefined && 'complete' in data && data.complete === true

/** What the listener can ask a token for. */
type KeyHolderMatter = 'generateRoot' | 'rekey'

/**
 * True for one who holds the token that is asked for: its calls are not limited. False where none is asked for.
 * @throws Refusal where a token with sudo on the path is asked for and not there
 */
async function admitKeyHolder(
  system: SystemWithHolders,
  what: KeyHolderMatter,
  path: string,
  { caller, operation, listener }: RequestInfo,
): Promise<boolean> {
  if (listener?.tokenAskedFor[what] !== true) return false
  if (caller === undefined) throw fail('permission_denied', [])
  const { policies, subject } = await system.rightsOf(caller.entry)
  const acl = await system.policies.acl(policies, subject)
  if (!acl.check({ operation, path: `sys/${path}`, parameters: undefined, sudoRequired: true }).allowed)
    throw fail('permission_denied', [])
  return true
}
