// Data of callers' own, in cubbyholes and wrapped: however they are made, they hold up nobody's writes.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ownCubbyhole } from '../../src/auth/cubbyhole.ts'
import { DEFAULT_KEPT_LIMITS } from '../../src/auth/kept-values.ts'
import { MAX_OBJECT_MEMBERS } from '../../src/lib/json.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { type ServingNodeBeside, servingBeside } from '../fixtures/serving-node.ts'

const { entryBytes } = DEFAULT_KEPT_LIMITS
const WRAP = { wrapTtl: '60' }

async function defaultToken(server: MemoryServer, fields: object = {}): Promise<string> {
  const { body } = await server.call('POST', 'auth/token/create', { policies: ['default'], ...fields })
  return String((body.auth as { readonly client_token: string }).client_token)
}

async function stage(
  fields: object = {},
): Promise<{ server: MemoryServer; serving: ServingNodeBeside; token: string }> {
  const server = await startMemoryServer()
  const token = await defaultToken(server, fields)
  return { server, serving: await servingBeside(server, token), token }
}

const names = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',')
const object = (count: number): Buffer => Buffer.from(`{${names(count)}}`)
const errorsOf = ({ body }: Called): string => String(body.errors)

/** Bytes of a body whose entry, or wrapped answer, has exactly so many. */
const entryOf = (bytes: number): Buffer => Buffer.from(JSON.stringify({ a: 'x'.repeat(bytes - 8) }))

const PLACES = [
  { name: 'a cubbyhole', path: 'cubbyhole/x', headers: {} },
  { name: 'sys/wrapping/wrap', path: 'sys/wrapping/wrap', headers: WRAP },
]

for (const { name, path, headers } of PLACES) {
  test(`A2: what is sent to ${name} reaches the thread that writes as bytes, and no request does`, async () => {
    const { serving } = await stage()
    const answer = await serving.send('POST', path, object(MAX_OBJECT_MEMBERS), headers)
    assert.ok(answer.status < 300, errorsOf(answer))
    assert.equal(serving.forwarded.length, 0)
    assert.equal(serving.asked.length, 1)
    const { value } = keptBytes(serving)
    assert.ok(value instanceof Uint8Array)
    // Nothing else in the message grows with what was sent.
    assert.equal(JSON.stringify(serving.asked, (_, each) => (each === value ? 'the bytes' : each)).length < 500, true)
  })

  test(`A2: 10,001 names in an object are refused at ${name}, at any depth, and nothing is handed on`, async () => {
    const { serving } = await stage()
    const one = names(MAX_OBJECT_MEMBERS + 1)
    const twice = Array.from({ length: MAX_OBJECT_MEMBERS + 1 }, () => '"a":0').join(',')
    const texts = [one, twice, `"a":{${one}}`, `"batch_input":[{"a":0},{${one}}]`, `"a":[[{"b":{${one}}}]]`]
    for (const text of texts) {
      const answer = await serving.send('POST', path, Buffer.from(`{${text}}`), headers)
      assert.equal(answer.status, 400)
      assert.match(errorsOf(answer), /more than 10000 members of one object/)
    }
    assert.deepEqual([serving.forwarded.length, serving.asked.length], [0, 0])
    // An array has as many items as there is room for, and an object in each.
    const items = Array.from({ length: 20_000 }, () => '{"a":0}').join(',')
    const free = await serving.send('POST', path, Buffer.from(`{"a":[${items}]}`), headers)
    assert.ok(free.status < 300, errorsOf(free))
  })
}

function keptBytes({ asked }: ServingNodeBeside): { readonly value: unknown } {
  const question = asked[0]?.question as { readonly value?: unknown; readonly answer?: { readonly value: unknown } }
  return question.answer ?? { value: question.value }
}

test('A2: an entry holds 1 MiB and no byte more, and a body with more is not even read', async () => {
  const { serving } = await stage()
  assert.equal((await serving.send('POST', 'cubbyhole/x', entryOf(entryBytes))).status, 204)
  const more = [entryOf(entryBytes + 1), Buffer.alloc(entryBytes + 1, '{')]
  // As JSON writes it a number can be longer than it was sent.
  const longer = Buffer.from(`{"a":[${Array.from({ length: 60_000 }, () => '1e20').join(',')}]}`)
  for (const body of [...more, longer]) {
    const answer = await serving.send('POST', 'cubbyhole/x', body)
    assert.deepEqual([answer.status, errorsOf(answer)], [413, TOO_LARGE])
  }
  assert.equal(serving.asked.length, 1)
})
const TOO_LARGE = `What the request would store is too large, the limit is ${entryBytes} bytes`

test('A2: a wrapped answer holds 1 MiB, its envelope with it, whichever answer it is', async () => {
  const { server, serving } = await stage()
  const small = await serving.send('POST', 'sys/wrapping/wrap', entryOf(entryBytes - 1_000), WRAP)
  assert.equal(small.status, 200, errorsOf(small))
  const large = await serving.send('POST', 'sys/wrapping/wrap', entryOf(entryBytes), WRAP)
  assert.deepEqual([large.status, errorsOf(large)], [413, TOO_LARGE])
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  const random = await server.call('POST', 'transit/random/100000', {}, 'root', WRAP)
  assert.equal(random.status, 200)
  await server.call('POST', 'transit/keys/k')
  const plaintext = Buffer.alloc(entryBytes).toString('base64')
  const other = await server.call('POST', 'transit/encrypt/k', { plaintext }, 'root', WRAP)
  assert.deepEqual([other.status, errorsOf(other)], [413, TOO_LARGE])
})

