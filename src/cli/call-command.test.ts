// The commands of one request: the request that each sends, and its output.
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

const DONE: Reply = { status: 204 }
const data = (members: object): Reply => ({ status: 200, body: envelope({ data: members }) })
const TOKEN = {
  client_token: 'hvs.new',
  accessor: 'acc',
  policies: ['app', 'default'],
  token_policies: ['app', 'default'],
  metadata: null,
  lease_duration: 3600,
  renewable: true,
}
const auth: Reply = { status: 200, body: envelope({ auth: TOKEN }) }
const TOKEN_ROWS = [
  'Key                Value',
  '---                -----',
  'token              hvs.new',
  'token_accessor     acc',
  'token_duration     1h',
  'token_renewable    true',
  'token_policies     [app, default]',
  'policies           [app, default]',
]

const CASES: readonly {
  argv: string
  asks: string
  answer: Reply
  prints: readonly string[]
  stdin?: string
}[] = [
  { argv: 'token create', asks: 'POST auth/token/create {}', answer: auth, prints: TOKEN_ROWS },
  {
    argv:
      'token create -policy=app -policy b -ttl=1h -explicit-max-ttl=2h -period=5m -display-name=x -metadata=a=b=c ' +
      '-use-limit=3 -renewable=false -no-default-policy -type=service -id=own -field=token',
    asks:
      'POST auth/token/create {"id":"own","display_name":"x","ttl":"1h","explicit_max_ttl":"2h","period":"5m",' +
      '"type":"service","no_default_policy":true,"policies":["app","b"],"meta":{"a":"b=c"},"num_uses":3,' +
      '"renewable":false}',
    answer: auth,
    prints: ['hvs.new'],
  },
  {
    argv: 'token create -orphan -field=token',
    asks: 'POST auth/token/create-orphan {}',
    answer: auth,
    prints: ['hvs.new'],
  },
  {
    argv: 'token create -role=r -entity-alias=e -field=token',
    asks: 'POST auth/token/create/r {"entity_alias":"e"}',
    answer: auth,
    prints: ['hvs.new'],
  },
  {
    argv: 'token lookup',
    asks: 'GET auth/token/lookup-self ',
    answer: data({ creation_time: 1442851412, ttl: 5400, period: 300, num_uses: 3600, meta: null, display_name: '' }),
    prints: [
      'Key              Value',
      '---              -----',
      'creation_time    2015-09-21T16:03:32Z',
      'display_name     n/a',
      'meta             n/a',
      'num_uses         3600',
      'period           5m',
      'ttl              1h30m',
    ],
  },
  {
    argv: 'token lookup -field=ttl hvs.x',
    asks: 'POST auth/token/lookup {"token":"hvs.x"}',
    answer: data({ ttl: 90 }),
    prints: ['90'],
  },
  {
    argv: 'token lookup -accessor -field=ttl acc',
    asks: 'POST auth/token/lookup-accessor {"accessor":"acc"}',
    answer: data({ ttl: 90 }),
    prints: ['90'],
  },
  { argv: 'token renew', asks: 'PUT auth/token/renew-self {}', answer: auth, prints: TOKEN_ROWS },
  {
    argv: 'token renew -increment=1h -field=token hvs.x',
    asks: 'PUT auth/token/renew {"token":"hvs.x","increment":"1h"}',
    answer: auth,
    prints: ['hvs.new'],
  },
  {
    argv: 'token renew -accessor -i 60 -field=token acc',
    asks: 'PUT auth/token/renew-accessor {"accessor":"acc","increment":"60"}',
    answer: auth,
    prints: ['hvs.new'],
  },
  ...[
    { argv: 'token revoke hvs.x', asks: 'PUT auth/token/revoke {"token":"hvs.x"}' },
    { argv: 'token revoke -self', asks: 'PUT auth/token/revoke-self {}' },
    { argv: 'token revoke -accessor acc', asks: 'PUT auth/token/revoke-accessor {"accessor":"acc"}' },
    { argv: 'token revoke -mode=orphan hvs.x', asks: 'PUT auth/token/revoke-orphan {"token":"hvs.x"}' },
  ].map((each) => ({ ...each, answer: DONE, prints: ['Success! Revoked token (if it existed)'] })),
  {
    argv: 'token revoke -mode=path auth/userpass/',
    asks: 'PUT sys/leases/revoke-prefix/auth/userpass {}',
    answer: DONE,
    prints: ['Success! Revoked all tokens created below: auth/userpass'],
  },
  {
    argv: 'token capabilities transit/keys/',
    asks: 'POST sys/capabilities-self {"paths":["transit/keys/"]}',
    answer: data({ capabilities: ['list', 'read'], 'transit/keys/': ['list', 'read'] }),
    prints: ['list, read'],
  },
  {
    argv: 'token capabilities -format=yaml hvs.x a/b',
    asks: 'POST sys/capabilities {"paths":["a/b"],"token":"hvs.x"}',
    answer: data({ capabilities: ['deny'], 'a/b': ['deny'] }),
    prints: ['- deny'],
  },
  {
    argv: 'token capabilities -accessor acc a/b',
    asks: 'POST sys/capabilities-accessor {"paths":["a/b"],"accessor":"acc"}',
    answer: data({ capabilities: ['root'] }),
    prints: ['root'],
  },
  {
    argv: 'policy list',
    asks: 'GET sys/policies/acl?list=true ',
    answer: data({ keys: ['default', 'root'] }),
    prints: ['default', 'root'],
  },
  {
    argv: 'policy list -format=json',
    asks: 'GET sys/policies/acl?list=true ',
    answer: data({ keys: ['default'] }),
    prints: ['[', '  "default"', ']'],
  },
  {
    argv: 'policy read app',
    asks: 'GET sys/policies/acl/app ',
    answer: data({ name: 'app', policy: 'path "a" {}' }),
    prints: ['path "a" {}'],
  },
  {
    argv: 'policy write app -',
    stdin: 'path "a" {}\n',
    asks: 'PUT sys/policies/acl/app {"policy":"path \\"a\\" {}\\n"}',
    answer: DONE,
    prints: ['Success! Uploaded policy: app'],
  },
  {
    argv: 'policy delete app',
    asks: 'DELETE sys/policies/acl/app ',
    answer: DONE,
    prints: ['Success! Deleted policy: app'],
  },
  {
    argv: 'policy explain -operation=update -policy=app -parameter=type=rsa transit/keys/x',
    asks:
      'POST sys/policies/explain {"policies":["app"],"path":"transit/keys/x","operation":"update",' +
      '"parameters":{"type":"rsa"}}',
    answer: data({
      allowed: false,
      reason: 'parameter-denied',
      explanation: 'the parameter type has a value that is denied',
      path: 'transit/keys/x',
      operation: 'update',
      rule: { policy: 'app', path: 'transit/*', line: 3 },
      considered: [
        { policy: 'app', path: 'transit/*', line: 3, why: 'decides' },
        { policy: 'all', namespace: 'w/', path: '*', line: 1, why: 'is less specific than the rule that decides' },
      ],
      needed: ['update'],
    }),
    prints: [
      'Key           Value',
      '---           -----',
      'Allowed       no',
      'Path          transit/keys/x',
      'Operation     update',
      'Reason        the parameter type has a value that is denied',
      'Policy        app',
      'Rule          path "transit/*", line 3',
      'Needed        update',
      'Other rule    path "*", line 1 of all in namespace w/: is less specific than the rule that decides',
    ],
  },
  {
    argv: 'policy explain -field=allowed a',
    asks: 'POST sys/policies/explain-self {"path":"a","operation":"read"}',
    answer: data({ allowed: true, rule: null }),
    prints: ['true'],
  },
  {
    argv: 'policy explain -of-token=hvs.x -field=allowed a/',
    asks: 'POST sys/policies/explain {"token":"hvs.x","path":"a/","operation":"read"}',
    answer: data({ allowed: true, rule: null }),
    prints: ['true'],
  },
  {
    argv: 'policy explain -accessor=acc a',
    asks: 'POST sys/policies/explain {"accessor":"acc","path":"a","operation":"read"}',
    answer: data({ allowed: true, path: 'a', operation: 'read', reason: 'root', rule: null, needed: [] }),
    prints: [
      'Key          Value',
      '---          -----',
      'Allowed      yes',
      'Path         a',
      'Operation    read',
      'Reason       root',
    ],
  },
  {
    argv: 'secrets enable transit',
    asks: 'POST sys/mounts/transit {"type":"transit"}',
    answer: DONE,
    prints: ['Success! Enabled the transit secrets engine at: transit/'],
  },
  {
    argv:
      'secrets enable -path=team/kms/ -description=d -default-lease-ttl=1h -max-lease-ttl=2h -local -seal-wrap ' +
      '-options=version=2 -listing-visibility=unauth ' +
      '-passthrough-request-headers=A -passthrough-request-headers=B transit',
    asks:
      'POST sys/mounts/team/kms {"type":"transit","description":"d","options":{"version":"2"},"local":true,' +
      '"seal_wrap":true,"config":{"default_lease_ttl":"1h","max_lease_ttl":"2h","listing_visibility":"unauth",' +
      '"passthrough_request_headers":["A","B"]}}',
    answer: DONE,
    prints: ['Success! Enabled the transit secrets engine at: team/kms/'],
  },
  {
    argv: 'auth enable -path=people -token-type=batch userpass',
    asks: 'POST sys/auth/people {"type":"userpass","config":{"token_type":"batch"}}',
    answer: DONE,
    prints: ['Success! Enabled the userpass auth method at: auth/people/'],
  },
  {
    argv: 'auth enable -path=auth/people userpass',
    asks: 'POST sys/auth/people {"type":"userpass"}',
    answer: DONE,
    prints: ['Success! Enabled the userpass auth method at: auth/people/'],
  },
  {
    argv: 'secrets disable transit/',
    asks: 'DELETE sys/mounts/transit ',
    answer: DONE,
    prints: ['Success! Disabled the secrets engine (if it existed) at: transit/'],
  },
  {
    argv: 'auth disable auth/userpass',
    asks: 'DELETE sys/auth/userpass ',
    answer: DONE,
    prints: ['Success! Disabled the auth method (if it existed) at: auth/userpass/'],
  },
  {
    argv: 'secrets tune -max-lease-ttl=2h -description=x transit',
    asks: 'POST sys/mounts/transit/tune {"description":"x","max_lease_ttl":"2h"}',
    answer: DONE,
    prints: ['Success! Tuned the secrets engine at: transit/'],
  },
  {
    argv: 'auth tune -user-lockout-threshold=3 -user-lockout-duration=1h -user-lockout-disable userpass',
    asks:
      'POST sys/auth/userpass/tune {"user_lockout_config":{"lockout_threshold":3,"lockout_duration":"1h",' +
      '"lockout_disable":true}}',
    answer: DONE,
    prints: ['Success! Tuned the auth method at: auth/userpass/'],
  },
  {
    argv: 'auth enable -user-lockout-counter-reset-duration=5m userpass',
    asks:
      'POST sys/auth/userpass {"type":"userpass","config":{"user_lockout_config":' +
      '{"lockout_counter_reset_duration":"5m"}}}',
    answer: DONE,
    prints: ['Success! Enabled the userpass auth method at: auth/userpass/'],
  },
  {
    argv: 'auth tune -token-type=default-batch userpass',
    asks: 'POST sys/auth/userpass/tune {"token_type":"default-batch"}',
    answer: DONE,
    prints: ['Success! Tuned the auth method at: auth/userpass/'],
  },
  {
    argv: 'auth list',
    asks: 'GET sys/auth ',
    answer: data({
      'token/': { type: 'token', accessor: 'auth_token_1', description: '' },
      'people/': { type: 'userpass', accessor: 'auth_userpass_22', description: 'all of us' },
    }),
    prints: [
      'Path       Type        Accessor            Description',
      '----       ----        --------            -----------',
      'people/    userpass    auth_userpass_22    all of us',
      'token/     token       auth_token_1        n/a',
    ],
  },
  {
    argv: 'secrets list -detailed',
    asks: 'GET sys/mounts ',
    answer: data({
      't/': {
        type: 'transit',
        accessor: 'a',
        description: 'd',
        config: { default_lease_ttl: 0, max_lease_ttl: 7200, force_no_cache: false },
        local: true,
        seal_wrap: false,
        options: { version: '2' },
        uuid: 'u',
        running_plugin_version: 'v1',
      },
    }),
    prints: [
      'Path    Type       Accessor    Description    Default TTL    Max TTL    Token Type    Force No Cache    ' +
        'Replication    Seal Wrap    Options      UUID    Version',
      '----    ----       --------    -----------    -----------    -------    ----------    --------------    ' +
        '-----------    ---------    -------      ----    -------',
      't/      transit    a           d              system         2h         n/a           false             ' +
        'local          false        version=2    u       v1',
    ],
  },
  {
    argv: 'secrets list -format=json',
    asks: 'GET sys/mounts ',
    answer: data({ 't/': { type: 'transit' } }),
    prints: ['{', '  "t/": {', '    "type": "transit"', '  }', '}'],
  },
  {
    argv: 'auth help userpass',
    asks: 'GET auth/userpass?help=1 ',
    answer: { status: 200, body: { help: 'About it', see_also: null } },
    prints: ['About it'],
  },
  {
    argv: 'lease lookup a/b/1',
    asks: 'PUT sys/leases/lookup {"lease_id":"a/b/1"}',
    answer: data({ id: 'a/b/1', ttl: 60, expire_time: '2026-01-02T03:04:05Z' }),
    prints: [
      'Key            Value',
      '---            -----',
      'expire_time    2026-01-02T03:04:05Z',
      'id             a/b/1',
      'ttl            1m',
    ],
  },
  {
    argv: 'lease renew -increment=90 a/b/1',
    asks: 'PUT sys/leases/renew {"lease_id":"a/b/1","increment":"90"}',
    answer: { status: 200, body: envelope({ lease_id: 'a/b/1', lease_duration: 90, renewable: true }) },
    prints: [
      'Key                Value',
      '---                -----',
      'lease_id           a/b/1',
      'lease_duration     1m30s',
      'lease_renewable    true',
    ],
  },
  {
    argv: 'lease revoke -sync a/b/1',
    asks: 'PUT sys/leases/revoke {"lease_id":"a/b/1","sync":true}',
    answer: DONE,
    prints: ['Success! Revoked lease (if it existed): a/b/1'],
  },
  {
    argv: 'lease revoke -prefix a/b/',
    asks: 'PUT sys/leases/revoke-prefix/a/b {}',
    answer: DONE,
    prints: ['Success! Revoked all leases below: a/b/'],
  },
  {
    argv: 'lease revoke -prefix -force a/b',
    asks: 'PUT sys/leases/revoke-force/a/b {}',
    answer: DONE,
    prints: ['Success! Revoked all leases below: a/b'],
  },
]

