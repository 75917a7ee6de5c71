// A mount of transit with one key in it: what was in an old mount at the path is not in the next.
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { type Call, ROOT, type Thing } from './call.ts'

type State = { readonly description: string; readonly hasKey: boolean } | null

const MOST_CALLS = 400

export function mountThing(name: string): Thing<State> {
  let calls = 0
  const simple = (
    what: string,
    step: Call<State>['step'],
    method: string,
    path: string,
    body?: object,
    shows = '',
  ): Call<State> => ({
    name: what,
    step,
    send: async (connection) => {
      const { status, data } = await connection.call(ROOT, method, path, body)
      return shows === '' || status !== 200 ? String(status) : `${status} ${data[shows]}`
    },
  })
  const mount = (description: string): Call<State> =>
    simple(
      `mount as ${description}`,
      (state) => (state ? [state, '400'] : [{ description, hasKey: false }, '204']),
      'POST',
      `sys/mounts/${name}`,
      { type: 'transit', description },
    )
  const unmount = (): Call<State> => simple('unmount', () => [null, '204'], 'DELETE', `sys/mounts/${name}`)
  const describe = (): Call<State> =>
    simple(
      'read the mount',
      (state) => [state, state ? `200 ${state.description}` : '400'],
      'GET',
      `sys/mounts/${name}`,
      undefined,
      'description',
    )
  const makeKey = (): Call<State> =>
    simple(
      'make the key',
      (state) => (state ? [{ ...state, hasKey: true }, '200'] : [state, '404']),
      'POST',
      `${name}/keys/k`,
    )
  const readKey = (): Call<State> =>
    simple('read the key', (state) => [state, state?.hasKey ? '200' : '404'], 'GET', `${name}/keys/k`)

  const next = (random: PseudoRandom): Call<State> => {
    calls++
    const chosen = random.int(100)
    if (chosen < 12) return mount(`number ${calls}`)
    if (chosen < 20) return unmount()
    if (chosen < 40) return describe()
    return chosen < 60 ? makeKey() : readKey()
  }

  return { name: `mount ${name}`, initial: null, setUp: async () => {}, next, isSpent: () => calls >= MOST_CALLS }
}
