// Records a second below HTTP: two stores follow one another over TLS, each in a process of its own.
import { join } from 'node:path'
import { seenAt } from './applied.ts'
import type { RecordsCalls } from './records-side.ts'
import { type Figure, quantile, type Stage } from './stage.ts'

const VALUE_BYTES = 500

/** One stretch at an even rate, then the time until all is applied. */
export async function measureRecords(stage: Stage): Promise<Figure[]> {
  const { records: perSecond, seconds } = stage.sizes
  const primary = await stage.helper<RecordsCalls>('records-side.ts')
  const secondary = await stage.helper<RecordsCalls>('records-side.ts')
  const { address, activation } = await primary.ask('lead', join(stage.path, 'primary'))
  await primary.ask('write', 1, 1, VALUE_BYTES)
  await secondary.ask('follow', join(stage.path, 'secondary'), address, activation)
  const untilApplied = async (): Promise<void> => {
    const last = await primary.ask('lastIndex')
    await stage.until(async () => (await secondary.ask('appliedIndex')) >= last, 'all records are applied')
  }
  await untilApplied()
  const { committedMs, indexes } = await primary.ask('write', perSecond, seconds, VALUE_BYTES)
  await untilApplied()
  const applied = await secondary.ask('applied')
  const ends = [committedMs.reduce((last, ms) => Math.max(last, ms), 0), applied.seenMs.at(-1) ?? Number.NaN]
  const [committed, followed] = ends.map((ms) => ((committedMs.length - 1) * 1_000) / (ms - (committedMs[0] ?? 0)))
  const lags = committedMs.map((ms, number) => seenAt(applied, indexes[number] ?? 0) - ms)
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(lags, part).toFixed(1))
  const what = `${perSecond} records/s below HTTP`
  return [
    { what: `${what}: committed, applied`, figure: `${committed?.toFixed(0)}/s, ${followed?.toFixed(0)}/s` },
    { what: `${what}: lag, p50, p99`, figure: `${p50}, ${p99} ms` },
  ]
}
