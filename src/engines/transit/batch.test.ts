import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fail } from '../../api/errors.ts'
import { batchAnswer, runBatch } from './batch.ts'

const run = (succeeded: number, failed: number) => ({
  results: Array.from({ length: succeeded + failed }, (_, index) => index),
  succeeded,
  warnings: [],
})

const STATUSES: readonly {
  name: string
  succeeded: number
  failed: number
  code?: number
  status?: number
  warns?: true
}[] = [
  { name: 'all succeed', succeeded: 2, failed: 0 },
  { name: 'all succeed, a code is given', succeeded: 2, failed: 0, code: 207 },
  { name: 'all succeed, a wrong code is given', succeeded: 2, failed: 0, code: 99_999 },
  { name: 'some fail', succeeded: 1, failed: 1, status: 400 },
  { name: 'some fail, a code is given', succeeded: 1, failed: 1, code: 207, status: 207 },
  { name: 'some fail, the lowest code', succeeded: 1, failed: 1, code: 200, status: 200 },
  { name: 'some fail, the highest code', succeeded: 1, failed: 1, code: 599, status: 599 },
  { name: 'some fail, a code above', succeeded: 1, failed: 1, code: 600, status: 400, warns: true },
  { name: 'some fail, a code below', succeeded: 1, failed: 1, code: 199, status: 400, warns: true },
  { name: 'some fail, a code without a body', succeeded: 1, failed: 1, code: 304, status: 400, warns: true },
  { name: 'some fail, another code without a body', succeeded: 1, failed: 1, code: 205, status: 400, warns: true },
  { name: 'some fail, code 0', succeeded: 1, failed: 1, code: 0, status: 400, warns: true },
  { name: 'all fail', succeeded: 0, failed: 2, status: 400 },
  { name: 'all fail, a code is given', succeeded: 0, failed: 2, code: 207, status: 400 },
]
for (const { name, succeeded, failed, code, status, warns = false } of STATUSES) {
  test(`C-14 batchAnswer: ${name}`, () => {
    const answer = batchAnswer(run(succeeded, failed), code)
    assert.equal(answer.status, status)
    assert.deepEqual(answer.data, { batch_results: run(succeeded, failed).results })
    assert.equal(answer.warnings?.length, warns ? 1 : 0)
  })
}

test('C-14 batchAnswer: 204 has no body', () => {
  assert.deepEqual(batchAnswer(run(1, 1), 204), { status: 204 })
})

test('runBatch keeps the order and the references, and only refusals are failures of items', () => {
  const items = [{ n: 1, reference: 'a' }, { n: 2 }, { n: 3, reference: 'c' }]
  const work = ({ n }: { n?: string | number | undefined }, reference: string) => {
    if (n === 2) throw fail('bad_request', ['no two'])
    return [n, reference]
  }
  const { results, succeeded } = runBatch<unknown>(items, work, (error, reference) => [error, reference])
  assert.deepEqual(results, [
    [1, 'a'],
    ['no two', ''],
    [3, 'c'],
  ])
  assert.equal(succeeded, 2)
  const defect = () => {
    throw new TypeError('ours')
  }
  assert.throws(() => runBatch(items, defect, String), TypeError)
})

test('a batch of 100,000 items is taken', () => {
  const items = Array.from({ length: 100_000 }, (_, n) => ({ n }))
  assert.equal(runBatch(items, (item) => item.n, String).succeeded, 100_000)
})
