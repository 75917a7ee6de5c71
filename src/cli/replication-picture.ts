// The picture of replication that `operator replication status` shows: what this cluster is, whom it has links to, how
// far they are apart, what is being done about it, and for whom the log is kept.
import { own } from '../lib/own.ts'
import { countIn, itemsIn, lineIn, linesIn } from './answer-members.ts'
import { exactMember, type Json } from './exact-json.ts'
import { bar, type Style, type Tone, toned, wrapped } from './picture.ts'
import { FAMILY_NAMES, type FamilyName, isDisconnected, needsAttention, transferIn } from './replication-status.ts'
import { readableSize, spanOf } from './status-picture.ts'

/** The parts of the picture of one family. */
export type ReplicationView = {
  readonly family: FamilyName
  readonly status: Json
  /** How long the running transfer still takes; undefined if that is not known. */
  readonly remainingMs: number | undefined
  readonly nowMs: number
}

/** Width of the labels. */
const LABEL = 14

/** Formats the picture of one family. Every line but the first is indented. */
export function formatReplication(view: ReplicationView, style: Style): string {
  const { status } = view
  const mode = lineIn(status, 'mode')
  const lines = [headLine(view, style)]
  if (mode === 'bootstrapping') lines.push(...beginningRows(view, style))
  if (mode === 'primary' || mode === 'secondary') lines.push(...setRows(status, style))
  if (mode === 'primary') lines.push(...takeoverRows(status, style), ...secondaryRows(view, style))
  if (mode === 'secondary') lines.push(...primaryRows(view, style), ...behindRows(view, style))
  if (mode === 'primary' || mode === 'secondary')
    lines.push(
      ...hiddenRows(status, style),
      ...idleRows(status, style),
      ...undoneRows(status, style),
      ...logRows(status, style),
    )
  return `${lines.map((line, at) => (at === 0 ? line : `  ${line}`)).join('\n')}\n`
}

/** A server that has just begun knows no more than the mode. */
function beginningRows(view: ReplicationView, style: Style): string[] {
  const { status } = view
  const begins = row(style, '', 'It is being set up as a secondary: look again')
  if (lineIn(status, 'state') === '') return begins
  return [...begins, ...primaryRows(view, style), ...behindRows(view, style), ...idleRows(status, style)]
}

function headLine({ family, status }: ReplicationView, style: Style): string {
  const mode = lineIn(status, 'mode')
  const id = lineIn(status, 'secondary_id')
  const state = lineIn(status, 'state')
  const what = `${mode}${id === '' ? '' : ` ${id}`}${state === '' ? '' : `, ${state}`}`
  const tone: Tone = mode === 'disabled' ? 'faint' : needsAttention(status) ? 'bad' : 'good'
  return `${toned(style, tone, style.isUnicode ? '●' : '*')} ${FAMILY_NAMES[family]}: ${toned(style, tone, what)}`
}

/** A label and its text, which goes on below itself where it is longer than the line. */
function row(style: Style, label: string, text: string, tone?: Tone): string[] {
  return wrapped(text, style.width - LABEL - 2).map((line, at) => {
    const shown = tone === undefined ? line : toned(style, tone, line)
    return `${(at === 0 ? label : '').padEnd(LABEL)}${shown}`
  })
}

/** A name that may be longer than labels are, and what there is to say of it. */
function named(style: Style, name: string, text: string, tone?: Tone): string[] {
  return name.length + 4 > LABEL ? [`  ${name}`, ...row(style, '', text, tone)] : row(style, `  ${name}`, text, tone)
}

function setRows(status: Json, style: Style): string[] {
  const set = [lineIn(status, 'cluster_id'), prefixed('epoch ', lineIn(status, 'epoch'))]
  const root = lineIn(status, 'merkle_root')
  const isBad = exactMember(status, 'corrupted_merkle_tree') === true
  return [
    ...present(style, 'Set', set.filter((part) => part !== '').join(', ')),
    ...present(style, 'Last change', lastChange(status)),
    ...present(style, 'Merkle root', root),
    ...(isBad
      ? row(style, '', 'The tree does not fit the stored data: `keywright storage verify` says where', 'bad')
      : []),
  ]
}

/** What concerns a cluster alone is in its log too, and no secondary gets it. */
function lastChange(status: Json): string {
  const last = lineIn(status, 'last_wal')
  const sent = lineIn(status, 'last_dr_wal') || lineIn(status, 'last_performance_wal')
  return sent === '' || sent === last ? last : `${last}, the last one for secondaries: ${sent}`
}

