import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { isWithin, newTraceId, parseTraceparent } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('W3C Trace Context: what is a traceparent', () => {
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true })
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled, false)
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.isSampled, true, 'other flags are for later versions')
  assert.equal(parseTraceparent(`cc-${TRACE}-${SPAN}-01-more`)?.traceId, TRACE, 'a later version may say more')
})

const NONE = [
  undefined,
  '',
  '00',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-0g`,
  `00-${TRACE}-${SPAN}-01${'-x'.repeat(1_000)}`,
]
for (const [at, header] of NONE.entries()) {
  test(`W3C Trace Context: what is none begins a trace here (${at})`, () => {
    assert.equal(parseTraceparent(header), undefined)
  })
}

test('so many traces are sampled as the configuration says', () => {
  const { random } = realWorld()
  const ids = Array.from({ length: 20_000 }, () => newTraceId(random))
  assert.equal(ids.filter((id) => isWithin(0, id)).length, 0)
  assert.equal(ids.filter((id) => isWithin(1, id)).length, ids.length)
  const tenth = ids.filter((id) => isWithin(0.1, id)).length
  // Ten standard deviations.
  assert.ok(tenth > 1_575 && tenth < 2_425, `${tenth}`)
})
