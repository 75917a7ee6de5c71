// Bugs that following could have, planted between the parts of the program: a run must find each. `seed` is one that
// does, and `finds` the beginning of what it says.
import { strict as assert } from 'node:assert'
import type { LinkControl, LinkOwner } from '../../../src/replication/link/link-sides.ts'
import type { SinkBatch } from '../../../src/replication/sink/sink-parts.ts'
import type { SourceStore } from '../../../src/replication/source/source-parts.ts'
import type { Adopted, LogRecord, StorageClass } from '../../../src/storage/contract.ts'
import { decodeChange, encodeChange } from '../../../src/storage/log/change-record.ts'
import type { Outcome } from './seeded-run.ts'
import { runSet } from './set-run.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { Seams } from './simulated-set.ts'

export type PlantedBug = {
  readonly name: string
  readonly seams: Seams
  readonly seed: number
  readonly finds: string
}

type Take = (batch: SinkBatch) => Promise<Adopted>

/** The secondary takes what came in another way. */
const taking = (taken: (take: Take, batch: SinkBatch, cluster: SimulatedCluster) => Promise<Adopted>): Seams => ({
  owner: (owner, cluster) => ({
    ...owner,
    take: (family, batch) => taken((changed) => owner.take(family, changed), batch, cluster),
  }),
})

/** Writes entries of records without their place, as a program would that keeps both apart. */
export async function writeEntries(cluster: SimulatedCluster, { records }: SinkBatch): Promise<void> {
  const { life } = cluster
  if (life === undefined) return
  await cluster.withoutGate(() =>
    life.store.transaction(async (tx) => {
      for (const { record } of records) {
        for (const { kind, scope, key, value } of decodeChange(record, 'sent record').operations) {
          if (kind === 'put') tx.put(scope, key, value)
          else tx.delete(scope, key)
        }
      }
    }),
  )
}

/** The log as it is sent, with entries of one class as if they were of another. */
export const relabelled = (from: StorageClass, to: StorageClass): Seams => ({
  source: (store) => ({
    ...sourceVerbs(store),
    records: async (index, limit) => (await store.records(index, limit)).map((each) => labelled(each, from, to)),
  }),
})

function labelled({ index, record }: LogRecord, from: StorageClass, to: StorageClass): LogRecord {
  const change = decodeChange(record, `log record ${index}`)
  if (!change.operations.some((operation) => operation.class === from)) return { index, record }
  const leaf = Buffer.alloc(16, 1)
  const operations = change.operations.map((operation) =>
    operation.class === from
      ? { ...operation, class: to, oldLeaf: leaf, newLeaf: operation.kind === 'put' ? leaf : operation.newLeaf }
      : operation,
  )
  return { index, record: encodeChange({ ...change, operations }, Buffer.alloc(16)).record }
}

const sourceVerbs = (store: SourceStore): SourceStore => ({
  position: () => store.position(),
  histories: () => store.histories(),
  records: (index, limit) => store.records(index, limit),
  snapshot: () => store.snapshot(),
  committedAfter: (index) => store.committedAfter(index),
})

