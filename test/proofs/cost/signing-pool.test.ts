// How busy the thread is that serves while the threads of the pool sign.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { KEY_TYPES } from '../../../src/crypto/key-types/key-types.ts'
import { signWith } from '../../../src/crypto/signing-jobs.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { startSlowPool } from '../../../src/process/slow-pool.ts'
import { PooledWork } from '../../../src/threads/pooled-work.ts'
import { materialOf } from '../../fixtures/known-material.ts'
import { turnsDuring } from '../../fixtures/turns.ts'

const pool = startSlowPool({ world: realWorld(), log: () => {}, onFatal: assert.fail })
const slow = new PooledWork(pool.newHandle())
after(() => pool.stop())

test('the thread that serves goes on while signatures are made', async () => {
  const type = KEY_TYPES.get('rsa-4096') ?? assert.fail()
  const key = type.load(await materialOf(type))
  const options = { hash: 'sha2-256', prehashed: false, padding: 'pss', saltLength: 'hash', marshaling: 'jws' } as const
  const message = Buffer.from('the quick brown fox')
  const signatures = Array.from({ length: 30 }, () => signWith(type, slow, key, message, options))
  const turns = await turnsDuring(Promise.all(signatures))
  // Each of them takes longer than some hundred turns; done here they would leave one between two of them.
  assert.ok(turns > 300, `${turns} turns`)
})
