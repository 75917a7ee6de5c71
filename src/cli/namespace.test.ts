// `keywright namespace …`: what each command asks, and what it shows of answers that have the recorded form.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import {
  type ApiDouble,
  envelope,
  type Reply,
  ROOT_TOKEN,
  refused,
  startApiDouble,
} from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function client(argv: readonly string[], { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  return runClient(argv, { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN, ...env }, ...more })
}

const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target} ${body}`)
const answered = (parts: object): Reply => ({ status: 200, body: envelope(parts) })

const A = { custom_metadata: { owner: 'kim' }, id: 'Aa1Bb2', locked: false, path: 'team/a/', tainted: false, uuid: 'u' }
const B = { ...A, custom_metadata: {}, id: 'Cc3Dd4', locked: true, path: 'team/a/b/' }
const LISTED = answered({ data: { keys: ['a/', 'a/b/'], key_info: { 'a/': A, 'a/b/': B } } })

test('namespace list prints names, scan asks for all levels', async () => {
  api.answer = () => LISTED
  const ran = await client(['-ns=team', 'namespace', 'list'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, 'Keys\n----\na/\na/b/\n', ''])
  assert.equal((await client(['namespace', 'scan', '-namespace=team'])).stdout, ran.stdout)
  assert.deepEqual(asked(), ['GET /v1/sys/namespaces?list=true ', 'GET /v1/sys/namespaces?scan=true '])
  assert.deepEqual(
    api.asked.map(({ headers }) => headers['x-vault-namespace']),
    ['team', 'team'],
  )
  assert.deepEqual(JSON.parse((await client(['namespace', 'list', '-format=json'])).stdout), ['a/', 'a/b/'])
})

test('namespace list -detailed shows id, state and metadata', async () => {
  api.answer = () => LISTED
  const { stdout } = await client(['namespace', 'list', '-detailed'])
  assert.deepEqual(stdout.split('\n'), [
    'Name    ID        Locked    Being deleted    Metadata',
    '----    --        ------    -------------    --------',
    'a/      Aa1Bb2    false     false            owner=kim',
    'a/b/    Cc3Dd4    true      false            n/a',
    '',
  ])
  const json = await client(['namespace', 'scan', '-detailed', '-format=json'])
  assert.deepEqual(JSON.parse(json.stdout), { 'a/': A, 'a/b/': B })
})

test('namespace list of nothing', async () => {
  api.answer = () => refused(404)
  const ran = await client(['namespace', 'list'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [2, '', 'No namespaces found\n'])
})

test('a scan that no policy grants is told by its capability', async () => {
  api.answer = () => refused(403, 'permission denied')
  assert.match((await client(['namespace', 'scan'])).stderr, /grants "scan" on "sys\/namespaces"/)
  const { stdout } = await client(['namespace', 'scan', '-output-policy'])
  assert.equal(stdout, 'path "sys/namespaces" {\n  capabilities = ["scan"]\n}\n')
})

test('namespace lookup, create and patch show the namespace', async () => {
  api.answer = () => answered({ data: A })
  const rows = [
    'Key                      Value',
    '---                      -----',
    'custom_metadata.owner    kim',
    'id                       Aa1Bb2',
    'locked                   false',
    'path                     team/a/',
    'tainted                  false',
    'uuid                     u',
    '',
  ]
  for (const argv of [
    ['lookup', 'a/'],
    ['create', 'a'],
    ['create', '-custom-metadata=owner=kim', '-custom-metadata=n=1', 'a'],
    ['patch', '-custom-metadata=owner=kim', '-remove-custom-metadata=n', 'a'],
  ])
    assert.equal((await client(['namespace', ...argv])).stdout, rows.join('\n'))
  assert.deepEqual(asked(), [
    'GET /v1/sys/namespaces/a ',
    'PUT /v1/sys/namespaces/a {"custom_metadata":{}}',
    'PUT /v1/sys/namespaces/a {"custom_metadata":{"owner":"kim","n":"1"}}',
    'PATCH /v1/sys/namespaces/a {"custom_metadata":{"n":null,"owner":"kim"}}',
  ])
  assert.equal(api.asked[3]?.headers['content-type'], 'application/merge-patch+json')
  assert.equal((await client(['namespace', 'lookup', '-field=id', 'a'])).stdout, 'Aa1Bb2')
})

test('namespace lookup of an unknown name', async () => {
  api.answer = () => refused(404)
  const ran = await client(['namespace', 'lookup', 'x'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [2, '', 'No namespace named: x\n'])
})

test('namespace patch without a change is refused before anything is sent', async () => {
  const ran = await client(['namespace', 'patch', 'a'])
  assert.equal(ran.code, 1)
  assert.match(ran.stderr, /there is nothing to change: add -custom-metadata or -remove-custom-metadata/)
  assert.deepEqual(asked(), [])
})

test('namespace delete says that it is scheduled, and that an unknown one does not exist', async () => {
  api.answer = () => answered({ data: { status: 'in-progress' } })
  const ran = await client(['namespace', 'delete', 'a'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, 'Success! Scheduled the deletion of namespace: a/\n', ''])
  assert.equal((await client(['namespace', 'delete', '-field=status', 'a'])).stdout, 'in-progress')
  api.answer = () => answered({ warnings: ['requested namespace does not exist'] })
  const unknown = await client(['namespace', 'delete', 'x'])
  assert.deepEqual([unknown.code, unknown.stdout], [0, 'There is no namespace to delete: x/\n'])
  assert.match(unknown.stderr, /requested namespace does not exist/)
  assert.equal(asked()[0], 'DELETE /v1/sys/namespaces/a ')
})

test('namespace lock prints the unlock key', async () => {
  api.answer = () => answered({ data: { unlock_key: 'k'.repeat(24) } })
  const { stdout } = await client(['namespace', 'lock', 'team/a/'])
  assert.match(stdout, /^unlock_key +k{24}$/m)
  assert.equal((await client(['-ns', 'team/a', 'namespace', 'lock', '-field=unlock_key'])).stdout, 'k'.repeat(24))
  assert.deepEqual(asked(), ['POST /v1/sys/namespaces/api-lock/lock/team/a ', 'POST /v1/sys/namespaces/api-lock/lock '])
})

test('namespace unlock takes the key as option, from standard input, or none', async () => {
  api.answer = () => ({ status: 204 })
  const ran = await client(['namespace', 'unlock', '-unlock-key=k', 'team/a'])
  assert.deepEqual([ran.code, ran.stdout], [0, 'Success! Unlocked namespace: team/a/\n'])
  await client(['namespace', 'unlock', '-unlock-key=-', 'team/a'], { stdin: 'from-a-pipe\n' })
  api.answer = () => answered({ warnings: ['unlocked without key'] })
  const inside = await client(['-ns=team/a', 'namespace', 'unlock'])
  assert.equal(inside.stdout, 'Success! Unlocked the namespace\n')
  assert.match(inside.stderr, /unlocked without key/)
  assert.deepEqual(asked(), [
    'POST /v1/sys/namespaces/api-lock/unlock/team/a {"unlock_key":"k"}',
    'POST /v1/sys/namespaces/api-lock/unlock/team/a {"unlock_key":"from-a-pipe"}',
    'POST /v1/sys/namespaces/api-lock/unlock {}',
  ])
})

const PATHS: readonly { name: string; argv: readonly string[]; env?: Record<string, string>; header?: string }[] = [
  { name: 'none', argv: [] },
  { name: 'the option', argv: ['-namespace=a'], header: 'a' },
  { name: 'the alias before the option', argv: ['-ns=b', '-namespace=a'], header: 'b' },
  { name: 'the variable of the reference', argv: [], env: { VAULT_NAMESPACE: 'v' }, header: 'v' },
  { name: 'that of its fork first', argv: [], env: { VAULT_NAMESPACE: 'v', BAO_NAMESPACE: 'f' }, header: 'f' },
  { name: 'that of its fork, empty', argv: [], env: { VAULT_NAMESPACE: 'v', BAO_NAMESPACE: '' } },
  { name: 'our own first', argv: [], env: { BAO_NAMESPACE: 'f', KEYWRIGHT_NAMESPACE: 'o' }, header: 'o' },
  { name: 'our own, empty, is none', argv: [], env: { BAO_NAMESPACE: 'f', KEYWRIGHT_NAMESPACE: '' }, header: 'f' },
  { name: 'an empty option is the root', argv: ['-namespace='], env: { VAULT_NAMESPACE: 'v' } },
]

for (const { name, argv, env = {}, header } of PATHS) {
  test(`namespace of a request: ${name}`, async () => {
    await client(['read', ...argv, 'transit/keys/x'], { env })
    assert.equal(api.asked[0]?.headers['x-vault-namespace'], header)
  })
}

test('what asks about the server itself has no namespace', async () => {
  const env = { VAULT_NAMESPACE: 'team' }
  await client(['status'], { env })
  await client(['operator', 'unseal', 'c2hhcmUgb25l'], { env })
  await client(['operator', 'init', '-status'], { env })
  await client(['read', 'sys/health'], { env })
  const paths = new Set(api.asked.map(({ target }) => target))
  for (const path of ['seal-status', 'leader', 'unseal', 'init', 'health'])
    assert.ok(paths.has(`/v1/sys/${path}`), path)
  for (const { target, headers } of api.asked) assert.equal(headers['x-vault-namespace'], undefined, target)
})

test('a wish to seal a namespace is not one to seal the server', async () => {
  await client(['-ns=team', 'operator', 'seal'])
  assert.equal(api.asked[0]?.headers['x-vault-namespace'], 'team')
})

test('a locked namespace is told at once, and an unknown one with what to do', async () => {
  const sleeps: number[] = []
  const text = 'API access to this namespace has been locked by an administrator - "team/" must be unlocked'
  api.answer = () => refused(503, text)
  const locked = await client(['-ns=team', 'read', 'transit/keys/x'], { sleeps })
  assert.match(locked.stderr, /^Error reading transit\/keys\/x: the namespace is locked\n.*keywright namespace unlock/s)
  assert.deepEqual([locked.code, sleeps], [2, []])
  api.answer = () => refused(404, 'namespace not found')
  assert.match((await client(['-ns=x', 'read', 'a'])).stderr, /No namespace has the path in -namespace/)
})
