// The form of what a secondary sends to its primary: what passes here is as requests of our own are, so it can be
// stored and read again, judged and recorded.
import { fail } from '../api/errors.ts'
import { fromPeer } from '../api/from-peer.ts'
import type { WantedEntity } from '../api/login.ts'
import { ROOT_ID } from '../api/namespace.ts'
import { isPrintableAscii } from '../lib/ascii.ts'
import {
  checked,
  count,
  either,
  group,
  type Kind,
  listOf,
  mapOf,
  nullable,
  oneOf,
  orUndefined,
  otherwise,
  text,
} from '../lib/member-kinds.ts'
import type { AssertedCaller, HandedRequest, MountQuestion } from './handed.ts'
import { isCanonical } from './target.ts'

/** Ids are UUIDs. Audit logs show them as they are. */
const ID = checked(text, (id) => /^[\w-]{1,64}$/.test(id))
const NAMES = mapOf(text)
/** Ids of namespaces are longer in no version. */
const NAMESPACE_ID = checked(text, (id) => /^[0-9A-Za-z]{1,32}$/.test(id))
/** Names of policies that a caller may have. They are looked up one by one. */
const MAX_POLICIES = 1_000
const POLICY = checked(text, (name) => name !== '' && isPrintableAscii(name))
const POLICIES = checked(listOf(POLICY), ({ length }) => length <= MAX_POLICIES)
/** Groups that logins may have given a caller. They are looked up one by one. */
const MAX_GROUPS = 1_000
const GROUPS = checked(listOf(text), ({ length }) => length <= MAX_GROUPS)
/** Characters of all names and texts that a login method knows of a caller. Each login reads them. */
const MAX_METADATA_CHARACTERS = 65_536
const METADATA = checked(NAMES, (all) => Object.entries(all).flat().join('').length <= MAX_METADATA_CHARACTERS)

const CALLER: Kind<AssertedCaller> = group(
  {
    policies: POLICIES,
    namespace: NAMESPACE_ID,
    entityId: text,
    // A secondary of an earlier release names none.
    groups: otherwise(GROUPS, []),
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
    method: oneOf('read', 'list', 'update', 'patch', 'delete'),
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
  group({ of: oneOf('set'), mount: text, alias: group({ name: text, metadata: METADATA }, 'dropped') }, 'dropped'),
  // A secondary of a release without namespaces names none.
  group({ of: oneOf('cluster'), namespace: otherwise(text, ROOT_ID), entityId: text }, 'dropped'),
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
