// Puts the rooms together over one store: the same in the thread that writes and in those that serve.

import { DEFAULT_EDITION } from '../api/edition.ts'
import { newLoginTurns } from '../api/login-turns.ts'
import type { MountEntry } from '../api/mount.ts'
import { ACTIVE_PRIMARY } from '../api/node-role.ts'
import { openApiDocument } from '../api/openapi.ts'
import type { ByteStream } from '../api/request.ts'
import { Audit } from '../audit/audit.ts'
import type { AuditSettings } from '../audit/device-changes.ts'
import { type BoardMemory, newBoardMemory } from '../audit/stream-board.ts'
import { DEFAULT_KEPT_LIMITS, type KeptLimits } from '../auth/kept-values.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import { Core } from '../core/core.ts'
import type { AskWriter } from '../core/engine-context.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { newMountEntry } from '../core/mount-entries.ts'
import { MountTable } from '../core/mount-table.ts'
import { Upkeep } from '../core/upkeep.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { Surroundings } from '../engines/cloud/settings.ts'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { type Log, namedLog } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import { TurnEnd } from '../lib/turn-end.ts'
import type { World } from '../lib/world.ts'
import { type Devices, NO_DEVICES } from '../managed-keys/device-link.ts'
import { ManagedKeyService } from '../managed-keys/managed-key-service.ts'
import { ManagedKeyStore } from '../managed-keys/managed-key-store.ts'
import { QuotaStore } from '../quotas/quota-store.ts'
import { RateLimiter } from '../quotas/rate-limiter.ts'
import { Barrier } from '../storage/barrier.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import { Invalidation } from '../storage/invalidation.ts'
import type { Keyring } from '../storage/keyring.ts'
import { bucketKeyOf } from '../storage/log/tree.ts'
import { SealedStorage } from '../storage/sealed-storage.ts'
import { writeSnapshot } from '../storage/snapshot/snapshot-stream.ts'
import type { SealStatus } from '../system/seal/seal.ts'
import { buildServices, type SystemServices } from '../system/services.ts'
import { type SealOperations, type ServerFacts, System } from '../system/system.ts'
import { uiHeaderTexts } from '../system/ui-headers.ts'
import { CELL } from '../telemetry/cells.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type Accounts, buildAccounts, tieAccounts } from './accounts.ts'
import { cloudPlace } from './cloud-place.ts'
import { engineTypes, needsSudo, SYSTEM_ROUTER } from './engine-types.ts'
import { hostInfo } from './host-facts.ts'
import { aloneTelemetry, type HouseTelemetry } from './house-telemetry.ts'
import { answerKept, KEPT, keptElsewhere } from './kept-elsewhere.ts'
import { streamedRequests } from './streamed-requests.ts'
import { askOrRefuse, forwardOrRefuse } from './writer-refusals.ts'

export type HouseParts = {
  readonly store: Store | ReadStore
  readonly world: World
  readonly slow: SlowWork
  /** Missing: the configuration has none. */
  readonly devices?: Devices
  readonly log: Log
  /** Of the data; missing: they are in memory. */
  readonly directory?: string
  readonly facts: ServerFacts
  readonly tokenLimits: TokenLimits & { readonly kept?: KeptLimits }
  /** Of the thread; missing: one of its own. */
  readonly turnEnd?: TurnEnd
  /** Missing: that of a server with one thread. */
  readonly telemetry?: HouseTelemetry
  /** Of logins by cloud identity; missing: the vendor's clouds, and nothing of the environment. */
  readonly cloud?: Surroundings
  readonly sealStatus: () => SealStatus
  /** Only where this thread writes. */
  readonly sealOperations?: () => SealOperations
  /** Only where it does not. */
  readonly forward?: (request: WireRequest) => Promise<WireResponse>
  /** The same for what engines ask. */
  readonly askWriter?: AskWriter
  /** Brings the caches up to what another thread committed; undefined: nothing to do. */
  readonly audit?: AuditPlace
  readonly catchUp?: (invalidation: Invalidation) => Promise<void> | undefined
}

/** What the configuration says of audit, and what the threads of one process share. */
export type AuditPlace = {
  readonly settings?: AuditSettings
  readonly board?: BoardMemory
  readonly thread?: string
}

