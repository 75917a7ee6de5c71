// sys/tools: the hashes and random bytes of the transit engine, without a mount of it.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { randomAnswer } from '../../api/random-source.ts'
import { bytesAlone, HASH_TOOL, hashAnswer, RANDOM_TOOL } from '../../api/tool-fields.ts'
import { randomTool } from '../../crypto/primitives/mixed-random.ts'
import { HASH_NAMES, namedHash } from '../../crypto/primitives/named-hash.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'edition' | 'world'> & WithServices<'managedKeys'>

const hash = endpoint({
  ...HASH_TOOL,
  id: 'tools-hash',
  path: 'tools/hash(/:algorithm)',
  handler: (_system: System, args) => hashAnswer(args, HASH_NAMES, namedHash),
})

const random = endpoint({
  ...RANDOM_TOOL,
  alsoNames: [bytesAlone('tools/random')],
  id: 'tools-random',
  path: 'tools/random(/:source)(/:bytes)',
  handler: ({ edition, services, world }: System, args) =>
    randomAnswer(args, { edition, device: services.managedKeys, ...randomTool(world.random.bytes) }),
})

/** Both share definition and answer with transit, so they cannot differ. */
export const TOOLS_ENDPOINTS: readonly Endpoint<System>[] = [hash, random]
