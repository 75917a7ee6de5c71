// A token of a simulated primary comes into two hands: each wants the keys of the cluster for a key of its own.
import { P256 } from '../../../src/crypto/forms/ec-curves.ts'
import { loadScalar } from '../../../src/crypto/forms/ec-private-key.ts'
import { askPrimary } from '../../../src/replication/link/knocking.ts'
import { LINK_TIMES } from '../../../src/replication/link/link-times.ts'
import { openActivation, readActivationToken } from '../../../src/replication/set/activation-token.ts'
import { NEWER_VERSION, type SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

const TTL_MS = 1_800_000
const RECEIVER_BYTES = 32
const TRIES = 3

/** Uses the token from two places. Returns how many were given the keys. */
export async function stealToken(set: SimulatedSet, primary: SimulatedCluster, id: string): Promise<number> {
  const { life } = primary
  const wanted = { id, ttlMs: TTL_MS, publicKey: '' }
  const token = readActivationToken((await life?.room.operations.secondaryToken('dr', wanted))?.text ?? '')
  if (token.kind === 'wrapped') return 0
  const bundle = openActivation(token, { family: 'dr', seed: undefined })
  const given = ['x1', 'x2'].map(async (name) => {
    const random = set.stream(`${name} with ${id}`)
    const world = { ...set.time.newThread(), random, links: set.network.host(name).links }
    const receiver = random.bytes(RECEIVER_BYTES)
    const identity = {
      key: loadScalar(P256, bundle.leafKey.reveal()),
      certificate: bundle.leaf,
      trusted: [bundle.authority],
    }
    for (let tries = 0; tries < TRIES; tries++) {
      const knocked = await askPrimary(
        { world, times: { ...LINK_TIMES, ...set.times }, counts: () => () => {} },
        {
          set: { setId: bundle.setId, family: bundle.family },
          id,
          identity,
          address: primary.address,
          facts: { version: NEWER_VERSION, clusterId: name, clusterAddresses: [], apiAddress: '' },
          nonce: Buffer.from(bundle.nonce.reveal()),
          receiver,
          what: 'claim',
        },
        new AbortController().signal,
      )
      if (knocked.kind === 'package') return 1
    }
    return 0
  })
  const counts = await Promise.all(given)
  return counts.reduce<number>((sum, count) => sum + count, 0)
}
