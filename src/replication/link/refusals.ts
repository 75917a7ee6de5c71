// How a primary says no over a link, and what a secondary makes of it.
import type { Message } from '../protocol/messages.ts'
import type { PeerRefusal, PeerRefusalCode } from '../set/admission.ts'
import { onOneLine } from './message-link.ts'

/** Why a primary refuses, as it is sent. */
export type RefusedCode = Message<'refused'>['code']

/** The codes of what the registry says no to. What is not here is no reason to end a link. */
const CODES: Readonly<Record<Exclude<PeerRefusalCode, 'not_due' | 'bad_key'>, RefusedCode>> = {
  not_primary: 'not-primary',
  fenced: 'fenced',
  set_mismatch: 'other-set',
  clock: 'clock',
  // Its sentence tells the two apart; both need a new token.
  certificate_ended: 'revoked',
  revoked: 'revoked',
  not_activated: 'not-activated',
  replaced: 'replaced',
  token_unknown: 'token',
  token_used: 'token',
  token_taken: 'token',
  token_ended: 'token',
  conflict: 'conflict',
  hands_over: 'busy',
}

/** What is sent when this end refuses. */
export function refusedMessage(code: RefusedCode, sentence: string, retryAfterMs = 0): Message<'refused'> {
  return { kind: 'refused', code, sentence, retryAfterMs, address: '' }
}

/** What is sent for what the registry says no to; undefined where that is no reason to end a link. */
export function messageOfRefusal({ refused, sentence }: PeerRefusal): Message<'refused'> | undefined {
  return refused === 'not_due' || refused === 'bad_key' ? undefined : refusedMessage(CODES[refused], sentence)
}

/** This end has refused the other one: the link ends with the message. */
export class RefusedPeer extends Error {
  override name = 'RefusedPeer'
  readonly sent: Message<'refused'>
  constructor(sent: Message<'refused'>) {
    super(sent.sentence)
    this.sent = sent
  }
}

/** @throws RefusedPeer if it is a refusal */
export function requireAdmitted<T>(answer: T | PeerRefusal): T {
  if (!isRefusal(answer)) return answer
  throw new RefusedPeer(messageOfRefusal(answer) ?? refusedMessage('token', answer.sentence))
}

const isRefusal = (answer: unknown): answer is PeerRefusal =>
  typeof answer === 'object' && answer !== null && 'refused' in answer

/** The primary has refused this cluster. */
export class RefusedByPrimary extends Error {
  override name = 'RefusedByPrimary'
  readonly code: RefusedCode
  readonly retryAfterMs: number
  /** Where the active node of the primary is, with 'not-active'. */
  readonly address: string
  constructor({ code, sentence, retryAfterMs, address }: Omit<Message<'refused'>, 'kind'>) {
    super(onOneLine(sentence))
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.address = address
  }
}
