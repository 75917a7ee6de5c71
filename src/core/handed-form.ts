// The form of what a secondary sends to its primary. Whatever passes here can be stored and read again.
import { fail } from '../api/errors.ts'
import { fromPeer } from '../api/from-peer.ts'
import type { WantedEntity } from '../api/login.ts'
import {
  checked,
  count,
  either,
  group,
  type Kind,
  mapOf,
  nullable,
  oneOf,
  orUndefined,
  text,
  texts,
} from '../lib/member-kinds.ts'
import type { AssertedCaller, HandedRequest, MountQuestion } from './handed.ts'
import { isCanonical } from './target.ts'

/** Requests have ids of this length at most: they are UUIDs, or were chosen by a load balancer. */
const MAX_ID_CHARACTERS = 128
const ID = checked(text, (id) => id !== '' && id.length <= MAX_ID_CHARACTERS)
const NAMES = mapOf(text)

const CALLER: Kind<AssertedCaller> = group(
  {
    policies: texts,
    entityId: text,
    displayName: text,
    metadata: nullable(NAMES),
    tokenType: oneOf('service', 'batch'),
  },
  'dropped',
)

const REQUEST: Kind<Omit<HandedRequest, 'body'>> = group(
  {
    id: ID,
    endpoint: text,
    mount: text,
    path: checked(text, isCanonical),
    givenNames: orUndefined(NAMES),
    method: oneOf('read', 'list', 'update', 'delete'),
    query: text,
    contentType: orUndefined(text),
    passed: orUndefined(NAMES),
    remoteAddress: text,
    wrapTtlSeconds: count,
    caller: orUndefined(CALLER),
  },
  'dropped',
)

const WANTED: Kind<WantedEntity> = either(
  group({ of: oneOf('set'), mount: text, alias: group({ name: text, metadata: NAMES }, 'dropped') }, 'dropped'),
  group({ of: oneOf('cluster'), entityId: text }, 'dropped'),
)

const QUESTION = group({ mount: text }, 'kept')

/** @throws Refusal that names the member which is wrong, as each function here */
export function readRequest(sent: HandedRequest): HandedRequest {
  const request = fromPeer(REQUEST, 'request', sent)
  const body: unknown = sent.body
  if (body !== undefined && !(body instanceof Uint8Array)) throw fail('field_invalid', ['body', 'must be bytes'])
  return { ...request, body }
}

/** The entity that a secondary wants for a login. */
export const readWanted = (sent: WantedEntity): WantedEntity => fromPeer(WANTED, 'entity', sent)

/** The engine itself checks the question. */
export const readQuestion = (sent: MountQuestion): MountQuestion => ({
  mount: fromPeer(QUESTION, 'question', sent).mount,
  question: sent.question,
})
