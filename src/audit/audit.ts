// The audit of one thread: it writes the two entries of each request. A request that no device can record is
// not carried out (threats P-34).
import type { AuditDevices, NewDevice, ShownStream } from '../api/audit.ts'
import { fail } from '../api/errors.ts'
import type { Sight } from '../api/node-role.ts'
import { publicKeyText } from '../crypto/signatures/text-signature.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadOutcome } from '../lib/reload.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { History } from '../storage/peer-log.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { AuditFiles } from './audit-files.ts'
import { ChainHeads, type ChainHeadsMemory } from './chain-heads.ts'
import { type AuditSettings, DeviceChanges } from './device-changes.ts'
import { DeviceStore, type StoredDevice } from './device-store.ts'
import { DeviceTable } from './device-table.ts'
import type { AuditedAnswer, AuditedHeaders, AuditedRequest } from './entry.ts'
import { type AuditRecord, type DeviceSet, Recorder } from './recorder.ts'
import { HMAC_PREFIX } from './redactor.ts'

/** The parts that the assembly of a node hands in. */
export type AuditParts = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly settings: AuditSettings
  /** Memory shared by the threads of a process, for the ends of chains. */
  readonly chainHeads: ChainHeadsMemory
  /** Name of the thread, as the starts of its chains show it. */
  readonly thread: string
  /** Returns the histories of the store. Asked only on the thread that writes. */
  readonly histories: () => Promise<readonly History[]>
  /** Runs at the end of each tick; the entries of one tick are written together. */
  readonly endOfTick: EndOfTickQueue
  /** Missing: those of this machine. */
  readonly files?: AuditFiles | undefined
}

/** A request with its record, which only this class reads and writes. */
type RecordedRequest = AuditedRequest & { record: AuditRecord | undefined }

/** The audit of one thread. `begin` and `finish` enclose the work of every request. */
export class Audit implements AuditDevices {
  readonly #recorder: Recorder
  readonly #chainHeads: ChainHeads
  readonly #table: DeviceTable
  readonly #changes: DeviceChanges
  /**
   * Notes which history of the store this server has seen, and so finds a restore and a promotion. Called before
   * `open`, on the thread that writes.
   */
  readonly noteHistory: () => Promise<void>
  /** The public key at the last unseal; '' before the first. */
  #lastKey = ''