const prefixed = (before: string, text: string): string => (text === '' ? '' : before + text)
const present = (style: Style, label: string, text: string): string[] => (text === '' ? [] : row(style, label, text))

/** What a promoted cluster had of its former primary, and whether that one knows of it. */
function takeoverRows(status: Json, style: Style): string[] {
  const from = exactMember(status, 'promoted_from')
  const [index, history] = [lineIn(from, 'index'), lineIn(from, 'history_id')]
  const untold = lineIn(status, 'former_primary')
  const had = `with the log of the former primary up to change ${index} (history ${history})`
  return [
    ...present(style, 'Promoted', index === '' ? '' : had),
    ...(untold === '' ? [] : row(style, 'Not told', `${UNTOLD}: ${untold}`, 'caution')),
  ]
}

/** Mounts of the set that nobody reaches here, since a local one has their path. */
function hiddenRows(status: Json, style: Style): string[] {
  const paths = linesIn(status, 'conflicting_local_mounts')
  return paths.length === 0 ? [] : row(style, 'Hidden', `${paths.join(', ')} of the set: ${HIDDEN}`, 'caution')
}

const HIDDEN = 'a local mount here has that path. It appears when the local one is gone'

/** What was undone is lost to the set until somebody writes it again, and nothing else says so. */
function undoneRows(status: Json, style: Style): string[] {
  const records = countIn(status, 'undone_records') ?? 0
  return records === 0
    ? []
    : row(style, 'Undone', `${records} ${records === 1 ? 'record' : 'records'} ${KEPT}`, 'caution')
}

const KEPT = 'that the primary did not have, kept aside: `keywright operator replication undone` shows them'
const UNTOLD = 'the former primary does not know yet, and may serve clients'

/** Ids that were never let in are shown too. */
function secondaryRows(view: ReplicationView, style: Style): string[] {
  const { status } = view
  const peers = itemsIn(status, 'secondaries')
  const seen = peers.map((peer) => lineIn(peer, 'node_id'))
  const unseen = linesIn(status, 'known_secondaries').filter((id) => !seen.includes(id))
  const connected = peers.filter((peer) => !isDisconnected(peer)).length
  const all = peers.length + unseen.length
  const isFenced = exactMember(status, 'fenced') === true
  const none = isFenced ? 'none' : 'none: `keywright operator replication secondary-token` lets one in'
  return [
    ...present(style, 'Cluster port', prefixed('given to secondaries: ', lineIn(status, 'primary_cluster_addr'))),
    ...row(style, 'Secondaries', all === 0 ? none : `${connected} of ${all} connected`),
    ...peers.flatMap((peer) => peerRows(view, style, peer, lineIn(peer, 'node_id'))),
    ...synchronousRows(view, style),
    ...handedOverRows(status, style),
    ...unseen.flatMap((id) => named(style, id, UNSEEN, 'caution')),
    ...filterRows(status, style),
  ]
}

/** Which secondaries get a part of the data alone. Status names no paths: anyone may read it. */
function filterRows(status: Json, style: Style): string[] {
  const filters = itemsIn(status, 'paths_filters')
  if (filters.length === 0) return []
  const texts = filters.map((filter): [string, string] => {
    const paths = countIn(filter, 'paths') ?? 0
    return [lineIn(filter, 'id'), `${lineIn(filter, 'mode')}, ${paths} ${paths === 1 ? 'path' : 'paths'}`]
  })
  return [...row(style, 'Filters', FILTERS), ...texts.flatMap(([id, text]) => named(style, id, text))]
}

const FILTERS = '`keywright operator replication filter show` says what is filtered now'

/** What becomes of writes, and how it shows. A state of a later server is shown as it is. */
const SYNCHRONOUS: Readonly<Record<string, readonly [text: string, tone: Tone | undefined]>> = {
  'in-step': ['in step: it has every write that was answered', undefined],
  waiting: ['waited for: writes are not answered before it has them', 'caution'],
  away: ['away: writes are answered without it, and may be lost with this cluster', 'bad'],
  unknown: ['not let in, or sent away: no write waits for it', 'caution'],
}

