// sys/replication/performance: how a set changes hands (Interface 3.1, 4.5). A secondary of this family serves clients,
// so that its operators come with tokens of its own.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string, strings } from '../../api/fields.ts'
import {
  CHANGE,
  demoteEndpoint,
  followAnother,
  leaveSet,
  notNull,
  PROMOTION,
  promoted,
  UPDATE,
  UPDATE_PRIMARY,
} from './replication-changes.ts'
import { BY_MODE, carryOut, changed, type ReplicationSystem, reliedOn } from './replication-family.ts'

const FORMER =
  'The former primary is not told: demote it, and give it a token of this cluster. Until then it goes on writing, ' +
  'and what clients write there is lost to the set'
const MOVED = 'The primary was reached at the new addresses: this cluster follows it there'

const promote: Endpoint<ReplicationSystem> = endpoint({
  ...BY_MODE,
  ...CHANGE,
  ...reliedOn('performance'),
  id: 'replication-performance-secondary-promote',
  path: 'replication/performance/secondary/promote',
  summary: 'Makes this secondary the primary of its set; its own tokens, leases and local mounts stay',
  describe:
    'A primary that can be reached writes nothing for a moment, so that nothing is missing here. Where it cannot be ' +
    'reached, the cluster is promoted at once if it has all that the primary was known to have; else the answer is ' +
    '503 and says what is missing, and force promotes it. The former primary goes on as one: demote it, before or ' +
    'after. Other secondaries need new tokens.',
  fields: PROMOTION,
  handler: async (system: ReplicationSystem, { primary_cluster_addr: clusterAddress, force }) => {
    await carryOut(system, 'performance', (operations) => operations.promote('performance', { clusterAddress, force }))
    return promoted(FORMER)
  },
})

const disable: Endpoint<ReplicationSystem> = endpoint({
  ...BY_MODE,
  ...CHANGE,
  ...reliedOn('performance'),
  id: 'replication-performance-secondary-disable',
  path: 'replication/performance/secondary/disable',
  summary: 'Takes this secondary out of its set; it goes on by itself with the data that it has',
  fields: {},
  handler: (system: ReplicationSystem) => leaveSet(system, 'performance'),
})

const updatePrimary: Endpoint<ReplicationSystem> = endpoint({
  ...BY_MODE,
  ...UPDATE_PRIMARY,
  ...reliedOn('performance'),
  id: 'replication-performance-secondary-update-primary',
  path: 'replication/performance/secondary/update-primary',
  alwaysWarns: true,
  describe:
    `${UPDATE_PRIMARY.describe} Where the same primary, or a cluster that took its place with its certificates, has ` +
    'other addresses, update_primary_addrs is enough, and no token is needed.',
  fields: {
    ...UPDATE,
    token: notNull(
      string('Activation token of the new primary; blank: the cluster forgets the one that it has', { secret: true }),
    ),
    update_primary_addrs: strings(
      'Cluster addresses, https://host:port, that are tried in order: the first where the primary answers is kept, ' +
        'with those behind it. Not together with token',
      { default: [] },
    ),
  },
  handler: async (system: ReplicationSystem, args) => {
    const { token, update_primary_addrs: addresses } = args
    if (addresses.length > 0) {
      if (token !== undefined)
        throw fail('fields_conflict', ['update_primary_addrs', 'excludes "token": send one of the two'])
      await carryOut(system, 'performance', (operations) => operations.movePrimary('performance', addresses))
      return changed(MOVED)
    }
    if (token === undefined) throw fail('field_missing', ['token'])
    return followAnother(system, 'performance', { ...args, token })
  },
})

/** What changes who is the primary of a set for performance replication. */
export const PERFORMANCE_CHANGING_ENDPOINTS: readonly Endpoint<ReplicationSystem>[] = [
  demoteEndpoint('performance'),
  promote,
  disable,
  updatePrimary,
]
