// Random bytes by their source (Interface 4.3): of this machine; or of this machine and the device that is configured.

import { type Edition, requireFeature } from './edition.ts'
import type { DeviceRandom } from './managed-keys.ts'
import type { Answer } from './request.ts'
import { encoded, NO_SEAL_ENTROPY, type RandomArgs, type RandomSource, readRandomRequest } from './tool-fields.ts'

type DrawnBytes = { readonly bytes: Buffer; readonly warnings: readonly string[] }

export type RandomParts = {
  readonly edition: Edition
  readonly device: DeviceRandom | undefined
  /** Of this machine alone. */
  readonly platform: (count: number) => Buffer
  /** Of both: at least as good as the better one. */
  readonly mixed: (device: Buffer) => Buffer
}

/**
 * What random answers.
 * @throws Refusal as `readRandomRequest` and `drawRandom`
 */
export async function randomAnswer(args: RandomArgs, parts: RandomParts): Promise<Answer> {
  const { source, count } = readRandomRequest(args)
  const { bytes, warnings } = await drawRandom(source, count, parts)
  return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
}

/**
 * `seal` and `all` are the same here, the bytes of both generators mixed: what a device alone gives is never relied on.
 * @throws Refusal where the edition has no such source, and where the device is there and does not answer
 */
async function drawRandom(source: RandomSource, count: number, parts: RandomParts): Promise<DrawnBytes> {
  if (source === 'platform') return { bytes: parts.platform(count), warnings: [] }
  requireFeature(parts.edition, 'Entropy Augmentation')
  const device = await parts.device?.bytes(count)
  if (device !== undefined) return { bytes: parts.mixed(device), warnings: [] }
  return { bytes: parts.platform(count), warnings: source === 'seal' ? [NO_SEAL_ENTROPY] : [] }
}
