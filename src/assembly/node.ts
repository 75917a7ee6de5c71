// One server over one store, as one thread has it. Every thread is built here, whatever its role (roles.ts).
import { isWriting, type NodeParts, type ServingParts, type WritingParts } from './node-parts.ts'
import { buildRooms, type NodeRooms } from './node-rooms.ts'
import { assembleWriting, type WritingNode } from './writing-node.ts'

/** The node of a thread that does not write. */
export type ServingNode = NodeRooms

/** Builds the node of a serving thread. It stays sealed until the writing thread sends it the keyring. */
export function assembleNode(parts: ServingParts): Promise<ServingNode>
/** Builds the node of a writing thread, sealed. @throws AutoSealFailed if the store has another kind of seal */
export function assembleNode(parts: WritingParts): Promise<WritingNode>
// The role decides: a seal is only where writes are made.
export async function assembleNode(parts: NodeParts): Promise<NodeRooms> {
  if (isWriting(parts)) return assembleWriting(parts)
  const { channels } = parts
  return buildRooms(
    parts,
    { status: channels.sealStatus, operations: undefined, roleState: channels.roleState },
    channels,
  )
}
