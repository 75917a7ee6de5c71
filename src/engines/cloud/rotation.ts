// Changes of the secret that this server shows to the cloud. The new one is stored beside the old one, proven, made the
// current one, and only then is the old one removed: whenever the server is interrupted, the stored secret works, and
// what was begun is finished or taken back at the next start.
import { fail } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
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
  /** With another secret than the stored one. @throws Refusal where the settings are incomplete */
  readonly providerOf: (config: CloudConfig, secret?: string) => Provider
}

const NAME = 'keywright-'
const PERMISSION = 'Application.ReadWrite.OwnedBy'
/** For a new secret to be known everywhere in the directory. */
const TIMEOUT_MS = 10 * 60_000
const HINT_CHARACTERS = 3

/** What is left to do: a new secret waits, or some of ours are still in the directory. */
export type Remaining = 'pending' | 'leftovers' | 'nothing'

export class Rotation {
  readonly #parts: Parts
  readonly #turns = new OneAtATime()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Resolves when the new secret is stored; it is used once the directory takes it. @throws Refusal */
  begin(): Promise<void> {
    return this.#turns.run(() => this.#begin())
  }

  /** Does what is due. */
  proceed(): Promise<Remaining> {
    return this.#turns.run(() => this.#proceed())
  }

  async #begin(): Promise<void> {
    const { world, configs, providerOf } = this.#parts
    const config = await configs.find()
    if (config === undefined) throw fail('not_configured', ['the mount is not configured'])
    if (config.rotation.pending !== undefined)
      throw fail('already_in_progress', ['a new secret waits until the directory takes it: try again in a few minutes'])
    if (!isGuid(config.clientId))
      throw fail('not_configured', ['client_id of the configuration is required: it names the application'])
    const provider = providerOf(config)
    const { credential } = provider.settings
    if (credential.kind !== 'secret') throw fail('not_configured', [withoutSecret(credential)])
    // A secret of the environment goes before the audience; one that is stored excludes it.
    if (config.identityTokenAudience !== '') throw fail('fields_conflict', [BESIDE_AUDIENCE])
    const deadline = new LoginDeadline(world)
    const application = await asked(() => this.#application(provider, config.clientId, deadline))
    const name = NAME + world.random.uuid()
    // Before it is made: a secret of which nobody learns can be found by its name.
    const owner = { clientId: config.clientId, tenant: provider.settings.tenant }
    const mark: Leftover = { keyId: '', name, ...owner, sinceMs: world.clock.nowMs() }
    await this.#change(config, (now) => ({
      ...now,
      rotation: { ...now.rotation, asked: mark, over: leftoversOf(now.rotation) },
    }))
    // One that has ended when it is made would be of no use.
    const lifeSeconds = config.rootPasswordTtlSeconds || DEFAULT_SECRET_SECONDS
    const endMs = world.clock.nowMs() + lifeSeconds * 1000
    const secret = await asked(async () => {
      try {
        return await provider.graph.addSecret(application.objectId, name, endMs, deadline)
      } catch (cause) {
        // A clear no: there is none of that name. After any other failure there may be.
        if (cause instanceof CloudRefusal) await this.#forget([mark])
        throw cause
      }
    })
    const left = strangers(application, config, credential.secret)
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
    // An operator was faster: that secret counts, and this one goes.
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

  /** @throws Refusal, CloudRefusal, CloudUnavailable */
  async #application({ graph }: Provider, clientId: string, deadline: LoginDeadline): Promise<Application> {
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

  /** Uses the new secret once a token was fetched with it. */
  async #swap(config: CloudConfig, pending: NonNullable<CloudConfig['rotation']['pending']>): Promise<void> {
    const { world, log } = this.#parts
    const { since, ...secret } = pending
    // The mount may have become another application meanwhile: then it is of no use.
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

  async #works(config: CloudConfig, secret: string): Promise<boolean> {
    const { world, providerOf } = this.#parts
    const provider = providerOf(config, secret)
    try {
      await provider.tokens.get(provider.settings.cloud.graph, new LoginDeadline(world))
      return true
    } catch (cause) {
      if (cause instanceof CloudUnavailable) return false
      throw cause
    }
  }

  /** Takes unused credentials of ours out of the directory. */
  async #clear(config: CloudConfig): Promise<void> {
    const left = leftoversOf(config.rotation)
    if (left.length === 0) return
    const provider = this.#parts.providerOf(config)
    // In another directory this credential can do nothing: reading the configuration names what is there.
    const here = left.filter(({ tenant = provider.settings.tenant }) => tenant === provider.settings.tenant)
    const clients = Map.groupBy(here, ({ clientId = config.clientId }) => clientId)
    let failure: unknown
    for (const [clientId, credentials] of clients) {
      try {
        await this.#forget(await this.#remove(provider, clientId, credentials))
      } catch (cause) {
        // What is in one application must not hold up what is in another.
        failure ??= cause
      }
    }
    if (failure !== undefined) throw failure
  }

  /** Gives those that are gone. @throws as `#application` */
  async #remove(provider: Provider, clientId: string, wanted: readonly Leftover[]): Promise<readonly Leftover[]> {
    const { world } = this.#parts
    const deadline = new LoginDeadline(world)
    const { objectId, credentials } = await this.#application(provider, clientId, deadline)
    const gone: Leftover[] = []
    for (const each of wanted) {
      const found = credentials.find((one) => (each.keyId === '' ? one.name === each.name : one.keyId === each.keyId))
      if (found !== undefined) await provider.graph.removeSecret(objectId, found.keyId, deadline)
      // A young one may be there and not be shown yet.
      const isYoung = each.sinceMs !== undefined && world.clock.nowMs() - each.sinceMs < TIMEOUT_MS
      if (found !== undefined || !isYoung) gone.push(each)
    }
    return gone
  }

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

  /** Only where the credential is as it was when the work began. @throws Refusal where it is not */
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

/** What an operator put there, as far as it can be told: the directory shows the beginning of each secret. */
function strangers({ credentials }: Application, config: CloudConfig, secret: string): readonly NamedCredential[] {
  if (config.secret?.writtenBy === 'service') return config.rotation.left.filter(isStillIn(credentials))
  const others = credentials.filter(({ name }) => !name.startsWith(NAME))
  const fitting = others.filter(({ hint }) => secret !== '' && hint === secret.slice(0, HINT_CHARACTERS))
  return (fitting.length > 0 ? fitting : others).map(({ keyId, name }) => ({ keyId, name }))
}

const isStillIn =
  (credentials: readonly DirectoryCredential[]) =>
  ({ keyId }: NamedCredential): boolean =>
    credentials.some((each) => each.keyId === keyId)

/** What the directory refuses is told by what it lacks. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof CloudRefusal && [401, 403].includes(cause.status))
      throw loginRefused(`this server may not change the application: it needs ${PERMISSION}`, cause)
    throw asRefusal(cause)
  }
}
