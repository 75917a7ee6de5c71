// What a thread is for. A server in memory, a test and a command are one thread that does all; a server on a store has
// one that writes and several that serve. What a node may do among others is no matter of its threads: it changes while
// they run (api/node-role.ts).

export const THREAD_ROLES = {
  all: { writes: true },
  writing: { writes: true },
  serving: { writes: false },
} as const satisfies Readonly<Record<string, ThreadRights>>

export type ThreadRights = {
  /**
   * Has the store open for writing. The seal goes with it, and so does what the node does without being asked: a
   * thread that does not write is told of the one, and has nothing to do with the other.
   */
  readonly writes: boolean
}

export type ThreadRole = keyof typeof THREAD_ROLES

type RoleWith<Writes extends boolean> = {
  [Role in ThreadRole]: (typeof THREAD_ROLES)[Role]['writes'] extends Writes ? Role : never
}[ThreadRole]

export type WritingRole = RoleWith<true>
export type ServingRole = RoleWith<false>
