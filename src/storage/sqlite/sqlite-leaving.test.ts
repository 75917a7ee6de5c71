import { strict as assert } from 'node:assert'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { withFileSteps } from '../../../test/fixtures/file-steps.ts'
import { filesWith } from '../../../test/fixtures/found-bytes.ts'
import { copyOf } from '../../../test/fixtures/old-stores.ts'
import { HISTORY_ID_BYTES } from '../backend.ts'
import { type Store, systemScope } from '../contract.ts'
import type { LeftStore } from '../driver.ts'
import { StorageFailed } from '../errors.ts'
import { endLeaving, leaveOnly } from './sqlite-leaving.ts'
import { openSqliteStore } from './sqlite-store.ts'

const clock = { nowMs: () => 1_764_000_001_000, monotonicMs: () => 0 }
const OLD_VALUE = 'bytes of what was there'
const OLD_KEY = 'root/sys/policy/of-before'
const LEFT_KEY = 'root/core/version/1.0.0'
const LEFT: LeftStore = {
  index: 4_096,
  histories: [
    { id: Buffer.alloc(HISTORY_ID_BYTES, 9), epoch: 3, startIndex: 4_097, parent: undefined, startedAtMs: 6 },
  ],
  entries: [{ key: LEFT_KEY, class: 'ignored', leaf: Buffer.alloc(0), value: Buffer.from('left') }],
}
/** All that a closed store is. */
const CLOSED = ['keywright.db', 'keywright.lock']

const open = (directory: string): Promise<Store> => openSqliteStore({ directory, clock, random: new SeededRandom(1) })

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'keywright-left-'))
  context.after(() => rmSync(path, { recursive: true }))
  return path
}

/** A closed store with an entry that is overwritten and deleted, one that is there, and copies of both beside it. */
async function filled(directory: string): Promise<void> {
  const store = await open(directory)
  store.setLeafKey(Buffer.alloc(32, 1))
  const value = Buffer.from(OLD_VALUE.repeat(400))
  for (const key of [OLD_KEY, `${OLD_KEY}-and-gone`]) {
    await store.transaction(async (tx) => tx.put(systemScope, key, value))
  }
  await store.transaction(async (tx) => tx.delete(systemScope, `${OLD_KEY}-and-gone`))
  await store.close()
  for (const name of ['keywright.db.format-1', 'keywright.db.format-1.new']) {
    writeFileSync(join(directory, name), OLD_VALUE, { mode: 0o600 })
  }
  mkdirSync(join(directory, 'restore.new'), { mode: 0o700 })
  writeFileSync(join(directory, 'restore.new/keywright.db'), OLD_VALUE, { mode: 0o600 })
}

/** What a server finds that starts there: the old store, or the one that is left. */
async function foundIn(directory: string): Promise<'old' | 'left'> {
  const store = await open(directory)
  const [old, left] = [await store.get(OLD_KEY), await store.get(LEFT_KEY)]
  await store.close()
  assert.notEqual(old === undefined, left === undefined)
  return old === undefined ? 'left' : 'old'
}

test('of what was there no file holds a byte', async (t) => {
  const directory = folder(t)
  await filled(directory)
  assert.equal(filesWith(directory, OLD_VALUE).length, 4)
  await leaveOnly(directory, LEFT)
  assert.deepEqual(filesWith(directory, OLD_VALUE, OLD_KEY), [])
  assert.deepEqual(readdirSync(directory).sort(), CLOSED)
  assert.equal(await foundIn(directory), 'left')
})

test('the file that a migration kept goes too, also in the run that migrated', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  await (await open(directory)).close()
  assert.ok(existsSync(`${file}.format-1`))
  await leaveOnly(directory, LEFT)
  assert.deepEqual(readdirSync(directory).sort(), CLOSED)
})

test('killed at any step, there is all of the old store or the left one, and then no copy of the old', async (t) => {
  const [directory, images] = [folder(t), folder(t)]
  await filled(directory)
  const steps: string[] = []
  await withFileSteps(
    (step) => {
      steps.push(step)
      cpSync(directory, join(images, String(steps.length)), { recursive: true })
    },
    () => leaveOnly(directory, LEFT),
  )
  cpSync(directory, join(images, String(steps.length + 1)), { recursive: true })
  const found: string[] = []
  for (let step = 1; step <= steps.length + 1; step++) {
    const image = join(images, String(step))
    const kept = existsSync(join(image, 'keywright.db.format-1'))
    const state = await foundIn(image)
    found.push(state)
    assert.ok(!existsSync(join(image, 'left.new')), `step ${step}`)
    if (state === 'left') assert.deepEqual(filesWith(image, OLD_VALUE, OLD_KEY), [], `step ${step}`)
    else assert.ok(kept && filesWith(image, OLD_VALUE).includes('keywright.db'), `step ${step}`)
  }
  const first = found.indexOf('left')
  assert.equal(steps[first - 1], 'renameSync')
  assert.deepEqual(found, [...Array(first).fill('old'), ...Array(found.length - first).fill('left')])
  assert.ok(first > 10 && found.length - first > 5, found.join())
})

test('where any step fails, it says so in a sentence, and the store is the old one or the left one', async (t) => {
  const seen = new Set<string>()
  for (let failing = 1, isOver = false; !isOver; failing++) {
    const directory = folder(t)
    await filled(directory)
    let step = 0
    const fail = (): void => {
      if (++step === failing) throw Object.assign(new Error('EIO: told to fail'), { code: 'EIO' })
    }
    const cause = await withFileSteps(fail, () => leaveOnly(directory, LEFT)).then(
      () => undefined,
      (error: unknown) => error,
    )
    isOver = cause === undefined
    if (cause !== undefined) {
      assert.ok(cause instanceof StorageFailed)
      assert.match(cause.message, /^The store in .* could not be emptied: .*EIO: told to fail/)
    }
    const state = await foundIn(directory)
    seen.add(state)
    if (state === 'left') assert.deepEqual(filesWith(directory, OLD_VALUE, OLD_KEY), [], `step ${failing}`)
  }
  assert.deepEqual([...seen], ['old', 'left'])
})

test('a folder without its mark stands for nothing: what a migration kept stays', async (t) => {
  const directory = folder(t)
  await filled(directory)
  mkdirSync(join(directory, 'left.new'), { mode: 0o700 })
  endLeaving(directory)
  assert.ok(existsSync(join(directory, 'keywright.db.format-1')))
  assert.ok(!existsSync(join(directory, 'left.new')))
})
