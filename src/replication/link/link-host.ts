// What has the links to other clusters: it listens, dials, and does for its owner what LinkControl says. It has no
// thread, no socket and no time of its own.
//
//   cluster port ─▶ PrimaryEnd ─▶ ServedSecondary (a link each) ─┐
//                            ├─▶ AskingSecondary (a link each)   │
//                            └─▶ letIn                           ├──▶ LinkOwner
//   Follower (a family each) ─▶ FollowedPrimary (a link each) ───┤
//   Asker ─▶ AnsweringPrimary (a link) ──────────────────────────────┤
//   TakeoverCaller (a former primary each) ───────────────────────────┘
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { LinkCounts } from '../counts.ts'
import { SINK_LIMITS } from '../sink/sink-parts.ts'
import { SOURCE_LIMITS, type SourceStore } from '../source/source-parts.ts'
import { Asker } from './asker.ts'
import { ClusterPorts } from './cluster-ports.ts'
import type { LinkLimits, LinkWorld, PrimaryParts } from './end-parts.ts'
import { Follower } from './follower.ts'
import { askPrimary } from './knocking.ts'
import { ACTIVATION_PROTOCOL, ASKING_PROTOCOL, FOLLOWING_PROTOCOLS } from './link-protocols.ts'
import type {
  AskOutcome,
  FormerPart,
  HandOver,
  Knock,
  Knocked,
  LinkControl,
  LinkOwner,
  LinkState,
  LinkStatus,
  NodeFacts,
  PrimaryPart,
  SecondaryPart,
} from './link-sides.ts'
import { LINK_TIMES, type LinkTimes } from './link-times.ts'
import { PrimaryEnd } from './primary-end.ts'
import { TakeoverCaller } from './takeover-caller.ts'

/** What the host of the links is given. The store may throw StorageClosed while it is being replaced. */
export type LinkHostParts = {
  readonly world: LinkWorld
  readonly owner: LinkOwner
  readonly store: SourceStore
  readonly log: Log
  readonly counts: LinkCounts
}

const USUAL_LIMITS: LinkLimits = { source: SOURCE_LIMITS, sink: SINK_LIMITS }
const NO_FACTS: NodeFacts = { version: '', clusterId: '', clusterAddresses: [], apiAddress: '' }

/** The links of this node. Until `play` was called for the first time there are none. */
export class LinkHost implements LinkControl {
  readonly #parts: PrimaryParts
  readonly #primary: PrimaryEnd
  readonly #ports: ClusterPorts
  readonly #followers = new Map<ReplicationFamily, Follower>()
  /** The link by which the primary carries out requests: of the family performance alone. */
  #asker: Asker | undefined
  #callers: readonly TakeoverCaller[] = []
  readonly #playing = new OneAtATime()
  #facts = NO_FACTS
  /** Gives up the knocks that are under way. */
  #questions = new AbortController()

  /** Tests hand in other times and limits. */
  constructor(parts: LinkHostParts, times: Partial<LinkTimes> = {}, limits = USUAL_LIMITS) {
    this.#parts = { ...parts, times: { ...LINK_TIMES, ...times }, limits, facts: () => this.#facts }
    const primary = new PrimaryEnd(this.#parts)
    this.#primary = primary
    this.#ports = new ClusterPorts({
      ...this.#parts,
      serving: {
        identities: (serverName) => primary.identityFor(serverName),
        protocols: [...Object.values(FOLLOWING_PROTOCOLS), ASKING_PROTOCOL, ACTIVATION_PROTOCOL],
        accept: (link) => primary.accept(link),
      },
    })
  }

  play(state: LinkState): Promise<void> {
    return this.#playing.run(() => this.#play(state))
  }

  async disconnect(family: ReplicationFamily, id: string): Promise<void> {
    this.#primary.disconnect(family, id)
  }

  knock(knock: Knock): Promise<Knocked> {
    return askPrimary(this.#parts, knock, this.#questions.signal)
  }

  async handOver(family: ReplicationFamily, withinMs: number): Promise<HandOver> {
    return this.#followers.get(family)?.handOver(withinMs) ?? { kind: 'no-link' }
  }

  async takeBack(family: ReplicationFamily): Promise<void> {
    await this.#followers.get(family)?.takeBack()
  }

  async ask(call: string, body: Buffer): Promise<AskOutcome> {
    return this.#asker?.ask(call, body) ?? { kind: 'no-link' }
  }

  sealChanged(sealId: string): void {
    this.#primary.sealChanged()
    for (const follower of this.#followers.values()) follower.sealChanged(sealId)
  }

  async recover(family: ReplicationFamily): Promise<void> {
    this.#followers.get(family)?.recover()
    if (family === 'performance') this.#asker?.recover()
  }

  async compareAgain(family: ReplicationFamily): Promise<void> {
    this.#followers.get(family)?.compareAgain()
  }

  async status(): Promise<LinkStatus> {
    return {
      isSilent: false,
      ports: this.#ports.open,
      faults: this.#ports.faults,
      secondaries: this.#primary.status,
      primaries: [...this.#followers.values()].map(({ status }) => status),
      untold: this.#callers.map(({ family, sentence }) => ({ family, sentence })),
    }
  }

  async #play({ facts, listenAt, parts }: LinkState): Promise<void> {
    this.#facts = facts
    // First: a server that is sealed plays no part, but it has not ended its sets.
    if (listenAt.length === 0) this.#primary.closeAll('this server is sealed or stops')
    if (listenAt.length === 0 && parts.length === 0) {
      // As of a server that is being sealed: a question holds keys.
      this.#questions.abort()
      this.#questions = new AbortController()
    }
    this.#primary.play(parts.filter((part): part is PrimaryPart => part.role === 'primary'))
    const secondaries = parts.filter((part): part is SecondaryPart => part.role === 'secondary')
    this.#handOverBy(secondaries.find(({ set }) => set.family === 'performance'))
    this.#follow(secondaries)
    this.#call(parts.filter((part): part is FormerPart => part.role === 'former'))
    await this.#ports.listen(listenAt)
  }

  #call(parts: readonly FormerPart[]): void {
    const before = this.#callers
    for (const caller of before) if (!parts.some((part) => caller.isFor(part))) caller.stop()
    this.#callers = parts.map(
      (part) => before.find((caller) => caller.isFor(part)) ?? new TakeoverCaller(this.#parts, part),
    )
  }

  #handOverBy(part: SecondaryPart | undefined): void {
    if (part === undefined || this.#asker?.isFor(part) === false) {
      this.#asker?.stop()
      this.#asker = undefined
    }
    if (part === undefined) return
    if (this.#asker === undefined) this.#asker = new Asker(this.#parts, part)
    else this.#asker.update(part)
  }

  #follow(parts: readonly SecondaryPart[]): void {
    const stopped = new Map<ReplicationFamily, Promise<void>>()
    for (const [family, follower] of this.#followers) {
      if (parts.some((part) => follower.isFor(part))) continue
      this.#followers.delete(family)
      stopped.set(family, follower.stop())
    }
    for (const part of parts) {
      const { family } = part.set
      const follower = this.#followers.get(family)
      if (follower !== undefined) follower.update(part)
      else this.#followers.set(family, this.#newFollower(part, stopped.get(family)))
    }
  }

  #newFollower(part: SecondaryPart, before: Promise<void> = Promise.resolve()): Follower {
    // A primary that answers on the one link does on the other.
    const onLinked = (): void => {
      if (part.set.family === 'performance') this.#asker?.recover()
    }
    return new Follower(this.#parts, part, before, onLinked)
  }
}
