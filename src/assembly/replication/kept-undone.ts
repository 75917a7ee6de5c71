// The records that a new primary undid here: keeps them before, and shows them afterwards, opened with the keys of now
// and of that day.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import type { Place } from '../../replication/protocol/messages.ts'
import { readState } from '../../replication/set/records.ts'
import { keepUndone, UNDONE_LIMITS, type UndoneLimits } from '../../replication/undone/keeping.ts'
import {
  headKey,
  pageFolder,
  readHead,
  readHeads,
  readRecords,
  type UndoneHead,
  type Vault,
} from '../../replication/undone/undone-records.ts'
import { Barrier, openRecord } from '../../storage/barrier.ts'
import { type Change, type ChangeOperation, type Store, systemScope } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { type Keyring, replacedBy } from '../../storage/keyring.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { isShowable } from '../../system/raw-storage.ts'
import type {
  UndoneOperation,
  UndoneRecord,
  UndoneRecords,
  UndoneSet,
  WantedUndone,
} from '../../system/replication-operations.ts'
import { KEYRING, openKeyring, readRecord, sealedRecord } from '../../system/seal/seal-records.ts'

/** Of the records in one answer: values in base64 must not make it larger than clients take. */
const SHOWN_BYTES = 8 * 1024 * 1024

/** The parts that it works with. */
export type KeptUndoneParts = {
  /** The view of replication/set/records.ts. */
  readonly view: View
  readonly store: Store
  readonly barrier: Barrier
  readonly world: Pick<World, 'clock' | 'random'>
  readonly log: Log
  /** @throws Refusal while sealed */
  readonly rootKey: () => KeyObject
}

/** The undone records of one server. */
export class KeptUndone implements UndoneRecords {
  readonly #parts: KeptUndoneParts
  readonly #limits: UndoneLimits
  readonly #vault: Vault
  /** A set is not deleted while it is being kept. */
  readonly #changes = new OneAtATime()

  constructor(parts: KeptUndoneParts, limits: UndoneLimits = UNDONE_LIMITS) {
    this.#parts = parts
    this.#limits = limits
    const { world, rootKey } = parts
    this.#vault = {
      seal: (key, plaintext) => sealedRecord(world.random, key, rootKey(), plaintext),
      open: (key, record) => opened(rootKey(), key, record),
    }
  }

  /** Keeps what this cluster has behind the fork: before anything of the primary is applied that undoes it. */
  keep(family: ReplicationFamily, fork: Place): Promise<void> {
    const { view, store, world, log } = this.#parts
    return this.#changes.run(async () => {
      const setId = (await view.transaction((tx) => readState(tx, family)))?.setId ?? ''
      const keyring = await readRecord(store, KEYRING)
      const common = { store, vault: this.#vault, clock: world.clock, log, limits: this.#limits }
      await keepUndone({ ...common, setId, keyring }, family, fork)
    })
  }

  async list(): Promise<readonly UndoneSet[]> {
    const heads = await readHeads(this.#parts.store, this.#vault)
    return heads.map(({ id, head: { keyring: _, ...told } }) => ({ id, ...told }))
  }

  /** Records of all sets of the family that are kept. Undefined where one is damaged: status goes on without it. */
  async count(family: ReplicationFamily): Promise<number | undefined> {
    const sets = await this.#readable()
    return sets?.reduce((sum, one) => sum + (one.family === family ? one.records - one.leftOut : 0), 0)
  }

  async #readable(): Promise<readonly UndoneSet[] | undefined> {
    try {
      return await this.list()
    } catch (cause) {
      if (cause instanceof StorageCorrupt) return undefined
      throw cause
    }
  }

  async show({ id, after, limit, withValues }: WantedUndone) {
    const { store } = this.#parts
    const head = await readHead(store, this.#vault, id)
    if (head === undefined) return undefined
    const page = { after, limit, bytes: SHOWN_BYTES }
    const { changes, isEnd } = await readRecords(store, this.#vault, id, page)
    const barrier = this.#barrierOf(head)
    return { records: changes.map((change) => recordOf(change, head, barrier, withValues)), isEnd }
  }

  remove(id: string): Promise<boolean> {
    const { store } = this.#parts
    return this.#changes.run(async () => {
      if ((await readHead(store, this.#vault, id)) === undefined) return false
      await store.transaction(async (tx) => {
        for (const name of await tx.list(pageFolder(id))) tx.delete(systemScope, pageFolder(id) + name)
        tx.delete(systemScope, headKey(id))
      })
      return true
    })
  }

  /** Opens what the present keyring opens, and what that of the set does. */
  #barrierOf({ keyring: stored }: UndoneHead): Barrier {
    const { barrier, world, rootKey } = this.#parts
    const kept = openKeyring(rootKey(), Buffer.from(stored, 'base64'))
    const present: Keyring | undefined = barrier.keyring
    return new Barrier(world.random, present === undefined ? kept : replacedBy(kept, present))
  }
}

/** @throws StorageCorrupt for a record that is damaged, or was moved here */
function opened(rootKey: KeyObject, key: string, record: Buffer): Buffer {
  try {
    return openRecord(rootKey, 0, key, record)
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    throw new StorageCorrupt(`The record at ${key} is not what was written there`, { cause })
  }
}

function recordOf(change: Change, { family }: UndoneHead, barrier: Barrier, withValues: boolean): UndoneRecord {
  const { index, committedAtMs, origins, operations } = change
  return {
    index,
    primaryIndex: origins.find((origin) => origin.family === family)?.index,
    committedAtMs,
    operations: operations.map((operation) => operationOf(operation, barrier, withValues)),
  }
}

/** What a cluster is in its sets, with the keys that prove it: no client wrote it, and no operator needs it. */
const OWN_PARTS = 'core/replication/'

function operationOf(operation: ChangeOperation, barrier: Barrier, withValues: boolean): UndoneOperation {
  const { kind, class: storageClass, scope, key } = operation
  const path = key.slice(key.indexOf('/') + 1)
  const isShown = isShowable(path) && !path.startsWith(OWN_PARTS)
  const value = kind === 'put' && isShown ? clearValue(operation, barrier) : undefined
  if (!withValues) value?.fill(0)
  return {
    kind,
    class: storageClass,
    mount: scope.mount,
    path,
    isOpen: value !== undefined,
    value: withValues ? value : undefined,
  }
}

/** The value in clear; undefined if no key that is here opens it. */
function clearValue({ key, value }: ChangeOperation, barrier: Barrier): Buffer | undefined {
  try {
    return barrier.open(key, value)
  } catch (cause) {
    if (!(cause instanceof StorageCorrupt)) throw cause
    return undefined
  }
}
