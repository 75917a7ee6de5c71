import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { generateEs512, loadEs512, signJwt } from '../../crypto/jwt/es512.ts'
import { X25519_BYTES } from '../../crypto/primitives/hpke.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import { inlineWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'
import {
  type ActivationBundle,
  ActivationRefused,
  decodeActivation,
  encodeActivation,
  MAX_ACTIVATION_BYTES,
  NONCE_BYTES,
  wipeActivation,
} from './activation-bundle.ts'
import {
  activationText,
  type CarriedToken,
  MAX_ACTIVATION_CHARACTERS,
  openActivation,
  readActivationToken,
  readSecondaryKey,
  sealActivation,
  secondaryKeyText,
} from './activation-token.ts'
import { newAuthority, newLeaf, newLeafKey, publicKeyOf } from './certificates.ts'
import { MAX_ADDRESS_CHARACTERS } from './peer-address.ts'
import { MAX_PEER_ID_BYTES, type PeerName } from './peer-name.ts'

const random = new SeededRandom(19)
const making = { random, nowMs: Date.UTC(2026, 10, 24, 12) }
const NONCE = random.bytes(NONCE_BYTES)

/** A bundle, with the leaf of `holder` where that is given. */
function bundleFor(changed: Partial<ActivationBundle> = {}, holder: Partial<PeerName> = {}): ActivationBundle {
  const named = { setId: random.uuid(), family: 'dr' as const, id: 'site/b', ...changed }
  const authority = newAuthority(named, making)
  const key = newLeafKey(random)
  const leaf = newLeaf(authority, { ...named, role: 'secondary', ...holder }, publicKeyOf(key), making)
  return {
    ...named,
    authority: authority.certificate,
    nextAuthority: undefined,
    leaf,
    leafKey: new Secret(key),
    nonce: new Secret(NONCE),
    endsAtMs: making.nowMs + 1_800_000,
    clusterAddress: 'https://a1.example.org:8201',
    apiAddress: 'https://a.example.org:8200',
    epoch: 7,
    historyId: random.bytes(16),
    ...changed,
  }
}
const GOOD = bundleFor()
const LONGEST = bundleFor({
  family: 'performance',
  id: '.'.repeat(MAX_PEER_ID_BYTES),
  clusterAddress: `https://${'a'.repeat(MAX_ADDRESS_CHARACTERS - 12)}:8201`.slice(0, MAX_ADDRESS_CHARACTERS),
  apiAddress: `http://${'b'.repeat(MAX_ADDRESS_CHARACTERS - 7)}`,
  epoch: 0xffff_ffff,
  endsAtMs: Number.MAX_SAFE_INTEGER,
})
const WITHOUT_API = bundleFor({ apiAddress: '' })
const NEXT = newAuthority({ setId: GOOD.setId, family: 'dr' }, making).certificate
const TWO_AUTHORITIES = bundleFor({ setId: GOOD.setId, nextAuthority: NEXT })

const clear = ({ leafKey, nonce, ...rest }: ActivationBundle) => ({
  ...rest,
  leafKey: leafKey.reveal().toString('hex'),
  nonce: nonce.reveal().toString('hex'),
})
const refused = (work: () => unknown): ActivationRefused => {
  try {
    work()
  } catch (cause) {
    assert.ok(cause instanceof ActivationRefused, String(cause))
    return cause
  }
  throw new assert.AssertionError({ message: 'It was taken' })
}
const carried = (text: string): CarriedToken => {
  const read = readActivationToken(text)
  assert.ok(read.kind !== 'wrapped')
  return read
}
const NO_KEY = { family: 'dr', seed: undefined } as const

