// Changes of the secret that this server shows to the cloud. The new secret is stored beside the old one, tested, and
// made the current one; only then is the old one removed. So the stored secret works whenever the server is
// interrupted. What was begun is finished or taken back at the next start (threats F-06).
import { fail } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import { WriteNotAllowed } from '../../storage/errors.ts'
import {
  type CloudConfig,
  type ConfigStore,
  DEFAULT_SECRET_SECONDS,
  type Leftover,
  leftoverOf,
  leftoversOf,
  type NamedCredential,
  type RotationState,
} from './config.ts'
import type { Credential } from './credential.ts'
import { LoginDeadline } from './deadline.ts'
import type { Application, DirectoryCredential } from './graph.ts'
import { isGuid } from './names.ts'
import type { Provider } from './provider.ts'
import { asRefusal, CloudRefusal, CloudUnavailable, loginRefused } from './refusals.ts'

type Parts = {
  readonly world: World
  readonly log: Log
  readonly configs: ConfigStore
  /**
   * Returns the cloud's clients, with another secret than the stored one if given.
   * @throws Refusal if settings are missing.
   */
  readonly providerOf: (config: CloudConfig, secret?: string) => Provider
  /** Asked before each request to the cloud: the role of the node may change meanwhile. @throws WriteNotAllowed */
  readonly requireRight: () => void
}

/** Names of our secrets in the directory begin so, which tells them from an operator's. */
const NAME = 'keywright-'
/** The permission that the application needs on itself. */
const PERMISSION = 'Application.ReadWrite.OwnedBy'
/** Time for a new secret to be known everywhere in the directory. */
const TIMEOUT_MS = 10 * 60_000
/** Characters of a secret that the directory shows. */
const HINT_CHARACTERS = 3

/** The work that is left: `pending` if a new secret waits, `leftovers` if unused ones of ours are in the directory. */
export type Remaining = 'pending' | 'leftovers' | 'nothing'

/**
 * The change of one mount's credential. Its steps run one after the other; the configuration tells where each one
 * stands.
 */
export class Rotation {
  readonly #parts: Parts
  readonly #queue = new OneAtATime()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Begins a change; resolves when the new secret is stored. It is used once the directory accepts it.
   * @throws Refusal
   */
  begin(): Promise<void> {
    return this.#queue.run(() => this.#begin())
  }

  /** Takes a change one step further, and returns what is left to do. */
  proceed(): Promise<Remaining> {
    return this.#queue.run(() => this.#proceed())
  }

