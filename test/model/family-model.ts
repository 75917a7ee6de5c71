// A token, those that it makes, and those that they make: one that is revoked takes all below it along.
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { type Call, ROOT, type Thing } from './call.ts'
import { NEXT } from './linearizability.ts'

type Token = {
  /** Number of the one that it falls with; null: of none in the family. */
  readonly parent: number | null
  /** Requests that are left; null: any number. */
  readonly uses: number | null
}
/** The tokens that are alive. */
type State = Readonly<Record<string, Token>>

const MOST_TOKENS = 12
const MOST_CALLS = 120

function without(state: State, gone: number): State {
  let left = Object.fromEntries(Object.entries(state).filter(([number]) => number !== String(gone)))
  for (const [number, { parent }] of Object.entries(left)) {
    if (parent === gone) left = { ...without(left, Number(number)) }
  }
  return left
}

/** The family after a request of the token, and whether it was let in. */
function admitted(state: State, number: number): readonly [State, boolean] {
  const token = state[number]
  if (token === undefined) return [state, false]
  if (token.uses === null) return [state, true]
  if (token.uses === 1) return [without(state, number), true]
  return [{ ...state, [number]: { ...token, uses: token.uses - 1 } }, true]
}

export function familyThing(name: string): Thing<State> {
  const textOf = (number: number): string => `${name}-${number}`
  let made = 1
  let calls = 0

  const child = (parent: number, orphan: boolean, uses: number | null): Call<State> => {
    const number = made++
    const body = { id: textOf(number), policies: ['root'], no_parent: orphan, num_uses: uses ?? 0 }
    return {
      name: `${parent} makes ${number}${orphan ? ', an orphan' : ''}${uses === null ? '' : `, ${uses} uses`}`,
      step: (state) => {
        const isLimited = state[parent]?.uses !== null
        const [left, isIn] = admitted(state, parent)
        if (!isIn) return [left, '403']
        return isLimited ? [left, '400'] : [left, NEXT]
      },
      afterwards: (state) => {
        if (!orphan && state[parent] === undefined) return [state, '403']
        return [{ ...state, [number]: { parent: orphan ? null : parent, uses } }, '200']
      },
      send: async (connection) =>
        String((await connection.call(textOf(parent), 'POST', 'auth/token/create', body)).status),
    }
  }
  const use = (number: number): Call<State> => ({
    name: `${number} looks itself up`,
    step: (state) => {
      const [left, isIn] = admitted(state, number)
      return [left, isIn ? '200' : '403']
    },
    send: async (connection) => String((await connection.call(textOf(number), 'GET', 'auth/token/lookup-self')).status),
  })
  const revoke = (number: number): Call<State> => ({
    name: `${number} is revoked`,
    step: (state) => [without(state, number), state[number] === undefined ? undefined : '204'],
    send: async (connection) => {
      const body = { token: textOf(number) }
      return String((await connection.call(ROOT, 'POST', 'auth/token/revoke', body)).status)
    },
  })
  const revokeSelf = (number: number): Call<State> => ({
    name: `${number} revokes itself`,
    step: (state) => {
      const [left, isIn] = admitted(state, number)
      return isIn ? [left, NEXT] : [left, '403']
    },
    // Another may have been faster.
    afterwards: (state) => [without(state, number), '204'],
    send: async (connection) =>
      String((await connection.call(textOf(number), 'POST', 'auth/token/revoke-self')).status),
  })

  const next = (random: PseudoRandom): Call<State> => {
    calls++
    const chosen = random.int(100)
    const number = random.int(made)
    if (chosen < 20 && made < MOST_TOKENS) {
      return child(number, random.chance(0.2), random.chance(0.3) ? 1 + random.int(4) : null)
    }
    if (chosen < 26) return revoke(1 + random.int(made))
    if (chosen < 29 && number > 0) return revokeSelf(number)
    return use(number)
  }

  return {
    name: `family ${name}`,
    initial: { 0: { parent: null, uses: null } },
    setUp: async (connection) => {
      const body = { id: textOf(0), policies: ['root'], no_parent: true }
      const { status } = await connection.call(ROOT, 'POST', 'auth/token/create', body)
      if (status !== 200) throw new Error(`the token ${textOf(0)} could not be made: ${status}`)
    },
    next,
    isSpent: () => calls >= MOST_CALLS,
  }
}
