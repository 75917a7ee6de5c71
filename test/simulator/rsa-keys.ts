// RSA keys in the place of new ones. Only node makes them, from randomness of its own, so a run with new ones does not
// repeat. These lie in rsa-keys.pem: they protect nothing, and are of use to no one.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { GENERATE_RSA } from '../../src/crypto/key-types/rsa-key-types.ts'
import type { JobTools, SlowWork } from '../../src/lib/slow-work.ts'
import { quickWork } from '../fixtures/quick-work.ts'
import type { VirtualTime } from './virtual-time.ts'

const PEM = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/g

let loaded: ReadonlyMap<number, readonly KeyObject[]> | undefined

/** By their length in bits. */
function allKeys(): ReadonlyMap<number, readonly KeyObject[]> {
  if (loaded !== undefined) return loaded
  const texts = readFileSync(new URL('rsa-keys.pem', import.meta.url), 'utf8').match(PEM) ?? []
  const keys = texts.map((text) => createPrivateKey(text))
  loaded = Map.groupBy(keys, (key) => key.asymmetricKeyDetails?.modulusLength ?? 0)
  return loaded
}

/**
 * Slow work, done one job after the other, whose new RSA keys are drawn from those. Each is given away once before the
 * first one comes again; the one to begin with depends on the seed.
 */
export function simulatedWork(tools: JobTools, time: VirtualTime): SlowWork {
  const work = quickWork(tools)
  const next = new Map<number, number>()
  const draw = (bits: number): KeyObject => {
    const keys = allKeys().get(bits) ?? []
    const at = next.get(bits) ?? tools.random.bytes(1).readUInt8(0)
    const key = keys[at % keys.length]
    if (key === undefined) throw new Error(`rsa-keys.pem has no key of ${bits} bits`)
    next.set(bits, at + 1)
    return key
  }
  return {
    ...work,
    // The name of the job says what its input and output are.
    run: async (job, input) =>
      // OpenPGP is done by a library, on threads that this process has for it.
      job.name === GENERATE_RSA.name ? (draw(input as number) as never) : time.outside(() => work.run(job, input)),
  }
}
