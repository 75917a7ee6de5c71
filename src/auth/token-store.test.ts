import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { CACHED_CHARACTERS } from './token-store.ts'

test('a token whose parent is revoked between the request and its storing is not made', async () => {
  const server = await startMemoryServer()
  const { tokens } = server.node
  const stored = async () => (await server.store.scan('root/sys/', '', 1_000)).map(({ key }) => key)
  const before = await stored()
  const made = await server.call('POST', 'auth/token/create', { policies: ['default'], ttl: '1h' })
  const parent = String((made.body.auth as { readonly client_token: string }).client_token)
  const policy = 'path "auth/token/create" { capabilities = ["update", "sudo"] }'
  await server.call('POST', 'sys/policies/acl/default', { policy })
  // The request is done, except for its one transaction.
  const insert = tokens.insert.bind(tokens)
  let revoked = 0
  tokens.insert = async (token, entry) => {
    assert.equal(entry.parent, tokens.idOf(parent))
    await tokens.revoke(tokens.idOf(parent))
    revoked++
    return insert(token, entry)
  }
  const child = await server.call('POST', 'auth/token/create', { policies: ['default'] }, parent)
  assert.deepEqual([child.status, revoked], [403, 1])
  const left = (await stored()).filter((key) => !before.includes(key) && !key.includes('/policy/'))
  assert.deepEqual(left, [])
})

test('A-09: tokens with much that their maker chose are not all kept in memory', async () => {
  const { tokens, tokenService } = await startMemoryServer().then(({ node }) => node)
  const large = { text: 'x'.repeat(500_000) }
  const texts = Array.from({ length: CACHED_CHARACTERS / large.text.length + 5 }, (_, at) => `token-${at}`)
  for (const text of texts) {
    const entry = { ...tokenService.rootEntry(), meta: large }
    assert.ok(await tokens.insert(text, entry))
    assert.ok((await tokens.find(text)) !== undefined)
  }
  const isKept = (text = ''): boolean => !(tokens.find(text) instanceof Promise)
  assert.deepEqual([isKept(texts[0]), isKept(texts.at(-1))], [false, true])
  assert.ok((await tokens.find(texts[0] as string)) !== undefined)
})
