// The one object that says what this node is. It lives on the writing thread; the other threads are told of each change
// as they are told of the seal (seal-state.ts). What operators do with replication changes it
// (replication/build-replication.ts).
import {
  FOLLOWS_NONE,
  mayChange,
  type NodeRole,
  OWNER_OF_CLASS,
  type RoleState,
  servesClients,
} from '../api/node-role.ts'
import { FORMERS_FOLDER, SETS_FOLDER } from '../replication/set/records.ts'
import type { Store } from '../storage/contract.ts'

/** What a cluster is in its sets, as far as that is of class local. */
const OWN_FOLDERS = [`${SETS_FOLDER}performance/`, SETS_FOLDER + FORMERS_FOLDER]

/** Holds the role of the node, and keeps the gate of the store as it demands. */
export class RoleHolder {
  readonly #store: Pick<Store, 'setWritable'>
  #state = FOLLOWS_NONE

  constructor(store: Pick<Store, 'setWritable'>) {
    this.#store = store
  }

  get state(): RoleState {
    return this.#state
  }

  get role(): NodeRole {
    return this.#state.role
  }

  /**
   * Takes over a state, for this thread and the gate at once. Resolves when no commit is under way any more that only
   * the role of before allowed.
   */
  take(state: RoleState): Promise<void> {
    this.#state = state
    return this.open(state.role)
  }

  /**
   * Makes the gate of the store as the role demands, while this node goes on in the one that it has: for what must be
   * done before it is the other one to callers. Resolves as `take` does.
   */
  open(role: NodeRole): Promise<void> {
    return this.#store.setWritable(
      (storageClass, key) => mayChange(role, OWNER_OF_CLASS[storageClass]) || isOwnPart(role, key),
    )
  }
}

/**
 * What a cluster is in its sets is stored in any role that it leads to: a fenced primary, and one that hands over, is
 * to be demoted. Where it is of class local, a DR secondary has that of its primary.
 */
const isOwnPart = (role: NodeRole, key: string): boolean =>
  servesClients(role) && OWN_FOLDERS.some((folder) => key.startsWith(folder))
