// The endpoints that make, show and destroy the secret ids of a role.

import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { duration, int, string, strings } from '../../api/fields.ts'
import { LIST_OF_NAMES, PAGE_FIELDS, pageOf } from '../../api/named-things.ts'
import { DONE, type RequestInfo } from '../../api/request.ts'
import { integer, listOf, mapOf, text } from '../../api/shape.ts'
import { keptCidr } from '../../api/spelling.ts'
import { blocks } from '../../api/token-settings.ts'
import { areWithin } from '../../lib/cidr.ts'
import { isJsonObject, JsonError, parseJson } from '../../lib/json.ts'
import type { World } from '../../lib/world.ts'
import { MAX_SECRET_CHARACTERS, roleField } from './role-endpoints.ts'
import type { AppRoles } from './roles.ts'
import { type AppRole, SECRET_ID_MIN_CHARACTERS, type SecretName } from './roles.ts'
import { secretIdBody } from './secret-id.ts'

/** The part of the mount that these endpoints use. */
type Approle = { readonly roles: AppRoles; readonly world: Pick<World, 'random' | 'clock'> }

/** Characters of the metadata of one secret id. */
const MAX_METADATA_CHARACTERS = 8_192

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'approle-secret-id-list',
  path: 'role/:role_name/secret-id',
  summary: 'Lists the accessors of the secret ids of a role',
  fields: { ...roleField, ...PAGE_FIELDS },
  handler: async (approle: Approle, { role_name, ...page }) => ({
    data: { keys: pageOf(await approle.roles.accessors(role_name), page) },
  }),
})

const newSecretFields = {
  ...roleField,
  metadata: string('Metadata for the tokens: a string that holds a JSON object of string values', { default: '' }),
  cidr_list: strings('IP addresses or CIDR blocks that logins may come from, within those of the role', {
    canonical: keptCidr,
  }),
  token_bound_cidrs: strings('IP addresses or CIDR blocks that tokens may be used from, within those of the role', {
    canonical: keptCidr,
  }),
  num_uses: int('Number of logins allowed, at most secret_id_num_uses of the role; 0 or unset: as the role', {
    min: 0,
  }),
  ttl: duration('Lifetime, at most secret_id_ttl of the role; 0 or unset: as the role'),
}

const NEW_SECRET = {
  secret_id: text('Secret id; shown only once'),
  secret_id_accessor: text('Accessor, which identifies the secret id without granting access'),
  secret_id_ttl: integer('Lifetime in seconds; 0: it never expires'),
  secret_id_num_uses: integer('Number of logins allowed; 0: unlimited'),
}

type NewSecret = {
  readonly role_name: string
  readonly metadata: string
  readonly cidr_list: readonly string[] | undefined
  readonly token_bound_cidrs: readonly string[] | undefined
  readonly num_uses: number | undefined
  readonly ttl: number | undefined
}

/** Makes a secret id, or takes over a `given` one, within the bounds of its role. @throws Refusal naming the field. */
async function make(approle: Approle, args: NewSecret, given?: string) {
  const role = await approle.roles.find(args.role_name)
  if (role === undefined) throw fail('no_such_entry', [`role "${args.role_name}" does not exist`])
  if (!role.bindSecretId) throw fail('not_configured', ['bind_secret_id is not set on the role'])
  if (given !== undefined) requireLong(given, role)
  const { random, clock } = approle.world
  const nowMs = clock.nowMs()
  const secretId = given ?? random.uuid()
  const ttlSeconds = shorter(args.ttl, role.secretIdTtlSeconds)
  const numUses = shorter(args.num_uses, role.secretIdNumUses)
  const accessor = random.uuid()
  await approle.roles.addSecret(args.role_name, secretId, {
    accessor,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ttlSeconds,
    expiresAtMs: ttlSeconds === 0 ? null : nowMs + ttlSeconds * 1000,
    numUses,
    usesLeft: numUses,
    metadata: metadataOf(args.metadata),
    cidrs: blocksWithin('cidr_list', args.cidr_list, role.secretIdBoundCidrs),
    tokenBoundCidrs: blocksWithin('token_bound_cidrs', args.token_bound_cidrs, role.settings.boundCidrs),
  })
  const data = {
    secret_id: secretId,
    secret_id_accessor: accessor,
    secret_id_ttl: ttlSeconds,
    secret_id_num_uses: numUses,
  }
  return { data, credentialAccessor: accessor }
}

/**
 * Refuses a short secret id: a caller with the role id could guess it. Ones that are already stored stay valid.
 * @throws Refusal
 */
function requireLong(
  secretId: string,
  { customSecretIdMinCharacters: least = SECRET_ID_MIN_CHARACTERS }: AppRole,
): void {
  if ([...secretId].length >= least) return
  const why = `must have at least ${least} characters, as custom_secret_id_min_length of the role says`
  throw fail('field_invalid', ['secret_id', why])
}

/**
 * Returns the addresses of a new secret id. Its maker may narrow those of the role, but not widen them.
 * @throws Refusal naming the field.
 */
function blocksWithin(field: string, given: readonly string[] = [], ofRole: readonly string[]): readonly string[] {
  const asked = blocks(given, field)
  if (ofRole.length > 0 && !areWithin(asked, ofRole))
    throw fail('field_invalid', [field, 'must lie within the addresses of the role'])
  return asked
}

