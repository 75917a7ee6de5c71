// When a credential is due by a schedule: minute, hour, day of the month, month, day of the week, in UTC, as in cron. A
// day counts if one of the two day fields fits, unless one of them is `*`; then both must fit.

/** A parsed schedule. `isEither`: one fitting day field is enough. */
export type Schedule = {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  readonly isEither: boolean
}

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const MAX_CHARACTERS = 200
const NUMBER = /^\d{1,2}$/
const MINUTE_MS = 60_000
/** More days than lie between two 29ths of February around a century without one. */
const MOST_DAYS = 366 * 9

/** Parses a schedule; undefined if the text is none. */
export function parseSchedule(text: string): Schedule | undefined {
  const fields = text.trim().split(/\s+/)
  if (text.length > MAX_CHARACTERS || fields.length !== RANGES.length) return undefined
  const sets = fields.map((field, at) => parseField(field, RANGES[at] ?? [0, 0]))
  const [minutes, hours, days, months, weekdays] = sets
  if (!minutes || !hours || !days || !months || !weekdays) return undefined
  const isEither = fields[2] !== '*' && fields[4] !== '*'
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((day) => day % 7)), isEither }
}

/** Parses one field: `*`, `5`, `1-5`, each with `/2`, and lists of them. */
function parseField(field: string, [least, most]: readonly [number, number]): ReadonlySet<number> | undefined {
  const found = new Set<number>()
  for (const part of field.split(',')) {
    const [range = '', stepText = '1', ...more] = part.split('/')
    const [fromText = '', toText, ...rest] = range === '*' ? [String(least), String(most)] : range.split('-')
    const hasStep = part.includes('/')
    const texts = [fromText, toText ?? fromText, stepText]
    if (more.length > 0 || rest.length > 0 || !texts.every((each) => NUMBER.test(each))) return undefined
    const from = Number(fromText)
    const to = toText === undefined ? (hasStep ? most : from) : Number(toText)
    const step = Number(stepText)
    if (from < least || to > most || from > to || step < 1) return undefined
    for (let at = from; at <= to; at += step) found.add(at)
  }
  return found
}

/** Returns the first such minute after `afterMs`; undefined if there is none, as for 30 February. */
export function nextTimeMs(schedule: Schedule, afterMs: number): number | undefined {
  const start = new Date(Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS)
  for (let day = 0; day < MOST_DAYS; day++) {
    const date = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate() + day))
    if (!isDay(schedule, date)) continue
    for (const hour of [...schedule.hours].sort((a, b) => a - b)) {
      for (const minute of [...schedule.minutes].sort((a, b) => a - b)) {
        const atMs = date.getTime() + (hour * 60 + minute) * MINUTE_MS
        if (atMs >= start.getTime()) return atMs
      }
    }
  }
  return undefined
}

function isDay({ days, months, weekdays, isEither }: Schedule, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const [byDay, byWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return isEither ? byDay || byWeekday : byDay && byWeekday
}
