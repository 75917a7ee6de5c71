// The calls between a performance secondary and its primary, over the links to other clusters. Refusals travel as they
// were thrown. What happens to the link becomes a refusal here, which says whether the request may have been carried
// out.
import { type ErrorCode, fail, Refusal } from '../../api/errors.ts'
import { describeCause } from '../../core/describe-cause.ts'
import type { ToPrimary } from '../../core/handed.ts'
import { readCarriedOut, readEntityThere, readFiltered, readMountAnswer } from '../../core/handed-answers.ts'
import type { JsonLimits } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import type { Timers } from '../../lib/world.ts'
import type { AskOutcome, LinkControl } from '../../replication/link/link-sides.ts'
import { MAX_ASK_BYTES } from '../../replication/protocol/messages.ts'
import { LONGEST_WAIT_MS } from '../../replication/synchronous/settings.ts'
import { CallFailed, UnknownCall } from '../../rpc/errors.ts'
import { PackedError, packed, unpacked } from '../../rpc/packed.ts'
import { packedAnswer, unpackedAnswer } from '../../rpc/packed-answer.ts'
import type { FilteredPaths } from '../../system/replication-operations.ts'

/**
 * How long a secondary waits for its primary, which may itself wait for synchronous secondaries of its own. A link that
 * brings nothing any more ends much sooner.
 */
export const PRIMARY_DEADLINE_MS = LONGEST_WAIT_MS + 5_000

/**
 * Limits of what is asked besides the bodies of requests, which are bytes: the primary reads it on its thread that
 * writes. The most that an honest secondary sends are texts that are kept with a token.
 */
const ASKED_LIMITS: JsonLimits = { depth: 32, containers: 1_000, members: 200_000, objectMembers: 100_000 }

/** What a primary answers to a secondary. */
export type PrimaryOverLink = ToPrimary & {
  /** What the filter of the secondary that asks keeps from it now. @throws Refusal as `carryOut` */
  readonly filteredHere: () => Promise<FilteredPaths>
}

type Calls = { readonly [N in keyof PrimaryOverLink]: (sent: unknown) => Awaited<ReturnType<PrimaryOverLink[N]>> }

/** Calls that a primary answers to a secondary, each with what reads its answer. */
export const PRIMARY_CALLS: Calls = {
  carryOut: readCarriedOut,
  ensureEntity: readEntityThere,
  askMount: readMountAnswer,
  filteredHere: readFiltered,
}

/** What the caller is told of a question without an answer. */
const UNANSWERED = {
  busy: 'primary_busy',
  'no-link': 'primary_unreachable',
  silent: 'primary_silent',
} as const satisfies Record<Exclude<AskOutcome['kind'], 'answer'>, ErrorCode>

/**
 * What the primary says of its own state: a client of this cluster would take it for the state of this one. A primary
 * that knows who took over says where, which is as true here.
 */
function stateOfPrimary({ code, message }: Refusal): 'primary_unreachable' | 'primary_leaves' | undefined {
  if (code === 'sealed') return 'primary_unreachable'
  return code === 'not_primary' && !/, at \S+$/.test(message) ? 'primary_leaves' : undefined
}

/** Parts of the secondary's end. */
export type PrimaryLinkParts = {
  readonly ask: LinkControl['ask']
  readonly timers: Pick<Timers, 'after'>
  readonly primaryAddress: () => string
}

/** The end of the secondary. */
export class PrimaryLink implements PrimaryOverLink {
  readonly #parts: PrimaryLinkParts

  constructor(parts: PrimaryLinkParts) {
    this.#parts = parts
  }

  readonly carryOut: ToPrimary['carryOut'] = (request) => this.#call('carryOut', request)
  readonly ensureEntity: ToPrimary['ensureEntity'] = (wanted) => this.#call('ensureEntity', wanted)
  readonly askMount: ToPrimary['askMount'] = (asked) => this.#call('askMount', asked)

  readonly filteredHere: PrimaryOverLink['filteredHere'] = async () => {
    try {
      return await this.#call('filteredHere', null)
    } catch (cause) {
      const address = this.#parts.primaryAddress()
      const isUnknown = cause instanceof CallFailed && cause.isOfUnknownCall
      if (isUnknown) throw fail('replication_not_now', [olderPrimary(address)], cause)
      // What is said of a request that may have written fits no question.
      if (cause instanceof Refusal && NO_ANSWER.has(cause.code)) throw fail('replication_not_now', [noAnswer(address)])
      throw cause
    }
  }

  async #call<N extends keyof PrimaryOverLink>(name: N, input: unknown): Promise<ReturnType<Calls[N]>> {
    const body = packed(input)
    if (body.length > MAX_ASK_BYTES) throw fail('body_too_large', [MAX_ASK_BYTES])
    const asked = await this.#withinDeadline(this.#parts.ask(name, body))
    const address = this.#parts.primaryAddress()
    if (asked.kind !== 'answer') throw fail(UNANSWERED[asked.kind], [address])
    try {
      return PRIMARY_CALLS[name](unpackedAnswer(name, asked.body)) as ReturnType<Calls[N]>
    } catch (cause) {
      const code = cause instanceof Refusal ? stateOfPrimary(cause) : undefined
      throw code === undefined ? cause : fail(code, [address], cause)
    }
  }

  async #withinDeadline(asked: Promise<AskOutcome>): Promise<AskOutcome> {
    const late = Promise.withResolvers<AskOutcome>()
    const deadline = this.#parts.timers.after(PRIMARY_DEADLINE_MS, () => late.resolve({ kind: 'silent' }))
    try {
      return await Promise.race([asked, late.promise])
    } finally {
      deadline.cancel()
    }
  }
}

const NO_ANSWER: ReadonlySet<ErrorCode> = new Set([...Object.values(UNANSWERED), 'primary_leaves'])

const noAnswer = (address: string): string =>
  `The primary${address === '' ? '' : `, at ${address},`} did not answer what it filters: ask it there, or here ` +
  'again once the status says that this cluster follows it'

const olderPrimary = (address: string): string =>
  `The primary${address === '' ? '' : `, at ${address},`} has an older version, which does not tell a secondary what ` +
  'it filters: upgrade it'

/** Answers one call at the primary. `answers` is what the secondary may ask, each with its own name. Never rejects. */
export function answerSecondary(answers: PrimaryOverLink, call: string, body: Buffer, log: Log): Promise<Buffer> {
  const handlers: ReadonlyMap<string, (input: never) => Promise<unknown>> = new Map(Object.entries(answers))
  const work = async (): Promise<unknown> => {
    const handler = handlers.get(call)
    // A secondary may be newer.
    if (handler === undefined) throw new UnknownCall('A secondary asks what this version does not know')
    return handler(unpacked(body, ASKED_LIMITS) as never)
  }
  return packedAnswer(work, (cause) => {
    const isOurs = !(cause instanceof UnknownCall || cause instanceof PackedError)
    const fields = { call: handlers.has(call) ? call : '', cause: describeCause(cause) }
    log(isOurs ? 'error' : 'warn', 'What a secondary asked failed inside', fields)
  })
}
