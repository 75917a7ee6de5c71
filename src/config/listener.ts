// The stanzas `listener "tcp"` and `listener "unix"`: where the server listens, what it accepts, and which callers need
// a certificate or a token for what.
import { isIPv4, isIPv6 } from 'node:net'
import type { ListenerRules } from '../http/listener.ts'
import type { TcpAddress } from '../http/listening-socket.ts'
import type { UnixAddress } from '../http/unix-socket.ts'
import { isDigit } from '../lib/ascii.ts'
import { blocksOf, type HclBlock } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import type { LinkAddress } from '../lib/links.ts'
import { customHeadersOf } from './headers.ts'
import { type GivenLimits, givenLimits, LIMIT_SETTINGS } from './limits.ts'
import { forwardedOf, PROXY_SETTINGS, proxyOf } from './proxies.ts'
import { ignored, refused, type SettingTable, type Stanza, setting } from './setting.ts'
import { SWITCH_SETTINGS, switchesOf } from './switches.ts'
import { TLS_SETTINGS, tlsOf } from './tls.ts'
import { ConfigError, checkKeys, Faults, integerIn, single, switchOf, textIn } from './values.ts'

/** An address without the rule for sharing it among threads, which follows from the number of threads. */
export type ListenerAddress = Omit<TcpAddress, 'share'> | UnixAddress
/** A listener as one file has it. Its limits and its cluster port are settled when all files are read. */
export type GivenListener = {
  readonly address: ListenerAddress
  /** Missing: what follows from the address (cluster-address.ts). */
  readonly clusterAddress?: LinkAddress
  readonly rules: Omit<ListenerRules, 'limits'> & { readonly limits: GivenLimits }
}
/** A listener with all its rules. */
export type ListenerConfig = {
  readonly address: ListenerAddress
  readonly rules: ListenerRules
  /** Where other clusters reach this one; missing: this listener has no cluster port. */
  readonly clusterAddress?: LinkAddress
}

/** Keys of both kinds. */
const COMMON: SettingTable = {
  ...LIMIT_SETTINGS,
  custom_response_headers: setting('stanza', 'none', 'Response headers by status; see below'),
  ...SWITCH_SETTINGS,
  chroot_namespace: refused('callers name their namespace themselves'),
  require_request_header: refused('it is a setting of agents'),
  agent_api: refused('it is a setting of agents'),
  proxy_api: refused('it is a setting of proxies'),
  role: refused('it is a setting of agents'),
  disable_request_limiter: ignored('each limit of a listener is set on its own'),
}

/** Keys of `listener "tcp"`; docs/configuration.md shows them. */
export const TCP_STANZA: Stanza = {
  title: 'listener "tcp"',
  about: 'One stanza for each address to listen on.',
  settings: {
    address: setting('host:port', '127.0.0.1:8200', 'Address to listen on; IPv6 in brackets; port 0 picks a free one'),
    cluster_address: setting(
      'host:port',
      'the host of address, and its port + 1',
      'Address of the cluster port, where other clusters reach this one over TLS of its own; port 0 picks a free one',
    ),
    ...TLS_SETTINGS,
    ...PROXY_SETTINGS,
    ...COMMON,
  },
}

/** Keys of `listener "unix"`. */
export const UNIX_STANZA: Stanza = {
  title: 'listener "unix"',
  about: 'A Unix socket, without TLS: its file permissions control access. One thread serves it.',
  settings: {
    address: setting('path', 'required', 'Path of the socket; a stale one is replaced'),
    socket_mode: setting('octal digits', '600', 'Permissions of the socket'),
    socket_user: setting('id', 'that of the process', 'Owner of the socket, as a numeric user id'),
    socket_group: setting('id', 'that of the process', 'Group of the socket, as a numeric group id'),
    tls_disable: ignored('a Unix socket has no TLS'),
    ...COMMON,
  },
}

/**
 * Reads the listeners and warnings about them. With `isPlainAllowed` a listener without a certificate need not say
 * `tls_disable` (threats P-61). @throws ConfigError with the faults of all stanzas
 */
export function listenersOf(
  body: HclObject,
  isPlainAllowed: boolean,
): { readonly listeners?: readonly GivenListener[]; readonly warnings?: readonly string[] } {
  const blocks = blocksOf(body, 'listener', 1)
  if (blocks.length === 0) return {}
  const faults = new Faults()
  const warnings: string[] = []
  const listeners = blocks.flatMap((block) => {
    const found = faults.collect(() => located(block, () => listenerOf(block, isPlainAllowed, warnings)))
    return found === undefined ? [] : [found]
  })
  faults.end()
  return { listeners, warnings }
}

/** Puts the line of the stanza before faults that name no line of their own. */
function located<T>(block: HclBlock, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const sentences = cause.message.split('\n')
    const prefix = `line ${block.line}: `
    throw new ConfigError(sentences.map((text) => (text.startsWith('line ') ? text : prefix + text)).join('\n'))
  }
}

