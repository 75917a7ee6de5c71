// Why a call has no answer. A log shows only the names of these errors.

/** The call did not reach the other end, or it is not known whether it did. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

/** The other end has ended. It is not known whether it did what it was asked. */
export class PeerGone extends Unreachable {
  override name = 'PeerGone'
}

/** The limit of calls of this name that may wait is reached; nothing was sent. */
export class TooManyCalls extends Unreachable {
  override name = 'TooManyCalls'
}

/** No answer came in time. It is not known whether the other end does what it was asked. */
export class CallLate extends Error {
  override name = 'CallLate'
}

const UNKNOWN_CALL = 'UnknownCall'

/** A defect at the other end, which logged it. Only the name of the cause is sent. */
export class CallFailed extends Error {
  /** The other end does not know the call. */
  readonly isOfUnknownCall: boolean

  constructor(call: string, cause: string) {
    super(`The call "${call}" failed at the other end`)
    this.name = `CallFailed, for ${cause}`
    this.isOfUnknownCall = cause === UNKNOWN_CALL
  }
}

/** The other end has no such call: the two ends are of different versions. */
export class UnknownCall extends Error {
  override name = UNKNOWN_CALL
}
