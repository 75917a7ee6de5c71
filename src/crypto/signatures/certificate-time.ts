// Times of certificates: UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 section 4.1.2.5).
import { DER, DerError, type DerReader, der } from '../encoding/der.ts'

const FIRST_GENERALIZED_YEAR = 2050
const FORMS: ReadonlyMap<number, RegExp> = new Map([
  [DER.utcTime, /^\d{12}Z$/],
  [DER.generalizedTime, /^\d{14}Z$/],
])
const UTC_CHARACTERS = 13

/** A point in time, whose milliseconds are dropped. @throws RangeError outside the years 1950 to 9999 */
export function derTime(ms: number): Buffer {
  const iso = new Date(ms).toISOString()
  const year = Number(iso.slice(0, 4))
  if (!(year >= 1950 && iso.length === '1950-01-01T00:00:00.000Z'.length))
    throw new RangeError('The time of a certificate is out of range')
  const digits = `${iso.slice(0, 19).replace(/[-T:]/g, '')}Z`
  return year < FIRST_GENERALIZED_YEAR
    ? der(DER.utcTime, Buffer.from(digits.slice(-UTC_CHARACTERS)))
    : der(DER.generalizedTime, Buffer.from(digits))
}

/** The next value, which must be a time in its one form. @throws DerError */
export function readTime(reader: DerReader): number {
  const { tag, content, whole } = reader.value()
  const text = content.toString('latin1')
  if (FORMS.get(tag)?.test(text) !== true) throw new DerError('a time is none')
  // Two digits of a year mean 1950 to 2049.
  const full = tag === DER.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const iso = full.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const ms = Date.parse(iso)
  // The runtime takes 30 February for a day in March, and the shorter form is the only one where it is possible.
  if (Number.isNaN(ms) || Number(full.slice(0, 4)) < 1950 || !derTime(ms).equals(whole))
    throw new DerError('a time is none')
  return ms
}
