// Makes the OpenAPI document from the endpoint tables of the mounts.
import type { Endpoint } from './endpoint.ts'
import type { Field, Schema } from './fields.ts'
import { expandPattern, type Segment } from './pattern.ts'
import { AUTH_BLOCK, WRAP_INFO } from './request.ts'
import { shapesSchema } from './shape.ts'

type Table = { readonly mountPath: string; readonly endpoints: readonly Endpoint[] }

/** Returns an OpenAPI 3.0 document. A path with optional parts appears once for each form. */
export function openApiDocument(version: string, tables: readonly Table[]): object {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { mountPath, endpoints } of tables) {
    for (const endpoint of endpoints) addEndpoint(paths, mountPath, endpoint)
  }
  return {
    openapi: '3.0.2',
    info: {
      title: 'Keywright',
      description: 'Key management over HTTP. All paths are below /v1. LIST is equivalent to GET with list=true.',
      version,
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    paths,
    components: {
      schemas: {
        Errors: ERRORS_SCHEMA,
        Envelope: ENVELOPE,
        Auth: shapesSchema(AUTH_BLOCK),
        WrapInfo: shapesSchema(WRAP_INFO),
      },
      responses: RESPONSES,
      securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Vault-Token' } },
    },
  }
}

function addEndpoint(paths: Record<string, Record<string, unknown>>, mountPath: string, endpoint: Endpoint): void {
  const { operation } = endpoint
  // A document has one operation of a method at a path: SCAN would be a second GET, beside the list.
  if (operation === 'scan') return
  const forms = expandPattern(endpoint.path)
  const always = parameterNames(forms[0] ?? [])
  for (const segments of forms) {
    const inPath = parameterNames(segments)
    const more = [...inPath].filter((name) => !always.has(name))
    const id = [operationId(mountPath, endpoint.id), ...more].join('-')
    const path = `/${mountPath}${segments.map(shown).join('/')}${operation === 'list' ? '/' : ''}`
    paths[path] = { ...paths[path], [METHODS[operation]]: operationObject(id, endpoint, inPath) }
  }
}

const METHODS = { read: 'get', list: 'get', update: 'post', patch: 'patch', delete: 'delete' } as const

const shown = (segment: Segment): string => (segment.kind === 'literal' ? segment.text : `{${segment.name}}`)

function parameterNames(segments: readonly Segment[]): ReadonlySet<string> {
  return new Set(segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
}

/** Mounts that exist exactly once. */
const SINGLE_MOUNTS = ['sys/', 'auth/token/']

/**
 * Operation id: the id of the endpoint. Unless the mount is at its usual path, that path precedes it, since a type may
 * be mounted several times.
 */
function operationId(mountPath: string, id: string): string {
  const usual = SINGLE_MOUNTS.includes(mountPath) || id.startsWith(`${mountPath.slice(0, -1)}-`)
  return usual ? id : mountPath + id
}

function operationObject(id: string, endpoint: Endpoint, inPath: ReadonlySet<string>): object {
  const outside = Object.entries(endpoint.fields).filter(([name]) => !inPath.has(name))
  const parameters = parametersOf(endpoint, inPath)
  return {
    operationId: id,
    summary: endpoint.summary,
    ...(endpoint.describe === undefined ? {} : { description: endpoint.describe }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(endpoint, outside),
    security: endpoint.capability === 'none' ? [] : [{ token: [] }],
    ...(endpoint.sudo === true ? { 'x-vault-sudo': true } : {}),
    responses: responses(endpoint),
  }
}

/** Parameters in the path; an endpoint that is not a write also has its other fields in the query. */
function parametersOf({ operation, fields, takesStream }: Endpoint, inPath: ReadonlySet<string>): object[] {
  const all = Object.entries(fields)
  const parameters = all.filter(([name]) => inPath.has(name)).map(([name, field]) => parameter(name, field, 'path'))
  if ((operation === 'update' || operation === 'patch') && takesStream !== true) return parameters
  const query = all.filter(([name]) => !inPath.has(name)).map(([name, field]) => parameter(name, field, 'query'))
  return [...parameters, ...query, ...(operation === 'list' ? [LIST_PARAMETER] : [])]
}

const LIST_PARAMETER = {
  name: 'list',
  in: 'query',
  required: true,
  description: 'Requests a list',
  schema: { type: 'string', enum: ['true'] },
}

function parameter(name: string, field: Field, where: 'path' | 'query'): object {
  return {
    name,
    in: where,
    required: where === 'path' || field.required,
    description: field.description,
    schema: publicSchema(field),
  }
}

/** A default of bytes is shown in base64. */
function publicSchema(field: Field): Schema {
  return Buffer.isBuffer(field.default) ? { ...field.schema, default: field.default.toString('base64') } : field.schema
}

/** The body of a write. A body of bytes leaves the fields to the query. */
function bodyOf({ operation, takesStream }: Endpoint, fields: Parameters<typeof requestBody>[0]): object {
  if (takesStream === true) return { requestBody: { required: true, ...BYTES } }
  return (operation === 'update' || operation === 'patch') && fields.length > 0
    ? { requestBody: requestBody(fields) }
    : {}
}

function requestBody(fields: readonly (readonly [string, Field])[]): object {
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [name, { ...publicSchema(field), description: field.description }]),
  )
  const schema = { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
  return { ...(required.length === 0 ? {} : { required: true }), ...json(schema) }
}

const json = (schema: Schema): object => ({ content: { 'application/json': { schema } } })
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** Content of bodies of bytes. */
const BYTES = { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } }

