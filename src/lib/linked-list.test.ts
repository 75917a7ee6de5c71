import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { LinkedList, type ListNode } from './linked-list.ts'

test('a list holds what a set would, in the order in which it came', (context) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -8, max: 40 }), { maxLength: 80 }), (steps) => {
      const [list, set, places] = [new LinkedList<number>(), new Set<number>(), [] as ListNode<number>[]]
      steps.forEach((step, index) => {
        const place = step < 0 ? undefined : places[step]
        if (place === undefined) {
          places.push(list.add(index))
          set.add(index)
        } else {
          list.remove(place)
          set.delete(place.value)
        }
      })
      assert.deepEqual([...list.values()], [...set])
      assert.equal(list.size, set.size)
      assert.equal(list.first?.value, [...set][0])
    }),
    { seed: testSeed(context) },
  )
})

test('what has left knows nothing of what came after it', () => {
  const list = new LinkedList<string>()
  const [first, second] = [list.add('a'), list.add('b')]
  list.remove(first)
  list.remove(first)
  assert.deepEqual([first.before, first.after], [undefined, undefined])
  assert.deepEqual([list.size, list.first], [1, second])
})
