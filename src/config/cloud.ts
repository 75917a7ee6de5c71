// The stanzas `cloud`: clouds besides those of the vendor, a private one or one for tests. Requests choose a cloud by
// name; only the configuration can name an address that the server then calls (threats L-11, P-63).

import { BUILT_IN_CLOUDS, type CloudStanza, findCloud, originsOfCloud } from '../engines/cloud/clouds.ts'
import { blocksOf, type HclBlock } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, Faults, switchOf, textIn } from './values.ts'

/** A stanza as it was read. The certificates of `caFile` are read when the server starts. */
export type CloudConfigured = Omit<CloudStanza, 'ca'> & { readonly caFile?: string }

/** Keys of a stanza; docs/configuration.md shows them. */
export const CLOUD_STANZA: Stanza = {
  title: 'cloud "NAME"',
  about:
    'A cloud that `cloud` auth mounts can use with `environment = "NAME"`, besides those of the vendor. Addresses ' +
    'must not be those of the vendor, and must be https, or http on loopback if `allow_http_loopback` is set.',
  settings: {
    authority: setting(
      'URL',
      'required',
      'Address of the identity provider; its documents and tokens are below `/TENANT/`',
    ),
    resource_manager: setting('URL', 'required', 'Address of the resource manager'),
    resource_manager_audience: setting(
      'URL',
      'required',
      'Audience of tokens for the resource manager, including a trailing `/` if it has one',
    ),
    graph: setting('URL', 'required', 'Address of the directory graph API'),
    metadata: setting(
      'URL',
      'none',
      'Address of the metadata service, from which the server gets tokens for mounts without a credential',
    ),
    ca_file: setting(
      'path',
      'the default CAs',
      'PEM CA certificates that the certificates of these addresses must chain to',
    ),
    allow_http_loopback: setting('bool', 'false', 'Allow http for addresses on this machine'),
  },
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
/** Origins of the vendor's clouds, which no stanza may use. */
const VENDOR_ORIGINS: ReadonlySet<string> = new Set(BUILT_IN_CLOUDS.flatMap(originsOfCloud))
/** Hosts that http may go to. Traffic to them does not leave the machine. */
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/** Reads the stanzas; returns nothing for a file without them. @throws ConfigError with the faults of all of them */
export function cloudsOf(body: HclObject): { readonly clouds?: readonly CloudConfigured[] } {
  const faults = new Faults()
  const clouds = blocksOf(body, 'cloud', 1).map((block) => faults.collect(() => cloudOf(block)))
  faults.end()
  const found = clouds.filter((each) => each !== undefined)
  const twice = found.find(({ name }, at) => found.findIndex((each) => same(each.name, name)) < at)
  if (twice !== undefined) throw new ConfigError(`there are two clouds with the name "${twice.name}"`)
  requireOneTrust(found)
  return found.length === 0 ? {} : { clouds: found }
}

/**
 * Refuses two clouds with one origin and different authorities: connections are trusted by origin, whichever cloud they
 * are for.
 */
function requireOneTrust(clouds: readonly CloudConfigured[]): void {
  const trusted = new Map<string, CloudConfigured>()
  for (const cloud of clouds) {
    for (const origin of originsOf(cloud)) {
      const other = trusted.get(origin)
      if (other !== undefined && other.caFile !== cloud.caFile)
        throw new ConfigError(
          `clouds "${other.name}" and "${cloud.name}" both use ${origin}: give both the same ca_file, or none`,
        )
      trusted.set(origin, cloud)
    }
  }
}

const originsOf = ({ authority, resourceManager, graph, metadata }: CloudConfigured): ReadonlySet<string> =>
  new Set([authority, resourceManager, graph, metadata ?? []].flat().map((address) => new URL(address).origin))

/** Names are compared without case, as those of the built-in clouds are. */
const same = (some: string, other: string): boolean => some.toLowerCase() === other.toLowerCase()

function cloudOf({ labels: [name = ''], body, line }: HclBlock): CloudConfigured {
  const where = `cloud "${name}"`
  if (!NAME.test(name))
    throw new ConfigError(`line ${line}: the name of a cloud must be letters, digits, "_" and "-", a letter first`)
  if (findCloud(name, []) !== undefined || BUILT_IN_CLOUDS.some((cloud) => same(cloud.name, name)))
    throw new ConfigError(`line ${line}: ${where} is built in: give yours another name`)
  checkKeys(body, CLOUD_STANZA.settings, CLOUD_STANZA.title)
  const isHttpAllowed = switchOf(body, 'allow_http_loopback')
  const address = (key: string): string | undefined => {
    const text = textIn(body, key)
    return text === undefined ? undefined : addressOf(text, `line ${line}: "${key}" of ${where}`, isHttpAllowed)
  }
  const needed = <T>(key: string, value: T | undefined): T => {
    if (value === undefined) throw new ConfigError(`line ${line}: ${where} needs ${key}`)
    return value
  }
  const caFile = textIn(body, 'ca_file')
  return {
    name,
    authority: needed('authority', address('authority')),
    resourceManager: needed('resource_manager', address('resource_manager')),
    resourceManagerAudience: needed('resource_manager_audience', textIn(body, 'resource_manager_audience')),
    graph: needed('graph', address('graph')),
    metadata: address('metadata'),
    ...(caFile === undefined ? {} : { caFile }),
  }
}

/** Checks an address, and returns it without a slash at the end: paths are put behind it. */
function addressOf(text: string, where: string, isHttpAllowed: boolean): string {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url === null || !isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError(`${where} must be an address such as https://login.example, without a name or password`)
  if (url.protocol === 'http:' && !LOOPBACK.includes(url.hostname))
    throw new ConfigError(`${where} must be https: http is for addresses of this machine`)
  if (url.protocol === 'http:' && !isHttpAllowed)
    throw new ConfigError(`${where} must be https, or allow_http_loopback = true allows http on this machine`)
  // Its ca_file would count for the built-in cloud too: authorities belong to an origin.
  if (VENDOR_ORIGINS.has(url.origin))
    throw new ConfigError(`${where} must not be an address of a built-in cloud: ${url.origin} is one`)
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
}
