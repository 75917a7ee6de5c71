// The hint beside "permission denied": who gets one, and that it tells nothing of what exists.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/there')
})

let made = 0
async function tokenWith(policy: string, asked = server): Promise<string> {
  const name = `p${++made}`
  assert.equal((await asked.call('POST', `sys/policies/acl/${name}`, { policy })).status, 204)
  const { body } = await asked.call('POST', 'auth/token/create', { policies: [name], no_default_policy: true })
  return String((body.auth as Record<string, unknown>).client_token)
}

async function errors(method: string, path: string, token: string, body?: object, asked = server): Promise<unknown> {
  const answer = await asked.call(method, path, body, token)
  assert.equal(answer.status, 403, path)
  return answer.body.errors
}

test('the first text is the one that clients match, the second names capability and path', async () => {
  const token = await tokenWith('path "none" { capabilities = ["read"] }')
  const needs = (words: string) => ['permission denied', `this token needs ${words}`]
  const rows: readonly [string, string, string][] = [
    ['GET', 'transit/keys/k', 'the capability "read" on "transit/keys/k"'],
    ['LIST', 'transit/keys', 'the capability "list" on "transit/keys"'],
    ['DELETE', 'sys/policies/acl/x', 'the capability "delete" on "sys/policies/acl/x"'],
    ['POST', 'sys/policies/acl/x', 'the capability "update" on "sys/policies/acl/x"'],
    ['POST', 'sys/seal', 'the capabilities "update" and "sudo" on "sys/seal"'],
    ['POST', 'transit/encrypt/k', 'the capability "create" or "update" on "transit/encrypt/k"'],
    ['GET', 'transit/keys/%22%C3%A9', 'the capability "read" on "transit/keys/??"'],
  ]
  for (const [method, path, words] of rows) assert.deepEqual(await errors(method, path, token), needs(words))
  const long = (await errors('GET', `transit/keys/${'k'.repeat(500)}`, token)) as string[]
  assert.ok((long[1] as string).length < 300)
})

test('a policy that denies, or sets conditions, is told as such', async () => {
  const token = await tokenWith(`
    path "transit/keys/d" { capabilities = ["deny"] }
    path "transit/keys/w" {
      capabilities     = ["read"]
      max_wrapping_ttl = "1m"
    }
    path "transit/keys/p" {
      capabilities      = ["update"]
      denied_parameters = { "type" = ["rsa-*"] }
    }
    path "transit/keys/r" {
      capabilities        = ["update"]
      required_parameters = ["type"]
    }
    path "sys/seal" { capabilities = ["update"] }
    path "transit/keys" {
      capabilities     = ["list"]
      pagination_limit = 2
    }`)
  const hint = async (method: string, path: string, body?: object) =>
    ((await errors(method, path, token, body)) as string[])[1]
  assert.match(String(await hint('GET', 'transit/keys/d')), /denies "transit\/keys\/d"/)
  assert.match(String(await hint('GET', 'transit/keys/w')), /X-Vault-Wrap-TTL/)
  assert.match(String(await hint('POST', 'sys/seal')), /"update" and "sudo"/)
  assert.match(String(await hint('LIST', 'transit/keys?limit=3')), /fewer names at once/)
  // Outside sys/ and auth/token/ a write is judged as create and as update: only "update" is granted here.
  assert.match(String(await hint('POST', 'transit/keys/p', { type: 'rsa-2048' })), /"create" or "update"/)
  assert.match(String(await hint('POST', 'transit/keys/r', {})), /"create" or "update"/)
  const both = await tokenWith(`path "transit/keys/p" {
      capabilities      = ["create", "update"]
      denied_parameters = { "type" = ["rsa-*"] }
    }`)
  const [, refused] = (await errors('POST', 'transit/keys/p', both, { type: 'rsa-canary' })) as string[]
  assert.match(String(refused), /does not allow a parameter that was sent/)
  assert.doesNotMatch(String(refused), /canary/)
})

test('U-05, A-10: who has no valid token learns nothing', async () => {
  for (const token of ['', 'none', 'hvs.AAAAAAAAAAAAAAAAAAAAAAAA']) {
    assert.deepEqual(await errors('GET', 'transit/keys/k', token), ['permission denied'])
  }
  const spent = await server.call('POST', 'auth/token/create', { policies: ['default'], num_uses: 1 })
  const token = String((spent.body.auth as Record<string, unknown>).client_token)
  assert.equal(((await errors('GET', 'transit/keys/k', token)) as string[]).length, 2)
  assert.deepEqual(await errors('GET', 'transit/keys/k', token), ['permission denied'])
})

const GRANTS = [
  '["read"]',
  '["deny"]',
  '["create"]',
  '["update"]',
  '["create", "update"]',
  '["create", "update"]\n denied_parameters = { "plaintext" = [] }',
  '["create"]\n denied_parameters = { "plaintext" = [] }',
  '["update"]\n required_parameters = ["context"]',
  '["create", "update"]\n max_wrapping_ttl = "1m"',
  '["create"]\n min_wrapping_ttl = "1m"',
]

test('A-10: a hint is the same whether the thing exists, the endpoint, or the mount', async () => {
  for (const [at, grant] of GRANTS.entries()) {
    const token = await tokenWith(`path "*" {\n capabilities = ${grant}\n}`)
    const said = new Map<string, unknown>()
    for (const path of [
      'transit/encrypt/there',
      `transit/encrypt/gone-${at}`,
      'transit/keys/there',
      'nowhere/encrypt/x',
    ]) {
      const { status, body } = await server.call('POST', path, { plaintext: 'YQ==' }, token)
      if (status === 403) said.set(path, JSON.stringify(body).replace(path, 'PATH'))
    }
    // Where one of create and update is granted, the refusal of the other says by itself what exists.
    const isOneGranted = ['["create"]', '["update"]'].includes(grant)
    assert.ok(isOneGranted || said.size === 0 || new Set(said.values()).size === 1, `${grant}: ${[...said]}`)
    assert.ok(said.size > 0 || grant === '["create", "update"]', grant)
  }
})

test('A-10: so it is of a thing on a mount that all know', async () => {
  assert.equal((await server.call('POST', 'auth/token/roles/there', {})).status, 204)
  for (const grant of ['["read"]', '["deny"]', '["update"]\n required_parameters = ["orphan"]']) {
    const token = await tokenWith(`path "auth/token/roles/*" {\n capabilities = ${grant}\n}`)
    const said = (name: string) => errors('POST', `auth/token/roles/${name}`, token, {})
    const [there, gone] = [await said('there'), await said('gone')].map((texts) => JSON.stringify(texts))
    assert.equal(there?.replace('there', 'gone'), gone, grant)
  }
})

test('the switch turns the hints off', async () => {
  const server = await startMemoryServer({ facts: { permissionHints: false } })
  const token = await tokenWith('path "none" { capabilities = ["read"] }', server)
  assert.deepEqual(await errors('GET', 'sys/mounts', token, undefined, server), ['permission denied'])
})
