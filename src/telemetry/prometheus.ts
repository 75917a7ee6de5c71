// Writes metrics in the text exposition format 0.0.4 of Prometheus.
import { BUCKETS, type Labels } from './families.ts'
import type { Distribution, Reading } from './reading.ts'

/** Media type of `prometheusText`. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Returns all readings as text. Buckets are cumulative, as the format asks; a metric with an alias appears under both
 * names.
 */
export function prometheusText(readings: readonly Reading[]): string {
  const lines: string[] = []
  for (const { name, family, samples } of readings) {
    lines.push(`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${family.kind}`)
    for (const { labels, value } of samples) {
      if (typeof value === 'number') lines.push(`${name}${labelText(labels)} ${value}`)
      else lines.push(...histogramLines(name, labels, value))
    }
    if (family.alias === undefined) continue
    lines.push(`# HELP ${family.alias} As ${name}`, `# TYPE ${family.alias} ${family.kind}`)
    for (const { labels, value } of samples) lines.push(`${family.alias}${labelText(labels)} ${value}`)
  }
  return `${lines.join('\n')}\n`
}

function histogramLines(name: string, labels: Labels, { counts, sum }: Distribution): string[] {
  let below = 0
  const buckets = counts.map((count, at) => {
    below += count
    return `${name}_bucket${labelText({ ...labels, le: String(BUCKETS[at] ?? '+Inf') })} ${below}`
  })
  return [...buckets, `${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${below}`]
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')
