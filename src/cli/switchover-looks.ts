// What is looked at before a set changes hands: on both clusters, with nothing changed.
import { compareVersions } from '../lib/semantic-version.ts'
import { countIn, itemsIn, lineIn, linesIn } from './answer-members.ts'
import { RemoteFailure } from './cli-error.ts'
import type { ApiRequest, Client } from './client.ts'
import { exactMember, type Json } from './exact-json.ts'
import type { CliIo } from './io.ts'
import type { LooksVerdict } from './replication-looks.ts'
import { isGoodEnough } from './replication-looks.ts'
import { BETWEEN_LOOKS_MS, readReplication } from './replication-status.ts'

/** The two clusters, and what they are asked with. */
export type Switching = {
  /** The primary that hands over, with the token of the caller, which counts on the other cluster too. */
  readonly former: Client
  /** The secondary that becomes the primary. */
  readonly next: Client
  readonly operationToken: string
  /** The name of the former primary in the set of the new one. */
  readonly id: string
  /** Address of the cluster port of the new primary; undefined: as it is configured. */
  readonly clusterAddress: string | undefined
}

/** What one look found. */
export type Look = {
  readonly what: string
  readonly result: 'good' | 'bad' | 'not looked at'
  readonly sentence: string
}

/** The paths that a change of hands asks for, below `sys/replication/dr/`. */
const BY_OPERATION = ['secondary/promote', 'secondary/generate-public-key', 'secondary/update-primary']
const BY_CALLER = ['primary/demote', 'primary/secondary-token']
/** The operations that need "sudo" as well. */
const WITH_SUDO = ['primary/secondary-token']

/** An operation token that ends sooner may end between two steps. */
const SHORTEST_TTL_S = 300

const good = (what: string, sentence: string): Look => ({ what, result: 'good', sentence })
const bad = (what: string, sentence: string): Look => ({ what, result: 'bad', sentence })
const skipped = (what: string, sentence: string): Look => ({ what, result: 'not looked at', sentence })

/** Takes all looks. The statuses are those that the looks were about; null where there was none. */
export async function lookAtBoth(io: CliIo, switching: Switching) {
  const { former, next } = switching
  const [formerStatus, primaryLook] = await statusLook('primary', former, faultOfPrimary)
  const [nextStatus, secondaryLook] = await statusLook('secondary', next, faultOfSecondary)
  const areBoth = [primaryLook, secondaryLook].every(isGoodEnough)
  const between = areBoth
    ? [setLook(formerStatus, nextStatus), versionLook(formerStatus, nextStatus), await logLook(io, next)]
    : ['set', 'version', 'log'].map((what) => skipped(what, 'The two clusters are not a primary and its secondary'))
  const looks: readonly Look[] = [
    primaryLook,
    secondaryLook,
    ...between,
    await portLook(switching),
    ...(primaryLook.result === 'good' ? [await operationTokenLook(switching), await callerLook(switching)] : []),
    ...othersLook(formerStatus, nextStatus),
  ]
  return { looks, formerStatus, nextStatus }
}

/** The verdict of the looks. */
export function switchoverVerdict(looks: readonly Json[]): LooksVerdict {
  if (!looks.every(isGoodEnough)) return ['bad', 'A switchover would not work. Nothing was changed']
  return ['good', 'Nothing found against a switchover']
}

/** Reads the status for disaster recovery. @throws RemoteFailure */
export const drStatus = async (client: Client): Promise<Json> =>
  exactMember(await readReplication(client, 'dr'), 'data') ?? null

async function statusLook(
  what: string,
  client: Client,
  faultOf: (status: Json) => string | undefined,
): Promise<readonly [Json, Look]> {
  const status = await answered(() => drStatus(client))
  if (status instanceof RemoteFailure) return [null, bad(what, firstLine(status))]
  const fault = faultOf(status)
  const said = `${client.address} is a ${lineIn(status, 'mode')}, ${lineIn(status, 'state')}`
  return [status, fault === undefined ? good(what, said) : bad(what, `${client.address} ${fault}`)]
}

function faultOfPrimary(status: Json): string | undefined {
  const [mode, state] = [lineIn(status, 'mode'), lineIn(status, 'state')]
  if (mode !== 'primary') return `is no primary: its mode is ${mode}`
  if (exactMember(status, 'fenced') === true) return 'is fenced: another cluster took over from it. Demote it'
  return state === 'running' ? undefined : `is ${state}. ${lineIn(status, 'idle_sentence')}`.trimEnd()
}

function faultOfSecondary(status: Json): string | undefined {
  const [mode, state, link] = ['mode', 'state', 'connection_state'].map((name) => lineIn(status, name))
  if (mode !== 'secondary') return `is no secondary: its mode is ${mode}`
  if (state !== 'stream-wals') return `does not follow the log: its state is ${state}. ${whyIdle(status)}`.trimEnd()
  return link === 'ready' ? undefined : `has no link to its primary: it is ${link}. ${whyIdle(status)}`.trimEnd()
}

const whyIdle = (status: Json): string => lineIn(status, 'idle_sentence') || lineIn(status, 'idle_reason')

function setLook(former: Json, next: Json): Look {
  const [one, other] = [lineIn(former, 'cluster_id'), lineIn(next, 'cluster_id')]
  return one === other
    ? good('set', `Both are in set ${one}`)
    : bad('set', `The primary is in set ${one}, and the secondary in set ${other}`)
}

