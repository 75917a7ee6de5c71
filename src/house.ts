// Puts the rooms together over one store: the same in the thread that writes and in those that serve.
import { fail, Refusal } from './api/errors.ts'
import type { EngineType } from './api/mount.ts'
import { openApiDocument } from './api/openapi.ts'
import type { ByteStream } from './api/request.ts'
import { Router } from './api/router.ts'
import { Cubbyhole, wipeCubbyhole } from './auth/cubbyhole.ts'
import { CUBBYHOLE_ENDPOINTS } from './auth/cubbyhole-endpoints.ts'
import { Leases } from './auth/leases.ts'
import { LoginService } from './auth/login-service.ts'
import type { AclOperation } from './auth/permissions.ts'
import { PolicyStore } from './auth/policy-store.ts'
import { TOKEN_ENDPOINTS } from './auth/token-endpoints.ts'
import { TokenExpiry } from './auth/token-expiry.ts'
import { TokenRoles } from './auth/token-role.ts'
import type { TokenLimits } from './auth/token-rules.ts'
import { TokenService } from './auth/token-service.ts'
import { TokenStore } from './auth/token-store.ts'
import { TokenTidy } from './auth/token-tidy.ts'
import { Wrapping } from './auth/wrapping.ts'
import { Core } from './core/core.ts'
import type { WireRequest, WireResponse } from './core/exchange.ts'
import { newMountEntry } from './core/mount-entries.ts'
import { type EngineContext, MountTable } from './core/mount-table.ts'
import { canonicalPath } from './core/target.ts'
import { sha256 } from './crypto/digest.ts'
import { importSecret } from './crypto/secret-key.ts'
import { APPROLE } from './engines/approle/approle.ts'
import { TRANSIT } from './engines/transit/transit.ts'
import { USERPASS } from './engines/userpass/userpass.ts'
import { IDENTITY_ENDPOINTS } from './identity/endpoints.ts'
import { IdentityStore } from './identity/identity-store.ts'
import { collectGarbage } from './lib/collect-garbage.ts'
import type { Log } from './lib/log.ts'
import type { SlowWork } from './lib/slow-work.ts'
import type { World } from './lib/world.ts'
import { Barrier } from './storage/barrier.ts'
import type { ReadStore, Store } from './storage/contract.ts'
import { Invalidation } from './storage/invalidation.ts'
import type { Keyring } from './storage/keyring.ts'
import { SealedStorage } from './storage/sealed-storage.ts'
import { writeSnapshot } from './storage/snapshot-stream.ts'
import { bucketKeyOf } from './storage/tree.ts'
import { SYSTEM_ENDPOINTS } from './system/endpoints.ts'
import type { SealStatus } from './system/seal.ts'
import { type SealOperations, type ServerFacts, System } from './system/system.ts'

export type HouseParts = {
  readonly store: Store | ReadStore
  readonly world: World
  readonly slow: SlowWork
  readonly log: Log
  readonly facts: ServerFacts
  readonly tokenLimits: TokenLimits
  readonly sealStatus: () => SealStatus
  /** Only where this thread writes. */
  readonly sealOperations?: () => SealOperations
  /** Only where it does not. */
  readonly forward?: (request: WireRequest) => Promise<WireResponse>
  /** Brings the caches up to what another thread committed; undefined: nothing to do. */
  readonly catchUp?: (invalidation: Invalidation) => Promise<void> | undefined
}

export type House = {
  readonly core: Core
  readonly storage: SealedStorage
  readonly tokens: TokenStore
  readonly tokenService: TokenService
  readonly identities: IdentityStore
  readonly leases: Leases
  /** Started only where tokens may be written. */
  readonly expiry: TokenExpiry
  readonly mounts: MountTable
  readonly invalidation: Invalidation
  /** Whether the body of such a request is not to be collected. */
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** After unseal: from here on requests are served. While open: takes over a keyring with a new term. */
  open(keyring: Keyring): Promise<void>
  /** Before seal: every key and every cached value is released. */
  close(): void
}

