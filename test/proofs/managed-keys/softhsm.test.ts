// A real server, its process for devices, the binding that operators install, and a real library of PKCS #11 (SoftHSM).
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { spkiDer } from '../../../src/crypto/forms/public-keys.ts'
import { attributesOf, FULL_REQUEST, isSelfSigned, takeApart } from '../../fixtures/certificate-requests.ts'
import {
  type ApiAnswer,
  api,
  type RunningProcess,
  spawnKeywright,
  temporaryDirectory,
  watchServer,
} from '../../fixtures/server-process.ts'
import { newSoftHsm, noSoftHsm, PIN, type SoftHsm } from '../../fixtures/softhsm.ts'

const HELLO = Buffer.from('hello').toString('base64')
const TOKEN = { library: 'hsm', token_label: 'one', pin: PIN, allow_generate_key: true, any_mount: true }

const sentence = ({ body }: ApiAnswer): string => String((body.errors as string[] | undefined)?.[0])
const done = (answer: ApiAnswer): Record<string, unknown> => {
  assert.ok(answer.status < 300, sentence(answer))
  return (answer.body.data ?? {}) as Record<string, unknown>
}

/** The children of the server: only the process of the devices is one. */
function deviceProcesses(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid)
      } catch {
        return false
      }
    })
    .map(Number)
}

