// The clouds that a mount can belong to: those of the vendor, whose addresses stand here, and those that the
// configuration of the server defines. No request can name an address.
import { isSameName } from './names.ts'

export type Cloud = {
  readonly name: string
  /** Of the identity provider; like all addresses here without a '/' at its end. */
  readonly authority: string
  /** Issuers of its tokens, around the GUID of the tenant. */
  readonly issuers: { readonly v1: IssuerPattern; readonly v2: IssuerPattern }
  /** Origins that its documents may name for the keys. */
  readonly keyOrigins: readonly string[]
  readonly resourceManager: string
  /** What tokens for the resource manager are for, with the '/' that belongs to it. */
  readonly resourceManagerAudience: string
  readonly graph: string
  /** Where the machine that the server runs on gets tokens; undefined: nowhere. */
  readonly metadata: string | undefined
  /** PEM; undefined: the usual authorities. */
  readonly ca?: string | undefined
  readonly isBuiltIn: boolean
  /** When it was closed. */
  readonly closed?: string
}
export type IssuerPattern = { readonly before: string; readonly after: string }

/** What the configuration of the server says of a cloud of its own. */
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
/** Of the names of built-in clouds: the neutral one and the vendor's. */
const PREFIXES = ['Cloud', 'Azure']

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

/** By its name in any case; '' is the public cloud. Undefined where there is none. */
export function findCloud(name: string, defined: readonly Cloud[]): Cloud | undefined {
  if (name === '') return BUILT_IN_CLOUDS[0]
  return (
    defined.find((cloud) => isSameName(cloud.name, name)) ??
    BUILT_IN_CLOUDS.find((cloud) => PREFIXES.some((prefix) => isSameName(prefix + cloud.name, name)))
  )
}

/** Names that a mount can give its cloud. */
export const cloudNames = (defined: readonly Cloud[]): readonly string[] => [
  ...BUILT_IN_CLOUDS.map(({ name }) => `Cloud${name}`),
  ...defined.map(({ name }) => name),
]

/** Origins that requests to the cloud go to. */
export function originsOfCloud(cloud: Cloud): readonly string[] {
  const addresses = [cloud.authority, cloud.resourceManager, cloud.graph, ...(cloud.metadata ? [cloud.metadata] : [])]
  return [...new Set([...addresses.map((address) => new URL(address).origin), ...cloud.keyOrigins])]
}
