// Every endpoint that a server can have, for the pages about them and for the tests that call them all.
import type { Endpoint } from '../src/api/endpoint.ts'
import { CUBBYHOLE_ENDPOINTS } from '../src/auth/cubbyhole-endpoints.ts'
import { TOKEN_ENDPOINTS } from '../src/auth/token-endpoints.ts'
import { APPROLE } from '../src/engines/approle/approle.ts'
import { CLOUD } from '../src/engines/cloud/cloud.ts'
import { TRANSIT } from '../src/engines/transit/transit.ts'
import { USERPASS } from '../src/engines/userpass/userpass.ts'
import { IDENTITY_ENDPOINTS } from '../src/identity/endpoints.ts'
import { SYSTEM_ENDPOINTS } from '../src/system/endpoints.ts'
import type { Example } from './example.ts'
import { TRANSIT_EXAMPLES } from './transit-examples.ts'

/** One table, and the page about it. */
export type EndpointTable = {
  /** Of the page, in docs/api. */
  readonly file: string
  readonly title: string
  readonly about: string
  /** Where the table is, for those who want to change the page. */
  readonly source: string
  readonly mountPath: string
  /** Of the engine, where it has to be mounted first. */
  readonly type?: string
  readonly endpoints: readonly Endpoint[]
  /** One for each endpoint, where the page has any. */
  readonly examples?: readonly Example[]
}

/** A new engine is a row here. */
export const TABLES: readonly EndpointTable[] = [
  {
    file: 'system.md',
    title: 'The server: sys/',
    about: 'State, seal, mounts, policies, and what the API is.',
    source: 'src/system/endpoints.ts',
    mountPath: 'sys/',
    endpoints: SYSTEM_ENDPOINTS,
  },
  {
    file: 'token.md',
    title: 'Tokens: auth/token/',
    about: 'Makes, shows, prolongs and ends tokens.',
    source: 'src/auth/token-endpoints.ts',
    mountPath: 'auth/token/',
    endpoints: TOKEN_ENDPOINTS,
  },
  {
    file: 'identity.md',
    title: 'Identity: identity/',
    about: 'Who is behind tokens: entities, their aliases at login mounts, and groups.',
    source: 'src/identity/endpoints.ts',
    mountPath: 'identity/',
    endpoints: IDENTITY_ENDPOINTS,
  },
  {
    file: 'transit.md',
    title: 'Transit: named keys',
    about: `${TRANSIT.summary}. It is mounted at \`transit/\` here; elsewhere the paths begin with that mount.`,
    source: 'src/engines/transit/transit.ts',
    mountPath: 'transit/',
    type: TRANSIT.type,
    endpoints: TRANSIT.router.endpoints,
    examples: TRANSIT_EXAMPLES,
  },
  {
    file: 'cubbyhole.md',
    title: 'Cubbyholes: cubbyhole/',
    about: 'What a token keeps for itself: nobody else reaches it, and it goes with the token.',
    source: 'src/auth/cubbyhole-endpoints.ts',
    mountPath: 'cubbyhole/',
    endpoints: CUBBYHOLE_ENDPOINTS,
  },
  {
    file: 'userpass.md',
    title: 'Logins by name and password',
    about: `${USERPASS.summary}. It is mounted at \`auth/userpass/\` here; elsewhere the paths begin with that mount.`,
    source: 'src/engines/userpass/userpass.ts',
    mountPath: 'auth/userpass/',
    type: USERPASS.type,
    endpoints: USERPASS.router.endpoints,
  },
  {
    file: 'approle.md',
    title: 'Logins of machines by role and secret ids',
    about: `${APPROLE.summary}. It is mounted at \`auth/approle/\` here; elsewhere the paths begin with that mount.`,
    source: 'src/engines/approle/approle.ts',
    mountPath: 'auth/approle/',
    type: APPROLE.type,
    endpoints: APPROLE.router.endpoints,
  },
  {
    file: 'cloud.md',
    title: 'Logins of workloads by their cloud identity',
    about:
      `${CLOUD.summary}. It is mounted at \`auth/cloud/\` here; elsewhere the paths begin with that mount. ` +
      'The type has a second name, `azure`.',
    source: 'src/engines/cloud/cloud.ts',
    mountPath: 'auth/cloud/',
    type: CLOUD.type,
    endpoints: CLOUD.router.endpoints,
  },
]
