// The node of a thread that does not write. It loads nothing of the seal, of the node's own work and of restores: those
// are in writing-node.ts, and a thread loads one of the two.
import type { ServingParts } from './node-parts.ts'
import { buildRooms, type NodeRooms } from './node-rooms.ts'

/** All rooms, and no more. */
export type ServingNode = NodeRooms

/** Builds the node. It stays sealed until the writing thread sends it the keyring. */
export function assembleServing(parts: ServingParts): ServingNode {
  const { channels } = parts
  return buildRooms(
    parts,
    { status: channels.sealStatus, operations: undefined, roleState: channels.roleState, replication: undefined },
    channels,
  )
}
