// What secondaries have their primary carry out, answered by its pipeline: on the thread that writes.
import type { Core } from '../../core/core.ts'
import type { Secondary } from '../../core/handed.ts'
import type { Log } from '../../lib/log.ts'
import type { Arrival, PrimaryOwner } from '../../replication/link/link-sides.ts'
import { answerSecondary } from './primary-link.ts'

/** The parts that it works with. */
export type HandedSideParts = { readonly core: Pick<Core, 'answersTo'>; readonly log: Log }

/** Answers for all secondaries. Links to them are up only where this cluster is their primary, and is unsealed. */
export function handedSide({ core, log }: HandedSideParts): PrimaryOwner['handed'] {
  return (arrival, call, body) => answerSecondary(core.answersTo(secondaryOf(arrival)), call, body, log)
}

/** What the primary allows a secondary. Nothing keeps a mount from one yet, so each has all of the data. */
const secondaryOf = ({ id }: Arrival): Secondary => ({ name: id, reaches: () => true, mayActAsRoot: true })
