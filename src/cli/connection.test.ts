import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { CONNECTION_OPTIONS } from './common-options.ts'
import { type Connection, readConnection } from './connection.ts'
import { parseOptions } from './options.ts'

let home = ''
before(() => {
  home = mkdtempSync(join(tmpdir(), 'keywright-cli-'))
  writeFileSync(join(home, '.vault-token'), 'hvs.file\n')
})
after(() => rmSync(home, { recursive: true }))

function connection(words: readonly string[], env: Record<string, string> = {}): Connection {
  const parsed = parseOptions(CONNECTION_OPTIONS, words, env)
  assert.equal(parsed.kind, 'call')
  return readConnection(parsed.options, env)
}

test('connection: without options and environment it is the local server and nobody in particular', () => {
  assert.deepEqual(connection([]), {
    address: 'http://127.0.0.1:8200',
    addressOrigin: 'No address was given: this is the usual one.',
    token: undefined,
    namespace: undefined,
    wrapTtl: undefined,
    headers: [],
    tls: { rejectUnauthorized: true },
    timeoutMs: 60_000,
    retries: 2,
    followsRedirects: true,
    shows: undefined,
  })
})

const TOKENS: readonly { name: string; words?: readonly string[]; env?: Record<string, string>; token: string }[] = [
  { name: 'the file is the last place', token: 'hvs.file' },
  { name: 'VAULT_TOKEN beats the file', env: { VAULT_TOKEN: 'hvs.vault' }, token: 'hvs.vault' },
  {
    name: 'KEYWRIGHT_TOKEN beats VAULT_TOKEN',
    env: { VAULT_TOKEN: 'hvs.vault', KEYWRIGHT_TOKEN: 'hvs.own' },
    token: 'hvs.own',
  },
  { name: '-token beats all', words: ['-token=hvs.option'], env: { KEYWRIGHT_TOKEN: 'hvs.own' }, token: 'hvs.option' },
]

for (const { name, words = [], env = {}, token } of TOKENS) {
  test(`connection: ${name}`, () => {
    assert.equal(connection(words, { HOME: home, ...env }).token, token)
  })
}

test('connection: a home without a token file gives no token, one that cannot be read is an error', () => {
  assert.equal(connection([], { HOME: join(home, 'nowhere') }).token, undefined)
  const broken = mkdtempSync(join(home, 'broken-'))
  writeFileSync(join(broken, 'file'), '')
  assert.throws(() => connection([], { HOME: join(broken, 'file') }), /Cannot read the token file .*not a directory$/)
})

test('connection: variables of both spellings for namespace and TLS', () => {
  const env = { VAULT_NAMESPACE: 'team/', VAULT_SKIP_VERIFY: 'true', VAULT_ADDR: 'https://kms.example:8200/' }
  const { address, namespace, tls } = connection([], env)
  assert.deepEqual([address, namespace, tls], ['https://kms.example:8200', 'team/', { rejectUnauthorized: false }])
  assert.equal(connection([], { ...env, KEYWRIGHT_NAMESPACE: 'own' }).namespace, 'own')
  assert.equal(connection([], { ...env, KEYWRIGHT_ADDR: 'http://own' }).address, 'http://own')
})

test('connection: a path before /v1 stays, for proxies', () => {
  assert.equal(connection(['-address=https://proxy.example/kms/']).address, 'https://proxy.example/kms')
})

test('connection: -ca-cert is read, and a file that is not there is named', () => {
  const path = join(home, 'ca.pem')
  const ca = Buffer.from(LOOPBACK_CERTIFICATE)
  writeFileSync(path, ca)
  assert.deepEqual(connection([`-ca-cert=${path}`]).tls, { ca: [ca], rejectUnauthorized: true })
  assert.deepEqual(connection([], { VAULT_CACERT: path }).tls, { ca: [ca], rejectUnauthorized: true })
  const message = `Cannot read the certificates in ${path}x: there is no such file or folder`
  assert.throws(() => connection([`-ca-cert=${path}x`]), { message, exitCode: 1 })
})

for (const address of ['localhost:8200', '127.0.0.1:8200', 'unix:///run/kms.sock', 'http://', '']) {
  test(`connection: ${JSON.stringify(address)} is no address`, () => {
    assert.throws(() => connection([`-address=${address}`]), /must begin with http:\/\/ or https:\/\//)
  })
}

for (const address of ['http://user:secret@host', 'http://host/?a=1', 'http://host/#a']) {
  test(`connection: ${address.replace('secret', 'password')} says too much, and is not repeated`, () => {
    const isQuiet = (error: unknown): boolean =>
      error instanceof Error && /without user name/.test(error.message) && !error.message.includes('secret')
    assert.throws(() => connection([`-address=${address}`]), isQuiet)
  })
}

for (const token of ['hvs.a b', 'hvs.a\r\nX-Vault-Namespace: b', 'hvs.\u00e4']) {
  test(`connection: the token ${JSON.stringify(token)} is refused without being shown`, () => {
    assert.throws(() => connection(['-token', token]), {
      message: 'The token must be visible ASCII characters without spaces or line breaks',
    })
  })
}

test('connection: blanks around the token of the file are not part of it', () => {
  const folder = mkdtempSync(join(home, 'blank-'))
  writeFileSync(join(folder, '.vault-token'), ' hvs.blank \r\n')
  assert.equal(connection([], { USERPROFILE: folder }).token, 'hvs.blank')
  writeFileSync(join(folder, '.vault-token'), '\n')

  assert.equal(connection([], { HOME: folder }).token, undefined)
})

for (const { content, says } of [
  { content: 'nothing', says: /holds no certificate in PEM form/ },
  {
    content: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    says: /holds a certificate that cannot be/,
  },
]) {
  test(`connection: the certificate ${JSON.stringify(content.slice(0, 32))} is refused`, () => {
    writeFileSync(join(home, 'bad.pem'), content)
    assert.throws(() => connection([`-ca-cert=${join(home, 'bad.pem')}`]), says)
  })
}

test('connection: a directory of authorities, and a certificate of our own', () => {
  const folder = mkdtempSync(join(home, 'certificates-'))
  const [pem, key] = [Buffer.from(LOOPBACK_CERTIFICATE), Buffer.from(LOOPBACK_KEY)]
  for (const name of ['a.pem', 'b.pem']) writeFileSync(join(folder, name), pem)
  const { ca } = connection([`-ca-path=${folder}`]).tls
  assert.deepEqual(ca, [pem, pem])
  writeFileSync(join(folder, 'key.pem'), key)
  const env = {
    VAULT_CLIENT_CERT: join(folder, 'a.pem'),
    VAULT_CLIENT_KEY: join(folder, 'key.pem'),
    VAULT_TLS_SERVER_NAME: 'kms',
  }
  assert.deepEqual(connection([], env).tls, { cert: pem, key, servername: 'kms', rejectUnauthorized: true })
  assert.throws(() => connection([`-ca-path=${folder}x`]), /Cannot read the directory/)
  assert.throws(() => connection(['-client-key=x']), /belong together/)
})

test('connection: time, attempts, redirects and wrapping of the environment', () => {
  const env = {
    VAULT_CLIENT_TIMEOUT: '5',
    VAULT_MAX_RETRIES: '7',
    VAULT_DISABLE_REDIRECTS: 'true',
  }
  const { timeoutMs, retries, followsRedirects } = connection([], env)
  assert.deepEqual([timeoutMs, retries, followsRedirects], [5_000, 7, false])
  assert.equal(connection(['-timeout=1m30s']).timeoutMs, 90_000)
})