const LEAF_KEY = 'root/core/leaf-key'
const SYSTEM_ROUTER = new Router(SYSTEM_ENDPOINTS)
const CUBBYHOLE_ROUTER = new Router(CUBBYHOLE_ENDPOINTS)
const TOKEN_ROUTER = new Router(TOKEN_ENDPOINTS)
const IDENTITY_ROUTER = new Router(IDENTITY_ENDPOINTS)

/** Engines that can be mounted; a new one is a folder under engines/ and a line here. */
const ENGINES: readonly EngineType<EngineContext>[] = [TRANSIT, USERPASS, APPROLE]

export function buildHouse(parts: HouseParts): House {
  const { store, world, log } = parts
  const invalidation = new Invalidation()
  const barrier = new Barrier(world.random)
  const storage = new SealedStorage(store, barrier)
  const policies = new PolicyStore(storage, world.clock, invalidation, log)
  const tokens = new TokenStore(storage, world, invalidation)
  const identities = new IdentityStore(storage, invalidation, {
    world,
    digest: (text) => sha256(Buffer.from(text)).toString('hex'),
    mountOf: (accessor) => mounts.list().find((entry) => entry.accessor === accessor),
  })
  const limits = parts.tokenLimits
  const expiry = new TokenExpiry(tokens, world, log)
  const tidy = new TokenTidy(tokens, world, log)
  const roles = new TokenRoles(storage)
  const tokenService = new TokenService({ tokens, roles, tidy, policies, identities, world, limits })
  const { renewal } = tokenService
  const leases = new Leases({ tokens, renewal, expiry, tidy, nowMs: () => world.clock.nowMs() })
  const isMounted = (uuid: string): boolean => mounts.loginMethod(uuid) !== undefined
  const logins = new LoginService({ tokens, identities, world, limits, isMounted })
  const cubbyhole = new Cubbyhole(tokens.view)
  tokens.addBelongings(wipeCubbyhole)
  const wrapping = new Wrapping({ tokens, cubbyhole, world })
  const saveSnapshot = async (): Promise<ByteStream> => {
    const leafKey = barrier.open(LEAF_KEY, (await store.get(LEAF_KEY)) ?? Buffer.alloc(0))
    const bucketKey = bucketKeyOf(importSecret(leafKey))
    leafKey.fill(0)
    const clusterId = parts.sealStatus().cluster?.id ?? ''
    const open = () => store.snapshot()
    return ReadableStream.from(writeSnapshot({ open, barrier, bucketKey, clusterId, nowMs: world.clock.nowMs() }))
  }
  const system = new System({
    world,
    slow: parts.slow,
    facts: parts.facts,
    tokens,
    identities,
    policies,
    wrapping,
    leases,
    tokenLimits: limits,
    sealStatus: parts.sealStatus,
    saveSnapshot,
    needsSudo,
  })
  const tokenEngine = Object.assign(tokenService, { changed: () => {}, reset: () => {} })
  const types: readonly EngineType<EngineContext>[] = [
    ...ENGINES,
    { type: 'system', kind: 'secret', summary: 'The server itself', router: SYSTEM_ROUTER, create: () => system },
    { type: 'token', kind: 'auth', summary: 'Tokens', router: TOKEN_ROUTER, create: () => tokenEngine },
    {
      type: 'cubbyhole',
      kind: 'secret',
      summary: 'What a token keeps for itself',
      router: CUBBYHOLE_ROUTER,
      create: () => cubbyhole,
    },
    {
      type: 'identity',
      kind: 'secret',
      summary: 'Who is behind tokens',
      router: IDENTITY_ROUTER,
      create: () => identities,
    },
  ]
  const systemEntry = newMountEntry(world, { path: 'sys/', type: 'system', kind: 'secret', description: '' })
  const mounts = new MountTable(
    types,
    { entry: systemEntry, router: SYSTEM_ROUTER, engine: system },
    storage,
    { world, slow: parts.slow },
    invalidation,
  )
  tokenService.tie(mounts)
  // Who was let in by a login method does not outlast it.
  mounts.onUnmount(async (entry) => {
    if (entry.kind !== 'auth') return
    await leases.revokeByMount(entry)
    await identities.removeMount(entry)
  })
  tokens.tie(isMounted)
  const routers = new Map(types.map((type) => [type.type, type.router]))
  system.tie(mounts, parts.sealOperations, () => {
    const tables = mounts
      .list()
      .map(({ path, type }) => ({ mountPath: path, endpoints: routers.get(type)?.endpoints ?? [] }))
    return openApiDocument(parts.facts.reportedVersion, tables)
  })
  // Open only when tokens and mounts are loaded too: until then a request is told that the server is sealed.
  let open = false
  const around = {
    mounts,
    tokens,
    policies,
    identities,
    logins,
    wrapping,
    sealed: () => !open,
    initialized: () => parts.sealStatus().initialized,
    permissionHints: parts.facts.permissionHints ?? true,
    forward: parts.forward === undefined ? undefined : translated(parts.forward),
  }
  const core = new Core(around, world, log, () => parts.catchUp?.(invalidation))
  const streamEnds = [...routers.values()].flatMap(({ endpoints }) =>
    endpoints.filter(({ takesStream }) => takesStream === true).map(({ path }) => path.slice(path.lastIndexOf('/'))),
  )
  return {
    core,
    storage,
    tokens,
    tokenService,
    identities,
    leases,
    expiry,
    mounts,
    invalidation,
    takesStream: (method, rawPath) => {
      if (method !== 'POST' && method !== 'PUT') return false
      // Nearly every request ends here, at the cost of a comparison.
      return streamEnds.some((end) => rawPath.endsWith(end)) && endpointTakesStream(mounts, rawPath)
    },
    open: async (keyring) => {
      barrier.setKeyring(keyring)
      if (open) return
      try {
        await tokens.open()
        await mounts.refresh()
        open = true
      } catch (cause) {
        barrier.setKeyring(undefined)
        throw cause
      }
    },
    close: () => {
      const wasOpen = open
      open = false
      barrier.setKeyring(undefined)
      tokens.close()
      invalidation.reset()
      mounts.close()
      if (wasOpen) collectGarbage()
    },
  }
}

