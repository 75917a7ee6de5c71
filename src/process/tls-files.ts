// Reads the TLS files of a listener and checks them before any thread gets them, so that a server keeps its certificate
// if the new files cannot be used. Dates are not checked: they are only warned about.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { TlsMaterial, TlsRules } from '../http/tls.ts'
import type { World } from '../lib/world.ts'

/** Why the files cannot be used: a sentence that names the file. */
export class TlsFileError extends Error {
  override name = 'TlsFileError'
}

/** The contents of the files, as the TLS library takes them. */
export type TlsFiles = Omit<TlsMaterial, 'ticketKey'> & {
  /** Sentences for the operator. */
  readonly warnings: readonly string[]
}

/** The size that Node asks for (`ticketKeys` of tls.createServer). */
const TICKET_KEY_BYTES = 48
/** A certificate that expires within 30 days is warned about. */
const SOON_MS = 30 * 86_400_000

/** Reads the files of a listener. `nowMs` decides about warnings of dates only. @throws TlsFileError */
export function readTlsFiles(rules: TlsRules, nowMs: number): TlsFiles {
  const { certFile, keyFile, clientCaFile } = rules
  const cert = readText('tls_cert_file', certFile)
  const key = readText('tls_key_file', keyFile)
  const clientCa = clientCaFile === undefined ? undefined : readText('tls_client_ca_file', clientCaFile)
  const [own] = certificatesIn('tls_cert_file', certFile, cert)
  if (clientCaFile !== undefined && clientCa !== undefined) certificatesIn('tls_client_ca_file', clientCaFile, clientCa)
  const keyObject = keyIn(keyFile, key)
  if (own === undefined || !own.checkPrivateKey(keyObject))
    throw new TlsFileError(`The key in ${keyFile} does not belong to the certificate in ${certFile}`)
  try {
    createSecureContext({ cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }) })
  } catch (cause) {
    throw new TlsFileError(`${certFile} cannot be used (${codeOf(cause)})`)
  }
  return { cert, key, clientCa, warnings: [...dateWarnings(certFile, own, nowMs), ...modeWarnings(keyFile)] }
}

/**
 * Adds a new key for session tickets, so that sessions agreed on with an older certificate or authority are not
 * resumed.
 */
export function materialOf(
  { cert, key, clientCa }: TlsFiles | TlsMaterial,
  { random }: Pick<World, 'random'>,
): TlsMaterial {
  return { cert, key, clientCa, ticketKey: random.bytes(TICKET_KEY_BYTES) }
}

function readText(setting: string, path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (cause) {
    throw new TlsFileError(`${setting} ${path} cannot be read (${codeOf(cause)})`)
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

/**
 * Parses every certificate of the file. The TLS library would pass over one that it cannot read, or break connections
 * later.
 */
function certificatesIn(setting: string, path: string, text: string): readonly X509Certificate[] {
  const found = text.split(BEGIN).slice(1)
  if (found.length === 0) throw new TlsFileError(`${setting} ${path} holds no certificate in PEM form`)
  return found.map((rest) => {
    try {
      return new X509Certificate(`${BEGIN}${rest.slice(0, rest.indexOf(END))}${END}\n`)
    } catch {
      throw new TlsFileError(`${setting} ${path} holds a certificate that cannot be read`)
    }
  })
}

/** Parses the private key. @throws TlsFileError, also for a key with a passphrase */
function keyIn(path: string, text: string) {
  if (text.includes('ENCRYPTED')) throw new TlsFileError(`The key in ${path} has a passphrase: remove it`)
  try {
    return createPrivateKey(text)
  } catch {
    throw new TlsFileError(`tls_key_file ${path} holds no private key in PEM form`)
  }
}

/** Dates are warned about only: the certificate is used all the same. */
function dateWarnings(path: string, { validFromDate, validToDate }: X509Certificate, nowMs: number): readonly string[] {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  if (nowMs > to) return [`The certificate in ${path} has expired, on ${validToDate.toISOString()}`]
  if (nowMs < from) return [`The certificate in ${path} is not valid before ${validFromDate.toISOString()}`]
  return to - nowMs < SOON_MS ? [`The certificate in ${path} expires on ${validToDate.toISOString()}`] : []
}

/** The mode bits of group and others. */
const OTHERS = 0o077

function modeWarnings(path: string): readonly string[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & OTHERS) === 0 ? [] : [`Others than its owner can read the key ${path}: chmod 600 it`]
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? 'unknown'