for (const { argv, asks, answer, prints, stdin = '' } of CASES) {
  test(`command: ${argv}`, async () => {
    api.answer = () => answer
    const ran = await client(argv.split(' '), { stdin })
    const printed = ran.stdout.endsWith('\n') ? ran.stdout.slice(0, -1) : ran.stdout
    assert.deepEqual([ran.code, printed.split('\n'), ran.stderr], [0, prints, ''])
    const asked = api.asked.map(({ method, target, body }) => `${method} ${target.slice('/v1/'.length)} ${body}`)
    assert.deepEqual(asked, [asks])
  })
}

const REFUSED: readonly { argv: string; says: RegExp }[] = [
  { argv: 'token create -orphan -role=r', says: /-orphan and -role exclude each other/ },
  { argv: 'token create -metadata=a', says: /-metadata must be NAME=VALUE/ },
  { argv: 'token lookup -accessor', says: /-accessor needs an accessor/ },
  { argv: 'token revoke', says: /give either a token/ },
  { argv: 'token revoke -self hvs.x', says: /give either a token/ },
  { argv: 'token revoke -self -mode=orphan', says: /-mode goes with neither/ },
  { argv: 'token capabilities -accessor a/b', says: /-accessor needs an accessor before the path/ },
  { argv: 'token capabilities', says: /PATH is missing/ },
  { argv: 'lease revoke -force a/b', says: /-force goes with -prefix/ },
  { argv: 'policy explain -policy=a -accessor=b c', says: /exclude each other/ },
  {
    argv: 'policy explain -operation=sing a',
    says: /must be create or read or update or patch or delete or list or scan/,
  },
  { argv: 'secrets enable', says: /TYPE is missing/ },
  { argv: 'secrets enable -options=a transit', says: /-options must be NAME=VALUE/ },
  { argv: 'token create -wrap-ttl=soon', says: /-wrap-ttl must be seconds/ },
  { argv: 'token create -header=x', says: /-header must be NAME=VALUE/ },
  { argv: 'token create -header=X-Vault-Token=x', says: /has an option of its own/ },
  { argv: 'token create -timeout=0', says: /-timeout must be longer/ },
  { argv: 'token create -client-cert=x', says: /belong together/ },
]

