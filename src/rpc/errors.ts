// Why a call has no answer. Their names are what a log shows of them.

/** The call never reached anybody who could have answered it, or nobody will say whether it did. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

/** The other end is no more. Whether it did what it was asked is not known. */
export class PeerGone extends Unreachable {
  override name = 'PeerGone'
}

/** More calls of this name wait than may; nothing was sent. */
export class TooManyCalls extends Unreachable {
  override name = 'TooManyCalls'
}

/** No answer came in time. Whether the other end does what it was asked is not known. */
export class CallLate extends Error {
  override name = 'CallLate'
}

/** A defect at the other end, which logged it: of the cause nothing but its name travels. */
export class CallFailed extends Error {
  constructor(call: string, cause: string) {
    super(`The call "${call}" failed at the other end`)
    this.name = `CallFailed, for ${cause}`
  }
}

/** The other end has no such call: the two are of different versions. */
export class UnknownCall extends Error {
  override name = 'UnknownCall'
}