for (const [name, bundle] of Object.entries({ GOOD, LONGEST, WITHOUT_API, TWO_AUTHORITIES })) {
  test(`an activation token is read as it was made, ${name}`, () => {
    const encoded = encodeActivation(bundle)
    assert.deepEqual(clear(decodeActivation(encoded)), clear(bundle))
    const text = activationText(bundle)
    assert.match(text, /^keywright-activation-1-[A-Za-z0-9_-]+$/)
    assert.ok(text.length < 8_192)
    const { family } = bundle
    assert.deepEqual(clear(openActivation(carried(`${text}\n`), { family, seed: undefined })), clear(bundle))
  })

  test(`an activation token that was cut anywhere, or has more, is damaged, ${name}`, () => {
    const encoded = encodeActivation(bundle)
    for (let length = 0; length < encoded.length; length++)
      assert.equal(refused(() => decodeActivation(encoded.subarray(0, length))).reason, 'damaged', String(length))
    assert.equal(refused(() => decodeActivation(Buffer.concat([encoded, Buffer.alloc(1)]))).reason, 'damaged')
  })

  test(`a token that is sealed for a key opens with that key, for its family, and not otherwise, ${name}`, () => {
    const { family } = bundle
    const other = family === 'dr' ? 'performance' : 'dr'
    const seed = random.bytes(X25519_BYTES)
    const key = secondaryKeyText(family, seed)
    assert.match(key, /^keywright-secondary-key-1-[A-Za-z0-9_-]{44}$/)
    const text = sealActivation(bundle, ` ${key}\n`, random)
    assert.match(text, /^keywright-sealed-activation-1-[A-Za-z0-9_-]+$/)
    assert.ok(text.length < 8_192)
    assert.deepEqual(clear(openActivation(carried(text), { family, seed })), clear(bundle))
    for (const opening of [
      { family, seed: random.bytes(X25519_BYTES) },
      { family, seed: undefined },
      { family: other, seed } as const,
    ])
      assert.equal(refused(() => openActivation(carried(text), opening)).reason, 'receiver')
    assert.equal(refused(() => sealActivation(bundle, secondaryKeyText(other, seed), random)).reason, 'family')
    const token = carried(text)
    for (const at of [0, X25519_BYTES, token.bytes.length - 1]) {
      const bytes = Buffer.from(token.bytes)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      assert.equal(refused(() => openActivation({ kind: 'sealed', bytes }, { family, seed })).reason, 'receiver')
    }
  })
}

test('the longest tokens fit, and what is longer is not looked at', () => {
  const longest = Math.ceil(((MAX_ACTIVATION_BYTES + X25519_BYTES + 16) * 4) / 3)
  assert.ok(longest + 'keywright-sealed-activation-1-'.length <= MAX_ACTIVATION_CHARACTERS)
  assert.match(refused(() => decodeActivation(Buffer.alloc(MAX_ACTIVATION_BYTES + 1, 1))).message, /1 to \d+ bytes/)
  const long = refused(() => readActivationToken('x'.repeat(MAX_ACTIVATION_CHARACTERS + 1)))
  assert.match(long.message, /at most 8191 characters/)
  const most = refused(() => readActivationToken('x'.repeat(MAX_ACTIVATION_CHARACTERS)))
  assert.match(most.message, /no activation token/)
})

test('no byte of a secret is in what a bundle prints, and wiping clears both', () => {
  const bundle = bundleFor()
  const secrets = [bundle.leafKey.reveal(), NONCE].map((one) => Buffer.from(one))
  const printed = [inspect(bundle, { depth: 9 }), JSON.stringify(bundle)].join(' ')
  for (const secret of secrets)
    for (const form of ['hex', 'base64', 'latin1'] as const) assert.ok(!printed.includes(secret.toString(form)))
  wipeActivation(bundle)
  assert.deepEqual([bundle.leafKey.reveal(), bundle.nonce.reveal()], [Buffer.alloc(32), Buffer.alloc(32)])
})

test('making and opening a token wipe the bytes of the bundle in between', (t) => {
  const { fill } = Buffer.prototype
  const wiped: string[] = []
  t.mock.method(Buffer.prototype, 'fill', function (this: Buffer, ...given: Parameters<typeof fill>) {
    if (given[0] === 0) wiped.push(this.toString('hex'))
    return fill.apply(this, given)
  })
  const encoded = encodeActivation(GOOD).toString('hex')
  const seed = random.bytes(X25519_BYTES)
  const texts = [activationText(GOOD), sealActivation(GOOD, secondaryKeyText('dr', seed), random)]
  assert.equal(wiped.filter((one) => one === encoded).length, 2)
  for (const text of texts) {
    wiped.length = 0
    openActivation(carried(text), { family: 'dr', seed })
    assert.ok(wiped.includes(encoded))
  }
})

