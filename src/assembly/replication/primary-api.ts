// The one thing that an activation does at the API of its primary: it takes the bundle out of a wrapped token. Whatever
// fails, the sentence names the address that was asked, and never the token, the bundle or the content of a file.
import type { Outbound, OutboundRequest, OutboundResponse, Reach } from '../../lib/outbound.ts'
import type { Clock } from '../../lib/world.ts'
import { faultOfApiAddress, MAX_ADDRESS_CHARACTERS } from '../../replication/set/peer-address.ts'
import { clockSkew, faultOfLookup, readHealth, readUnwrapped } from '../../replication/set/primary-answers.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { type AskedBy, failurePhrase } from './primary-failures.ts'

/** What the API of a primary is asked with; '' for what was not given. */
export type AskedPrimary = {
  /** What the token is to be for. */
  readonly family: ReplicationFamily
  /** `primary_api_addr`, or else the address in the token (`apiAddressFor`). */
  readonly address: string
  /** The wrapping token. */
  readonly jwt: string
  readonly caFile: string
  readonly caPath: string
}

/** What a look at a primary found. `sentence` is for the operator. */
export type PrimaryCheck = {
  readonly kind: 'good' | 'failed'
  readonly sentence: string
  /** The version that it reports to clients, if it told one. */
  readonly version?: string
  /** How far its clock is ahead, if it told the time; negative if it is behind. */
  readonly clockSkewMs?: number
}

/** The API of a primary. Neither method rejects for what the network, the server or the caller's values do. */
export type PrimaryApi = {
  /** Takes the bundle out of the token, which is used up then. */
  unwrap(
    asked: AskedPrimary,
  ): Promise<
    { readonly kind: 'bundle'; readonly text: string } | { readonly kind: 'failed'; readonly sentence: string }
  >
  /** Whether `unwrap` would do, as far as can be seen without using the token up. */
  look(asked: AskedPrimary): Promise<PrimaryCheck>
}

/** Certificates of authorities, from the files that a caller names. */
export type Authorities = {
  /** `ca` in PEM; undefined stands for those of the system. Rejects for no file that cannot be used. */
  read(named: Pick<AskedPrimary, 'caFile' | 'caPath'>): Promise<FoundAuthorities | { readonly sentence: string }>
}
/** Certificates that were found, and where. */
export type FoundAuthorities = { readonly ca: string | undefined; readonly trust: AskedBy['trust'] }

/** The parts of the process that it needs. */
export type PrimaryApiParts = {
  readonly authorities: Authorities
  /** Requests to this origin alone, by these authorities or those of the system. */
  readonly outboundTo: (reach: Reach) => Outbound
  readonly clock: Pick<Clock, 'nowMs'>
}

/** How long one request may take, from the name of the host to the end of the answer. */
export const PRIMARY_API_MS = 10_000
/** The answer holds a bundle of 8 KiB at most, escaped once. */
const MAX_ANSWER_BYTES = 64 << 10

/** The address that is asked: the one of the request counts before that of the token. */
export const apiAddressFor = (primaryApiAddress: string, inToken: string): string => primaryApiAddress || inToken

/** Returns the API of primaries over this network. */
export function newPrimaryApi(parts: PrimaryApiParts): PrimaryApi {
  return {
    unwrap: async (asked) => {
      const primary = await reached(parts, asked)
      if ('sentence' in primary) return { kind: 'failed', ...primary }
      const answer = await primary.ask('PUT', 'sys/wrapping/unwrap', asked.jwt)
      if ('fault' in answer) return { kind: 'failed', sentence: primary.tell(answer.fault) }
      const found = readUnwrapped(answer)
      answer.body.fill(0)
      return 'fault' in found ? { kind: 'failed', sentence: primary.tell(found.fault) } : { kind: 'bundle', ...found }
    },
    look: async (asked) => {
      const primary = await reached(parts, asked)
      if ('sentence' in primary) return { kind: 'failed', ...primary }
      const sentAtMs = parts.clock.nowMs()
      const health = await primary.ask('GET', 'sys/health', undefined)
      if ('fault' in health) return { kind: 'failed', sentence: primary.tell(health.fault) }
      const clockSkewMs = clockSkew(health, sentAtMs, parts.clock.nowMs())
      const { version, fault } = readHealth(health)
      const told = {
        ...(version === undefined ? {} : { version }),
        ...(clockSkewMs === undefined ? {} : { clockSkewMs }),
      }
      const wrong = fault ?? (await lookedUp(primary, asked))
      if (wrong !== undefined) return { kind: 'failed', sentence: primary.tell(wrong), ...told }
      return { kind: 'good', sentence: primary.tell('answers, and the token can be unwrapped there'), ...told }
    },
  }
}

async function lookedUp(primary: Reached, { jwt, family }: AskedPrimary): Promise<string | undefined> {
  const answer = await primary.ask('POST', 'sys/wrapping/lookup', jwt)
  return ('fault' in answer ? answer : faultOfLookup(answer, family))?.fault
}

/** A primary whose address and authorities are settled. */
type Reached = {
  ask(
    method: OutboundRequest['method'],
    path: string,
    token: string | undefined,
  ): Promise<OutboundResponse | { readonly fault: string }>
  /** A sentence about it that names where it was asked. */
  tell(phrase: string): string
}

async function reached(parts: PrimaryApiParts, asked: AskedPrimary): Promise<Reached | { readonly sentence: string }> {
  const { address } = asked
  const wrong = faultOfGiven(address)
  if (wrong !== undefined) return { sentence: wrong }
  const authorities = await parts.authorities.read(asked)
  if ('sentence' in authorities) return authorities
  const { ca, trust } = authorities
  const { origin, protocol, hostname, port } = new URL(address)
  const isTls = protocol === 'https:'
  const by: AskedBy = { isTls, host: hostname, timeoutMs: PRIMARY_API_MS, trust }
  const outbound = parts.outboundTo({ origin, ...(isTls && ca !== undefined ? { ca } : {}) })
  const base = address.replace(/\/$/, '')
  return {
    ask: async (method, path, token) => {
      const headers = { Accept: 'application/json', ...(token === undefined ? {} : { 'X-Vault-Token': token }) }
      const limits = { timeoutMs: PRIMARY_API_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
      try {
        return await outbound.request({ method, url: `${base}/v1/${path}`, headers, ...limits })
      } catch (cause) {
        return { fault: failurePhrase(cause, by) }
      }
    },
    tell: (phrase) => `The API of the primary at ${hostname}:${port || (isTls ? 443 : 80)} ${phrase}`,
  }
}

/** A sentence about an address that cannot be asked; undefined for a good one. */
function faultOfGiven(address: string): string | undefined {
  if (address === '') return 'The activation token has no address of its primary: give it in "primary_api_addr"'
  const fault = faultOfApiAddress(address)
  if (fault === undefined) return undefined
  const shown = address.length > MAX_ADDRESS_CHARACTERS ? '' : `${JSON.stringify(address)} `
  return `The address ${shown}of the primary's API ${fault}: give another one in "primary_api_addr"`
}
