import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LEAF_CERTIFICATE, ROOT_CERTIFICATE } from '../../../../test/fixtures/certificate-chain.ts'
import { materialOf } from '../../../../test/fixtures/known-material.ts'
import { base64, type MountedTransit, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { PROJECT } from '../../../../test/fixtures/server-process.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests change whatever a backup holds
type Backup = any

const decoded = (backup: string): string => Buffer.from(backup, 'base64').toString()

async function keyWithBackup(mount: MountedTransit, body: object = {}): Promise<string> {
  const { client } = mount
  await client.write('keys/k', { exportable: true, allow_plaintext_backup: true, ...body })
  await client.write('keys/k/rotate')
  return (await client.read('backup/k')).data.backup
}

for (const [name, type] of KEY_TYPES) {
  test(`a key of type ${name} is restored from its backup as it was, on another mount`, async () => {
    const from = mountTransit()
    plantKey(from.view, 'k', name, await materialOf(type), 'plain')
    await from.client.write('keys/k/config', { exportable: true, allow_plaintext_backup: true })
    const { backup } = (await from.client.read('backup/k')).data
    const to = mountTransit()
    assert.equal((await to.client.write('restore', { backup })).status, 204)
    const kind = type.signing !== undefined ? 'signing-key' : type.cipher !== undefined ? 'encryption-key' : 'hmac-key'
    for (const path of [`export/${kind}/k`, type.isHmacKey === true ? `export/${kind}/k` : 'export/hmac-key/k'])
      assert.deepEqual((await to.client.read(path)).data, (await from.client.read(path)).data)
    const { restore_info, ...read } = (await to.client.read('keys/k')).data
    assert.equal(restore_info.version, 1)
    const { key_size: _, ...before } = (await from.client.read('keys/k')).data
    assert.deepEqual({ ...read, key_size: undefined }, { ...before, key_size: undefined })
    const again = (await to.client.read('backup/k')).data.backup
    assert.equal(withoutNotes(again), withoutNotes(backup))
  })
}

/** Returns the backup without the times of backup and restore, and without the size, which planted keys do not have. */
function withoutNotes(backup: string): string {
  return decoded(backup)
    .replace(/"(backup|restore)_info":(null|\{[^}]*\})/g, '')
    .replace(/"key_size":\d+,/, '')
}

/** The fields of a real server in their order; values only where they are the same everywhere. */
const FIELDS =
  'name,keys,derived,kdf,convergent_encryption,exportable,min_decryption_version,min_encryption_version,' +
  'latest_version,archive_version,archive_min_version,min_available_version,deletion_allowed,convergent_version,type,' +
  'backup_info,restore_info,allow_plaintext_backup,version_template,storage_prefix,auto_rotate_period,Imported,' +
  'AllowImportedKeyRotation,soft_deleted'

test('a backup has the members of other programs in their order, down to the digits', async () => {
  const recorded = JSON.parse(readFileSync(join(PROJECT, 'test/wire/interop-subset.json'), 'utf8')) as {
    readonly name: string
    readonly steps: readonly { readonly req: readonly [string, string, { readonly backup: string }] }[]
  }[]
  for (const { name, steps } of recorded) {
    const theirs = steps[0]?.req[2].backup ?? assert.fail(name)
    const { client } = mountTransit()
    assert.equal((await client.write('restore', { backup: theirs, force: true })).status, 204, name)
    const key = JSON.parse(decoded(theirs)).policy.name
    const ours = (await client.read(`backup/${key}`)).data.backup
    assert.equal(withoutNotes(ours), withoutNotes(theirs), name)
    assert.equal(
      Object.keys(JSON.parse(decoded(ours)).policy)
        .filter((one) => one !== 'key_size')
        .join(),
      FIELDS,
    )
  }
})

test('the longest period of rotation that a key can have is restored', async () => {
  const { client } = mountTransit()
  const settings = { auto_rotate_period: 9_223_372_036, exportable: true, allow_plaintext_backup: true }
  assert.equal((await client.write('keys/k', settings)).status, 200)
  const { backup } = (await client.read('backup/k')).data
  const { status, errors } = await client.write('restore/again', { backup })
  assert.deepEqual([status, errors], [204, []])
  assert.equal((await client.read('keys/again')).data.auto_rotate_period, 9_223_372_036)
})

