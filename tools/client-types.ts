// Writes src/client/endpoints.ts, the types of the TypeScript client, from the tables of endpoints.
import type { Endpoint } from '../src/api/endpoint.ts'
import type { Field, Member } from '../src/api/fields.ts'
import { METHODS } from '../src/api/help.ts'
import { expandPattern } from '../src/api/pattern.ts'
import { AUTH_BLOCK } from '../src/api/request.ts'
import { OTHERS, type Shape, type Shapes } from '../src/api/shape.ts'
import type { EndpointTable } from './endpoint-tables.ts'

const WIDTH = 120
const INDENT = '  '

/** Returns the file. Its members have comments from the tables, which editors show. */
export function clientTypes(tables: readonly EndpointTable[]): string {
  const mounts = tables.flatMap(({ mountPath, type }) => (type === undefined ? [] : [`'${mountPath.slice(0, -1)}'`]))
  const rows = new Map<string, string[]>()
  for (const { mountPath, endpoints } of tables) {
    for (const endpoint of endpoints) for (const [key, lines] of rowsOf(mountPath, endpoint)) rows.set(key, lines)
  }
  const lines = [
    '// Written by tools/generate.ts from the tables of endpoints: change the definitions, not this file.',
    '/** Where engines are usually mounted that may be mounted elsewhere. */',
    ...union('export type Mount =', mounts, ''),
    '',
    '/** A duration: seconds, or text such as `90m`, `1h30m`, `2d`. */',
    'export type Duration = number | string',
    '',
    '/** A token that was made, renewed or logged in for. */',
    ...member('export type Auth =', shapesType(AUTH_BLOCK), ''),
    '',
    '/** Every endpoint by method and path: the fields it takes, those in the path among them, and what it answers. */',
    'export type Endpoints = {',
    ...[...rows.values()].flat(),
    '}',
    '',
  ]
  return lines.join('\n')
}

/** Returns an entry for each form of a path. Streams are not for this client. */
function rowsOf(mountPath: string, endpoint: Endpoint): [string, string[]][] {
  if (endpoint.givesStream === true || endpoint.takesStream === true) return []
  return expandPattern(endpoint.path).map((segments) => {
    const inPath = new Set(segments.flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
    const shown = segments.map((segment) => {
      if (segment.kind === 'literal') return segment.text
      return segment.kind === 'rest' ? `:${segment.name}...` : `:${segment.name}`
    })
    const key = `${METHODS[endpoint.operation]} ${mountPath}${shown.join('/')}`
    // A parameter that a form leaves out goes into the body, which only writes have.
    const left = endpoint.operation === 'update' ? [] : pathNames(endpoint).filter((name) => !inPath.has(name))
    const fields = Object.entries(endpoint.fields).filter(([name]) => !left.includes(name))
    return [
      key,
      [
        ...comment(`${endpoint.summary}.`, INDENT),
        `${INDENT}'${key}': {`,
        ...member('fields:', fieldsType(fields, inPath), INDENT.repeat(2)),
        ...member('result:', resultType(endpoint), INDENT.repeat(2)),
        `${INDENT}}`,
      ],
    ]
  })
}

/** Returns the parameters of the longest form of a path. */
function pathNames({ path }: Endpoint): string[] {
  return (expandPattern(path).at(-1) ?? []).flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name]))
}

/** A type: on one line, as alternatives, or as members on lines of their own. */
type Type = { readonly head: string } | { readonly options: readonly string[] } | Members
type Members = { readonly members: readonly TypeMember[]; readonly open?: string; readonly close?: string }
type TypeMember = { readonly name: string; readonly about: string | undefined; readonly type: Type }

const plain = (head: string): Type => ({ head })

function fieldsType(fields: readonly (readonly [string, Field])[], inPath: ReadonlySet<string>): Type {
  if (fields.length === 0) return plain('Record<never, never>')
  const members = fields.map(([name, field]) => fieldMember(name, field, inPath.has(name)))
  return { members }
}

function fieldMember(name: string, field: Member, inPath: boolean): TypeMember {
  const needed = inPath || field.required
  return { name: `${quoted(name)}${needed ? '' : '?'}`, about: field.description, type: fieldType(field, needed) }
}

