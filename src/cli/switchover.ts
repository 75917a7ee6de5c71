// A planned change of hands, step by step. After each step the set is whole, so whoever stops can go on later; a step
// that fails says where the set stands and what goes on.
//
//   promote ─▶ demote ─▶ lead ─▶ follow ─▶ compare
//
// The write pause is measured from outside, and is the longest that it can have been: from the request to promote until
// the new primary says that it is one.
import { countIn, lineIn } from './answer-members.ts'
import { RemoteFailure } from './cli-error.ts'
import type { ApiRequest, Client } from './client.ts'
import { exactMember, type Json } from './exact-json.ts'
import type { CliIo } from './io.ts'
import { RemoteError } from './remote-error.ts'
import { BETWEEN_LOOKS_MS } from './replication-status.ts'
import { waitUntilFollowing } from './replication-wait.ts'
import { drStatus, type Switching } from './switchover-looks.ts'

/** A finished step. */
export type SwitchoverStep = { readonly step: string; readonly ms: number; readonly sentence: string }

/** What the whole change came to. A member is missing if it could not be found out. */
export type Switched = {
  steps: SwitchoverStep[]
  /** The longest that no cluster can have taken writes. */
  write_pause_ms_at_most?: number
  /** Records that the secondary got between the looks and its promotion. */
  drained_records?: number
  /** Records of the former primary that the new one does not have. */
  lost_records?: number
  /** Both clusters had the same root. */
  same_root?: boolean
}

/** What the run needs besides the clusters. */
export type SwitchoverParts = {
  readonly io: CliIo
  readonly monotonicMs: () => number
  /** Told of each step when it is done. */
  readonly done: (step: SwitchoverStep) => Promise<void>
  /** True when somebody wants the run to end behind the step that is being done. */
  readonly isStopped: () => boolean
}

/** How far a run is: which commands go on depends on it. */
type Place = 'promotion' | 'demotion' | 'leading' | 'following'

/** The status is a second old at most. */
const STATUS_AGE_MS = 1_100
const PROBE_MS = 25
const PROBE_TIMEOUT_MS = 2_000
/** Probes behind the answer to the promotion: the cluster begins anew, and may not answer for a moment. */
const LATE_PROBES = 40
/** A cluster that has just changed what it is may refuse for a moment. */
const RETRIES = 8
/** How often both roots are looked at: while clients write, they stand at one index only by chance. */
const ROOT_LOOKS = 5
/** A promotion is given up after five seconds. */
const PROMOTION_LOOKS = 8
/** How often the former primary is asked whether it knows. */
const FENCE_LOOKS = 5

