// On a primary: carries out the requests that its secondaries hand over. From the decision between create and update on
// the steps are those of any request. Quotas are counted, tokens made and answers wrapped where the caller is.
import { fail, type Refusal } from '../api/errors.ts'
import { METHODS } from '../api/help.ts'
import type { EnsuredEntity, WantedEntity } from '../api/login.ts'
import { type Namespace, pathWithin, ROOT_ID, splitId } from '../api/namespace.ts'
import { mayChange } from '../api/node-role.ts'
import { type Answer, DecisionOutdated } from '../api/request.ts'
import { isSpellingOf } from '../api/router.ts'
import type { TokenEntry } from '../auth/token-entry.ts'
import type { Log } from '../lib/log.ts'
import { LongText } from '../lib/long-text.ts'
import { describeCause } from './describe-cause.ts'
import type { Exchange, WireRequest } from './exchange.ts'
import { writtenBy } from './hand-over.ts'
import type {
  AssertedCaller,
  CarriedOut,
  EntityThere,
  HandedRequest,
  MountAnswer,
  MountQuestion,
  Secondary,
  ToPrimary,
  WrittenAt,
} from './handed.ts'
import { readQuestion, readRequest, readWanted } from './handed-form.ts'
import type { Mounted } from './mount-table.ts'
import { refuseOutsideRoot, requireOpen } from './namespace-steps.ts'
import { MAX_ATTEMPTS, newExchange } from './new-exchange.ts'
import { findEndpoint, stepsBetween } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { recordEnd } from './record-end.ts'
import { refusalOf } from './response.ts'
import { confirmedSince, isKept, logBefore, mayRest } from './synchronous-steps.ts'
import { API_PREFIX, parseQuery } from './target.ts'

/** The path of the mount `sys/` that each namespace has, and its type. */
const SYSTEM_PATH = 'sys/'
const SYSTEM_TYPE = 'system'
const IN_USE = 'path is already in use'
const JUDGE = stepsBetween('create or update', 'decode the fields')
const HANDLE = stepsBetween('handle', 'handle')

/** Carries out what one secondary hands over. Made for each secondary. */
export class HandedRequests implements ToPrimary {
  readonly #services: PipelineServices
  readonly #secondary: Secondary
  readonly #log: Log

  constructor(services: PipelineServices, secondary: Secondary, log: Log) {
    this.#services = services
    this.#secondary = secondary
    this.#log = log
  }

