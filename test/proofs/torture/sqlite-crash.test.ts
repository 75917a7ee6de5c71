import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { realWorld } from '../../../src/lib/world.ts'
import type { Store } from '../../../src/storage/contract.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { SeededRandom } from '../../conformance/seeded-random.ts'
import { testSeed } from '../../fixtures/seed.ts'

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const MAX_ANSWERS = 400
const writer = fileURLToPath(new URL('../../fixtures/endless-writer.ts', import.meta.url))

/** Lets the writer run for a number of answered commits, then kills it. The last answer of each counter. */
async function runAndKill(directory: string, answers: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, [writer, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  let lines = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
    lines += chunk.split('\n').length - 1
    if (lines >= answers) child.kill('SIGKILL')
  })
  await once(child, 'close')
  assert.equal(child.signalCode, 'SIGKILL', 'the writer ended by itself')
  const whole = said.slice(0, said.lastIndexOf('\n')).split('\n')
  return new Map(whole.map((line): [string, number] => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]))
}

async function entriesOf(store: Store): Promise<Map<string, string>> {
  const entries = await store.scan('', '', Number.POSITIVE_INFINITY)
  return new Map(entries.map(({ key, value }) => [key, value.toString('hex')]))
}

/** The state that the log alone gives; reading it checks every record and the chain. */
async function replayed(store: Store): Promise<Map<string, string>> {
  const state = new Map<string, string>()
  const last = await store.lastIndex()
  for (let index = 0; index < last; ) {
    const changes = await store.changesSince(index, 500)
    for (const { kind, key, value } of changes.flatMap(({ operations }) => operations)) {
      if (kind === 'put') state.set(key, value.toString('hex'))
      else assert.ok(state.delete(key))
    }
    index = changes.at(-1)?.index ?? assert.fail(`no record after ${index} of ${last}`)
  }
  return state
}

test('P-01, P-05, P-06: a store that was killed holds every answered commit, and no half of one', async (t) => {
  const random = new SeededRandom(testSeed(t))
  const directory = mkdtempSync(join(tmpdir(), 'keywright-crash-'))
  const { clock, random: realRandom } = realWorld()
  let answered = 0
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await runAndKill(directory, 1 + random.below(MAX_ANSWERS))
      const store = await openSqliteStore({ directory, clock, random: realRandom })
      const entries = await entriesOf(store)
      for (const [counter, value] of answers) {
        const folder = `root/sys/policy/${counter}/`
        const stored = Number(await store.get(`${folder}counter`))
        assert.ok(stored >= value, `counter ${counter} was answered ${value} and holds ${stored}`)
        assert.deepEqual(await store.list(folder), ['counter', `entry-${stored}`])
        answered += value
      }
      assert.deepEqual(new Map([...(await replayed(store))].sort()), new Map([...entries].sort()))
      await store.close()
    }
    assert.ok(answered > 0, 'no commit was answered, so the test shows nothing')
  } finally {
    rmSync(directory, { recursive: true })
  }
})