/** Only of mounts that every server has: of others it would tell whether they are there. */
function needsSudo(path: string, operation: AclOperation): boolean {
  const method = operation === 'create' || operation === 'patch' ? 'update' : operation
  if (method !== 'read' && method !== 'list' && method !== 'update' && method !== 'delete') return false
  const [prefix, router] = path.startsWith('sys/') ? ['sys/', SYSTEM_ROUTER] : ['auth/token/', TOKEN_ROUTER]
  if (!path.startsWith(prefix)) return false
  const found = router.find(method, path.slice(prefix.length))
  return found.kind === 'found' && found.endpoint.sudo === true
}

function endpointTakesStream(mounts: MountTable, rawPath: string): boolean {
  try {
    const path = canonicalPath(rawPath)
    const mounted = path === undefined ? undefined : mounts.route(path)
    if (path === undefined || mounted === undefined) return false
    const found = mounted.router.find('update', path.slice(mounted.entry.path.length))
    return found.kind === 'found' && found.endpoint.takesStream === true
  } catch (cause) {
    // A path that is none: the pipeline says so.
    if (cause instanceof Refusal) return false
    throw cause
  }
}

/** Rooms do not know each other's errors: what the way to the writer throws is told to the caller as one refusal. */
function translated(forward: (request: WireRequest) => Promise<WireResponse>) {
  return async (request: WireRequest): Promise<WireResponse> => {
    try {
      return await forward(request)
    } catch (cause) {
      throw fail('writer_gone', [], cause)
    }
  }
}