function listenerOf({ labels, body, line }: HclBlock, isPlainAllowed: boolean, warnings: string[]): GivenListener {
  const [type] = labels
  if (type !== 'tcp' && type !== 'unix')
    throw new ConfigError(`line ${line}: the listener "${type}" is not offered, use listener "tcp" or "unix"`)
  const stanza = type === 'tcp' ? TCP_STANZA : UNIX_STANZA
  const faults = new Faults()
  warnings.push(...(faults.collect(() => checkKeys(body, stanza.settings, stanza.title)) ?? []))
  const address = faults.collect(() => (type === 'tcp' ? tcpAddress(body) : unixAddress(body)))
  const clusterAddress = type === 'tcp' ? faults.collect(() => clusterAddressIn(body)) : undefined
  const limits = faults.collect(() => givenLimits(body))
  const tls = type === 'tcp' ? faults.collect(() => tlsOf(body, isPlainAllowed)) : undefined
  const forwarded = type === 'tcp' ? faults.collect(() => forwardedOf(body)) : undefined
  const proxy = type === 'tcp' ? faults.collect(() => proxyOf(body)) : undefined
  const headers = faults.collect(() => customHeadersOf(body)) ?? {}
  const switches = faults.collect(() => switchesOf(body))
  faults.end()
  const isInClear = type === 'tcp' && tls === undefined && switchOf(body, 'tls_disable')
  if (isInClear && address?.kind === 'tcp' && !isLoopback(address.host))
    warnings.push(
      `line ${line}: ${address.host}:${address.port} has no TLS: anyone on the network path can read every token`,
    )
  return {
    address: address as ListenerAddress,
    ...(clusterAddress === undefined ? {} : { clusterAddress }),
    rules: { limits: limits as GivenLimits, tls, forwarded, proxy, headers: withTlsOnly(headers, tls), switches },
  }
}

/** Adds Strict-Transport-Security to listeners with TLS alone: RFC 6797 section 7.2 forbids it over plain HTTP. */
function withTlsOnly(headers: ListenerRules['headers'], tls: ListenerRules['tls']): ListenerRules['headers'] {
  if (tls === undefined) return headers
  return { ...headers, default: { ...STRICT_TRANSPORT, ...headers.default } }
}

/** A year. A listener can set another value in `custom_response_headers`. */
const STRICT_TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }

function tcpAddress(body: HclObject): ListenerAddress {
  const address = single(body, 'address')
  return { kind: 'tcp', ...parseAddress(address === undefined ? '127.0.0.1:8200' : String(address)) }
}

function clusterAddressIn(body: HclObject): LinkAddress | undefined {
  const address = single(body, 'cluster_address')
  return address === undefined || address === '' ? undefined : parseAddress(String(address))
}

/** sun_path of Linux has 108 bytes with its zero (unix(7)). The system's own refusal is less clear. */
const MOST_PATH_BYTES = 107

function unixAddress(body: HclObject): ListenerAddress {
  const path = textIn(body, 'address')
  if (path === undefined || Buffer.byteLength(path) > MOST_PATH_BYTES)
    throw new ConfigError(`listener "unix" needs address, a path of at most ${MOST_PATH_BYTES} bytes`)
  const idIn = (key: string): number | undefined => {
    const id = integerIn(body, key, 'the number of a user or group, as "id" prints it')
    if (id !== undefined && id < 0) throw new ConfigError(`"${key}" must not be negative`)
    return id
  }
  return {
    kind: 'unix',
    path,
    mode: modeIn(body),
    user: idIn('socket_user'),
    group: idIn('socket_group'),
  }
}

/** The mode may be text or a number: `660` and `"0660"` both mean octal. */
function modeIn(body: HclObject): number | undefined {
  const value = single(body, 'socket_mode')
  if (value === undefined) return undefined
  const digits = String(value)
  if (!/^0?[0-7]{3}$/.test(digits)) throw new ConfigError('"socket_mode" must be three octal digits such as "660"')
  return Number.parseInt(digits, 8)
}

/** True if only this machine reaches the host: all of 127.0.0.0/8 is loopback (RFC 1122 section 3.2.1.3). */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

const MAX_PORT = 65_535

/** Parses `host:port`, IPv6 in brackets. Port 0 asks for any free port. @throws ConfigError */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':')
  const host = hostOf(text.slice(0, Math.max(colon, 0)))
  const digits = text.slice(colon + 1)
  const port = Number(digits)
  if (host === undefined || digits === '' || digits.length > 5 || ![...digits].every(isDigit) || port > MAX_PORT) {
    throw new ConfigError(`The address "${text}" is not of the form 127.0.0.1:8200`)
  }
  return { host, port }
}

/** Returns undefined if the text is neither an address nor a possible name. */
function hostOf(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : undefined
  if (bare !== undefined) return isIPv6(bare) ? bare : undefined
  return text !== '' && [...text].every((c) => isDigit(c) || isNameCharacter(c)) ? text : undefined
}

function isNameCharacter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || '.-_'.includes(character)
}
