// sys/replication/FAMILY/primary: begins and ends a set, lets secondaries in and sends them away (Interface 4.4, 4.5).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { duration, string } from '../../api/fields.ts'
import { type Answer, DONE } from '../../api/request.ts'
import { listOf, text } from '../../api/shape.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { IssuedToken } from '../replication-operations.ts'
import { BY_MODE, carryOut, changed, NAME_OF, type ReplicationSystem, reliedOn } from './replication-family.ts'

const BECOMES_PRIMARY = 'This cluster becomes a primary: requests may fail for a moment'
const IS_DISABLED =
  'The set has ended: requests may fail for a moment. Its secondaries are not let in any more, not even by a later set'
const HAS_NO_CLUSTER_ADDRESS =
  'The configuration does not say where secondaries reach the cluster port: set "cluster_addr" or "api_addr" before ' +
  'you ask for a token'
const HAS_NO_ADDRESS =
  'This server does not know the address of its API, so the token does not say where it is unwrapped: give ' +
  '"primary_api_addr" with it, or set "api_addr" in the configuration and ask for a new token'
const REPLACED = {
  'unused token': 'The token that was given for this id before was not used, and is void now',
  'claimed token':
    'A cluster came with the token that was given for this id before, and was handed the keys of the set. It did not ' +
    'say that it has stored them. It is refused from now on, and if its store was emptied, it must begin anew. ' +
    'If it is not yours, rotate the keys of the set and everything that they protect',
  secondary: 'A secondary was let in by this id before. It is refused from now on',
} as const

const FILTER_IS_GONE =
  'The filter of this id is gone: who comes with a token of it gets everything. Write it again behind ' +
  '"primary/secondary-token", before the token is used'

const enable = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    ...reliedOn(family),
    id: `replication-${family}-primary-enable`,
    path: `replication/${family}/primary/enable`,
    alwaysWarns: true,
    summary: `Makes this cluster the primary of a new set for ${NAME_OF[family]}`,
    fields: {
      primary_cluster_addr: string(
        'Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration',
        { default: '' },
      ),
    },
    handler: async (system: ReplicationSystem, { primary_cluster_addr: address }) => {
      await carryOut(system, family, (operations) => operations.enablePrimary(family, address))
      const isReachable = [address, system.facts.clusterAddress, system.facts.apiAddress].some(
        (one) => (one ?? '') !== '',
      )
      return changed(BECOMES_PRIMARY, ...(isReachable ? [] : [HAS_NO_CLUSTER_ADDRESS]))
    },
  })

const disable = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    ...reliedOn(family),
    id: `replication-${family}-primary-disable`,
    path: `replication/${family}/primary/disable`,
    alwaysWarns: true,
    summary: `Ends the set for ${NAME_OF[family]}, with the certificates of its secondaries`,
    fields: {},
    handler: async (system: ReplicationSystem) => {
      await carryOut(system, family, (operations) => operations.disablePrimary(family))
      return changed(IS_DISABLED)
    },
  })

const secondaryToken = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    // The token that unwraps the answer is one of this cluster.
    writes: 'cluster',
    sudo: true,
    id: `replication-${family}-primary-secondary-token`,
    path: `replication/${family}/primary/secondary-token`,
    summary: 'Makes a token by which one secondary is let in, once',
    describe:
      'Without secondary_public_key the answer is always wrapped, for the time of ttl: wrap_info.token is a JWT that ' +
      'says where it is unwrapped, and X-Vault-Wrap-TTL changes nothing. With it, data.token is sealed for the ' +
      'cluster that made the key, and is used without a call of this API.',
    fields: {
      id: string('Name of the secondary, of your choice; a token or secondary that has it is replaced', {
        required: true,
      }),
      ttl: duration('How long the token can be used, from 1 second to 768 hours', { default: 1_800 }),
      secondary_public_key: string('Public key that secondary/generate-public-key gave on the cluster to be let in', {
        default: '',
      }),
    },
    response: {
      token: text('The token, sealed for the key; `wrap_info.token` takes its place in an answer that is wrapped'),
    },
    wrappedWithout: 'secondary_public_key',
    handler: async (system: ReplicationSystem, { id, ttl, secondary_public_key: publicKey }) => {
      const wanted = { id, ttlMs: ttl * 1_000, publicKey }
      const issued = await carryOut(system, family, (operations) => operations.secondaryToken(family, wanted))
      return answerWith(issued, ttl, system.facts.apiAddress)
    },
  })

function answerWith(issued: IssuedToken, ttlSeconds: number, apiAddress: string): Answer {
  const { kind, text: token, replaced, hadFilter } = issued
  const isWrapped = kind === 'wrapped'
  const warnings = [
    ...(replaced === 'nothing' ? [] : [REPLACED[replaced]]),
    ...(hadFilter ? [FILTER_IS_GONE] : []),
    ...(isWrapped && apiAddress === '' ? [HAS_NO_ADDRESS] : []),
  ]
  return {
    data: { token },
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(isWrapped ? { wrapAs: { ttlSeconds, form: 'jwt' } } : {}),
  }
}

const revokeSecondary = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    ...reliedOn(family),
    id: `replication-${family}-primary-revoke-secondary`,
    path: `replication/${family}/primary/revoke-secondary`,
    summary: 'Sends a secondary away, or makes its token void; only a new token lets it in again',
    fields: { id: string('Name that the token was made for', { required: true }) },
    handler: async (system: ReplicationSystem, { id }) => {
      const hadFilter = await carryOut(system, family, (operations) => operations.revokeSecondary(family, id))
      return hadFilter ? changed(FILTER_IS_GONE) : DONE
    },
  })

const rotateAuthority = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  endpoint({
    ...BY_MODE,
    ...reliedOn(family),
    sudo: true,
    id: `replication-${family}-primary-rotate-authority`,
    path: `replication/${family}/primary/rotate-authority`,
    summary: 'Has the authority of the set followed by another one now; no link ends for it',
    describe:
      'A primary does it by itself when two thirds of the ten years of its authority are over. Secondaries trust ' +
      'both meanwhile: the new one signs once all of them have stored it; the former one is trusted until each ' +
      'certificate of it was renewed, which takes 60 days. A call before the new one signs begins nothing; one after ' +
      'that begins another, which signs when the former one is trusted no longer.',
    fields: {},
    response: {
      waits_for: listOf(
        text('Id'),
        'Secondaries that have not stored the next authority yet: it signs when they have, or were revoked',
      ),
    },
    handler: async (system: ReplicationSystem) => {
      const waitsFor = await carryOut(system, family, (operations) => operations.rotateAuthority(family))
      return { data: { waits_for: [...waitsFor] } }
    },
  })

/** What a primary of the family does for operators. */
export const primaryEndpoints = (family: ReplicationFamily): readonly Endpoint<ReplicationSystem>[] => [
  enable(family),
  disable(family),
  secondaryToken(family),
  revokeSecondary(family),
  rotateAuthority(family),
]
