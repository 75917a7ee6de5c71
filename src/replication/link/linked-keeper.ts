import { Tree } from '../../storage/log/tree.ts'
import type { SourceKeeper } from '../source/source-parts.ts'
import type { Judged } from '../source/source-reach.ts'
import type { Arrival, PrimaryOwner } from './link-sides.ts'
import { requireAdmitted } from './refusals.ts'

/**
 * What a source asks, handed on to the owner. Nothing is asked once the link is over: a hold that came late would
 * outlive a revocation.
 */
export function linkedKeeper(
  owner: Pick<PrimaryOwner, 'hold' | 'tree' | 'keysIn' | 'root' | 'reachOf' | 'drain' | 'resume'>,
  arrival: Arrival,
  isOver: () => boolean,
): SourceKeeper & { readonly judge: () => Promise<Judged> } {
  const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (isOver()) throw new Error('The link has ended')
    return ask()
  }
  return {
    hold: (hold) => asked(() => owner.hold(arrival, hold)),
    tree: () =>
      asked(async () => {
        const { index, pages } = await owner.tree()
        return { index, tree: Tree.of(pages) }
      }),
    keysIn: (buckets) => asked(() => owner.keysIn(buckets)),
    root: (reach) => asked(() => owner.root(arrival.set.family, reach)),
    judge: () => asked(() => owner.reachOf(arrival)),
    drain: () =>
      asked(async () => {
        const { grantsNothing } = requireAdmitted<{ readonly grantsNothing: boolean }>(await owner.drain(arrival))
        return grantsNothing
      }),
    resume: () => asked(() => owner.resume(arrival)),
  }
}
