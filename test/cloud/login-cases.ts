// The cases of cloud logins, each with the verdict and the reason of a refusal. Unless a case says otherwise the role
// is bound to vm1's own identity, the token is a good one of it, and the request names vm1.
import { SAMPLE } from '../../emulator/sample-plan.ts'
import type { Claims } from '../../emulator/tokens.ts'
import type { CloudServer } from '../fixtures/cloud-server.ts'

export type LoginCase = {
  readonly id: string
  readonly name: string
  /** Of the role; missing: bound to vm1's own identity. */
  readonly role?: object
  /** Over the request; undefined takes a field out. */
  readonly input?: Readonly<Record<string, unknown>>
  /** Missing: vm1's own. */
  readonly token?: (server: CloudServer) => Promise<string> | string
  readonly config?: object
  /** Gives what takes it back. */
  readonly around?: (server: CloudServer) => (() => unknown) | Promise<() => unknown>
  readonly wanted: 'allow' | readonly [status: number, reason: RegExp]
  /** Where it is something else that is shown. */
  readonly metadata?: object
}

const S1 = SAMPLE.subscription
const S2 = SAMPLE.otherSubscription
const FIRST = { bound_subscription_ids: [S1] }
/** A subscription with the same first characters as the first one, and no other that is the same. */
const alikeFor = (same: number): string =>
  [...S1].map((character, at) => (at < same || character === '-' ? character : 'e')).join('')

export const DEFAULT_INPUT = { subscription_id: S1, resource_group_name: 'rg-app', vm_name: 'vm1' }

const nowSeconds = (server: CloudServer): number => Math.floor(server.emulator.clock.nowMs() / 1000)
const vm1Token = (server: CloudServer, options: object = {}) =>
  server.emulator.minting.ofResource(server.vm('vm1'), options)
const claims = (of: Claims | ((server: CloudServer) => Claims)) => (server: CloudServer) =>
  vm1Token(server, { claims: typeof of === 'function' ? of(server) : of })
const ofVm = (name: string, user?: string, group?: string, subscription?: string) => (server: CloudServer) =>
  server.emulator.minting.ofResource(
    server.vm(name, group, subscription),
    user === undefined ? {} : { userIdentity: server.identity(user) },
  )
const ofSet = (name: string, user?: string) => (server: CloudServer) =>
  server.emulator.minting.ofResource(
    server.set(name),
    user === undefined ? {} : { userIdentity: server.identity(user) },
  )
const ofSite = (name: string, group?: string, subscription?: string, user?: string) => (server: CloudServer) =>
  server.emulator.minting.ofResource(
    server.site(name, group, subscription),
    user === undefined ? {} : { userIdentity: server.identity(user) },
  )
const federated = (name: string) => (server: CloudServer) =>
  server.emulator.minting.ofFederatedIdentity(server.identity(name))

const anyPrincipal = (bounds: object) => ({ bound_service_principal_ids: '*', ...bounds })
const site =
  (input: object = {}) =>
  (server: CloudServer) => ({ vm_name: undefined, resource_id: server.site('site1'), ...input })
/** Fields of the request that need the ids of the sample. */
export const INPUTS: Readonly<Record<string, (server: CloudServer) => object>> = {
  L96: site(),
  L97: (server) => ({
    vm_name: undefined,
    resource_id: server.site('site1').toUpperCase(),
    resource_group_name: 'RG-APP',
  }),
  L98: site(),
  L99: (server) => ({ vm_name: undefined, resource_id: server.site('site1', 'rg-app', S2) }),
  L100: (server) => ({ vm_name: undefined, resource_id: server.site('site9', 'rg-app-evil') }),
  L101: (server) => ({ vm_name: undefined, resource_id: server.site('site9', 'rg-app-evil') }),
  L104: (server) => ({ vm_name: undefined, resource_id: server.site('site9', 'rg-app-evil') }),
  L105: site(),
  L106: site(),
  L107: (server) => ({
    vm_name: undefined,
    resource_group_name: 'rg-evil',
    resource_id: server.site('site3', 'rg-evil'),
  }),
  L108: site(),
  L111: (server) => ({
    vm_name: undefined,
    resource_group_name: 'rg-evil',
    resource_id: server.site('site3', 'rg-evil'),
  }),
  'L111 b': site(),
  L112: (server) => ({ vm_name: undefined, resource_id: server.vm('vm1') }),
  'L112 b': (server) => ({ vm_name: undefined, resource_id: server.set('ss-u').toUpperCase() }),
  'L112 c': (server) => ({ vm_name: undefined, resource_id: `${server.vm('vm1')}/extensions/any` }),
  'L112 d': (server) => ({ vm_name: undefined, resource_id: server.vm('vm1') }),
  L113: (server) => ({
    vm_name: undefined,
    resource_group_name: 'rg-evil',
    resource_id: server.site('site3', 'rg-evil'),
  }),
  'L113 b': site(),
  'L-01 f': (server) => ({ vm_name: undefined, resource_id: server.site('site2') }),
}

const SITE1 = `/subscriptions/${S1}/resourceGroups/rg-app/providers/Microsoft.Web/sites/site1`
const DIRECTORY_GROUP = '33333333-3333-4333-8333-333333333333'
const NO_VM = { vm_name: undefined }

