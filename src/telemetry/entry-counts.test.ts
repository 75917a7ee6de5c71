import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { CELL, newMetricMemory, rowOf } from './cells.ts'
import { EntryCounts } from './entry-counts.ts'

test('what comes and goes while it is counted is counted once', async () => {
  const { store, call } = await startMemoryServer()
  const row = rowOf(newMetricMemory(0, 1), 2)
  for (let i = 0; i < 1_500; i++) await call('POST', 'auth/token/create', { ttl: '1h', policies: ['default'] })
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: paused, resolve: isPaused } = Promise.withResolvers<void>()
  // Between its two pages.
  const counts = new EntryCounts(store, row, () => {
    isPaused()
    return held
  })
  const counting = counts.start()
  await paused
  assert.equal(row[CELL.tokens], 0, 'a part of the number is no number')
  const made = await Promise.all(
    Array.from({ length: 3 }, () => call('POST', 'auth/token/create', { ttl: '1h', policies: ['default'] })),
  )
  const { client_token: token } = made.map(({ body }) => body.auth as { client_token: string })[0] ?? {}
  await call('POST', 'auth/token/revoke', { token })
  goOn()
  await counting
  assert.deepEqual([row[CELL.tokens], row[CELL.leases]], [1 + 1_500 + 2, 1_500 + 2])
  await call('POST', 'identity/entity', { name: 'one' })
  assert.equal(row[CELL.entities], 1)
  // A renewal writes the token again, and moves its end.
  const { accessor } = (made[1] as (typeof made)[number]).body.auth as { accessor: string }
  await call('POST', 'auth/token/renew-accessor', { accessor })
  assert.deepEqual([row[CELL.tokens], row[CELL.leases]], [1_503, 1_502])
  counts.stop()
  assert.deepEqual([row[CELL.tokens], row[CELL.leases], row[CELL.entities]], [0, 0, 0])
  await counts.start()
  assert.deepEqual([row[CELL.tokens], row[CELL.leases], row[CELL.entities]], [1_503, 1_502, 1])
})

test('a count that is stopped says nothing', async () => {
  const { store } = await startMemoryServer()
  const row = rowOf(newMetricMemory(0, 1), 2)
  const counts = new EntryCounts(store, row, async () => {})
  const counting = counts.start()
  counts.stop()
  await counting
  assert.equal(row[CELL.tokens], 0)
})