test('a backup is only of keys that allow it, and is noted in the key', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  assert.match((await client.read('backup/k')).errors.join(), /exporting is disallowed/)
  await client.write('keys/k/config', { exportable: true })
  assert.match((await client.read('backup/k')).errors.join(), /plaintext backup is disallowed/)
  const missing = await client.read('backup/none')
  assert.deepEqual([missing.status, missing.errors], [404, ['key not found: no key has the name "none"']])
  await client.write('keys/k/config', { allow_plaintext_backup: true })
  assert.equal((await client.read('keys/k')).data.backup_info, undefined)
  await client.read('backup/k')
  assert.equal((await client.read('keys/k')).data.backup_info.version, 1)
})

test('versions that were too old to be used, and those that were trimmed, are so after a restore', async () => {
  const mount = mountTransit()
  const { client } = mount
  await keyWithBackup(mount)
  for (const _ of [3, 4, 5]) await client.write('keys/k/rotate')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext: base64('x'), key_version: 2 })).data
  await client.write('keys/k/config', { min_decryption_version: 4, min_encryption_version: 4 })
  const whole = (await client.read('backup/k')).data.backup
  await client.write('keys/k/trim', { min_available_version: 3 })
  const trimmed = (await client.read('backup/k')).data.backup
  assert.equal(JSON.parse(decoded(whole)).archived_keys.keys.length, 6)
  assert.equal(JSON.parse(decoded(trimmed)).archived_keys.keys.length, 3)
  await client.write('restore/whole', { backup: whole })
  await client.write('restore/trimmed', { backup: trimmed })
  assert.deepEqual(Object.keys((await client.read('keys/whole')).data.keys), ['4', '5'])
  await client.write('keys/whole/config', { min_decryption_version: 1 })
  assert.equal((await client.write('decrypt/whole', { ciphertext })).data.plaintext, base64('x'))
  assert.equal((await client.read('keys/trimmed')).data.min_available_version, 3)
  assert.equal((await client.write('keys/trimmed/config', { min_decryption_version: 1 })).status, 400)
})

test('restore takes no name that is taken, unless it is forced; then nothing of the other key is left', async () => {
  const mount = mountTransit()
  const { client } = mount
  const backup = await keyWithBackup(mount)
  await client.write('keys/k/rotate')
  assert.match((await client.write('restore', { backup })).errors.join(), /key "k" already exists/)
  assert.equal((await client.read('keys/k')).data.latest_version, 3)
  assert.equal((await client.write('restore/k', { backup, force: true })).status, 204)
  assert.equal((await client.read('keys/k')).data.latest_version, 2)
  assert.equal((await client.write('restore/new', { backup, force: true })).status, 204)
})

test('C-06 a restored key has the name that it was given, which is no path, or there is no key', async () => {
  const mount = mountTransit()
  const backup = await keyWithBackup(mount)
  const names = ['a/b', '..', '.', '-x', 'x-', 'a b', '__proto__', 'Twin', 'twin', 'n'.repeat(513), 'a\nb', 'a\0b', 'ä']
  for (const name of names) {
    const inBackup = changed(backup, (all) => {
      all.policy.name = name
    })
    for (const { path, body } of [
      { path: 'restore', body: { backup: inBackup } },
      { path: `restore/${name}`, body: { backup, force: true } },
    ]) {
      const { status, errors } = await mount.client.write(path, body)
      const isOffered = ['-x', 'x-', '__proto__', 'Twin', 'twin'].includes(name)
      // The refusal says which of the two names it is about.
      const isOfIts = path === 'restore' && !isOffered
      if (isOfIts) assert.match(errors.join(), /^policy\.name of the backup is no name|at most 512 characters/)
      assert.ok(isOffered ? status === 204 : status === 400 || status === 404, `${path}: ${status}`)
    }
  }
  assert.deepEqual((await mount.client.list('keys')).data.keys, ['-x', 'Twin', '__proto__', 'k', 'twin', 'x-'])
})

function changed(backup: string, change: (all: Backup) => void): string {
  const all = JSON.parse(decoded(backup))
  change(all)
  return base64(JSON.stringify(all))
}

