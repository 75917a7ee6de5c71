// What secondaries have their primary carry out, answered by its pipeline: on the thread that writes.
import type { Core } from '../../core/core.ts'
import { refusalOf } from '../../core/response.ts'
import type { Log } from '../../lib/log.ts'
import type { PrimaryOwner } from '../../replication/link/link-sides.ts'
import type { FilteredPaths } from '../../system/replication-operations.ts'
import type { FilteredSecondaries } from './filtered-secondaries.ts'
import { namesOf } from './paths-filters.ts'
import { answerSecondary } from './primary-link.ts'
import type { ReadingReach } from './reading-reach.ts'

/** The parts that it works with. */
export type HandedSideParts = {
  readonly core: Pick<Core, 'answersTo'>
  readonly secondaries: Pick<FilteredSecondaries, 'of'>
  readonly reading: Pick<ReadingReach, 'filteredNow'>
  readonly log: Log
}

/** Answers for all secondaries. Links to them are up only where this cluster is their primary, and is unsealed. */
export function handedSide({ core, secondaries, reading, log }: HandedSideParts): PrimaryOwner['handed'] {
  return ({ id }, call, body) => {
    const answers = core.answersTo(secondaries.of(id))
    const asked = {
      carryOut: answers.carryOut.bind(answers),
      ensureEntity: answers.ensureEntity.bind(answers),
      askMount: answers.askMount.bind(answers),
      // Each learns of itself alone, whatever it sends.
      filteredHere: () => filteredFrom(reading, id),
    }
    return answerSecondary(asked, call, body, log)
  }
}

async function filteredFrom(reading: HandedSideParts['reading'], id: string): Promise<FilteredPaths> {
  try {
    return namesOf((await reading.filteredNow(id)).now)
  } catch (cause) {
    throw refusalOf(cause) ?? cause
  }
}
