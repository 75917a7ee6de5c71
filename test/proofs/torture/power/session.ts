// What is recorded: two servers one after the other over one directory, under load; the second one also gets back the
// state that the first one saved in the middle, and goes on from there.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findDevelopmentKeys } from '../../../../src/assembly/development.ts'
import { type PseudoRandom, pseudoRandom } from '../../../fixtures/pseudo-random.ts'
import { type History, historyOf, type Written } from './checker.ts'
import { Disk } from './disk.ts'
import { type DiskEvent, readDiskLog } from './disk-log.ts'
import { type AnswerId, Client, latestOf, OneConnection, placesOfAnswers, type Register } from './load.ts'
import { layOut } from './opened-image.ts'
import { startRecorded } from './recording.ts'

const CLIENTS = 4

export type Session = Written & {
  readonly events: readonly DiskEvent[]
}

export type SessionOptions = {
  readonly folder: string
  readonly random: PseudoRandom
  /** Of each client, three times. */
  readonly writes: number
  readonly env?: Readonly<Record<string, string>>
}

type Work = (load: () => Promise<void>, one: OneConnection) => Promise<void>

export async function recordSession({ folder, random, writes, env }: SessionOptions): Promise<Session> {
  const root = join(folder, 'disk')
  mkdirSync(root, { mode: 0o700 })
  const registers: Register[] = []
  const clients = Array.from(
    { length: CLIENTS },
    (_, i) => new Client(`c${i}`, pseudoRandom(random.int(2 ** 31)), registers),
  )
  const events: DiskEvent[] = []
  const places = new Map<string, number>()
  const run = async (number: number, work: Work): Promise<void> => {
    const log = join(folder, `calls-${number}`)
    const server = await startRecorded(join(root, 'data'), log, env)
    const connections = clients.map(() => new OneConnection(server.address, number))
    const load = async (): Promise<void> => {
      await Promise.all(connections.map((connection, i) => clients[i]?.run(connection, writes)))
    }
    try {
      await work(load, connections[0] as OneConnection)
    } finally {
      for (const connection of connections) connection.close()
      await server.end()
    }
    const recorded = readDiskLog(log, root)
    for (const [answer, at] of placesOfAnswers(recorded)) places.set(`${number} ${answer}`, events.length + at)
    events.push(...recorded)
  }

  let snapshot = Buffer.alloc(0)
  let saved = new Map<Register, string>()
  await run(1, async (load, one) => {
    must(await one.send('POST', 'sys/mounts/transit', { type: 'transit' }))
    await load()
    snapshot = must(await one.send('GET', 'sys/storage/snapshot')).data.bytes as Buffer<ArrayBuffer>
    saved = new Map(registers.map((register) => [register, latestOf(register)]))
  })
  await run(2, async (load, one) => {
    await load()
    const { answer } = must(await one.send('POST', 'sys/storage/snapshot', snapshot))
    const [key] = findDevelopmentKeys(join(root, 'data'))
    must(await one.send('PUT', 'sys/unseal', { key: key?.toString('base64') }))
    for (const register of registers) register.writes.push({ value: saved.get(register) ?? 'absent', answer })
    await load()
  })

  const placeOf = ({ run, port, count }: AnswerId) => places.get(`${run} ${port} ${count}`)
  const states = [events.slice(0, adoption(events, join(root, 'data'))), events]
  const histories = await Promise.all(states.map((each, i) => historyAt(each, root, join(folder, `history-${i}`))))
  return { root, events, registers, placeOf, histories }
}

function must<T extends { readonly status: number }>(answer: T): T {
  if (answer.status >= 300) throw new Error(`A request of the recording was refused with ${answer.status}`)
  return answer
}

/** Where the store that was restored took the place of the one before, which had said its last by then. */
function adoption(events: readonly DiskEvent[], data: string): number {
  const place = join(data, 'keywright.db')
  const at = events.findLastIndex((event) => event.kind === 'rename' && event.to === place)
  if (at === -1) throw new Error('The recording lacks the restore')
  return at
}

/** The log of the store as it is after these events, with the power on. */
async function historyAt(events: readonly DiskEvent[], root: string, directory: string): Promise<History> {
  const disk = new Disk(root)
  for (const event of events) disk.apply(event)
  layOut(disk.current(), root, directory)
  return historyOf(join(directory, 'data'))
}
