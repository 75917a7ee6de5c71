// The thread that writes, as the thread of the links has it.
import type { Log } from '../lib/log.ts'
import type { LinkControl, LinkOwner } from '../replication/link/link-sides.ts'
import { parcelOf } from '../rpc/parcel.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultLog } from './fault-log.ts'
import { KnownIdentities } from './known-identities.ts'
import { answer, answered, CONTROL_CALLS, OWNER_CALLS, type StorePresence } from './link-calls.ts'

/** The parts of the end in the thread of the links. */
export type OwnerLinkParts = {
  /** Answers the thread that writes. */
  readonly control: LinkControl
  /** Closes the store, or may use it again. A failure is handled in there. */
  readonly takeStore: (presence: StorePresence) => Promise<void>
  readonly log: Log
}

/** Listens to the thread that writes, and returns what it answers. */
export function connectOwner(port: Port, { control, takeStore, log }: OwnerLinkParts): LinkOwner {
  const identities = new KnownIdentities()
  const peer = connectPeer({
    channel: portChannel(port),
    asks: OWNER_CALLS,
    answers: CONTROL_CALLS,
    handlers: {
      play: answer((state) => control.play(identities.kept(state))),
      disconnect: answer((...input) => control.disconnect(...input)),
      knock: answer((knock) => control.knock(knock)),
      status: answer(() => control.status()),
      handOver: answer((...input) => control.handOver(...input)),
      takeBack: answer((...input) => control.takeBack(...input)),
      ask: answer((...input) => control.ask(...input)),
      sealChanged: (sealId) => control.sealChanged(sealId),
      recover: answer((...input) => control.recover(...input)),
      compareAgain: answer((...input) => control.compareAgain(...input)),
      takeStore,
    },
    onFault: faultLog(log),
  })
  return {
    admit: (...input) => answered(peer.call('admit', parcelOf(input))),
    claim: (...input) => answered(peer.call('claim', parcelOf(input))),
    confirm: (...input) => answered(peer.call('confirm', parcelOf(input))),
    renew: (...input) => answered(peer.call('renew', parcelOf(input))),
    trustFor: (...input) => answered(peer.call('trustFor', parcelOf(input))),
    trusts: (...input) => answered(peer.call('trusts', parcelOf(input))),
    note: (...input) => answered(peer.call('note', parcelOf(input))),
    sealFor: (...input) => answered(peer.call('sealFor', parcelOf(input))),
    hold: (...input) => answered(peer.call('hold', parcelOf(input))),
    tree: (...input) => answered(peer.call('tree', parcelOf(input))),
    keysIn: (...input) => answered(peer.call('keysIn', parcelOf(input))),
    root: (...input) => answered(peer.call('root', parcelOf(input))),
    reachOf: (...input) => answered(peer.call('reachOf', parcelOf(input))),
    drain: (...input) => answered(peer.call('drain', parcelOf(input))),
    resume: (...input) => answered(peer.call('resume', parcelOf(input))),
    tookOver: (...input) => answered(peer.call('tookOver', parcelOf(input))),
    takeoverKnown: (...input) => answered(peer.call('takeoverKnown', parcelOf(input))),
    conflict: (...input) => answered(peer.call('conflict', parcelOf(input))),
    handed: (...input) => answered(peer.call('handed', parcelOf(input))),
    reached: (...input) => answered(peer.call('reached', parcelOf(input))),
    differs: (...input) => answered(peer.call('differs', parcelOf(input))),
    standing: (...input) => answered(peer.call('standing', parcelOf(input))),
    shown: (...input) => answered(peer.call('shown', parcelOf(input))),
    unconfirmed: (...input) => answered(peer.call('unconfirmed', parcelOf(input))),
    confirmed: (...input) => answered(peer.call('confirmed', parcelOf(input))),
    primaryIsAt: (...input) => answered(peer.call('primaryIsAt', parcelOf(input))),
    renewed: (family, leaf) => {
      const parcel = parcelOf<[typeof family, typeof leaf]>([family, leaf])
      // The other end wipes the copy that it is handed.
      leaf.key.fill(0)
      return answered(peer.call('renewed', parcel))
    },
    trustCame: (...input) => answered(peer.call('trustCame', parcelOf(input))),
    sealCame: (...input) => answered(peer.call('sealCame', parcelOf(input))),
    take: (...input) => answered(peer.call('take', parcelOf(input))),
    ownTree: (...input) => answered(peer.call('ownTree', parcelOf(input))),
    ownKeysIn: (...input) => answered(peer.call('ownKeysIn', parcelOf(input))),
    ownReach: (...input) => answered(peer.call('ownReach', parcelOf(input))),
    ownRoot: (...input) => answered(peer.call('ownRoot', parcelOf(input))),
    mend: (...input) => answered(peer.call('mend', parcelOf(input))),
  }
}