/** Returns the lower of two limits, of which 0 means none: a secret id never goes beyond its role. */
function shorter(asked: number | undefined, ofRole: number): number {
  if (asked === undefined) return ofRole
  if (ofRole === 0) return asked
  return asked === 0 ? ofRole : Math.min(asked, ofRole)
}

/** Parses the metadata, JSON in a text. @throws Refusal naming the field. */
function metadataOf(given: string): Readonly<Record<string, string>> {
  if (given === '') return {}
  const wrong = 'expected a JSON object of names and texts, as text'
  if (given.length > MAX_METADATA_CHARACTERS)
    throw fail('out_of_range', ['metadata', `must have at most ${MAX_METADATA_CHARACTERS} characters`])
  try {
    const value = parseJson(Buffer.from(given))
    if (!isJsonObject(value)) throw fail('field_invalid', ['metadata', wrong])
    const texts = Object.entries(value)
    if (texts.some(([, text]) => typeof text !== 'string')) throw fail('field_invalid', ['metadata', wrong])
    return Object.fromEntries(texts) as Record<string, string>
  } catch (cause) {
    if (cause instanceof JsonError) throw fail('field_invalid', ['metadata', wrong], cause)
    throw cause
  }
}

const generate = endpoint({
  id: 'approle-secret-id-generate',
  operation: 'update',
  path: 'role/:role_name/secret-id',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Generates a secret id',
  fields: newSecretFields,
  response: NEW_SECRET,
  handler: (approle: Approle, args) => make(approle, args),
})

const custom = endpoint({
  id: 'approle-secret-id-custom',
  operation: 'update',
  path: 'role/:role_name/custom-secret-id',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Registers a custom secret id',
  fields: {
    ...newSecretFields,
    secret_id: string('Custom secret id', { required: true, secret: true, max: MAX_SECRET_CHARACTERS }),
  },
  response: NEW_SECRET,
  handler: (approle: Approle, args) => {
    if (args.secret_id === '') throw fail('field_missing', ['secret_id'])
    return make(approle, args, args.secret_id)
  },
})

const FOUND = {
  secret_id_accessor: text('Accessor of the secret id'),
  creation_time: text('Creation time, RFC 3339'),
  last_updated_time: text('Time of the last update, RFC 3339'),
  expiration_time: text('Expiration time, RFC 3339; the year 1: never'),
  secret_id_ttl: integer('Lifetime in seconds; 0: it never expires'),
  secret_id_num_uses: integer('Number of logins left; 0: unlimited'),
  metadata: mapOf(text('Value'), 'Metadata for the tokens'),
  cidr_list: listOf(text('Address or CIDR block'), 'Where logins may come from; empty: as set for the role'),
  token_bound_cidrs: listOf(text('Address or CIDR block'), 'Where tokens may be used from; empty: as set for the role'),
}

/** A way to name a secret id in a path, by itself or by its accessor. */
type By = {
  readonly segment: 'secret-id' | 'secret-id-accessor'
  readonly field: 'secret_id' | 'secret_id_accessor'
  readonly nameOf: (text: string) => SecretName
}

const WAYS: readonly By[] = [
  { segment: 'secret-id', field: 'secret_id', nameOf: (secretId) => ({ secretId }) },
  { segment: 'secret-id-accessor', field: 'secret_id_accessor', nameOf: (accessor) => ({ accessor }) },
]

function endpointsBy({ segment, field, nameOf }: By): readonly Endpoint<Approle>[] {
  const what = field === 'secret_id' ? 'Secret id' : 'Accessor of the secret id'
  const fields = { ...roleField, [field]: string(what, { required: true, secret: field === 'secret_id' }) }
  const named = (args: object): SecretName => nameOf(String((args as Readonly<Record<string, unknown>>)[field]))
  const lookup = endpoint({
    id: `approle-${segment}-lookup`,
    operation: 'update',
    path: `role/:role_name/${segment}/lookup`,
    capability: 'update',
    runsOn: 'any-node',
    summary: 'Returns the properties of a secret id',
    fields,
    response: FOUND,
    mayBeEmpty: field === 'secret_id',
    handler: async (approle: Approle, args) => {
      const secret = await approle.roles.findSecret(args.role_name, named(args))
      if (secret !== undefined) return { data: secretIdBody(secret) }
      // The reference answers an unknown secret id without content, and an unknown accessor with 404. Clients tell the
      // two apart.
      if (field === 'secret_id') return DONE
      throw fail('not_found', [])
    },
  })
  const destroy = (operation: 'update' | 'delete') =>
    endpoint({
      id: `approle-${segment}-destroy-${operation}`,
      operation,
      path: `role/:role_name/${segment}/destroy`,
      capability: operation,
      runsOn: 'writer',
      writes: 'mount',
      summary: 'Destroys a secret id; succeeds even if it does not exist',
      fields,
      handler: async (approle: Approle, args: object, _request: RequestInfo) => {
        const { role_name } = args as { readonly role_name: string }
        await approle.roles.destroySecret(role_name, named(args))
        return DONE
      },
    })
  return [lookup, destroy('update'), destroy('delete')]
}

/** Every endpoint below `role/NAME/secret-id` and its accessors. */
export const SECRET_ID_ENDPOINTS: readonly Endpoint<Approle>[] = [list, generate, custom, ...WAYS.flatMap(endpointsBy)]
