// What is recorded of requests in namespaces: which namespace, the path within it, who granted it, and nothing of a
// token in a path.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type AuditEntry, entryTail } from '../fixtures/audit-log.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'

const directory = temporaryDirectory()
after(() => directory.cleanUp())

let server: MemoryServer
let entries: ReturnType<typeof entryTail>
/** Ids of namespaces by their paths. */
const ids: Record<string, string> = {}

type Where = { readonly namespace?: string; readonly token?: string }
const call = (method: string, path: string, body?: object, { namespace, token = 'root' }: Where = {}) =>
  server.call(method, path, body, token, namespace === undefined ? {} : { namespace })

async function must(method: string, path: string, body?: object, where?: Where): Promise<Called> {
  const answer = await call(method, path, body, where)
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer
}

/** Both entries of the only request since the last look. */
/** Whatever the header holds that names no namespace, it is not written in clear. */
function requireHashed({ request }: AuditEntry): void {
  const { namespace } = request as unknown as { readonly namespace: { readonly path: string } }
  assert.deepEqual(Object.keys(namespace), ['path'])
  assert.match(namespace.path, /^hmac-sha256:[0-9a-f]{64}$/)
}

async function recorded(work: Promise<unknown>): Promise<readonly [AuditEntry, AuditEntry]> {
  await work
  const [first, second, ...others] = entries()
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([first.type, second.type, others], ['request', 'response', []])
  assert.deepEqual(second.request, first.request)
  return [first, second]
}

before(async () => {
  server = await startMemoryServer()
  // One is called like a token, which a name may be.
  for (const [within, name] of [
    ['', 'team'],
    ['team', 'in'],
    ['', 's.abcdef'],
  ] as const) {
    const { body } = await must('POST', `sys/namespaces/${name}`, {}, { namespace: within })
    ids[String(body.data?.path)] = String(body.data?.id)
  }
  for (const namespace of ['team', 'team/in']) await must('POST', 'sys/mounts/t', { type: 'transit' }, { namespace })
  await must('POST', 't/keys/k', {}, { namespace: 'team' })
  const rules = 'path "team/t/*" { capabilities = ["read"] } path "team/auth/token/*" { capabilities = ["update"] }'
  await must('POST', 'sys/policies/acl/outer', { policy: rules })
  const file = join(directory.path, 'audit.log')
  await must('POST', 'sys/audit/file', { type: 'file', options: { file_path: file } })
  entries = entryTail(file)
  entries()
})

const tokenOf = async (policies: readonly string[], namespace = ''): Promise<string> => {
  const { body } = await must('POST', 'auth/token/create', { policies }, { namespace })
  entries()
  return (body.auth as { client_token: string }).client_token
}

test('T2: by header and by path an entry is the same: namespace, path within it, mount with it', async () => {
  const token = await tokenOf(['outer'])
  const shown = []
  for (const work of [
    () => call('GET', 't/keys/k', undefined, { namespace: '/team', token }),
    () => call('GET', 'team/t/keys/k', undefined, { token }),
  ]) {
    const [{ request, auth }, { response }] = await recorded(work())
    assert.ok(response !== undefined)
    const { id: _, ...rest } = request
    shown.push({ rest, auth })
  }
  assert.deepEqual(shown[0], shown[1])
  const { rest, auth } = shown[0] ?? assert.fail()
  assert.deepEqual(
    [rest.namespace, rest.path, rest.mount_point],
    [{ id: ids['team/'], path: 'team/' }, 't/keys/k', 'team/t/'],
  )
  assert.deepEqual(auth?.policy_results, {
    allowed: true,
    granting_policies: [{ name: 'outer', namespace_id: 'root', type: 'acl' }],
  })
})

test('who grants is named with the namespace of the policy', async () => {
  const policy = 'path "in/t/*" { capabilities = ["list", "read"] }'
  await must('POST', 'sys/policies/acl/mid', { policy }, { namespace: 'team' })
  const token = await tokenOf(['mid'], 'team')
  const [{ auth }] = await recorded(call('LIST', 't/keys', undefined, { namespace: 'team/in', token }))
  assert.deepEqual(auth?.policy_results, {
    allowed: true,
    granting_policies: [{ name: 'mid', namespace_id: ids['team/'], namespace_path: 'team/', type: 'acl' }],
  })
  // Nobody granted what is refused.
  const [refused, { error }] = await recorded(call('POST', 't/keys/k', {}, { namespace: 'team/in', token }))
  assert.ok(error !== undefined)
  assert.equal(refused.auth?.policy_results, undefined)
})

test('an entry of the root is what it is without namespaces', async () => {
  const [{ request, auth }] = await recorded(call('GET', 'sys/mounts'))
  assert.deepEqual([request.namespace, request.path, request.mount_point], [{ id: 'root' }, 'sys/mounts', 'sys/'])
  assert.equal(auth?.policy_results, undefined)
})

