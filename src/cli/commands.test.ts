import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, ROOT_TOKEN, refused, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function client(argv: readonly string[], { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  return runClient(argv, { env: { KEYWRIGHT_ADDR: api.address, KEYWRIGHT_TOKEN: ROOT_TOKEN, ...env }, ...more })
}

const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target} ${body}`)

test('read prints a table', async () => {
  api.keys.set('x', 'ed25519')
  const ran = await client(['read', 'transit/keys/x'])
  const rows = [
    'Key                       Value',
    '---                       -----',
    'keys.1                    2015-09-21T16:03:32Z',
    'min_decryption_version    1',
    'name                      x',
    'type                      ed25519',
  ]
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, `${rows.join('\n')}\n`, ''])
  assert.deepEqual(asked(), ['GET /v1/transit/keys/x '])
})

test('read -format=json prints the whole envelope, VAULT_FORMAT too', async () => {
  api.keys.set('x', 'ed25519')
  const data = { name: 'x', type: 'ed25519', keys: { '1': 1442851412 }, min_decryption_version: 1 }
  const expected = `${JSON.stringify(envelope({ data }), null, 2)}\n`
  assert.equal((await client(['read', '-format=json', 'transit/keys/x'])).stdout, expected)
  assert.equal((await client(['read', 'transit/keys/x'], { env: { VAULT_FORMAT: 'json' } })).stdout, expected)
})

test('read -field prints one value, and names the fields where there is no such', async () => {
  api.keys.set('x', 'ed25519')
  assert.equal((await client(['read', '-field=type', 'transit/keys/x'])).stdout, 'ed25519')
  assert.equal((await client(['read', '-field=type', 'transit/keys/x'], { terminal: true })).stdout, 'ed25519\n')
  const ran = await client(['read', '-field=typ', 'transit/keys/x'])
  const known = 'its fields are keys, min_decryption_version, name, type'
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [1, '', `Error: Field "typ" is not in the answer: ${known}\n`])
})

test('read sends data as query', async () => {
  api.answer = () => ({ status: 200, body: envelope({ data: { a: 1 } }) })
  await client(['read', 'transit/random', 'bytes=3', 'format=a b', 'bytes=4'])
  assert.deepEqual(asked(), ['GET /v1/transit/random?bytes=3&bytes=4&format=a+b '])
})

test('read of nothing', async () => {
  const ran = await client(['read', 'transit/keys/none'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [2, '', 'No value found at transit/keys/none\n'])
})

test('write sends its data as text, and says that it is done', async () => {
  const ran = await client(['write', 'transit/keys/x', 'type=ed25519', 'exportable=true', 'tag=a', 'tag=b'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, 'Success! Data written to: transit/keys/x\n', ''])
  assert.deepEqual(asked(), ['PUT /v1/transit/keys/x {"type":"ed25519","exportable":"true","tag":["a","b"]}'])
})

test('write reads values and documents from files and standard input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keywright-write-'))
  writeFileSync(join(folder, 'p.hcl'), 'path "a" {}\n')
  writeFileSync(join(folder, 'd.json'), '{"batch_input": [{"plaintext": "YQ=="}]}')
  api.answer = () => ({ status: 204 })
  await client(['write', 'sys/policies/acl/p', `policy=@${join(folder, 'p.hcl')}`])
  await client(['write', 'transit/encrypt/x', `@${join(folder, 'd.json')}`])
  await client(['write', 'transit/encrypt/x', 'plaintext=-'], { stdin: 'YQ==' })
  await client(['write', 'transit/encrypt/x', '-'], { stdin: '{"plaintext":"YQ==","key_version":1}' })
  assert.deepEqual(asked(), [
    'PUT /v1/sys/policies/acl/p {"policy":"path \\"a\\" {}\\n"}',
    'PUT /v1/transit/encrypt/x {"batch_input":[{"plaintext":"YQ=="}]}',
    'PUT /v1/transit/encrypt/x {"plaintext":"YQ=="}',
    'PUT /v1/transit/encrypt/x {"plaintext":"YQ==","key_version":1}',
  ])
  rmSync(folder, { recursive: true })
})

for (const flag of ['-f', '-force', '--force']) {
  test(`write ${flag} needs no data and sends null`, async () => {
    assert.equal((await client(['write', flag, 'transit/keys/x'])).code, 0)
    assert.deepEqual(asked(), ['PUT /v1/transit/keys/x null'])
  })
}

test('write without data is refused before anything is sent', async () => {
  const ran = await client(['write', 'transit/keys/x'])
  assert.equal(ran.code, 1)
  assert.match(ran.stderr, /^keywright write: there is no data to write: add NAME=VALUE, or -force/)
  assert.deepEqual(asked(), [])
})

test('write prints an answer with data, its warnings on standard error', async () => {
  api.answer = () => ({ status: 200, body: envelope({ data: { ciphertext: 'vault:v1:x' }, warnings: ['mind\nit'] }) })
  const ran = await client(['write', 'transit/encrypt/x', 'plaintext=YQ=='])
  assert.equal(ran.stdout, 'Key           Value\n---           -----\nciphertext    vault:v1:x\n')
  assert.equal(ran.stderr, 'The server warns:\n\n* mind\nit\n\n')
  const field = await client(['write', '-field=ciphertext', 'transit/encrypt/x', 'plaintext=YQ=='])
  assert.equal(field.stdout, 'vault:v1:x')
  const json = await client(['write', '-format=json', 'transit/encrypt/x', 'plaintext=YQ=='])
  assert.deepEqual([JSON.parse(json.stdout).warnings, json.stderr], [['mind\nit'], ''])
})

test('write that is answered with warnings only is done, and warns', async () => {
  api.answer = () => ({ status: 200, body: envelope({ warnings: ['mind'] }) })
  const ran = await client(['write', '-f', 'a'])
  assert.deepEqual([ran.stdout, ran.stderr], ['Success! Data written to: a\n', 'The server warns:\n\n* mind\n\n'])
})

test('write without an answer prints nothing for a program', async () => {
  assert.equal((await client(['write', '-format=json', '-f', 'transit/keys/x'])).stdout, '')
  const ran = await client(['write', '-field=name', '-f', 'transit/keys/x'])
  assert.deepEqual([ran.code, ran.stdout], [1, ''])
  assert.equal(ran.stderr, 'Error: Field "name" is not in the answer: it has no fields\n')
})

test('write of a batch of which some items failed prints the results and fails', async () => {
  const body = envelope({ data: { batch_results: [{ ciphertext: 'vault:v1:x' }, { error: 'bad' }] } })
  api.answer = () => ({ status: 400, body })
  const ran = await client(['write', 'transit/encrypt/x', '-'], { stdin: '{"batch_input": []}' })
  assert.equal(ran.code, 2)
  assert.match(ran.stdout, /batch_results\.0\.ciphertext {4}vault:v1:x\nbatch_results\.1\.error {9}bad\n$/)
  assert.match(
    ran.stderr,
    /^Error writing data to transit\/encrypt\/x: the request failed in part: .*\n\nURL: PUT .*\nCode: 400\.\n$/,
  )
  const json = await client(['write', '-format=json', 'transit/encrypt/x', '-'], { stdin: '{}' })
  assert.deepEqual(JSON.parse(json.stdout), body)
})

test('list prints names', async () => {
  api.keys.set('b', '').set('a', '')
  const ran = await client(['list', 'transit/keys/'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, 'Keys\n----\na\nb\n', ''])
  assert.deepEqual(asked(), ['GET /v1/transit/keys?list=true '])
  const json = await client(['list', '-format=json', 'transit/keys'])
  assert.deepEqual(JSON.parse(json.stdout), ['a', 'b'])
})

test('list of nothing', async () => {
  const ran = await client(['list', 'transit/keys'])
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [2, '', 'No value found at transit/keys\n'])
})

test('delete', async () => {
  const ran = await client(['delete', 'transit/keys/x'])
  assert.deepEqual([ran.code, ran.stdout], [0, 'Success! Data deleted (if it existed) at: transit/keys/x\n'])
  assert.deepEqual(asked(), ['DELETE /v1/transit/keys/x '])
})

test('path-help prints what the server writes', async () => {
  const ran = await client(['path-help', 'transit/keys'])
  assert.deepEqual([ran.code, ran.stdout], [0, 'About /v1/transit/keys\n'])
  assert.deepEqual(asked(), ['GET /v1/transit/keys?help=1 '])
  assert.deepEqual(JSON.parse((await client(['path-help', '-format=json', 'a'])).stdout).see_also, null)
})

test('a refusal names URL, code, messages and what is missing', async () => {
  const ran = await client(['read', 'transit/keys/x', 'password=hunter2'], { env: { KEYWRIGHT_TOKEN: 'hvs.other' } })
  assert.equal(ran.code, 2)
  assert.equal(
    ran.stderr,
    [
      'Error reading transit/keys/x: the server refused the request',
      '',
      `URL: GET ${api.address}/v1/transit/keys/x`,
      'Code: 403. Errors:',
      '',
      '* permission denied',
      '',
      'Either the token is invalid or has expired (`keywright login` gets a new one), or none of its policies grants ' +
        '"read" on "transit/keys/x".',
      '',
    ].join('\n'),
  )
})

const HINTS: readonly { name: string; argv: readonly string[]; env?: Record<string, string>; says: RegExp }[] = [
  {
    name: 'no token',
    argv: ['list', 'transit/keys'],
    env: { KEYWRIGHT_TOKEN: '' },
    says: /No token was sent: set KEYWRIGHT_TOKEN/,
  },
  {
    name: 'list',
    argv: ['list', 'transit/keys'],
    env: { KEYWRIGHT_TOKEN: 'no' },
    says: /grants "list" on "transit\/keys"/,
  },
  {
    name: 'write',
    argv: ['write', '-f', 'a'],
    env: { KEYWRIGHT_TOKEN: 'no' },
    says: /^Error writing data to a.*\n[\s\S]*grants "update" on "a"/,
  },
  { name: 'delete', argv: ['delete', 'a'], env: { KEYWRIGHT_TOKEN: 'no' }, says: /grants "delete" on "a"/ },
  { name: 'no mount', argv: ['read', 'nowhere/x'], says: /Code: 404[\s\S]*`keywright secrets list`/ },
  { name: 'no login method', argv: ['read', 'auth/none/x'], says: /Code: 404[\s\S]*`keywright auth list`/ },
  { name: 'v1 in the path', argv: ['read', 'v1/transit/keys/x'], says: /Leave out the "v1\/"/ },
  { name: 'unsupported path', argv: ['read', 'transit/nonsense'], says: /`keywright path-help transit\/nonsense`/ },
  {
    name: 'unsupported operation',
    argv: ['delete', 'transit/keys'],
    says: /Code: 405[\s\S]*`keywright path-help transit\/keys`/,
  },
]

for (const { name, argv, env = {}, says } of HINTS) {
  test(`hint: ${name}`, async () => {
    const ran = await client(argv, { env })
    assert.equal(ran.code, 2)
    assert.match(ran.stderr, says)
  })
}

test('a sealed server is named as what it is, at once', async () => {
  api.sealed = true
  const sleeps: number[] = []
  const ran = await client(['read', 'transit/keys/x'], { sleeps })
  assert.equal(ran.code, 2)
  assert.match(
    ran.stderr,
    /^Error reading transit\/keys\/x: the server is sealed\n[\s\S]*Code: 503[\s\S]*`keywright operator unseal`/,
  )
  assert.deepEqual(sleeps, [])
})

test('several causes in one text are several messages, and control characters are shown', async () => {
  api.answer = () => refused(400, '2 errors occurred:\n\t* first\n\t* second\n\n', 'third\u001b[2J')
  const { stderr } = await client(['read', 'a'])
  assert.match(stderr, /Errors:\n\n\* first\n\* second\n\* third\\u001b\[2J\n$/)
})

test('an unreachable server is an error of the remote kind', async () => {
  const ran = await client(['read', 'a'], { env: { KEYWRIGHT_ADDR: 'http://127.0.0.1:1' } })
  assert.equal(ran.code, 2)
  assert.match(
    ran.stderr,
    /^Error reading a: the connection was refused: http:\/\/127.0.0.1:1 \(ECONNREFUSED\)\n\nIs the server running/,
  )
})

test('a wrong address or path is an error of the local kind', async () => {
  assert.equal((await client(['read', 'a'], { env: { KEYWRIGHT_ADDR: 'localhost' } })).code, 1)
  assert.equal((await client(['read', 'a/../b'])).code, 1)
  assert.deepEqual(asked(), [])
})
