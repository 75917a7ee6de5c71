// All endpoints that a server can have, for the pages about them and for the tests that call them all.
import type { Endpoint } from '../src/api/endpoint.ts'
import type { MountKind } from '../src/api/mount.ts'
import { MOUNTABLE } from '../src/assembly/engine-types.ts'
import { CUBBYHOLE_ENDPOINTS } from '../src/auth/cubbyhole-endpoints.ts'
import { TOKEN_ENDPOINTS } from '../src/auth/token-endpoints.ts'
import { TRANSIT } from '../src/engines/transit/transit.ts'
import { IDENTITY_ENDPOINTS } from '../src/identity/endpoints.ts'
import { SYSTEM_ENDPOINTS } from '../src/system/endpoints.ts'
import type { Example } from './example.ts'
import { TRANSIT_EXAMPLES } from './transit-examples.ts'

/** A table of endpoints, and the page about it. */
export type EndpointTable = {
  /** File name of the page, in docs/api. */
  readonly file: string
  readonly title: string
  readonly about: string
  /** File of the table, for readers who want to change the page. */
  readonly source: string
  readonly mountPath: string
  /** Type of the engine, if it has to be mounted first. */
  readonly type?: string
  readonly endpoints: readonly Endpoint[]
  /** Examples, one for each endpoint, if the page has any. */
  readonly examples?: readonly Example[]
}

/** Examples by the type of the engine. */
const EXAMPLES: ReadonlyMap<string, readonly Example[]> = new Map([[TRANSIT.type, TRANSIT_EXAMPLES]])

const enginesOf = (kind: MountKind): readonly EndpointTable[] =>
  MOUNTABLE.filter((engine) => engine.kind === kind).map(({ type, summary, page, router }) => {
    const mountPath = kind === 'auth' ? `auth/${type}/` : `${type}/`
    const place = `It is mounted at \`${mountPath}\` here; elsewhere the paths begin with that mount.`
    return {
      file: `${type}.md`,
      title: page.title,
      about: [`${summary}.`, place, ...(page.note === undefined ? [] : [page.note])].join(' '),
      source: `src/engines/${type}/${type}.ts`,
      mountPath,
      type,
      endpoints: router.endpoints,
      ...(EXAMPLES.has(type) ? { examples: EXAMPLES.get(type) ?? [] } : {}),
    }
  })

/** Tables in the order of the index. Engines that can be mounted come from src/assembly/engine-types.ts. */
export const TABLES: readonly EndpointTable[] = [
  {
    file: 'system.md',
    title: 'The server: sys/',
    about: 'State, seal, mounts, policies, and the description of the API.',
    source: 'src/system/endpoints.ts',
    mountPath: 'sys/',
    endpoints: SYSTEM_ENDPOINTS,
  },
  {
    file: 'token.md',
    title: 'Tokens: auth/token/',
    about: 'Creates, shows, renews and revokes tokens.',
    source: 'src/auth/token-endpoints.ts',
    mountPath: 'auth/token/',
    endpoints: TOKEN_ENDPOINTS,
  },
  {
    file: 'identity.md',
    title: 'Identity: identity/',
    about: 'Entities behind tokens, their aliases at login mounts, and groups.',
    source: 'src/identity/endpoints.ts',
    mountPath: 'identity/',
    endpoints: IDENTITY_ENDPOINTS,
  },
  ...enginesOf('secret'),
  {
    file: 'cubbyhole.md',
    title: 'Cubbyholes: cubbyhole/',
    about: 'Private storage of one token: no other token reaches it, and it ends with the token.',
    source: 'src/auth/cubbyhole-endpoints.ts',
    mountPath: 'cubbyhole/',
    endpoints: CUBBYHOLE_ENDPOINTS,
  },
  ...enginesOf('auth'),
]
