import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { constantTimeEqual } from './constant-time.ts'
import { Secret } from './secret.ts'

test('N-22 constantTimeEqual compares, and does not throw for different lengths', () => {
  assert.equal(constantTimeEqual(Buffer.from('abc'), Buffer.from('abc')), true)
  assert.equal(constantTimeEqual(Buffer.from('abc'), Buffer.from('abd')), false)
  assert.equal(constantTimeEqual(Buffer.from('abc'), Buffer.from('ab')), false)
  assert.equal(constantTimeEqual(Buffer.from('abc'), Buffer.alloc(0)), false)
  assert.equal(constantTimeEqual(Buffer.alloc(0), Buffer.alloc(0)), true)
})

test('N-11 a secret prints itself nowhere', () => {
  const bytes = Buffer.from('hunter2-hunter2')
  const holder = { password: new Secret(bytes) }
  const forms = ['utf8', 'hex', 'base64', 'base64url'] as const
  const printed = [
    JSON.stringify(holder),
    `${holder.password}`,
    String(holder.password),
    inspect(holder, { depth: 10, showHidden: true }),
    inspect(holder.password),
    Object.values(holder.password).join(),
  ].join('\n')
  for (const form of forms) assert.ok(!printed.includes(bytes.toString(form)), form)
  assert.ok(!printed.includes([...bytes].join()))
  assert.ok(!printed.includes(bytes.toString('hex').match(/../g)?.join(' ') ?? ''))
  assert.equal(JSON.stringify(holder), '{"password":"[secret]"}')
})

test('a secret is a copy, is compared by its bytes, and is gone after wipe', () => {
  const bytes = Buffer.from('hunter2')
  const secret = new Secret(bytes)
  bytes.fill(0)
  assert.equal(secret.length, 7)
  assert.deepEqual(secret.reveal(), Buffer.from('hunter2'))
  assert.equal(secret.equals(new Secret(Buffer.from('hunter2'))), true)
  assert.equal(secret.equals(new Secret(Buffer.from('hunter3'))), false)
  assert.equal(secret.equals(new Secret(Buffer.from('hunter'))), false)
  secret.wipe()
  assert.deepEqual(secret.reveal(), Buffer.alloc(7))
})
