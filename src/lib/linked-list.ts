// Values in the order in which they were added, each of which can be removed at any time.
//
// Not a Set where values come and go often. A Set rebuilds its tables again and again, and each old table refers to the
// next one. The first table that lives long enough to be old keeps all later ones alive, until everything is collected.
// With a request in each, the collector copies every request twice and it dies old (docs/performance.md).

/** The handle of a value in the list; `remove` takes it. */
export type ListNode<T> = {
  readonly value: T
  /** Undefined after removal: a removed node must not keep alive what came after it. */
  before: ListNode<T> | undefined
  after: ListNode<T> | undefined
}

/** A doubly linked list; adding and removing take constant time. */
export class LinkedList<T> {
  #first: ListNode<T> | undefined
  #last: ListNode<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): ListNode<T> | undefined {
    return this.#first
  }

  /** Adds a value at the end. Returns the handle by which it is removed. */
  add(value: T): ListNode<T> {
    const node: ListNode<T> = { value, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = node
    else this.#last.after = node
    this.#last = node
    this.#size++
    return node
  }

  /** Does nothing for a node that was removed already. */
  remove(node: ListNode<T>): void {
    const { before, after } = node
    if (before === undefined && this.#first !== node) return
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    node.before = undefined
    node.after = undefined
    this.#size--
  }

  /** Yields the oldest first. Meanwhile any value may be removed except the one just yielded. */
  *values(): Generator<T> {
    for (let node = this.#first; node !== undefined; node = node.after) yield node.value
  }
}