export const LOGIN_CASES: readonly LoginCase[] = [
  // Shape of the request.
  {
    id: 'L1',
    name: 'role and jwt only, require_resource_fields off',
    config: { require_resource_fields: false },
    input: { subscription_id: undefined, resource_group_name: undefined, vm_name: undefined },
    wanted: 'allow',
    metadata: { subscription_id: '', resource_group_name: '' },
  },
  {
    id: 'L1 b',
    name: 'role and jwt only, as it is by default',
    input: { subscription_id: undefined, resource_group_name: undefined, vm_name: undefined },
    wanted: [400, /require_resource_fields/],
  },
  { id: 'L2', name: 'jwt is missing', input: { jwt: undefined }, wanted: [400, /jwt is required/] },
  { id: 'L3', name: 'role is missing', input: { role: undefined }, wanted: [400, /role is required/] },
  { id: 'L4', name: 'unknown role', input: { role: 'nobody' }, wanted: [400, /invalid role name/] },
  ...['a\ud800b', 'a\u202eb', 'a\u0000b', '..', 'ba\u212ach', '\u{10ffff}'.repeat(100)].map(
    (role): LoginCase => ({
      id: `L4 ${JSON.stringify(role).slice(0, 41)}`,
      name: 'a role that has no such name',
      input: { role },
      wanted: [400, /invalid role name/],
    }),
  ),
  ...(['subscription_id', 'resource_group_name', 'vm_name', 'vmss_name'] as const).map(
    (field): LoginCase => ({
      id: `L9 ${field}`,
      name: 'half of a character, which no text has',
      input: { [field]: 'a\ud800b' },
      wanted: [400, /invalid/],
    }),
  ),
  {
    id: 'L18 b',
    name: 'a signature with another last character of the same bytes',
    token: async (server) => respelled(await vm1Token(server), 2),
    wanted: [400, /malformed jwt: expected three parts in base64url/],
  },
  {
    id: 'L18 c',
    name: 'a payload with another last character of the same bytes',
    // Of a length that leaves bits to spare.
    token: async (server) => {
      for (let pad = 'x'; ; pad += 'x') {
        const jwt = await vm1Token(server, { claims: { pad } })
        if ((jwt.split('.')[1] ?? '').length % 4 !== 0) return respelled(jwt, 1)
      }
    },
    wanted: [400, /malformed jwt: expected three parts in base64url/],
  },
  { id: 'L5', name: 'role in another case', input: { role: 'CASE-l5' }, wanted: 'allow' },
  {
    id: 'L6',
    name: 'from elsewhere',
    role: { token_bound_cidrs: '10.0.0.0/8' },
    wanted: [403, /^permission denied$/],
  },
  {
    id: 'L7',
    name: 'subscription_id is no GUID',
    input: { subscription_id: 'x' },
    wanted: [400, /invalid subscription id/],
  },
  {
    id: 'L8',
    name: 'resource_group_name climbs',
    input: { resource_group_name: 'a/../b' },
    wanted: [400, /invalid resource group name/],
  },
  { id: 'L9', name: 'vm_name climbs', input: { vm_name: '../a' }, wanted: [400, /invalid vm name/] },
  { id: 'L10', name: 'vmss_name climbs', input: { vmss_name: 'a/../b' }, wanted: [400, /invalid vmss_name/] },
  {
    id: 'L11',
    name: 'resource_group_name ends in a period',
    input: { resource_group_name: 'rg.' },
    wanted: [400, /invalid resource group name/],
  },
  { id: 'L12', name: 'a group in another script', input: { resource_group_name: 'сыноо' }, wanted: 'allow' },
  { id: 'L13', name: 'an instance of a scale set as vm_name', input: { vm_name: 'ss-u_0' }, wanted: 'allow' },
  { id: 'L14', name: 'vm_name begins with a digit', input: { vm_name: '111web' }, wanted: 'allow' },
  {
    id: 'L16',
    name: 'identity provider unreachable',
    around: (server) => server.emulator.faults.add({ service: 'authority', action: { kind: 'status', status: 500 } }),
    wanted: [502, /identity provider unavailable/],
  },
  // The token.
  { id: 'L17', name: 'a good token', wanted: 'allow', metadata: { ...DEFAULT_INPUT } },
  {
    id: 'L18',
    name: 'three parts, of which none is JSON',
    token: () => 'aaaa.bbbb.cccc',
    wanted: [400, /malformed jwt/],
  },
  { id: 'L19', name: 'alg none', token: (server) => vm1Token(server, { key: 'none' }), wanted: [403, /alg/] },
  {
    id: 'L20',
    name: 'HS256 with the public key',
    token: (server) => vm1Token(server, { key: 'hmac' }),
    wanted: [403, /alg/],
  },
  { id: 'L21', name: 'PS256', token: (server) => vm1Token(server, { algorithm: 'PS256' }), wanted: [403, /alg/] },
  { id: 'L21 b', name: 'RS512', token: (server) => vm1Token(server, { algorithm: 'RS512' }), wanted: [403, /alg/] },
  {
    id: 'L22',
    name: 'a foreign key under the name of a real one',
    token: (server) => vm1Token(server, { key: 'foreign', header: { kid: server.emulator.keys.current.kid } }),
    wanted: [403, /signature/],
  },
  {
    id: 'L23',
    name: 'an unknown key',
    token: (server) => vm1Token(server, { key: 'foreign' }),
    wanted: [403, /signature/],
  },
  {
    id: 'L24',
    name: 'no kid',
    token: (server) => vm1Token(server, { header: { kid: undefined } }),
    wanted: [403, /kid missing/],
  },
  {
    id: 'L24 b',
    name: 'a kid as long as a key may be named, that no key has',
    token: (server) => vm1Token(server, { header: { kid: 'k'.repeat(256) } }),
    wanted: [403, /signature/],
  },
  {
    id: 'L24 c',
    name: 'a kid that is longer than any name of a key',
    token: (server) => vm1Token(server, { header: { kid: 'k'.repeat(257) } }),
    wanted: [403, /kid missing/],
  },
  {
    id: 'L25',
    name: 'a header that brings its own key',
    token: async (server) => {
      const foreign = await server.emulator.keys.foreign()
      const { kid } = server.emulator.keys.current
      return vm1Token(server, {
        key: 'foreign',
        header: { kid, jwk: foreign.jwk, jku: 'http://127.0.0.1:1/', x5u: 'x' },
      })
    },
    wanted: [403, /signature/],
  },
  {
    id: 'L26',
    name: 'aud differs by the slash at its end',
    token: claims({ aud: 'https://management.azure.com' }),
    wanted: [403, /audience: "https:\/\/management.azure.com" .*at its end/],
  },
  { id: 'L27', name: 'aud is a list', token: claims({ aud: ['x', 'https://management.azure.com/'] }), wanted: 'allow' },
  { id: 'L28', name: 'aud is missing', token: claims({ aud: undefined }), wanted: [403, /audience/] },
  {
    id: 'L29',
    name: 'aud of another API',
    token: (server) => vm1Token(server, { audience: 'https://graph.microsoft.com' }),
    wanted: [403, /audience/],
  },
  {
    id: 'L30',
    name: 'iss of another tenant',
    token: claims((server) => ({
      iss: `${server.emulator.addresses('http').authority}/${SAMPLE.otherTenant}/`,
      tid: SAMPLE.otherTenant,
    })),
    wanted: [403, /issuer/],
  },
  { id: 'L31', name: 'tid of another tenant', token: claims({ tid: SAMPLE.otherTenant }), wanted: [403, /tenant/] },
  { id: 'L32', name: 'version 2.0, not taken', token: claims(second), wanted: [403, /issuer.*accept_v2_tokens/] },
  {
    id: 'L33',
    name: 'version 2.0, taken',
    config: { accept_v2_tokens: true },
    token: claims(second),
    wanted: 'allow',
  },
  {
    id: 'L34',
    name: 'expired a second ago',
    token: claims((server) => ({ exp: nowSeconds(server) - 1 })),
    wanted: [403, /expired/],
  },
  { id: 'L35', name: 'exp is missing', token: claims({ exp: undefined }), wanted: [403, /expired/] },
  { id: 'L36', name: 'nbf 30 s ahead', token: claims((server) => ({ nbf: nowSeconds(server) + 30 })), wanted: 'allow' },
  {
    id: 'L37',
    name: 'nbf 120 s ahead',
    token: claims((server) => ({ nbf: nowSeconds(server) + 120 })),
    wanted: [403, /not yet valid/],
  },
  { id: 'L38', name: 'nbf is missing', token: claims({ nbf: undefined }), wanted: [403, /not yet valid/] },
  {
    id: 'L39',
    name: 'oid is missing, a machine with an identity without a principal',
    role: anyPrincipal(FIRST),
    token: (server) =>
      server.emulator.minting.ofResource(server.vm('nilp'), {
        userIdentity: server.identity('u3'),
        claims: { oid: undefined },
      }),
    input: { vm_name: 'nilp' },
    wanted: [403, /object id missing/],
  },
  {
    id: 'L40',
    name: 'oid is missing, the group fits',
    role: { bound_group_ids: ['g1'] },
    token: claims({ oid: undefined, groups: ['g1'] }),
    wanted: [403, /object id missing/],
  },
  { id: 'L41', name: 'groups is a text', token: claims({ groups: 'g1' }), wanted: [403, /groups claim type/] },
  {
    id: 'L42',
    name: 'the key is of another issuer',
    around: (server) => {
      const { keys } = server.emulator
      const before = keys.published
      const other = { issuer: `https://login.example/${SAMPLE.otherTenant}/v2.0` }
      keys.replacePublished(before.map((key) => ({ ...key, ...other })))
      return () => keys.replacePublished(before)
    },
    wanted: [403, /signing key issuer/],
  },
  {
    id: 'L43',
    name: 'the token of a person whose oid is bound',
    token: claims({ idtyp: 'user', scp: 'user_impersonation', xms_mirid: undefined }),
    wanted: 'allow',
    metadata: { subscription_id: '', resource_group_name: '' },
  },
  // Principals and groups.
  { id: 'L45', name: 'oid in another case', role: { bound_service_principal_ids: ['UPPER vm1'] }, wanted: 'allow' },
  {
    id: 'L46',
    name: 'oid not in the list',
    token: ofVm('vm2'),
    wanted: [403, /service principal not authorized/],
  },
  { id: 'L47', name: 'bound to a subscription alone', role: FIRST, wanted: 'allow' },
  {
    id: 'L48',
    name: 'both lists are *',
    role: { bound_service_principal_ids: '*', bound_group_ids: '*' },
    wanted: [403, /no effective constraint/],
  },
  { id: 'L49', name: 'principals are *', role: anyPrincipal({}), wanted: [403, /no effective constraint/] },
  { id: 'L50', name: 'principals are *, the subscription fits', role: anyPrincipal(FIRST), wanted: 'allow' },
  { id: 'L51', name: 'groups are *', role: { bound_group_ids: '*' }, wanted: [403, /no effective constraint/] },
  {
    id: 'L52',
    name: '* beside another entry is itself',
    role: { bound_service_principal_ids: ['*', 'other'] },
    wanted: [403, /service principal not authorized/],
  },
  {
    id: 'L53',
    name: 'group in another case',
    role: { bound_group_ids: ['G1'] },
    token: claims({ groups: ['g1'] }),
    wanted: 'allow',
  },
  {
    id: 'L54',
    name: 'group not in the list',
    role: { bound_group_ids: ['g2'] },
    token: claims({ groups: ['g1'] }),
    wanted: [403, /groups not authorized/],
  },
  { id: 'L55', name: 'no groups', role: { bound_group_ids: ['g1'] }, wanted: [403, /groups not authorized/] },
  {
    id: 'L56',
    name: 'too many groups to list, the directory is not asked',
    role: { bound_group_ids: ['g1'] },
    token: claims(overage),
    wanted: [403, /group overage/],
  },
  {
    id: 'L56 b',
    name: 'too many groups to list, the directory is asked and agrees',
    role: { bound_group_ids: ['g1', DIRECTORY_GROUP] },
    config: { check_group_overage: true },
    around: (server) => {
      const principal = server.emulator.directory.getPrincipal(server.oid(server.vm('vm1')))
      principal.groups.add(DIRECTORY_GROUP)
      return () => principal.groups.delete(DIRECTORY_GROUP)
    },
    token: claims(overage),
    wanted: 'allow',
  },
  {
    id: 'L56 e',
    name: 'too many groups to list, the directory is not asked for what is no id of a group',
    role: { bound_group_ids: ['g1', 'g2'] },
    config: { check_group_overage: true },
    around: (server) => server.emulator.faults.add({ service: 'graph', action: { kind: 'status', status: 400 } }),
    token: claims(overage),
    wanted: [403, /groups not authorized/],
  },
  {
    id: 'L56 c',
    name: 'too many groups to list, the directory is asked and does not agree',
    role: { bound_group_ids: ['g1', 'g3'] },
    config: { check_group_overage: true },
    token: claims(overage),
    wanted: [403, /groups not authorized/],
  },
  { id: 'L56 d', name: 'too many groups to list, none is needed', token: claims(overage), wanted: 'allow' },
  {
    id: 'L57',
    name: 'the principal fits, the group does not',
    role: { bound_service_principal_ids: ['vm1'], bound_group_ids: ['g2'] },
    token: claims({ groups: ['g1'] }),
    wanted: [403, /groups not authorized/],
  },
  {
    id: 'L58',
    name: 'principal and group fit',
    role: { bound_service_principal_ids: ['vm1'], bound_group_ids: ['g1'] },
    token: claims({ groups: ['g1'] }),
    wanted: 'allow',
  },
  // Virtual machines.
  { id: 'L59', name: 'own identity', role: anyPrincipal(FIRST), wanted: 'allow', metadata: DEFAULT_INPUT },
  { id: 'L60', name: 'user-assigned identity', role: anyPrincipal(FIRST), token: ofVm('vm1', 'u1'), wanted: 'allow' },
  {
    id: 'L61',
    name: 'subscription not in the list',
    role: anyPrincipal({ bound_subscription_ids: [S2] }),
    wanted: [403, /subscription not authorized/],
  },
  {
    id: 'L62',
    name: 'resource group, asked for in upper case',
    role: anyPrincipal({ bound_resource_groups: ['rg-app'] }),
    input: { resource_group_name: 'RG-APP' },
    wanted: 'allow',
    metadata: DEFAULT_INPUT,
  },
  {
    id: 'L63',
    name: 'resource group not in the list',
    role: anyPrincipal({ bound_resource_groups: ['rg-other'] }),
    wanted: [403, /resource group not authorized/],
  },
  { id: 'L64', name: 'location in another case', role: anyPrincipal({ bound_locations: ['EastUS'] }), wanted: 'allow' },
  {
    id: 'L65',
    name: 'location not in the list',
    role: anyPrincipal({ bound_locations: ['westus'] }),
    wanted: [403, /location not authorized/],
  },
  {
    id: 'L66',
    name: 'subscription_id is missing',
    role: anyPrincipal(FIRST),
    input: { subscription_id: undefined },
    config: { require_resource_fields: false },
    wanted: [400, /subscription_id and resource_group_name are required/],
  },
  {
    id: 'L67',
    name: 'resource_group_name is missing',
    role: anyPrincipal(FIRST),
    input: { resource_group_name: undefined },
    config: { require_resource_fields: false },
    wanted: [400, /subscription_id and resource_group_name are required/],
  },
  { id: 'L68', name: 'no machine is named', role: anyPrincipal(FIRST), input: NO_VM, wanted: [403, /one of vm_name/] },
  {
    id: 'L69',
    name: 'no machine is named, and no application',
    role: anyPrincipal(FIRST),
    input: NO_VM,
    token: claims({ appid: undefined }),
    wanted: [403, /one of vm_name/],
  },
  {
    id: 'L70',
    name: 'the token of another machine',
    role: anyPrincipal(FIRST),
    token: ofVm('vm2'),
    wanted: [403, /claim does not match vm_name/],
  },
  {
    id: 'L71',
    name: 'the token of a machine whose name begins alike, with a shared identity',
    role: anyPrincipal(FIRST),
    token: ofVm('vm1x', 'u1'),
    wanted: [403, /claim does not match vm_name/],
  },
  {
    id: 'L72',
    name: 'the token of the same name in another group, with a shared identity',
    role: anyPrincipal(FIRST),
    token: ofVm('vm1', 'u1', 'rg-other'),
    wanted: [403, /claim does not match resource_group_name/],
  },
  {
    id: 'L73',
    name: 'the same, and the identity lies in the group that is asked for',
    role: anyPrincipal(FIRST),
    token: ofVm('vm1', 'u1', 'rg-other'),
    input: { resource_group_name: 'rg-id' },
    wanted: [403, /claim does not match resource_group_name/],
  },
  {
    id: 'L74',
    name: 'the token of the same name in another subscription',
    role: anyPrincipal(FIRST),
    token: claims((server) => ({
      xms_mirid: server.vm('vm1', 'rg-app', S2).replace('resourceGroups', 'resourcegroups'),
    })),
    wanted: [403, /claim does not match subscription_id/],
  },
  ...([1, 12, 35] as const).map(
    (same): LoginCase => ({
      id: `L74 ${same}`,
      name: `a subscription that is the same in its first ${same} characters alone`,
      role: anyPrincipal(FIRST),
      token: claims((server) => ({ xms_mirid: server.vm('vm1', 'rg-app', alikeFor(same)) })),
      wanted: [403, /claim does not match subscription_id/],
    }),
  ),
  {
    id: 'L74 group',
    name: 'the token of a group whose name goes on behind that of the request',
    role: anyPrincipal(FIRST),
    token: claims((server) => ({ xms_mirid: server.vm('vm1', 'rg-app-evil') })),
    wanted: [403, /claim does not match resource_group_name/],
  },
  {
    id: 'L74 shorter',
    name: 'the token of a group whose name is the beginning of that of the request',
    role: anyPrincipal(FIRST),
    token: claims((server) => ({ xms_mirid: server.vm('vm1', 'rg-ap') })),
    wanted: [403, /claim does not match resource_group_name/],
  },
  {
    id: 'L74 bound',
    name: 'a subscription whose last character alone is not that of the role',
    role: anyPrincipal({ bound_subscription_ids: [alikeFor(35)] }),
    wanted: [403, /subscription not authorized/],
  },
  {
    id: 'L75',
    name: 'the same with a shared identity',
    role: anyPrincipal(FIRST),
    token: ofVm('vm1', 'u1', 'rg-app', S2),
    wanted: [403, /claim does not match subscription_id/],
  },
  {
    id: 'L76',
    name: 'no claim names a machine',
    role: anyPrincipal(FIRST),
    token: claims({ xms_mirid: undefined }),
    wanted: [403, /xms_az_rid and xms_mirid claims are missing/],
  },
  {
    id: 'L77',
    name: 'the same, bound to the identity alone',
    token: claims({ xms_mirid: undefined }),
    wanted: 'allow',
  },
  {
    id: 'L78',
    name: 'the machine is not there',
    role: anyPrincipal(FIRST),
    input: { vm_name: 'gone' },
    token: claims((server) => ({ xms_mirid: server.vm('gone') })),
    wanted: [403, /resource not found/],
  },
  {
    id: 'L79',
    name: 'the machine has no identity',
    role: anyPrincipal(FIRST),
    input: { vm_name: 'noid' },
    token: claims((server) => ({ xms_mirid: server.vm('noid') })),
    wanted: [403, /no identity/],
  },
  {
    id: 'L80',
    name: 'the identity is not the machine’s',
    role: anyPrincipal(FIRST),
    token: claims((server) => ({ oid: server.oid(server.vm('vm2')), appid: undefined })),
    wanted: [403, /neither oid nor appid match/],
  },
  ...[429, 503, 500].map(
    (status): LoginCase => ({
      id: `L81 ${status}`,
      name: `the resource manager answers ${status}`,
      role: anyPrincipal(FIRST),
      config: { max_retries: 1, root_password_ttl: status },
      around: (server) => {
        server.advance(31)
        return server.emulator.faults.add({ service: 'resourceManager', action: { kind: 'status', status } })
      },
      wanted: [502, /resource manager unavailable/],
    }),
  ),
  {
    id: 'L82',
    name: 'a name that begins with a digit, bound to a resource',
    role: anyPrincipal(FIRST),
    input: { vm_name: '111web' },
    token: ofVm('111web'),
    wanted: 'allow',
  },
  {
    id: 'L83',
    name: 'vm_name is not looked at where vmss_name is given',
    role: anyPrincipal(FIRST),
    input: { vm_name: 'vm2', vmss_name: 'ss-u' },
    token: ofSet('ss-u'),
    wanted: 'allow',
    metadata: { subscription_id: S1, resource_group_name: 'rg-app', vmss_name: 'ss-u' },
  },
  {
    id: 'L84',
    name: 'letters that only look alike',
    role: anyPrincipal({ bound_resource_groups: ['secret'] }),
    around: (server) => {
      const { machines, resources } = server.emulator
      const { id } = machines.addVirtualMachine({ name: 'vm1', resourceGroup: 'ſecret' })
      return () => resources.remove(id)
    },
    input: { resource_group_name: 'ſecret' },
    token: ofVm('vm1', undefined, 'ſecret'),
    wanted: [403, /resource group not authorized/],
  },
  // Scale sets.
  {
    id: 'L85',
    name: 'uniform, own identity',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    ...uniform(),
    wanted: 'allow',
  },
  {
    id: 'L86',
    name: 'uniform, user-assigned identity',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    ...uniform('u1'),
    wanted: 'allow',
  },
  {
    id: 'L87',
    name: 'flexible, an identity whose principal the set does not tell',
    role: anyPrincipal({ bound_scale_sets: ['ss-f'] }),
    input: { vm_name: 'ss-f_1a2b3c4d', vmss_name: 'ss-f' },
    token: ofVm('ss-f_1a2b3c4d', 'u2'),
    wanted: 'allow',
  },
  {
    id: 'L87 b',
    name: 'a member of a flexible set by vm_name',
    role: anyPrincipal(FIRST),
    input: { vm_name: 'ss-f_1a2b3c4d' },
    token: ofVm('ss-f_1a2b3c4d', 'u2'),
    wanted: 'allow',
  },
  {
    id: 'L88',
    name: 'name in another case',
    role: anyPrincipal({ bound_scale_sets: ['SS-U'] }),
    input: { vm_name: undefined, vmss_name: 'Ss-u' },
    token: ofSet('ss-u'),
    wanted: 'allow',
    metadata: { subscription_id: S1, resource_group_name: 'rg-app', vmss_name: 'ss-u' },
  },
  {
    id: 'L89',
    name: 'scale set not in the list',
    role: anyPrincipal({ bound_scale_sets: ['other'] }),
    ...uniform(),
    wanted: [403, /scale set not authorized/],
  },
  {
    id: 'L90',
    name: 'bound to scale sets, a machine is named',
    role: anyPrincipal({ bound_scale_sets: ['ss-f'] }),
    input: { vm_name: 'ss-f_1a2b3c4d' },
    token: ofVm('ss-f_1a2b3c4d', 'u2'),
    wanted: [403, /bound scale set defined but this vm isn't in a scale set/],
  },
  {
    id: 'L91',
    name: 'bound to scale sets, a resource is named',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    input: {
      vm_name: undefined,
      resource_id: `/subscriptions/${S1}/resourceGroups/rg-app/providers/Microsoft.Web/sites/site1`,
    },
    token: ofSite('site1'),
    wanted: [403, /scale set requires the vmss_name field to be set/],
  },
  {
    id: 'L92',
    name: 'the token of a set whose name begins alike, with a shared identity',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    input: { vm_name: undefined, vmss_name: 'ss-u' },
    token: ofSet('ss-u2', 'u1'),
    wanted: [403, /claim does not match vmss_name/],
  },
  {
    id: 'L92 b',
    name: 'the token of something else inside the set',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    input: { vm_name: undefined, vmss_name: 'ss-u' },
    token: claims((server) => ({ xms_mirid: `${server.set('ss-u')}/extensions/0` })),
    wanted: [403, /claim does not match vmss_name/],
  },
  {
    id: 'L92 c',
    name: 'the token of a resource of another type that has the name of the set',
    role: anyPrincipal({ bound_scale_sets: ['ss-u'] }),
    input: { vm_name: undefined, vmss_name: 'ss-u' },
    token: claims((server) => ({ xms_mirid: server.set('ss-u').replace('virtualMachineScaleSets', 'disks') })),
    wanted: [403, /claim does not match vmss_name/],
  },
  {
    id: 'L93',
    name: 'a machine that is named as if it were in the set',
    role: anyPrincipal({ bound_scale_sets: ['ss-f'] }),
    input: { vm_name: undefined, vmss_name: 'ss-f' },
    token: ofVm('ss-f_fake', 'u2'),
    wanted: [403, /vm is not a member of the scale set/],
  },
  {
    id: 'L94',
    name: 'location of the set',
    role: anyPrincipal({ bound_locations: ['eastus'] }),
    ...uniform(),
    wanted: 'allow',
  },
  {
    id: 'L95',
    name: 'the set is not there',
    role: anyPrincipal(FIRST),
    input: { vm_name: undefined, vmss_name: 'gone' },
    token: claims((server) => ({ xms_mirid: server.set('gone') })),
    wanted: [403, /resource not found/],
  },
  // Any resource by its id: the fields of these requests are in INPUTS.
  { id: 'L96', name: 'own identity', role: anyPrincipal(FIRST), token: ofSite('site1'), wanted: 'allow' },
  {
    id: 'L97',
    name: 'everything in another case',
    role: anyPrincipal({ bound_resource_groups: ['rg-app'] }),
    token: ofSite('site1'),
    wanted: 'allow',
  },
  {
    id: 'L98',
    name: 'location with a blank',
    role: anyPrincipal({ bound_locations: ['eastus'] }),
    token: ofSite('site1'),
    wanted: 'allow',
  },
  {
    id: 'L99',
    name: 'in another subscription than the request says',
    role: anyPrincipal(FIRST),
    token: ofSite('site1', 'rg-app', S2),
    wanted: [400, /resource_id does not match subscription_id/],
  },
  {
    id: 'L100',
    name: 'in a group whose name begins alike',
    role: anyPrincipal({ bound_resource_groups: ['rg-app'] }),
    token: ofSite('site9', 'rg-app-evil'),
    wanted: [400, /resource_id does not match resource_group_name/],
  },
  {
    id: 'L101',
    name: 'in another group',
    role: anyPrincipal(FIRST),
    token: ofSite('site9', 'rg-app-evil'),
    wanted: [400, /resource_id does not match resource_group_name/],
  },
  {
    id: 'L102',
    name: 'without a / at its beginning',
    role: anyPrincipal(FIRST),
    input: {
      vm_name: undefined,
      resource_id: `subscriptions/${S1}/resourceGroups/rg-app/providers/Microsoft.Web/sites/site1`,
    },
    wanted: [400, /invalid resource_id/],
  },
  ...['..', 'a%2fb', 'a?b', 'a#b', 'a b', 'a\\b', '', 'a\ud800b', 'a\u202eb', 'a\u200bb', 'a\ue000b'].map(
    (name): LoginCase => ({
      id: `L103 ${JSON.stringify(name)}`,
      name: 'a segment that is none',
      role: anyPrincipal(FIRST),
      input: {
        vm_name: undefined,
        resource_id: `/subscriptions/${S1}/resourceGroups/rg-app/providers/Microsoft.Web/sites/${name}`,
      },
      wanted: [400, /invalid resource_id/],
    }),
  ),
  {
    id: 'L103 b',
    name: 'without /providers/',
    role: anyPrincipal(FIRST),
    input: { vm_name: undefined, resource_id: `/subscriptions/${S1}/resourceGroups/rg-app/Microsoft.Web/sites/site1` },
    wanted: [400, /invalid resource_id/],
  },
  {
    id: 'L104',
    name: 'not looked at where the role is bound to no resource',
    wanted: 'allow',
    metadata: { subscription_id: '', resource_group_name: '' },
  },
  {
    id: 'L105',
    name: 'the identity is not the resource’s',
    role: anyPrincipal(FIRST),
    token: (server) =>
      server.emulator.minting.ofResource(server.site('site1'), {
        claims: { oid: server.oid(server.vm('vm2')), appid: SAMPLE.clientId },
      }),
    wanted: [403, /neither oid nor appid match/],
  },
  // Identities that lie in a group of the role.
  {
    id: 'L106',
    name: 'a user-assigned identity of a bound group',
    role: anyPrincipal({ bound_resource_groups: ['rg-id'] }),
    token: federated('u1'),
    wanted: 'allow',
    metadata: { subscription_id: S1, resource_group_name: 'rg-id' },
  },
  {
    id: 'L107',
    name: 'an identity of the group that the caller names, which is not bound',
    role: anyPrincipal({ bound_resource_groups: ['rg-app'] }),
    around: (server) => {
      // Not one of the resource itself.
      const found = server.emulator.resources.get(server.site('site3', 'rg-evil'))
      const { identity } = found
      found.identity = { type: 'SystemAssigned', principalId: server.oid(server.vm('vm2')), tenantId: SAMPLE.tenant }
      return () => Object.assign(found, { identity })
    },
    token: federated('u3'),
    wanted: [403, /resource group not authorized/],
  },
  {
    id: 'L108',
    name: 'the application fits, the principal does not',
    role: anyPrincipal({ bound_resource_groups: ['rg-id', 'rg-app'] }),
    token: (server) =>
      server.emulator.minting.ofFederatedIdentity(server.identity('u1'), {
        claims: { oid: server.oid(server.vm('vm2')) },
      }),
    wanted: [403, /neither oid nor appid match/],
  },
  // The resource of somebody else says nothing of the caller.
  {
    id: 'L111',
    name: 'bound to a location, by the resource of somebody else in it',
    role: anyPrincipal({ bound_locations: ['eastus'] }),
    around: withIdentityOfVm2((server) => server.site('site3', 'rg-evil')),
    token: federated('u3'),
    wanted: [403, /location not authorized: nothing confirms where the bearer of the token runs$/],
  },
  {
    id: 'L111 b',
    name: 'the same, and the identity lies in a bound group',
    role: anyPrincipal({ bound_locations: ['eastus'], bound_resource_groups: ['rg-id'] }),
    token: federated('u1'),
    wanted: [403, /location not authorized: nothing confirms where the bearer of the token runs$/],
  },
  ...[
    { id: 'L112', name: 'a machine' },
    { id: 'L112 b', name: 'a scale set' },
    { id: 'L112 c', name: 'something inside a machine' },
  ].map(
    (each): LoginCase => ({
      ...each,
      name: `${each.name} by resource_id, and the token names only an identity that it shares`,
      role: anyPrincipal(FIRST),
      token: (server) =>
        server.emulator.minting.ofResource(server.vm('vm1x'), {
          userIdentity: server.identity('u1'),
          claims: { xms_az_rid: undefined },
        }),
      wanted: [403, /xms_az_rid and xms_mirid claims are missing/],
    }),
  ),
  {
    id: 'L112 d',
    name: 'a machine by resource_id, which the token names',
    role: anyPrincipal({ bound_locations: ['eastus'] }),
    token: ofVm('vm1', 'u1'),
    wanted: 'allow',
  },
  {
    id: 'L113',
    name: 'an identity that several resources can have names none of them',
    role: anyPrincipal(FIRST),
    token: federated('u3'),
    wanted: 'allow',
    metadata: { subscription_id: S1, resource_group_name: 'rg-evil' },
  },
  {
    id: 'L113 b',
    name: 'the resource’s own identity does, without a claim that names it',
    role: anyPrincipal(FIRST),
    token: (server) =>
      server.emulator.minting.ofResource(server.site('site1'), {
        claims: { xms_az_rid: undefined, xms_mirid: undefined },
      }),
    wanted: 'allow',
    metadata: { subscription_id: S1, resource_group_name: 'rg-app', resource_id: SITE1 },
  },
  {
    id: 'L114',
    name: 'an identity that was taken from the machine, and lies in a bound group',
    role: anyPrincipal({ bound_resource_groups: ['rg-id'] }),
    around: withIdentityOfVm2((server) => server.vm('vm1', 'rg-other')),
    input: { resource_group_name: 'rg-other' },
    token: (server) =>
      server.emulator.minting.ofFederatedIdentity(server.identity('u1'), {
        claims: { xms_az_rid: server.vm('vm1', 'rg-other') },
      }),
    wanted: [403, /neither oid nor appid match/],
  },
  // Identities that the machine names without their principals.
  {
    id: 'L115',
    name: 'one of them cannot be read, another is the token’s',
    role: anyPrincipal(FIRST),
    around: withIdentitiesBefore(['unreadable']),
    input: { vm_name: 'ss-f_1a2b3c4d' },
    token: ofVm('ss-f_1a2b3c4d', 'u2'),
    wanted: 'allow',
  },
  {
    id: 'L115 b',
    name: 'one of them cannot be read, and no other is the token’s',
    role: anyPrincipal(FIRST),
    around: withIdentitiesBefore(['unreadable']),
    input: { vm_name: 'ss-f_1a2b3c4d' },
    token: (server) =>
      server.emulator.minting.ofFederatedIdentity(server.identity('u1'), {
        claims: { xms_az_rid: server.vm('ss-f_1a2b3c4d') },
      }),
    wanted: [403, /this server may not read the resource/],
  },
  {
    id: 'L115 c',
    name: 'the one that the token names is behind forty others',
    role: anyPrincipal(FIRST),
    around: withIdentitiesBefore(Array.from({ length: 40 }, (_, at) => `many${at}`)),
    input: { vm_name: 'ss-f_1a2b3c4d' },
    token: ofVm('ss-f_1a2b3c4d', 'u2'),
    wanted: 'allow',
  },
  {
    id: 'L110',
    name: 'policies that would give all rights',
    role: { token_policies: 'ROOT' },
    wanted: [400, /auth methods cannot create root tokens/],
  },
]

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** One part ends in another character, which a careless reader takes for the same. */
function respelled(jwt: string, at: number): string {
  const parts = jwt.split('.')
  const part = parts[at] ?? ''
  parts[at] = part.slice(0, -1) + LETTERS[LETTERS.indexOf(part.at(-1) ?? '') ^ 1]
  return parts.join('.')
}

function second(server: CloudServer): Claims {
  const { authority } = server.emulator.addresses('http')
  return { iss: `${authority}/${SAMPLE.tenant}/v2.0`, ver: '2.0', appid: undefined, azp: SAMPLE.clientId }
}

function overage(): Claims {
  return { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'http://127.0.0.1:1/' } } }
}

