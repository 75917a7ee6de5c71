import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { realWorld } from '../lib/world.ts'
import { Barrier } from './barrier.ts'
import { DataKeyUsedUp } from './errors.ts'
import { DEFAULT_ROTATION, isRotationDue, MAX_ENCRYPTIONS, MOST_MAX_OPERATIONS } from './keyring-limits.ts'

const DAY_MS = 86_400_000
const cases = [
  { name: 'a new key', config: {}, encryptions: 0, ageMs: 0, due: false },
  { name: 'one before the limit', config: {}, encryptions: MOST_MAX_OPERATIONS - 1, ageMs: 9e12, due: false },
  { name: 'the limit', config: {}, encryptions: MOST_MAX_OPERATIONS, ageMs: 0, due: true },
  {
    name: 'the limit where it is off',
    config: { enabled: false },
    encryptions: MOST_MAX_OPERATIONS,
    ageMs: 0,
    due: true,
  },
  { name: 'a lower limit', config: { maxOperations: 2_000_000 }, encryptions: 2_000_000, ageMs: 0, due: true },
  { name: 'below it', config: { maxOperations: 2_000_000 }, encryptions: 1_999_999, ageMs: 0, due: false },
  { name: 'the age', config: { intervalSeconds: 86_400 }, encryptions: 0, ageMs: DAY_MS, due: true },
  { name: 'before it', config: { intervalSeconds: 86_400 }, encryptions: 0, ageMs: DAY_MS - 1, due: false },
  {
    name: 'the age where it is off',
    config: { enabled: false, intervalSeconds: 86_400 },
    encryptions: 0,
    ageMs: DAY_MS,
    due: false,
  },
]
for (const { name, config, encryptions, ageMs, due } of cases) {
  test(`P-11: ${name}: ${due ? 'rotate' : 'go on'}`, () => {
    const use = { encryptions, installedAtMs: 1000 }
    assert.equal(isRotationDue({ ...DEFAULT_ROTATION, ...config }, use, 1000 + ageMs), due)
  })
}

test('P-11: the barrier refuses to encrypt where its key has been used as often as is safe', () => {
  const keyring = {
    activeTerm: 1,
    terms: new Map([[1, { key: importSecret(Buffer.alloc(32, 1)), installedAtMs: 0 }]]),
  }
  const barrier = new Barrier(realWorld().random, keyring)
  barrier.countFrom(MAX_ENCRYPTIONS - 1)
  const record = barrier.seal('root/a', Buffer.from('a'))
  assert.throws(() => barrier.seal('root/a', Buffer.from('a')), DataKeyUsedUp)
  assert.equal(barrier.open('root/a', record).toString(), 'a')
})