  /**
   * Returns the configuration, its cloud's clients, and the secret that may be changed.
   * @throws Refusal saying what prevents a change
   */
  async #changeable(): Promise<{ config: CloudConfig; provider: Provider; secret: string }> {
    const { configs, providerOf } = this.#parts
    const config = await configs.find()
    if (config === undefined) throw fail('not_configured', ['the mount is not configured'])
    if (config.rotation.pending !== undefined)
      throw fail('already_in_progress', ['a new secret waits until the directory takes it: try again in a few minutes'])
    if (!isGuid(config.clientId))
      throw fail('not_configured', ['client_id of the configuration is required: it names the application'])
    const provider = providerOf(config)
    const { credential } = provider.settings
    if (credential.kind !== 'secret') throw fail('not_configured', [withoutSecret(credential)])
    // The environment's secret comes before the audience, so both can be set. A secret stored now would exclude it.
    if (config.identityTokenAudience !== '') throw fail('fields_conflict', [BESIDE_AUDIENCE])
    return { config, provider, secret: credential.secret }
  }

  /** Has a secret made and stores it as pending. Every exit leaves a state that `#proceed` can finish or take back. */
  async #begin(): Promise<void> {
    const { world, configs } = this.#parts
    const { config, provider, secret: current } = await this.#changeable()
    const deadline = new LoginDeadline(world)
    const application = await withRefusals(() => this.#application(provider, config.clientId, deadline))
    const name = NAME + world.random.uuid()
    // Noted before the secret is made: if the answer is lost, it can be found by its name and removed.
    const owner = { clientId: config.clientId, tenant: provider.settings.tenant }
    const mark: Leftover = { keyId: '', name, ...owner, sinceMs: world.clock.nowMs() }
    await this.#change(config, (now) => ({
      ...now,
      rotation: { ...now.rotation, asked: mark, over: leftoversOf(now.rotation) },
    }))
    // Measured now: a secret whose end has passed when it is made would be of no use.
    const lifeSeconds = config.rootPasswordTtlSeconds || DEFAULT_SECRET_SECONDS
    const endMs = world.clock.nowMs() + lifeSeconds * 1000
    const secret = await withRefusals(async () => {
      try {
        this.#parts.requireRight()
        return await provider.graph.addSecret(application.objectId, name, endMs, deadline)
      } catch (cause) {
        // After a clear refusal no secret of that name exists. After any other failure one may.
        if (cause instanceof CloudRefusal) await this.#forget([mark])
        throw cause
      }
    })
    const left = foreignCredentials(application, config, current)
    const { now } = await configs.change((found) => {
      if (found?.rotation.asked?.name !== name || found.clientId !== config.clientId) return undefined
      const { asked: _asked, ...rotation } = found.rotation
      const pending = {
        ...owner,
        value: secret.value,
        writtenBy: 'service' as const,
        keyId: secret.keyId,
        expiresAtMs: secret.endMs,
        since: world.clock.nowMs(),
      }
      return { ...found, rotation: { ...rotation, pending, left } }
    })
    if (now?.rotation.pending?.keyId === secret.keyId) return this.#warnOf(left)
    // An operator's write came first: its secret counts, and ours is removed.
    await provider.graph.removeSecret(application.objectId, secret.keyId, deadline).catch(() => {})
    throw fail('changed_meanwhile', ['the configuration changed meanwhile: try again'])
  }

  #warnOf(left: readonly NamedCredential[]): void {
    for (const { keyId, name } of left)
      this.#parts.log(
        'warn',
        'The application keeps a credential that this mount did not make: remove it if nobody uses it',
        {
          key_id: keyId,
          name,
        },
      )
  }

  /** Finds the application of the mount. @throws Refusal, CloudRefusal, CloudUnavailable */
  async #application({ graph }: Provider, clientId: string, deadline: LoginDeadline): Promise<Application> {
    this.#parts.requireRight()
    const [found, second] = await graph.applications(clientId, deadline)
    if (found === undefined) throw fail('no_such_entry', ['no application found with this client_id'])
    // Wire text. bad_request: what the directory holds is wrong, and no request here changes it.
    if (second !== undefined) throw fail('bad_request', ['multiple applications found - double check your client_id'])
    return found
  }

  async #proceed(): Promise<Remaining> {
    const config = await this.#parts.configs.find()
    if (config === undefined) return 'nothing'
    const { pending } = config.rotation
    try {
      if (pending !== undefined) await this.#swap(config, pending)
      else await this.#clear(config)
    } catch (cause) {
      if (cause instanceof WriteNotAllowed) throw cause
      const told = asRefusal(cause)
      if (!(told instanceof Error)) throw cause
      this.#parts.log('warn', 'The change of the cloud credential goes on later', {
        cause: cause instanceof Error ? cause.message : '',
      })
    }
    const { rotation } = (await this.#parts.configs.find()) ?? config
    if (rotation.pending !== undefined) return 'pending'
    return leftoversOf(rotation).length > 0 ? 'leftovers' : 'nothing'
  }

  /** Makes the new secret the current one, once a token was fetched with it. Gives it up if that takes too long. */
  async #swap(config: CloudConfig, pending: NonNullable<CloudConfig['rotation']['pending']>): Promise<void> {
    const { world, log } = this.#parts
    const { since, ...secret } = pending
    // If the mount has become another application meanwhile, the secret is of no use.
    const isOurs = (secret.clientId ?? config.clientId) === config.clientId
    if (!isOurs || !(await this.#works(config, secret.value))) {
      if (isOurs && world.clock.nowMs() - since < TIMEOUT_MS) return
      log('error', 'The directory does not take the new secret of the application: it is removed, the old one stays')
      const { pending: _pending, ...rotation } = config.rotation
      const over = [...rotation.over, leftoverOf(secret, since)]
      await this.#change(config, (now) => ({ ...now, rotation: { ...rotation, over } }))
      return
    }
    const old = config.secret
    const { pending: _pending, ...rotation } = config.rotation
    const over = old?.writtenBy === 'service' ? [...rotation.over, leftoverOf(old)] : rotation.over
    const lastAtMs = world.clock.nowMs()
    await this.#change(config, (now) => ({ ...now, secret, rotation: { ...rotation, over, lastAtMs } }))
    log('info', 'The cloud credential was changed', { expires_at: new Date(secret.expiresAtMs ?? 0).toISOString() })
    const changed = await this.#parts.configs.find()
    if (changed !== undefined) await this.#clear(changed)
  }

  /** True if the cloud issues a token for this secret. */
  async #works(config: CloudConfig, secret: string): Promise<boolean> {
    const { world, providerOf } = this.#parts
    const provider = providerOf(config, secret)
    this.#parts.requireRight()
    try {
      await provider.tokens.get(provider.settings.cloud.graph, new LoginDeadline(world))
      return true
    } catch (cause) {
      if (cause instanceof CloudUnavailable) return false
      throw cause
    }
  }

  /** Removes our unused credentials from the directory. */
  async #clear(config: CloudConfig): Promise<void> {
    const left = leftoversOf(config.rotation)
    if (left.length === 0) return
    const provider = this.#parts.providerOf(config)
    // In another directory this credential can do nothing; reads of the configuration warn of what is there.
    const here = left.filter(({ tenant = provider.settings.tenant }) => tenant === provider.settings.tenant)
    const clients = Map.groupBy(here, ({ clientId = config.clientId }) => clientId)
    let failure: unknown
    for (const [clientId, credentials] of clients) {
      try {
        await this.#forget(await this.#remove(provider, clientId, credentials))
      } catch (cause) {
        // A failure in one application must not hold up the others.
        failure ??= cause
      }
    }
    if (failure !== undefined) throw failure
  }

  /** Removes credentials and returns those that are gone. @throws as `#application`. */
  async #remove(provider: Provider, clientId: string, wanted: readonly Leftover[]): Promise<readonly Leftover[]> {
    const { world } = this.#parts
    const deadline = new LoginDeadline(world)
    const { objectId, credentials } = await this.#application(provider, clientId, deadline)
    const gone: Leftover[] = []
    for (const each of wanted) {
      const found = credentials.find((one) => (each.keyId === '' ? one.name === each.name : one.keyId === each.keyId))
      if (found !== undefined) {
        this.#parts.requireRight()
        await provider.graph.removeSecret(objectId, found.keyId, deadline)
      }
      // A young one may exist and not be listed yet, so it is tried again.
      const isYoung = each.sinceMs !== undefined && world.clock.nowMs() - each.sinceMs < TIMEOUT_MS
      if (found !== undefined || !isYoung) gone.push(each)
    }
    return gone
  }

  /** Takes credentials that are gone out of the stored progress. */
  async #forget(gone: readonly Leftover[]): Promise<void> {
    if (gone.length === 0) return
    const stays = (each: Leftover): boolean => !gone.some((one) => isSame(one, each))
    await this.#parts.configs.change((found) => {
      if (found === undefined) return undefined
      const { asked: mark, ...others } = found.rotation
      const over = others.over.filter(stays)
      const rotation: RotationState =
        mark !== undefined && stays(mark) ? { ...others, over, asked: mark } : { ...others, over }
      return { ...found, rotation }
    })
  }

  /** Stores a change if the credential is as it was when the work began. @throws Refusal if it is not. */
  async #change(config: CloudConfig, change: (now: CloudConfig) => CloudConfig): Promise<void> {
    await this.#parts.configs.change((found) => {
      const isSame = found !== undefined && JSON.stringify(stateOf(found)) === JSON.stringify(stateOf(config))
      if (!isSame) throw fail('changed_meanwhile', ['the configuration changed meanwhile: try again'])
      return change(found)
    })
  }
}

