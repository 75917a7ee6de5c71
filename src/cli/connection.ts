// Where the server is and who asks, from options, environment and the token file.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asciiTrim, isPrintableAscii } from '../lib/ascii.ts'
import { CliError, codeOf, reasonOf } from './cli-error.ts'
import type { ConnectionValues } from './common-options.ts'
import type { CliIo } from './io.ts'

export type Connection = {
  /** Scheme, host and port, and what a proxy wants in front of /v1; without a slash at the end. */
  readonly address: string
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly tls: { readonly ca?: Buffer; readonly rejectUnauthorized: boolean }
}

/** Where the reference's own login command, and its development server, leave a token. */
const TOKEN_FILE = '.vault-token'
const PEM_CERTIFICATE = '-----BEGIN CERTIFICATE-----'

/** @throws CliError */
export function readConnection(options: ConnectionValues, env: CliIo['env']): Connection {
  return {
    address: readAddress(options.address),
    token: headerText('The token', options.token ?? readTokenFile(env)),
    namespace: headerText('The namespace', options.namespace),
    tls: { ...readCa(options['ca-cert']), rejectUnauthorized: !options['tls-skip-verify'] },
  }
}

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

function readTokenFile(env: CliIo['env']): string | undefined {
  const home = env.HOME ?? env.USERPROFILE ?? ''
  if (home === '') return undefined
  const path = join(home, TOKEN_FILE)
  try {
    const token = asciiTrim(readFileSync(path, 'utf8'))
    return token === '' ? undefined : token
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new CliError(`Cannot read the token file ${path}: ${reasonOf(error)}`, error)
  }
}

function readCa(path: string | undefined): { ca: Buffer } | undefined {
  if (path === undefined) return undefined
  const ca = readBytes(path)
  if (!ca.includes(PEM_CERTIFICATE))
    throw new CliError(`${path} holds no certificate in PEM form ("${PEM_CERTIFICATE}")`)
  try {
    // The TLS layer passes over what it cannot read, and then knows no authority at all.
    new X509Certificate(ca)
  } catch (error) {
    throw new CliError(`${path} holds a certificate that cannot be read`, error)
  }
  return { ca }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CliError(`Cannot read the certificates in ${path}: ${reasonOf(error)}`, error)
  }
}

/** What a header can carry; a line break in it would be a second header. */
function headerText(what: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (isPrintableAscii(text) && !text.includes(' ')) return text
  throw new CliError(`${what} must be visible ASCII characters without spaces or line breaks`)
}
