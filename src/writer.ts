// The thread that writes: it alone has the store open for writing.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { factsOf, type ServerConfig } from './config.ts'
import { openDevelopment } from './development.ts'
import { logTo } from './lib/log-writer.ts'
import { realWorld } from './lib/world.ts'
import type { Restorable } from './restore.ts'
import { staticSeal } from './static-seal.ts'
import { StorageError } from './storage/contract.ts'
import { ReplaceableStore } from './storage/replaceable-store.ts'
import { openSqliteStore } from './storage/sqlite-store.ts'
import { adoptStaged } from './storage/staged-store.ts'
import { AutoSealFailed } from './system/auto-seal.ts'
import { forgetCommits, type PublishedIndex, publishIndex } from './threads/change-follower.ts'
import { ServingLink } from './threads/writer-link.ts'
import { buildWriterHouse, type SealNews } from './writer-house.ts'

export type WriterData = {
  readonly config: ServerConfig
  readonly directory: string
  readonly published: PublishedIndex
  /** The development server opens itself; undefined for every other. */
  readonly development: { readonly rootToken: string | undefined } | undefined
}

/** What the starting thread is told, before anything else is said on the port. */
export type WriterStarted =
  | { readonly kind: 'started'; readonly development: DevelopmentFacts | undefined }
  | { readonly kind: 'failed'; readonly message: string }
/** What the starting thread says. */
export type WriterOrder = { readonly kind: 'link'; readonly port: MessagePort } | { readonly kind: 'stop' }
export type DevelopmentFacts = { readonly unsealKey: string; readonly rootToken: string }

/** Storage could not make a write durable: nothing more can be promised, so the process ends (threats P-02). */
export const EXIT_STORAGE_FAILED = 74

async function start(parent: MessagePort, data: WriterData): Promise<void> {
  const world = realWorld()
  const log = logTo(process.stderr, world.clock)
  const { storage } = data.config
  const retention = storage.type === 'sqlite' ? storage.retention : undefined
  const open = () =>
    openSqliteStore({
      directory: data.directory,
      ...(retention === undefined ? {} : { retention }),
      random: world.random,
      clock: world.clock,
      onCommitting: (index) => publishIndex(data.published, index),
      onFatal: (cause) => {
        log('error', 'A write could not be made durable: the server ends', { cause: cause.message })
        parent.postMessage({ kind: 'fatal' })
      },
    })
  const store = new ReplaceableStore(await open())
  const reopen = async () => {
    try {
      return await open()
    } catch (cause) {
      log('error', 'The store could not be opened after a restore: the server ends', { cause: String(cause) })
      parent.postMessage({ kind: 'fatal' })
      throw cause
    }
  }
  const restorable: Restorable = {
    directory: data.directory,
    position: async () => {
      const snapshot = await store.snapshot()
      await snapshot.close()
      return snapshot.position
    },
    adopt: async () => {
      try {
        await store.putAway()
        adoptStaged(data.directory)
      } finally {
        store.putBack(await reopen())
      }
    },
  }
  const links = new Set<ServingLink<SealNews>>()
  const house = await buildWriterHouse({
    store,
    world,
    log,
    facts: factsOf(data.config, 'sqlite'),
    ...(data.config.seal === undefined ? {} : { autoSeal: staticSeal(data.config.seal, process.env) }),
    tokenLimits: data.config,
    announce: async (news) => {
      await Promise.all([...links].map((link) => link.tell(news)))
      // Not before: a thread that sees it raised reads the log.
      if (news.store === 'back') publishIndex(data.published, await store.lastIndex())
    },
    restorable,
  })
  forgetCommits(store, house.invalidation)
  publishIndex(data.published, await store.lastIndex())
  const development =
    data.development === undefined
      ? undefined
      : await openDevelopment(house, data.directory, data.development.rootToken)
  await house.openByItself()
  parent.on('message', (order: WriterOrder) => {
    if (order.kind === 'stop') {
      void house
        .rest()
        .then(() => store.close())
        .finally(() => process.exit(0))
    } else addLink(order.port)
  })
  parent.postMessage({ kind: 'started', development } satisfies WriterStarted)

  /** A thread that serves joins: it hears at once whether the server is sealed, and from then on every change. */
  function addLink(port: MessagePort): void {
    const link = new ServingLink<SealNews>(port, (request) => house.core.handle(request))
    links.add(link)
    port.on('close', () => links.delete(link))
    void link.tell({ status: house.seal.status(), keyring: house.storage.barrier.keyring })
  }
}

/** What a person can mend is said in a sentence; anything else is our fault and keeps its stack. */
function sentence(cause: unknown): string {
  if (cause instanceof StorageError || cause instanceof AutoSealFailed) return cause.message
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

if (parentPort !== null) {
  const parent = parentPort
  start(parent, workerData as WriterData).catch((cause: unknown) => {
    parent.postMessage({ kind: 'failed', message: sentence(cause) } satisfies WriterStarted)
  })
}
