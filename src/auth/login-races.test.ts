// Logins during which their mount is removed.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'

test('T-10: a login that is under way when its mount is removed leaves neither a token nor an alias', async () => {
  const server = await startMemoryServer()
  const stored = async () =>
    (await server.store.scan('root/', '', 10_000))
      .map(({ key }) => key)
      .filter((key) => /[/](token[/](id|accessor|expiry)|lease|identity[/]alias[^/]*|auth)[/]/.test(key))
  const before = await stored()
  for (let round = 0; round < 10; round++) {
    await server.call('POST', 'sys/auth/approle', { type: 'approle' })
    await server.call('POST', 'auth/approle/role/r', { bind_secret_id: false, token_bound_cidrs: '127.0.0.0/8' })
    const { body } = await server.call('GET', 'auth/approle/role/r/role-id')
    const logIn = () => server.call('POST', 'auth/approle/login', { role_id: body.data?.role_id }, '')
    const logins = Array.from({ length: 20 }, async (_, i) => {
      for (let turn = 0; turn < i; turn++) await new Promise(setImmediate)
      return logIn()
    })
    const [answers] = await Promise.all([Promise.all(logins), server.call('DELETE', 'sys/auth/approle')])
    for (const { status } of answers) assert.ok([200, 403, 404].includes(status), String(status))
    assert.deepEqual(await stored(), before)
  }
})
