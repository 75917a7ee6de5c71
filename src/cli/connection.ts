// The address of the server, the token and the TLS settings, from options, environment and the token file.
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiAddress } from '../client/wire.ts'
import { asciiLowerCase, asciiTrim, isPrintableAscii } from '../lib/ascii.ts'
import { DurationError, parseDurationNanoseconds } from '../lib/duration.ts'
import { CliError, cliCodeOf, reasonOf, UsageError } from './cli-error.ts'
import { CONNECTION_OPTIONS, type ConnectionValues } from './common-options.ts'
import type { CliIo } from './io.ts'
import type { Shows } from './shown-request.ts'

/** Members of the options of node:https, by the names that it gives them. */
export type TlsSettings = {
  readonly ca?: readonly Buffer[]
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly servername?: string
  readonly rejectUnauthorized: boolean
}

/** All that a client needs. Files are read and values checked when it is made: later only the server can refuse. */
export type Connection = ApiAddress & {
  /** A sentence that names the option or variable of the address: a wrong address is the usual fault. */
  readonly addressOrigin: string
  readonly tls: TlsSettings
  /** Longest silence of the server. */
  readonly timeoutMs: number
  readonly retries: number
  readonly followsRedirects: boolean
  /** If set, requests are shown and not sent. */
  readonly shows: Shows | undefined
}

/** The reference's login command and its development server leave a token in this file of the home directory. */
const TOKEN_FILE = '.vault-token'
/** A day. The timers of the runtime end at 24.8 days (2^31 ms), and fire at once beyond that. */
const MAX_TIMEOUT_MS = 86_400_000
/** -header must not set these: the client sets them itself, and two values of one header are read differently. */
const OWN_HEADERS = ['x-vault-token', 'x-vault-namespace', 'x-vault-wrap-ttl', 'content-length', 'host']
const PEM_CERTIFICATE = '-----BEGIN CERTIFICATE-----'

/** Reads the options, with the token file if no token was given. @throws CliError, UsageError */
export function readConnection(options: ConnectionValues, env: CliIo['env']): Connection {
  return {
    address: readAddress(options.address),
    addressOrigin: originOf(options.address, env),
    token: headerText('The token', options.token ?? readTokenFile(env)),
    namespace: headerText('The namespace', options.namespace),
    wrapTtl: readWrapTtl(options['wrap-ttl']),
    headers: options.header.map(readHeader),
    tls: readTls(options),
    timeoutMs: readTimeout(options.timeout),
    retries: options['max-retries'],
    followsRedirects: !options['disable-redirects'],
    shows: options['output-curl-string'] ? 'curl' : options['output-policy'] ? 'policy' : undefined,
  }
}

/** Returns undefined for zero, which means that the answer is not wrapped. */
function readWrapTtl(text: string | undefined): string | undefined {
  return text === undefined || nanosecondsOf('-wrap-ttl', text) === 0n ? undefined : text
}

function readTimeout(text: string): number {
  const ms = Number(nanosecondsOf('-timeout', text) / 1_000_000n)
  if (ms > 0 && ms <= MAX_TIMEOUT_MS) return ms
  throw new UsageError('-timeout must be longer than nothing, and at most a day')
}

/** Parses durations as the server does: seconds, or text with units. */
function nanosecondsOf(option: string, text: string): bigint {
  try {
    const nanoseconds = parseDurationNanoseconds(text)
    if (nanoseconds >= 0n) return nanoseconds
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
  }
  throw new UsageError(`${option} must be seconds (90) or a duration like 5m, not "${text}"`)
}

/** Names have the characters of RFC 9110 section 5.6.2. Messages do not quote the value: it may be a secret. */
function readHeader(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  const [name, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !isPrintableAscii(value)) {
    throw new UsageError('-header must be NAME=VALUE, in visible ASCII characters')
  }
  if (OWN_HEADERS.includes(asciiLowerCase(name))) throw new UsageError(`-header: ${name} has an option of its own`)
  return [name, value]
}

