// Audit as one thread has it: which devices there are, and the two entries of each request. A request that no device
// can record does not happen (decisions 5.4).

import type { AuditDevices, NewDevice, ShownDevice, ShownStream } from '../api/audit.ts'
import { fail } from '../api/errors.ts'
import { SaltedHmac } from '../crypto/salted-hmac.ts'
import { publicKeyText, signText } from '../crypto/text-signature.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Log } from '../lib/log.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { Device, DeviceParts } from './device.ts'
import { deviceSettings } from './device-options.ts'
import { DeviceStore, STORED_PREFIXES, type StoredAudit, type StoredDevice } from './device-store.ts'
import type { AuditedAnswer, AuditedHeaders, AuditedRequest, AuditRecord } from './entry.ts'
import { EntryFormat, errorText } from './entry-text.ts'
import { openDevice, requireUsable } from './open-device.ts'
import { DeviceSet, Recorder } from './recorder.ts'
import { HMAC_PREFIX } from './redactor.ts'
import { type BoardMemory, StreamBoard } from './stream-board.ts'
import { afterTurn, pauseTurn } from './turns.ts'

/** What the configuration file says of audit. */
export type AuditSettings = {
  readonly declared: readonly ShownDevice[]
  /** Whether devices may be made and removed by requests. */
  readonly allowsApi: boolean
}

export type AuditParts = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly settings: AuditSettings
  readonly board: BoardMemory
  readonly thread: string
}

/** A device as it is open here, with what it was made from, and how many sets it is in. */
type Opened = { readonly stored: StoredDevice; readonly device: Device; sets: number }

const MOST_DEVICES = 32

export class Audit implements AuditDevices {
  readonly #parts: AuditParts
  readonly #store: DeviceStore
  readonly #recorder: Recorder
  readonly #board: StreamBoard
  readonly #turns = new OneAtATime()
  readonly #opened = new Set<Opened>()
  #set = new DeviceSet([])
  #stored: StoredAudit = NOTHING_STORED
  #isOpen = false
  #isStale = true
  #refreshing: Promise<void> | undefined
  #time = { ms: 0, text: '' }

  constructor(parts: AuditParts) {
    const { storage, invalidation, world, board } = parts
    this.#parts = parts
    this.#store = new DeviceStore(storage, world.random)
    this.#recorder = new Recorder(world.timers, afterTurn)
    this.#board = new StreamBoard(board)
    const stale = () => {
      this.#isStale = true
    }
    for (const prefix of STORED_PREFIXES) invalidation.register({ prefix, changed: stale, reset: stale })
  }

  /** After unseal: before the first request. The thread that writes takes the declared devices over. */
  async open(): Promise<void> {
    if (this.#parts.storage.writable) await this.#store.transaction(declared(this.#parts.settings.declared))
    this.#isOpen = true
    this.#isStale = true
    await this.#refresh()
  }

  /** Before seal: requests that were begun still get their second entry. */
  close(): void {
    this.#isOpen = false
    this.#stored = NOTHING_STORED
    this.#replace(new DeviceSet([]))
  }

  /** Before the process ends, when nothing is served any more. */
  async stop(): Promise<void> {
    this.close()
    this.#recorder.flush()
    for (const opened of this.#opened) await this.#end(opened)
    this.#recorder.close()
  }

  /** The files of devices were moved away (SIGHUP). Resolves when every line to come goes to those that are there now. */
  async reopen(): Promise<void> {
    const swaps = await Promise.all([...this.#opened].map(({ device }) => device.reopen()))
    this.#recorder.flush()
    for (const swap of swaps) swap?.()
  }

  /** Resolves when the devices are those that are stored; undefined where they are. */
  ready(): Promise<void> | undefined {
    return this.#isOpen && (this.#isStale || this.#refreshing !== undefined) ? this.#refresh() : undefined
  }

  /** Whether requests are to be recorded. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Records that the request is about to be carried out. Where it is recorded by nobody the request must not be; then
   * `finish` is called nevertheless. Undefined where there is no device. @throws NotRecorded
   */
  begin(of: AuditedRequest): Promise<void> | undefined {
    const record = this.#record()
    of.record = record
    if (record.set.devices.length === 0) return undefined
    const texts = requestTexts(record.set, of)
    return texts instanceof Promise
      ? texts.then((ready) => this.#recordBegin(record, ready))
      : this.#recordBegin(record, texts)
  }

  #recordBegin(record: AuditRecord, texts: readonly string[]): Promise<void> {
    record.texts = texts
    this.#recorder.append(record.set, 'request', texts)
    return this.#recorder.wait(record.set)
  }

  #record(): AuditRecord {
    this.#set.open++
    return { set: this.#set, texts: undefined }
  }

  /** The first entry was written by the thread that the request came from. `finish` or `drop` follows. */
  adopt(of: AuditedRequest): void {
    of.record ??= this.#record()
  }

  /**
   * Records how it ended; where nothing was recorded before, also that it was asked. Undefined where there is no device.
   * @throws NotRecorded
   */
  finish(of: AuditedRequest, answer: AuditedAnswer): Promise<void> | undefined {
    const isNew = of.record === undefined
    const record = of.record ?? this.#record()
    of.record = record
    const { set } = record
    if (set.devices.length === 0) {
      this.drop(of)
      return undefined
    }
    const requests = record.texts ?? requestTexts(set, of)
    const responses = responseTexts(set, of, answer)
    if (requests instanceof Promise || responses instanceof Promise) {
      return Promise.all([requests, responses]).then(
        ([asked, answered]) => this.#recordEnd(of, record, asked, answered, isNew ? answer : undefined),
        (cause: unknown) => {
          this.drop(of)
          throw cause
        },
      )
    }
    return this.#recordEnd(of, record, requests, responses, isNew ? answer : undefined)
  }

  #recordEnd(
    of: AuditedRequest,
    record: AuditRecord,
    requests: readonly string[],
    responses: readonly string[],
    refused: AuditedAnswer | undefined,
  ): Promise<void> {
    const { set } = record
    if (refused !== undefined)
      this.#recorder.append(
        set,
        'request',
        requests.map((text) => text + errorText(refused)),
      )
    this.#recorder.append(set, 'response', joined(requests, responses))
    const stored = this.#recorder.wait(set)
    this.drop(of)
    return stored
  }

  /** No second entry is written here. */
  drop(of: AuditedRequest): void {
    const set = of.record?.set
    of.record = undefined
    if (set === undefined) return
    set.open--
    if (set.isRetired && set.open === 0) this.#letGo(set)
  }

  #replace(set: DeviceSet): void {
    const before = this.#set
    this.#set = set
    before.isRetired = true
    if (before.open === 0) this.#letGo(before)
  }

  #letGo({ devices }: DeviceSet): void {
    this.#recorder.flush()
    for (const opened of this.#opened) {
      if (!devices.includes(opened.device)) continue
      opened.sets--
      if (opened.sets === 0) void this.#end(opened)
    }
  }

