// Promises P-01 and P-08 under power loss: every call of a server that reaches the disk is recorded under load, with
// the moments of its answers; from the recording disks are made as a power cut may have left them, at many points and
// in many ways (disk.ts), and the store is opened on each. IMAGES: how many; `npm run torture:power` is the long form.
import { strict as assert } from 'node:assert'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type PseudoRandom, pseudoRandom } from '../../../fixtures/pseudo-random.ts'
import { testSeed } from '../../../fixtures/seed.ts'
import { PROJECT, temporaryDirectory } from '../../../fixtures/server-process.ts'
import { cannotTrace } from '../../../fixtures/strace.ts'
import { Checker } from './checker.ts'
import { Disk } from './disk.ts'
import { recordSession, type Session } from './session.ts'

const IMAGES = Number(process.env.IMAGES ?? '100')
/** With these the journal is moved into the file several times. */
const WRITES = 40
/** Enough for some to be cut where much was acknowledged. */
const UNSYNCED_IMAGES = 20
const UNSYNCED_WRITES = 5
/** The images need not be durable themselves. */
const MEMORY = '/dev/shm'

const RARE = ['create', 'mkdir', 'rename', 'unlink', 'rmdir', 'truncate']

type Result = { readonly tried: number; readonly faults: readonly string[]; readonly checker: Checker }

/** Cuts the power at `images` random places. Ends with the first image that is not as it was promised. */
async function tryImages(session: Session, folder: string, images: number, random: PseudoRandom): Promise<Result> {
  const checker = new Checker(session, join(folder, 'image'))
  const cuts = Array.from({ length: images }, () => placeToCut(session, random)).sort((a, b) => a - b)
  const disk = new Disk(session.root)
  let tried = 0
  let played = 0
  for (const cut of cuts) {
    for (; played < cut; played++) disk.apply(session.events[played] as Session['events'][number])
    const image = disk.crash(random)
    tried++
    const faults = await checker.faultsOf(image, cut, random)
    const how = [...image.fates].map(([path, fate]) => `${path.slice(session.root.length)} ${fate}`).join(', ')
    if (faults.length > 0) return { tried, faults: [`cut before call ${cut} with ${how}:`, ...faults], checker }
  }
  return { tried, faults: [], checker }
}

/** Half of the cuts come close behind a rare call: a name that changes, a file that gets shorter. */
function placeToCut({ events }: Session, random: PseudoRandom): number {
  if (random.chance(0.5)) return random.int(events.length + 1)
  const rare = events.flatMap(({ kind }, at) => (RARE.includes(kind) ? [at] : []))
  return Math.min(events.length, random.pick(rare) + 1 + random.int(12))
}

async function recorded(
  context: TestContext,
  writes: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly session: Session; readonly folder: string; readonly random: PseudoRandom }> {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory(existsSync(MEMORY) ? MEMORY : undefined)
  context.after(() => temporary.cleanUp())
  const session = await recordSession({ folder: temporary.path, random, writes, env })
  return { session, folder: temporary.path, random }
}

const count = (session: Session, kind: string): number => session.events.filter((event) => event.kind === kind).length

test(`P-01, P-08, F-02: no acknowledged write is lost on ${IMAGES} disks that a power cut may leave`, {
  skip: cannotTrace(),
}, async (context) => {
  const { session, folder, random } = await recorded(context, WRITES)
  const { tried, faults, checker } = await tryImages(session, folder, IMAGES, random)
  const intoFile = session.events.filter((event) => event.kind === 'write' && event.path.endsWith('/keywright.db'))
  const kinds = ['write', 'sync-ends', 'truncate', 'create', 'rename', 'unlink', 'answer']
  context.diagnostic(
    `${tried} images, ${checker.opened} of them opened, ${checker.compared} values compared; recorded: ` +
      kinds.map((kind) => `${count(session, kind)} ${kind}`).join(', ') +
      `; ${intoFile.length} writes moved the journal into the file`,
  )
  assert.deepEqual(faults, [])
  assert.ok(checker.opened > IMAGES / 2, 'most images held no store: this run proves nothing')
  for (const kind of kinds) assert.ok(count(session, kind) > 0, `nothing of the kind ${kind} was recorded`)
})

test('F-02: of a server that does not wait for its disk the same images show what was lost', {
  skip: cannotTrace(),
}, async (context) => {
  const hook = pathToFileURL(join(PROJECT, 'test/fixtures/never-syncs.ts')).href
  const { session, folder, random } = await recorded(context, UNSYNCED_WRITES, { NODE_OPTIONS: `--import=${hook}` })
  const { tried, faults } = await tryImages(session, folder, UNSYNCED_IMAGES, random)
  context.diagnostic(`image ${tried} shows it: ${faults[1]?.split('\n')[0] ?? ''}`)
  assert.notDeepEqual(faults, [], 'a loss that is certain was not seen')
})
