// Logins of workloads that prove their identity with a token of their cloud (Interface 4.1). Everything that asks the
// cloud runs on the writing thread, where logins are made in any case. So answers are kept once for the process.
import { fail } from '../../api/errors.ts'
import type { IdentityTokens } from '../../api/identity-token.ts'
import type { Login, TokenSettings } from '../../api/login.ts'
import type { LoginMethod, LoginRule } from '../../api/login-method.ts'
import type { EngineType, MountableType, MountEntry } from '../../api/mount.ts'
import { maintains, type NodeRole } from '../../api/node-role.ts'
import { Router } from '../../api/router.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import type { World } from '../../lib/world.ts'
import { ROOT_NAMESPACE } from '../../storage/contract.ts'
import { WriteNotAllowed } from '../../storage/errors.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { LoginAttempt, type LoginInput } from './attempt.ts'
import { CallGate, type PerHostQueues } from './call-gate.ts'
import { type CloudConfig, ConfigStore, NEW_CONFIG } from './config.ts'
import { CLOUD_CONFIG_ENDPOINTS } from './config-endpoints.ts'
import { changesSecret } from './credential.ts'
import { LoginDeadline } from './deadline.ts'
import { type CheckResult, explain, judge } from './judge.ts'
import { CLOUD_LOGIN_ENDPOINTS } from './login-endpoints.ts'
import { loginOf } from './login-result.ts'
import { Provider } from './provider.ts'
import { RefusalLog } from './refusal-log.ts'
import { CloudUnavailable } from './refusals.ts'
import { CLOUD_ROLE_ENDPOINTS } from './role-endpoints.ts'
import { CloudRoles } from './roles.ts'
import { Rotation } from './rotation.ts'
import { RotationClock } from './rotation-clock.ts'
import { type CloudEnvironment, type CloudSettings, settingsOf } from './settings.ts'

/** What a mount of this type is made with. */
export type CloudContext = {
  readonly mount: () => MountEntry
  /** The role of the node, at the time of the call. */
  readonly role: () => NodeRole
  readonly storage: View
  readonly world: World
  readonly log: Log
  readonly environment: CloudEnvironment
  readonly identityTokens: IdentityTokens
  /** Reads the token that workload identity keeps in a file. @throws CloudUnavailable */
  readonly readTokenFile: (path: string) => Promise<string>
  /** The system's longest TTL in seconds; used if the mount does not set one. */
  readonly longestTtlSeconds: number
  /** The rules that hold for tokens of all methods, for explain. */
  readonly loginRules: readonly LoginRule[]
  /** Shared by all cloud mounts. */
  readonly gate: CallGate
}

/** Logins of one mount that may be under way at once. Bounds what waiting for a slow cloud can hold. */
const MOST_LOGINS = 2_000
/**
 * Logins among them that may ask the cloud about their caller. The rest is left to logins that need only known keys.
 */
const MOST_ASKING = 1_000

/** A mount of cloud logins: configuration, roles, the checks of a login, and the change of the mount's credential. */
export class CloudAuth implements LoginMethod {
  readonly configs: ConfigStore
  readonly roles: CloudRoles
  readonly rotation: Rotation
  readonly rotationClock: RotationClock
  readonly world: World
  readonly environment: CloudEnvironment
  readonly #context: CloudContext
  readonly #refusals: RefusalLog
  readonly #lanes: PerHostQueues
  #provider: { readonly key: string; readonly provider: Provider } | undefined
  #loginsUnderWay = 0
  #asking = 0

  constructor(context: CloudContext) {
    const { storage, world, log, environment } = context
    this.#context = context
    this.#lanes = context.gate.newLanes()
    this.world = world
    this.environment = environment
    this.configs = new ConfigStore(storage)
    this.roles = new CloudRoles(storage)
    this.#refusals = new RefusalLog(log, world.clock)
    this.rotation = new Rotation({
      world,
      log,
      configs: this.configs,
      providerOf: (config, secret) => this.#newProvider(config, secret),
      requireRight: () => this.#requireRight(),
    })
    this.rotationClock = new RotationClock({
      world,
      log,
      configs: this.configs,
      rotation: this.rotation,
      changesSecret: (config) => changesSecret(config, environment.environment),
    })
  }

  /**
   * Runs the checks and describes the token of the login.
   * @throws Refusal of the first check that fails, which is logged within bounds.
   */
  async logIn(input: LoginInput, requestId: string): Promise<Login> {
    if (this.#loginsUnderWay >= MOST_LOGINS) throw fail('cloud_unavailable', ['too many logins wait for the cloud'])
    this.#loginsUnderWay += 1
    const attempt = this.#attempt(input)
    try {
      const refusal = await judge(attempt)
      if (refusal === undefined) return loginOf(attempt)
      this.#refusals.note(refusal, this.#context.mount().path, requestId)
      throw refusal
    } finally {
      this.#loginsUnderWay -= 1
      this.#ended(attempt)
    }
  }

  /** Runs the same checks, and returns every result instead of logging in. */
  async explain(
    input: LoginInput,
    requestId = '',
  ): Promise<{
    readonly status: number
    readonly reason: string
    readonly results: readonly CheckResult[]
  }> {
    const mount = this.#context.mount()
    const attempt = this.#attempt(input)
    const { refusal, results } = await explain(attempt, this.#context.loginRules, mount).finally(() =>
      this.#ended(attempt),
    )
    // If the cloud failed, its own words are in the log only (threats V-07).
    if (refusal?.code === 'cloud_unavailable') this.#refusals.note(refusal, mount.path, requestId)
    return { status: refusal?.status ?? 200, reason: refusal?.message ?? '', results }
  }

  #attempt(input: LoginInput): LoginAttempt {
    return new LoginAttempt(input, {
      clock: this.world.clock,
      deadline: new LoginDeadline(this.world),
      findRole: (name) => this.roles.find(name),
      findProvider: async () => this.#providerFor((await this.configs.find()) ?? NEW_CONFIG),
      beginAsking: () => {
        if (this.#asking >= MOST_ASKING)
          throw new CloudUnavailable('too many logins wait for the cloud', `${MOST_ASKING} logins wait already`)
        this.#asking += 1
      },
    })
  }

  #ended({ asks }: LoginAttempt): void {
    if (asks) this.#asking -= 1
  }

