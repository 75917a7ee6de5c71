import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { StorageClosed, StorageFull } from '../../storage/errors.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import { SinkStopped } from '../sink/sink-parts.ts'
import { NoLink } from './dialing.ts'
import { LINK_TIMES } from './link-times.ts'
import { PeerHungUp } from './message-link.ts'
import { Pauses } from './pauses.ts'
import { RefusedByPrimary, refusedMessage } from './refusals.ts'

const newPauses = (): Pauses => new Pauses(new SeededRandom(1), LINK_TIMES)
const refused = (code: Parameters<typeof refusedMessage>[0], retryAfterMs = 0): Error =>
  new RefusedByPrimary(refusedMessage(code, 'no', retryAfterMs))

test('pauses double from 100 ms to 10 s, half of each is drawn, and a good link begins anew', () => {
  const pauses = newPauses()
  const cut = new NoLink('refused', 'no')
  for (const most of [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]) {
    const { connection, afterMs, idle } = pauses.after(cut)
    assert.deepEqual([connection, idle], ['transient_failure', { reason: 'refused', sentence: 'no' }])
    assert.ok(afterMs >= most / 2 && afterMs <= most, `${afterMs} of ${most}`)
  }
  pauses.reset()
  assert.ok(pauses.after(cut).afterMs <= 100)
})

const IDLE: readonly (readonly [string, Error])[] = [
  ['storage_full', new StorageFull('no')],
  ['divergence', new SinkStopped('divergence', 'no')],
  ['gap', new SinkStopped('gap', 'no')],
  ['version', new SinkStopped('version', 'no')],
  ['version', new ProtocolFault('version', 'no')],
  ['version', new PeerHungUp({ kind: 'fault', reason: 'version', sentence: 'no' })],
  ['revoked', refused('revoked')],
  ['set_mismatch', refused('other-set')],
  ['set_mismatch', refused('unknown-id')],
  ['not_primary', refused('not-primary')],
  ['fenced', refused('fenced')],
  ['version', refused('version')],
  ['rewound', refused('rewound')],
  ['replaced', refused('replaced')],
  ['clock', refused('clock')],
  ['token', refused('token')],
  ['token', refused('not-activated')],
]

for (const [reason, cause] of IDLE) {
  test(`${cause.name} (${'code' in cause ? cause.code : reason}) makes a secondary idle: ${reason}`, () => {
    const { connection, idle, afterMs } = newPauses().after(cause)
    const least = reason === 'storage_full' ? 30_000 : 60_000
    assert.deepEqual([connection, idle], ['idle', { reason, sentence: 'no' }])
    assert.ok(afterMs >= least && afterMs <= least * 1.25, String(afterMs))
  })
}

test('a primary that is busy or not active says when to come again, within limits', () => {
  const busy = newPauses().after(refused('busy', 5_000))
  assert.deepEqual([busy.connection, busy.idle.reason], ['transient_failure', 'busy'])
  assert.ok(busy.afterMs >= 5_000 && busy.afterMs < 6_400, String(busy.afterMs))
  const never = newPauses().after(refused('not-active', 2 ** 32 - 1))
  assert.ok(never.idle.reason === 'not_active' && never.afterMs <= 76_000, String(never.afterMs))
})

test('a store that was closed is no reason to wait for long', () => {
  assert.ok(newPauses().after(new StorageClosed('The store is being replaced')).afterMs <= 100)
})