suite('managed keys with SoftHSM', { skip: noSoftHsm() }, () => {
  let hsm: SoftHsm
  let server: RunningProcess
  let unsealKey = ''
  let token = ''
  const directory = temporaryDirectory()
  const write = (path: string, body: object = {}): Promise<ApiAnswer> =>
    api({ address: server.address, token }, 'POST', path, body)
  const read = (path: string): Promise<ApiAnswer> => api({ address: server.address, token }, 'GET', path)
  const addKey = async (name: string, fields: object): Promise<void> => {
    done(await write(`sys/managed-keys/pkcs11/${name}`, { ...TOKEN, key_label: name, ...fields }))
  }
  const addRing = async (name: string): Promise<Record<string, unknown>> =>
    done(await write(`transit/keys/${name}`, { type: 'managed_key', managed_key_name: name }))

  before(async () => {
    hsm = newSoftHsm()
    hsm.addToken('one')
    const config = join(directory.path, 'server.hcl')
    const log = join(directory.path, 'audit.log')
    writeFileSync(
      config,
      `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
       storage "sqlite" { path = ${JSON.stringify(join(directory.path, 'data'))} }
       audit "file" "log" { options { file_path = ${JSON.stringify(log)} } }
       threads = 2
       ${hsm.stanza}
       kms_library "pkcs11" { name = "gone", library = "/nowhere/lib.so" }
       kms_library "pkcs11" { name = "not-one", library = ${JSON.stringify(config)} }`,
    )
    server = await watchServer(spawnKeywright(['server', '-config', config], hsm.env))
    const { body } = await api(server, 'POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
    const made = body as unknown as { keys: string[]; root_token: string }
    token = made.root_token
    unsealKey = made.keys[0] ?? ''
    done(await write('sys/unseal', { key: unsealKey }))
    done(await write('sys/mounts/transit', { type: 'transit' }))
  })
  after(async () => {
    await server.stop()
    hsm.cleanUp()
    directory.cleanUp()
  })

  test('no process for devices is there before one is needed', () => {
    assert.deepEqual(deviceProcesses(server.pid), [])
  })

  test('C-11 AES-GCM: empty and long messages, associated data, and one refusal of what does not open', async () => {
    await addKey('aes', { mechanism: '0x1087' })
    await addRing('aes')
    for (const plaintext of ['', HELLO, Buffer.alloc(100_000, 7).toString('base64')]) {
      const associated_data = plaintext === HELLO ? HELLO : ''
      const { ciphertext } = done(await write('transit/encrypt/aes', { plaintext, associated_data }))
      assert.equal(done(await write('transit/decrypt/aes', { ciphertext, associated_data })).plaintext, plaintext)
    }
    const { ciphertext } = done(await write('transit/encrypt/aes', { plaintext: HELLO }))
    for (const wrong of [
      { ciphertext, associated_data: HELLO },
      { ciphertext: `vault:v1:${Buffer.alloc(40).toString('base64')}` },
      { ciphertext: `vault:v1:${Buffer.alloc(12).toString('base64')}` },
    ]) {
      const answer = await write('transit/decrypt/aes', wrong)
      assert.deepEqual([answer.status, /^message authentication failed/.test(sentence(answer))], [400, true])
    }
    // The session goes on afterwards.
    assert.equal(done(await write('transit/decrypt/aes', { ciphertext })).plaintext, HELLO)
    assert.equal(deviceProcesses(server.pid).length, 1)
  })

  test('P-15 RSA-OAEP: what the public half encrypts opens, and a key that cannot do that is not made', async () => {
    await addKey('oaep', { mechanism: 'CKM_RSA_PKCS_OAEP', rsa_oaep_hash: 'sha1', key_bits: 2048 })
    await addRing('oaep')
    for (const plaintext of ['', HELLO]) {
      const { ciphertext } = done(await write('transit/encrypt/oaep', { plaintext }))
      assert.equal(done(await write('transit/decrypt/oaep', { ciphertext })).plaintext, plaintext)
    }
    const garbage = `vault:v1:${Buffer.alloc(256, 1).toString('base64')}`
    assert.match(
      sentence(await write('transit/decrypt/oaep', { ciphertext: garbage })),
      /^message authentication failed/,
    )
    assert.match(sentence(await write('transit/encrypt/oaep', { plaintext: 'A'.repeat(400) })), /at most 214/)
    // SoftHSM knows RSA-OAEP with SHA-1 alone: a key that cannot do what it is for is not made.
    await addKey('oaep', { rsa_oaep_hash: 'sha256' })
    const refused = await write('transit/keys/oaep2', { type: 'managed_key', managed_key_name: 'oaep' })
    assert.deepEqual([refused.status, (await read('transit/keys/oaep2')).status], [400, 404])
  })

  const SIGNERS = [
    { name: 'pkcs1', fields: { mechanism: '0x0001' }, options: { padding: 1 }, hash: 'sha512' },
    { name: 'pss', fields: { mechanism: '0x000d' }, options: { padding: 6 }, hash: 'sha384' },
    { name: 'p256', fields: { mechanism: '0x1041', curve: 'p256' }, options: {}, hash: 'sha512' },
    { name: 'p384', fields: { mechanism: '0x1041', curve: 'p384' }, options: {}, hash: 'sha256' },
    { name: 'p521', fields: { mechanism: '0x1041', curve: 'p521' }, options: {}, hash: 'sha512' },
  ] as const
  for (const { name, fields, options, hash } of SIGNERS) {
    test(`${name}: signatures that the runtime and the server verify, over messages and over hashes`, async () => {
      await addKey(name, fields)
      assert.equal((await write(`sys/managed-keys/pkcs11/${name}/test/sign`)).status, 204)
      const keys = (await addRing(name)).keys as Record<string, { public_key: string }>
      const half = createPublicKey(keys['1']?.public_key ?? '')
      const hash_algorithm = hash.replace('sha', 'sha2-')
      const digest = done(
        await write('transit/hash', { input: HELLO, algorithm: hash_algorithm, format: 'base64' }),
      ).sum
      for (const asked of [{ input: HELLO }, { input: digest, prehashed: true }]) {
        const { signature } = done(await write(`transit/sign/${name}`, { ...asked, hash_algorithm }))
        const bytes = Buffer.from(String(signature).slice('vault:v1:'.length), 'base64')
        assert.ok(verify(hash, Buffer.from('hello'), { key: half, ...options }, bytes))
        const check = { ...asked, hash_algorithm, signature }
        assert.equal(done(await write(`transit/verify/${name}`, check)).valid, true)
        assert.equal(
          done(await write(`transit/verify/${name}`, { ...check, prehashed: false, input: '' })).valid,
          false,
        )
      }
    })

    test(`${name}: a certificate request that the runtime verifies`, async () => {
      const { csr, type } = done(await write(`transit/keys/${name}/csr`, { csr: FULL_REQUEST }))
      const made = takeApart(String(csr))
      const keys = done(await read(`transit/keys/${name}`)).keys as Record<string, { public_key: string }>
      assert.deepEqual([type, isSelfSigned(made)], ['managed_key', true])
      assert.deepEqual(made.spki, spkiDer(createPublicKey(keys['1']?.public_key ?? '')))
      assert.deepEqual(attributesOf(made), attributesOf(takeApart(FULL_REQUEST)))
    })
  }

  for (const curve of ['p256', 'p384', 'p521']) {
    test(`${curve}: what is hashed already is signed, as by a key that is here`, async () => {
      const here = `here-${curve}`
      done(await write(`transit/keys/${here}`, { type: `ecdsa-${curve}` }))
      for (const bytes of [0, 1, 15, 16, 31, 32, 65, 66, 67, 200]) {
        const input = Buffer.alloc(bytes, 0xa5).toString('base64')
        for (const hash of [
          { hash_algorithm: 'none', signature_algorithm: 'pkcs1v15' },
          { hash_algorithm: 'sha2-256' },
          {},
        ]) {
          const asked = { input, prehashed: true, ...hash }
          const isTaken = hash.hash_algorithm === 'sha2-256' ? bytes === 32 : bytes >= 16
          for (const name of [curve, here]) {
            const { status, body } = await write(`transit/sign/${name}`, asked)
            const what = `${name} ${hash.hash_algorithm} ${bytes} ${JSON.stringify(body)}`
            assert.equal(status, isTaken ? 200 : 400, what)
            if (!isTaken) continue
            const check = { ...asked, signature: body.data?.signature }
            assert.equal(done(await write(`transit/verify/${name}`, check)).valid, true, `${name} ${bytes}`)
          }
        }
      }
      for (const name of [curve, here]) {
        const refused = await write(`transit/sign/${name}`, { input: HELLO, hash_algorithm: 'none' })
        assert.equal(refused.status, 400, name)
      }
    })
  }

  test('a key that is in the token already is used, and none is made where that is not allowed', async () => {
    await addKey('again', { mechanism: '0x1087', key_label: 'aes', allow_generate_key: false })
    await addRing('again')
    const { ciphertext } = done(await write('transit/encrypt/aes', { plaintext: HELLO }))
    assert.equal(done(await write('transit/decrypt/again', { ciphertext })).plaintext, HELLO)
    await addKey('none', { mechanism: '0x1087', allow_generate_key: false })
    const refused = await write('transit/keys/none', { type: 'managed_key', managed_key_name: 'none' })
    assert.deepEqual([refused.status, /no such key/.test(sentence(refused))], [400, true])
  })

  test('random bytes of the device', async () => {
    for (const path of ['transit/random/seal', 'sys/tools/random/all']) {
      const made = done(await write(path, { bytes: 5_000 })).random_bytes
      assert.equal(Buffer.from(String(made), 'base64').length, 5_000)
    }
  })

  test('a wrong PIN is refused however often it is used, and the token takes the right one afterwards', async () => {
    hsm.addToken('counted')
    await addKey('wrong', { mechanism: '0x1087', token_label: 'counted', pin: '000000' })
    const ring = { type: 'managed_key', managed_key_name: 'wrong' }
    const all = await Promise.all(Array.from({ length: 12 }, () => write('transit/keys/wrong', ring)))
    for (const answer of all) assert.deepEqual([answer.status, /"pin"/.test(sentence(answer))], [400, true])
    // That the token sees it once is counted in device-service.test.ts: SoftHSM does not show its count.
    await addKey('wrong', { pin: PIN })
    await addRing('wrong')
  })

  test('libraries that are not there, or are none, are told, and nothing else suffers', async () => {
    for (const library of ['gone', 'not-one']) {
      await addKey('lib', { mechanism: '0x1087', library })
      const answer = await write('transit/keys/lib', { type: 'managed_key', managed_key_name: 'lib' })
      assert.deepEqual([answer.status, /file of the library/.test(sentence(answer))], [502, true])
      assert.ok(!JSON.stringify(answer.body).includes('/'), 'no path is told')
    }
    done(await write('transit/encrypt/aes', { plaintext: HELLO }))
  })

  test('a process for devices that dies is replaced with the next order', async () => {
    const [pid] = deviceProcesses(server.pid)
    process.kill(pid ?? 0, 'SIGKILL')
    let answer = await write('transit/encrypt/aes', { plaintext: HELLO })
    // It may have been asked in the moment in which the process ended.
    if (answer.status === 502) answer = await write('transit/encrypt/aes', { plaintext: HELLO })
    done(answer)
    assert.notDeepEqual(deviceProcesses(server.pid), [pid])
  })

  test('a sealed server has no process for devices, and needs its PIN again', async () => {
    assert.equal(deviceProcesses(server.pid).length, 1)
    assert.equal((await write('sys/seal')).status, 204)
    assert.deepEqual(deviceProcesses(server.pid), [])
    done(await write('sys/unseal', { key: unsealKey }))
    done(await write('transit/encrypt/aes', { plaintext: HELLO }))
  })

  test('U-01 the PIN is in no log, not in the audit, and not in the data', () => {
    const audit = readFileSync(join(directory.path, 'audit.log'), 'utf8')
    assert.ok(audit.includes('managed-keys/pkcs11/aes'))
    for (const text of [audit, server.output()]) assert.ok(!text.includes(PIN))
    for (const name of readdirSync(join(directory.path, 'data'))) {
      assert.ok(!readFileSync(join(directory.path, 'data', name)).includes(PIN), name)
    }
  })

  test('a token that is gone is told as that, and serves again when there is another with its label', async () => {
    const { ciphertext } = done(await write('transit/encrypt/aes', { plaintext: HELLO }))
    hsm.removeTokens()
    for (const [path, body] of [
      ['transit/encrypt/aes', { plaintext: HELLO }],
      ['transit/decrypt/aes', { ciphertext }],
      ['transit/sign/p256', { input: HELLO }],
    ] as const) {
      const answer = await write(path, body)
      assert.deepEqual([answer.status, /no such token/.test(sentence(answer))], [502, true], sentence(answer))
    }
    hsm.addToken('one')
    const lost = await write('transit/encrypt/aes', { plaintext: HELLO })
    assert.deepEqual([lost.status, /no such key/.test(sentence(lost))], [400, true])
    await addKey('fresh', { mechanism: '0x1087' })
    await addRing('fresh')
  })
})