  /** @throws Refusal whatever goes wrong: a defect is logged here, and is an internal error there */
  async carryOut(sent: HandedRequest): Promise<CarriedOut> {
    const request = readRequest(sent)
    let before: Exchange | undefined
    const logBeforeIt = logBefore(this.#services)
    for (let attempt = 0; ; attempt++) {
      const exchange = newExchange({ id: request.id, trace: undefined }, wireOf(request), before, this.#secondary.name)
      let shared: Shared | undefined
      try {
        shared = await this.#run(exchange, request)
        await confirmedSince(logBeforeIt, this.#services, { rests: mayRest(exchange), isHanded: true })
      } catch (cause) {
        before = exchange
        if (cause instanceof DecisionOutdated && attempt < MAX_ATTEMPTS) continue
        if (!isKept(exchange, cause, this.#log)) await this.#refuse(exchange, cause)
      }
      const answer = await this.#answered(exchange)
      await this.#requireStillShared(shared)
      return { answer, written: this.#written() }
    }
  }

  /** @throws Refusal as `carryOut` */
  ensureEntity(sent: WantedEntity): Promise<EntityThere> {
    // An entity that is found may be that of an earlier attempt, which nobody confirmed.
    return this.#refusing(true, async () => {
      const entity = await this.#entity(readWanted(sent))
      return { entity, written: this.#written() }
    })
  }

  /** @throws Refusal as `carryOut` */
  askMount(sent: MountQuestion): Promise<MountAnswer> {
    return this.#refusing(false, async () => {
      const { mount, question } = readQuestion(sent)
      const { engine } = await this.#sharedMount(mount)
      const shared = { rule: this.#secondary.rule, mounts: [mount] }
      if (engine.handleClusterCall === undefined) throw fail('permission_denied', [])
      const answer = await engine.handleClusterCall(question, this.#secondary.name)
      await this.#requireStillShared(shared)
      return { answer, written: this.#written() }
    })
  }

  async #entity(wanted: WantedEntity): Promise<EnsuredEntity> {
    const { identities } = this.#services
    if (wanted.of === 'cluster') {
      this.#requirePrimary()
      const namespace = await this.#requireNamespace(wanted.namespace)
      requireOpen({ namespace, path: namespace.path })
      return identities.ensureEntityOfCluster(wanted.namespace, wanted.entityId)
    }
    const { entry, namespace, path } = await this.#sharedMount(wanted.mount)
    requireOpen({ namespace, path })
    if (entry.kind !== 'auth') throw fail('permission_denied', [])
    return identities.ensureEntity(entry, wanted.alias)
  }

  /** Read last: what others commit meanwhile is in front of the answer, too. */
  #written(): WrittenAt | undefined {
    const position = this.#services.position()
    return position && { historyId: position.historyId.toString('hex'), index: position.lastReplicatedIndex }
  }

  /** Errors of the rooms below become refusals, as in a request. A defect passes, and the link logs it. */
  async #refusing<T>(rests: boolean, work: () => Promise<T>): Promise<T> {
    const before = logBefore(this.#services)
    try {
      const answer = await work()
      await confirmedSince(before, this.#services, { rests, isHanded: true })
      return answer
    } catch (cause) {
      throw refusalOf(cause, this.#services.primaryAddress()) ?? cause
    }
  }

  /** Returns what the secondary had of what the request is about. */
  async #run(exchange: Exchange, request: HandedRequest): Promise<Shared> {
    const mounted = await this.#sharedMount(request.mount)
    const { rule } = this.#secondary
    exchange.method = request.method
    exchange.operation = request.method
    const isWrite = request.method === 'update' || request.method === 'patch'
    if (!isWrite && request.query !== '') exchange.input = parseQuery(request.query)
    exchange.mounted = mounted
    exchange.namespace = mounted.namespace
    exchange.path = mounted.path + request.path
    requireOpen(exchange)
    findEndpoint(exchange, mounted)
    refuseOutsideRoot(exchange)
    this.#requireTaken(exchange, request)
    exchange.wrapTtlSeconds = request.wrapTtlSeconds
    exchange.givenNames = givenNames(exchange, request)
    await this.#services.audit.ready()
    if (request.caller !== undefined) await this.#assume(exchange, request.caller, mounted)
    for (const step of JUDGE) await step.run(exchange, this.#services)
    const namedMounts = await this.#requireNamedMounts(exchange)
    await this.#requireNamedIds(exchange)
    const owner = await writtenBy(exchange)
    if (owner !== 'set' && !isLogin(exchange)) throw fail('permission_denied', [])
    for (const step of HANDLE) await step.run(exchange, this.#services)
    return { rule, mounts: [request.mount, ...namedMounts] }
  }

  /** @throws Refusal unless this node is an unsealed primary */
  #requirePrimary(): void {
    const { sealed, nodeRole, primaryAddress } = this.#services
    if (sealed()) throw fail('sealed', [])
    if (!mayChange(nodeRole(), 'set')) throw fail('not_primary', [true, primaryAddress()])
  }

  /** @throws Refusal unless there is the namespace, it stays, and the secondary has it */
  async #requireNamespace(id: string): Promise<Namespace> {
    const { namespaces } = this.#services
    if (namespaces.stale) await namespaces.refresh()
    if (this.#secondary.stale) await this.#secondary.refresh()
    const namespace = namespaces.byId(id)
    if (namespace === undefined || namespace.isGoing || !this.#hasNamespace(id)) throw fail('bad_namespace', [])
    return namespace
  }

  /** A namespace is where its mounts of the system are. */
  #hasNamespace(id: string): boolean {
    if (this.#secondary.hasAll) return true
    const uuid = this.#services.mounts.findIn(id, SYSTEM_PATH)?.uuid
    return uuid !== undefined && this.#secondary.reaches(uuid)
  }

  /** @throws Refusal unless this node is an unsealed primary, and shares the mount with the secondary */
  async #sharedMount(uuid: string): Promise<Mounted> {
    this.#requirePrimary()
    const { mounts } = this.#services
    if (mounts.stale) await mounts.refresh()
    if (this.#secondary.stale) await this.#secondary.refresh()
    const mounted = mounts.withUuid(uuid)
    if (mounted === undefined || mounted.entry.local || !this.#secondary.reaches(uuid)) throw fail('not_found', [])
    return mounted
  }

  /**
   * A filter that was answered while a request was carried out holds for its answer too. What the request did stays. By
   * the rule of its beginning a request may well lose a mount: it deletes or moves it.
   * @throws Refusal if the rule is another now, and the secondary is not to have one of the mounts
   */
  async #requireStillShared(shared: Shared | undefined): Promise<void> {
    if (shared === undefined || shared.rule === this.#secondary.rule) return
    const cause = await this.#secondary.refresh().catch((cause: unknown) => cause)
    if (cause !== undefined) throw fail('primary_silent', [this.#services.primaryAddress()], cause)
    // One that is there no more was removed by the request, or by another: no filter keeps it.
    const there = shared.mounts.filter((uuid) => this.#services.mounts.withUuid(uuid) !== undefined)
    if (!there.every((uuid) => this.#secondary.reaches(uuid))) throw fail('not_found', [])
  }

  /**
   * Only what writes data of the set is taken. A secondary has tokens, seal and raw storage of its own: with those of
   * its primary it could give itself more than any policy grants.
   */
  #requireTaken({ endpoint, mounted }: Exchange, request: HandedRequest): void {
    if (endpoint?.id !== request.endpoint) throw fail('unsupported_path', [])
    const { writes, onlyOnPrimary, whileSealed, changesSeal } = endpoint
    const isOwn = writes === undefined || writes === 'cluster' || writes === 'node'
    const isKept = onlyOnPrimary === true || whileSealed === true || changesSeal === true
    const isOfTokens = mounted?.entry.type === 'token' && writes !== 'set'
    if (isOwn || isKept || isOfTokens) throw fail('permission_denied', [])
  }

  /** A mount that a filter keeps from the secondary is not there for it, by whatever it is named. */
  async #requireNamedMounts({ endpoint, mounted, args, namespace }: Exchange): Promise<readonly string[]> {
    const named = await endpoint?.namedMounts?.(mounted?.engine as never, args as never, namespace)
    const uuids = (named ?? []).flatMap((mount) => (mount === undefined ? [] : [mount.uuid]))
    if (!uuids.every((uuid) => this.#secondary.reaches(uuid))) throw fail('not_found', [])
    return uuids
  }

  /** What is of a namespace that a filter keeps from the secondary is as unknown to it as what never was. */
  async #requireNamedIds({ endpoint, mounted, args, namespace }: Exchange): Promise<void> {
    if (this.#secondary.hasAll) return
    const named = await endpoint?.namedIds?.(mounted?.engine as never, args as never, namespace)
    for (const { id, field, unknown } of named ?? [])
      if (!this.#hasNamespace(splitId(id).namespaceId)) throw fail('field_invalid', [field, unknown])
  }

  /**
   * No token has the policy `root` beside others, or outside the root. From a secondary that has only a part of the
   * data it is not taken at sys/: there it could give itself what no policy of the set grants, and move mounts to where
   * it has them. At a mount that it has, it has all there is.
   */
  #requireCaller({ policies, namespace }: AssertedCaller, { entry }: Mounted): void {
    if (!policies.includes('root')) return
    if (policies.length !== 1 || namespace !== ROOT_ID) throw fail('permission_denied', [])
    if (!this.#secondary.hasAll && entry.type === SYSTEM_TYPE) throw fail('only_on_primary', [''])
  }

  /** Puts the asserted caller on the exchange. One whose entity or namespace is gone or going is no caller. */
  async #assume(exchange: Exchange, caller: AssertedCaller, mounted: Mounted): Promise<void> {
    this.#requireCaller(caller, mounted)
    // No token and no entity of what a filter keeps from it is there.
    if (![caller.namespace, splitId(caller.entityId).namespaceId].every((id) => this.#hasNamespace(id))) return
    // It may be gone here already: its tokens are none then.
    if (this.#services.tokens.namespaceOf(caller) === undefined) return
    if (caller.entityId !== '') {
      const { entityId, groups } = caller
      const { identities } = this.#services
      const subject = await (groups.length === 0
        ? identities.subject(entityId)
        : identities.subjectInGroups(entityId, groups))
      if (subject === undefined || subject.disabled) return
      exchange.subject = subject
    }
    const entry = entryOf(caller, exchange)
    exchange.policies = await this.#services.rights.policiesOf(entry, exchange.subject)
    exchange.token = { id: '', entry }
  }

  async #refuse(exchange: Exchange, cause: unknown): Promise<never> {
    const refusal = refusalOf(cause, this.#services.primaryAddress()) ?? fail('internal', [])
    exchange.error = refusal.message
    if (refusal.code === 'internal')
      this.#log('error', 'A request of a secondary failed inside', {
        request: exchange.id,
        secondary: this.#secondary.name,
        endpoint: exchange.endpoint?.id ?? '',
        cause: describeCause(cause),
      })
    // A 5xx status tells nothing that needs a record: it is kept, as that no device took the request.
    await this.#recorded(exchange).catch((unrecorded: unknown) => {
      if (refusal.status < 500) throw unrecorded
    })
    // The mount or namespace that is in the way may be one that a filter keeps from the secondary: it is not named.
    throw refusal.code === 'path_in_use' && !this.#secondary.hasAll ? fail('path_in_use', [IN_USE]) : refusal
  }

  async #answered(exchange: Exchange): Promise<Answer> {
    const { answer } = exchange
    if (answer === undefined) throw new Error('A handled request has no answer')
    await this.#recorded(exchange)
    return plain(answer)
  }

  /** @throws Refusal if no audit device takes the second entry: the answer is withheld */
  async #recorded(exchange: Exchange): Promise<void> {
    try {
      await recordEnd(exchange, this.#services)
    } catch (cause) {
      this.#services.noteUnrecorded('response')
      this.#log('error', 'The answer to a secondary is withheld: it could not be recorded', {
        request: exchange.id,
        cause: describeCause(cause),
      })
      throw unrecordedRefusal(cause)
    }
  }
}

/** The mounts that a request is about, by their UUIDs, and by what rule the secondary had them. */
type Shared = { readonly rule: unknown; readonly mounts: readonly string[] }

const unrecordedRefusal = (cause: unknown): Refusal => fail('audit_response_failed', [], cause)

/** A login by which the caller proves itself: its handler may write data of a shared mount, and names a caller. */
const isLogin = ({ endpoint, mounted }: Exchange): boolean =>
  endpoint?.capability === 'none' && endpoint.givesToken === true && mounted?.entry.kind === 'auth'

/**
 * The names as the caller wrote them. The path is what policies and audit judge, so a name must mean what it has there.
 */
function givenNames({ endpoint, mounted, pathParameters }: Exchange, { givenNames: given }: HandedRequest) {
  if (given === undefined) return undefined
  const isSame = endpoint !== undefined && isSpellingOf(endpoint, mounted?.engine, given, pathParameters)
  if (!isSame) throw fail('permission_denied', [])
  return given
}

/** The request as a listener would have read it, without a token. */
function wireOf({ method, path, query, body, contentType, passed, remoteAddress }: HandedRequest): WireRequest {
  return {
    method: METHODS[method],
    rawPath: API_PREFIX + path,
    query,
    headers: {
      token: undefined,
      namespace: undefined,
      wrapTtl: undefined,
      contentType,
      ...(passed === undefined ? {} : { passed }),
    },
    body,
    remoteAddress,
  }
}

/** A token entry that says what the secondary asserted. It is never stored, and has no text. */
function entryOf(caller: AssertedCaller, { path, namespace }: Exchange): TokenEntry {
  const { entityId, displayName, metadata, policies, tokenType } = caller
  return {
    format: 1,
    type: tokenType,
    namespace: caller.namespace,
    accessor: '',
    policies,
    path: pathWithin(namespace, path),
    displayName,
    meta: metadata,
    parent: '',
    createdAtMs: 0,
    creationTtlSeconds: 0,
    explicitMaxTtlSeconds: 0,
    periodSeconds: 0,
    renewable: false,
    expiry: { never: true },
    lastRenewalAtMs: null,
    numUses: 0,
    entityId,
    boundCidrs: [],
    role: '',
    login: null,
  }
}

/** The answer as any channel carries it: long texts, which are a class of our own, are strings in it. */
const plain = (answer: Answer): Answer =>
  answer.data === undefined ? answer : { ...answer, data: withoutLongTexts(answer.data) as object }

function withoutLongTexts(value: unknown): unknown {
  if (value instanceof LongText) return value.toString()
  if (Array.isArray(value)) return value.map(withoutLongTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member)]))
}
