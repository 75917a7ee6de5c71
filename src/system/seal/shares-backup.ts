// The backup of shares: what a rekey keeps of them for a holder who loses theirs, if its caller asks for that.
//
//   root/core/unseal-shares-backup, recovery-shares-backup
//     behind the barrier: {"format":1,"nonce":…,"keys":{FINGERPRINT:[hex of an OpenPGP message]}}
import { mapOf, text, texts } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** The encrypted shares of the last rekey, for a holder who lost theirs. Each opens only with its OpenPGP key. */
export const SHARES_BACKUP = storedRecord('A backup of shares', { nonce: text, keys: mapOf(texts) }, 'dropped')
/** Decoded SHARES_BACKUP; `keys` has messages in hexadecimal by fingerprint. */
export type SharesBackup = RecordOf<typeof SHARES_BACKUP>

/** Names in the seal's folder, by the kind of key whose shares were kept. */
export const BACKUP_NAMES = { 'unseal key': 'unseal-shares-backup', 'recovery key': 'recovery-shares-backup' } as const
