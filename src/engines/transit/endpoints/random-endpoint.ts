// random(/:source)(/:bytes) (Interface 4.3).
import { endpoint } from '../../../api/endpoint.ts'
import { randomAnswer } from '../../../api/random-source.ts'
import { bytesAlone, RANDOM_TOOL } from '../../../api/tool-fields.ts'
import { randomTool } from '../../../crypto/primitives/mixed-random.ts'
import type { Transit } from '../transit.ts'

export const randomEndpoint = endpoint({
  ...RANDOM_TOOL,
  alsoNames: [bytesAlone('random')],
  id: 'transit-random',
  path: 'random(/:source)(/:bytes)',
  handler: ({ edition, deviceRandom: device, world }: Transit, args) =>
    randomAnswer(args, { edition, device, ...randomTool(world.random.bytes) }),
})