  async #end(opened: Opened): Promise<void> {
    this.#opened.delete(opened)
    this.#recorder.forget(opened.device)
    await opened.device.end()
    opened.device.hmac.wipe()
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshUntilFresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #refreshUntilFresh(): Promise<void> {
    do {
      this.#isStale = false
      try {
        await this.#load()
      } catch (cause) {
        this.#isStale = true
        throw cause
      }
    } while (this.#isStale && this.#isOpen)
  }

  async #load(): Promise<void> {
    const stored = await this.#store.read()
    const opened = await Promise.all(stored.devices.map((device) => this.#open(device, stored)))
    // Sealed meanwhile: what was opened for nothing goes again.
    if (!this.#isOpen) {
      for (const one of opened) if (one.sets === 0) await this.#end(one)
      return
    }
    this.#stored = stored
    for (const one of opened) one.sets++
    this.#replace(new DeviceSet(opened.map(({ device }) => device)))
  }

  /** The one that is open already, where nothing changed. */
  async #open(device: StoredDevice, { signingKey }: StoredAudit): Promise<Opened> {
    const text = JSON.stringify(device)
    for (const known of this.#opened) if (JSON.stringify(known.stored) === text) return known
    const opened = { stored: device, device: await openDevice(this.#deviceParts(device, signingKey)), sets: 0 }
    this.#opened.add(opened)
    return opened
  }

  #deviceParts({ path, type, options, isDeclared, salt }: StoredDevice, signingKey: SigningKey): DeviceParts {
    if (signingKey === undefined) throw new Error('An audit device is stored without the key that signs its chain')
    const { world, log, thread } = this.#parts
    const settings = deviceSettings(type, options, isDeclared)
    const key = Buffer.from(salt, 'base64')
    const hmac = new SaltedHmac(key)
    key.fill(0)
    const headers = () => this.#stored.headers
    return {
      path,
      settings,
      isDeclared,
      hmac,
      format: new EntryFormat(hmac, settings.format, { headers, pause: pauseTurn }),
      timers: world.timers,
      log,
      chain: {
        newId: () => randomBase62(STREAM_ID_CHARACTERS, world.random.bytes),
        time: () => this.#now(),
        sign: (text) => signText(signingKey, text),
        publicKey: publicKeyText(signingKey),
        thread,
        slot: (stream, device) => this.#board.take(stream, device),
      },
    }
  }

  /** Made once a millisecond. */
  #now(): string {
    const ms = this.#parts.world.clock.nowMs()
    if (ms !== this.#time.ms) this.#time = { ms, text: new Date(ms).toISOString() }
    return this.#time.text
  }

  list(): readonly StoredDevice[] {
    return this.#stored.devices
  }

  async enable(device: NewDevice): Promise<void> {
    if (!this.#parts.settings.allowsApi)
      throw fail('bad_request', [`audit devices are declared in the configuration file here: ${API_SWITCH} = false`])
    await this.#turns.run(() => this.#enable(device))
  }

  async #enable(given: NewDevice): Promise<void> {
    const { path, type, options } = given
    deviceSettings(type, options, false)
    const { devices } = this.#stored
    requirePath(devices, path)
    if (devices.length >= MOST_DEVICES) throw fail('bad_request', [`there are ${MOST_DEVICES} audit devices already`])
    let made: StoredDevice | undefined
    await this.#store.transaction((_devices, tx) => {
      tx.requireKey()
      made = tx.made({ ...given, isDeclared: false })
    })
    if (made === undefined) throw new Error('A transaction ran without its work')
    const device: StoredDevice = made
    const { signingKey } = await this.#store.read()
    await requireUsable(this.#deviceParts(device, signingKey))
    await this.#store.transaction((known, tx) => {
      requirePath(known, path)
      tx.put(device)
    })
    await this.#refresh()
  }

  async disable(path: string): Promise<void> {
    await this.#store.transaction((devices, tx) => {
      const device = devices.find((one) => one.path === path)
      if (device === undefined) return
      if (device.isDeclared) throw fail('bad_request', [declaredText(device)])
      tx.delete(device)
    })
    await this.#refresh()
  }

  hash(path: string, text: string): string {
    const opened = [...this.#opened].find(
      ({ stored, device }) => stored.path === path && this.#set.devices.includes(device),
    )
    // Wire text.
    if (opened === undefined) throw fail('bad_request', [`unknown audit backend "${path}"`])
    return HMAC_PREFIX + opened.device.hmac.hexOf(text)
  }

  headers(): AuditedHeaders {
    return this.#stored.headers
  }

  async setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void> {
    await this.#store.setHeaders((before) => {
      const after = new Map(before)
      if (setting === undefined) after.delete(name)
      else after.set(name, setting)
      if (after.size > MOST_HEADERS) throw fail('bad_request', [`at most ${MOST_HEADERS} headers are recorded`])
      return after
    })
    await this.#refresh()
  }

  publicKey(): string {
    const { signingKey } = this.#stored
    return signingKey === undefined ? '' : publicKeyText(signingKey)
  }

  streams(): readonly ShownStream[] {
    return this.#board.states()
  }
}

