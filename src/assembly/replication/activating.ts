// A cluster becomes a secondary, or a secondary gets another primary. Everything is looked at first: until the primary
// has let it in, nothing of it changes.
//
//   token ─▶ bundle        unwrapped by the primary's API, or carried by the token
//         ─▶ kept          stored before the primary is asked: a wrapped token gives its bundle once
//         ─▶ claim         over the cluster port: the primary binds the token to our key, and hands over its own keys
//         ─▶ activate      data, keys and role change in one durable step; or, in the same set, whom it follows
//         ─▶ confirmed     by the link that follows, as often as it takes (link-host.ts)
import { fail } from '../../api/errors.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { sha256 } from '../../crypto/primitives/digest.ts'
import { X25519_BYTES, x25519Key } from '../../crypto/primitives/hpke.ts'
import type { World } from '../../lib/world.ts'
import type { ActivationKnock, Knocked, LinkControl, NodeFacts } from '../../replication/link/link-sides.ts'
import {
  type ActivationBundle,
  ActivationRefused,
  authoritiesIn,
  wipeActivation,
} from '../../replication/set/activation-bundle.ts'
import {
  type ActivationToken,
  type CarriedToken,
  openActivation,
  readActivationToken,
} from '../../replication/set/activation-token.ts'
import { requireChangeable } from '../../replication/set/changing-hands.ts'
import { requireOperation } from '../../replication/set/primary-operations.ts'
import { SETS_FOLDER } from '../../replication/set/records.ts'
import {
  type ActivatingOperation,
  activationOf,
  becomeSecondary,
  forgetActivation,
  type KeptActivation,
  keepActivation,
  pendingKey,
} from '../../replication/set/secondary-operations.ts'
import { systemScope } from '../../storage/contract.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { sealedTransaction, type View } from '../../storage/sealed-storage.ts'
import type { ActivationCheck, GivenActivation } from '../../system/replication-operations.ts'
import { openBundle, type SealBundle, wipeBundle } from '../../system/seal/seal-bundle.ts'
import type { Activation, AlsoWritten } from '../activation.ts'
import { checksOfApi, checksOfBadToken, checksOfPort } from './activation-checks.ts'
import { apiAddressFor, type PrimaryApi } from './primary-api.ts'
import { contextOf } from './primary-side.ts'

/**
 * Refusals that are not of the token: the next try with it may succeed, and a wrapped one cannot be unwrapped again.
 */
const PASSING: ReadonlySet<Extract<Knocked, { readonly kind: 'refused' }>['code']> = new Set([
  'busy',
  'not-active',
  'clock',
  'version',
])

/** The parts that an activation works with. */
export type ActivatingParts = {
  readonly view: View
  readonly links: Pick<LinkControl, 'knock'>
  readonly primaryApi: PrimaryApi
  readonly world: Pick<World, 'clock' | 'random'>
  readonly facts: () => NodeFacts
  /** Takes the primary's keys, and a store that has nothing but them and what is this node's own. */
  readonly activate: (activation: Activation, also: AlsoWritten) => Promise<void>
  /** @throws BundleRefused for the seal of a primary with other keys than the own ones */
  readonly requireOwnRoot: (bundle: SealBundle) => void
}

/** Activates this cluster, one attempt at a time. */
export class Activating {
  readonly #parts: ActivatingParts
  #isRunning = false

  constructor(parts: ActivatingParts) {
    this.#parts = parts
  }

  /** `secondary/enable`. @throws Refusal, SetRefused, ActivationRefused, BundleRefused: nothing was changed then */
  enable(family: ReplicationFamily, given: GivenActivation): Promise<void> {
    return this.#letIn(family, 'secondary/enable', given, (kept, keys) => this.#activate(kept, keys))
  }

