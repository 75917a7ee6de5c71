import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CKR, FakeDevice } from '../../test/fixtures/fake-cryptoki.ts'
import { DeviceService } from './device-service.ts'
import type { DeviceKeySelector, DeviceOrder } from './orders.ts'
import { PinGuard } from './pin-guard.ts'

const KEY: DeviceKeySelector = {
  library: 'hsm',
  slot: '',
  tokenLabel: 'one',
  pin: '1234',
  family: 'aes',
  label: 'k',
  id: '',
}
const DATA = new Uint8Array([1, 2, 3])
const gcm = { kind: 'aes-gcm', nonce: new Uint8Array(12), associatedData: new Uint8Array() } as const

const encrypt = (key: Partial<DeviceKeySelector> = {}): DeviceOrder => ({
  do: 'encrypt',
  key: { ...KEY, ...key },
  with: gcm,
  data: DATA,
})
const decrypt: DeviceOrder = { do: 'decrypt', key: KEY, with: gcm, data: new Uint8Array(20) }

function newService(device: FakeDevice, refused: string[] = []) {
  const guard = new PinGuard('ab', refused, (tag) => refused.push(tag))
  return { service: new DeviceService({ hsm: '/lib/hsm.so' }, () => device.binding(), guard), guard, refused }
}

const faultOf = (outcome: object): unknown => ('fault' in outcome ? outcome.fault : 'none')

test('one log-in and one look for the key serve all operations', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  for (let i = 0; i < 5; i++) assert.deepEqual(faultOf(service.carryOut(encrypt())), 'none')
  assert.deepEqual(
    ['load', 'C_Login', 'C_FindObjects', 'C_EncryptInit'].map((call) => device.count(call)),
    [1, 1, 1, 5],
  )
})

test('a PIN that the token refused is never shown to it again, by this process or the next', () => {
  const device = new FakeDevice()
  const refused: string[] = []
  const { service } = newService(device, refused)
  for (let i = 0; i < 10; i++) assert.equal(faultOf(service.carryOut(encrypt({ pin: 'wrong' }))), 'pin')
  assert.equal(device.failures, 1)
  const next = newService(device, refused)
  assert.equal(faultOf(next.service.carryOut(encrypt({ pin: 'wrong' }))), 'pin')
  assert.equal(device.failures, 1)
  assert.equal(faultOf(next.service.carryOut(encrypt())), 'none')
  assert.equal(device.failures, 0)
})

test('what names a refused PIN holds neither the PIN nor what can be looked up', () => {
  const refused: string[] = []
  newService(new FakeDevice(), refused).service.carryOut(encrypt({ pin: 'wrong' }))
  assert.match(refused.join(), /^[0-9a-f]{64}$/)
  assert.notEqual(new PinGuard('ab', [], () => {}).tag('t', 'p'), new PinGuard('ac', [], () => {}).tag('t', 'p'))
})

test('a refused PIN may be tried once more where an operator said so', () => {
  const device = new FakeDevice()
  const { service, guard } = newService(device)
  service.carryOut(encrypt({ pin: 'new' }))
  device.pin = 'new'
  assert.equal(faultOf(service.carryOut(encrypt({ pin: 'new' }))), 'pin')
  guard.forgive()
  assert.equal(faultOf(service.carryOut(encrypt({ pin: 'new' }))), 'none')
})

test('who knows no PIN does not use a token that somebody else opened', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
  assert.equal(faultOf(service.carryOut(encrypt({ pin: 'guess' }))), 'pin')
  assert.equal(faultOf(service.carryOut(encrypt({ pin: '' }))), 'pin')
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
  assert.equal(device.count('C_Logout'), 1)
})

test('a device that was lost is looked for once more, with everything begun anew', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  service.carryOut(encrypt())
  device.errors.push(CKR.deviceError)
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
  assert.deepEqual([device.count('C_Finalize'), device.count('load'), device.count('C_Login')], [1, 2, 2])
  device.errors.push(CKR.deviceError, CKR.deviceError)
  const outcome = service.carryOut(encrypt())
  assert.deepEqual(outcome, { fault: 'failed', detail: 'the device failed: CKR_SOMETHING' })
})

test('a device that is gone is a token that is not there, and serves again when it is back', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  service.carryOut(encrypt())
  device.isThere = false
  device.errors.push(CKR.deviceRemoved)
  assert.equal(faultOf(service.carryOut(encrypt())), 'no-token')
  assert.equal(faultOf(service.carryOut(encrypt())), 'no-token')
  device.isThere = true
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
})

