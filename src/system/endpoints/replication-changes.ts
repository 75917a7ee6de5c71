// What both families have in common where a set changes hands (Interface 3.1, 4.4, 4.5).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { type Args, bool, type Field, string } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { BY_MODE, carryOut, changed, type ReplicationSystem, reliedOn } from './replication-family.ts'
import { ACTIVATION, givenBy } from './replication-secondary-endpoints.ts'

const PROMOTED = 'This cluster becomes the primary of its set: requests may fail for a moment'
const DEMOTED: Readonly<Record<ReplicationFamily, string>> = {
  dr:
    'This cluster becomes a secondary that follows nobody, and serves no client: give it a primary with ' +
    '"secondary/update-primary"',
  performance:
    'This cluster becomes a secondary that follows nobody: it answers what it can by itself, and changes nothing ' +
    'that the set shares until it has a primary. Give it one with "secondary/update-primary"',
}
const NOT_ALL_IS_AT = (ids: readonly string[]): string =>
  `Not all that this cluster wrote is known to be at ${ids.join(', ')}: a promotion of one that lacks something is ` +
  'refused without "force", and this cluster sends nothing any more. If one is refused, promote another that has ' +
  'all, or this cluster again, with "force" if no other was promoted'
const FILTERS_END = (ids: readonly string[]): string =>
  `The filters of ${ids.join(', ')} end with this, and the next primary does not know them: write them there behind ` +
  'each "primary/secondary-token", before the token is used'
const LEFT =
  'This cluster has left its set, and goes on by itself with the data that it has. Its former primary still has it ' +
  'in its list: revoke it there'
const FOLLOWS =
  'The primary has let this cluster in: what differs is sent in the background, and the status shows how far'
const FOLLOWS_NOBODY = 'This cluster follows nobody any more; its data stay as they are'

/** A change of what this cluster is: its answer is not to be lost, whatever became of the caller's token. */
export const CHANGE = { neverWrapped: true, alwaysWarns: true } as const

/** `primary/demote`. */
export const demoteEndpoint = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    ...CHANGE,
    ...reliedOn(family),
    id: `replication-${family}-primary-demote`,
    path: `replication/${family}/primary/demote`,
    summary: 'Makes this primary a secondary that follows nobody; its data stay',
    describe:
      'Secondaries that are connected get the rest of the log first, for at most five seconds. The cluster stays in ' +
      'its set: secondary/update-primary with a token of the new primary lets it follow, and moves only what differs.',
    fields: {},
    handler: async (system: ReplicationSystem) => {
      const { behind, filtered } = await carryOut(system, family, (operations) => operations.demote(family))
      const isLeft = [
        ...(behind.length === 0 ? [] : [NOT_ALL_IS_AT(behind)]),
        ...(filtered.length === 0 ? [] : [FILTERS_END(filtered)]),
      ]
      return { ...changed(DEMOTED[family], ...isLeft), isOnlyCopy: true }
    },
  })

/** Fields of `secondary/promote`. */
export const PROMOTION = {
  primary_cluster_addr: string(
    'Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration',
    { default: '' },
  ),
  force: bool('Promotes the cluster whatever it lacks, and although its primary may go on; loses what is missing', {
    default: false,
  }),
}

/** The answer to a promotion; `former`: what became of the former primary. */
export const promoted = (...formers: readonly string[]): Answer => ({
  ...changed(PROMOTED, ...formers),
  isOnlyCopy: true,
})

/** Carries out `secondary/disable`. */
export async function leaveSet(system: ReplicationSystem, family: ReplicationFamily): Promise<Answer> {
  await carryOut(system, family, (operations) => operations.disableSecondary(family))
  return { ...changed(LEFT), isOnlyCopy: true }
}

/** What `secondary/update-primary` does in both families. */
export const UPDATE_PRIMARY = {
  summary: 'Gives this secondary another primary of its set; what differs is sent, and nothing is copied anew',
  describe:
    'What this cluster wrote and its new primary does not have is undone, and kept aside. A primary that cannot be ' +
    'reached, or refuses, changes nothing here. With a blank token the cluster follows nobody from now on.',
} as const

const NULL_TOKEN = 'is null: send the activation token of the new primary, or "" if this cluster is to follow nobody'

/** A program that has no token sends null, and does not mean the blank one, by which a cluster forgets its primary. */
export const notNull = <P extends boolean>(token: Field<string, P>): Field<string, P> => ({
  ...token,
  decode: (value, name) => {
    if (value === null) throw fail('field_invalid', [name, NULL_TOKEN])
    return token.decode(value, name)
  },
})

/** Fields of `secondary/update-primary`. */
export const UPDATE = {
  ...ACTIVATION,
  token: notNull(
    string('Activation token of the new primary; blank: the cluster forgets the one that it has', {
      required: true,
      secret: true,
    }),
  ),
  force: bool('Takes a token of another set too, if this cluster follows nobody', { default: false }),
}

/** Carries out `secondary/update-primary` with a token. */
export async function followAnother(
  system: ReplicationSystem,
  family: ReplicationFamily,
  args: Args<typeof UPDATE>,
): Promise<Answer> {
  const given = givenBy(args)
  await carryOut(system, family, (operations) => operations.updatePrimary(family, given, args.force))
  return changed(given.token.trim() === '' ? FOLLOWS_NOBODY : FOLLOWS)
}
