import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { PageSet } from './page-set.ts'

test('a set of pages has the pages that were added, and no neighbour of them', () => {
  const random = new SeededRandom(1)
  for (const pages of [1, 7, 8, 9, 1_000]) {
    const [set, model] = [new PageSet(pages), new Set<number>()]
    for (let turn = 0; turn < pages; turn++) {
      const page = 1 + random.below(pages)
      set.add(page)
      model.add(page)
    }
    for (let page = 1; page <= pages; page++) assert.equal(set.has(page), model.has(page), `${page} of ${pages}`)
  }
})

test('a set of pages leaves out what is behind the end of the file', () => {
  const set = new PageSet(10)
  set.add(2 ** 32 - 1)
  assert.equal(set.has(2 ** 32 - 1), false)
})
