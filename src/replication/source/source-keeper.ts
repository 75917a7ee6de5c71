// What a source asks, answered by the store itself: on the thread that writes. Only tests call this as yet.
import type { Store } from '../../storage/contract.ts'
import { Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { SourceKeeper } from './source-parts.ts'

/** `name` is the one of the hold: one for each secondary. */
export function sourceKeeper(store: Store, family: ReplicationFamily, name: string): SourceKeeper {
  return {
    hold: (hold) => store.hold({ name, ...hold }),
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
    root: async () => {
      const { index, replicated, all } = await store.roots()
      return { index, root: family === 'dr' ? all : replicated }
    },
  }
}
