// What a thread is for. A server in memory, a test and a command are one thread that does everything. A server on a
// store has one thread that writes and several that serve. What a node may do among other nodes does not depend on its
// threads: that changes while they run (api/node-role.ts).

/** The roles of threads. A role is for the life of the thread. */
export const THREAD_ROLES = {
  all: { writes: true },
  writing: { writes: true },
  serving: { writes: false },
} as const satisfies Readonly<Record<string, ThreadRights>>

/** What a thread of a role may do. */
export type ThreadRights = {
  /**
   * Has the store open for writing, and with it the seal and the node's own work. A thread that does not write is told
   * the state of the seal, and does no own work.
   */
  readonly writes: boolean
}

/** The name of a role. */
export type ThreadRole = keyof typeof THREAD_ROLES

type RoleWith<Writes extends boolean> = {
  [Role in ThreadRole]: (typeof THREAD_ROLES)[Role]['writes'] extends Writes ? Role : never
}[ThreadRole]

/** The roles whose threads write. */
export type WritingRole = RoleWith<true>
/** The roles whose threads do not write. */
export type ServingRole = RoleWith<false>
