import { strict as assert } from 'node:assert'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { hashPassword, verifyPassword } from './password.ts'

const world = realWorld()
const random = world.random.bytes
const slow = inlineWork(world)

test('a password is known again, and no other', async () => {
  const stored = await hashPassword('correct horse', random, slow)
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.equal(await verifyPassword('correct horse', stored, slow), true)
  for (const wrong of ['', 'correct hors', 'correct horse ', 'Correct horse'])
    assert.equal(await verifyPassword(wrong, stored, slow), false)
})

test('the same password is stored differently each time', async () => {
  assert.notEqual(await hashPassword('x', random, slow), await hashPassword('x', random, slow))
})

test('a name that does not exist is no match, whatever is given', async () => {
  assert.equal(await verifyPassword('', undefined, slow), false)
  assert.equal(await verifyPassword('x', undefined, slow), false)
})

test('a stored password with other costs is known by those', async () => {
  const salt = Buffer.from('0123456789abcdef')
  const hash = argon2Sync('argon2id', {
    message: 'old',
    nonce: salt,
    parallelism: 1,
    tagLength: 32,
    memory: 64,
    passes: 3,
  })
  const stored = `$argon2id$v=19$m=64,t=3,p=1$${salt.toString('base64')}$${hash.toString('base64')}`
  assert.equal(await verifyPassword('old', stored, slow), true)
  assert.equal(await verifyPassword('new', stored, slow), false)
})

test('argon2id gives what RFC 9106 section 5.3 says', () => {
  const tag = argon2Sync('argon2id', {
    message: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16, 2),
    secret: Buffer.alloc(8, 3),
    associatedData: Buffer.alloc(12, 4),
    parallelism: 4,
    tagLength: 32,
    memory: 32,
    passes: 3,
  })
  assert.equal(tag.toString('hex'), '0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659')
})
