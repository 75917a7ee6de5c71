// Where the cluster port listens, and where other clusters are told that it is: what the keys `cluster_address` of a
// listener and `cluster_addr` say, and what holds where they say nothing.
import type { LinkAddress } from '../lib/links.ts'
import { faultOfClusterAddress } from '../replication/set/peer-address.ts'
import { addressText } from './address-text.ts'
import type { ListenerAddress } from './listener.ts'
import { ConfigError } from './values.ts'

/** The part of a listener that its cluster port follows from. */
type Given = { readonly address: ListenerAddress; readonly clusterAddress?: LinkAddress }
/** The part of a settled listener that says where its cluster port is. */
type Settled = { readonly clusterAddress?: LinkAddress }

const MAX_PORT = 65_535
const textOf = (address: LinkAddress): string => addressText({ kind: 'tcp', ...address })

/**
 * The cluster address of each listener: what is set, or else the host of its address and the next port; a free port
 * if the address has one. Undefined for a Unix socket, and where another listener has the next port already: such
 * configurations were there before the cluster port was. @throws ConfigError
 */
export function settledClusterAddresses(listeners: readonly Given[]): readonly (LinkAddress | undefined)[] {
  const taken = listeners.flatMap(({ address }) => (address.kind === 'tcp' ? [address] : []))
  return listeners.map(({ address, clusterAddress }) => {
    if (address.kind !== 'tcp') return undefined
    if (clusterAddress !== undefined) {
      const other = taken.find((each) => overlap(each, clusterAddress))
      if (other === undefined) return clusterAddress
      throw new ConfigError(
        `"cluster_address" ${textOf(clusterAddress)} is where the listener ${addressText(other)} answers requests: ` +
          'give it another port',
      )
    }
    const { host, port } = address
    if (port === MAX_PORT)
      throw new ConfigError(`The listener ${addressText(address)} has no next port for clusters: set "cluster_address"`)
    const next = { host, port: port === 0 ? 0 : port + 1 }
    return taken.some((each) => overlap(each, next)) ? undefined : next
  })
}

/** Where the cluster port is opened: each address once, and none that another one includes. */
export function clusterListenAddresses(listeners: readonly Settled[]): readonly LinkAddress[] {
  const all = listeners.flatMap(({ clusterAddress }) => clusterAddress ?? [])
  const unique = [...new Map(all.map((each) => [textOf(each), each])).values()]
  return unique.filter((each) => !unique.some((other) => other !== each && includes(other, each)))
}

/**
 * What other clusters are told where `cluster_addr` is not set: the host of `api_addr`, or else that of the cluster
 * address, with the port of the first cluster address. '' if that is not known. `foundPort` is the port that was free
 * where the configuration asks for any.
 */
export function defaultClusterAddr(
  { apiAddress, listeners }: { readonly apiAddress: string; readonly listeners: readonly Settled[] },
  foundPort = 0,
): string {
  const first = listeners.find(({ clusterAddress }) => clusterAddress !== undefined)?.clusterAddress
  const port = first === undefined || first.port === 0 ? foundPort : first.port
  if (first === undefined || port === 0) return ''
  const host = URL.parse(apiAddress)?.hostname ?? (isWildcard(first.host) ? '' : hostText(first.host))
  const text = `https://${host}:${port}`
  return host === '' || faultOfClusterAddress(text) !== undefined ? '' : text
}

/** Checks the text of `cluster_addr`, and returns it. @throws ConfigError that says what to write instead */
export function clusterAddrOf(text: string): string {
  const fault = faultOfClusterAddress(text)
  if (fault === undefined) return text
  const why = text.startsWith('http://') ? 'the cluster port speaks TLS alone, not http' : `this ${fault}`
  throw new ConfigError(`"cluster_addr" must be an address such as https://keys.example:8201: ${why}`)
}

const hostText = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const overlap = (some: LinkAddress, other: LinkAddress): boolean => includes(some, other) || includes(other, some)

/** True if a port that is open at `some` leaves none for `other`. A port 0 is a free one. */
function includes(some: LinkAddress, other: LinkAddress): boolean {
  if (some.port !== other.port || some.port === 0) return false
  if (some.host === other.host || isAnyIpv6(some.host)) return true
  return isWildcard(some.host) && !other.host.includes(':')
}

/** The address of IPv6 that stands for all of the machine, those of IPv4 too, in any spelling (RFC 4291 2.5.2). */
const isAnyIpv6 = (host: string): boolean => /^[0:]+$/.test(host) && host.includes(':')

/** True for a host that stands for all addresses of the machine: nobody can be told to reach that. */
const isWildcard = (host: string): boolean => host === '0.0.0.0' || isAnyIpv6(host)
