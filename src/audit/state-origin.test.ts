import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyLog } from '../../test/fixtures/audit-log.ts'
import { type MemoryServer, START_MS, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { systemScope } from '../storage/contract.ts'
import { INDEX_GAP } from '../storage/log/histories.ts'
import type { History } from '../storage/peer-log.ts'
import type { StateOrigin } from './device.ts'
import { noteHistory, readOrigin } from './state-origin.ts'

const RESTORED = { at: '2026-01-02T00:00:00.000Z', before: '' }
const isoOf = (ms: number): string => new Date(ms).toISOString()

/** The history of this number: a promotion begins at a multiple of the gap, a restore behind one. */
const history = (number: number, by: 'promotion' | 'restore'): History => ({
  id: Buffer.alloc(16, number),
  epoch: number,
  startIndex: number * INDEX_GAP + (by === 'restore' ? 1 : 0),
  parent: undefined,
  startedAtMs: number,
})
const FIRST: History = { ...history(1, 'restore'), startIndex: 1 }
const whole = ({ restored, promoted }: StateOrigin): StateOrigin => ({ restored, promoted })
const promoted = (number: number): StateOrigin => ({ promoted: { at: isoOf(number), epoch: number } })

const CASES: { name: string; list: readonly History[]; begun: StateOrigin }[] = [
  { name: 'the same history', list: [FIRST], begun: {} },
  { name: 'a promotion', list: [FIRST, history(2, 'promotion')], begun: promoted(2) },
  {
    name: 'the last of two promotions',
    list: [FIRST, history(2, 'promotion'), history(3, 'promotion')],
    begun: promoted(3),
  },
  { name: 'a restore', list: [FIRST, history(2, 'restore')], begun: { restored: RESTORED } },
  {
    name: 'a restore and the promotion after it',
    list: [FIRST, history(2, 'restore'), history(3, 'promotion')],
    begun: { restored: RESTORED, ...promoted(3) },
  },
  { name: 'the restore of a stranger', list: [history(7, 'promotion')], begun: { restored: RESTORED } },
]
for (const { name, list, begun } of CASES) {
  test(`S4: audit finds ${name}, once, and keeps what it found before`, async () => {
    const { node } = await startMemoryServer()
    const view = node.storage.view(systemScope, 'root/core/')
    await view.transaction(async (tx) => tx.delete('audit-history'))
    const note = (histories: readonly History[]) => noteHistory(view, histories, () => RESTORED)
    assert.deepEqual(await note([FIRST]), {})
    assert.deepEqual(whole(await note(list)), whole(begun))
    assert.deepEqual(await note(list), {})
    assert.deepEqual(await readOrigin(view), whole(begun))
    assert.deepEqual(whole(await note([...list, history(9, 'promotion')])), whole(promoted(9)))
    assert.deepEqual(await readOrigin(view), { ...whole(begun), ...promoted(9) })
  })
}

const promote = ({ store }: MemoryServer): Promise<void> =>
  store.beginHistory(async (tx) => tx.put(systemScope, 'root/sys/policy/of-a-promotion', Buffer.from('{}')), {
    id: Buffer.alloc(16, 5),
    knownIndex: 0,
    knownEpoch: 0,
  })

test('S4: chains say promoted after a promotion, and not restored; log and verification say it too', async (t) => {
  const directory = temporaryDirectory()
  t.after(directory.cleanUp)
  const file = join(directory.path, 'audit.log')
  const said: string[] = []
  const server = await startMemoryServer({ log: (level, message) => void said.push(`${level}: ${message}`) })
  await server.call('PUT', 'sys/audit/log', { type: 'file', options: { file_path: file } })
  server.advance(60)
  await promote(server)
  const [share = Buffer.alloc(0)] = server.shares
  for (let times = 0; times < 2; times++) {
    await server.node.operations.seal()
    await server.node.operations.unseal(share)
    assert.equal((await server.call('GET', 'sys/mounts')).status, 200)
  }
  await server.node.audit.stop()
  const text = readFileSync(file, 'utf8')
  assert.doesNotMatch(text, /"restored":/)
  const at = isoOf(START_MS + 60_000)
  assert.equal(text.split(`"promoted":{"at":"${at}","epoch":2},"found"`).length, 3)
  assert.deepEqual(
    said.filter((line) => /promot|restor/.test(line)),
    ['info: This cluster was promoted: chains of audit that begin from now on say so'],
  )
  const { faults, notes } = verifyLog(file)
  assert.deepEqual(faults, [])
  assert.equal(notes.filter((note) => note.endsWith(`of a state that was promoted at ${at}, epoch 2`)).length, 2)
})
