// %2F in a path is a slash, and everything that decides sees it as one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMemoryServer } from '../fixtures/memory-server.ts'

test('%2F is read as a slash before router, policy and handler', async () => {
  const { call } = await startMemoryServer()
  await call('POST', 'sys/mounts/team%2Ftransit', { type: 'transit' })
  assert.equal((await call('POST', 'team/transit/keys/k')).status, 200)
  assert.equal((await call('GET', 'team%2ftransit%2Fkeys/k')).status, 200)
  // No key of the name "a/b" is made: the path has a segment more, and no endpoint.
  assert.equal((await call('POST', 'team/transit/keys/a%2Fb')).status, 404)
  const policy = `path "team/transit/keys/*" { capabilities = ["read"] }
    path "team/transit/keys/k" { capabilities = ["deny"] }`
  await call('POST', 'sys/policies/acl/others', { policy })
  const { body } = await call('POST', 'auth/token/create', { policies: ['others'] })
  const token = (body.auth as { client_token: string }).client_token
  await call('POST', 'team/transit/keys/other')
  for (const [path, status] of [
    ['team/transit/keys/other', 200],
    ['team%2Ftransit/keys%2fother', 200],
    ['team/transit/keys/k', 403],
    ['team%2Ftransit%2Fkeys%2Fk', 403],
    ['team/transit%2f%2fkeys/k', 403],
  ] as const) {
    assert.equal((await call('GET', path, undefined, token)).status, status, path)
  }
})
