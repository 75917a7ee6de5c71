// What the API of a primary answers to a cluster that has a wrapped activation token. Anything can be at the other end,
// so nothing of an answer is repeated. A fault continues a sentence that names the address.
import { JsonError, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts'
import { own } from '../../lib/own.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { isBundleText, MAX_ACTIVATION_CHARACTERS } from './activation-token.ts'

/** An answer as it came. */
export type PrimaryAnswer = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}
/** Why an answer is no use, and what to do. */
export type AnswerFault = { readonly fault: string }

/** Answers are small; these limits are far above what they hold. */
const LIMITS = { depth: 8, containers: 1_000, members: 10_000 }
/** The path of the call that gives an activation token; without a family it is the former one, of performance. */
const TOKEN_CALL = /^sys\/replication\/(?:(dr|performance)\/)?primary\/secondary-token$/
const ANOTHER_SERVER = 'is no server of this kind, by its answer: check the address'
const NO_ACTIVATION =
  'has the answer of another call wrapped in this token: give "wrap_info.token" of "primary/secondary-token"'

/** The bundle out of the answer of `sys/wrapping/unwrap`. */
export function readUnwrapped(answer: PrimaryAnswer): { readonly text: string } | AnswerFault {
  const body = bodyOf(answer)
  if (answer.status !== 200 || body === undefined) return { fault: faultOf(answer, body) }
  const text = own(objectIn(body, 'data') ?? {}, 'token')
  if (typeof text !== 'string' || text.length > MAX_ACTIVATION_CHARACTERS || !isBundleText(text))
    return { fault: NO_ACTIVATION }
  return { text }
}

/** What the answer of `sys/wrapping/lookup` speaks against; undefined: the token can be unwrapped. */
export function faultOfLookup(answer: PrimaryAnswer, family: ReplicationFamily): AnswerFault | undefined {
  const body = bodyOf(answer)
  if (answer.status !== 200 || body === undefined) return { fault: faultOf(answer, body) }
  const path = own(objectIn(body, 'data') ?? {}, 'creation_path')
  if (typeof path !== 'string') return { fault: ANOTHER_SERVER }
  const call = TOKEN_CALL.exec(path)
  if (call === null) return { fault: NO_ACTIVATION }
  const [, other = 'performance'] = call
  return other === family ? undefined : { fault: `made this token for ${other} replication, and not for ${family}` }
}

/** What the answer of `sys/health` tells. A fault is there if the server cannot give the bundle as it is. */
export type PrimaryHealth = {
  /** The version that it reports; undefined if its listener tells none. */
  readonly version: string | undefined
  readonly fault: string | undefined
}

/** Reads the answer of `sys/health`, of which every status has the same body. */
export function readHealth(answer: PrimaryAnswer): PrimaryHealth {
  const body = bodyOf(answer) ?? {}
  const [initialized, sealed, version] = ['initialized', 'sealed', 'version'].map((name) => own(body, name))
  if (typeof initialized !== 'boolean' || typeof sealed !== 'boolean') {
    const { status } = answer
    return { version: undefined, fault: isRedirect(status) ? REDIRECT(status) : ANOTHER_SERVER }
  }
  return {
    version: typeof version === 'string' && VERSION.test(version) ? version : undefined,
    fault: !initialized
      ? 'is not initialized: it is no primary'
      : sealed
        ? 'is sealed: unseal it, and try again'
        : own(body, 'replication_dr_mode') === 'secondary'
          ? 'is itself a secondary for disaster recovery: "primary_api_addr" can give the address of the primary'
          : undefined,
  }
}

/** What a version is shown with at most: it comes from outside. */
const VERSION = /^[0-9A-Za-z.+-]{1,64}$/

/**
 * How far the clock of the server is ahead, in milliseconds; negative if it is behind. Its `Date` has whole seconds
 * (RFC 9110 section 5.6.7), and was written at some time between request and answer: 0 if the clocks may be the same.
 * Undefined if it told no time.
 */
export function clockSkew(
  { headers }: Pick<PrimaryAnswer, 'headers'>,
  sentAtMs: number,
  receivedAtMs: number,
): number | undefined {
  const thereMs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(thereMs)) return undefined
  const [least, most] = [thereMs - receivedAtMs, thereMs + 999 - sentAtMs]
  return least > 0 ? least : most < 0 ? most : 0
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400
const REDIRECT = (status: number): string =>
  `redirects elsewhere (status ${status}), which is not followed: give the address of its active node with ` +
  '"primary_api_addr"'

/** What an answer of another status than 200 means, or one of 200 without a body in JSON. */
function faultOf({ status }: PrimaryAnswer, body: JsonObject | undefined): string {
  if (isRedirect(status)) return REDIRECT(status)
  if (status === 503) return 'is sealed, or no node there is ready (status 503): unseal it, and try again'
  if (status === 429) return 'has too much to do (status 429): try again'
  const isOurs = Array.isArray(own(body ?? {}, 'errors'))
  if (isOurs && (status === 400 || status === 403)) {
    return (
      `refused the token with status ${status}: it was used already, has expired or was revoked, or another cluster ` +
      'made it; get a new one from "primary/secondary-token"'
    )
  }
  if (isOurs && status >= 500) return `failed with status ${status}: its log says why`
  return status === 200 ? ANOTHER_SERVER : `${ANOTHER_SERVER} (status ${status})`
}

/** The object in the body; undefined if it holds none. */
function bodyOf({ body }: PrimaryAnswer): JsonObject | undefined {
  try {
    const value = parseJson(body, LIMITS)
    return isObject(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}

function objectIn(body: JsonObject, name: string): JsonObject | undefined {
  const value = own(body, name)
  return isObject(value) ? value : undefined
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
