// The authorities of a set, as its primary keeps them: the present one; a next one, while that is made known; and the
// one before, while there may be leaves of it. Whoever is of the set trusts all of them.
import { certificateFingerprint, readCertificate } from '../../crypto/signatures/certificate.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { KeyedCertificate } from './certificates.ts'
import { type SetReader, setPath } from './records.ts'

/** The authorities of a set, in DER. */
export type SetAuthorities = {
  readonly present: Buffer
  readonly next: Buffer | undefined
  readonly old: Buffer | undefined
}

/**
 * So long before its end the present authority signs no more, if there is a next one: a leaf of it would end at once.
 * Until then those that have not heard of the next one can come.
 */
export const CLOSE_TO_END_MS = 24 * 3_600_000

/** The authorities of a set. @throws StorageCorrupt if a primary has none */
export async function readAuthorities(tx: SetReader, family: ReplicationFamily): Promise<SetAuthorities> {
  const [present, next, old] = [
    await tx.get(setPath(family, 'authority')),
    await tx.get(setPath(family, 'next-authority')),
    await tx.get(setPath(family, 'old-authority')),
  ]
  return { present: present ?? missing('authority'), next, old }
}

/** All of them. */
export const trustedOf = ({ present, next, old }: SetAuthorities): Buffer[] =>
  [present, next, old].filter((one) => one !== undefined)

/** How records tell authorities apart. */
export const authorityMark = (certificate: Buffer): string => encodeBase64(certificateFingerprint(certificate))

/** Which of them signs leaves now, and until when at most. */
export function signingOf(
  { present, next }: Pick<SetAuthorities, 'present' | 'next'>,
  nowMs: number,
): { readonly certificate: Buffer; readonly which: 'authority' | 'next-authority'; readonly untilMs: number } {
  const untilMs = readCertificate(present).notAfterMs - CLOSE_TO_END_MS
  if (next === undefined) return { certificate: present, which: 'authority', untilMs: Number.POSITIVE_INFINITY }
  // Nothing of this is stored: a clock that was ahead is set, and the present one signs again.
  if (nowMs < untilMs) return { certificate: present, which: 'authority', untilMs }
  return { certificate: next, which: 'next-authority', untilMs: Number.POSITIVE_INFINITY }
}

/** The authority that signs leaves now; the caller wipes its key. @throws StorageCorrupt if a primary has none */
export async function signingAuthority(
  tx: SetReader,
  family: ReplicationFamily,
  nowMs: number,
): Promise<KeyedCertificate> {
  const { certificate, which } = signingOf(await readAuthorities(tx, family), nowMs)
  const key = (await tx.get(setPath(family, `${which}-key`))) ?? missing(`${which}-key`)
  return { certificate, key }
}

function missing(entry: string): never {
  throw new StorageCorrupt(`A primary has no entry "${entry}" of its set`)
}