/** Finds the origin by comparing texts: an option that repeats the variable may be reported as the variable. */
function originOf(text: string, env: CliIo['env']): string {
  const { env: names, default: usual } = CONNECTION_OPTIONS.address
  const name = names.find((each) => env[each] === text)
  if (name !== undefined) return `The address is that of ${name}.`
  return text === usual ? 'No address was given: this is the usual one.' : 'The address is that of -address.'
}

/** Returns the address without a slash at the end. Messages do not quote it: it may hold a password. */
function readAddress(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new CliError('The address of the server must begin with http:// or https://, like http://127.0.0.1:8200')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new CliError('The address of the server is scheme, host and port, without user name, password or query')
  }
  const address = url.origin + url.pathname
  return address.endsWith('/') ? address.slice(0, -1) : address
}

/** Returns the token that `login` kept; undefined if there is none. @throws CliError if the file cannot be read */
export function readTokenFile(env: CliIo['env']): string | undefined {
  const path = tokenFile(env)
  if (path === undefined) return undefined
  try {
    const token = asciiTrim(readFileSync(path, 'utf8'))
    return token === '' ? undefined : token
  } catch (error) {
    if (cliCodeOf(error) === 'ENOENT') return undefined
    throw new CliError(`Cannot read the token file ${path}: ${reasonOf(error)}`, error)
  }
}

/** Returns the path of the file that `login` keeps the token in; undefined without a home directory. */
export function tokenFile(env: CliIo['env']): string | undefined {
  const home = env.HOME ?? env.USERPROFILE ?? ''
  return home === '' ? undefined : join(home, TOKEN_FILE)
}

/** A certificate and its key identify the client together: one alone is refused. */
function readTls(options: ConnectionValues): TlsSettings {
  const [ca, cert, key] = [readAuthorities(options), options['client-cert'], options['client-key']]
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('-client-cert and -client-key belong together: give both')
  }
  return {
    ...(ca.length === 0 ? {} : { ca }),
    ...(cert === undefined || key === undefined
      ? {}
      : { cert: readCertificate(cert), key: readBytes('the key in', key) }),
    ...(options['tls-server-name'] === undefined ? {} : { servername: options['tls-server-name'] }),
    rejectUnauthorized: !options['tls-skip-verify'],
  }
}

/** Reads the trusted authorities. The file wins over the directory, as with the reference. */
function readAuthorities(options: ConnectionValues): Buffer[] {
  const { 'ca-cert': file, 'ca-path': directory } = options
  if (file !== undefined) return [readCertificate(file)]
  return directory === undefined ? [] : filesOf(directory).map(readCertificate)
}

function filesOf(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => join(directory, name))
  } catch (error) {
    throw new CliError(`Cannot read the directory ${directory}: ${reasonOf(error)}`, error)
  }
}

/** Checks only the first certificate of the file; the TLS layer reads all of them. */
function readCertificate(path: string): Buffer {
  const pem = readBytes('the certificates in', path)
  if (!pem.includes(PEM_CERTIFICATE))
    throw new CliError(`${path} holds no certificate in PEM form ("${PEM_CERTIFICATE}")`)
  try {
    // The TLS layer skips what it cannot read, and would then trust no authority at all.
    new X509Certificate(pem)
  } catch (error) {
    throw new CliError(`${path} holds a certificate that cannot be read`, error)
  }
  return pem
}

function readBytes(what: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CliError(`Cannot read ${what} ${path}: ${reasonOf(error)}`, error)
  }
}

/**
 * Returns a text that a header can carry; undefined if it is empty. A line break in it would begin a second header.
 * @throws CliError, which does not quote the text: it may be a token
 */
export function headerText(what: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (isPrintableAscii(text) && !text.includes(' ')) return text
  throw new CliError(`${what} must be visible ASCII characters without spaces or line breaks`)
}
