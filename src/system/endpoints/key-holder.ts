// Endpoints for holders of shares. Each operation has two paths. At the open one shares are the permission, unless the
// listener's configuration requires a token too. Its authenticated twin needs a token with sudo, and answers in an
// envelope. Both are made from one definition, so that they cannot drift apart.
import { type Endpoint, type EndpointOperation, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import type { Args, Fields } from '../../api/fields.ts'
import type { DataOwner } from '../../api/node-role.ts'
import type { Answer, RequestInfo } from '../../api/request.ts'
import type { Shapes } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
export type SystemWithHolders = Pick<Whole, 'attempts' | 'policies' | 'rightsOf' | 'seal'>

/** Where a group of endpoints lies: the first part of its paths, and of its ids. */
export type EndpointGroup = { readonly id: string; readonly path: string }

/** An operation for holders of shares; `T` is the attempt or rekey that its endpoints work on. */
export type ShareOperation<T> = {
  /** The listener's setting by which the open paths require a token too. */
  readonly tokenSetting: TokenSetting
  readonly open: EndpointGroup
  readonly authenticated: EndpointGroup
  /** Finds the attempt; called at each request, because only the writing thread has one. */
  readonly subjectOf: (system: SystemWithHolders) => T
}

/** What differs between endpoints of one operation; the rest follows from the path. */
type Definition<T, F extends Fields> = {
  /** Last part of the id; empty for the endpoint that bears the id of the group alone. */
  readonly name: string
  readonly operation: Exclude<EndpointOperation, 'list'>
  /** Last part of the path. */
  readonly path: string
  readonly summary: string
  readonly describe?: string
  readonly neverWrapped?: true
  /** Whose data it writes; 'node' if it changes only the attempt, which is in memory. */
  readonly writes: DataOwner
  readonly onlyOnPrimary?: true
  readonly whileCopied?: true
  readonly fields: F
  readonly response?: Shapes
  /** Carries the request out, at both paths alike. */
  readonly run: (subject: T, args: Args<F>) => Promise<Answer>
}

/**
 * Returns a function that declares an endpoint at both paths of an operation. An open endpoint without a token is
 * limited by address (attempt-limits.ts); reads are not, since they change nothing.
 */
export function keyHolderEndpoints<T>({ tokenSetting, open, authenticated, subjectOf }: ShareOperation<T>) {
  return <const F extends Fields>({
    name,
    path,
    run,
    ...definition
  }: Definition<T, F>): readonly Endpoint<SystemWithHolders>[] => {
    const at = (group: EndpointGroup) => ({
      ...definition,
      id: name === '' ? group.id : `${group.id}-${name}`,
      path: `${group.path}/${path}`,
      runsOn: 'writer' as const,
      offeredIn: 'root' as const,
    })
    return [
      endpoint<SystemWithHolders, F>({
        ...at(open),
        capability: 'none',
        body: 'plain',
        handler: async (system, args, request) => {
          const work = async () => inMemoryUntilDone(await run(subjectOf(system), args))
          if (await admitKeyHolder(system, tokenSetting, at(open).path, request)) return work()
          // A status changes nothing; clients ask for it often while shares come in.
          if (definition.operation === 'read') return work()
          const action = 'key' in definition.fields ? 'share' : 'change'
          const attempt = { purpose: open.path, action, address: request.remoteAddress } as const
          return system.attempts.run(attempt, work, isAttemptComplete)
        },
      }),
      endpoint<SystemWithHolders, F>({
        ...at(authenticated),
        capability: definition.operation,
        sudo: true,
        handler: async (system, args) => inMemoryUntilDone(await run(subjectOf(system), args)),
      }),
    ]
  }
}

/** True for the answer to the last share of an attempt. */
export const isAttemptComplete = ({ data }: Answer): boolean =>
  data !== undefined && 'complete' in data && data.complete === true

/** An attempt is in memory alone until its last share is given. */
const inMemoryUntilDone = (answer: Answer): Answer =>
  isAttemptComplete(answer) ? answer : { ...answer, storedNothing: true }

/** Settings of a listener that make an open path require a token. */
type TokenSetting = 'generateRoot' | 'rekey'

/**
 * True if the listener requires a token and the caller has it: such calls are not limited. False if none is required.
 * @throws Refusal if a token with sudo on the path is required and missing
 */
async function admitKeyHolder(
  system: SystemWithHolders,
  setting: TokenSetting,
  path: string,
  { caller, operation, listener }: RequestInfo,
): Promise<boolean> {
  if (listener?.tokenAskedFor[setting] !== true) return false
  if (caller === undefined) throw fail('permission_denied', [])
  const { policies, subject } = await system.rightsOf(caller.entry)
  const acl = await system.policies.acl(policies, subject)
  if (!acl.check({ operation, path: `sys/${path}`, parameters: undefined, sudoRequired: true }).allowed)
    throw fail('permission_denied', [])
  return true
}
