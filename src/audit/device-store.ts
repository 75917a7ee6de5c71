// Stores audit devices and what belongs to them (docs/storage-format.md):
//
//   root/core/audit/UUID          a device
//   root/core/local-audit/UUID    one that stays out of performance replication
//   root/core/declared-audit/UUID one that this server's configuration declares: no other cluster gets it
//   root/core/audit-key           the key that signs chains: PKCS #8, DER
//   root/core/audit-headers       which request headers are recorded
//   root/core/audit-history       of which history of the store it is (state-origin.ts)
//
// Earlier releases stored declared devices under local-audit/. They are read there only to take over their salt.
import { isCredentialHeader } from '../api/credential-headers.ts'
import { importSigningKey, newSigningKey } from '../crypto/signatures/text-signature.ts'
import type { Log } from '../lib/log.ts'
import { base64, flag, group, mapOf, oneOf, text } from '../lib/member-kinds.ts'
import type { Random } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { History } from '../storage/peer-log.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import type { RestoredState, StateOrigin } from './device.ts'
import type { AuditedHeaders } from './entry.ts'
import { noteHistory, readOrigin, removeFormerHistory } from './state-origin.ts'

/** The stored form of an audit device, with the salt of its HMACs. */
export const STORED_DEVICE = storedRecord('An audit device', {
  format: oneOf(1),
  uuid: text,
  /** Ends in '/'. */
  path: text,
  type: text,
  description: text,
  options: mapOf(text),
  local: flag,
  /** True if the configuration file declares the device. */
  isDeclared: flag,
  /** Key of its HMACs, 32 bytes; never shown. */
  salt: base64,
})
/** A device as the program has it. */
export type StoredDevice = RecordOf<typeof STORED_DEVICE>

/** The stored list of recorded request headers. */
export const RECORDED_HEADERS = storedRecord('The list of recorded headers', {
  headers: mapOf(group({ hmac: flag })),
})

const FOLDERS = { shared: 'audit/', local: 'local-audit/', declared: 'declared-audit/' } as const
const KEY = 'audit-key'
const HEADERS = 'audit-headers'
const CORE = `${ROOT_NAMESPACE}/core/`
const SALT_BYTES = 32

/** Prefixes of the stored keys below the namespace, for invalidation. */
export const STORED_PREFIXES = ['core/audit', 'core/local-audit/', 'core/declared-audit/']

/** Everything that is stored for audit, as read at one moment. */
export type StoredAudit = {
  readonly devices: readonly StoredDevice[]
  readonly headers: AuditedHeaders
  readonly headerNames: readonly string[]
  /** The key that signs chains; undefined on a cluster that has not made one yet. */
  readonly signingKey: ReturnType<typeof importSigningKey> | undefined
  /** How the state of this server began. */
  readonly origin: StateOrigin
}

type Reads = Pick<View, 'get' | 'list'>

/** Access to what is stored for audit. Any thread may read; only the one that writes may change. */
export class DeviceStore {
  readonly #view: View
  readonly #random: Random
  readonly #log: Log

  constructor(storage: SealedStorage, random: Random, log: Log) {
    this.#log = log
    this.#view = storage.view(systemScope, CORE)
    this.#random = random
  }

  /** Reads everything. Devices are in order of their paths. */
  async read(): Promise<StoredAudit> {
    const devices = await readDevices(this.#view)
    const der = await this.#view.get(KEY)
    const signingKey = der === undefined ? undefined : importSigningKey(der)
    der?.fill(0)
    const headers = this.#readable(await this.#view.get(HEADERS))
    const origin = await readOrigin(this.#view)
    return { devices, headers, headerNames: [...headers.keys()], signingKey, origin }
  }

  /**
   * Notes the store's history at each unseal, on the thread that writes. Returns what happened to the store since the
   * last one.
   */
  noteHistory(histories: readonly History[], now: () => RestoredState): Promise<StateOrigin> {
    return noteHistory(this.#view, histories, now)
  }

  /**
   * Decodes the list of headers. If it is damaged, no headers are recorded and the log says so: a server that could not
   * be unsealed for it would be worse.
   */
  #readable(bytes: Buffer | undefined): AuditedHeaders {
    try {
      return decodeHeaders(bytes)
    } catch (cause) {
      const name = cause instanceof Error ? cause.name : 'unknown'
      this.#log('error', 'The list of recorded headers cannot be read: audit records no headers', { cause: name })
      return new Map()
    }
  }

  /** Runs `change` in a transaction, with the stored devices. It may run again if the transaction conflicts. */
  transaction(change: (devices: readonly StoredDevice[], tx: DeviceTransaction) => void): Promise<void> {
    return this.#view.transaction(async (tx) => {
      change(await readDevices(tx), new DeviceTransaction(tx))
    })
  }

