// Whether what a power cut left is what was promised: it opens, the verifier finds no fault, its state is one that the
// store went through, and every write that was acknowledged before is in it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CliError } from '../../../../src/cli/cli-error.ts'
import type { Position } from '../../../../src/storage/peer-log.ts'
import { openSqliteReader } from '../../../../src/storage/sqlite/sqlite-reader.ts'
import type { PseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { Image } from './disk.ts'
import { ABSENT, type AnswerId, type Register } from './load.ts'
import { faultsOfImage, layOut, openImage } from './opened-image.ts'

/** Of what is compared through the interface: what was written last, and some of the rest. */
const LATEST_COMPARED = 30
const OTHERS_COMPARED = 10

/** Every state that the store of one history went through: the chain after each index. */
export type History = { readonly id: string; readonly chains: ReadonlyMap<number, string> }

export type Written = {
  /** The folder that the server's data directory was made in. */
  readonly root: string
  readonly registers: readonly Register[]
  /** The place of an answer among the events; undefined where it never came. */
  readonly placeOf: (answer: AnswerId) => number | undefined
  readonly histories: readonly History[]
}

type Expected = { readonly register: Register; readonly lastAt: number; readonly allowed: readonly string[] }

export class Checker {
  readonly #written: Written
  /** Where images are laid out, and the data directory in it. */
  readonly #folder: string
  readonly #directory: string
  /** Images in which a store was open, and values that were compared in them. */
  opened = 0
  compared = 0

  constructor(written: Written, folder: string) {
    this.#written = written
    this.#folder = folder
    this.#directory = join(folder, 'data')
  }

  /** What is wrong with the image of a cut before the event `cut`; empty where nothing is. */
  async faultsOf({ files }: Image, cut: number, random: PseudoRandom): Promise<string[]> {
    layOut(files, this.#written.root, this.#folder)
    const expected = this.#expectedAt(cut)
    const isAnythingDue = expected.some(({ lastAt }) => lastAt >= 0)
    try {
      if (!existsSync(join(this.#directory, 'keywright.db'))) return isAnythingDue ? ['there is no store'] : []
      const faults = await faultsOfImage(this.#directory)
      return faults.length > 0 ? faults : await this.#faultsOfStore(chosen(expected, random))
    } catch (cause) {
      // The first start had not come to its keys.
      if (cause instanceof CliError && /never initialised/.test(cause.message) && !isAnythingDue) return []
      return [cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)]
    }
  }

  async #faultsOfStore(expected: readonly Expected[]): Promise<string[]> {
    const image = await openImage(this.#directory)
    try {
      this.opened++
      const faults: string[] = []
      for (const { register, allowed } of expected) {
        const found = await image.read(register.kind, register.name)
        this.compared++
        if (!allowed.includes(found))
          faults.push(`${register.kind} ${register.name} is ${found}, not ${allowed.join(' or ')}`)
      }
      const unknown = this.#faultOfPosition(image.position)
      return unknown === undefined ? faults : [unknown, ...faults]
    } finally {
      await image.close()
    }
  }

  #faultOfPosition({ index, chain, historyId }: Position): string | undefined {
    const history = this.#written.histories.find(({ id }) => id === historyId.toString('hex'))
    if (history === undefined) return 'the store has a history that nobody wrote'
    const known = history.chains.get(index)
    return known === chain.toString('hex') ? undefined : `the store went through no such state at index ${index}`
  }

  #expectedAt(cut: number): Expected[] {
    return this.#written.registers.map((register) => {
      let lastAt = -1
      let last = -1
      for (const [i, { answer }] of register.writes.entries()) {
        const at = answer === undefined ? undefined : this.#written.placeOf(answer)
        if (at === undefined || at >= cut) break
        ;[lastAt, last] = [at, i]
      }
      // One more may be under way.
      const allowed = [
        register.writes[last]?.value ?? ABSENT,
        ...register.writes.slice(last + 1, last + 2).map(({ value }) => value),
      ]
      return { register, lastAt, allowed }
    })
  }
}

function chosen(expected: readonly Expected[], random: PseudoRandom): readonly Expected[] {
  const byAge = [...expected].sort((a, b) => b.lastAt - a.lastAt)
  const others = Array.from({ length: OTHERS_COMPARED }, () => random.pick(byAge))
  // Those that were not acknowledged yet stand last; what is under way is among them, or was written before.
  return byAge.length === 0 ? [] : [...new Set([...byAge.slice(0, LATEST_COMPARED), ...others])]
}

/** What the log of the store in a directory tells, from its beginning. */
export async function historyOf(directory: string): Promise<History> {
  const first = firstRecord(directory)
  const store = await openSqliteReader(directory)
  try {
    const snapshot = await store.snapshot()
    await snapshot.close()
    const id = snapshot.position.historyId.toString('hex')
    // Before the first record the chain is the history's name.
    const chains = new Map([[first - 1, id]])
    for (const { index, chain } of await store.changesSince(first - 1, Number.MAX_SAFE_INTEGER)) {
      chains.set(index, chain.toString('hex'))
    }
    return { id, chains }
  } finally {
    await store.close()
  }
}

/** A store that was restored goes on behind the indexes that were used before. */
function firstRecord(directory: string): number {
  const database = new DatabaseSync(join(directory, 'keywright.db'), { readOnly: true })
  try {
    return Number(database.prepare('SELECT min(idx) AS first FROM log').get()?.first)
  } finally {
    database.close()
  }
}
