// OpenPGP keys that are made to be slow.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { generateKey } from 'openpgp'
import { readPgpKey } from '../../../src/crypto/pgp.ts'
import { inlineWork } from '../../../src/lib/slow-work.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { overCertified, slowDsaKey } from '../../fixtures/hostile-pgp-keys.ts'
import { processCpuMs } from '../../fixtures/measured.ts'

const START_MS = Date.UTC(2026, 0, 1)
const clock = { nowMs: () => START_MS + 10_000, monotonicMs: () => 0 }
const date = new Date(START_MS)
const slow = inlineWork(realWorld())

test('N-14: a key that is made to keep a thread busy is refused before anything of it is computed', async () => {
  const { privateKey } = await generateKey({
    userIDs: [{ name: 'holder' }],
    date,
    format: 'object',
    type: 'ecc',
    curve: 'nistP521',
  })
  for (const [bytes, says] of [
    [slowDsaKey(65_528, START_MS), /only keys of RSA and of elliptic curves/],
    [overCertified(privateKey, 200), /more than 64 signatures/],
  ] as const) {
    const cpuMs = await processCpuMs(() =>
      assert.rejects(readPgpKey(bytes, clock, slow), { name: 'PgpKeyError', message: says }),
    )
    assert.ok(cpuMs < 2000, `${cpuMs} ms`)
  }
})
