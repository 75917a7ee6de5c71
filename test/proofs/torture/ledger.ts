// What a server acknowledged, kept outside of it, and the comparison with what is there after a kill. Each stored thing
// is a register with one value; a write that was under way when the server was killed may have happened or not.

import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { type ApiAnswer, api } from '../../fixtures/server-process.ts'

export const ABSENT = 'absent'
export const VALID = 'valid'
export const REVOKED = 'revoked'

export type Kind = 'key' | 'policy' | 'token'

export type Register = {
  readonly kind: Kind
  readonly name: string
  /** As acknowledged last. */
  known: string
  /** As it may be where the write under way happened. */
  doubt: string | undefined
  /** Acknowledged ciphertexts of a key. */
  readonly ciphertexts: { readonly ciphertext: string; readonly plaintext: string }[]
  /** Of a token: the one that made it. */
  readonly parent: Register | undefined
}

/** The key that all clients rotate; compared by what was given out, not as a register. */
export const SHARED_KEY = 'shared'

export type Server = { readonly address: string; readonly token: string }

/** Registers that are compared again although nobody touched them since the last comparison. */
const OLD_ONES_COMPARED = 50
const COMPARED_AT_ONCE = 16

/** The value of a key's register. */
export function keyValue(version: number, deletable: boolean): string {
  return `version ${version}${deletable ? ', deletable' : ''}`
}

export function versionOf(register: Register): number {
  return Number(register.known.split(/[ ,]/)[1])
}

export function isDeletable(register: Register): boolean {
  return register.known.endsWith('deletable')
}

export class Ledger {
  readonly registers: Register[] = []
  readonly faults: string[] = []
  acknowledged = 0
  /** Writes under way at a kill, and how many of them turned out to have happened. */
  inDoubt = 0
  happened = 0
  readonly #touched = new Set<Register>()

  add(kind: Kind, name: string, known: string, parent?: Register): Register {
    const register: Register = { kind, name, known, doubt: undefined, ciphertexts: [], parent }
    this.registers.push(register)
    this.#touched.add(register)
    return register
  }

  /** Before a write is sent. */
  begin(register: Register, value: string): void {
    register.doubt = value
    this.#touched.add(register)
  }

  /** When its answer has arrived. */
  acknowledge(registers: readonly Register[]): void {
    this.acknowledged += 1
    for (const register of registers) {
      register.known = register.doubt ?? register.known
      register.doubt = undefined
    }
  }

  keepCiphertext(register: Register, ciphertext: string, plaintext: string): void {
    register.ciphertexts.push({ ciphertext, plaintext })
    this.#touched.add(register)
  }

  fault(text: string): void {
    this.faults.push(text)
  }

  /** Compares what was touched since the last time, some others, and what the lists hold; with `all`, everything. */
  async compare(server: Server, random: PseudoRandom, all: boolean): Promise<void> {
    const chosen = new Set(all ? this.registers : this.#touched)
    for (let i = 0; i < OLD_ONES_COMPARED && !all && this.registers.length > 0; i++)
      chosen.add(random.pick(this.registers))
    await inParallel([...chosen], (register) => this.#compareOne(server, register))
    this.#touched.clear()
    for (const { name, known, parent } of chosen) {
      if (known === VALID && parent?.known === REVOKED)
        this.fault(`token ${name} outlives ${parent.name}, which made it`)
    }
    await this.#compareList(server, 'key', 'transit/keys')
    await this.#compareList(server, 'policy', 'sys/policies/acl')
  }

  async #compareOne(server: Server, register: Register): Promise<void> {
    const found = await READERS[register.kind](server, register.name)
    if (register.doubt !== undefined) {
      this.inDoubt += 1
      if (found === register.doubt) this.happened += 1
    }
    if (found !== register.known && found !== register.doubt) {
      const doubt = register.doubt === undefined ? '' : ` or ${register.doubt}`
      this.fault(`${register.kind} ${register.name}: acknowledged ${register.known}${doubt}, found ${found}`)
    }
    register.known = found
    register.doubt = undefined
    if (register.kind === 'key' && found !== ABSENT) await this.#compareCiphertexts(server, register)
  }

  async #compareCiphertexts(server: Server, { name, ciphertexts }: Register): Promise<void> {
    if (ciphertexts.length === 0) return
    const items = ciphertexts.map(({ ciphertext }) => ({ ciphertext }))
    const { body } = await api(server, 'POST', `transit/decrypt/${name}`, { batch_input: items })
    const results = (body.data?.batch_results ?? []) as { readonly plaintext?: string; readonly error?: string }[]
    for (const [i, { ciphertext, plaintext }] of ciphertexts.entries()) {
      if (results[i]?.plaintext === plaintext) continue
      this.fault(`key ${name}: ${ciphertext} does not decrypt: ${results[i]?.error ?? JSON.stringify(body.errors)}`)
    }
  }

  /** Nothing is listed that nobody made, and everything that is there is listed. */
  async #compareList(server: Server, kind: Kind, path: string): Promise<void> {
    const { body } = await api(server, 'LIST', path)
    const listed = new Set((body.data?.keys ?? []) as string[])
    const known = this.registers.filter((register) => register.kind === kind)
    for (const { name, known: value } of known) {
      if (listed.has(name) !== (value !== ABSENT))
        this.fault(`${kind} ${name} is ${value}, and is listed: ${listed.has(name)}`)
    }
    const names = new Set(known.map(({ name }) => name))
    for (const name of listed) {
      if (!names.has(name) && !BUILT_IN.includes(name)) this.fault(`${kind} ${name} is listed, and nobody made it`)
    }
  }
}

const BUILT_IN = ['default', 'root', SHARED_KEY]

const READERS: Readonly<Record<Kind, (server: Server, name: string) => Promise<string>>> = {
  key: async (server, name) => {
    const answer = await api(server, 'GET', `transit/keys/${name}`)
    if (answer.status === 404) return ABSENT
    return answer.status === 200 ? keyValueOf(answer) : `status ${answer.status}`
  },
  policy: async (server, name) => {
    const { status, body } = await api(server, 'GET', `sys/policies/acl/${name}`)
    if (status === 404) return ABSENT
    return status === 200 ? String(body.data?.policy) : `status ${status}`
  },
  token: async (server, name) => {
    const { status } = await api(server, 'GET', 'auth/token/lookup-self', undefined, name)
    if (status === 403) return REVOKED
    return status === 200 ? VALID : `status ${status}`
  },
}

export function keyValueOf({ body }: ApiAnswer): string {
  return keyValue(Number(body.data?.latest_version), body.data?.deletion_allowed === true)
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const next = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: COMPARED_AT_ONCE }, next))
}