function synchronousRows({ status, nowMs }: ReplicationView, style: Style): string[] {
  const all = itemsIn(status, 'synchronous')
  if (all.length === 0) return []
  return [
    ...row(style, 'Writes wait', `for ${all.length === 1 ? 'one secondary' : `${all.length} secondaries`}`),
    ...all.flatMap((each) => {
      const [id, state, since] = [lineIn(each, 'id'), lineIn(each, 'state'), lineIn(each, 'since')]
      const [text, tone] = own(SYNCHRONOUS, state) ?? [state, undefined]
      const ago = Number.isNaN(Date.parse(since)) ? '' : ` (${spanOf(nowMs - Date.parse(since))} ago)`
      return named(style, id, `${text}${since === '' ? '' : `, since ${since}${ago}`}`, tone)
    }),
  ]
}

function handedOverRows(status: Json, style: Style): string[] {
  const ids = linesIn(status, 'may_have_taken_over')
  return ids.length === 0 ? [] : row(style, 'Handed over', `to ${ids.join(', ')}, ${UNHEARD}`, 'caution')
}

const UNHEARD =
  'and nothing was heard since. No messages of keys are granted: demote this cluster if another one was promoted, ' +
  'or else revoke who does not come back'
const UNSEEN = 'its activation token is not used yet, or it could not reach this cluster'

function primaryRows(view: ReplicationView, style: Style): string[] {
  const { status } = view
  const isFiltered = exactMember(status, 'filtered') === true
  const link = lineIn(status, 'connection_state')
  const peers = itemsIn(status, 'primaries')
  if (lineIn(status, 'idle_reason') === 'no_primary') return row(style, 'Primary', 'none: it follows nobody')
  const at = lineIn(status, 'primary_cluster_addr')
  const known = itemsIn(status, 'known_primary_cluster_addrs').length
  const more = known > 1 ? `, ${known} addresses known` : ''
  return [
    ...row(style, 'Primary', `${at === '' ? 'no address known' : at}${more}${prefixed(', link: ', link)}`),
    ...peers.flatMap((peer) => peerRows(view, style, peer, lineIn(peer, 'cluster_address'))),
    ...(isFiltered ? row(style, 'Filtered', FILTERED) : []),
  ]
}

const FILTERED =
  'the primary keeps mounts or namespaces from it: `keywright operator replication filter show -secondary` names them'

/** A time in year 1: there was no heartbeat since the server started. */
const YEAR_OF_NEVER = '0001-'
const NO_LINK_YET = 'disconnected, no link since this server started'

/** A clock that is off by more makes certificates and times of tokens hard to understand. */
const NOTABLE_SKEW_MS = 1_000

function peerRows({ nowMs, status }: ReplicationView, style: Style, peer: Json, name: string): string[] {
  const beat = lineIn(peer, 'last_heartbeat')
  const isNever = beat === '' || beat.startsWith(YEAR_OF_NEVER)
  const atMs = isNever ? Number.NaN : Date.parse(beat)
  const ago = Number.isNaN(atMs) ? '' : `${spanOf(nowMs - atMs)} ago`
  const skew = countIn(peer, 'clock_skew_ms') ?? 0
  const skewed = Math.abs(skew) < NOTABLE_SKEW_MS ? '' : `its clock is ${spanOf(Math.abs(skew))} ${skewWord(skew)}`
  if (isDisconnected(peer)) {
    const since = isNever ? NO_LINK_YET : `disconnected since ${beat}${ago === '' ? '' : ` (${ago})`}`
    return named(style, name, joined([since, skewed]), 'bad')
  }
  // Of what was never measured the server says 0.
  const has = lineIn(status, 'mode') === 'primary' && !isNever ? upToDateText(peer) : ''
  const trip = isNever ? '' : lineIn(peer, 'last_heartbeat_duration_ms')
  const parts = ['connected', has, prefixed('heard ', ago), trip === '' ? '' : `round trip ${trip} ms`, skewed]
  return named(style, name, joined(parts))
}

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ')
const skewWord = (skew: number): string => (skew > 0 ? 'ahead' : 'behind')

/** From here on milliseconds alone are hard to read. */
const LONG_MS = 10_000

/** Empty where the place up to which the secondary has everything is not known. */
function upToDateText(peer: Json): string {
  const ms = countIn(peer, 'replication_primary_canary_age_ms') ?? 0
  return ms === 0 ? '' : `up to date as of ${msText(ms)} ago`
}

const msText = (ms: number): string => (ms < LONG_MS ? `${ms} ms` : spanOf(ms))

/** Says how far this cluster is behind, in time and in records; empty if neither is known. */
function behindText(status: Json): string {
  const [ms, entries] = [countIn(status, 'lag_ms'), countIn(status, 'lag_entries')]
  if (ms === undefined && entries === undefined) return ''
  if ((ms ?? 0) === 0 && (entries ?? 0) === 0) return 'nothing missing'
  const time = ms === undefined ? '' : `${ms} ms${ms < LONG_MS ? '' : ` (${spanOf(ms)})`}`
  const records = entries === undefined ? '' : `${entries} ${entries === 1 ? 'record' : 'records'}`
  return `${[time, records].filter((part) => part !== '').join(' and ')} behind`
}

