// What the thread that writes throws at the thread of the links, as data. rpc carries refusals, and of anything else
// the name alone. But the ends of a link go on by what was thrown: a full disk is waited for, a log that is gone means
// a copy, and a fault of the protocol ends the link with its reason. So these are answers here, and thrown anew there.
import { ProtocolFault } from '../replication/protocol/frames.ts'
import { HistoryGone, Sealed, StorageClosed, StorageFailed, StorageFull, StorageRefused } from '../storage/errors.ts'

/** An answer, or what was thrown in its place. */
export type Reply<T> = { readonly value: T } | { readonly thrown: Thrown }

type Thrown =
  | { readonly name: string; readonly message: string }
  | { readonly name: 'ProtocolFault'; readonly message: string; readonly reason: ProtocolFault['reason'] }

/** By the name that an error of the class has. */
const CLASSES: ReadonlyMap<string, new (message: string) => Error> = new Map(
  [HistoryGone, Sealed, StorageClosed, StorageFailed, StorageFull, StorageRefused].map((each) => [each.name, each]),
)
/** Its class brings all of certificates with it, which a thread without a link has no use for. */
const CERTIFICATE_REFUSED = 'CertificateRefused'

/** Does the work. Rejects only with what the other end does not decide by. */
export async function replyOf<T>(work: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { value: await work() }
  } catch (cause) {
    const thrown = thrownOf(cause)
    if (thrown === undefined) throw cause
    return { thrown }
  }
}

/** Returns the answer. @throws what was thrown at the other end */
export async function outcomeOf<T>(reply: Reply<T>): Promise<T> {
  if ('value' in reply) return reply.value
  throw await errorOf(reply.thrown)
}

function thrownOf(cause: unknown): Thrown | undefined {
  if (!(cause instanceof Error)) return undefined
  const { name, message } = cause
  if (cause instanceof ProtocolFault) return { name: 'ProtocolFault', message, reason: cause.reason }
  return CLASSES.has(name) || name === CERTIFICATE_REFUSED ? { name, message } : undefined
}

async function errorOf(thrown: Thrown): Promise<Error> {
  const { name, message } = thrown
  if ('reason' in thrown) return new ProtocolFault(thrown.reason, message)
  if (name === CERTIFICATE_REFUSED) {
    const { CertificateRefused } = await import('../replication/set/certificates.ts')
    return new CertificateRefused(message)
  }
  const Class = CLASSES.get(name) ?? Error
  return new Class(message)
}
