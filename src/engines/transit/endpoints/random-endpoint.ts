// random(/:source)(/:bytes) (Interface 4.3): random bytes of this machine, or mixed with those of a device.
import type { Edition } from '../../../api/edition.ts'
import { endpoint } from '../../../api/endpoint.ts'
import type { DeviceRandom } from '../../../api/managed-keys.ts'
import { randomAnswer } from '../../../api/random-source.ts'
import { bytesAlone, RANDOM_TOOL } from '../../../api/tool-fields.ts'
import { randomTool } from '../../../crypto/primitives/mixed-random.ts'
import type { World } from '../../../lib/world.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = {
  readonly edition: Edition
  readonly deviceRandom: DeviceRandom | undefined
  readonly world: World
}

/** The random tool of `sys/tools/random`, as an endpoint of the mount. */
export const randomEndpoint = endpoint({
  ...RANDOM_TOOL,
  alsoNames: [bytesAlone('random')],
  id: 'transit-random',
  path: 'random(/:source)(/:bytes)',
  handler: ({ edition, deviceRandom: device, world }: Parts, args) =>
    randomAnswer(args, { edition, device, ...randomTool(world.random.bytes) }),
})
