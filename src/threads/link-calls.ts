// Calls between the thread that writes and the one that has the links to other clusters: the two sides of
// replication/link/link-sides.ts, a row for each verb. The input of a row is the list of the verb's arguments. Nothing
// waits with a deadline for what the store or a peer does: the host of the links has deadlines of its own.
import type { LinkControl, LinkOwner } from '../replication/link/link-sides.ts'
import { type Call, call, notice } from '../rpc/calls.ts'
import { contentOf, movedWith, type Parcel, parcelOf } from '../rpc/parcel.ts'
import { outcomeOf, type Reply, replyOf } from './link-errors.ts'

/** Whether the thread of the links may have the store open. */
export type StorePresence = 'attached' | 'detached'

/** How long status waits for a busy thread. */
export const STATUS_DEADLINE_MS = 5_000

type Verb = (...input: never[]) => Promise<unknown>
type VerbCall<F extends Verb> = Call<Parcel<Parameters<F>>, Parcel<Reply<Awaited<ReturnType<F>>>>>

const verb = <F extends Verb>(options: { readonly deadlineMs?: number } = {}): VerbCall<F> =>
  call({ ...options, moves: movedWith, answerMoves: movedWith })

/** Calls that the thread of the links answers. */
export const CONTROL_CALLS = {
  play: verb<LinkControl['play']>(),
  disconnect: verb<LinkControl['disconnect']>(),
  knock: verb<LinkControl['knock']>(),
  status: verb<LinkControl['status']>({ deadlineMs: STATUS_DEADLINE_MS }),
  handOver: verb<LinkControl['handOver']>(),
  takeBack: verb<LinkControl['takeBack']>(),
  ask: verb<LinkControl['ask']>(),
  sealChanged: notice<string>(),
  recover: verb<LinkControl['recover']>(),
  compareAgain: verb<LinkControl['compareAgain']>(),
  /** Resolves when the store is closed there, or may be used again. */
  takeStore: call<StorePresence, void>(),
}

/** Calls that the thread that writes answers. */
export const OWNER_CALLS = {
  admit: verb<LinkOwner['admit']>(),
  claim: verb<LinkOwner['claim']>(),
  confirm: verb<LinkOwner['confirm']>(),
  renew: verb<LinkOwner['renew']>(),
  trustFor: verb<LinkOwner['trustFor']>(),
  trusts: verb<LinkOwner['trusts']>(),
  note: verb<LinkOwner['note']>(),
  sealFor: verb<LinkOwner['sealFor']>(),
  hold: verb<LinkOwner['hold']>(),
  tree: verb<LinkOwner['tree']>(),
  keysIn: verb<LinkOwner['keysIn']>(),
  root: verb<LinkOwner['root']>(),
  reachOf: verb<LinkOwner['reachOf']>(),
  drain: verb<LinkOwner['drain']>(),
  resume: verb<LinkOwner['resume']>(),
  tookOver: verb<LinkOwner['tookOver']>(),
  takeoverKnown: verb<LinkOwner['takeoverKnown']>(),
  conflict: verb<LinkOwner['conflict']>(),
  handed: verb<LinkOwner['handed']>(),
  differs: verb<LinkOwner['differs']>(),
  reached: verb<LinkOwner['reached']>(),
  standing: verb<LinkOwner['standing']>(),
  shown: verb<LinkOwner['shown']>(),
  unconfirmed: verb<LinkOwner['unconfirmed']>(),
  confirmed: verb<LinkOwner['confirmed']>(),
  primaryIsAt: verb<LinkOwner['primaryIsAt']>(),
  renewed: verb<LinkOwner['renewed']>(),
  trustCame: verb<LinkOwner['trustCame']>(),
  sealCame: verb<LinkOwner['sealCame']>(),
  take: verb<LinkOwner['take']>(),
  ownTree: verb<LinkOwner['ownTree']>(),
  ownKeysIn: verb<LinkOwner['ownKeysIn']>(),
  ownRoot: verb<LinkOwner['ownRoot']>(),
  ownReach: verb<LinkOwner['ownReach']>(),
  mend: verb<LinkOwner['mend']>(),
} satisfies { readonly [N in keyof LinkOwner]: VerbCall<LinkOwner[N]> }

/** Answers a row with a verb of the side that is here. */
export function answer<I extends readonly unknown[], O>(
  verb: (...input: I) => Promise<O>,
): (input: Parcel<I>) => Promise<Parcel<Reply<O>>> {
  return async (input) => parcelOf(await replyOf(() => verb(...contentOf(input))))
}

/** Returns what the verb at the other end returned. @throws what it threw, as far as it is decided by */
export async function answered<O>(asked: Promise<Parcel<Reply<O>>>): Promise<O> {
  return outcomeOf(contentOf(await asked))
}