const LEAF = new X509Certificate(LEAF_CERTIFICATE).raw
const WRONG: { readonly name: string; readonly change: (all: Backup) => void; readonly says: RegExp }[] = [
  { name: 'no policy', change: (all) => delete all.policy, says: /no "policy"/ },
  { name: 'a policy that is a list', change: (all) => (all.policy = []), says: /policy is no object/ },
  { name: 'no type', change: ({ policy }) => delete policy.type, says: /policy.type is missing/ },
  { name: 'a type that nobody knows', change: ({ policy }) => (policy.type = 99), says: /policy.type/ },
  { name: 'another type', change: ({ policy }) => (policy.type = 8), says: /policy.keys.1 is no key of type aes128/ },
  { name: 'a type that is a text', change: ({ policy }) => (policy.type = '0'), says: /policy.type/ },
  { name: 'a flag that is a number', change: ({ policy }) => (policy.exportable = 1), says: /policy.exportable/ },
  { name: 'no versions', change: ({ policy }) => delete policy.keys, says: /policy.keys is missing/ },
  { name: 'a version missing', change: ({ policy }) => delete policy.keys[2], says: /policy.keys.2 is missing/ },
  { name: 'a version too many', change: ({ policy }) => (policy.keys[9] = {}), says: /policy.keys has a name/ },
  { name: 'a version that is null', change: ({ policy }) => (policy.keys[1] = null), says: /policy.keys.1 is missing/ },
  { name: 'the latest version 0', change: ({ policy }) => (policy.latest_version = 0), says: /latest_version/ },
  {
    name: 'a million versions',
    change: ({ policy }) => (policy.latest_version = 1e6),
    says: /latest_version .*1000000 versions: of a key of type aes256-gcm96 at most 25000/,
  },
  { name: 'a version of 2^53', change: ({ policy }) => (policy.latest_version = 2 ** 53), says: /latest_version/ },
  { name: 'half a version', change: ({ policy }) => (policy.latest_version = 1.5), says: /latest_version/ },
  { name: 'a minimum beyond', change: ({ policy }) => (policy.min_decryption_version = 3), says: /min_decryption/ },
  {
    name: 'minimums the wrong way round',
    change: ({ policy }) => Object.assign(policy, { min_decryption_version: 2, min_encryption_version: 1 }),
    says: /min_encryption_version/,
  },
  {
    name: 'what was trimmed in use',
    change: ({ policy }) => (policy.min_available_version = 2),
    says: /min_available/,
  },
  {
    name: 'old versions without an archive',
    change: (all) => {
      all.policy.min_decryption_version = 2
      delete all.policy.keys[1]
      all.archived_keys = null
    },
    says: /archived_keys.keys\[1\] is missing/,
  },
  {
    name: 'a key that is no base64',
    change: ({ policy }) => (policy.keys[1].key = '!'),
    says: /keys.1.key is not base64/,
  },
  {
    name: 'a key that is too short',
    change: ({ policy }) => (policy.keys[1].key = 'AAAA'),
    says: /policy.keys.1 is no key/,
  },
  { name: 'no key', change: ({ policy }) => (policy.keys[1].key = null), says: /policy.keys.1 is no key.*"key"/ },
  { name: 'a short HMAC secret', change: ({ policy }) => (policy.keys[1].hmac_key = 'AAAA'), says: /hmac_key/ },
  { name: 'a time that is none', change: ({ policy }) => (policy.keys[1].time = 'now'), says: /keys.1.time/ },
  { name: 'a period of a minute', change: ({ policy }) => (policy.auto_rotate_period = 6e10), says: /an hour/ },
  { name: 'a negative period', change: ({ policy }) => (policy.auto_rotate_period = -1), says: /auto_rotate_period/ },
  {
    name: 'convergent without derived',
    change: ({ policy }) => (policy.convergent_encryption = true),
    says: /convergent/,
  },
  {
    name: 'an unknown kdf',
    change: ({ policy }) => Object.assign(policy, { derived: true, kdf: 2 }),
    says: /policy.kdf/,
  },
  {
    name: 'a convergent key by the counter',
    change: ({ policy }) =>
      Object.assign(policy, { derived: true, convergent_encryption: true, convergent_version: 1 }),
    says: /"kdf" and a "convergent_version"/,
  },
  {
    name: 'a version of a convergent key that does not say which algorithm it has',
    change: ({ policy }) => {
      Object.assign(policy, { derived: true, kdf: 1, convergent_encryption: true, convergent_version: -1 })
      delete policy.keys[1].convergent_version
    },
    says: /policy.keys.1.convergent_version is missing/,
  },
  {
    name: 'certificates that are none',
    change: ({ policy }) => (policy.keys[1].certificate_chain = ['!']),
    says: /keys.1.certificate_chain is no list of certificates/,
  },
  ...[
    { name: 'a number for a certificate', chain: [1], says: /is no list of certificates/ },
    { name: 'what only begins as a certificate', chain: [base64(Buffer.alloc(99, 0x30))], says: /is no list of/ },
    { name: 'half a certificate', chain: [LEAF.subarray(0, 99).toString('base64')], says: /is no list of/ },
    { name: 'bytes behind a certificate', chain: [base64(Buffer.concat([LEAF, Buffer.of(0)]))], says: /is no list of/ },
    { name: 'a certificate in PEM', chain: [base64(LEAF_CERTIFICATE)], says: /is no list of certificates/ },
    { name: 'eleven certificates', chain: Array(11).fill(base64(LEAF)), says: /has more than 10 certificates/ },
    { name: 'a long certificate', chain: [base64(Buffer.alloc(49_153, 0x30))], says: /more than 65536 characters/ },
    { name: 'long certificates', chain: Array(3).fill('A'.repeat(21_848)), says: /more than 65536 characters/ },
  ].map(({ name, chain, says }) => ({
    name,
    change: ({ policy }: Backup) => (policy.keys[1].certificate_chain = chain),
    says: new RegExp(`"backup": policy.keys.1.certificate_chain .*${says.source}`),
  })),
]
for (const { name, change, says } of WRONG) {
  test(`D-06 a backup with ${name} is refused, and the refusal names it`, async () => {
    const mount = mountTransit()
    const backup = changed(await keyWithBackup(mount), change)
    const { status, errors } = await mount.client.write('restore/new', { backup })
    assert.equal(status, 400)
    assert.match(errors.join(), says)
    assert.equal((await mount.client.read('keys/new')).status, 404)
    // The refusal leaves no error behind in the runtime, for which the next key would be refused.
    assert.equal((await mount.client.write('keys/next', { type: 'ecdsa-p256' })).status, 200)
  })
}