for (const { argv, says } of REFUSED) {
  test(`command: ${argv}: is refused here`, async () => {
    const ran = await client(argv.split(' '))
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, says)
    assert.deepEqual(api.asked, [])
  })
}

const WRAP = { token: 'hvs.w', accessor: 'a', ttl: 300, creation_time: 'T', creation_path: 'auth/token/create' }
for (const argv of [
  'token create',
  'policy list',
  'secrets list',
  'list transit/keys',
  'token revoke -self',
  'read a',
]) {
  test(`command: ${argv} -wrap-ttl shows the wrapping token`, async () => {
    api.answer = () => ({ status: 200, body: envelope({ request_id: '', wrap_info: WRAP }) })
    const ran = await client([...argv.split(' '), '-wrap-ttl=5m'])
    assert.deepEqual(ran.stdout.split('\n').slice(2), [
      'wrapping_token                  hvs.w',
      'wrapping_accessor               a',
      'wrapping_token_ttl              5m',
      'wrapping_token_creation_time    T',
      'wrapping_token_creation_path    auth/token/create',
      '',
    ])
    assert.equal(api.asked[0]?.headers['x-vault-wrap-ttl'], '5m')
    assert.equal(
      (await client([...argv.split(' '), '-field=wrapping_token'], { env: { VAULT_WRAP_TTL: '60' } })).stdout,
      'hvs.w',
    )
    assert.equal(api.asked[1]?.headers['x-vault-wrap-ttl'], '60')
  })
}