/** Links of this cluster to its secondaries are never cut. */
const withoutDisconnect = (control: LinkControl): LinkControl => ({
  ...control,
  disconnect: async () => {},
})

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a gap is skipped: of several records in one step the first is lost',
    seams: taking((take, batch) =>
      take(batch.records.length < 2 ? batch : { ...batch, records: batch.records.slice(1) }),
    ),
    seed: 2,
    finds: 'I3',
  },
  {
    name: 'a record is applied twice, the second time behind the next ones',
    seams: (() => {
      const last = new WeakMap<SimulatedCluster, SinkBatch>()
      return taking(async (take, batch, cluster) => {
        const outcome = await take(batch)
        const before = last.get(cluster)
        if (outcome.kind === 'adopted' && before !== undefined && batch.mode === 'follow') {
          await writeEntries(cluster, before)
        }
        last.set(cluster, batch)
        return outcome
      })
    })(),
    seed: 2,
    finds: 'I3',
  },
  {
    name: 'the place is stored before the data',
    seams: taking(async (take, batch, cluster) => {
      if (batch.mode !== 'follow' || batch.records.length === 0) return take(batch)
      const outcome = await take({ ...batch, records: [] })
      if (outcome.kind === 'adopted') await writeEntries(cluster, batch)
      return outcome
    }),
    seed: 6,
    finds: 'I3',
  },
  {
    name: 'the leaf of what a change replaces is not checked',
    seams: taking((take, batch) => take(batch.mode === 'follow' ? { ...batch, mode: 'redo' } : batch)),
    seed: 6,
    finds: 'I3',
  },
  {
    name: 'the leaf of what a change replaces is not checked of what comes for performance',
    seams: {
      owner: (owner) => ({
        ...owner,
        take: (family, batch) => {
          const isUnchecked = family === 'performance' && batch.mode === 'follow'
          return owner.take(family, isUnchecked ? { ...batch, mode: 'redo' } : batch)
        },
      }),
    },
    seed: 6,
    finds: 'I3',
  },
  {
    name: 'a term of the keyring is told to serving threads late',
    seams: { announcedLateMs: 200 },
    seed: 21,
    finds: 'I16',
  },
  {
    name: 'entries of class ignored are sent',
    seams: relabelled('ignored', 'local'),
    seed: 1,
    finds: 'I8',
  },
  {
    name: 'entries of class local are sent to a performance secondary, which is to leave them out',
    seams: relabelled('local', 'replicated'),
    seed: 6,
    finds: 'I8',
  },
  {
    name: 'a revocation closes no link',
    seams: { control: withoutDisconnect },
    seed: 150,
    finds: 'I17',
  },
  {
    name: 'the log is kept for as long as the slowest secondary needs',
    seams: { holdCaps: { secondary: Number.MAX_SAFE_INTEGER, copy: Number.MAX_SAFE_INTEGER } },
    seed: 8,
    finds: 'I20',
  },
  {
    name: 'what was taken is acknowledged before it is durable',
    seams: taking(async (take, batch) => {
      if (batch.mode !== 'follow') return take(batch)
      take(batch).catch(() => {})
      return { kind: 'adopted', index: batch.at.index }
    }),
    seed: 48,
    finds: 'I5',
  },
  {
    name: 'a copy that was broken off is taken for whole',
    seams: taking((take, batch) => take({ ...batch, transfer: undefined })),
    seed: 1,
    finds: 'I3',
  },
  {
    name: 'a token lets two clusters in',
    seams: {
      owner: (owner) => {
        let given: Awaited<ReturnType<LinkOwner['claim']>> | undefined
        return {
          ...owner,
          claim: async (arrival, claim) => {
            const answer = await owner.claim(arrival, claim)
            if (typeof answer === 'object' && 'keyring' in answer) given = answer
            return typeof answer === 'object' && 'refused' in answer ? (given ?? answer) : answer
          },
        }
      },
    },
    seed: 25,
    finds: 'I17',
  },
  {
    name: 'serving threads are not told of what was applied',
    seams: { isUnpublished: (cluster) => cluster.name !== 'p' },
    seed: 4,
    finds: 'I16',
  },
  {
    name: 'the primary waits for its secondaries before it answers',
    seams: { acknowledging: (cluster) => untilAcknowledged(cluster) },
    seed: 6,
    finds: 'I19',
  },
  {
    name: 'a link on which nothing arrives is believed to be up',
    seams: { times: { silenceMs: Number.MAX_SAFE_INTEGER } },
    seed: 15,
    finds: 'I25',
  },
  {
    name: 'roots are not compared',
    seams: {
      owner: (owner) => ({
        ...owner,
        root: async (...asked) => ({ ...(await owner.root(...asked)), root: Buffer.alloc(32) }),
        ownRoot: async () => Buffer.alloc(32),
      }),
    },
    seed: 1,
    finds: 'I21',
  },
  {
    name: 'a restore forgets the histories that it leaves',
    seams: {
      owner: (owner) => ({
        ...owner,
        admit: async (arrival, ...shown) => {
          const answer = await owner.admit(arrival, ...shown)
          return 'refused' in answer ? answer : { ...answer, abandoned: [] }
        },
      }),
    },
    seed: 700_109,
    finds: 'I21',
  },
]

/** Waits until each secondary that is connected has acknowledged all. */
async function untilAcknowledged(cluster: SimulatedCluster): Promise<void> {
  const { life } = cluster
  assert.ok(life !== undefined)
  const { index } = await life.store.position()
  for (;;) {
    const { secondaries } = await life.host.status()
    if (secondaries.every(({ acknowledgedIndex }) => (acknowledgedIndex ?? 0) >= index)) return
    await cluster.set.pause(5)
  }
}

/** Tells for each bug the first seed that finds it, by the arguments of the process: [MOST [FIRST [TEXT]]]. */
export async function findSeeds(
  bugs: readonly PlantedBug[],
  run: (seed: number, seams: Seams) => Promise<Outcome>,
): Promise<void> {
  const [most, first, text = ''] = [Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 1), process.argv[4]]
  for (const { name, seams, finds } of bugs.filter((bug) => bug.name.includes(text))) {
    const others = new Set<string>()
    let seed = first
    for (; seed <= most; seed++) {
      const { fault } = await run(seed, seams)
      if (fault?.includes(`: ${finds} `) === true) break
      if (fault !== undefined) others.add(fault)
    }
    const beside = others.size === 0 ? '' : `; before it: ${[...others].slice(0, 2).join(' | ').slice(0, 300)}`
    process.stdout.write(`${seed > most ? 'not found' : seed}: ${name}${beside}\n`)
  }
}

// node planted-bugs.ts [MOST [FIRST [TEXT]]]: finds for each bug (whose name has the text) the first seed of these that
// finds it.
if (import.meta.main) await findSeeds(PLANTED_BUGS, runSet)
