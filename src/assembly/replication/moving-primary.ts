// A primary has other addresses: each is asked whether a primary answers there that this cluster may follow. It needs
// no token, since who this cluster is in the set stays as it is. A primary that another one took over from, or that
// revoked this cluster, has the certificates of the set too: with its address a link that is good would be lost.
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import type { Clock, Timers } from '../../lib/world.ts'
import type { Knocked, LinkControl, NodeFacts, PingKnock } from '../../replication/link/link-sides.ts'
import { faultOfClusterAddress } from '../../replication/set/peer-address.ts'
import { SetRefused } from '../../replication/set/records.ts'
import { MAX_KNOWN_ADDRESSES, type OwnIdentity, ownIdentity } from '../../replication/set/secondary-operations.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { SecondarySide } from './secondary-side.ts'

/** What a cluster is told that has no certificate of a primary. */
export const HAS_NO_PRIMARY =
  'This cluster has no primary whose addresses could change: give it one with "token", which comes with certificates'

/** No address is asked later: the caller waits, and no other change of what this cluster is can begin meanwhile. */
const ASKING_MS = 40_000
/** A primary that took over lets all of its secondaries in at once, and answers so many of them at a time. */
const BUSY_PAUSE_MS = 1_000

/** The parts that it works with. */
export type MovingParts = {
  readonly view: View
  readonly links: Pick<LinkControl, 'knock'>
  readonly secondarySide: Pick<SecondarySide, 'standing'>
  readonly facts: () => NodeFacts
  readonly world: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly timers: Pick<Timers, 'after'> }
}

/**
 * The addresses at which a primary answers that may be followed, in the given order. @throws SetRefused if there are
 * none
 */
export async function answeringOf(
  { view, links, facts, secondarySide, world }: MovingParts,
  family: ReplicationFamily,
  addresses: readonly string[],
): Promise<readonly string[]> {
  requireAddresses(addresses)
  const identity = await view.transaction((tx) => ownIdentity(tx, family))
  if (identity === undefined) throw new SetRefused(400, HAS_NO_PRIMARY)
  const knock = { ...knockOf(identity, facts()), standing: await secondarySide.standing(family) }
  const endsAtMs = world.clock.monotonicMs() + ASKING_MS
  const answering: string[] = []
  const silent: string[] = []
  for (const address of addresses) {
    if (world.clock.monotonicMs() >= endsAtMs) {
      silent.push(`${address} was not tried, as those before it took too long`)
      continue
    }
    const knocked = await asked({ links, world }, { ...knock, address }, endsAtMs)
    if (knocked.kind === 'welcome') answering.push(address)
    else if (knocked.kind === 'refused') silent.push(`${address} refuses: ${knocked.sentence}`)
    else if (knocked.kind === 'no-link') silent.push(knocked.sentence)
  }
  if (answering.length > 0) return answering
  throw new SetRefused(
    400,
    `A primary that may be followed answers at none of "update_primary_addrs". ${silent.join('. ')}`,
  )
}

/** What an address answers, once it is not busy; at the end of the time, that it is. */
async function asked(
  { links, world }: Pick<MovingParts, 'links' | 'world'>,
  knock: PingKnock,
  endsAtMs: number,
): Promise<Knocked> {
  for (;;) {
    const knocked = await links.knock(knock)
    const isBusy = knocked.kind === 'refused' && knocked.code === 'busy'
    if (!isBusy || world.clock.monotonicMs() + BUSY_PAUSE_MS >= endsAtMs) return knocked
    await new Promise<void>((resolve) => void world.timers.after(BUSY_PAUSE_MS, resolve))
  }
}

function requireAddresses(addresses: readonly string[]): void {
  if (addresses.length > MAX_KNOWN_ADDRESSES)
    throw new SetRefused(400, `"update_primary_addrs" has more than ${MAX_KNOWN_ADDRESSES} addresses`)
  for (const address of addresses) {
    const fault = faultOfClusterAddress(address)
    if (fault !== undefined) throw new SetRefused(400, `An address in "update_primary_addrs" ${fault}`)
  }
}

function knockOf({ peer, own, trusted }: OwnIdentity, facts: NodeFacts): Omit<PingKnock, 'address' | 'standing'> {
  const { setId, family, id } = peer
  const key = loadScalar(P256, own.key)
  own.key.fill(0)
  return {
    what: 'ping',
    set: { setId, family },
    id,
    identity: { key, certificate: own.certificate, trusted },
    facts,
  }
}