type SigningKey = StoredAudit['signingKey']

const NOTHING_STORED: StoredAudit = { devices: [], headers: new Map(), signingKey: undefined }
const STREAM_ID_CHARACTERS = 16
const MOST_HEADERS = 64
/** The key of the configuration file. */
export const API_SWITCH = 'unsafe_allow_api_audit_creation'

const declaredText = ({ type, path }: ShownDevice): string =>
  `the configuration file declares this device: take audit "${type}" "${path.slice(0, -1)}" out of it, and restart`

/** @throws Refusal where it is taken */
function requirePath(devices: readonly StoredDevice[], path: string): void {
  if (devices.some((one) => one.path === path)) throw fail('bad_request', ['path already in use']) // Wire text.
}

/** Brings what is stored to what the configuration file says; a device keeps its salt. */
function declared(wanted: readonly ShownDevice[]): Parameters<DeviceStore['transaction']>[0] {
  return (devices, tx) => {
    for (const device of devices) {
      if (device.isDeclared && !wanted.some(({ path }) => path === device.path)) tx.delete(device)
    }
    for (const one of wanted) {
      const before = devices.find(({ path }) => path === one.path)
      const after =
        before === undefined ? tx.made({ ...one, isDeclared: true }) : { ...before, ...one, isDeclared: true }
      if (JSON.stringify(before) === JSON.stringify(after)) continue
      // What a request made may have lain elsewhere.
      if (before !== undefined) tx.delete(before)
      tx.put(after)
    }
  }
}

function requestTexts({ devices }: DeviceSet, of: AuditedRequest): readonly string[] | Promise<readonly string[]> {
  return all(devices.map(({ format }) => format.request(of)))
}

function responseTexts(
  { devices }: DeviceSet,
  of: AuditedRequest,
  answer: AuditedAnswer,
): readonly string[] | Promise<readonly string[]> {
  return all(devices.map(({ format }) => format.response(of, answer)))
}

function all(texts: readonly (string | Promise<string>)[]): readonly string[] | Promise<readonly string[]> {
  for (const text of texts) if (text instanceof Promise) return Promise.all(texts)
  return texts as readonly string[]
}

function joined(requests: readonly string[], responses: readonly string[]): readonly string[] {
  return requests.map((text, at) => text + (responses[at] as string))
}