  /**
   * `secondary/update-primary`: in its own set the cluster keeps its data and keys. `force` lets it change to another
   * set, which must have the same keys. `enter` stores whom it follows. If that one has other shares, they come over
   * the link. @throws as `enable`
   */
  update(
    family: ReplicationFamily,
    given: GivenActivation,
    force: boolean,
    enter: (kept: KeptActivation) => Promise<void>,
  ): Promise<void> {
    const fits = async (bundle: ActivationBundle): Promise<void> => {
      await this.#parts.view.transaction((tx) => requireChangeable(tx, bundle, force))
    }
    const taken = async (kept: KeptActivation, { seal }: GivenKeys): Promise<void> => {
      this.#parts.requireOwnRoot(seal)
      await enter(kept)
    }
    return this.#letIn(family, 'secondary/update-primary', given, taken, fits)
  }

  async #letIn(
    family: ReplicationFamily,
    operation: ActivatingOperation,
    given: GivenActivation,
    take: (kept: KeptActivation, keys: GivenKeys) => Promise<void>,
    fits: (bundle: ActivationBundle) => Promise<void> = async () => {},
  ): Promise<void> {
    await this.#parts.view.transaction((tx) => requireOperation(tx, family, operation))
    if (this.#isRunning) throw fail('already_in_progress', ['An activation is under way'])
    this.#isRunning = true
    let kept: KeptActivation | undefined
    try {
      kept = await this.#kept(family, operation, given, fits)
      await this.#enter(kept, take)
    } finally {
      this.#isRunning = false
      if (kept !== undefined) wipeKept(kept)
    }
  }

  /** `secondary/check`: the same looks, as far as they go without using the token up. @throws SetRefused */
  async check(family: ReplicationFamily, given: GivenActivation): Promise<readonly ActivationCheck[]> {
    const { view, primaryApi, links, facts, world } = this.#parts
    await view.transaction((tx) => requireOperation(tx, family, 'secondary/enable'))
    let bundle: ActivationBundle | undefined
    try {
      const token = readActivationToken(given.token)
      const earlier = await view.transaction((tx) => activationOf(tx, family, digestOfToken(given)))
      if (earlier !== undefined) return await this.#checkedAgain(earlier)
      if (token.kind === 'wrapped') {
        return checksOfApi(await primaryApi.look(askedOf(family, given, token)))
      }
      bundle = await this.#opened(family, token)
      const receiver = world.random.bytes(X25519_BYTES)
      const knocked = await links.knock(knockOf(bundle, receiver, facts(), 'look'))
      return checksOfPort(bundle.clusterAddress, knocked, facts().version)
    } catch (cause) {
      if (!(cause instanceof ActivationRefused)) throw cause
      return checksOfBadToken(cause.message)
    } finally {
      if (bundle !== undefined) wipeActivation(bundle)
    }
  }

  /** An earlier `secondary/enable` has used the token up to a point, and goes on from what it kept. */
  async #checkedAgain(kept: KeptActivation): Promise<readonly ActivationCheck[]> {
    const { links, facts } = this.#parts
    const { bundle, receiver } = kept
    try {
      const knocked = await links.knock(knockOf(bundle, receiver, facts(), 'look'))
      return checksOfPort(bundle.clusterAddress, knocked, facts().version)
    } finally {
      wipeKept(kept)
    }
  }

  /** The bundle of the token, stored, with the key that the primary is to seal for. */
  async #kept(
    family: ReplicationFamily,
    operation: ActivatingOperation,
    given: GivenActivation,
    fits: (bundle: ActivationBundle) => Promise<void>,
  ): Promise<KeptActivation> {
    const { view, world } = this.#parts
    const token = readActivationToken(given.token)
    const of = digestOfToken(given)
    // An earlier try with this token got no answer: its key may be bound to the token by now.
    const earlier = await view.transaction((tx) => activationOf(tx, family, of))
    if (earlier !== undefined) return earlier
    const bundle =
      token.kind === 'wrapped' ? await this.#unwrapped(family, given, token) : await this.#opened(family, token)
    const kept = { bundle, receiver: world.random.bytes(X25519_BYTES) }
    try {
      await fits(bundle)
      await view.transaction((tx) => keepActivation(tx, operation, kept, of))
      return kept
    } catch (cause) {
      wipeKept(kept)
      throw cause
    }
  }

  async #unwrapped(
    family: ReplicationFamily,
    given: GivenActivation,
    wrapped: Extract<ActivationToken, { readonly kind: 'wrapped' }>,
  ): Promise<ActivationBundle> {
    const answer = await this.#parts.primaryApi.unwrap(askedOf(family, given, wrapped))
    if (answer.kind === 'failed') throw new ActivationRefused('form', answer.sentence)
    const token = readActivationToken(answer.text)
    if (token.kind !== 'bundle')
      throw new ActivationRefused('form', 'What the primary gave for the activation token is no activation bundle')
    try {
      return openActivation(token, { family, seed: undefined })
    } catch (cause) {
      if (!(cause instanceof ActivationRefused)) throw cause
      throw new ActivationRefused(cause.reason, `${cause.message}. It is used up by now: get another one`)
    }
  }

  async #opened(family: ReplicationFamily, token: CarriedToken): Promise<ActivationBundle> {
    const seed = await this.#parts.view.transaction((tx) => pendingKey(tx, family))
    try {
      return openActivation(token, { family, seed })
    } finally {
      seed?.fill(0)
    }
  }

  /** Asks the primary, and takes what it gives. */
  async #enter(kept: KeptActivation, take: (kept: KeptActivation, keys: GivenKeys) => Promise<void>): Promise<void> {
    const { bundle, receiver } = kept
    const { view, links, facts } = this.#parts
    const { family } = bundle
    const knocked = await links.knock(knockOf(bundle, receiver, facts(), 'claim'))
    if (knocked.kind === 'refused' && !PASSING.has(knocked.code))
      await view.transaction(async (tx) => forgetActivation(tx, family))
    if (knocked.kind !== 'package') throw new ActivationRefused('form', sentenceOf(knocked))
    const { seal, keyring, leafKey } = knocked.package
    const sealBundle = openBundle(x25519Key(receiver), seal, contextOf({ set: bundle, id: bundle.id }))
    try {
      await take(kept, { seal: sealBundle, keyring, leafKey })
    } finally {
      wipeBundle(sealBundle)
    }
  }

  async #activate(kept: KeptActivation, { seal: bundle, keyring, leafKey }: GivenKeys): Promise<void> {
    const { world, activate } = this.#parts
    const also: AlsoWritten = (tx, barrier) =>
      becomeSecondary(sealedTransaction(barrier, systemScope, SETS_FOLDER, tx), kept, world.clock.nowMs())
    await activate({ bundle, keyring, leafKey }, also)
  }
}

