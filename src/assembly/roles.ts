// The roles of threads. A server in memory, a test and a command are one thread that does everything. A server on a
// store has one thread that writes and several that serve. The role of a node among other nodes does not depend on its
// threads: that changes while they run (api/node-role.ts).

/** All roles. A thread has one role for its whole life. */
export const THREAD_ROLES = {
  all: { writes: true },
  writing: { writes: true },
  serving: { writes: false },
} as const satisfies Readonly<Record<string, ThreadRights>>

/** The rights of a thread of some role. */
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
