// sys/config/cors: which pages of other origins may call (src/api/cors.ts has what browsers are told).
import { CORS_HEADERS, CORS_OFF, type CorsSettings } from '../../api/cors.ts'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, strings } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { flag, listOf, optional, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that these endpoints use. */
type System = WithServices<'cors'>

const shared = { path: 'config/cors', sudo: true } as const
/** Each preflight compares its origin with all of them. */
const MAX_ORIGINS = 1_000
const MAX_ORIGIN_CHARACTERS = 512

const read = endpoint({
  id: 'cors-read',
  ...shared,
  operation: 'read',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  body: 'both',
  summary: 'Shows the CORS settings: which pages of other origins can call the API',
  fields: {},
  response: {
    enabled: flag('CORS is enabled'),
    allowed_origins: optional(listOf(text('Origin'), 'Allowed origins; * alone: all origins')),
    allowed_headers: optional(listOf(text('Header'), 'Request headers that pages can send')),
    allow_credentials: optional(flag('Pages can send credentials, such as cookies')),
  },
  handler: async (system: System) => {
    const { enabled, origins, headers, credentials } = await system.services.cors.current()
    if (!enabled) return { data: { enabled } }
    return {
      data: {
        enabled,
        allowed_origins: origins,
        allowed_headers: [...CORS_HEADERS, ...headers],
        allow_credentials: credentials,
      },
    }
  },
})

const write = endpoint({
  id: 'cors-write',
  ...shared,
  operation: 'update',
  capability: 'update',
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Replaces the CORS settings: pages of exactly these origins can call the API',
  fields: {
    enable: bool('Enables CORS; false disables it', { default: true }),
    allowed_origins: strings('Allowed origins, such as https://example.com; * alone allows all'),
    allowed_headers: strings('Request headers that pages can send in addition to those of the API'),
    allow_credentials: bool('Lets pages send credentials, such as cookies; not allowed with *', { default: false }),
  },
  handler: async (system: System, args) => {
    const settings = args.enable
      ? checked({
          enabled: true,
          origins: args.allowed_origins ?? [],
          headers: args.allowed_headers ?? [],
          credentials: args.allow_credentials,
        })
      : CORS_OFF
    await system.services.cors.change(() => settings)
    return DONE
  },
})

/** Returns the settings if all of them can be honoured. @throws Refusal naming the field */
function checked(settings: CorsSettings): CorsSettings {
  const { origins, headers, credentials } = settings
  const refuse = (field: string, why: string) => fail('field_invalid', [field, why])
  if (origins.length === 0) throw refuse('allowed_origins', 'must name at least one origin, or *')
  if (origins.length > MAX_ORIGINS) throw refuse('allowed_origins', `must have at most ${MAX_ORIGINS} items`)
  if (origins.includes('*') && origins.length > 1) throw refuse('allowed_origins', '* stands alone or not at all')
  const faulty = origins.findIndex((origin) => origin !== '*' && !isOrigin(origin))
  if (faulty !== -1)
    throw refuse('allowed_origins', `item ${faulty} must be as browsers send it, such as https://example.com:8443`)
  // Every page on the web could act as the user; browsers ignore the pair too (Fetch, "CORS protocol and credentials").
  if (origins.includes('*') && credentials) throw refuse('allow_credentials', 'must be false where every origin may')
  const bad = headers.findIndex((name) => !/^[A-Za-z0-9-]{1,128}$/.test(name))
  if (bad !== -1) throw refuse('allowed_headers', `item ${bad} must be the name of a header`)
  return settings
}

/** True for scheme and authority with nothing behind them. `null` is none: any file or sandbox has that origin. */
function isOrigin(text: string): boolean {
  return text.length <= MAX_ORIGIN_CHARACTERS && /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,*]+$/.test(text)
}

const remove = endpoint({
  id: 'cors-delete',
  ...shared,
  operation: 'delete',
  capability: 'delete',
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Disables CORS: pages of other origins can no longer call the API',
  fields: {},
  handler: async (system: System) => {
    await system.services.cors.remove()
    return DONE
  },
})

/** Read, write and remove. They need sudo: the setting opens the API to other people's pages. */
export const CORS_ENDPOINTS: readonly Endpoint<System>[] = [read, write, remove]