test('certificates of a backup are shown with the key that was restored', async () => {
  const mount = mountTransit()
  const chain = [LEAF_CERTIFICATE, ROOT_CERTIFICATE].map((pem) => base64(new X509Certificate(pem).raw))
  const backup = changed(await keyWithBackup(mount, { type: 'ed25519' }), ({ policy }) => {
    policy.keys[2].certificate_chain = chain
  })
  assert.equal((await mount.client.write('restore/new', { backup })).status, 204)
  const { keys } = (await mount.client.read('keys/new')).data
  const shown = [LEAF_CERTIFICATE, ROOT_CERTIFICATE].map((pem) => pem.trim()).join('\n')
  assert.deepEqual([keys[1].certificate_chain, keys[2].certificate_chain.trim()], ['', shown])
})

const NONSENSE = [
  { name: 'nothing', backup: '', says: /'backup' must be supplied/ },
  { name: 'no base64', backup: 'x', says: /"backup": illegal base64/ },
  { name: 'an empty object', backup: 'e30=', says: /no "policy"/ },
  { name: 'no JSON', backup: base64('{"policy"'), says: /is no backup: not well-formed/ },
  { name: 'a text', backup: base64('"x"'), says: /is no object/ },
  { name: 'brackets', backup: base64('['.repeat(100)), says: /nested deeper/ },
  { name: 'a number without end', backup: base64(`{"policy":${'9'.repeat(2_000)}}`), says: /digits/ },
  { name: 'a million objects', backup: base64(`[${'{},'.repeat(1e6)}{}]`), says: /arrays and objects/ },
]
for (const { name, backup, says } of NONSENSE) {
  test(`restore refuses ${name}`, async () => {
    const { status, errors } = await mountTransit().client.write('restore', { backup })
    assert.equal(status, 400)
    assert.match(errors.join(), says)
  })
}

test('a version of a backup that has only seconds was made then', async () => {
  const mount = mountTransit()
  const backup = changed(await keyWithBackup(mount), ({ policy }) => {
    delete policy.keys['1'].time
    policy.keys['1'].creation_time = 1_600_000_000
  })
  assert.equal((await mount.client.write('restore/new', { backup })).status, 204)
  assert.equal((await mount.client.read('keys/new')).data.keys['1'], 1_600_000_000)
})

const digits = (backup: string, change: (json: string) => string): string => base64(change(decoded(backup)))

