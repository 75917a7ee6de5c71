// Audit as one thread has it: the two entries of each request. A request that no device can record does not happen
// (threats P-34).
import type { AuditDevices, NewDevice, ShownStream } from '../api/audit.ts'
import { fail } from '../api/errors.ts'
import { publicKeyText } from '../crypto/signatures/text-signature.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadOutcome } from '../lib/reload.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { ChainHeads, type ChainHeadsMemory } from './chain-heads.ts'
import { type AuditSettings, DeviceChanges } from './device-changes.ts'
import { DeviceStore, type StoredDevice } from './device-store.ts'
import { DeviceTable } from './device-table.ts'
import type { AuditedAnswer, AuditedHeaders, AuditedRequest } from './entry.ts'
import { type AuditRecord, type DeviceSet, Recorder } from './recorder.ts'
import { HMAC_PREFIX } from './redactor.ts'

export type AuditParts = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly settings: AuditSettings
  /** Shared by the threads of a process. */
  readonly chainHeads: ChainHeadsMemory
  readonly thread: string
  /** Names the history of the store: another one where it was restored. Asked where it is written. */
  readonly history: () => Promise<string>
  /** Entries of one turn of the event loop are written together. */
  readonly endOfTick: EndOfTickQueue
}

/** A request, with what was recorded of it so far, which the audit alone keeps. */
type RecordedRequest = AuditedRequest & { record: AuditRecord | undefined }

export class Audit implements AuditDevices {
  readonly #isWriter: boolean
  readonly #recorder: Recorder
  readonly #chainHeads: ChainHeads
  readonly #table: DeviceTable
  readonly #changes: DeviceChanges
  readonly #noteHistory: () => Promise<void>
  /** As it was when the server was open last; '' before. */
  #lastKey = ''

  constructor({ storage, invalidation, world, log, settings, chainHeads, thread, endOfTick, history }: AuditParts) {
    this.#isWriter = storage.writable
    this.#recorder = new Recorder(world.timers, endOfTick.record)
    this.#chainHeads = new ChainHeads(chainHeads)
    const store = new DeviceStore(storage, world.random, log)
    const parts = { store, recorder: this.#recorder, invalidation, world, log, chainHeads: this.#chainHeads, thread }
    this.#table = new DeviceTable(parts)
    this.#changes = new DeviceChanges(store, this.#table, settings)
    this.#noteHistory = async () => {
      const { signingKey } = await store.read()
      const key = signingKey === undefined ? '' : publicKeyText(signingKey)
      const before = this.#lastKey === key ? '' : this.#lastKey
      const at = new Date(world.clock.nowMs()).toISOString()
      if (!(await store.noteHistory(await history(), () => ({ at, before })))) return
      log('warn', 'The state was restored from a snapshot: chains of audit begin anew and say so', {
        public_key: key,
        ...(before === '' ? {} : { public_key_before: before }),
      })
    }
  }

  /** After unseal: before the first request. The thread that writes takes the declared devices over. */
  async open(): Promise<void> {
    if (this.#isWriter) {
      await this.#changes.declare()
      await this.#noteHistory()
    }
    await this.#table.open()
    this.#lastKey = this.publicKey()
  }

  /** Before seal: requests that were begun still get their second entry. */
  close(): void {
    this.#table.close()
  }

  /** Called before the process ends, when the last request was answered. */
  async stop(): Promise<void> {
    await this.#table.stop()
    this.#recorder.close()
  }

  /**
   * The files of devices were moved away. Resolves when every line to come goes to those that are there now; 'kept'
   * where one of them could not be opened.
   */
  reopen(): Promise<ReloadOutcome> {
    return this.#table.reopen()
  }

  /** Resolves when the devices are those that are stored; undefined where they are. */
  ready(): Promise<void> | undefined {
    return this.#table.isStale ? this.#table.refresh() : undefined
  }

  /** Whether requests are to be recorded. */
  get isOpen(): boolean {
    return this.#table.isOpen
  }

  /**
   * Records that the request is about to be carried out. Where nobody records it, it must not be; `finish` is called
   * nevertheless. Undefined where there is no device. @throws NotRecorded
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
   * The first entry was written by the thread that the request came from, to these devices: the second one goes to them
   * and no other. False where they are gone: then nothing is adopted. `finish` or `drop` follows.
   */
  adopt(of: RecordedRequest, uuids: readonly string[]): boolean {
    if (of.record !== undefined) return true
    const set = this.#table.enterThose(uuids)
    if (set === undefined) return false
    of.record = { set, texts: undefined }
    return true
  }

  /**
   * Records how it ended; where nothing was recorded before, also that it was asked. Undefined where there is no
   * device.
   * @throws NotRecorded
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

  /** `asked`: with the answer that the first entry tells of, where it is written only now. */
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

  /** Here no second entry is written. */
  drop(of: RecordedRequest): void {
    const { record } = of
    of.record = undefined
    if (record !== undefined) this.#table.leave(record.set)
  }

  list(): readonly StoredDevice[] {
    return this.#table.stored.devices
  }

  enable(device: NewDevice): Promise<void> {
    return this.#changes.enable(device)
  }

  disable(path: string): Promise<void> {
    return this.#changes.disable(path)
  }

  setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void> {
    return this.#changes.setHeader(name, setting)
  }

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
