// The page docs/clients.md: for each client a row and a section, made of its run.
import { strict as assert } from 'node:assert'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../../fixtures/server-process.ts'

export const PAGE = join(PROJECT, 'docs/clients.md')

/** The tests that make the page, in its order. */
export const CLIENT_TESTS = [
  'hvac.test.ts',
  'node-vault.test.ts',
  'litehex-node-vault.test.ts',
  'hashi-vault-js.test.ts',
  'node-vault-client.test.ts',
]

/** Where a run writes its part of the page instead of comparing it with the page: a folder. */
export const PARTS_VARIABLE = 'KEYWRIGHT_CLIENT_PARTS'

export type FlowReport = {
  readonly title: string
  readonly calls: readonly string[]
  /** Begins with `runs`, `not offered` or `fault of the client`. */
  readonly result: string
}

export type ClientReport = {
  readonly name: string
  readonly version: string
  readonly language: string
  readonly flows: readonly FlowReport[]
}

export type ClientPart = { readonly row: string; readonly section: string }

const HEAD = `# Existing clients

Clients that others wrote, as their packages have them, against a real server, in each run of the tests. This page is
made of the runs: \`npm run clients\` writes it, and the tests fail where it says anything else than what ran. Each call
that a client offers is in a row: one that is in none fails the tests too.

- *runs*: does what its documentation says, and what it answers is compared.
- *not offered*: asks for an engine, a login method or an endpoint that is not here, and is refused.
- *fault of the client*: does not understand the answer that it asks for, whoever gives it.

In a failover to a secondary for disaster recovery a client changes the address, and nothing else: its token, leases,
cubbyhole, wrapped answers and keys are those that it had. The tests take sessions of \`hvac\` and \`node-vault\`
through one, and compare these answers:

| Cluster | \`sys/health\` | A request that stores something |
|---|---|---|
| the secondary, before | 472 | 400, \`path disabled in replication DR secondary mode\` |
| the former primary | 473 | 503 with \`Retry-After: 5\` |
| the secondary, promoted | 200 | 200 |
| the former primary, demoted | 472 | 400, \`path disabled in replication DR secondary mode\` |

So a client tries again after 503, and where its address still leads to the former primary, it takes the one that the
sentence of the 503 names. The former primary goes on with what stores nothing, such as decrypting, until it is demoted.
Demoted, it refuses that too, as the secondary did before. No answer is 412, except to a client that asks for the state
of another cluster with [\`X-Vault-Index\`](consistency.md).

| Client | Version | Language | Flows that run | Not offered | Faults of the client |
|---|---|---|---|---|---|
`

/** One client's row of the table, and its section. */
export function clientPart({ name, version, language, flows }: ClientReport): ClientPart {
  const count = (kind: string): number => flows.filter(({ result }) => result.startsWith(kind)).length
  const counts = ['runs', 'not offered', 'fault of the client'].map(count)
  const lines = flows.map(({ title, calls, result }) => {
    return `| ${title} | ${calls.map((call) => `\`${call}\``).join(', ')} | ${result} |`
  })
  return {
    row: `| ${[`\`${name}\``, version, language, ...counts].join(' | ')} |`,
    section: `## ${name} ${version}\n\n| Flow | Calls | Result |\n|---|---|---|\n${lines.join('\n')}\n`,
  }
}

export function clientsPage(parts: readonly ClientPart[]): string {
  const rows = parts.map(({ row }) => `${row}\n`).join('')
  return `${HEAD}${rows}\n${parts.map(({ section }) => section).join('\n')}`
}

/** The parts that a page is made of; of one that is not made of parts, what looks like them. */
export function partsOf(page: string): ClientPart[] {
  const [head = '', ...sections] = page.split(/^(?=## )/m)
  const rows = head.split('\n').filter((line) => line.startsWith('| `'))
  return sections.map((section, index) => ({ row: rows[index] ?? '', section: `${section.trimEnd()}\n` }))
}

/** Compares a client's part with the page, or writes it for the one who makes the page. */
export function publish(report: ClientReport): void {
  const part = clientPart(report)
  const folder = process.env[PARTS_VARIABLE]
  if (folder !== undefined) {
    writeFileSync(join(folder, `${report.name.replaceAll('/', '-')}.json`), JSON.stringify(part))
    return
  }
  const named = partsOf(readFileSync(PAGE, 'utf8')).find(({ section }) => section.startsWith(`## ${report.name} `))
  assert.deepEqual(named, part, 'docs/clients.md says something else: npm run clients')
}
