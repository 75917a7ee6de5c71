import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInLanes } from './test-lanes.ts'

const PROOFS = ['test/proofs/a.test.ts', 'test/proofs/b.test.ts', 'test/proofs/c.test.ts']
const EXACT = ['src/a.test.ts', 'src/b.test.ts', 'src/c.test.ts', 'src/d.test.ts', 'src/e.test.ts']

/** Runs that end when the test says so. */
function stage(files: readonly string[], lanes: number) {
  const running = new Map<string, () => void>()
  const begun: { path: string; isBeside: boolean }[] = []
  const groups = files.map((path) => [path])
  const ended = runInLanes(groups, lanes, ([path = ''], isBeside) => {
    begun.push({ path, isBeside })
    return new Promise((resolve) => running.set(path, resolve))
  })
  return {
    running: () => [...running.keys()],
    begun,
    ended,
    /** Resolves when all that follows from it has begun. */
    end: async (path: string) => {
      const end = running.get(path) ?? assert.fail(`${path} does not run`)
      running.delete(path)
      end()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('each file is run once, proofs and others in their order', async () => {
  for (const files of [[], PROOFS, EXACT, [...EXACT, ...PROOFS]]) {
    const { running, begun, end, ended } = stage(files, 2)
    for (let path = running()[0]; path !== undefined; path = running()[0]) await end(path)
    await ended
    const order = begun.map(({ path }) => path)
    assert.deepEqual(order.toSorted(), files.toSorted())
    for (const kind of [PROOFS, EXACT]) {
      assert.deepEqual(
        order.filter((path) => kind.includes(path)),
        kind.filter((path) => files.includes(path)),
      )
    }
  }
})

test('one file that is no proof runs beside as many proofs as there are lanes', async () => {
  const { running, end } = stage([...EXACT, ...PROOFS], 2)
  assert.deepEqual(running(), ['test/proofs/a.test.ts', 'test/proofs/b.test.ts', 'src/a.test.ts'])
  await end('src/a.test.ts')
  assert.deepEqual(running(), ['test/proofs/a.test.ts', 'test/proofs/b.test.ts', 'src/b.test.ts'])
  await end('test/proofs/b.test.ts')
  assert.deepEqual(running(), ['test/proofs/a.test.ts', 'src/b.test.ts', 'test/proofs/c.test.ts'])
})

test('when the last proof has ended no more files run than there are lanes', async () => {
  const { running, begun, end } = stage([...PROOFS.slice(1), ...EXACT], 2)
  await end('test/proofs/b.test.ts')
  assert.deepEqual(running(), ['test/proofs/c.test.ts', 'src/a.test.ts', 'src/b.test.ts'])
  await end('test/proofs/c.test.ts')
  await end('src/a.test.ts')
  assert.deepEqual(running(), ['src/b.test.ts', 'src/c.test.ts'])
  assert.deepEqual(
    begun.filter(({ isBeside }) => isBeside).map(({ path }) => path),
    ['src/a.test.ts'],
  )
})
