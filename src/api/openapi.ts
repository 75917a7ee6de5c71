// The OpenAPI document, from the endpoint tables of the mounts.
import type { Endpoint } from './endpoint.ts'
import type { Field, Schema } from './fields.ts'
import { expandPattern, type Segment } from './pattern.ts'
import { shapesSchema } from './shape.ts'

type Table = { readonly mountPath: string; readonly endpoints: readonly Endpoint[] }

export function openApiDocument(version: string, tables: readonly Table[]): object {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { mountPath, endpoints } of tables) {
    for (const endpoint of endpoints)
      for (const segments of expandPattern(endpoint.path)) addPath(paths, mountPath, endpoint, segments)
  }
  return {
    openapi: '3.0.2',
    info: {
      title: 'Keywright',
      description: 'Key management over HTTP. All paths are below /v1.',
      version,
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    paths,
    components: {
      schemas: {
        Errors: {
          type: 'object',
          properties: { errors: { type: 'array', items: { type: 'string' } } },
          required: ['errors'],
        },
      },
      securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Vault-Token' } },
    },
  }
}

function addPath(
  paths: Record<string, Record<string, unknown>>,
  mountPath: string,
  endpoint: Endpoint,
  segments: readonly Segment[],
): void {
  const shown = segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${segment.name}}`)).join('/')
  const isList = endpoint.operation === 'list'
  const path = `/${mountPath}${shown}${isList ? '/' : ''}`
  const method = isList || endpoint.operation === 'read' ? 'get' : endpoint.operation === 'delete' ? 'delete' : 'post'
  paths[path] ??= {}
  const item = paths[path]
  const inPath = new Set(segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
  item[method] = operationObject(endpoint, inPath, isList)
}

function operationObject(endpoint: Endpoint, inPath: ReadonlySet<string>, isList: boolean): object {
  const fields = Object.entries(endpoint.fields)
  const outside = fields.filter(([name]) => !inPath.has(name))
  const parameters = fields.filter(([name]) => inPath.has(name)).map(([name, field]) => parameter(name, field, 'path'))
  if (endpoint.operation !== 'update')
    parameters.push(...outside.map(([name, field]) => parameter(name, field, 'query')))
  if (isList)
    parameters.push({
      name: 'list',
      in: 'query',
      required: true,
      description: 'Asks for a list',
      schema: { type: 'string', enum: ['true'] },
    })
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    ...(endpoint.describe === undefined ? {} : { description: endpoint.describe }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.operation === 'update' && outside.length > 0 ? { requestBody: requestBody(outside) } : {}),
    security: endpoint.capability === 'none' ? [] : [{ token: [] }],
    ...(endpoint.sudo === true ? { 'x-vault-sudo': true } : {}),
    responses: responses(endpoint),
  }
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

/** A default that is bytes has no place in a JSON document. */
function publicSchema(field: Field): Schema {
  return Buffer.isBuffer(field.default) ? { ...field.schema, default: field.default.toString('base64') } : field.schema
}

function requestBody(fields: readonly (readonly [string, Field])[]): object {
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [name, { ...publicSchema(field), description: field.description }]),
  )
  const schema = { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
  return { content: { 'application/json': { schema } } }
}

function responses(endpoint: Endpoint): object {
  const errors = {
    description: 'Refused',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Errors' } } },
  }
  if (endpoint.response === undefined) return { 204: { description: 'Done' }, default: errors }
  const data = shapesSchema(endpoint.response)
  const schema = endpoint.body === 'plain' ? data : { type: 'object', properties: { ...ENVELOPE, data } }
  return { 200: { description: 'Done', content: { 'application/json': { schema } } }, default: errors }
}

const ENVELOPE = {
  request_id: { type: 'string' },
  lease_id: { type: 'string' },
  renewable: { type: 'boolean' },
  lease_duration: { type: 'integer' },
  wrap_info: { type: 'object', nullable: true },
  warnings: { type: 'array', items: { type: 'string' }, nullable: true },
  auth: { type: 'object', nullable: true },
  mount_type: { type: 'string' },
}