test('a bundle whose parts do not belong together is damaged, and one with bad texts is never made', () => {
  const other = bundleFor()
  const bad: readonly (readonly [RegExp, ActivationBundle])[] = [
    [/not made by/, { ...GOOD, leaf: other.leaf }],
    [/authority of this set/, { ...GOOD, authority: other.authority }],
    [/authority of this set/, { ...GOOD, setId: other.setId }],
    [/authority of this set/, { ...GOOD, family: 'performance' }],
    [/not that of its secondary/, { ...GOOD, leafKey: other.leafKey }],
    [/not that of its secondary/, { ...GOOD, leafKey: new Secret(Buffer.alloc(32)) }],
    [/not that of its secondary/, { ...GOOD, leafKey: new Secret(Buffer.alloc(32, 0xff)) }],
    [/not that of its secondary/, { ...GOOD, id: 'site/c' }],
    [/not that of its secondary/, bundleFor({}, { role: 'primary' })],
  ]
  for (const [sentence, bundle] of bad) {
    const { reason, message } = refused(() => decodeActivation(encodeActivation(bundle)))
    assert.equal(reason, 'damaged')
    assert.match(message, sentence)
  }
  const texts: readonly (readonly [RegExp, Partial<ActivationBundle>])[] = [
    [/id is empty/, { id: '' }],
    [/id has more than 256 bytes/, { id: 'x'.repeat(257) }],
    [/set id is no UUID/, { setId: 'x' }],
    [/cluster address has no port/, { clusterAddress: 'https://a' }],
    [/cluster address is no address that begins with https:/, { clusterAddress: 'http://a:1' }],
    [/cluster address is no address/, { clusterAddress: '' }],
    [/API address has more than a host/, { apiAddress: 'https://a:1/v1?' }],
    [/API address has more than 300 characters/, { apiAddress: `https://${'a'.repeat(293)}` }],
  ]
  for (const [sentence, changed] of texts)
    assert.throws(() => encodeActivation({ ...GOOD, ...changed }), { name: 'RangeError', message: sentence })
})

test('lengths above their limits, and a format or family of tomorrow, are refused before anything is read', () => {
  const encoded = encodeActivation(GOOD)
  const idAt = 2 + 16 + 4 + 16 + 8 + 32
  const changed = (at: number, bytes: Buffer) => {
    const copy = Buffer.from(encoded)
    bytes.copy(copy, at)
    return refused(() => decodeActivation(copy))
  }
  assert.deepEqual([changed(0, Buffer.of(3)).reason, changed(1, Buffer.of(3)).reason], ['version', 'damaged'])
  const lengthAt = idAt + 2 + Buffer.byteLength(GOOD.id)
  assert.match(changed(idAt, Buffer.from('0101', 'hex')).message, /id is above 256 bytes/)
  assert.match(changed(lengthAt, Buffer.from('0801', 'hex')).message, /authority is above 2048 bytes/)
  assert.match(changed(idAt + 2, Buffer.of(0xff)).message, /id is not UTF-8/)
  assert.match(changed(2 + 16 + 4 + 16, Buffer.alloc(8, 255)).message, /beyond 2\^53/)
})

test('the next authority of an activation token is one of its set', () => {
  for (const nextAuthority of [GOOD.leaf, newAuthority({ setId: random.uuid(), family: 'dr' }, making).certificate]) {
    const encoded = encodeActivation({ ...GOOD, nextAuthority })
    assert.equal(refused(() => decodeActivation(encoded)).reason, 'damaged')
  }
})

const world = realWorld()
const slow = inlineWork(world)
const KEY = loadEs512(generateEs512(world.random.bytes))
const jwtOf = (claims: object) => signJwt({ type: 'wrapping', jti: 'hvs.x', ...claims }, KEY, slow)

