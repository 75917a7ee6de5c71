// The looks before an activation, as the operator reads them: each with what was found, and what to do about it.
import type { Knocked } from '../../replication/link/link-sides.ts'
import type { ActivationCheck } from '../../system/replication-operations.ts'
import type { PrimaryCheck } from './primary-api.ts'

type What = ActivationCheck['what']
type Found = Partial<Record<What, readonly [result: 'good' | 'bad', sentence: string]>>

const IN_ORDER: readonly What[] = ['token', 'api', 'cluster port', 'version', 'clock', 'admission']
/** Certificates hold from an hour before they are made (src/replication/set/certificates.ts). */
const MOST_SKEW_MS = 3_600_000

/** `rest` says why a look was not made. */
function checks(found: Found, rest: string): readonly ActivationCheck[] {
  return IN_ORDER.map((what) => {
    const [result, sentence] = found[what] ?? ['not looked at', rest]
    return { what, result, sentence }
  })
}

/** A token that is none, or not for this cluster. */
export const checksOfBadToken = (sentence: string): readonly ActivationCheck[] =>
  checks({ token: ['bad', sentence] }, 'The token must be right first')

/** A wrapped token: what the primary's API said. The version that it tells clients is not that of its program. */
export function checksOfApi(looked: PrimaryCheck): readonly ActivationCheck[] {
  const found: Found = {
    token: ['good', 'It is an activation token that a primary has wrapped'],
    api: [looked.kind === 'good' ? 'good' : 'bad', looked.sentence],
    ...(looked.clockSkewMs === undefined ? {} : { clock: clock(looked.clockSkewMs) }),
  }
  const rest =
    'Not checked: only the wrapped part tells it, and that can be read once. For a full check, use a token for a ' +
    'public key'
  return checks(found, rest)
}

/** A token with its bundle: what the primary's cluster port said. */
export function checksOfPort(address: string, knocked: Knocked, ownVersion: string): readonly ActivationCheck[] {
  const token: Found = { token: ['good', 'It is an activation token for this cluster, and needs no call to an API'] }
  if (knocked.kind === 'no-link') {
    return checks({ ...token, 'cluster port': ['bad', knocked.sentence] }, 'The primary must be reached first')
  }
  const reached: Found = { ...token, 'cluster port': ['good', `A primary answers at ${address}`] }
  if (knocked.kind === 'refused') {
    const what = knocked.code === 'version' || knocked.code === 'clock' ? knocked.code : 'admission'
    return checks({ ...reached, [what]: ['bad', knocked.sentence] }, 'The primary has refused before')
  }
  return checks(
    {
      ...reached,
      ...(knocked.kind === 'welcome' ? { version: versions(knocked.version, ownVersion) } : {}),
      clock: clock(knocked.clockSkewMs),
      admission: ['good', 'The primary would let this cluster in'],
    },
    'It is not needed',
  )
}

const versions = (theirs: string, ours: string): readonly ['good', string] => [
  'good',
  `The primary has version ${theirs}, this cluster ${ours}`,
]

function clock(skewMs: number): readonly ['good' | 'bad', string] {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const sentence = `The clock of the primary is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead'}`
  return [Math.abs(skewMs) < MOST_SKEW_MS ? 'good' : 'bad', sentence]
}
