// Every kind of mount: engines that can be mounted, and those that always are.

import type { Endpoint } from '../api/endpoint.ts'
import type { LoginRule } from '../api/login-method.ts'
import type { Engine, EngineType, MountableType } from '../api/mount.ts'
import { Router } from '../api/router.ts'
import type { Cubbyhole } from '../auth/cubbyhole.ts'
import { CUBBYHOLE_ENDPOINTS } from '../auth/cubbyhole-endpoints.ts'
import type { LoginService } from '../auth/login-service.ts'
import type { AclOperation } from '../auth/permissions.ts'
import { TOKEN_ENDPOINTS } from '../auth/token-endpoints.ts'
import type { TokenService } from '../auth/token-service.ts'
import type { EngineContext } from '../core/engine-context.ts'
import { APPROLE } from '../engines/approle/approle.ts'
import { AZURE, CLOUD, newCallGate } from '../engines/cloud/cloud.ts'
import { TRANSIT } from '../engines/transit/transit.ts'
import { USERPASS } from '../engines/userpass/userpass.ts'
import { IDENTITY_ENDPOINTS } from '../identity/endpoints.ts'
import type { IdentityStore } from '../identity/identity-store.ts'
import { SYSTEM_ENDPOINTS } from '../system/endpoints.ts'
import type { CloudDependencies } from './cloud-dependencies.ts'

/** The routes of sys/, which are served even while there is no mount table. */
export const SYSTEM_ROUTER = new Router(SYSTEM_ENDPOINTS)
const CUBBYHOLE_ROUTER = new Router(CUBBYHOLE_ENDPOINTS)
const TOKEN_ROUTER = new Router(TOKEN_ENDPOINTS)
const IDENTITY_ROUTER = new Router(IDENTITY_ENDPOINTS)

/** Engines that need no more than their context. Those of clouds also reach out, and are added below. */
const ENGINES: readonly MountableType<EngineContext>[] = [TRANSIT, USERPASS, APPROLE]

/** The engines that can be mounted, each with a page in docs/api. `azure` is not among them: it is CLOUD renamed. */
export const MOUNTABLE: readonly MountableType<never>[] = [...ENGINES, CLOUD]

/** The routes by the type of a mount. */
export const ROUTERS: ReadonlyMap<string, Router> = new Map([
  ...[...ENGINES, CLOUD, AZURE].map(({ type, router }) => [type, router] as const),
  ['system', SYSTEM_ROUTER],
  ['token', TOKEN_ROUTER],
  ['cubbyhole', CUBBYHOLE_ROUTER],
  ['identity', IDENTITY_ROUTER],
])

/** All endpoints, in an order that is the same in every thread: telemetry counts them by their position. */
export const ALL_ENDPOINTS: readonly Endpoint[] = [
  ...[SYSTEM_ROUTER, TOKEN_ROUTER, CUBBYHOLE_ROUTER, IDENTITY_ROUTER].flatMap(({ endpoints }) => endpoints),
  ...MOUNTABLE.flatMap(({ router }) => router.endpoints),
]

/** The services behind mounts that always exist. */
type AuthEngines = {
  readonly tokenService: TokenService
  readonly cubbyhole: Cubbyhole
  readonly identities: IdentityStore
  readonly logins: Pick<LoginService, 'rules'>
}

/** Returns all engine types. The singletons among them hand out the engine that is there already. */
export function engineTypes(
  system: Engine,
  { tokenService, cubbyhole, identities, logins }: AuthEngines,
  cloud: CloudDependencies,
): readonly EngineType<EngineContext>[] {
  const tokenEngine = Object.assign(tokenService, { changed: () => {}, reset: () => {} })
  return [
    ...ENGINES,
    ...cloudTypes(cloud, logins.rules),
    { type: 'system', kind: 'secret', summary: 'The server itself', router: SYSTEM_ROUTER, create: () => system },
    { type: 'token', kind: 'auth', summary: 'Tokens', router: TOKEN_ROUTER, create: () => tokenEngine },
    {
      type: 'cubbyhole',
      kind: 'secret',
      summary: 'Private storage of one token',
      router: CUBBYHOLE_ROUTER,
      create: () => cubbyhole,
    },
    {
      type: 'identity',
      kind: 'secret',
      summary: 'Entities behind tokens, and groups',
      router: IDENTITY_ROUTER,
      create: () => identities,
    },
  ]
}

/** The engines of clouds share one gate for calls to the outside. */
function cloudTypes(
  dependencies: CloudDependencies,
  loginRules: readonly LoginRule[],
): readonly EngineType<EngineContext>[] {
  const shared = { ...dependencies, loginRules, gate: newCallGate() }
  return [CLOUD, AZURE].map((type) => ({ ...type, create: (context) => type.create({ ...context, ...shared }) }))
}

/**
 * True if the endpoint at `path` requires sudo. Knows only mounts that every server has: an answer about others would
 * tell whether they exist.
 */
export function needsSudo(path: string, operation: AclOperation): boolean {
  const method = operation === 'create' || operation === 'patch' ? 'update' : operation
  if (method !== 'read' && method !== 'list' && method !== 'update' && method !== 'delete') return false
  const [prefix, router] = path.startsWith('sys/') ? ['sys/', SYSTEM_ROUTER] : ['auth/token/', TOKEN_ROUTER]
  if (!path.startsWith(prefix)) return false
  const found = router.find(method, path.slice(prefix.length))
  return found.kind === 'found' && found.endpoint.sudo === true
}
