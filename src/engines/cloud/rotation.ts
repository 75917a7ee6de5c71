// Changes of the secret that this server shows to the cloud. The new one is stored beside the old one, proven, made the
// current one, and only then is the old one removed: whenever the server is interrupted, the stored secret works, and
// what was begun is finished or taken back at the next start.
import { fail } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import type { CloudConfig, ConfigStore, NamedCredential } from './config.ts'
import { Deadline } from './deadline.ts'
import type { Application, DirectoryCredential } from './graph.ts'
import { isGuid } from './names.ts'
import type { Provider } from './provider.ts'
import { asRefusal, CloudRefusal, CloudUnavailable, refuse } from './refusals.ts'

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
const PATIENCE_MS = 10 * 60_000
const HINT_CHARACTERS = 3

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

  /** Does what is due. True: something is left that should be tried again soon. */
  proceed(): Promise<boolean> {
    return this.#turns.run(() => this.#proceed())
  }

  async #begin(): Promise<void> {
    const { world, configs, providerOf } = this.#parts
    const config = await configs.find()
    if (config === undefined) throw fail('bad_request', ['the mount is not configured'])
    if (config.rotation.pending !== undefined)
      throw fail('bad_request', ['a new secret waits until the directory takes it: try again in a few minutes'])
    if (!isGuid(config.clientId))
      throw fail('bad_request', ['client_id of the configuration is required: it names the application'])
    const provider = providerOf(config)
    const deadline = new Deadline(world)
    const application = await asked(() => this.#application(provider, config, deadline))
    const name = NAME + world.random.uuid()
    // Before it is made: a secret of which nobody learns can be found by its name.
    const { asked: before, over } = config.rotation
    const unknown = before === undefined ? [] : [{ keyId: '', name: before }]
    await this.#change(config, (now) => ({
      ...now,
      rotation: { ...now.rotation, asked: name, over: [...over, ...unknown] },
    }))
    const endMs = world.clock.nowMs() + config.rootPasswordTtlSeconds * 1000
    const secret = await asked(() => provider.graph.addSecret(application.objectId, name, endMs, deadline))
    const left = strangers(application, config, provider.settings.clientSecret)
    const { now } = await configs.change((found) => {
      if (found?.rotation.asked !== name || found.clientId !== config.clientId) return undefined
      const { asked: _asked, ...rotation } = found.rotation
      const pending = {
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
    throw fail('bad_request', ['the configuration changed meanwhile: try again'])
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
  async #application({ graph }: Provider, { clientId }: CloudConfig, deadline: Deadline): Promise<Application> {
    const [found, second] = await graph.applications(clientId, deadline)
    if (found === undefined) throw fail('bad_request', ['no application found with this client_id'])
    // Wire text.
    if (second !== undefined) throw fail('bad_request', ['multiple applications found - double check your client_id'])
    return found
  }

  async #proceed(): Promise<boolean> {
    const config = await this.#parts.configs.find()
    if (config === undefined) return false
    const { pending, over, asked: name } = config.rotation
    try {
      if (pending !== undefined) await this.#swap(config, pending)
      else if (over.length > 0 || name !== undefined) await this.#clear(config)
    } catch (cause) {
      const told = asRefusal(cause)
      if (!(told instanceof Error)) throw cause
      this.#parts.log('warn', 'The change of the cloud credential goes on later', {
        cause: cause instanceof Error ? cause.message : '',
      })
    }
    const { rotation } = (await this.#parts.configs.find()) ?? config
    return rotation.pending !== undefined || rotation.over.length > 0 || rotation.asked !== undefined
  }

  /** Uses the new secret once a token was fetched with it. */
  async #swap(config: CloudConfig, pending: NonNullable<CloudConfig['rotation']['pending']>): Promise<void> {
    const { world, log } = this.#parts
    const { since, ...secret } = pending
    if (!(await this.#works(config, secret.value))) {
      if (world.clock.nowMs() - since < PATIENCE_MS) return
      log('error', 'The directory does not take the new secret of the application: it is removed, the old one stays')
      const { pending: _pending, ...rotation } = config.rotation
      const over = [...rotation.over, { keyId: secret.keyId, name: '' }]
      await this.#change(config, (now) => ({ ...now, rotation: { ...rotation, over } }))
      return
    }
    const old = config.secret
    const { pending: _pending, ...rotation } = config.rotation
    const over = old?.writtenBy === 'service' ? [...rotation.over, { keyId: old.keyId, name: '' }] : rotation.over
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
      await provider.tokens.get(provider.settings.cloud.graph, new Deadline(world))
      return true
    } catch (cause) {
      if (cause instanceof CloudUnavailable) return false
      throw cause
    }
  }

  /** Takes out of the directory what is ours there and not used any more. */
  async #clear(config: CloudConfig): Promise<void> {
    const { over, asked: name } = config.rotation
    if (over.length === 0 && name === undefined) return
    const { world, providerOf } = this.#parts
    const provider = providerOf(config)
    const deadline = new Deadline(world)
    const { objectId, credentials } = await this.#application(provider, config, deadline)
    const wanted = [...over, ...(name === undefined ? [] : [{ keyId: '', name }])]
    for (const each of wanted) {
      const found = credentials.find((one) => (each.keyId === '' ? one.name === each.name : one.keyId === each.keyId))
      if (found !== undefined) await provider.graph.removeSecret(objectId, found.keyId, deadline)
    }
    await this.#parts.configs.change((found) => {
      if (found === undefined) return undefined
      const { asked: stillAsked, ...rotation } = found.rotation
      const left = rotation.over.filter((each) => !wanted.some((one) => isSame(one, each)))
      const kept = stillAsked === undefined || stillAsked === name ? {} : { asked: stillAsked }
      return { ...found, rotation: { ...rotation, over: left, ...kept } }
    })
  }

  /** Only where the credential is as it was when the work began. @throws Refusal where it is not */
  async #change(config: CloudConfig, change: (now: CloudConfig) => CloudConfig): Promise<void> {
    await this.#parts.configs.change((found) => {
      const isSame = found !== undefined && JSON.stringify(stateOf(found)) === JSON.stringify(stateOf(config))
      if (!isSame) throw fail('bad_request', ['the configuration changed meanwhile: try again'])
      return change(found)
    })
  }
}

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
      throw refuse(`this server may not change the application: it needs ${PERMISSION}`, cause)
    throw asRefusal(cause)
  }
}
