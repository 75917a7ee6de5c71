// Runs the flows of one existing client, each as a test, and notes which of the client's calls each of them made. What
// the client offers is asked of the client itself: a call that no flow makes or names fails the run, and so does a page
// docs/clients.md that says anything else than what ran.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT } from '../../fixtures/server-process.ts'
import { type FlowReport, publish } from './clients-page.ts'

export type ClientRunOptions = {
  /** As it is installed, and as the page calls it. */
  readonly name: string
  readonly language: string
  /** Names of all calls that the client offers. */
  readonly offered: readonly string[]
}

/** What a flow that is not to succeed says about itself. */
type Excuse = {
  /** Calls of the same kind, that the flow stands for: they need not be made. */
  readonly standsFor?: readonly string[]
  readonly note: string
}

export class ClientRun {
  readonly #options: ClientRunOptions
  readonly #flows: FlowReport[] = []
  #calls = new Set<string>()

  constructor(options: ClientRunOptions) {
    this.#options = options
  }

  /** What the client does as it should. */
  flow(title: string, body: () => Promise<void>): void {
    this.#add(title, 'runs', [], body)
  }

  /** Asks for what is not offered: `body` is to see how that is refused. */
  notOffered(title: string, excuse: Excuse, body: () => Promise<void>): void {
    this.#add(title, `not offered: ${excuse.note}`, excuse.standsFor ?? [], body)
  }

  /** The client does not understand the answer that it asks for, whoever gives it: `body` is to see the fault. */
  clientFault(title: string, excuse: Excuse, body: () => Promise<void>): void {
    this.#add(title, `fault of the client: ${excuse.note}`, excuse.standsFor ?? [], body)
  }

  #add(title: string, result: string, standsFor: readonly string[], body: () => Promise<void>): void {
    test(`${this.#options.name}: ${title}`, async () => {
      this.#calls = new Set(standsFor)
      await body()
      assert.ok(this.#calls.size > 0, 'the flow makes no call of the client')
      this.#flows.push({ title, calls: [...this.#calls].sort(), result })
    })
  }

  /** The client itself, with a note of each call that it offers. The notes are all that is added. */
  watch<Client extends object>(client: Client, prefix = ''): Client {
    return new Proxy(client, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target)
        const name = `${prefix}${String(key)}`
        if (typeof value === 'function') {
          return (...values: unknown[]) => {
            if (this.#options.offered.includes(name)) this.#calls.add(name)
            return Reflect.apply(value, target, values)
          }
        }
        const holdsMore = this.#options.offered.some((offered) => offered.startsWith(`${name}.`))
        return holdsMore ? this.watch(value as object, `${name}.`) : value
      },
    })
  }

  /** The last tests: nothing that the client offers is passed over, and the page says what ran. */
  close(): void {
    const { name, language, offered } = this.#options
    test(`${name}: every call that it offers is in a flow`, () => {
      const made = new Set(this.#flows.flatMap(({ calls }) => calls))
      assert.deepEqual(
        offered.filter((call) => !made.has(call)),
        [],
      )
    })
    test(`${name}: docs/clients.md says what ran`, () => {
      publish({ name, version: installedVersion(name), language, flows: this.#flows })
    })
  }
}

/** Of a package from npm. */
export function installedVersion(name: string): string {
  return JSON.parse(readFileSync(join(PROJECT, 'node_modules', name, 'package.json'), 'utf8')).version
}