test('D-06 numbers of key pairs are held to each other', async () => {
  const ec = await keyWithBackup(mountTransit(), { type: 'ecdsa-p256' })
  const rsa = await keyWithBackup(mountTransit(), { type: 'rsa-2048' })
  const nextDigit = (digit: string): string => String((Number(digit) + 2) % 10)
  const cases = [
    {
      backup: digits(ec, (json) => json.replace(/("ec_x":\d+)(\d)/, (_, a, b) => a + nextDigit(b))),
      says: /P-256|point/,
    },
    { backup: digits(ec, (json) => json.replace(/("ec_d":\d+)(\d)/, (_, a, b) => a + nextDigit(b))), says: /point/ },
    { backup: digits(ec, (json) => json.replace(/"ec_d":\d+/, '"ec_d":0')), says: /range/ },
    { backup: digits(ec, (json) => json.replace(/"ec_y":\d+/, '"ec_y":null')), says: /"ec_x", "ec_y" and "ec_d"/ },
    { backup: digits(ec, (json) => json.replace(/"ec_d":(\d+)/, '"ec_d":"$1"')), says: /ec_d is no whole number/ },
    { backup: digits(rsa, (json) => json.replace(/("N":\d+)(\d)/, (_, a, b) => a + nextDigit(b))), says: /product/ },
    { backup: digits(rsa, (json) => json.replace(/"E":65537/, '"E":3')), says: /65537/ },
    { backup: digits(rsa, (json) => json.replace(/("D":\d+)(\d)/, (_, a, b) => a + nextDigit(b))), says: /exponent/ },
    { backup: digits(rsa, (json) => json.replace(/"Primes":\[\d+,/, '"Primes":[')), says: /Primes/ },
    {
      backup: digits(rsa, (json) => json.replace(/("Qinv":\d+)(\d)/, (_, a, b) => a + nextDigit(b))),
      says: /precomputed/,
    },
    { backup: digits(rsa, (json) => json.replace('"type":3', '"type":4')), says: /4096/ },
  ]
  for (const { backup, says } of cases) {
    const { status, errors } = await mountTransit().client.write('restore', { backup })
    assert.equal(status, 400)
    assert.match(errors.join(), says)
  }
})

const HMAC_KEY = base64(Buffer.alloc(40, 1))
const OTHER_PRODUCT: { readonly name: string; readonly change: (all: Backup) => void; readonly type: string }[] = [
  { name: 'fork, 10', change: ({ policy }) => setKeys(policy, 10, HMAC_KEY), type: 'hmac' },
  {
    name: 'original, 11',
    change: ({ policy }) => {
      delete policy.soft_deleted
      setKeys(Object.assign(policy, { ParameterSet: '', HybridConfig: {}, key_size: 40 }), 11, HMAC_KEY)
    },
    type: 'hmac',
  },
  {
    name: 'fork, 11',
    change: ({ policy }) => setKeys(policy, 11, base64(Buffer.alloc(32, 1))),
    type: 'xchacha20-poly1305',
  },
  { name: 'names in capitals', change: (all) => capitals(all), type: 'aes256-gcm96' },
]
function setKeys(policy: Backup, type: number, key: string): void {
  policy.type = type
  for (const entry of Object.values<Backup>(policy.keys)) Object.assign(entry, { key, hmac_key: key })
  if (type === 11 && policy.soft_deleted !== undefined)
    for (const entry of Object.values<Backup>(policy.keys)) entry.hmac_key = base64(Buffer.alloc(32, 2))
}
function capitals(all: Backup): void {
  all.Policy = Object.fromEntries(Object.entries(all.policy).map(([name, value]) => [name.toUpperCase(), value]))
  delete all.policy
}
for (const { name, change, type } of OTHER_PRODUCT) {
  test(`a backup of the other kind (${name}) is of type ${type}`, async () => {
    const mount = mountTransit()
    const backup = changed(await keyWithBackup(mount), change)
    const { status, errors } = await mount.client.write('restore/new', { backup })
    assert.deepEqual([status, errors], [204, []])
    assert.equal((await mount.client.read('keys/new')).data.type, type)
  })
}

test('a key that lies elsewhere (original, 10) is not restored', async () => {
  const mount = mountTransit()
  const backup = changed(await keyWithBackup(mount), ({ policy }) => {
    delete policy.soft_deleted
    Object.assign(policy, { type: 10, ParameterSet: '' })
  })
  assert.match((await mount.client.write('restore/new', { backup })).errors.join(), /managed_key/)
})

test('C-07 a restore whose write fails leaves the key that was there', async () => {
  const mount = mountTransit()
  const backup = await keyWithBackup(mount)
  await mount.client.write('keys/k/rotate')
  mount.view.beforeCommit = () => {
    throw new Error('device')
  }
  await assert.rejects(mount.client.write('restore', { backup, force: true }), /device/)
  await assert.rejects(mount.client.read('backup/k'), /device/)
  mount.view.beforeCommit = () => {}
  assert.equal((await mount.client.read('keys/k')).data.latest_version, 3)
})