  /** Returns a new device with a salt of its own; it is not stored yet. */
  made(given: Omit<StoredDevice, 'format' | 'uuid' | 'salt'>): StoredDevice {
    const salt = this.#random.bytes(SALT_BYTES).toString('base64')
    return { format: 1, uuid: this.#random.uuid(), ...given, salt }
  }

  /** The declared devices as earlier releases stored them. */
  readFormer(): Promise<StoredDevice[]> {
    return readFormer(this.#view)
  }

  /** Removes what earlier releases stored in another class. It was stored anew before, by `noteHistory` and others. */
  removeFormer(): Promise<void> {
    return this.#view.transaction(async (tx) => {
      for (const { uuid } of await readFormer(tx)) tx.delete(FOLDERS.local + uuid)
      await removeFormerHistory(tx)
    })
  }

  /** Stores what `change` makes of the list of headers. */
  setHeaders(change: (headers: AuditedHeaders) => AuditedHeaders): Promise<void> {
    return this.#view.transaction(async (tx) => {
      const changed = change(this.#readable(await tx.get(HEADERS)))
      tx.put(HEADERS, RECORDED_HEADERS.encode({ headers: Object.fromEntries(changed) }))
    })
  }
}

/** Changes of devices within one transaction. */
export class DeviceTransaction {
  readonly #tx: ViewTransaction

  constructor(tx: ViewTransaction) {
    this.#tx = tx
  }

  put(device: StoredDevice): void {
    this.#tx.put(keyOf(device), STORED_DEVICE.encode(device))
  }

  delete(device: StoredDevice): void {
    this.#tx.delete(keyOf(device))
  }
}

/**
 * Makes the key that signs chains, where there is none. A device that another cluster shares needs it here too, so it
 * does not wait for the first device.
 */
export async function addSigningKey(tx: ViewTransaction, random: Random): Promise<void> {
  if ((await tx.get(KEY)) !== undefined) return
  const key = newSigningKey(random.bytes)
  tx.put(KEY, key)
  key.fill(0)
}

/** Key of a device. Declared devices depend on this server's configuration, so no other cluster gets them. */
function keyOf({ uuid, local, isDeclared }: StoredDevice): string {
  if (isDeclared) return FOLDERS.declared + uuid
  return (local ? FOLDERS.local : FOLDERS.shared) + uuid
}

/**
 * All devices in order of their paths. Of those at one path the first is what the path means: a local device before one
 * of the set, which came from the primary, and both before a declared one.
 */
async function readDevices(from: Reads): Promise<StoredDevice[]> {
  const shared = await readFolder(from, FOLDERS.shared)
  const local = (await readFolder(from, FOLDERS.local)).filter(({ isDeclared }) => !isDeclared)
  const devices = [...local, ...shared, ...(await readFolder(from, FOLDERS.declared))]
  return devices.sort((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1))
}

const readFormer = async (from: Reads): Promise<StoredDevice[]> =>
  (await readFolder(from, FOLDERS.local)).filter(({ isDeclared }) => isDeclared)

async function readFolder(from: Reads, folder: string): Promise<StoredDevice[]> {
  const devices: StoredDevice[] = []
  for (const uuid of await from.list(folder)) {
    const bytes = await from.get(folder + uuid)
    if (bytes !== undefined) devices.push(STORED_DEVICE.decode(bytes))
  }
  return devices
}

function decodeHeaders(bytes: Buffer | undefined): AuditedHeaders {
  const { headers } = bytes === undefined ? { headers: {} } : RECORDED_HEADERS.decode(bytes)
  return new Map(Object.entries(headers).filter(([name]) => !isCredentialHeader(name)))
}
