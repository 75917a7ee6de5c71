import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Backend, HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import { openSqliteBackend } from '../../src/storage/sqlite-store.ts'
import { openStore } from '../../src/storage/transactional-store.ts'
import { delayedBackend } from './delayed-backend.ts'
import { SeededRandom, seedOfRun } from './seeded-random.ts'
import { type Place, storageConformance } from './storage.ts'

const newRandom = (): SeededRandom => new SeededRandom(seedOfRun())

type Wrap = (backend: Backend) => Backend
const asItIs: Wrap = (backend) => backend
const delayed: Wrap = (backend) => delayedBackend(backend, newRandom())

function memoryPlace(wrap: Wrap): Place {
  const backend = new MemoryBackend(newRandom().bytes(HISTORY_ID_BYTES))
  return {
    open: (options, interpose) => openStore(interpose(wrap(backend)), options),
    discard: async () => {},
  }
}

function sqlitePlace(wrap: Wrap): Place {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-storage-'))
  return {
    open: (options, interpose) => openStore(interpose(wrap(openSqliteBackend(directory, newRandom()))), options),
    discard: async () => rmSync(directory, { recursive: true }),
  }
}

storageConformance('memory', async () => memoryPlace(asItIs))
storageConformance('memory with delays', async () => memoryPlace(delayed))
storageConformance('sqlite', async () => sqlitePlace(asItIs))
storageConformance('sqlite with delays', async () => sqlitePlace(delayed))