test('A2: what was kept is read back, unwrapped and found by its existence, as it was sent', async () => {
  const { serving, server, token } = await stage()
  const sent = '{"__proto__":{"a":1},"constructor":[1.5,null,"\\u2028"],"a":{"b":[]}}'
  assert.equal((await serving.send('POST', 'cubbyhole/x', Buffer.from(sent))).status, 204)
  const kept = await serving.send('GET', 'cubbyhole/x', undefined)
  assert.deepEqual(JSON.stringify(kept.body.data), JSON.stringify(JSON.parse(sent)))
  const wrapped = await serving.send('POST', 'sys/wrapping/wrap', Buffer.from(sent), WRAP)
  const { token: wrapping, creation_path } = wrapped.body.wrap_info as Record<string, string>
  assert.equal(creation_path, 'sys/wrapping/wrap')
  const opened = await server.call('POST', 'sys/wrapping/unwrap', { token: wrapping }, token)
  assert.deepEqual(JSON.stringify(opened.body.data), JSON.stringify(JSON.parse(sent)))
  const form = await serving.send('POST', 'cubbyhole/form', Buffer.from('a=b'), {
    contentType: 'application/x-www-form-urlencoded',
  })
  assert.equal(form.status, 204)
  assert.deepEqual((await serving.send('GET', 'cubbyhole/form', undefined)).body.data, { a: 'b' })
})

test('A2: who is refused there is told so as here: a token that is gone, no rule, nothing to keep', async () => {
  const { serving, server, token } = await stage()
  const outcome = await server.node.answer('kept', {
    what: 'entry',
    owner: ownCubbyhole('gone'),
    path: 'x',
    value: object(1),
  })
  assert.deepEqual(outcome, { is: 'refused', code: 'permission_denied', status: 403, message: 'permission denied' })
  assert.equal((await serving.send('POST', 'cubbyhole/x', Buffer.from('{}'))).status, 400)
  await server.call('POST', 'auth/token/revoke', { token })
  assert.equal((await serving.send('POST', 'cubbyhole/x', object(1))).status, 403)
  assert.equal(serving.asked.length, 0)
  // A defect there is one here, and is no end of the thread.
  assert.match(JSON.stringify(await server.node.answer('kept', undefined)), /"is":"failed","cause":"TypeError/)
})

test('A2: parameters of a policy are judged before, and a token with a number of uses pays for it', async () => {
  const { serving, server } = await stage({ num_uses: 2 })
  assert.equal((await serving.send('POST', 'cubbyhole/x', object(10))).status, 204)
  const large = await serving.send('POST', 'cubbyhole/x', object(MAX_OBJECT_MEMBERS + 1))
  assert.equal(large.status, 400)
  assert.equal((await serving.send('POST', 'cubbyhole/x', object(10))).status, 403)
  const policy = 'path "cubbyhole/*" { capabilities = ["create", "update"]\n denied_parameters = { "secret" = [] } }'
  await server.call('POST', 'sys/policies/acl/denies', { policy })
  const bound = await servingBeside(
    server,
    await defaultToken(server, { policies: ['denies'], no_default_policy: true }),
  )
  assert.equal((await bound.send('POST', 'cubbyhole/x', Buffer.from('{"secret":1}'))).status, 403)
  assert.equal((await bound.send('POST', 'cubbyhole/x', Buffer.from('{"other":1}'))).status, 204)
  assert.equal(bound.asked.length, 1)
})

test('A2: what is kept in another namespace than the own is kept there, apart from all else', async () => {
  const { server } = await stage()
  const serving = await servingBeside(server)
  assert.equal((await serving.send('POST', 'sys/namespaces/w1', Buffer.from('{}'))).status, 200)
  for (const [path, a] of [
    ['cubbyhole/x', 1],
    ['w1/cubbyhole/x', 2],
  ] as const) {
    assert.equal((await serving.send('POST', path, Buffer.from(JSON.stringify({ a })))).status, 204)
    assert.equal((await serving.send('GET', path, undefined)).body.data?.a, a)
    assert.equal((await server.call('GET', path)).body.data?.a, a)
  }
  const wrapped = await serving.send('POST', 'w1/sys/wrapping/wrap', Buffer.from('{"a":3}'), WRAP)
  const { token } = wrapped.body.wrap_info as { token: string }
  assert.ok(token.endsWith(`.${server.node.namespaces.byPath('w1/')?.id}`))
  const opened = await serving.send('POST', 'sys/wrapping/unwrap', Buffer.from(JSON.stringify({ token })))
  assert.deepEqual(opened.body.data, { a: 3 })
  assert.equal(serving.asked.length, 3)
})
