// One server over one store, as one thread has it: the same for every role (roles.ts).
import { isWriting, type NodeParts, type ServingParts, type WritingParts } from './node-parts.ts'
import { buildRooms, type NodeRooms } from './node-rooms.ts'
import { assembleWriting, type WritingNode } from './writing-node.ts'

export type ServingNode = NodeRooms

export function assembleNode(parts: ServingParts): Promise<ServingNode>
export function assembleNode(parts: WritingParts): Promise<WritingNode>
export async function assembleNode(parts: NodeParts): Promise<NodeRooms> {
  if (isWriting(parts)) return assembleWriting(parts)
  return buildRooms(parts, { status: parts.channels.sealStatus, operations: undefined }, parts.channels)
}
