// What a source asks, answered by the store itself: on the thread that writes.
import type { Store } from '../../storage/contract.ts'
import { Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { reachedScopes } from '../reach.ts'
import type { SourceKeeper } from './source-parts.ts'

/** `name` is the one of the hold: one for each secondary. */
export function sourceKeeper(store: Store, family: ReplicationFamily, name: string): SourceKeeper {
  const nothing = async (): Promise<void> => {}
  // Whoever has the store alone decides whether it is written.
  return {
    hold: (hold) => store.hold({ name, ...hold }),
    drain: async () => false,
    resume: nothing,
    ...treeKeeper(store, family),
  }
}

/** The part of it that asks for the tree, which the secondary's end asks its own store for too. */
export function treeKeeper(
  store: Pick<Store, 'tree' | 'image' | 'roots'>,
  family: ReplicationFamily,
): Pick<SourceKeeper, 'tree' | 'keysIn' | 'root'> {
  return {
    tree: async () => {
      const { index, tree } = await store.tree()
      return { index, tree: Tree.of(tree.pages()) }
    },
    keysIn: async (buckets) => {
      const { index, snapshot, keysIn } = await store.image()
      try {
        return { index, keys: await keysIn(buckets) }
      } finally {
        await snapshot.close()
      }
    },
    root: async (reach) => {
      const { index, replicated, all } = await store.roots(reach && reachedScopes(reach))
      return { index, root: family === 'dr' ? all : replicated }
    },
  }
}