/** A cluster follows one of its own version, or an older one (replication/link/version-rule.ts). */
function versionLook(former: Json, next: Json): Look {
  const [old, young] = [lineIn(former, 'program_version'), lineIn(next, 'program_version')]
  const apart = compareVersions(young, old)
  if (apart === undefined) return skipped('version', 'One of the two does not say which version it has')
  const versions = `The primary has version ${old}, and the secondary ${young}`
  if (apart > 0) return bad('version', `${versions}, which the former primary could not follow: upgrade it first`)
  return good('version', apart === 0 ? `Both have version ${old}` : versions)
}

/** Longest log that a primary is asked to hand over, and how often it is looked at: clients write meanwhile. */
const MOST_BEHIND_MS = 1_000
const LOG_LOOKS = 5

async function logLook(io: CliIo, next: Client): Promise<Look> {
  for (let look = 1; ; look++) {
    const status = await answered(() => drStatus(next))
    if (status instanceof RemoteFailure) return bad('log', firstLine(status))
    const [ms, entries] = [countIn(status, 'lag_ms'), countIn(status, 'lag_entries')]
    if (entries === 0) return good('log', 'The secondary has all that the primary is known to have')
    const text = `The secondary is ${entries ?? '?'} records and ${ms ?? '?'} ms behind`
    if (ms !== undefined && ms <= MOST_BEHIND_MS) return good('log', `${text}: the primary hands them over`)
    if (look === LOG_LOOKS) return bad('log', `${text}: wait until it has caught up`)
    await io.sleep(BETWEEN_LOOKS_MS)
  }
}

/** Only the former primary can tell whether it reaches the port, and it has no reason to connect before. */
async function portLook({ next, clusterAddress }: Switching): Promise<Look> {
  const what = 'cluster port'
  const read = await answered(() => next.send({ doing: 'reading the addresses', method: 'GET', path: 'sys/leader' }))
  const configured = read instanceof RemoteFailure ? '' : lineIn(read.body, 'leader_cluster_address')
  const address = clusterAddress ?? configured
  const where = address === '' ? 'the cluster port of the new primary' : address
  return skipped(what, `Whether the former primary reaches ${where} shows when it follows`)
}

/** A batch token of the set can be asked about on the primary, as any token. */
async function operationTokenLook({ former, operationToken }: Switching): Promise<Look> {
  const what = 'operation token'
  const asking = former.with({ token: operationToken })
  const read = await answered(() =>
    asking.send({ doing: 'looking the operation token up', method: 'GET', path: 'auth/token/lookup-self' }),
  )
  if (read instanceof RemoteFailure) return bad(what, `The primary does not know it. ${NEEDS_BATCH}`)
  const data = exactMember(read.body, 'data')
  if (lineIn(data, 'type') !== 'batch' || exactMember(data, 'orphan') !== true)
    return bad(what, `It is no batch token without a parent. ${NEEDS_BATCH}`)
  const ttl = countIn(data, 'ttl') ?? 0
  if (ttl < SHORTEST_TTL_S) return bad(what, `It ends in ${ttl} s: make one that lasts ${SHORTEST_TTL_S} s or longer`)
  const lacks = await lackingRights(asking, BY_OPERATION)
  if (lacks === undefined) return skipped(what, 'It may not ask for its own rights: it lacks the policy "default"')
  return lacks.length === 0
    ? good(what, `A batch token of the set that may do all steps, for ${ttl} s`)
    : bad(what, `Its policies do not allow ${lacks.join(', ')}`)
}

const NEEDS_BATCH =
  'Both clusters must take it one after the other, which only a batch token of the set without a parent is good for: ' +
  'one made with key shares ends with the promotion'

async function callerLook({ former }: Switching): Promise<Look> {
  const lacks = await lackingRights(former, BY_CALLER)
  if (lacks === undefined) return bad('token', 'The primary does not take the token of the caller')
  return lacks.length === 0
    ? good('token', 'The token of the caller may do all steps')
    : bad('token', `Its policies do not allow ${lacks.join(', ')}`)
}

/** The rights that the token of a client lacks; undefined if it may not ask. */
async function lackingRights(client: Client, operations: readonly string[]): Promise<string[] | undefined> {
  const paths = operations.map((each) => `sys/replication/dr/${each}`)
  const request: ApiRequest = {
    doing: 'reading the rights',
    method: 'POST',
    path: 'sys/capabilities-self',
    body: JSON.stringify({ paths }),
  }
  const read = await answered(() => client.send(request))
  if (read instanceof RemoteFailure) return undefined
  const data = exactMember(read.body, 'data')
  return operations.flatMap((operation, at) => {
    const has = linesIn(data, paths[at] ?? '')
    const needs = WITH_SUDO.includes(operation) ? ['update', 'sudo'] : ['update']
    return has.includes('root')
      ? []
      : needs.filter((need) => !has.includes(need)).map((need) => `"${need}" on ${paths[at]}`)
  })
}

/** Other secondaries follow nobody after the promotion, since the authority of the set is another one. */
function othersLook(former: Json, next: Json): Look[] {
  const own = lineIn(next, 'secondary_id')
  const others = itemsIn(former, 'secondaries')
    .map((peer) => lineIn(peer, 'node_id'))
    .filter((id) => id !== own)
  if (others.length === 0) return []
  return [
    skipped(
      'others',
      `${others.join(', ')} will follow nobody: each needs a token of the new primary, and update-primary`,
    ),
  ]
}

/** What the server answers, or its refusal. */
async function answered<T>(ask: () => Promise<T>): Promise<T | RemoteFailure> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RemoteFailure) return error
    throw error
  }
}

/** The first line of a message, which says what went wrong. */
export const firstLine = (error: Error): string => error.message.split('\n')[0] ?? ''