test('what a namespace refuses is recorded: locked, not there, without a route', async () => {
  await must('POST', 'sys/namespaces/api-lock/lock/team/in', {})
  entries()
  const [locked, { error }] = await recorded(call('GET', 't/keys/k', undefined, { namespace: 'team/in' }))
  assert.deepEqual(
    [locked.request.namespace, locked.request.path],
    [{ id: ids['team/in/'], path: 'team/in/' }, 't/keys/k'],
  )
  assert.match(error ?? '', /has been locked/)
  await must('POST', 'sys/namespaces/api-lock/unlock/team/in', {})
  entries()

  // Without its name the path would be read as one of the root.
  for (const token of ['root', '']) {
    const [unknown, refused] = await recorded(call('GET', 't/keys/k', undefined, { namespace: 'team/Out', token }))
    requireHashed(unknown)
    assert.equal(unknown.request.path, 't/keys/k')
    assert.match(refused.error ?? '', /namespace/)
  }
  const [dotted] = await recorded(call('GET', 't/keys/k', undefined, { namespace: 'team/../team' }))
  requireHashed(dotted)

  const [noRoute] = await recorded(call('GET', 'nowhere/x', undefined, { namespace: 'team' }))
  assert.deepEqual(
    [noRoute.request.namespace, noRoute.request.path, noRoute.request.mount_point],
    [{ id: ids['team/'], path: 'team/' }, 'nowhere/x', undefined],
  )
})

test('what asks about its own token is recorded where the token is', async () => {
  const token = await tokenOf(['default'], 'team')
  for (const namespace of ['', 'team/in', 'team']) {
    const [{ request }, { error }] = await recorded(
      call('GET', 'auth/token/lookup-self', undefined, { namespace, token }),
    )
    assert.equal(error, undefined)
    assert.deepEqual(
      [request.namespace, request.path, request.mount_point],
      [{ id: ids['team/'], path: 'team/' }, 'auth/token/lookup-self', 'team/auth/token/'],
    )
  }
})

test('a token in a path is in no entry, and the name of a namespace is in clear whatever it looks like', async () => {
  const secret = 'hvs.TheTokenOfSomebodyElse'
  for (const namespace of ['', 'team', 's.abcdef'])
    for (const path of [`auth/token/revoke/${secret}`, `sys/wrapping/unwrap/${secret}`, `nowhere/${secret}`]) {
      await call('POST', path, {}, { namespace })
      await call('POST', namespace === '' ? path : `${namespace}/${path}`, {})
      const found = entries()
      assert.equal(found.length, 4)
      assert.ok(!JSON.stringify(found).includes(secret), path)
      for (const { request } of found) {
        assert.deepEqual(
          request.namespace,
          namespace === '' ? { id: 'root' } : { id: ids[`${namespace}/`], path: `${namespace}/` },
        )
        assert.match(request.path, new RegExp(`^${path.slice(0, path.lastIndexOf('/'))}/hmac-sha256:[0-9a-f]{64}$`))
      }
    }
})

test('a wrapped answer names its path within the namespace', async () => {
  const answer = await server.call('GET', 'team/t/keys/k', undefined, 'root', { wrapTtl: '60' })
  assert.equal((answer.body.wrap_info as { creation_path: string }).creation_path, 't/keys/k')
  const response = entries()[1]?.response
  assert.equal(response?.wrap_info?.creation_path, 't/keys/k')
})

test('a request about what lies in another namespace is recorded there', async () => {
  const token = await tokenOf(['default'], 'team')
  const [{ request }, { error }] = await recorded(call('POST', 'auth/token/lookup', { token }))
  assert.equal(error, undefined)
  assert.deepEqual(
    [request.namespace, request.path, request.mount_point],
    [{ id: ids['team/'], path: 'team/' }, 'auth/token/lookup', 'team/auth/token/'],
  )
  assert.ok(!JSON.stringify(request).includes(token))
})

test('policies that groups of other namespaces give are named with these', async () => {
  await must(
    'POST',
    'sys/policies/acl/of-group',
    { policy: 'path "t/*" { capabilities = ["read"] }' },
    { namespace: 'team' },
  )
  const { body: enabled } = await must('GET', 'sys/auth')
  const { accessor } = (enabled.data?.['token/'] ?? assert.fail()) as { accessor: string }
  const { body: made } = await must('POST', 'identity/entity', { name: 'ann' })
  const entity = String(made.data?.id)
  await must('POST', 'identity/entity-alias', { name: 'ann', canonical_id: entity, mount_accessor: accessor })
  const group = { name: 'of-team', policies: ['of-group'], member_entity_ids: [entity] }
  await must('POST', 'identity/group', group, { namespace: 'team' })
  await must('POST', 'auth/token/roles/as', { allowed_entity_aliases: ['ann'] })
  const { body } = await must('POST', 'auth/token/create/as', { entity_alias: 'ann', policies: ['default'] })
  const { client_token: token } = body.auth as { client_token: string }
  entries()
  const [{ auth }, { error }] = await recorded(call('GET', 't/keys/k', undefined, { namespace: 'team', token }))
  assert.equal(error, undefined)
  const external = ids['team/'] ?? assert.fail()
  assert.deepEqual(
    [auth?.policies, auth?.identity_policies, auth?.external_namespace_policies, auth?.policy_results],
    [
      ['default'],
      undefined,
      { [external]: ['of-group'] },
      {
        allowed: true,
        granting_policies: [{ name: 'of-group', namespace_id: external, namespace_path: 'team/', type: 'acl' }],
      },
    ],
  )
})