/** One run. */
export class Switchover {
  readonly #switching: Switching
  readonly #parts: SwitchoverParts
  readonly #result: Switched = {
    steps: [],
  }
  #place: Place = 'promotion'

  constructor(switching: Switching, parts: SwitchoverParts) {
    this.#switching = switching
    this.#parts = parts
  }

  /** Takes all steps. `applied` is what the secondary had when it was looked at. @throws RemoteFailure */
  async run(applied: number | undefined): Promise<Switched> {
    try {
      await this.#step('promotion', 'promoted', () => this.#promote(applied))
      await this.#step('demotion', 'demoted', () => this.#demote())
      await this.#step('leading', 'led', () => this.#lead())
      await this.#step('following', 'followed', () => this.#follow())
      await this.#step('following', 'compared', () => this.#compare())
      return this.#result
    } catch (error) {
      if (error instanceof RemoteFailure) throw await this.#stopped(error)
      throw error
    }
  }

  async #step(place: Place, name: string, work: () => Promise<string>): Promise<void> {
    const { monotonicMs, done, isStopped } = this.#parts
    this.#place = place
    if (isStopped()) throw new RemoteFailure(STOPPED)
    const startMs = monotonicMs()
    const sentence = await work()
    const step = { step: name, ms: Math.round(monotonicMs() - startMs), sentence }
    this.#result.steps.push(step)
    await done(step)
  }

  /** Waits where nothing is under way, so that an interruption ends it. */
  async #sleep(delayMs: number): Promise<void> {
    if (this.#parts.isStopped()) throw new RemoteFailure(STOPPED)
    await this.#parts.io.sleep(delayMs)
  }

  async #promote(applied: number | undefined): Promise<string> {
    const { next, operationToken, clusterAddress } = this.#switching
    const fields = { dr_operation_token: operationToken, primary_cluster_addr: clusterAddress }
    const probe = this.#probe()
    try {
      await next.with({ retries: 0 }).send(post('promoting the secondary', 'secondary/promote', fields))
    } catch (error) {
      if (!(error instanceof RemoteFailure) || !(await this.#isPromoted(error))) throw error
    } finally {
      probe.stop()
    }
    const pauseMs = await probe.pauseMs
    if (pauseMs !== undefined) this.#result.write_pause_ms_at_most = pauseMs
    const had = countIn(exactMember(await drStatus(next), 'promoted_from'), 'index')
    if (had !== undefined && applied !== undefined) this.#result.drained_records = Math.max(0, had - applied)
    return `${next.address} is the primary`
  }

  /** The connection may have broken behind the promotion, or while it goes on: then it is waited for. */
  async #isPromoted(failure: RemoteFailure): Promise<boolean> {
    const looks = failure instanceof RemoteError ? 1 : PROMOTION_LOOKS
    for (let look = 0; look < looks; look++) {
      if (look > 0) await this.#parts.io.sleep(BETWEEN_LOOKS_MS)
      if ((await this.#modeOf(this.#switching.next)) === 'primary') return true
    }
    return false
  }

  /** Asks the new primary again and again what it is, until it is one or the promotion has ended. */
  #probe(): { readonly pauseMs: Promise<number | undefined>; stop(): void } {
    const { io, monotonicMs } = this.#parts
    const asker = this.#switching.next.with({ retries: 0, timeoutMs: PROBE_TIMEOUT_MS })
    const startMs = monotonicMs()
    let [isOver, late] = [false, 0]
    const probing = async (): Promise<number | undefined> => {
      while (late < LATE_PROBES) {
        if (isOver) late++
        if ((await healthMode(asker)) === 'primary') return Math.ceil(monotonicMs() - startMs)
        await io.sleep(PROBE_MS)
      }
      return undefined
    }
    return {
      pauseMs: probing(),
      stop: () => {
        isOver = true
      },
    }
  }

  async #demote(): Promise<string> {
    const { former } = this.#switching
    await this.#countLost()
    try {
      await former.with({ retries: 0 }).send(post('demoting the former primary', 'primary/demote', {}))
    } catch (error) {
      if (!(error instanceof RemoteFailure) || (await this.#modeOf(former)) !== 'secondary') throw error
    }
    return `${former.address} is a secondary without a primary`
  }

  /** A fenced primary writes nothing, so its last index is the last there will be: it is compared with what came. */
  async #countLost(): Promise<void> {
    const { former, next } = this.#switching
    for (let look = 0; look < FENCE_LOOKS; look++) {
      if (exactMember(await drStatus(former), 'fenced') === true) {
        await this.#sleep(STATUS_AGE_MS)
        const lost = lostRecords(await drStatus(former), await drStatus(next))
        if (lost !== undefined) this.#result.lost_records = lost
        return
      }
      await this.#sleep(BETWEEN_LOOKS_MS)
    }
  }

  async #lead(): Promise<string> {
    const { former, next, operationToken, id } = this.#switching
    const [patientFormer, patientNext] = [former.with({ retries: RETRIES }), next.with({ retries: RETRIES })]
    const dr_operation_token = operationToken
    const key = await askFor(
      patientFormer,
      post('making a key', 'secondary/generate-public-key', { dr_operation_token }),
      'secondary_public_key',
    )
    const issued = post('issuing an activation token', 'primary/secondary-token', { id, secondary_public_key: key })
    const token = await askFor(patientNext, issued, 'token')
    const update = post('changing the primary', 'secondary/update-primary', { dr_operation_token, token })
    await former.with({ retries: 0 }).send(update)
    return `${former.address} has ${next.address} as its primary`
  }

  async #follow(): Promise<string> {
    const io = { ...this.#parts.io, sleep: (delayMs: number) => this.#sleep(delayMs) }
    await waitUntilFollowing(io, this.#switching.former, 'dr', 'has its new primary')
    return `${this.#switching.former.address} follows the log`
  }

  async #compare(): Promise<string> {
    const { former, next } = this.#switching
    for (let look = 0; look < ROOT_LOOKS; look++) {
      if (look > 0) await this.#sleep(BETWEEN_LOOKS_MS)
      const [theirs, ours] = [await drStatus(next), await drStatus(former)]
      const [one, other] = [lineIn(theirs, 'merkle_root'), lineIn(ours, 'merkle_root')]
      if (one !== '' && one === other) {
        this.#result.same_root = true
        return 'Both have the same root over all that is stored'
      }
    }
    return 'The roots were not seen equal: clients write, or the former primary is behind'
  }

  async #modeOf(client: Client): Promise<string> {
    try {
      return lineIn(await drStatus(client), 'mode')
    } catch (error) {
      if (error instanceof RemoteFailure) return ''
      throw error
    }
  }

  /** Says where the set stands, and what goes on. */
  async #stopped(cause: RemoteFailure): Promise<RemoteFailure> {
    const place = this.#place
    const text =
      place === 'promotion'
        ? beforePromotion(this.#switching, await this.#modeOf(this.#switching.next))
        : behindPromotion(this.#switching, place)
    return new RemoteFailure(`${cause.message}\n\n${text}`, cause)
  }
}

