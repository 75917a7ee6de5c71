// The cloud that `npm run emulator` starts with: a machine of each kind, and neighbours whose names begin alike. A
// comparison of prefixes takes those for one another.
import type { CloudPlan } from './plan.ts'

const SUBSCRIPTION = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
const FIRST = `/subscriptions/${SUBSCRIPTION}`
const GROUP = `${FIRST}/resourceGroups/rg-app`
const IDENTITIES = 'providers/Microsoft.ManagedIdentity/userAssignedIdentities'

/** Names and ids of the sample, for tests and pages. */
export const SAMPLE = {
  tenant: '11111111-1111-4111-8111-111111111111',
  otherTenant: '22222222-2222-4222-8222-222222222222',
  subscription: SUBSCRIPTION,
  /** Another subscription of the same tenant. */
  otherSubscription: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  /** A subscription of the other tenant. */
  foreignSubscription: 'cccccccc-cccc-4ccc-8ccc-cccccccccccc',
  /** The application of a key server, and its secret. */
  clientId: 'dddddddd-dddd-4ddd-8ddd-dddddddddddd',
  clientSecret: 'a secret of the emulator, worth nothing',
  /** Ids of resources in the first subscription. */
  group: GROUP,
  vm1: `${GROUP}/providers/Microsoft.Compute/virtualMachines/vm1`,
  u1: `${FIRST}/resourceGroups/rg-id/${IDENTITIES}/u1`,
  u2: `${FIRST}/resourceGroups/rg-id/${IDENTITIES}/u2`,
  u3: `${FIRST}/resourceGroups/rg-evil/${IDENTITIES}/u3`,
} as const

const { u1, u2, u3 } = SAMPLE

/** The sample as a plan. */
export const SAMPLE_PLAN: CloudPlan = {
  tenants: [{ id: SAMPLE.tenant, domains: ['example.test'] }, { id: SAMPLE.otherTenant }],
  subscriptions: [
    { id: SAMPLE.subscription, tenantId: SAMPLE.tenant },
    { id: SAMPLE.otherSubscription, tenantId: SAMPLE.tenant },
    { id: SAMPLE.foreignSubscription, tenantId: SAMPLE.otherTenant },
  ],
  userIdentities: [
    { name: 'u1', resourceGroup: 'rg-id' },
    { name: 'u2', resourceGroup: 'rg-id' },
    { name: 'u3', resourceGroup: 'rg-evil' },
  ],
  virtualMachines: [
    { name: 'vm1', userIdentities: [u1] },
    { name: 'vm2', location: 'westus' },
    { name: 'vm1x', location: 'westus', userIdentities: [u1] },
    { name: 'noid', systemIdentity: false },
    { name: 'nilp', systemIdentity: false, userIdentities: [u3], bareIdentities: true },
    { name: '111web' },
    { name: 'ss-f_fake', systemIdentity: false, userIdentities: [u2] },
    { name: 'vm1', resourceGroup: 'rg-other', userIdentities: [u1] },
    { name: 'vm1', subscription: SAMPLE.otherSubscription, userIdentities: [u1] },
    { name: 'vm1', subscription: SAMPLE.foreignSubscription },
  ],
  uniformSets: [
    { name: 'ss-u', userIdentities: [u1], instances: 3 },
    { name: 'ss-u2', systemIdentity: false, userIdentities: [u1] },
  ],
  flexibleSets: [{ name: 'ss-f', userIdentities: [u2], instances: 0 }],
  members: [
    {
      set: `${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/ss-f`,
      name: 'ss-f_1a2b3c4d',
      userIdentities: [u2],
    },
  ],
  resources: [
    { type: 'Microsoft.Web/sites', name: 'site1', location: 'East US', systemIdentity: true },
    { type: 'Microsoft.Web/sites', name: 'site9', resourceGroup: 'rg-app-evil', systemIdentity: true },
    { type: 'Microsoft.Web/sites', name: 'site3', resourceGroup: 'rg-evil', userIdentities: [u3] },
    { type: 'Microsoft.Web/sites', name: 'site1', subscription: SAMPLE.otherSubscription, systemIdentity: true },
    { type: 'Microsoft.HybridCompute/machines', name: 'arc1', systemIdentity: true },
    { type: 'Microsoft.ContainerService/managedClusters', name: 'cluster1', systemIdentity: true },
  ],
  applications: [
    {
      displayName: 'key server',
      tenantId: SAMPLE.tenant,
      clientId: SAMPLE.clientId,
      secret: SAMPLE.clientSecret,
      permissions: ['Application.ReadWrite.OwnedBy', 'GroupMember.Read.All'],
      ownsItself: true,
      reads: [FIRST, `/subscriptions/${SAMPLE.otherSubscription}`],
    },
  ],
}
