// Checks whether others on the network could read along: TLS, certificates and their keys (B-03, P-61).
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type Check, type Finding, ok, refusing, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'
import type { ListenerFacts } from './setting.ts'

const DAY_MS = 86_400_000
/** Days before a certificate ends from which on it is a warning; docs/security-model.md, B-03. */
const WARN_DAYS = 30
/** Permission bits that a private key must not have: only its owner may write, only owner and group may read. */
const KEY_MODE_EXCESS = 0o037

const tls: Check = {
  id: 'B-03',
  title: 'TLS on every remotely reachable address',
  group: 'network',
  how: 'listeners of the configuration, certificate and key',
  again: true,
  run: (machine, { listeners }) => {
    const findings = listeners.map((listener) => listenerFinding(machine, listener))
    return worst(findings.length === 0 ? [ok('The server has no listener')] : findings)
  },
}

function listenerFinding(machine: Machine, listener: ListenerFacts): Finding {
  const { address, isLocal, isTlsDisabled, certFile, keyFile } = listener
  if (certFile !== undefined && keyFile !== undefined && !isTlsDisabled)
    return worst([ok(`${address} uses TLS`), certificate(machine, address, certFile, keyFile)])
  if (isLocal) return ok(`${address} is reachable from this machine only`)
  if (isTlsDisabled)
    return warn(
      `${address} has no TLS, so anyone on the network path reads every token: set tls_cert_file and tls_key_file`,
    )
  return refusing(
    `${address} has no certificate: set tls_cert_file and tls_key_file, or tls_disable = true behind a proxy with TLS`,
  )
}

function certificate(machine: Machine, address: string, certFile: string, keyFile: string): Finding {
  const parsed = parseCertificate(machine.readText(certFile))
  if (parsed === undefined)
    return refusing(`${certFile} holds no readable certificate: ${address} needs one in PEM form`)
  const key = parseKey(machine.readText(keyFile))
  if (key === undefined) return refusing(`${keyFile} holds no readable private key: ${address} needs one in PEM form`)
  if (!parsed.checkPrivateKey(key))
    return refusing(`The key in ${keyFile} does not belong to the certificate in ${certFile}`)
  return worst([validity(machine, parsed, certFile), keyMode(machine, keyFile)])
}

function validity({ world }: Machine, { validFromDate, validToDate }: X509Certificate, file: string): Finding {
  const nowMs = world.clock.nowMs()
  if (validFromDate.getTime() > nowMs) return refusing(`The certificate in ${file} is not valid yet: check the clock`)
  const days = Math.floor((validToDate.getTime() - nowMs) / DAY_MS)
  if (days < 0) return refusing(`The certificate in ${file} has expired: renew it`)
  return days < WARN_DAYS ? warn(`The certificate in ${file} expires in ${days} days: renew it`) : ok('')
}

function keyMode(machine: Machine, file: string): Finding {
  const facts = machine.stat(file)
  // A link was made by the operator, who answers for its target.
  if (facts === undefined || facts.kind !== 'file' || (facts.mode & KEY_MODE_EXCESS) === 0) return ok('')
  return warn(
    `Others can access ${file}, mode ${facts.mode.toString(8)}: chmod 600, or 640 for the group of the server`,
  )
}

function parseCertificate(pem: string | undefined): X509Certificate | undefined {
  try {
    return pem === undefined ? undefined : new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function parseKey(pem: string | undefined): KeyObject | undefined {
  try {
    return pem === undefined ? undefined : createPrivateKey(pem)
  } catch {
    return undefined
  }
}

/** B-03, for `CHECKS` in report.ts. It also covers the certificate (P-61). */
export const NETWORK_CHECKS: readonly Check[] = [tls]
