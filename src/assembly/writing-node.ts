// The node of a thread that writes. It owns the seal, and tells the serving threads when it opens and closes.
import { FOLLOWS_NONE } from '../api/node-role.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { ToPrimary } from '../core/handed.ts'
import { confirmedSince, logBefore } from '../core/synchronous-steps.ts'
import type { LinkOwner } from '../replication/link/link-sides.ts'
import { Seal } from '../system/seal/seal.ts'
import { buildSeal, type SealRoom } from './build-seal.ts'
import { forgetCommits } from './build-storage.ts'
import { answerKept, KEPT_MOUNT } from './kept-elsewhere.ts'
import type { WritingParts } from './node-parts.ts'
import { buildRooms, type NodeRooms } from './node-rooms.ts'
import { PrimaryLink } from './replication/primary-link.ts'
import { newSynchronousWrites } from './replication/synchronous.ts'
import { RoleHolder } from './role-holder.ts'
import { writeOrRefuse } from './writer-refusals.ts'

/** All rooms, the seal, and the answers to threads that do not write. */
export type WritingNode = NodeRooms &
  SealRoom & {
    /** Answers a mount by its UUID, or keeps a value if `KEPT_MOUNT` stands in its place. */
    readonly answer: CallWriter
    /** What answers the host of `parts.links`; undefined: this node has no part in replication: nothing is linked. */
    readonly linkOwner: () => LinkOwner | undefined
  }

/** Builds the node with its seal loaded and closed. @throws AutoSealFailed if the store has another kind of seal */
export async function assembleWriting(parts: WritingParts): Promise<WritingNode> {
  const { store, world, autoSeal, keyKeeper } = parts
  const seal = new Seal(store, world, autoSeal, keyKeeper)
  await seal.load()
  const role = new RoleHolder(store)
  await role.take(parts.firstRole ?? FOLLOWS_NONE)
  // Sealing closes all rooms, and sys/, one of them, triggers it: it gets a function.
  const toPrimary = parts.toPrimary ?? linkToPrimary(parts, role)
  const synchronous = newSynchronousWrites(parts, seal)
  const rooms = buildRooms(
    { ...parts, toPrimary, synchronous },
    {
      status: () => seal.status(),
      operations: () => sealRoom.operations,
      roleState: () => role.state,
      replication: parts.replication ?? (() => sealRoom.replication.operations),
    },
  )
  forgetCommits(store, rooms.invalidation)
  const sealRoom = buildSeal({ ...parts, synchronous }, { seal, role }, rooms)
  const answer: CallWriter = async (mount, question) => {
    const before = logBefore({ synchronous })
    const answered = await (mount === KEPT_MOUNT
      ? answerKept(rooms, question)
      : writeOrRefuse(() => rooms.mounts.answer(mount, question), rooms.primaryAddress))
    await confirmedSince(before, { synchronous })
    return answered
  }
  return { ...rooms, ...sealRoom, answer, linkOwner: () => sealRoom.replication.owner }
}

/** The link of a performance secondary whose copy is whole. A cluster of any other kind has none. */
function linkToPrimary({ links, world }: WritingParts, role: RoleHolder): () => ToPrimary | undefined {
  if (links === undefined) return () => undefined
  const { control } = links
  const link = new PrimaryLink({
    ask: (call, body) => control.ask(call, body),
    timers: world.timers,
    primaryAddress: () => role.state.primaryAddress,
  })
  return () => (role.role.performance === 'secondary' ? link : undefined)
}
