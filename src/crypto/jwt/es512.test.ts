import { strict as assert } from 'node:assert'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { inlineWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'
import { CHECK_ES512, describePublicKey, es512PublicHalf, generateEs512, loadEs512, readJwt, signJwt } from './es512.ts'

const slow = inlineWork(realWorld())
const { random } = realWorld()
const newKey = () => loadEs512(generateEs512(random.bytes))
const key = newKey()

test('RFC 7515 appendix A.4', async () => {
  const jwk = {
    kty: 'EC',
    crv: 'P-521',
    x: 'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk',
    y: 'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2',
  }
  const signature = Buffer.from(
    'AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2' +
      'YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn',
    'base64url',
  )
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const check = (text: string) => slow.run(CHECK_ES512, { key: publicKey, text, signature })
  assert.equal(await check('eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA'), true)
  assert.equal(await check('eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZB'), false)
})

test('what was signed reads back, and every bit that is changed is noticed', async () => {
  const jwt = await signJwt({ jti: 'a', n: 1 }, key, slow)
  const publicKey = es512PublicHalf(key)
  assert.deepEqual(readJwt(jwt)?.claims, { jti: 'a', n: 1 })
  assert.equal(await readJwt(jwt)?.isSigned(publicKey, slow), true)
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  assert.equal(Buffer.from(signature, 'base64url').length, 132)
  assert.equal(Buffer.from(header, 'base64url').toString(), '{"alg":"ES512","typ":"JWT"}')
  const other = Buffer.from('{"jti":"b","n":1}').toString('base64url')
  assert.equal(await readJwt(`${header}.${other}.${signature}`)?.isSigned(publicKey, slow), false)
  const bytes = Buffer.from(signature, 'base64url')
  for (const at of [0, 65, 66, 131]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(
      await readJwt(`${header}.${payload}.${changed.toString('base64url')}`)?.isSigned(publicKey, slow),
      false,
    )
  }
  assert.equal(await readJwt(jwt)?.isSigned(es512PublicHalf(newKey()), slow), false)
})

test('no other form is read: another algorithm, none, more parts, a short signature, no object', async () => {
  const encode = (text: string) => Buffer.from(text).toString('base64url')
  const [header = '', payload = '', signature = ''] = (await signJwt({ jti: 'a' }, key, slow)).split('.')
  for (const jwt of [
    '',
    'eyJ',
    `${header}.${payload}`,
    `${header}.${payload}.`,
    `${header}.${payload}.${signature}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -4)}`,
    `${header}.${payload}.${signature}=`,
    `${encode('{"alg":"none","typ":"JWT"}')}.${payload}.`,
    `${encode('{"alg":"HS256","typ":"JWT"}')}.${payload}.${signature}`,
    `${encode('{"typ":"JWT","alg":"ES512"}')}.${payload}.${signature}`,
    `${header}.${encode('[]')}.${signature}`,
    `${header}.${encode('{"jti":"a","jti":"b"')}.${signature}`,
    `${header}.${'A'.repeat(9_000)}.${signature}`,
    `${header}.${'.'.repeat(7_000)}.${signature}`,
  ])
    assert.equal(readJwt(jwt), undefined, jwt.slice(0, 80))
})

test('the point of the public key is the one of its PEM', () => {
  const { pem, x, y } = describePublicKey(es512PublicHalf(key))
  const jwk = createPublicKey(pem).export({ format: 'jwk' })
  const hex = (text = '') => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
  assert.deepEqual([x, y], [hex(jwk.x), hex(jwk.y)])
})

test('a key is a number of the group: no other is taken, and every bit of it is drawn', () => {
  const order = `01${'ff'.repeat(32)}fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409`
  const drawn = [Buffer.from(order, 'hex'), Buffer.alloc(66, 0xff), Buffer.alloc(66, 0xfe)]
  const made = generateEs512(() => drawn.shift() ?? assert.fail('another was asked for'))
  assert.deepEqual(made, Buffer.concat([Buffer.of(0), Buffer.alloc(65, 0xfe)]))
  const tops = new Set(Array.from({ length: 64 }, () => generateEs512(random.bytes)[0]))
  assert.deepEqual(tops, new Set([0, 1]))
})
