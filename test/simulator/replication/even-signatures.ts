// Node draws a number for each signature by ECDSA, and in DER it has one of three lengths: so would a certificate, the
// messages and records that it is in, and the time that they take. In a process that imports this, all that are made by
// keys on P-256 are as long as half of them would be, so that a run repeats from its seed.
import crypto, { type KeyObject } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const USUAL_BYTES = 71
const { sign } = crypto
const signed: (...asked: unknown[]) => Buffer = sign as never

const isOnP256 = (key: unknown): boolean =>
  (key as KeyObject | undefined)?.asymmetricKeyDetails?.namedCurve === 'prime256v1'

const evenly = (...asked: unknown[]): Buffer => {
  for (;;) {
    const signature = signed(...asked)
    if (!isOnP256(asked[2]) || signature.length === USUAL_BYTES) return signature
  }
}

crypto.sign = evenly as never
syncBuiltinESMExports()
