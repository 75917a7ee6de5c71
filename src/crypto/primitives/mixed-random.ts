// Random bytes of two generators: as good as the better of the two, whatever the other one gives.
import { freshBytes, type RandomBytes } from './random-bytes.ts'

/** @throws RandomnessFailed where the platform's own are none, or the device gave another number of bytes */
function mixedBytes(random: RandomBytes, device: Buffer): Buffer {
  const mixed = freshBytes(random, device.length)
  for (let at = 0; at < mixed.length; at += 1) mixed[at] = (mixed[at] ?? 0) ^ (device[at] ?? 0)
  return mixed
}

/** The bytes that `random` of transit and of sys/tools gives. Both throw RandomnessFailed. */
export const randomTool = (random: RandomBytes) => ({
  /** Of this machine alone. */
  platform: (count: number): Buffer => freshBytes(random, count),
  /** Of this machine and the device. */
  mixed: (device: Buffer): Buffer => mixedBytes(random, device),
})