/** Answers that many operations share. */
const RESPONSES = {
  Done: { description: 'Done' },
  Warned: { description: 'Done, with warnings', ...json(reference('Envelope')) },
  Refused: { description: 'Refused', ...json(reference('Errors')) },
}
const common = (name: keyof typeof RESPONSES): object => ({ $ref: `#/components/responses/${name}` })

function responses(endpoint: Endpoint): object {
  const refused = common('Refused')
  if (endpoint.givesStream === true) return { 200: { description: 'The bytes', ...BYTES }, default: refused }
  if (endpoint.response === undefined && endpoint.givesToken !== true) {
    return {
      200: common('Warned'),
      ...(endpoint.alwaysWarns === true ? {} : { 204: common('Done') }),
      default: refused,
    }
  }
  const empty = endpoint.mayBeEmpty === true ? { 204: common('Done') } : {}
  return { 200: { description: 'Done', ...json(answerSchema(endpoint)) }, ...empty, default: refused }
}

function answerSchema({ response, body, givesToken, wrappedWithout }: Endpoint): Schema {
  const data = response === undefined ? {} : shapesSchema(response)
  if (wrappedWithout !== undefined) {
    const either = { data, wrap_info: shapesSchema(WRAP_INFO) }
    const properties = Object.fromEntries(
      Object.entries(either).map(([name, one]) => [name, { ...one, nullable: true }]),
    )
    return { allOf: [reference('Envelope'), { type: 'object', properties }] }
  }
  if (body === 'plain') return data
  const properties = {
    ...(response === undefined ? {} : { data }),
    ...(givesToken === true ? { auth: reference('Auth') } : {}),
  }
  return { allOf: [reference('Envelope'), { type: 'object', properties, required: Object.keys(properties) }] }
}

const ERRORS_SCHEMA: Schema = {
  type: 'object',
  properties: { errors: { type: 'array', items: { type: 'string' } } },
  required: ['errors'],
}

const ENVELOPE_MEMBERS = {
  request_id: { type: 'string' },
  lease_id: { type: 'string' },
  renewable: { type: 'boolean' },
  lease_duration: { type: 'integer' },
  data: { type: 'object', nullable: true },
  wrap_info: { type: 'object', nullable: true },
  warnings: { type: 'array', items: { type: 'string' }, nullable: true },
  auth: { type: 'object', nullable: true },
  mount_type: { type: 'string' },
}
const ENVELOPE: Schema = {
  type: 'object',
  properties: ENVELOPE_MEMBERS,
  required: Object.keys(ENVELOPE_MEMBERS),
}