const withoutSecret = ({ kind }: Credential): string =>
  `rotate-root changes client_secret, and this mount asks the cloud by its ${kind}, which is renewed elsewhere: ` +
  'set client_secret first, if there is to be one'

const BESIDE_AUDIENCE =
  'rotate-root makes a client_secret, and identity_token_audience, which excludes one, is set: clear it first'

const stateOf = ({ clientId, secret, rotation }: CloudConfig) => [clientId, secret, rotation]

const isSame = (some: NamedCredential, other: NamedCredential): boolean =>
  some.keyId === other.keyId && some.name === other.name

/** Returns credentials that an operator seems to have made: the directory shows the first characters of each secret. */
function foreignCredentials(
  { credentials }: Application,
  config: CloudConfig,
  secret: string,
): readonly NamedCredential[] {
  if (config.secret?.writtenBy === 'service') return config.rotation.left.filter(isStillIn(credentials))
  const others = credentials.filter(({ name }) => !name.startsWith(NAME))
  const fitting = others.filter(({ hint }) => secret !== '' && hint === secret.slice(0, HINT_CHARACTERS))
  return (fitting.length > 0 ? fitting : others).map(({ keyId, name }) => ({ keyId, name }))
}

const isStillIn =
  (credentials: readonly DirectoryCredential[]) =>
  ({ keyId }: NamedCredential): boolean =>
    credentials.some((each) => each.keyId === keyId)

/** Runs `work`; a refusal of the directory becomes one that names the missing permission. */
async function withRefusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof CloudRefusal && [401, 403].includes(cause.status))
      throw loginRefused(`this server may not change the application: it needs ${PERMISSION}`, cause)
    throw asRefusal(cause)
  }
}
