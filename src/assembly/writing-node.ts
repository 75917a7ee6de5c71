// The node of a thread that writes: it owns the seal, and tells the threads that serve when it opens and closes.
import type { CallWriter } from '../core/engine-context.ts'
import { Seal } from '../system/seal/seal.ts'
import { buildSeal, type SealRoom } from './build-seal.ts'
import { forgetCommits } from './build-storage.ts'
import { answerKept, KEPT_MOUNT } from './kept-elsewhere.ts'
import type { WritingParts } from './node-parts.ts'
import { buildRooms, type NodeRooms } from './node-rooms.ts'

export type WritingNode = NodeRooms &
  SealRoom & {
    /** What is answered to the threads that do not write: of a mount by its UUID, or of values to keep. */
    readonly answer: CallWriter
  }

export async function assembleWriting(parts: WritingParts): Promise<WritingNode> {
  const { store, world, autoSeal, keyKeeper } = parts
  const seal = new Seal(store, world, autoSeal, keyKeeper)
  await seal.load()
  // What seals the server closes all rooms, and sys/, which is one of them, calls it: it gets a function.
  const rooms = buildRooms(parts, { status: () => seal.status(), operations: () => sealRoom.operations })
  forgetCommits(store, rooms.invalidation)
  const sealRoom = buildSeal(parts, seal, rooms)
  const answer: CallWriter = (mount, question) =>
    mount === KEPT_MOUNT ? answerKept(rooms, question) : rooms.mounts.answer(mount, question)
  return { ...rooms, ...sealRoom, answer }
}
