// The services of a cluster port. A link names its service before it is made (ALPN).
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { SetName } from '../set/peer-name.ts'

/** The services by which a secondary follows. */
export const FOLLOWING_PROTOCOLS: Readonly<Record<ReplicationFamily, string>> = {
  dr: 'rep-dr/1',
  performance: 'rep-performance/1',
}
/** The service by which a secondary is let in. */
export const ACTIVATION_PROTOCOL = 'rep-boot/1'
/** The service by which a secondary has its primary carry out requests. */
export const ASKING_PROTOCOL = 'fwd/1'

/** A text that no other set or id has. */
export const keyOfPeer = ({ setId, family }: SetName, id: string): string => `${family}/${setId}/${id}`
