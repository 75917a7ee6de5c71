// A policy, read as a text, and felt by a token that has no other.
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { type Call, ROOT, type Thing } from './call.ts'

/** The text as written last; null: there is none. */
type State = string | null

const MOST_CALLS = 400

export function policyThing(name: string): Thing<State> {
  const path = `sys/policies/acl/${name}`
  const token = `token-of-${name}`
  let calls = 0

  const write = (text: string): Call<State> => ({
    name: `write ${text}`,
    step: () => [text, '204'],
    send: async (connection) => String((await connection.call(ROOT, 'POST', path, { policy: text })).status),
  })
  const remove: Call<State> = {
    name: 'delete',
    step: () => [null, '204'],
    send: async (connection) => String((await connection.call(ROOT, 'DELETE', path)).status),
  }
  const read: Call<State> = {
    name: 'read',
    step: (text) => [text, text === null ? '404' : `200 ${text}`],
    send: async (connection) => {
      const { status, data } = await connection.call(ROOT, 'GET', path)
      return status === 200 ? `200 ${data.policy}` : String(status)
    },
  }
  const use: Call<State> = {
    name: 'use',
    step: (text) => [text, text?.includes('"read"') ? '200' : '403'],
    send: async (connection) => String((await connection.call(token, 'GET', 'sys/mounts')).status),
  }

  const next = (random: PseudoRandom): Call<State> => {
    calls++
    const chosen = random.int(100)
    const capability = random.pick(['read', 'read', 'deny', 'list'])
    if (chosen < 20) return write(`path "sys/mounts" { capabilities = ["${capability}"] } # ${calls}`)
    if (chosen < 25) return remove
    return chosen < 45 ? read : use
  }

  return {
    name: `policy ${name}`,
    initial: null,
    setUp: async (connection) => {
      const body = { id: token, policies: [name], no_default_policy: true, no_parent: true }
      const { status } = await connection.call(ROOT, 'POST', 'auth/token/create', body)
      if (status !== 200) throw new Error(`the token of ${name} could not be made: ${status}`)
    },
    next,
    isSpent: () => calls >= MOST_CALLS,
  }
}
