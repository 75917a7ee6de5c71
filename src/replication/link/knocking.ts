// The secondary's end of a link by which it is let in: one question to the primary, and its answer.
import { type Link, LinkClosed } from '../../lib/links.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, MessageKind } from '../protocol/messages.ts'
import { serverNameOf } from '../set/peer-name.ts'
import { dialClusterPort, NoLink, shownAddress } from './dialing.ts'
import type { LinkEndParts } from './end-parts.ts'
import { ACTIVATION_PROTOCOL } from './link-protocols.ts'
import type { Knock, Knocked, PingKnock } from './link-sides.ts'
import { MessageLink, onOneLine, PeerHungUp } from './message-link.ts'
import { ownSpeech } from './version-rule.ts'

const ANSWERS: ReadonlySet<MessageKind> = new Set(['welcome', 'refused', 'package', 'done', 'fault'])

const GIVEN_UP = 'The links of this server have ended: the question was given up'

type KnockParts = Pick<LinkEndParts, 'world' | 'times' | 'counts'>

/** Whoever takes the place of a primary tells it by the certificate that it had of it. */
const NOBODY_TELLS =
  'If the clock here is right, the former primary can be told by nobody any more: demote it before it serves'

/**
 * Asks once, until `signal` gives the question up. Never rejects for what the network or the peer does. A confirmation
 * that was heard is a 'welcome'.
 */
export async function askPrimary(
  parts: KnockParts,
  knock: Knock,
  signal: AbortSignal,
  withinMs = parts.times.knockMs,
): Promise<Knocked> {
  const { world } = parts
  const { identity, set, address } = knock
  const endsAtMs = world.clock.monotonicMs() + withinMs
  const as = { identity, serverName: serverNameOf(set), protocol: ACTIVATION_PROTOCOL }
  try {
    const remedy = knock.what === 'took-over' ? NOBODY_TELLS : undefined
    const link = await dialClusterPort(world, address, as, { timeoutMs: withinMs, signal }, remedy)
    const late = `${shownAddress(address)} took the link, and did not answer within ${withinMs / 1_000} s`
    const deadline = world.timers.after(Math.max(endsAtMs - world.clock.monotonicMs(), 0), () => link.destroy(late))
    const giveUp = (): void => link.destroy(GIVEN_UP)
    signal.addEventListener('abort', giveUp)
    try {
      if (signal.aborted) throw new NoLink('cut', GIVEN_UP)
      return await asked(parts, knock, link)
    } catch (cause) {
      throw noAnswer(cause as Error, address)
    } finally {
      deadline.cancel()
      signal.removeEventListener('abort', giveUp)
      link.destroy('the question is answered')
    }
  } catch (cause) {
    if (!(cause instanceof NoLink)) throw cause
    return { kind: 'no-link', reason: cause.reason, sentence: cause.message }
  }
}

async function asked(parts: KnockParts, knock: Knock, link: Link): Promise<Knocked> {
  const { set, id, facts, what } = knock
  const { clock } = parts.world
  const messages = new MessageLink(link, { ...parts, count: parts.counts(set.family) }, ANSWERS)
  const sentAtMs = clock.nowMs()
  const { version, clusterId, clusterAddresses: addresses, apiAddress } = facts
  const own = { ...ownSpeech(version), clusterId, secondaryId: id }
  await messages.send(
    knock.what === 'ping'
      ? { kind: 'hello', ...own, addresses, apiAddress, ...knock.standing }
      : { kind: 'knock', ...own, sentAtMs },
  )
  const welcome = await expected(messages, 'welcome')
  if (welcome.kind === 'refused') return welcome
  const clockSkewMs = Math.round(welcome.sentAtMs - (sentAtMs + clock.nowMs()) / 2)
  if (knock.what === 'ping') return { kind: 'welcome', version: welcome.version, clockSkewMs }
  await messages.send(questionOf(knock))
  const answer = await expected(messages, what === 'claim' ? 'package' : 'done')
  if (answer.kind === 'refused') return answer
  if (answer.kind === 'done') return { kind: 'welcome', version: welcome.version, clockSkewMs }
  const { seal, keyring, leafKey, epoch } = answer
  // The message is views of what arrived.
  const copied = { seal: Buffer.from(seal), keyring: Buffer.from(keyring), leafKey: Buffer.from(leafKey), epoch }
  return { kind: 'package', package: copied, clockSkewMs }
}

function questionOf(knock: Exclude<Knock, PingKnock>): Message<'claim' | 'took-over'> {
  if (knock.what === 'took-over') return { kind: 'took-over', ...knock.takeover, apiAddress: knock.facts.apiAddress }
  const { what, nonce, receiver } = knock
  return { kind: 'claim', what, nonce, receiver }
}

async function expected<K extends 'welcome' | 'package' | 'done'>(
  messages: MessageLink,
  kind: K,
): Promise<Message<K> | Extract<Knocked, { readonly kind: 'refused' }>> {
  const { message } = await messages.next()
  if (message.kind === 'refused') {
    return { kind: 'refused', code: message.code, sentence: onOneLine(message.sentence) }
  }
  if (message.kind === kind) return message as Message<K>
  throw new ProtocolFault('damaged', `The primary sent "${message.kind}" where "${kind}" was waited for`)
}

/** What is said where a link ended before the answer. @throws what is no matter of the link */
function noAnswer(cause: Error, address: string): NoLink {
  const isOfTheLink = cause instanceof LinkClosed || cause instanceof PeerHungUp || cause instanceof ProtocolFault
  if (cause instanceof NoLink) return cause
  if (!isOfTheLink) throw cause
  if (cause instanceof LinkClosed && cause.end.how === 'destroyed') return new NoLink('timeout', cause.end.why)
  const why = cause instanceof LinkClosed ? cause.end.why : cause.message
  return new NoLink('cut', `The link to ${shownAddress(address)} ended before the answer (${why}). Try again`)
}