/** What a primary hands over, opened as far as the root key. */
type GivenKeys = { readonly seal: SealBundle; readonly keyring: Buffer; readonly leafKey: Buffer }

const digestOfToken = ({ token }: GivenActivation): Buffer => sha256(Buffer.from(token.trim()))

function wipeKept({ bundle, receiver }: KeptActivation): void {
  wipeActivation(bundle)
  receiver.fill(0)
}

function askedOf(
  family: ReplicationFamily,
  { primaryApiAddress, caFile, caPath }: GivenActivation,
  { jwt, address }: Extract<ActivationToken, { readonly kind: 'wrapped' }>,
) {
  return { family, address: apiAddressFor(primaryApiAddress, address), jwt, caFile, caPath }
}

function knockOf(
  bundle: ActivationBundle,
  receiver: Buffer,
  facts: NodeFacts,
  what: 'look' | 'claim',
): ActivationKnock {
  const { setId, family, id, leaf, leafKey, clusterAddress, nonce } = bundle
  return {
    set: { setId, family },
    id,
    identity: { key: loadScalar(P256, leafKey.reveal()), certificate: leaf, trusted: authoritiesIn(bundle) },
    address: clusterAddress,
    facts,
    nonce: Buffer.from(nonce.reveal()),
    receiver: x25519Key(receiver).publicKey,
    what,
  }
}

function sentenceOf(knocked: Exclude<Knocked, { readonly kind: 'package' }>): string {
  return knocked.kind === 'welcome' ? 'The primary gave no keys for the activation token' : knocked.sentence
}
