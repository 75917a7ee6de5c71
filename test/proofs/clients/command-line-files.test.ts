// Files that the command line encrypts, rewraps, decrypts, signs and verifies, with keys of a real server.
import assert from 'node:assert/strict'
import { createVerify, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Ran, runClient } from '../../fixtures/cli-run.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const home = temporaryDirectory()
const at = (name: string): string => join(home.path, name)
let server: ServerProcess
before(async () => {
  server = await startServerProcess()
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
})
after(async () => {
  await server.stop()
  home.cleanUp()
})

function transit(words: string, stdin?: Buffer): Promise<Ran> {
  const env = { VAULT_ADDR: server.address, VAULT_TOKEN: server.token, HOME: home.path }
  return runClient(['transit', ...words.split(' ')], { env, ...(stdin === undefined ? {} : { stdin }) })
}

async function done(words: string, stdin?: Buffer): Promise<Ran> {
  const ran = await transit(words, stdin)
  assert.deepEqual([ran.code, ran.stderr], [0, ''], words)
  return ran
}

test('files: encrypted here, rewrapped to a new version, decrypted, and not with the old key any more', async () => {
  await api(server, 'POST', 'transit/keys/files')
  const content = randomBytes(300_000)
  writeFileSync(at('f'), content)
  await done(`encrypt -key=files ${at('f')}`)
  const before = readFileSync(at('f.kw'))
  assert.equal(before.includes(content.subarray(0, 64)), false)
  await api(server, 'POST', 'transit/keys/files/rotate')
  await done(`rewrap -key=files ${at('f.kw')}`)
  const rewrapped = readFileSync(at('f.kw'))
  assert.ok(rewrapped.includes('vault:v2:'))
  // Not one byte of the content was written anew.
  assert.deepEqual(rewrapped.subarray(-content.length), before.subarray(-content.length))
  rmSync(at('f'))
  await done(`decrypt -key=files ${at('f.kw')}`)
  assert.deepEqual(readFileSync(at('f')), content)
  await api(server, 'POST', 'transit/keys/files/config', { min_decryption_version: 2 })
  const old = await transit(`decrypt -key=files -`, before)
  assert.equal(old.code, 2)
  assert.match(old.stderr, /too old/)
})

test('files: through a pipe, with a derived key, and damaged on the way', async () => {
  await api(server, 'POST', 'transit/keys/derived', { derived: true })
  const content = randomBytes(70_000)
  const { bytes } = await done('encrypt -key=derived -context=Y3R4 -', content)
  assert.deepEqual((await done('decrypt -key=derived -context=Y3R4 -', bytes)).bytes, content)
  assert.equal((await transit('decrypt -key=derived -context=b3RoZXI= -', bytes)).code, 2)
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1
  writeFileSync(at('damaged.kw'), bytes)
  const damaged = await transit(`decrypt -key=derived -context=Y3R4 ${at('damaged.kw')}`)
  assert.equal(damaged.code, 1)
  assert.match(damaged.stderr, /cannot be decrypted from byte 65536 of its content on: it was changed or cut short/)
  assert.throws(() => readFileSync(at('damaged')), /ENOENT/)
})

for (const [type, options] of [
  ['ed25519', ''],
  ['ecdsa-p256', ''],
  ['ecdsa-p384', '-hash=sha2-384 '],
  ['rsa-2048', '-signature-algorithm=pkcs1v15 '],
] as const) {
  test(`files: a signature by a key of type ${type}, which another program knows where it can`, async () => {
    await api(server, 'POST', `transit/keys/${type}`, { type })
    writeFileSync(at(type), randomBytes(200_000))
    await done(`sign -key=${type} ${options}${at(type)}`)
    assert.match((await done(`verify -key=${type} ${options}${at(type)}`)).stdout, /^Valid: /)
    if (type !== 'ed25519') {
      const { body } = await api(server, 'GET', `transit/keys/${type}`)
      const { keys } = body.data as { keys: Record<string, { public_key: string }> }
      const signature = Buffer.from(readFileSync(at(`${type}.sig`), 'utf8').slice('vault:v1:'.length), 'base64')
      const verifier = createVerify(type === 'ecdsa-p384' ? 'sha384' : 'sha256').update(readFileSync(at(type)))
      assert.ok(verifier.verify(keys['1']?.public_key ?? '', signature))
    }
    writeFileSync(at(type), randomBytes(200_000))
    const { code, stderr } = await transit(`verify -key=${type} ${options}${at(type)}`)
    assert.deepEqual([code, stderr], [2, `NOT valid: ${at(type)}.sig of ${at(type)}\n`])
  })
}

test('keys: imported as base64 and as PEM, completed, exported as they were', async () => {
  const aes = randomBytes(32).toString('base64')
  writeFileSync(at('aes.key'), `${aes}\n`)
  await done(`import transit/keys/imported @${at('aes.key')} exportable=true`)
  await done(`export -key=imported -out=${at('out.key')}`)
  assert.equal(readFileSync(at('out.key'), 'utf8'), `${aes}\n`)
  assert.equal(statSync(at('out.key')).mode & 0o777, 0o600)
  const next = randomBytes(32)
  await done('import-version transit/keys/imported -', Buffer.from(next.toString('base64')))
  assert.equal((await done('export -key=imported -type=encryption-key -out=-')).stdout, `${next.toString('base64')}\n`)

  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  writeFileSync(at('public.pem'), publicKey)
  writeFileSync(at('private.pem'), privateKey)
  await done(`import transit/keys/pair @${at('public.pem')} type=ecdsa-p256 exportable=true`)
  assert.match((await transit('export -key=pair -type=signing-key -out=-')).stderr, /version 1 has no private part/)
  await done(`import-version transit/keys/pair @${at('private.pem')}`)
  assert.equal((await done('export -key=pair -type=signing-key -encoding=pem -out=-')).stdout, privateKey)
  assert.equal((await done('export -key=pair -type=public-key -out=-')).stdout, publicKey)
})

test('keys: what cannot be imported is refused here, and says nothing of the key', async () => {
  writeFileSync(at('rsa.pem'), '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n')
  for (const [words, says] of [
    ['import transit/other/k AAAA', /PATH is MOUNT\/keys\/NAME/],
    ['import transit/keys/k secret!', /neither base64 nor PEM; for a file write @FILE/],
    [`import transit/keys/k @${at('rsa.pem')}`, /convert it with openssl pkcs8/],
    ['import transit/keys/k @/nowhere', /there is no/],
  ] as const) {
    const { code, stderr } = await transit(words)
    assert.equal(code, 1)
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /secret!|AAAA/)
  }
})
