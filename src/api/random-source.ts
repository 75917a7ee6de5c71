// Random bytes by source (Interface 4.3): from this machine, or from this machine and the configured device.

import { type Edition, requireFeature } from './edition.ts'
import type { DeviceRandom } from './managed-keys.ts'
import type { Answer } from './request.ts'
import { encoded, NO_SEAL_ENTROPY, type RandomArgs, type RandomSource, readRandomRequest } from './tool-fields.ts'

type DrawnBytes = { readonly bytes: Buffer; readonly warnings: readonly string[] }

/** The sources of random bytes. The server hands them in. */
export type RandomParts = {
  readonly edition: Edition
  readonly device: DeviceRandom | undefined
  /** Bytes of this machine alone. */
  readonly platform: (count: number) => Buffer
  /** Mixes in bytes of this machine; the result is at least as good as the better source. */
  readonly mixed: (device: Buffer, count: number) => Buffer
}

/** Answers `random`. @throws Refusal as `readRandomRequest`, and as `drawRandom` */
export async function randomAnswer(args: RandomArgs, parts: RandomParts): Promise<Answer> {
  const { source, count } = readRandomRequest(args)
  const { bytes, warnings } = await drawRandom(source, count, parts)
  return { data: { random_bytes: encoded(bytes, args.format) }, warnings }
}

/**
 * Draws bytes. `seal` and `all` do the same here: both sources are mixed, since a device alone is never relied on.
 * @throws Refusal if the edition has no such source, or the device does not answer
 * @throws RandomnessFailed, which becomes a 500, if a source is broken
 */
async function drawRandom(source: RandomSource, count: number, parts: RandomParts): Promise<DrawnBytes> {
  if (source === 'platform') return { bytes: parts.platform(count), warnings: [] }
  requireFeature(parts.edition, 'Entropy Augmentation')
  const device = await parts.device?.bytes(count)
  if (device !== undefined) return { bytes: parts.mixed(device, count), warnings: [] }
  return { bytes: parts.platform(count), warnings: source === 'seal' ? [NO_SEAL_ENTROPY] : [] }
}
