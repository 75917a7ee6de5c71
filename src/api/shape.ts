// Shapes of answers: declared beside each endpoint, published in OpenAPI, and compared with answers by the tests.
import type { Schema } from './fields.ts'

/** The shape of one value. */
export type Shape =
  | {
      readonly is: 'int' | 'number' | 'bool' | 'any'
      readonly about: string
      readonly optional?: boolean
      readonly nullable?: boolean
    }
  | {
      readonly is: 'string'
      readonly about: string
      /** All that it can be; missing: any text. */
      readonly oneOf?: readonly string[]
      readonly optional?: boolean
      readonly nullable?: boolean
    }
  | {
      readonly is: 'list' | 'map'
      readonly of: Shape
      readonly about: string
      readonly optional?: boolean
      readonly nullable?: boolean
    }
  | {
      readonly is: 'object'
      readonly members: Shapes
      readonly about: string
      readonly optional?: boolean
      readonly nullable?: boolean
    }
/** The shapes of the members of an object, by name. */
export type Shapes = { readonly [name: string]: Shape }

/** Stands for all members that are not named, in objects whose names are data. */
export const OTHERS = '*'

/** A string; like the makers below it takes the description for the documentation. */
export const text = (about: string): Shape => ({ is: 'string', about })
/** One of a few texts. */
export const choice = (values: readonly string[], about: string): Shape => ({ is: 'string', about, oneOf: values })
/** An integer. */
export const integer = (about: string): Shape => ({ is: 'int', about })
/** Any finite number. */
export const number = (about: string): Shape => ({ is: 'number', about })
/** A boolean. */
export const flag = (about: string): Shape => ({ is: 'bool', about })
/** A value of any kind. */
export const anything = (about: string): Shape => ({ is: 'any', about })
/** A list of values of one shape. */
export const listOf = (of: Shape, about: string): Shape => ({ is: 'list', of, about })
/** An object whose names are data, and whose values have one shape. */
export const mapOf = (of: Shape, about: string): Shape => ({ is: 'map', of, about })
/** An object with named members. */
export const group = (members: Shapes, about: string): Shape => ({ is: 'object', members, about })
/** The shape for a member that may be missing. */
export const optional = (shape: Shape): Shape => ({ ...shape, optional: true })
/** The shape for a member that may be null. */
export const nullable = (shape: Shape): Shape => ({ ...shape, nullable: true })

/** The answer to a list of names. */
export const LISTED: Shapes = { keys: listOf(text('Name'), 'Names, sorted; a folder ends in /') }

/** The OpenAPI schema of a shape. */
export function shapeSchema(shape: Shape): Schema {
  const schema = plainSchema(shape)
  return shape.nullable === true ? { ...schema, nullable: true } : schema
}

function plainSchema(shape: Shape): Schema {
  const description = shape.about
  switch (shape.is) {
    case 'string':
      return { type: 'string', ...(shape.oneOf === undefined ? {} : { enum: shape.oneOf }), description }
    case 'int':
      return { type: 'integer', description }
    case 'number':
      return { type: 'number', description }
    case 'bool':
      return { type: 'boolean', description }
    case 'any':
      return { description }
    case 'list':
      return { type: 'array', items: shapeSchema(shape.of), description }
    case 'map':
      return { type: 'object', additionalProperties: shapeSchema(shape.of), description }
    case 'object':
      return { ...shapesSchema(shape.members), description }
  }
}

/** The OpenAPI schema of an object. */
export function shapesSchema(shapes: Shapes): Schema {
  const { [OTHERS]: others, ...members } = shapes
  const required = Object.entries(members).flatMap(([name, { optional }]) => (optional === true ? [] : [name]))
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, shapeSchema(shape)])),
    ...(others === undefined ? {} : { additionalProperties: shapeSchema(others) }),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** Lists where `value` departs from its declaration, for tests. An empty list means that it fits. */
export function misfits(shapes: Shapes, value: unknown, where = 'data'): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${where} is not an object`]
  const { [OTHERS]: others, ...members } = shapes
  const found: string[] = []
  for (const [name, shape] of Object.entries(members)) {
    const member = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    if (member === undefined) {
      if (shape.optional !== true) found.push(`${where}.${name} is missing`)
    } else found.push(...misfit(shape, member, `${where}.${name}`))
  }
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(members, name)) continue
    if (others === undefined) found.push(`${where}.${name} is not declared`)
    else found.push(...misfit(others, member, `${where}.${name}`))
  }
  return found
}

function misfit(shape: Shape, value: unknown, where: string): string[] {
  if (value === null && shape.nullable === true) return []
  const wrong = [`${where} is not of kind ${shape.is}`]
  switch (shape.is) {
    case 'any':
      return []
    case 'string':
      return typeof value === 'string' && (shape.oneOf?.includes(value) ?? true) ? [] : wrong
    case 'int':
      return Number.isInteger(value) ? [] : wrong
    case 'number':
      return Number.isFinite(value) ? [] : wrong
    case 'bool':
      return typeof value === 'boolean' ? [] : wrong
    case 'object':
      return misfits(shape.members, value, where)
    case 'list':
      return Array.isArray(value) ? value.flatMap((item, i) => misfit(shape.of, item, `${where}[${i}]`)) : wrong
    case 'map':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([name, item]) => misfit(shape.of, item, `${where}.${name}`))
        : wrong
  }
}
