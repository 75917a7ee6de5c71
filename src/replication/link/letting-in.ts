// The primary's end of a link by which a cluster is let in: `knock` is answered by `welcome`, one `claim` by what it
// asks for, and the link ends. The welcome tells of the version and the clock alone: epoch 0 and no histories, since
// nothing is told of the log to a cluster that was not let in yet.
//
// A secondary that looks for its primary says `hello` instead. It is judged as on a link by which it follows, and the
// welcome ends the link.
import { strict as assert } from 'node:assert'
import type { Message } from '../protocol/messages.ts'
import type { SetName } from '../set/peer-name.ts'
import { decide } from '../source/decision.ts'
import type { PrimaryParts } from './end-parts.ts'
import { judged, welcomeOf } from './greeting.ts'
import type { MessageLink } from './message-link.ts'
import { RefusedPeer, refusedMessage, requireAdmitted } from './refusals.ts'
import { agreedProtocol, ownSpeech } from './version-rule.ts'

/** Answers one cluster. Never rejects. */
export async function letIn(parts: PrimaryParts, link: MessageLink, set: SetName): Promise<void> {
  try {
    await link.hangUp(await answerOf(parts, link, set), 'the question is answered')
  } catch (cause) {
    if (cause instanceof RefusedPeer) {
      parts.log('warn', 'A secondary was not let in', { family: set.family, why: cause.message })
      await link.hangUp(cause.sent, cause.message)
    } else await link.fail(cause as Error)
  }
}

async function answerOf(
  parts: PrimaryParts,
  link: MessageLink,
  set: SetName,
): Promise<Message<'done' | 'package' | 'welcome'>> {
  const { owner, times, facts, log } = parts
  const knock = await link.only(['knock', 'hello'], times.greetingMs)
  if (knock.kind === 'hello') return mayFollow(parts, link, set, knock)
  const protocol = agreedProtocol(ownSpeech(facts().version), knock)
  if (typeof protocol === 'object') throw new RefusedPeer(refusedMessage('version', protocol.sentence))
  await link.send(welcomeOf(parts, protocol))
  const question = await link.only(['claim', 'took-over'], times.greetingMs)
  const arrival = { set, id: knock.secondaryId, certificate: link.peer.certificate }
  const fields = { family: set.family, secondary: knock.secondaryId }
  if (question.kind === 'took-over') {
    const { kind: _, ...takeover } = question
    requireAdmitted<'fenced'>(await owner.tookOver(arrival, { ...takeover, clusterId: knock.clusterId }))
    return { kind: 'done' }
  }
  const { what, nonce, receiver } = question
  if (what === 'confirm') {
    requireAdmitted<'confirmed'>(await owner.confirm(arrival, { nonce, receiver }))
    log('info', 'A secondary has stored what it was given', fields)
    return { kind: 'done' }
  }
  const isLook = what === 'look'
  const given = requireAdmitted(await owner.claim(arrival, { nonce, receiver, isLook }))
  if (isLook) return { kind: 'done' }
  assert(typeof given === 'object' && 'keyring' in given, 'a claim that is no look gives the keys')
  log('info', 'A secondary was given the keys of this cluster', fields)
  return { kind: 'package', ...given }
}

/** @throws RefusedPeer for one that would not be served, or that followed another log */
async function mayFollow(
  parts: PrimaryParts,
  link: MessageLink,
  set: SetName,
  hello: Message<'hello'>,
): Promise<Message<'welcome'>> {
  const { greeted, protocol } = await judged(parts, link, set, hello)
  const decision = await decide(parts.store, hello, greeted)
  if (decision.kind === 'refused') throw new RefusedPeer(refusedMessage(decision.code, decision.sentence))
  return welcomeOf(parts, protocol)
}
