// sys/replication/FAMILY/secondary: how a cluster becomes a secondary (Interface 4.4, 4.5).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { type Args, string } from '../../api/fields.ts'
import { choice, group, listOf, text } from '../../api/shape.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { ActivationCheck, GivenActivation } from '../replication-operations.ts'
import { BY_MODE, carryOut, changed, NAME_OF, type ReplicationSystem } from './replication-family.ts'
import { generatePublicKey } from './secondary-key-endpoint.ts'

/** Longest path of a file here, as Linux has it. */
const MAX_PATH_CHARACTERS = 4_096

/** Fields of an activation token, and of how it is unwrapped. */
export const ACTIVATION = {
  token: string('Activation token: wrap_info.token or data.token of primary/secondary-token', {
    required: true,
    secret: true,
  }),
  primary_api_addr: string(
    'Address of the API of the primary, in place of the one in a token that is unwrapped there',
    {
      default: '',
    },
  ),
  ca_file: string('File on this server with CA certificates (PEM) that the API of the primary is trusted by', {
    default: '',
    max: MAX_PATH_CHARACTERS,
  }),
  ca_path: string('Directory on this server with such files; default of both: the CAs of the system', {
    default: '',
    max: MAX_PATH_CHARACTERS,
  }),
}

const LOOKS: readonly ActivationCheck['what'][] = ['token', 'api', 'cluster port', 'version', 'clock', 'admission']
const RESULTS: readonly ActivationCheck['result'][] = ['good', 'bad', 'not looked at']

/** What these fields were given. */
export const givenBy = (args: Args<typeof ACTIVATION>): GivenActivation => ({
  token: args.token,
  primaryApiAddress: args.primary_api_addr,
  caFile: args.ca_file,
  caPath: args.ca_path,
})

const UNTIL: Readonly<Record<ReplicationFamily, string>> = {
  dr: 'This cluster serves no client from now on, until it is promoted',
  performance: 'This cluster answers what it can once they are here',
}

const isLetIn = (family: ReplicationFamily): string =>
  'The primary has let this cluster in: its data are copied in the background, and the status shows how far. ' +
  `${UNTIL[family]}. What it held before is gone, and the key shares of the primary unseal it`

// While it runs, keys and data of this cluster give way to those of the primary, and the token of its caller with them.
// The answer tells what cannot be asked for again by that token, so a device that went too does not withhold it.
const enable = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    neverWrapped: true,
    alwaysWarns: true,
    id: `replication-${family}-secondary-enable`,
    path: `replication/${family}/secondary/enable`,
    summary: `Makes this cluster a secondary for ${NAME_OF[family]}: its data give way to those of the primary`,
    describe:
      'The answer comes when the primary has let this cluster in; the copy of its data goes on behind it. A primary ' +
      'that cannot be reached, or refuses, changes nothing here. Tokens, mounts and audit devices of this cluster ' +
      'are gone afterwards, but for devices that its configuration declares. secondary/check looks first; of a ' +
      'wrapped token it cannot check the cluster port.',
    fields: ACTIVATION,
    handler: async (system: ReplicationSystem, args) => {
      await carryOut(system, family, (operations) => operations.enableSecondary(family, givenBy(args)))
      return { ...changed(isLetIn(family)), isOnlyCopy: true }
    },
  })

const check = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    id: `replication-${family}-secondary-check`,
    path: `replication/${family}/secondary/check`,
    summary:
      'Looks for what would keep secondary/enable with these fields from success; changes nothing, here or there',
    fields: ACTIVATION,
    response: {
      checks: listOf(
        group(
          {
            what: choice(LOOKS, 'What was looked at'),
            result: choice(RESULTS, 'How it is'),
            sentence: text('What was found, and what to do about it'),
          },
          'One look',
        ),
        'In the order in which they were taken',
      ),
    },
    handler: async (system: ReplicationSystem, args) => {
      const checks = await carryOut(system, family, (operations) => operations.check(family, givenBy(args)))
      return { data: { checks: checks.map(({ what, result, sentence }) => ({ what, result, sentence })) } }
    },
  })

/** What leads a cluster to be a secondary of the family. */
export const secondaryEndpoints = (family: ReplicationFamily): readonly Endpoint<ReplicationSystem>[] => [
  generatePublicKey(family),
  enable(family),
  check(family),
]