const STOPPED = 'Stopped, as was asked for'

/** Undefined where the statuses are of other clusters than that, or do not tell. */
function lostRecords(former: Json, next: Json): number | undefined {
  const from = exactMember(next, 'promoted_from')
  const [had, last] = [countIn(from, 'index'), countIn(former, 'last_dr_wal')]
  const isSameHistory = lineIn(from, 'history_id') === lineIn(former, 'history_id')
  return had === undefined || last === undefined || !isSameHistory ? undefined : Math.max(0, last - had)
}

const post = (doing: string, operation: string, fields: object): ApiRequest => ({
  doing,
  method: 'POST',
  path: `sys/replication/dr/${operation}`,
  body: JSON.stringify(fields),
})

/** Returns a text of the answer. @throws RemoteFailure */
async function askFor(client: Client, request: ApiRequest, name: string): Promise<string> {
  const { body } = await client.send(request)
  const value = exactMember(exactMember(body, 'data'), name)
  if (typeof value === 'string' && value !== '') return value
  throw new RemoteFailure(`Error ${request.doing}: the answer has none`)
}

/** What a cluster is, as load balancers see it; empty if it does not answer. */
async function healthMode(client: Client): Promise<string> {
  const query = [['drsecondarycode', '200']] as const
  try {
    const { body } = await client.send({ doing: 'reading the health', method: 'GET', path: 'sys/health', query })
    return lineIn(body, 'replication_dr_mode')
  } catch (error) {
    if (error instanceof RemoteFailure) return ''
    throw error
  }
}

const COMMAND = 'keywright operator replication'
const OPTION = '-operation-token=@FILE'

function beforePromotion({ former, next }: Switching, mode: string): string {
  if (mode === 'secondary')
    return (
      `Nothing was changed: ${next.address} is a secondary still, and ${former.address} writes again within ten ` +
      'seconds. The same command begins anew.'
    )
  return (
    `It is not known whether ${next.address} was promoted. See what both are, and then go on from there:\n\n` +
    `    ${COMMAND} status -address=${next.address}\n    ${COMMAND} status -address=${former.address}`
  )
}

function behindPromotion({ former, next, id }: Switching, place: Exclude<Place, 'promotion'>): string {
  const token = `${COMMAND} secondary-token -address=${next.address} -id=${id} > activation-token`
  const follow = `${COMMAND} update-primary -address=${former.address} -wait ${OPTION} @activation-token`
  const rest = {
    demotion: [`${COMMAND} demote -address=${former.address} -yes`, token, follow],
    leading: [token, follow],
    following: [`${COMMAND} status -address=${former.address}`],
  }[place]
  return [
    `${next.address} is the primary, and serves clients. ${former.address} ${STANDS[place]}. This goes on:`,
    '',
    ...rest.map((line) => `    ${line}`),
    '',
    'To go back, go on to the end, and then switch over the other way.',
  ].join('\n')
}

/** What the former primary is. */
const STANDS = {
  demotion: 'writes nothing once it knows of that, and is not demoted',
  leading: 'is demoted, and has no primary yet',
  following: 'has it as its primary',
} as const
