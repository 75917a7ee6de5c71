// Things in the order in which they came, each of which can leave at any time.
//
// Not a Set where much comes and goes: its tables are made anew again and again, each old one knows the next, and the
// first one that lives long enough to be old keeps alive all that came after it, until everything is collected. With a
// request in each, every one of them is copied by the collector twice and dies old (docs/performance.md).

/** Where a thing stands; given back to let it leave. */
export type ListNode<T> = {
  readonly value: T
  /** Undefined for one that has left: it must not keep alive what came after it. */
  before: ListNode<T> | undefined
  after: ListNode<T> | undefined
}

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

  add(value: T): ListNode<T> {
    const place: ListNode<T> = { value, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = place
    else this.#last.after = place
    this.#last = place
    this.#size++
    return place
  }

  /** Nothing happens for one that has left already. */
  remove(place: ListNode<T>): void {
    const { before, after } = place
    if (before === undefined && this.#first !== place) return
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    place.before = undefined
    place.after = undefined
    this.#size--
  }

  /** The oldest first. What leaves meanwhile must not be the one that was just given. */
  *values(): Generator<T> {
    for (let place = this.#first; place !== undefined; place = place.after) yield place.value
  }
}