export type House = Accounts & {
  readonly core: Core
  readonly services: SystemServices
  readonly audit: Audit
  readonly storage: SealedStorage
  readonly mounts: MountTable
  /** Started only where writes are made. */
  readonly upkeep: Upkeep
  readonly invalidation: Invalidation
  /** Whether the body of such a request is not to be collected. */
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** What this thread, which writes, answers to those that do not: of a mount by its UUID, or of values to keep. */
  readonly answer: AskWriter
  /** Names in lower case of the request headers that are recorded. */
  readonly auditedHeaders: () => readonly string[]
  /** After unseal: from here on requests are served. While open: takes over a keyring with a new term. */
  open(keyring: Keyring): Promise<void>
  /** Before seal: every key and every cached value is released. */
  close(): void
}

const LEAF_KEY = 'root/core/leaf-key'

export function buildHouse(parts: HouseParts): House {
  const { store, world, slow, log, facts, sealStatus, tokenLimits } = parts
  const invalidation = new Invalidation()
  const barrier = new Barrier(world.random)
  const storage = new SealedStorage(store, barrier)
  const table = () => mounts
  const { apiAddress } = facts
  const { telemetry, limits } = parts.telemetry ?? aloneTelemetry(world)
  const given = { storage, invalidation, world, log: namedLog(log, 'auth'), slow, apiAddress }
  const questions = parts.askWriter && askOrRefuse(parts.askWriter)
  const elsewhere = questions && keptElsewhere(questions)
  const accounts = buildAccounts({ ...given, limits: tokenLimits, mounts: table, keptElsewhere: elsewhere })
  const { tokens } = accounts
  const quotas = new QuotaStore(storage, invalidation)
  const saveSnapshot = snapshotSaver(parts, barrier)
  const audit = buildAudit(parts, storage, invalidation)
  const managedKeys = new ManagedKeyService({
    store: new ManagedKeyStore(storage, invalidation),
    devices: parts.devices ?? NO_DEVICES,
    edition: facts.edition ?? DEFAULT_EDITION,
  })
  const services = servicesOf(parts, { storage, invalidation, accounts, telemetry, managedKeys, mounts: table })
  const own = {
    services,
    world,
    log,
    slow,
    facts,
    tokenLimits,
    sealStatus,
    saveSnapshot,
    needsSudo,
    quotas,
    telemetry,
    audit,
  }
  const system = new System({ ...accounts, ...own })
  const place = { log, longestTtlSeconds: tokenLimits.maxTtlSeconds, identityTokens: accounts.pluginIdentity }
  const types = engineTypes(system, accounts, cloudPlace(place, parts.cloud))
  const systemEntry = newMountEntry(world, { path: 'sys/', type: 'system', kind: 'secret', description: '' })
  const always = { entry: systemEntry, router: SYSTEM_ROUTER, engine: system }
  const engineParts = {
    world,
    slow,
    edition: system.edition,
    role: () => ACTIVE_PRIMARY,
    log: namedLog(log, 'core'),
    managedKeysOf: (mount: () => MountEntry) => managedKeys.forMount(mount),
    deviceRandom: managedKeys,
    loginTurns: newLoginTurns(),
    askWriter: questions,
  }
  const mounts = new MountTable(types, always, storage, engineParts, invalidation)
  tieAccounts(accounts, mounts)
  mounts.onUnmount(({ uuid }) => services.reloads.forget(uuid))
  mounts.onUnmount(({ uuid }) => quotas.removeMount(uuid))
  const routers = new Map(types.map((type) => [type.type, type.router]))
  system.tie(mounts, parts.sealOperations, () => {
    const tables = mounts
      .list()
      .map(({ path, type }) => ({ mountPath: path, endpoints: routers.get(type)?.endpoints ?? [] }))
    return openApiDocument(facts.reportedVersion, tables)
  })
  // Open only when tokens and mounts are loaded too: until then a request is told that the server is sealed.
  let open = false
  const around = {
    ...accounts,
    mounts,
    browsers: {
      cors: () => services.cors.current(),
      uiHeaders: () => uiHeaders(services),
    },
    quotas,
    limiter: new RateLimiter(limits, world.clock, () => telemetry.count(CELL.quotaEvictions)),
    noteRateLimited: () => telemetry.count(CELL.rateLimited),
    noteUnrecorded: (what: 'request' | 'response') =>
      telemetry.count(what === 'request' ? CELL.auditRequestFailures : CELL.auditResponseFailures),
    audit,
    sealed: () => !open,
    initialized: () => sealStatus().initialized,
    permissionHints: facts.permissionHints ?? true,
    mostFreeBytes: (tokenLimits.kept ?? DEFAULT_KEPT_LIMITS).entryBytes,
    forward: parts.forward === undefined ? undefined : forwardOrRefuse(parts.forward),
  }
  return {
    ...accounts,
    audit,
    core: new Core(around, telemetry.watch, namedLog(log, 'core'), () => parts.catchUp?.(invalidation)),
    services,
    storage,
    mounts,
    upkeep: new Upkeep(() => mounts.mounted(), world, namedLog(log, 'core')),
    invalidation,
    takesStream: streamedRequests(types, mounts),
    answer: (mount, question) => (mount === KEPT ? answerKept(accounts, question) : mounts.answer(mount, question)),
    auditedHeaders: () => audit.headerNames,
    open: async (keyring) => {
      barrier.setKeyring(keyring)
      if (open) return
      try {
        await tokens.open()
        await mounts.refresh()
        await audit.open()
        open = true
      } catch (cause) {
        audit.close()
        barrier.setKeyring(undefined)
        throw cause
      }
    },
    close: () => {
      const wasOpen = open
      open = false
      audit.close()
      barrier.setKeyring(undefined)
      tokens.close()
      invalidation.reset()
      mounts.close()
      if (wasOpen) collectGarbage()
    },
  }
}

