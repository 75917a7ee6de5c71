import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, ROOT_TOKEN, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
let folder = ''
beforeEach(async () => {
  api = await startApiDouble()
  folder = mkdtempSync(join(tmpdir(), 'keywright-transit-'))
})
afterEach(async () => {
  await api.close()
  rmSync(folder, { recursive: true })
})

function transit(argv: readonly string[], more: RunOptions = {}): Promise<Ran> {
  return runClient(['transit', ...argv], { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN }, ...more })
}

const at = (name: string): string => join(folder, name)

test('transit files: what is encrypted decrypts to the same bytes', async () => {
  const content = randomBytes(100_000)
  writeFileSync(at('f'), content)
  const encrypted = await transit(['encrypt', '-direct', '-key=k', at('f')])
  assert.deepEqual([encrypted.code, encrypted.stdout], [0, `Success! Encrypted ${at('f')} to ${at('f.kw')}\n`])
  assert.equal(readFileSync(at('f.kw'), 'utf8'), `vault:v1:${content.toString('base64')}\n`)
  rmSync(at('f'))
  const decrypted = await transit(['decrypt', '-key=k', at('f.kw')])
  assert.deepEqual([decrypted.code, decrypted.stdout], [0, `Success! Decrypted ${at('f.kw')} to ${at('f')}\n`])
  assert.deepEqual(readFileSync(at('f')), content)
  assert.equal(statSync(at('f')).mode & 0o777, 0o600)
  assert.deepEqual(
    api.asked.map(({ method, target }) => `${method} ${target}`),
    ['PUT /v1/transit/encrypt/k', 'PUT /v1/transit/decrypt/k'],
  )
})

test('transit files: an empty file', async () => {
  writeFileSync(at('f'), '')
  assert.equal((await transit(['encrypt', '-direct', '-key=k', at('f')])).code, 0)
  assert.equal((await transit(['decrypt', '-key=k', '-force', at('f.kw')])).code, 0)
  assert.equal(statSync(at('f')).size, 0)
})

test('transit files: through standard input and output, binary', async () => {
  const content = randomBytes(1000)
  const encrypted = await transit(['encrypt', '-direct', '-key=k', '-'], { stdin: content })
  assert.equal(encrypted.stdout, `vault:v1:${content.toString('base64')}\n`)
  const decrypted = await transit(['decrypt', '-key=k', '-'], { stdin: encrypted.stdout })
  assert.deepEqual(decrypted.bytes, content)
  writeFileSync(at('f.kw'), encrypted.stdout)
  assert.deepEqual((await transit(['decrypt', '-key=k', '-out=-', at('f.kw')])).bytes, content)
  await transit(['encrypt', '-direct', '-key=k', '-out', at('other'), '-'], { stdin: content })
  assert.equal(readFileSync(at('other'), 'utf8'), encrypted.stdout)
})

test('transit files: mount and context', async () => {
  writeFileSync(at('f'), 'a')
  api.answer = () => ({ status: 200, body: envelope({ data: { ciphertext: 'vault:v1:x', plaintext: 'YQ==' } }) })
  await transit(['encrypt', '-direct', '-mount=team/transit/', '-key=k', '-context=Y3R4', at('f')])
  await transit(['decrypt', '-mount=team/transit/', '-key=k', '-context=Y3R4', '-out=-', at('f.kw')])
  assert.deepEqual(
    api.asked.map(({ target, body }) => `${target} ${body}`),
    [
      '/v1/team/transit/encrypt/k {"plaintext":"YQ==","context":"Y3R4"}',
      '/v1/team/transit/decrypt/k {"ciphertext":"vault:v1:x","context":"Y3R4"}',
    ],
  )
})

test('transit files: an existing file stays, and nothing is asked of the server', async () => {
  writeFileSync(at('f'), 'new')
  writeFileSync(at('f.kw'), 'old')
  const ran = await transit(['encrypt', '-direct', '-key=k', at('f')])
  const message = `Error: ${at('f.kw')} exists already: replace it with -force, or name another file with -out\n`
  assert.deepEqual([ran.code, ran.stderr, api.asked.length], [1, message, 0])
  assert.equal(readFileSync(at('f.kw'), 'utf8'), 'old')
  assert.equal((await transit(['encrypt', '-direct', '-f', '-key=k', at('f')])).code, 0)
  assert.equal(readFileSync(at('f.kw'), 'utf8'), 'vault:v1:bmV3\n')
})

