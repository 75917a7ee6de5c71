// The endpoints of the identity mount, in one list.
import type { Endpoint } from '../api/endpoint.ts'
import { ALIAS_ENDPOINTS, GROUP_ALIAS_ENDPOINTS } from './alias-endpoints.ts'
import { ENTITY_ENDPOINTS } from './entity-endpoints.ts'
import { GROUP_ENDPOINTS } from './group-endpoints.ts'
import { LOOKUP_ENDPOINTS } from './lookup-endpoints.ts'
import { PLUGIN_IDENTITY_ENDPOINTS } from './plugin-identity-endpoints.ts'

/** All endpoints under identity/; a file of endpoints that is not listed here is not served. */
export const IDENTITY_ENDPOINTS: readonly Endpoint[] = [
  ...ENTITY_ENDPOINTS,
  ...ALIAS_ENDPOINTS,
  ...GROUP_ENDPOINTS,
  ...GROUP_ALIAS_ENDPOINTS,
  ...LOOKUP_ENDPOINTS,
  ...PLUGIN_IDENTITY_ENDPOINTS,
]