/** What the endpoints under sys/ ask of the rooms above theirs. */
function servicesOf(
  { world, directory }: HouseParts,
  rooms: {
    readonly storage: SealedStorage
    readonly invalidation: Invalidation
    readonly accounts: Accounts
    readonly telemetry: Telemetry
    readonly managedKeys: ManagedKeyService
    readonly mounts: () => MountTable
  },
): SystemServices {
  return buildServices(rooms.storage, rooms.invalidation, {
    world,
    managedKeys: rooms.managedKeys,
    surveyed: {
      entityCount: () => rooms.accounts.identities.countEntities(),
      requests: () => rooms.telemetry.requestsTaken(),
      hostInfo: () => hostInfo(world.clock, directory),
    },
    resetMount: (uuid) => rooms.mounts().resetEngine(uuid),
    isLocalMount: (uuid) => rooms.mounts().isLocal(uuid),
  })
}

function uiHeaders({ uiHeaders: setting }: SystemServices): Record<string, string> | Promise<Record<string, string>> {
  const found = setting.current()
  return found instanceof Promise ? found.then(uiHeaderTexts) : uiHeaderTexts(found)
}
function buildAudit(parts: HouseParts, storage: SealedStorage, invalidation: Invalidation): Audit {
  const { settings = NO_AUDIT_SETTINGS, board = newBoardMemory(), thread = 'all' } = parts.audit ?? {}
  const { store, world, turnEnd = new TurnEnd() } = parts
  const log = namedLog(parts.log, 'audit')
  const history = async (): Promise<string> => {
    const snapshot = await store.snapshot()
    await snapshot.close()
    return snapshot.position.historyId.toString('hex')
  }
  const placed = { dataDirectory: parts.directory, ...settings }
  return new Audit({ storage, invalidation, world, log, settings: placed, board, thread, turnEnd, history })
}

const NO_AUDIT_SETTINGS: AuditSettings = { declared: [], allowsApi: true }

/** The store as it is at the call, as a stream. */
function snapshotSaver({ store, world, sealStatus }: HouseParts, barrier: Barrier): () => Promise<ByteStream> {
  return async () => {
    const leafKey = barrier.open(LEAF_KEY, (await store.get(LEAF_KEY)) ?? Buffer.alloc(0))
    const bucketKey = bucketKeyOf(importSecret(leafKey))
    leafKey.fill(0)
    const clusterId = sealStatus().cluster?.id ?? ''
    const open = () => store.snapshot()
    return ReadableStream.from(writeSnapshot({ open, barrier, bucketKey, clusterId, nowMs: world.clock.nowMs() }))
  }
}