test('transit files: a refused decryption leaves no file', async () => {
  writeFileSync(at('f.kw'), 'vault:v1:bmV3\n')
  const ran = await transit(['decrypt', '-key=k', '-token=no', at('f.kw')])
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /^Error decrypting .*f\.kw: [\s\S]*grants "update" on "transit\/decrypt\/k"/)
  assert.equal(existsSync(at('f')), false)
})

test('transit files: 24 MB pass, one byte more is refused here', async () => {
  api.answer = () => ({ status: 200, body: envelope({ data: { ciphertext: 'vault:v1:x' } }) })
  writeFileSync(at('f'), '')
  truncateSync(at('f'), 24_000_000)
  assert.equal((await transit(['encrypt', '-direct', '-key=k', at('f')])).code, 0)
  const bodyBytes = Number(api.asked[0]?.headers['content-length'])
  assert.ok(bodyBytes > 32_000_000 && bodyBytes <= 32 * 1024 * 1024, String(bodyBytes))
  truncateSync(at('f'), 24_000_001)
  const ran = await transit(['encrypt', '-direct', '-key=k', '-force', at('f')])
  assert.deepEqual(
    [ran.code, ran.stderr],
    [1, `Error: ${at('f')} has more than the 24 MB that fit in one request: leave -direct out\n`],
  )
  assert.equal(api.asked.length, 1)
})

const REFUSED: readonly { name: string; argv: readonly string[]; code: number; says: RegExp }[] = [
  { name: 'no key', argv: ['encrypt', '#f'], code: 1, says: /^keywright transit encrypt: -key=NAME is missing/ },
  { name: 'a key with a slash', argv: ['encrypt', '-key=a/b', '#f'], code: 1, says: /-key is a name without slashes/ },
  { name: 'no file', argv: ['encrypt', '-key=k'], code: 1, says: /^keywright transit encrypt: FILE is missing/ },
  {
    name: 'a file that is not there',
    argv: ['encrypt', '-direct', '-key=k', '#g'],
    code: 1,
    says: /^Error: Cannot read .*g: there is no/,
  },
  {
    name: 'a name without .kw',
    argv: ['decrypt', '-key=k', '#f'],
    code: 1,
    says: /does not end in \.kw: name the output file/,
  },
  {
    name: 'no ciphertext',
    argv: ['decrypt', '-key=k', '-out=-', '#f'],
    code: 1,
    says: /f holds no ciphertext: it is neither/,
  },
  { name: 'an empty name', argv: ['decrypt', '-key=k', '#.kw'], code: 1, says: /does not end in \.kw/ },
]

for (const { name, argv, code, says } of REFUSED) {
  test(`transit files: ${name} is refused`, async () => {
    writeFileSync(at('f'), Buffer.from([0, 1, 2]))
    const ran = await transit(argv.map((word) => word.replace('#', `${folder}/`)))
    assert.equal(ran.code, code)
    assert.match(ran.stderr, says)
    assert.equal(api.asked.length, 0)
  })
}

for (const data of [{}, { ciphertext: 1, plaintext: 1 }, { ciphertext: null, plaintext: 'not base64!' }]) {
  test(`transit files: the answer ${JSON.stringify(data)} is no result`, async () => {
    writeFileSync(at('f'), 'a')
    api.answer = () => ({ status: 200, body: envelope({ data }) })
    assert.match((await transit(['encrypt', '-direct', '-key=k', at('f')])).stderr, /the answer has no ciphertext/)
    writeFileSync(at('f.kw'), 'vault:v1:x')
    const ran = await transit(['decrypt', '-key=k', '-out', at('g'), at('f.kw')])
    assert.equal(ran.code, 2)
    assert.match(ran.stderr, /the answer has no plaintext in base64/)
    assert.equal(existsSync(at('g')), false)
  })
}
