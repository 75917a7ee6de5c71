// Asks several ends the same question. An end that does not answer is counted: a busy one must not hold up the caller.

/** The answers that came, and how many ends gave none. */
export type Answers<A> = { readonly answers: readonly A[]; readonly silent: number }

/** Waits for all of them. Never rejects. Each of `asked` needs a deadline of its own. */
export async function askAll<A>(asked: readonly Promise<A>[]): Promise<Answers<A>> {
  const settled = await Promise.allSettled(asked)
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  return { answers, silent: settled.length - answers.length }
}