test('command: policy read of nothing', async () => {
  api.answer = () => refused(404)
  const ran = await client(['policy', 'read', 'none'])
  assert.deepEqual([ran.code, ran.stderr], [2, 'No policy named: none\n'])
})

test('command: a 403 that says what was needed is not guessed about', async () => {
  const said = 'the token needs "update" on "sys/mounts/x"'
  api.answer = () => refused(403, '1 error occurred:\n\t* permission denied\n\n', said)
  const { code, stderr } = await client(['secrets', 'enable', 'x'])
  assert.equal(code, 2)
  assert.ok(stderr.endsWith(`Code: 403. Errors:\n\n* permission denied\n* ${said}\n`), stderr)
})

test('command: moving waits until the server is done', async () => {
  const sleeps: number[] = []
  api.answer = ({ target }) => {
    if (target === '/v1/sys/remount') return data({ migration_id: 'm1' })
    const state = api.asked.length === 2 ? 'in-progress' : 'success'
    return data({ migration_id: 'm1', migration_info: { status: state } })
  }
  const ran = await client(['auth', 'move', 'userpass', 'people/'], { sleeps })
  assert.deepEqual(
    [ran.code, ran.stdout],
    [0, 'Success! Moved the auth method from: auth/userpass/ to: auth/people/\n'],
  )
  assert.equal(api.asked[0]?.body, '{"from":"auth/userpass","to":"auth/people"}')
  assert.deepEqual(
    api.asked.slice(1).map(({ target }) => target),
    Array(2).fill('/v1/sys/remount/status/m1'),
  )
  assert.equal(sleeps.length, 1)
})

