// How a secondary and its primary greet each other on a link of any service:
//
//   hello ─▶ version rule ─▶ registry ─▶ welcome
//                 └─────────────┴─▶ refused
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message } from '../protocol/messages.ts'
import type { SetName } from '../set/peer-name.ts'
import type { LinkEndParts } from './end-parts.ts'
import type { Arrival, FollowerStanding, Greeted, SecondaryPart } from './link-sides.ts'
import type { MessageLink } from './message-link.ts'
import { RefusedByPrimary, RefusedPeer, refusedMessage, requireAdmitted } from './refusals.ts'
import { agreedProtocol, ownSpeech, type Speaks } from './version-rule.ts'

/** A secondary that its primary knows as one. */
export type AdmittedSecondary = {
  readonly arrival: Arrival
  readonly hello: Message<'hello'>
  readonly greeted: Greeted
  /** The version of the protocol that both use. */
  readonly protocol: number
}

/**
 * Greets the primary, and returns its welcome. Any kind that the link accepts may come in its place.
 * @throws RefusedByPrimary, ProtocolFault, and what MessageLink throws
 */
export async function greetPrimary(
  { facts, times }: Pick<LinkEndParts, 'facts' | 'times'>,
  link: MessageLink,
  { id }: SecondaryPart,
  standing: FollowerStanding,
): Promise<Message<'welcome'>> {
  const { version, clusterId, clusterAddresses, apiAddress } = facts()
  const speech = ownSpeech(version)
  const own = { ...speech, clusterId, secondaryId: id, addresses: clusterAddresses, apiAddress }
  await link.send({ kind: 'hello', ...own, ...standing })
  const { message } = await link.nextWithin(times.greetingMs)
  if (message.kind === 'refused') throw new RefusedByPrimary(message)
  if (message.kind !== 'welcome') throw outOfPlace(message)
  requireOlder(message, speech)
  return message
}

/** The primary has judged by its own rule; this one holds if its program is of another mind. */
function requireOlder(welcome: Message<'welcome'>, speech: Speaks): void {
  const { protocol, recordFormat, version } = welcome
  const primary = { oldest: protocol, newest: protocol, recordFormat, version }
  const agreed = agreedProtocol(primary, speech)
  if (typeof agreed === 'number') return
  throw new RefusedByPrimary({ code: 'version', sentence: agreed.sentence, retryAfterMs: 0, address: '' })
}

/** The fault of a primary that sends this now. */
export const outOfPlace = ({ kind }: Message): ProtocolFault =>
  new ProtocolFault('damaged', `The primary sent "${kind}" where it has no place`)

/** Hears the greeting of a secondary, and has it judged. @throws RefusedPeer, and what MessageLink throws */
export async function admitted(
  parts: Pick<LinkEndParts, 'owner' | 'times' | 'facts'>,
  link: MessageLink,
  set: SetName,
): Promise<AdmittedSecondary> {
  return judged(parts, link, set, await link.only('hello', parts.times.greetingMs))
}

/** Has a greeting judged. @throws RefusedPeer */
export async function judged(
  { owner, facts }: Pick<LinkEndParts, 'owner' | 'facts'>,
  link: MessageLink,
  set: SetName,
  hello: Message<'hello'>,
): Promise<AdmittedSecondary> {
  const protocol = agreedProtocol(ownSpeech(facts().version), hello)
  if (typeof protocol === 'object') throw new RefusedPeer(refusedMessage('version', protocol.sentence))
  const arrival = { set, id: hello.secondaryId, certificate: link.peer.certificate }
  const greeted = requireAdmitted<Greeted>(await owner.admit(arrival, hello.receiver, hello.instance, hello.clusterId))
  return { arrival, hello, greeted, protocol }
}

/** The welcome of a primary. What is told of its log is up to the service. */
export function welcomeOf(
  { facts, world }: Pick<LinkEndParts, 'facts' | 'world'>,
  protocol: number,
  { epoch, histories }: Pick<Message<'welcome'>, 'epoch' | 'histories'> = { epoch: 0, histories: [] },
): Message<'welcome'> {
  const { version, clusterId, clusterAddresses: addresses } = facts()
  const { recordFormat } = ownSpeech(version)
  const own = { protocol, recordFormat, version, clusterId, addresses }
  return { kind: 'welcome', ...own, epoch, histories, sentAtMs: world.clock.nowMs() }
}
