// The clouds that a mount can belong to: those of the vendor, whose addresses are listed here, and those that the
// server's configuration defines. No request can name an address (threats L-04, L-11).
import { isSameName } from './names.ts'

/** The addresses of one cloud. None ends in '/', unless it says so. */
export type Cloud = {
  readonly name: string
  /** Address of the identity provider. */
  readonly authority: string
  /** The issuers of its tokens, around the GUID of the tenant. */
  readonly issuers: { readonly v1: IssuerPattern; readonly v2: IssuerPattern }
  /** Origins at which its documents may say that the keys are. */
  readonly keyOrigins: readonly string[]
  readonly resourceManager: string
  /** Audience of tokens for the resource manager, with the '/' that belongs to it. */
  readonly resourceManagerAudience: string
  readonly graph: string
  /** Where the machine of this server gets tokens; undefined if the cloud offers none. */
  readonly metadata: string | undefined
  /** Certificate authorities in PEM; undefined: the usual ones. */
  readonly ca?: string | undefined
  readonly isBuiltIn: boolean
  /** When the vendor closed this cloud. */
  readonly closed?: string
}
/** What surrounds the tenant's GUID in an issuer. */
export type IssuerPattern = { readonly before: string; readonly after: string }

/** A cloud that the server's configuration defines. */
export type CloudStanza = Pick<
  Cloud,
  'name' | 'authority' | 'resourceManager' | 'resourceManagerAudience' | 'graph' | 'metadata'
> & { readonly ca?: string | undefined }

const METADATA = 'http://169.254.169.254'

function builtIn(
  name: string,
  hosts: {
    readonly authority: string
    readonly issuer: string
    readonly portal?: string
    readonly resourceManager: string
    readonly audience: string
    readonly graph: string
  },
  closed?: string,
): Cloud {
  const authority = `https://${hosts.authority}`
  const second = hosts.portal === undefined ? authority : `https://${hosts.portal}`
  return {
    name,
    authority,
    issuers: {
      v1: { before: `https://${hosts.issuer}/`, after: '/' },
      v2: { before: `${second}/`, after: '/v2.0' },
    },
    keyOrigins: [...new Set([authority, second])],
    resourceManager: `https://${hosts.resourceManager}`,
    resourceManagerAudience: `https://${hosts.audience}/`,
    graph: `https://${hosts.graph}`,
    metadata: METADATA,
    isBuiltIn: true,
    ...(closed === undefined ? {} : { closed }),
  }
}

/** The vendor's clouds, under names without prefix. The first one is the default. */
export const BUILT_IN_CLOUDS: readonly Cloud[] = [
  builtIn('PublicCloud', {
    authority: 'login.microsoftonline.com',
    issuer: 'sts.windows.net',
    resourceManager: 'management.azure.com',
    audience: 'management.core.windows.net',
    graph: 'graph.microsoft.com',
  }),
  builtIn('USGovernmentCloud', {
    authority: 'login.microsoftonline.us',
    issuer: 'sts.windows.net',
    resourceManager: 'management.usgovcloudapi.net',
    audience: 'management.core.usgovcloudapi.net',
    graph: 'graph.microsoft.us',
  }),
  builtIn('ChinaCloud', {
    authority: 'login.chinacloudapi.cn',
    issuer: 'sts.chinacloudapi.cn',
    portal: 'login.partner.microsoftonline.cn',
    resourceManager: 'management.chinacloudapi.cn',
    audience: 'management.core.chinacloudapi.cn',
    graph: 'microsoftgraph.chinacloudapi.cn',
  }),
  builtIn(
    'GermanCloud',
    {
      authority: 'login.microsoftonline.de',
      issuer: 'sts.microsoftonline.de',
      resourceManager: 'management.microsoftazure.de',
      audience: 'management.core.cloudapi.de',
      graph: 'graph.microsoft.de',
    },
    'October 2021',
  ),
]
/** Prefixes of built-in names: the neutral one and the vendor's. */
const PREFIXES = ['Cloud', 'Azure']

/** Completes a cloud of the configuration. Its issuers and keys are at its own identity provider. */
export function definedCloud(stanza: CloudStanza): Cloud {
  return {
    ...stanza,
    issuers: {
      v1: { before: `${stanza.authority}/`, after: '/' },
      v2: { before: `${stanza.authority}/`, after: '/v2.0' },
    },
    keyOrigins: [new URL(stanza.authority).origin],
    isBuiltIn: false,
  }
}

/**
 * Finds a cloud by its name in any case; the empty name means the public cloud. Clouds of the configuration come first.
 */
export function findCloud(name: string, defined: readonly Cloud[]): Cloud | undefined {
  if (name === '') return BUILT_IN_CLOUDS[0]
  return (
    defined.find((cloud) => isSameName(cloud.name, name)) ??
    BUILT_IN_CLOUDS.find((cloud) => PREFIXES.some((prefix) => isSameName(prefix + cloud.name, name)))
  )
}

/** Returns the names that a mount can give its cloud, for refusals. */
export const cloudNames = (defined: readonly Cloud[]): readonly string[] => [
  ...BUILT_IN_CLOUDS.map(({ name }) => `Cloud${name}`),
  ...defined.map(({ name }) => name),
]

/** Returns the origins that requests to the cloud go to, so that outbound rules can allow exactly these. */
export function originsOfCloud(cloud: Cloud): readonly string[] {
  const addresses = [cloud.authority, cloud.resourceManager, cloud.graph, ...(cloud.metadata ? [cloud.metadata] : [])]
  return [...new Set([...addresses.map((address) => new URL(address).origin), ...cloud.keyOrigins])]
}
