// Writes docs/configuration.md: every key of the configuration, from the tables that the parser reads.
import { CLOUD_STANZA } from '../src/config/cloud.ts'
import { ENVIRONMENT, PREFIXES } from '../src/config/environment.ts'
import { KMS_LIBRARY_STANZA } from '../src/config/kms-library.ts'
import { TCP_STANZA, UNIX_STANZA } from '../src/config/listener.ts'
import { REPLICATION_STANZA } from '../src/config/replication.ts'
import { SEAL_STANZA } from '../src/config/seal.ts'
import type { Setting, Stanza } from '../src/config/setting.ts'
import { STORAGE_STANZAS } from '../src/config/storage.ts'
import { INNER_STANZA } from '../src/config/switches.ts'
import { TOP_STANZA } from '../src/config/top.ts'
import { cell } from './errors-page.ts'

/** Stanzas in the order of the page. A new one is one more line. */
export const STANZAS: readonly Stanza[] = [
  TOP_STANZA,
  TCP_STANZA,
  UNIX_STANZA,
  INNER_STANZA,
  ...STORAGE_STANZAS,
  SEAL_STANZA,
  REPLICATION_STANZA,
  KMS_LIBRARY_STANZA,
  CLOUD_STANZA,
]

const HEAD = `# Configuration

<!-- Written by tools/generate.ts from the tables of src/config-*.ts: change those, not this page. -->

\`keywright server -config=FILE\` reads HCL or JSON, with the names of the reference. \`-config\` can be given several
times, and a directory stands for the \`.hcl\` and \`.json\` files in it, in the order of their names. Listeners may
stand in all of them, every other key in one: a second one stops the start, as an unknown key does, and everything
that is wrong is told at once. Durations are seconds, or texts such as \`90s\` and \`1h30m\`; a bool may be a text too.

\`\`\`hcl
listener "tcp" {
  address       = "0.0.0.0:8200"
  tls_cert_file = "/etc/keywright/cert.pem"
  tls_key_file  = "/etc/keywright/key.pem"
}
listener "unix" {
  address      = "/run/keywright/keywright.sock"
  socket_mode  = "660"
}
storage "sqlite" {
  path = "/var/lib/keywright"
}
api_addr = "https://keys.example:8200"
\`\`\`

SIGHUP reads the files anew and changes, on all threads and without ending a connection, what can change while the
server runs: certificate, key and authorities of TLS, and \`log_level\`; the files of audit devices are opened anew.
What cannot be used is named in the log, and what was there before goes on. \`sys/config/reload/tls\`, \`audit\` and
\`log_level\` do the same for one part, and answer when all threads have it. SIGTERM and SIGINT end the server: it
takes no more connections, finishes what it began, for five seconds at most, and ends with 0.

`

const HEADERS = `## custom_response_headers

By status (\`"404"\`), by class (\`"4xx"\`) or \`"default"\`; the nearer one counts. Headers of the connection and
of the body, \`Cache-Control\` and those that begin with \`X-Vault-\` are the server's own. Over TLS
\`Strict-Transport-Security\` is there without being asked for.

\`\`\`hcl
listener "tcp" {
  tls_disable = true
  custom_response_headers {
    "default" = { "Content-Security-Policy" = ["default-src 'none'"] }
    "4xx"     = { "X-Contact" = ["keys@example.org"] }
  }
}
\`\`\`

`

const PROXIES = `## Behind a proxy

The address of a client decides where a token is bound to addresses, and stands in the log. Without the settings
below it is the other end of the connection, whatever a request claims. \`X-Forwarded-For\` is read from the right,
over all its lines: the last entry is what the proxy itself saw, and \`x_forwarded_for_hop_skips\` passes over those
of proxies between it and the server. Entries are plain addresses: a port, a zone, brackets, an IPv4 address in the
form of IPv6, anything else is a 400. Where both are set, the address of the PROXY protocol is the one that
\`x_forwarded_for_authorized_addrs\` is asked about. Connections of listed proxies count for \`max_connections\`
alone.

`

/** Returns the page. */
export function configurationPage(): string {
  const stanzas = STANZAS.map((stanza) => `## ${stanza.title}\n\n${stanza.about}\n\n${tables(stanza)}`)
  return HEAD + stanzas.join('') + HEADERS + PROXIES + environmentPart()
}

function tables({ settings }: Stanza): string {
  const all = Object.entries(settings)
  const offered = all.flatMap(([key, setting]) => (setting.kind === 'offered' ? [offeredRow(key, setting)] : []))
  const others = all.flatMap(([key, setting]) => (setting.kind === 'offered' ? [] : [otherRow(key, setting)]))
  if (all.length === 0) return ''
  const head = `| Key | Type | Default | Effect |\n|---|---|---|---|\n${offered.join('')}\n`
  if (others.length === 0) return head
  return `${head}Of the reference, and not here:\n\n| Key | |\n|---|---|\n${others.join('')}\n`
}

function offeredRow(key: string, setting: Setting & { kind: 'offered' }): string {
  return `| \`${key}\` | ${cell(setting.type)} | ${cell(setting.default)} | ${cell(setting.effect)} |\n`
}

function otherRow(key: string, setting: Exclude<Setting, { kind: 'offered' }>): string {
  const text = setting.kind === 'ignored' ? `does nothing: ${setting.why}` : `refused: ${setting.remedy}`
  return `| \`${key}\` | ${cell(text)} |\n`
}

function environmentPart(): string {
  const rows = [...ENVIRONMENT].map(
    ([name, key]) => `| ${PREFIXES.map((prefix) => `\`${prefix}${name}\``).join(', ')} | \`${key}\` |\n`,
  )
  return `## Environment

These count before the files, the first one that is set and not empty; \`seal "static"\` reads those that it names.

| Variable | Key |
|---|---|
${rows.join('')}`
}
