// The tree that the readers of HCL and of its JSON form build.

/** A value without parts. */
export type HclScalar =
  | { readonly kind: 'string'; readonly value: string }
  /** A bigint only where a double cannot hold the integer. */
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** Only in the JSON form. */
  | { readonly kind: 'null'; readonly value: null }
/** Values in the order of the text. */
export type HclList = { readonly kind: 'list'; readonly elements: readonly HclValue[] }
/** Items in the order of the text; a key may come more than once. */
export type HclObject = { readonly kind: 'object'; readonly items: readonly HclItem[] }
/** A value: after "=", in a list, or in braces. */
export type HclValue = HclScalar | HclList | HclObject

/** One item: `key = value`, or `key "label" … { … }`. Line and column are those of the key and count from 1. */
export type HclItem = {
  readonly key: string
  readonly labels: readonly string[]
  readonly value: HclValue
  readonly line: number
  readonly column: number
}