function fieldType(field: Member, needed: boolean): Type {
  const or = needed ? '' : ' | undefined'
  const allowed = field.schema.enum
  if (Array.isArray(allowed)) {
    return { options: [...allowed.map((each) => `'${each}'`), ...(needed ? [] : ['undefined'])] }
  }
  const members = Object.entries(field.members ?? {}).map(([name, one]) => fieldMember(name, one, false))
  if (field.kind === 'object' && members.length === 0) return plain(`Readonly<Record<string, unknown>>${or}`)
  if (field.kind === 'object') return { members, close: or }
  if (field.kind === 'batch') return { members, open: 'readonly ', close: `[]${or}` }
  // A merge patch: null removes a name, or all of them.
  if (field.kind === 'map' && field.schema.nullable === true)
    return plain(`Readonly<Record<string, string | null>> | null${or}`)
  const kind = KINDS[field.kind]
  if (kind === undefined) throw new Error(`The kind of field ${field.kind} has no type`)
  return plain(kind + or)
}

/** Types of the client for the kinds of fields (src/api/fields.ts). */
const KINDS: Readonly<Record<string, string>> = {
  string: 'string',
  int: 'number',
  version: "number | 'latest'",
  number: 'number',
  bool: 'boolean',
  duration: 'Duration',
  'signed duration': 'Duration',
  bytes: 'string',
  strings: 'readonly string[]',
  map: 'Readonly<Record<string, string>>',
}

function resultType({ response, givesToken, mayBeEmpty }: Endpoint): Type {
  if (givesToken === true) return plain('Auth')
  if (response === undefined) return plain('undefined')
  // An answer that is wrapped unasked is that of `wrap_info`, whose token stands for the one in data.
  return around('', shapesType(response), mayBeEmpty === true ? ' | undefined' : '')
}

function shapesType(shapes: Shapes): Type {
  const members = Object.entries(shapes).map(([name, shape]): TypeMember => {
    // An index signature beside named members would have to fit them too.
    if (name === OTHERS) return { name: '[name: string]', about: shape.about, type: alone(shapes, shape) }
    return { name: `${quoted(name)}${shape.optional === true ? '?' : ''}`, about: shape.about, type: shapeType(shape) }
  })
  return { members }
}

function alone(shapes: Shapes, shape: Shape): Type {
  return Object.keys(shapes).length === 1 ? shapeType(shape) : plain('unknown')
}

function shapeType(shape: Shape): Type {
  const or = shape.nullable === true ? ' | null' : ''
  switch (shape.is) {
    case 'string':
      if (shape.oneOf === undefined) return plain(`string${or}`)
      return { options: [...shape.oneOf.map((each) => `'${each}'`), ...(shape.nullable === true ? ['null'] : [])] }
    case 'int':
    case 'number':
      return plain(`number${or}`)
    case 'bool':
      return plain(`boolean${or}`)
    case 'any':
      return plain('unknown')
    case 'list':
      return around('readonly ', shapeType(shape.of), `[]${or}`)
    case 'map':
      return around('Readonly<Record<string, ', shapeType(shape.of), `>>${or}`)
    case 'object':
      return around('', shapesType(shape.members), or)
  }
}

function around(open: string, type: Type, close: string): Type {
  if ('members' in type) return { ...type, open: open + (type.open ?? ''), close: (type.close ?? '') + close }
  const inner = 'options' in type ? type.options.join(' | ') : type.head
  const whole = inner.includes(' | ') && close.startsWith('[]') ? `(${inner})` : inner
  return plain(open + whole + close)
}

/** Formats a member, of which `head` stands before the type. */
function member(head: string, type: Type, indent: string): string[] {
  if ('head' in type) return [`${indent}${head} ${type.head}`]
  if ('options' in type) return union(`${indent}${head}`, type.options, indent)
  const inner = indent + INDENT
  return [
    `${indent}${head} ${type.open ?? ''}{`,
    ...type.members.flatMap((each) => [...comment(each.about, inner), ...member(`${each.name}:`, each.type, inner)]),
    `${indent}}${type.close ?? ''}`,
  ]
}

function union(head: string, options: readonly string[], indent: string): string[] {
  const line = `${head} ${options.join(' | ')}`
  return line.length <= WIDTH ? [line] : [head, ...options.map((each) => `${indent}${INDENT}| ${each}`)]
}

/** Formats a comment, on one line if it fits. */
function comment(text: string | undefined, indent: string): string[] {
  if (text === undefined || text === '') return []
  const line = `${indent}/** ${text} */`
  if (line.length <= WIDTH) return [line]
  const lines: string[] = []
  let last = `${indent} *`
  for (const word of text.split(' ')) {
    if (last.length + 1 + word.length > WIDTH) {
      lines.push(last)
      last = `${indent} *`
    }
    last += ` ${word}`
  }
  return [`${indent}/**`, ...lines, last, `${indent} */`]
}

/** Quotes a name unless it is an identifier. */
function quoted(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}
