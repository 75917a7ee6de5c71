// What the readers of HCL and of its JSON form make of a text.
export type HclScalar =
  | { readonly kind: 'string'; readonly value: string }
  /** A bigint only where a double cannot hold the integer. */
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'bool'; readonly value: boolean }
  /** JSON only. */
  | { readonly kind: 'null'; readonly value: null }
export type HclList = { readonly kind: 'list'; readonly elements: readonly HclValue[] }
export type HclObject = { readonly kind: 'object'; readonly items: readonly HclItem[] }
export type HclValue = HclScalar | HclList | HclObject

/** `key = value`, or `key "label" … { … }`. Line and column are those of the key and count from 1. */
export type HclItem = {
  readonly key: string
  readonly labels: readonly string[]
  readonly value: HclValue
  readonly line: number
  readonly column: number
}
