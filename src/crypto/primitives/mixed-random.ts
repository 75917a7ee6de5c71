// Mixes random bytes of two generators. The mix is as good as the better of the two, whatever the other one returns.
import { freshBytes, type RandomBytes, RandomnessFailed } from './random-bytes.ts'

/** XOR of both. @throws RandomnessFailed if the platform's bytes cannot be random, or `device` has another length */
function mixedBytes(random: RandomBytes, device: Buffer, count: number): Buffer {
  if (device.length !== count) throw new RandomnessFailed(`Asked a device for ${count} bytes, got ${device.length}`)
  const mixed = freshBytes(random, count)
  for (let at = 0; at < mixed.length; at += 1) mixed[at] = (mixed[at] ?? 0) ^ (device[at] ?? 0)
  return mixed
}

/** The sources of `random` in transit and sys/tools. Both throw RandomnessFailed. */
export const randomTool = (random: RandomBytes) => ({
  /** Bytes of this machine alone. */
  platform: (count: number): Buffer => freshBytes(random, count),
  /** Bytes of this machine mixed with those of a device, which must be as many. */
  mixed: (device: Buffer, count: number): Buffer => mixedBytes(random, device, count),
})
