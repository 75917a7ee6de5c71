// A key of transit: made, by itself too when something is encrypted, rotated, limited, deleted.
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { type Call, ROOT, type Thing } from './call.ts'

type Encrypted = { readonly id: number; readonly version: number }
type Key = {
  readonly latest: number
  readonly least: number
  readonly deletable: boolean
  /** The last ones. */
  readonly ciphertexts: readonly Encrypted[]
}
/** Null: there is none. */
type State = Key | null

const NEW: Key = { latest: 1, least: 1, deletable: false, ciphertexts: [] }
const KEPT_CIPHERTEXTS = 6
const MOST_CALLS = 400

export function keyThing(name: string): Thing<State> {
  const path = `transit/keys/${name}`
  const ciphertexts = new Map<number, string>()
  let calls = 0
  let latestSeen = 1

  const simple = (
    what: string,
    step: Call<State>['step'],
    method: string,
    to: string,
    body?: object,
    shows = '',
  ): Call<State> => ({
    name: what,
    step,
    send: async (connection) => {
      const { status, data } = await connection.call(ROOT, method, to, body)
      if (shows !== '' && status === 200) latestSeen = Math.max(latestSeen, Number(data[shows]))
      return shows === '' || status !== 200 ? String(status) : `${status} ${data[shows]}`
    },
  })

  const create = (): Call<State> =>
    simple('create', (key) => [key ?? NEW, `200 ${(key ?? NEW).latest}`], 'POST', path, undefined, 'latest_version')

  const read = (): Call<State> =>
    simple('read', (key) => [key, key ? `200 ${key.latest}` : '404'], 'GET', path, undefined, 'latest_version')

  const rotate = (): Call<State> =>
    simple(
      'rotate',
      (key) => (key ? [{ ...key, latest: key.latest + 1 }, `200 ${key.latest + 1}`] : [key, '400']),
      'POST',
      `${path}/rotate`,
      undefined,
      'latest_version',
    )

  const limit = (least: number): Call<State> =>
    simple(
      `min_decryption_version ${least}`,
      (key) => {
        if (key === null || least > key.latest) return [key, '400']
        return [{ ...key, least }, '200']
      },
      'POST',
      `${path}/config`,
      { min_decryption_version: least },
    )

  const allowDeletion = (deletable: boolean): Call<State> =>
    simple(
      `deletion_allowed ${deletable}`,
      (key) => (key ? [{ ...key, deletable }, '200'] : [key, '400']),
      'POST',
      `${path}/config`,
      { deletion_allowed: deletable },
    )

  const remove = (): Call<State> =>
    simple('delete', (key) => (key?.deletable ? [null, '204'] : [key, '400']), 'DELETE', path)

  const encrypt = (id: number): Call<State> => ({
    name: `encrypt #${id}`,
    step: (key) => {
      const used = key ?? NEW
      const kept = [...used.ciphertexts, { id, version: used.latest }].slice(-KEPT_CIPHERTEXTS)
      return [{ ...used, ciphertexts: kept }, `200 ${used.latest}`]
    },
    send: async (connection) => {
      const { status, data } = await connection.call(ROOT, 'POST', `transit/encrypt/${name}`, { plaintext: text(id) })
      if (status !== 200) return String(status)
      ciphertexts.set(id, String(data.ciphertext))
      if (ciphertexts.size > KEPT_CIPHERTEXTS) ciphertexts.delete([...ciphertexts.keys()][0] as number)
      return `${status} ${data.key_version}`
    },
  })

  const decrypt = (id: number, ciphertext: string): Call<State> => ({
    name: `decrypt #${id}`,
    step: (key) => {
      if (key === null) return [key, '400']
      const encrypted = key.ciphertexts.find((one) => one.id === id)
      // Of a key of this name that was deleted, or too old for the model to remember.
      if (encrypted === undefined) return [key, undefined]
      return [key, encrypted.version >= key.least ? `200 ${text(id)}` : '400']
    },
    send: async (connection) => {
      const { status, data } = await connection.call(ROOT, 'POST', `transit/decrypt/${name}`, { ciphertext })
      return status === 200 ? `200 ${data.plaintext}` : String(status)
    },
  })

  const next = (random: PseudoRandom): Call<State> => {
    calls++
    const chosen = random.int(100)
    if (chosen < 8) return create()
    if (chosen < 20) return rotate()
    if (chosen < 40) return read()
    if (chosen < 60) return encrypt(calls)
    if (chosen < 80 && ciphertexts.size > 0) return decrypt(...random.pick([...ciphertexts]))
    if (chosen < 88) return limit(1 + random.int(latestSeen + 1))
    if (chosen < 94) return allowDeletion(random.chance(0.6))
    return remove()
  }

  return { name: `key ${name}`, initial: null, setUp: async () => {}, next, isSpent: () => calls >= MOST_CALLS }
}

const text = (id: number): string => Buffer.from(`plaintext ${id}`).toString('base64')