test('command: a move that fails is told', async () => {
  api.answer = ({ target }) =>
    target === '/v1/sys/remount' ? data({ migration_id: 'm1' }) : data({ migration_info: { status: 'failure' } })
  const ran = await client(['secrets', 'move', 'a', 'b'])
  assert.deepEqual([ran.code, ran.stdout], [2, ''])
  assert.match(ran.stderr, /failure/)
})

test('command: -output-curl-string and -output-policy show the request, and send nothing', async () => {
  const curl = await client(['policy', 'write', 'app', '-', '-output-curl-string', '-namespace=a'], { stdin: `it's` })
  const headers = `-H 'X-Vault-Request: true' -H "X-Vault-Token: $(keywright print token)" -H 'X-Vault-Namespace: a'`
  const url = `'${api.address}/v1/sys/policies/acl/app'`
  assert.deepEqual([curl.code, curl.stdout], [0, `curl -X PUT ${headers} -d '{"policy":"it'\\''s"}' ${url}\n`])
  const policy = await client(['list', '-output-policy', 'transit/keys'])
  assert.equal(policy.stdout, 'path "transit/keys" {\n  capabilities = ["list"]\n}\n')
  assert.deepEqual(api.asked, [])
})

test('command: headers, retries and redirects of the options', async () => {
  api.answer = () => refused(500, 'busy')
  const sleeps: number[] = []
  await client(['read', 'a', '-header=X-One=1', '-header', 'X-Two=a=b'], { env: { VAULT_MAX_RETRIES: '3' }, sleeps })
  assert.deepEqual(sleeps, [1000, 1500, 1500])
  const { headers } = api.asked[0] ?? assert.fail()
  assert.deepEqual([headers['x-one'], headers['x-two']], ['1', 'a=b'])
  api.asked.length = 0
  api.answer = () => ({ status: 307, headers: { Location: '/v1/b' } })
  await client(['read', 'a', '-disable-redirects'])
  assert.equal(api.asked.length, 1)
})

test('command: read -format=raw is the answer as it came, JSON or not', async () => {
  api.answer = () => ({ status: 200, body: '# HELP x\nx 1\n' })
  assert.equal((await client(['read', '-format=raw', 'sys/metrics'])).stdout, '# HELP x\nx 1\n')
})
