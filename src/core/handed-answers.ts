// The form of what a primary answers to its secondaries. A primary of another version may answer with something else: a
// member that is not known here is dropped, and one that cannot be is no answer.
import type { EnsuredEntity, Login } from '../api/login.ts'
import { TOKEN_SETTINGS } from '../api/login.ts'
import type { Answer } from '../api/request.ts'
import type { JsonValue } from '../lib/json.ts'
import {
  count,
  flag,
  group,
  integer,
  type Kind,
  listOf,
  Misfit,
  mapOf,
  object,
  oneOf,
  optional,
  orUndefined,
  text,
  type ValueOf,
} from '../lib/member-kinds.ts'
import type { CarriedOut, EntityThere, MountAnswer, WrittenAt } from './handed.ts'

/** What a primary answered is none that a secondary can read. The message names the member, and no value. */
export class AnswerUnreadable extends Error {
  override name = 'AnswerUnreadable'
}

const TEXTS = mapOf(text)
const LOGIN: Kind<Login> = group(
  {
    displayName: text,
    settings: TOKEN_SETTINGS,
    metadata: TEXTS,
    alias: orUndefined(group({ name: text, metadata: TEXTS }, 'dropped')),
    groups: listOf(text),
    renewal: object,
  },
  'dropped',
)

/** What handlers answer. Tokens and wrapped answers are made where the caller is, and come in none. */
const ANSWER: Kind<Answer> = group(
  {
    status: optional(integer({ min: 200, max: 599 })),
    data: optional(object),
    credentialAccessor: optional(text),
    lease: optional(group({ id: text, renewable: flag, durationSeconds: count }, 'dropped')),
    login: optional(LOGIN),
    wrapAs: optional(group({ ttlSeconds: count, form: oneOf('plain', 'jwt') }, 'dropped')),
    body: optional(text),
    isOnlyCopy: optional(oneOf(true)),
    storedNothing: optional(oneOf(true)),
    maxAgeSeconds: optional(count),
    contentType: optional(text),
    headers: optional(TEXTS),
    warnings: optional(listOf(text)),
  },
  'dropped',
)

const ENSURED: Kind<EnsuredEntity> = group({ entityId: text, aliasStamp: text }, 'dropped')

/** A primary of an earlier version does not say where it stands. */
const WRITTEN: Kind<WrittenAt | undefined> = orUndefined(group({ historyId: text, index: count }, 'dropped'))
const CARRIED_OUT: Kind<CarriedOut> = group({ answer: ANSWER, written: WRITTEN }, 'dropped')
const ENTITY_THERE: Kind<EntityThere> = group({ entity: ENSURED, written: WRITTEN }, 'dropped')
const MOUNT_ANSWER: Kind<Pick<MountAnswer, 'written'>> = group({ written: WRITTEN }, 'dropped')
const FILTERED = group({ mounts: listOf(text), namespaces: listOf(text) }, 'dropped')

/** @throws AnswerUnreadable, as each function here */
export const readCarriedOut = (sent: unknown): CarriedOut => ofForm(CARRIED_OUT, sent)

/** The entity of a login. */
export const readEntityThere = (sent: unknown): EntityThere => ofForm(ENTITY_THERE, sent)

/** What the engine of a mount answers, which the engine here checks. */
export const readMountAnswer = (sent: unknown): MountAnswer => ({
  ...ofForm(MOUNT_ANSWER, sent),
  answer: (sent as { readonly answer?: unknown }).answer,
})

/** Full paths of what the filter of this cluster keeps from it. */
export const readFiltered = (sent: unknown): ValueOf<typeof FILTERED> => ofForm(FILTERED, sent)

function ofForm<T>(kind: Kind<T>, sent: unknown): T {
  try {
    return kind.read(sent as JsonValue)
  } catch (cause) {
    if (!(cause instanceof Misfit)) throw cause
    throw new AnswerUnreadable(`The primary answered what cannot be read here: ${cause.message}`)
  }
}