/** For a time, the resource has another identity than it had when the token was made. */
function withIdentityOfVm2(id: (server: CloudServer) => string) {
  return (server: CloudServer) => {
    server.advance(31)
    const found = server.emulator.resources.get(id(server))
    const { identity } = found
    found.identity = { type: 'SystemAssigned', principalId: server.oid(server.vm('vm2')), tenantId: SAMPLE.tenant }
    return () => Object.assign(found, { identity })
  }
}

/** For a time, the member of the flexible set has these besides, and tells no principal of any. */
function withIdentitiesBefore(names: readonly string[]) {
  return (server: CloudServer) => {
    server.advance(31)
    const member = server.emulator.resources.get(server.vm('ss-f_1a2b3c4d'))
    const { identity } = member
    const others = [...names.map(server.identity), server.identity('u2')]
    member.identity = {
      type: 'UserAssigned',
      userAssignedIdentities: Object.fromEntries(others.map((each) => [each, {}])),
    } as never
    const action = { kind: 'status', status: 403 } as const
    const undo = server.emulator.faults.add({ service: 'resourceManager', path: '**/unreadable', action })
    return () => {
      undo()
      Object.assign(member, { identity })
      server.advance(31)
    }
  }
}

function uniform(user?: string): Pick<LoginCase, 'input' | 'token'> {
  return { input: { vm_name: 'ss-u_0', vmss_name: 'ss-u' }, token: ofSet('ss-u', user) }
}