  /**
   * Returns the provider, whose cached answers hold as long as the settings stay the same.
   * @throws Refusal if settings are missing.
   */
  #providerFor(config: CloudConfig): Provider {
    const settings = settingsOf(config, this.environment)
    const key = JSON.stringify([config.generation, settings])
    if (this.#provider?.key !== key) {
      this.#provider = { key, provider: this.#providerOf(settings) }
    }
    return this.#provider.provider
  }

  #newProvider(config: CloudConfig, secret: string | undefined): Provider {
    const settings = settingsOf(config, this.environment)
    const given = secret === undefined ? settings : { ...settings, credential: { kind: 'secret', secret } as const }
    return this.#providerOf(given)
  }

  #providerOf(settings: CloudSettings): Provider {
    return new Provider(this.world, this.#lanes, settings, {
      mint: (audience, ttlSeconds) => this.mintToken(audience, ttlSeconds),
      readFile: this.#context.readTokenFile,
    })
  }

  /** Signs a token that says which mount this is. @throws Refusal if this server cannot issue any. */
  mintToken(audience: string, ttlSeconds: number): Promise<string> {
    const { identityTokens, mount } = this.#context
    const subject = `plugin-identity:${ROOT_NAMESPACE}:auth:${mount().accessor}`
    return identityTokens.mint({ subject, audience, ttlSeconds })
  }

  /** Returns the longest TTL in seconds that the mount allows. */
  longestSeconds(): number {
    const { maxLeaseTtlSeconds } = this.#context.mount().config
    return maxLeaseTtlSeconds > 0 ? maxLeaseTtlSeconds : this.#context.longestTtlSeconds
  }

  /**
   * Returns the role's present settings. Lifetimes follow the role, while the token keeps the policies of its login
   * (Interface 2.2).
   * @throws Refusal if the role is gone.
   */
  async renewLogin(renewal: JsonObject): Promise<{ readonly settings: TokenSettings }> {
    const role = await this.roles.find(String(renewal.role))
    if (role === undefined) throw fail('not_renewable', ['the role does not exist any more, cannot renew'])
    return { settings: role.settings }
  }

  /** Returns the role that a login is for, in lower case, so that quotas of roles can count it. */
  async roleOf({ role }: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    if (typeof role !== 'string' || role === '') return undefined
    return (await this.roles.find(role)) === undefined ? undefined : asciiLowerCase(role)
  }

  /**
   * The credential in the directory belongs to those who maintain the mount: two clusters that both changed it would
   * remove each other's secrets. @throws WriteNotAllowed in a role that maintains other mounts, or none
   */
  #requireRight(): void {
    const { role, mount } = this.#context
    const { local } = mount()
    if (!maintains(role(), { local })) throw new WriteNotAllowed(local ? 'local' : 'replicated')
  }

  /** Starts the scheduled changes of the credential. Runs on the writing thread, where the mount is maintained. */
  start(): void {
    this.rotationClock.start()
  }

  /** Configuration and roles are read for each login, so a change of them needs nothing. */
  changed(): void {}

  /**
   * Forgets the cloud's answers, and the secret in the settings. A change of the credential that was begun is taken up
   * by `start`.
   */
  reset(): void {
    this.#provider = undefined
  }

  /** Stops scheduled changes and forgets what `reset` forgets. */
  stop(): void {
    this.rotationClock.stop()
    this.reset()
  }
}

const router = new Router<CloudAuth>([...CLOUD_CONFIG_ENDPOINTS, ...CLOUD_ROLE_ENDPOINTS, ...CLOUD_LOGIN_ENDPOINTS])

/** The mount type `cloud`, for the table of engines. */
export const CLOUD: MountableType<CloudContext> = {
  type: 'cloud',
  kind: 'auth',
  summary: 'Logs in workloads with the identity that their cloud gives them',
  page: { title: 'Cloud: login of workloads', note: 'The mount type has a second name, `azure`.' },
  router,
  create: (context) => new CloudAuth(context),
}
/** The mount type under its second name, which existing clients use. */
export const AZURE: EngineType<CloudContext> = { ...CLOUD, type: 'azure' }

/** Returns the gate that all cloud mounts share; the assembly makes one. */
export const newCallGate = (): CallGate => new CallGate()
