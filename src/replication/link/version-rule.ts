// Which clusters may follow which, by their programs. A newer secondary can follow an older primary; a newer primary
// may write what an older secondary does not know.
import { compareVersions } from '../../lib/semantic-version.ts'
import { RECORD_FORMAT } from '../../storage/log/change-record.ts'
import { type Message, PROTOCOL } from '../protocol/messages.ts'

/** What a program speaks, as it says in its greeting. */
export type Speaks = Pick<Message<'hello'>, 'oldest' | 'newest' | 'recordFormat' | 'version'>

/** What this program speaks. `version` is its own. */
export const ownSpeech = (version: string): Speaks => ({ ...PROTOCOL, recordFormat: RECORD_FORMAT, version })

/** The version of the protocol that both use, or why the secondary cannot follow: a sentence for its operator. */
export function agreedProtocol(primary: Speaks, secondary: Speaks): number | { readonly sentence: string } {
  const apart = compareVersions(primary.version, secondary.version)
  // A text that is none is not repeated: it may hold anything.
  if (apart === undefined) return { sentence: 'One of the two clusters does not say which version it has' }
  const versions = `The primary has version ${primary.version}, and the secondary ${secondary.version}`
  if (apart > 0) return { sentence: `${versions}: upgrade the secondary first` }
  if (primary.recordFormat > secondary.recordFormat) {
    const sentence = `${versions}, which cannot read what the primary writes: upgrade the secondary first`
    return { sentence }
  }
  const protocol = Math.min(primary.newest, secondary.newest)
  if (protocol >= Math.max(primary.oldest, secondary.oldest)) return protocol
  const older = primary.newest < secondary.oldest ? 'primary' : 'secondary'
  return { sentence: `${versions}, and both have no version of the protocol in common: upgrade the ${older} first` }
}
