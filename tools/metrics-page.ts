// Writes docs/metrics.md: every metric of src/telemetry/families.ts, in the order of its table.
import { BUCKETS, FAMILIES, type Family } from '../src/telemetry/families.ts'
import { cell } from './errors-page.ts'

const HEAD = `# Metrics

<!-- Written by tools/generate.ts from src/telemetry/families.ts: change that table, not this page. -->

\`GET /v1/sys/metrics?format=prometheus\` gives them as Prometheus reads them (text format 0.0.4), without
\`format\` they come as JSON. Both need a token with \`read\` on \`sys/metrics\`, unless the listener says otherwise;
it then also answers while the server is sealed, and to anybody who reaches the port:

\`\`\`hcl
listener "tcp" {
  telemetry {
    unauthenticated_metrics_access = true
  }
}
\`\`\`

Counts are those of this process, over all its threads, since it started; a thread that dies takes none along. Of
the endpoints only those are there that were called; their names are the ids in [docs/api](api/README.md), and
\`none\` stands for requests that reached none. Labels never hold what a caller sent, but the paths of namespaces.
What does not apply to a server (it follows no other), cannot be found out (no descriptor is free) or is about a
namespace that is gone is left out.
[Watching a server](telemetry.md) says which to look at.

| Name | Kind | Labels | Meaning |
|---|---|---|---|
`

/** Returns the page. */
export function metricsPage(): string {
  const rows = Object.entries(FAMILIES).map(([name, family]) => {
    const alias = family.alias === undefined ? '' : `; also as \`${family.alias}\``
    return `| \`${name}\` | ${family.kind} | ${labelsOf(family)} | ${cell(family.help)}${alias} |\n`
  })
  return `${HEAD}${rows.join('')}\nBounds of the histograms, in seconds: ${BUCKETS.join(', ')}.\n`
}

function labelsOf({ labels = [], cells = {}, perThread }: Family): string {
  const values = new Map<string, Set<string>>()
  for (const own of Object.values(cells))
    for (const [name, value] of Object.entries(own)) values.set(name, (values.get(name) ?? new Set()).add(value))
  const shown = [
    ...labels.map((name) => `\`${name}\``),
    ...[...values].map(([name, of]) => `\`${name}\`: ${[...of].join(', ')}`),
    ...(perThread === true ? ['`thread`'] : []),
  ]
  return shown.join('; ')
}