function behindRows({ status, remainingMs }: ReplicationView, style: Style): string[] {
  if (lineIn(status, 'idle_reason') === 'no_primary') return []
  const applied = lineIn(status, 'last_remote_wal')
  const texts = [behindText(status), applied === '' ? '' : `the primary's change ${applied} is applied`]
  const rows = present(style, 'Behind', joined(texts))
  const transfer = transferIn(status)
  if (transfer === undefined) return rows
  const label = transfer.what === 'copying' ? 'Copying' : 'Comparing'
  return [...rows, ...transferRows(style, label, transferText(status, remainingMs), status)]
}

const BAR_CELLS = 24

/** The bar is beside the text, and not a part of it: colours would count as letters. */
function transferRows(style: Style, label: string, text: string, status: Json): string[] {
  const { done, total } = transferIn(status) ?? {}
  if (done === undefined || total === undefined) return row(style, label, text)
  return [`${label.padEnd(LABEL)}${bar(style, Math.min(done, total), total, BAR_CELLS)}  ${text}`]
}

/** Says how far a transfer is, and how long it still takes; the empty text if none is running. */
export function transferText(status: Json, remainingMs: number | undefined): string {
  const transfer = transferIn(status)
  if (transfer === undefined) return ''
  const { what, done, total } = transfer
  const left = remainingMs === undefined ? '' : `about ${roundedSpan(remainingMs)}`
  if (done === undefined) return joined([`${what} begins`, left])
  return joined([total === undefined ? `${done} keys` : `${done} of ${total} keys`, left])
}

/** Milliseconds. */
const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
]

/** An estimate has one unit, and is rounded up: two would promise too much. */
function roundedSpan(ms: number): string {
  const [size, name] = SPANS.find(([each]) => ms >= each) ?? [1_000, 's']
  return `${Math.max(1, Math.ceil(ms / size))} ${name}`
}

/** A reason without an idle state is that of a link that is tried again. */
function idleRows(status: Json, style: Style): string[] {
  const [reason, sentence] = [lineIn(status, 'idle_reason'), lineIn(status, 'idle_sentence')]
  const isIdle = [lineIn(status, 'state'), lineIn(status, 'connection_state')].includes('idle')
  if (!isIdle && reason === '') return []
  return [
    ...row(style, isIdle ? 'Idle' : 'No link', reason === '' ? 'nothing is replicated' : reason, 'bad'),
    ...row(style, '', sentence === '' ? unsaidReason(status) : sentence),
  ]
}

const unsaidReason = (status: Json): string =>
  lineIn(status, 'connection_state') === 'connecting'
    ? 'The link to the primary is being made'
    : 'The log of the server says why'

function logRows(status: Json, style: Style): string[] {
  const bytes = countIn(status, 'retained_wal_bytes')
  if (bytes === undefined) return []
  const from = prefixed(', from change ', lineIn(status, 'retained_wal_from'))
  const holds = itemsIn(status, 'retained_for')
  const whom = holds.length === 0 ? ', needed by nobody' : ', needed by'
  return [
    ...row(style, 'Log', `${readableSize(bytes)}${from}${whom}`),
    ...holds.flatMap((hold) => named(style, lineIn(hold, 'name'), holdText(hold), holdTone(hold))),
  ]
}

const holdTone = (hold: Json): Tone | undefined => (exactMember(hold, 'broken') === true ? 'bad' : undefined)

/** What to do, by the kind of the hold. */
const LIMITS: Readonly<Record<string, string>> = {
  secondary: 'log_retention_secondary_bytes keeps more for the next time',
  copy: 'log_retention_copy_bytes keeps more for the next time',
}

function holdText(hold: Json): string {
  if (exactMember(hold, 'broken') === true) {
    const limit = own(LIMITS, lineIn(hold, 'kind')) ?? ''
    return `broken: records that it needs are gone, so it has to start over. ${limit}`.trimEnd()
  }
  const most = countIn(hold, 'max_bytes')
  const limit = most === undefined ? '' : ` of at most ${readableSize(most)}`
  return `${readableSize(countIn(hold, 'bytes') ?? 0)}${limit}, behind change ${lineIn(hold, 'after')}`
}