test('a wrapping token in JWT form is told by its parts, and tells where it is unwrapped', async () => {
  for (const address of ['https://a:8200', 'http://10.0.0.1:8200', 'https://a', '']) {
    const jwt = await jwtOf({ addr: address })
    assert.deepEqual(readActivationToken(`\t${jwt}\n`), { kind: 'wrapped', jwt, address })
  }
  const jwt = await jwtOf({})
  assert.deepEqual(readActivationToken(jwt), { kind: 'wrapped', jwt, address: '' })
  for (const bad of [await jwtOf({ type: 'x' }), await jwtOf({ jti: 1 }), 'a.b.c', '..', jwt.slice(1), `${jwt}x`])
    assert.match(refused(() => readActivationToken(bad)).message, /no wrapping token/)
  // Another address may be given in its place.
  const odd = await jwtOf({ addr: 'ftp://a' })
  assert.deepEqual(readActivationToken(odd), { kind: 'wrapped', jwt: odd, address: 'ftp://a' })
  const number = refused(() => readActivationToken(changed(1)))
  assert.match(number.message, /address in the activation token is no text/)
  function changed(addr: number): string {
    const [head = '', claims = '', signature = ''] = jwt.split('.')
    const other = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), addr }
    return [head, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.')
  }
})

test('other texts are refused with what was expected, by reason', () => {
  const text = activationText(GOOD)
  const cases: readonly (readonly [ActivationRefused['reason'], RegExp, string])[] = [
    ['form', /is empty.*wrap_info\.token/, ' \n'],
    ['form', /no activation token/, 'hvs.CAESIJ'],
    ['form', /no activation token/, text.slice(1)],
    ['form', /no activation token/, secondaryKeyText('dr', random.bytes(32))],
    ['version', /newer version/, text.replace('-1-', '-2-')],
    ['version', /newer version/, text.replace('-1-', '-12345-')],
    ['damaged', /copy it whole/, text.replace('-1-', '-')],
    ['damaged', /copy it whole/, text.replace('-1-', '-01-')],
    ['damaged', /copy it whole/, 'keywright-activation-1-'],
    ['damaged', /copy it whole/, `${text}=`],
    ['damaged', /copy it whole/, `${text.slice(0, 99)}\n${text.slice(99)}`],
    ['damaged', /copy it whole/, `${text.slice(0, 99)}+${text.slice(100)}`],
    ['damaged', /copy it whole/, `keywright-activation-1-${'A'.repeat(8_100)}`],
  ]
  for (const [reason, sentence, given] of cases) {
    const refusal = refused(() => readActivationToken(given))
    assert.deepEqual([refusal.reason, sentence.test(refusal.message)], [reason, true], given.slice(0, 60))
  }
  const cut = refused(() => openActivation(carried(text.slice(0, 400)), NO_KEY))
  assert.equal(cut.reason, 'damaged')
  const dr = refused(() => openActivation(carried(text), { ...NO_KEY, family: 'performance' }))
  assert.deepEqual([dr.reason, dr.message], ['family', 'The activation token is for dr replication'])
})

test('a secondary public key is read from its one form, and refused in any other', () => {
  const seed = random.bytes(X25519_BYTES)
  const key = secondaryKeyText('performance', seed)
  assert.equal(readSecondaryKey('performance', key).length, X25519_BYTES)
  assert.match(refused(() => readSecondaryKey('dr', key)).message, /for performance replication, not for dr/)
  const textOf = (family: number) =>
    `keywright-secondary-key-1-${Buffer.concat([Buffer.of(family), Buffer.alloc(32)]).toString('base64url')}`
  const zero = textOf(1)
  assert.match(refused(() => sealActivation(GOOD, zero, random)).message, /nothing can be sealed/)
  for (const bad of ['', 'x', `${key}A`, key.slice(0, -1), textOf(0), textOf(3), activationText(GOOD)])
    assert.ok(['form', 'damaged'].includes(refused(() => readSecondaryKey('performance', bad)).reason), bad)
  assert.equal(refused(() => readSecondaryKey('performance', key.replace('-1-', '-2-'))).reason, 'version')
})