test('a message that does not open is no failure of the device, whichever way it says so', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  for (const code of [CKR.encryptedDataInvalid, CKR.generalError]) {
    device.errors.push(code)
    assert.equal(faultOf(service.carryOut(decrypt)), 'unopened')
  }
  assert.equal(device.count('C_Finalize'), 0)
  // A device that is gone gives the same vague error.
  device.isThere = false
  device.errors.push(CKR.generalError)
  assert.equal(faultOf(service.carryOut(decrypt)), 'no-token')
})

test('an operation that failed does not leave a session behind in which it may go on', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  device.errors.push(CKR.keyFunctionNotPermitted)
  assert.equal(faultOf(service.carryOut(encrypt())), 'unfit')
  assert.equal(device.count('C_CloseSession'), 1)
  assert.equal(device.count('C_Finalize'), 0)
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
})

const ROWS: readonly { readonly name: string; readonly set: (device: FakeDevice) => void; readonly fault: string }[] = [
  { name: 'no token has the label', set: (device) => device.labels.splice(0, 1, 'other'), fault: 'no-token' },
  { name: 'two tokens have the label', set: (device) => device.labels.push('one'), fault: 'no-token' },
  { name: 'no key has the label', set: (device) => Object.assign(device, { keys: 0 }), fault: 'no-key' },
  { name: 'two keys have the label', set: (device) => Object.assign(device, { keys: 2 }), fault: 'several-keys' },
]
for (const { name, set, fault } of ROWS) {
  test(`${name}: it is said, and nothing is used`, () => {
    const device = new FakeDevice()
    set(device)
    const { service } = newService(device)
    assert.equal(faultOf(service.carryOut(encrypt())), fault)
    assert.equal(device.count('C_EncryptInit'), 0)
  })
}

test('a slot is named by its number', () => {
  const device = new FakeDevice()
  device.labels.push('two')
  const { service } = newService(device)
  assert.equal(faultOf(service.carryOut(encrypt({ slot: '2', tokenLabel: '' }))), 'none')
  assert.equal(faultOf(service.carryOut(encrypt({ slot: '3', tokenLabel: '' }))), 'no-token')
  assert.equal(faultOf(service.carryOut(encrypt({ slot: '2', tokenLabel: 'one' }))), 'no-token')
})

test('a key is made only where there is none and it was allowed, and can never leave the token', () => {
  const device = new FakeDevice()
  device.keys = 0
  const { service } = newService(device)
  const create = { bits: 256, curve: '', uses: ['encrypt', 'decrypt'] }
  assert.equal(faultOf(service.carryOut({ do: 'describe', key: KEY, create: undefined })), 'no-key')
  assert.deepEqual(service.carryOut({ do: 'describe', key: KEY, create }), {
    found: { bits: 256, publicKey: undefined },
  })
  const made = device.calls.filter((call) => call.startsWith('C_GenerateKey'))
  assert.equal(made.length, 1)
  const [TOKEN, PRIVATE, SENSITIVE, EXTRACTABLE] = [0x01, 0x02, 0x103, 0x162]
  for (const [type, value] of [
    [TOKEN, true],
    [PRIVATE, true],
    [SENSITIVE, true],
    [EXTRACTABLE, false],
  ]) {
    assert.match(String(made[0]), new RegExp(`\\[${type},${value}\\]`))
  }
  service.carryOut({ do: 'describe', key: KEY, create })
  assert.equal(device.calls.filter((call) => call.startsWith('C_GenerateKey')).length, 1)
})

test('random bytes need no PIN, and come in parts that a device gives', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  const outcome = service.carryOut({ do: 'random', library: 'hsm', count: 2_500 })
  assert.deepEqual('bytes' in outcome && [outcome.bytes.length, new Set(outcome.bytes)], [2_500, new Set([7])])
  assert.deepEqual([device.count('C_GenerateRandom'), device.count('C_Login')], [3, 0])
})

test('a library that the configuration does not have is none', () => {
  const { service } = newService(new FakeDevice())
  assert.equal(faultOf(service.carryOut(encrypt({ library: 'other' }))), 'no-library')
})

test('closed, it has no log-in any more, and begins anew when it is asked', () => {
  const device = new FakeDevice()
  const { service } = newService(device)
  service.carryOut(encrypt())
  service.close()
  assert.equal(device.count('C_Finalize'), 1)
  assert.equal(faultOf(service.carryOut(encrypt())), 'none')
  assert.equal(device.count('C_Login'), 2)
})
