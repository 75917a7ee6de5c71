import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
})

test('what is sent empty in a tuning stays as it was', async () => {
  await server.call('POST', 'sys/mounts/tuned', { type: 'transit' })
  await server.call('POST', 'sys/mounts/tuned/tune', { default_lease_ttl: '1h', max_lease_ttl: '2h' })
  // The client in Go sends this to change the description alone.
  const sent = { description: 'new', default_lease_ttl: '', max_lease_ttl: '', options: null, force_no_cache: false }
  assert.equal((await server.call('POST', 'sys/mounts/tuned/tune', sent)).status, 204)
  const { data } = (await server.call('GET', 'sys/mounts/tuned/tune')).body
  assert.deepEqual([data?.description, data?.default_lease_ttl, data?.max_lease_ttl], ['new', 3600, 7200])
  await server.call('POST', 'sys/mounts/tuned/tune', { default_lease_ttl: 'system', max_lease_ttl: '0s' })
  const listed = (await server.call('GET', 'sys/mounts/tuned')).body.data?.config as Record<string, unknown>
  assert.deepEqual([listed.default_lease_ttl, listed.max_lease_ttl], [0, 0])
})

test('a lockout is not switched off by a field that is sent empty', async () => {
  await server.call('POST', 'sys/auth/guarded', { type: 'userpass' })
  const tune = (fields: object) => server.call('POST', 'sys/auth/guarded/tune', { user_lockout_config: fields })
  await tune({ lockout_threshold: '3', lockout_duration: '1h', lockout_counter_reset_duration: '2h' })
  await tune({ lockout_threshold: '', lockout_duration: '', lockout_counter_reset_duration: '' })
  const { data } = (await server.call('GET', 'sys/auth/guarded/tune')).body
  assert.deepEqual(data?.user_lockout_config, {
    lockout_threshold: 3,
    lockout_duration: 3600,
    lockout_counter_reset: 7200,
    lockout_disable: false,
  })
})

test('a login method is shown below sys/mounts/auth too, without sudo, and removed there by nobody', async () => {
  await server.call('POST', 'sys/auth/people', { type: 'userpass', description: 'of the server' })
  const shown = (await server.call('GET', 'sys/mounts/auth/people')).body.data
  assert.deepEqual(shown, (await server.call('GET', 'sys/auth/people')).body.data)
  assert.equal(shown?.description, 'of the server')
  const rule = (path: string) => `path "${path}" { capabilities = ["read"] }`
  const policy = `${rule('sys/mounts/auth/people')} ${rule('sys/auth/people')}`
  await server.call('POST', 'sys/policies/acl/looker', { policy })
  const { body } = await server.call('POST', 'auth/token/create', { policies: ['looker'] })
  const by = (body.auth as { client_token: string }).client_token
  assert.equal((await server.call('GET', 'sys/mounts/auth/people', undefined, by)).status, 200)
  assert.equal((await server.call('GET', 'sys/auth/people', undefined, by)).status, 403)
  assert.equal((await server.call('GET', 'sys/mounts/auth/none')).status, 400)
  const refused = await server.call('DELETE', 'sys/mounts/auth/people')
  assert.equal(refused.status, 400)
  assert.match(String(refused.body.errors), /field "path": .* removed by sys\/auth\/people/)
  assert.equal((await server.call('DELETE', 'sys/mounts/auth/none')).status, 204)
  assert.equal((await server.call('GET', 'sys/auth/people')).status, 200)
})