  constructor({
    storage,
    invalidation,
    world,
    log,
    settings,
    chainHeads,
    endOfTick,
    histories,
    ...shared
  }: AuditParts) {
    this.#recorder = new Recorder(world.timers, endOfTick.record)
    this.#chainHeads = new ChainHeads(chainHeads)
    const store = new DeviceStore(storage, world.random, log)
    const parts = { store, recorder: this.#recorder, invalidation, world, log, chainHeads: this.#chainHeads, ...shared }
    this.#table = new DeviceTable(parts)
    this.#changes = new DeviceChanges(store, this.#table, settings)
    this.noteHistory = async () => {
      const { signingKey } = await store.read()
      const key = signingKey === undefined ? '' : publicKeyText(signingKey)
      const before = this.#lastKey === key ? '' : this.#lastKey
      const at = new Date(world.clock.nowMs()).toISOString()
      const { restored, promoted } = await store.noteHistory(await histories(), () => ({ at, before }))
      if (promoted !== undefined)
        log('info', 'This cluster was promoted: chains of audit that begin from now on say so', promoted)
      if (restored === undefined) return
      log('warn', 'The state was restored from a snapshot: chains of audit begin anew and say so', {
        public_key: key,
        ...(before === '' ? {} : { public_key_before: before }),
      })
    }
  }

  /** Stores the declared devices. Called before `open`, on the thread that writes. */
  declare(): Promise<void> {
    return this.#changes.declare()
  }

  /** Opens the devices, after unseal and before the first request. */
  async open(): Promise<void> {
    await this.#table.open()
    this.#lastKey = this.publicKey()
  }

  /** Removes what earlier releases stored in a class that goes to other clusters. After `open`, which takes it over. */
  removeFormer(): Promise<void> {
    return this.#changes.removeFormer()
  }

  /** Lets go of the devices before seal. Requests already begun still get their second entry. */
  close(): void {
    this.#table.close()
  }

  /** Ends all chains; call it when the last request was answered, before the process ends. */
  async stop(): Promise<void> {
    await this.#table.stop()
    this.#recorder.close()
  }

  /**
   * Opens the files of devices anew, after they were moved away. Resolves when all further lines go to the new files;
   * to 'kept' if one of them could not be opened.
   */
  reopen(): Promise<ReloadOutcome> {
    return this.#table.reopen()
  }

  /** Resolves when the devices match what is stored; undefined if they already do. */
  ready(): Promise<void> | undefined {
    return this.#table.isStale ? this.#table.refresh() : undefined
  }

  /** True between `open` and `close`: requests are recorded. */
  get isOpen(): boolean {
    return this.#table.isOpen
  }

  /**
   * Writes the first entry, before the request is carried out. If it rejects, the request must not be carried out, but
   * `finish` is called nevertheless. Returns undefined if there is no device. @throws NotRecorded
   */
  begin(of: RecordedRequest): Promise<void> | undefined {
    const record: AuditRecord = { set: this.#table.enter(), texts: undefined }
    of.record = record
    if (record.set.devices.length === 0) return undefined
    const texts = requestTexts(record.set, of)
    return texts instanceof Promise
      ? texts.then((ready) => this.#recordBegin(record, ready))
      : this.#recordBegin(record, texts)
  }

  #recordBegin(record: AuditRecord, texts: readonly string[]): Promise<void> {
    record.texts = texts
    return this.#recorder.wait(this.#recorder.append(record.set, 'request', texts))
  }

  /**
   * Takes over a request whose first entry another thread wrote to these devices; its second entry goes to the same
   * ones. Returns false, and takes nothing over, if they are gone. `finish` or `drop` must follow.
   */
  adopt(of: RecordedRequest, uuids: readonly string[]): boolean {
    if (of.record !== undefined) return true
    const set = this.#table.enterThose(uuids)
    if (set === undefined) return false
    of.record = { set, texts: undefined }
    return true
  }

  /**
   * Writes the second entry, how the request ended; and the first one too if it was never written. Returns undefined if
   * there is no device. @throws NotRecorded
   */
  finish(of: RecordedRequest, answer: AuditedAnswer): Promise<void> | undefined {
    const isNew = of.record === undefined
    const record: AuditRecord = of.record ?? { set: this.#table.enter(), texts: undefined }
    of.record = record
    const { set } = record
    if (set.devices.length === 0) {
      this.drop(of)
      return undefined
    }
    const requests = record.texts ?? requestTexts(set, of)
    const responses = responseTexts(set, of, answer)
    const asked = isNew ? answer : undefined
    if (!(requests instanceof Promise) && !(responses instanceof Promise))
      return this.#recordEnd(of, set, requests, responses, asked)
    return Promise.all([requests, responses]).then(
      ([known, made]) => this.#recordEnd(of, set, known, made, asked),
      (cause: unknown) => {
        this.drop(of)
        throw cause
      },
    )
  }

  /** `asked` is set if the first entry is written only now; that entry then contains the error. */
  #recordEnd(
    of: RecordedRequest,
    set: DeviceSet,
    requests: readonly string[],
    responses: readonly string[],
    asked: AuditedAnswer | undefined,
  ): Promise<void> {
    let first: DeviceSet | undefined
    if (asked !== undefined) {
      const errors = set.devices.map(({ format }) => format.error(of, asked))
      first = this.#recorder.append(set, 'request', requests, errors)
    }
    const second = this.#recorder.append(set, 'response', requests, responses)
    const stored = this.#recorder.wait(second)
    const both =
      first === undefined || first === second
        ? stored
        : Promise.all([stored, this.#recorder.wait(first)]).then(() => {})
    this.drop(of)
    return both
  }

  /** Releases the devices of a request. Called from outside if this thread writes no second entry for it. */
  drop(of: RecordedRequest): void {
    const { record } = of
    of.record = undefined
    if (record !== undefined) this.#table.leave(record.set)
  }

  /** The devices, one a path: a declared one is not shown where a request has made one at the same path. */
  list(): readonly StoredDevice[] {
    const { devices } = this.#table.stored
    return devices.filter(({ path }, at) => devices[at - 1]?.path !== path)
  }

  enable(device: NewDevice): Promise<void> {
    return this.#changes.enable(device)
  }

  disable(path: string, sight: Sight): Promise<void> {
    return this.#changes.disable(path, sight)
  }

  setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void> {
    return this.#changes.setHeader(name, setting)
  }

  /** Names of the request headers that are recorded, in lower case. */
  get headerNames(): readonly string[] {
    return this.#table.stored.headerNames
  }

  headers(): AuditedHeaders {
    return this.#table.stored.headers
  }

  hash(path: string, text: string): string {
    const device = this.#table.find(path)
    // Wire text.
    if (device === undefined) throw fail('no_such_entry', [`unknown audit backend "${path}"`])
    return HMAC_PREFIX + device.hmac.hexOf(text)
  }

  publicKey(): string {
    const { signingKey } = this.#table.stored
    return signingKey === undefined ? '' : publicKeyText(signingKey)
  }

  streams(): readonly ShownStream[] {
    return this.#chainHeads.states()
  }
}

type Texts = readonly string[] | Promise<readonly string[]>

function requestTexts({ devices }: DeviceSet, of: AuditedRequest): Texts {
  return all(devices.map(({ format }) => format.request(of)))
}

function responseTexts({ devices }: DeviceSet, of: AuditedRequest, answer: AuditedAnswer): Texts {
  return all(devices.map(({ format }) => format.response(of, answer)))
}

function all(texts: readonly (string | Promise<string>)[]): Texts {
  for (const text of texts) if (text instanceof Promise) return Promise.all(texts)
  return texts as readonly string[]
}
