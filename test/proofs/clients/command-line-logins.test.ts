// The command line against a real server: who logs in, what a login gives, how long it lasts, and what a refusal says.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Ran, type RunOptions, runClient } from '../../fixtures/cli-run.ts'
import { PROJECT, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const home = temporaryDirectory()
const TOKEN_FILE = join(home.path, '.vault-token')
const PASSWORD = 'correct horse'

let server: ServerProcess
before(async () => {
  server = await startServerProcess()
  writeFileSync(
    join(home.path, 'app.hcl'),
    'path "transit/*" {\n}\npath "transit/encrypt/+" {\n  capabilities = ["update"]\n}\n',
  )
  writeFileSync(join(home.path, 'password'), `${PASSWORD}\n`)
  for (const words of [
    'secrets enable transit',
    'write -f transit/keys/orders',
    `policy write app ${home.path}/app.hcl`,
    'auth enable userpass',
    'auth enable approle',
    'write auth/approle/role/ci token_policies=app secret_id_num_uses=2 token_ttl=20m',
  ]) {
    await asRoot(words)
  }
  const user = ['write', 'auth/userpass/users/kim', `password=${PASSWORD}`, 'token_policies=app']
  assert.equal((await run(user, { VAULT_TOKEN: server.token })).code, 0)
})
after(async () => {
  await server.stop()
  home.cleanUp()
})

function run(words: readonly string[], env: Readonly<Record<string, string>>, more?: RunOptions): Promise<Ran> {
  return runClient(words, { ...more, env: { VAULT_ADDR: server.address, HOME: home.path, ...env } })
}

/** Without a token the one in the file is used. */
async function printed(words: string, token?: string): Promise<string> {
  const { code, stdout, stderr } = await run(words.split(' '), token === undefined ? {} : { VAULT_TOKEN: token })
  assert.deepEqual([code, stderr], [0, ''], words)
  return stdout
}

const asRoot = (words: string): Promise<string> => printed(words, server.token)

async function refused(words: string, token?: string): Promise<string> {
  const { code, stdout, stderr } = await run(words.split(' '), token === undefined ? {} : { VAULT_TOKEN: token })
  assert.deepEqual([code, stdout], [2, ''], words)
  return stderr
}

/** A login as kim, whose token is not kept. */
const kim = (): Promise<string> =>
  printed(`login -method=userpass -token-only username=kim password=@${home.path}/password`)

test('logins: a login with userpass keeps its token, and the commands that follow use it', async () => {
  const shown = await printed(`login -method=userpass username=kim password=@${home.path}/password`)
  assert.match(shown, /^Success! You are logged in\.\n\nKey +Value\n/)
  assert.match(shown, /^policies +\[app, default\]$/m)
  assert.match(shown, /^token_meta_username +kim$/m)
  assert.equal(statSync(TOKEN_FILE).mode & 0o777, 0o600)
  assert.ok(shown.includes((await printed('print token')).trim()))

  assert.equal(await printed('token lookup -field=display_name'), 'userpass-kim')
  assert.equal(JSON.parse(await printed('token lookup -format=json')).data.path, 'auth/userpass/login/kim')
  assert.match(await printed('token lookup -format=yaml'), /^ {2}display_name: userpass-kim$/m)
  assert.match(await printed('write -field=ciphertext transit/encrypt/orders plaintext=YQ=='), /^vault:v1:/)

  await printed('token revoke -self')
  assert.match(await refused('token lookup'), /Either the token is invalid or has expired \(`keywright login` gets/)
})

test('logins: a wrong password, a method that is not mounted, and a name that is locked are told apart', async () => {
  assert.match(await refused('login -method=userpass username=kim password=no'), /\* invalid username or password\n$/)
  assert.match(await refused('login -method=ldap username=kim password=no'), /no auth method is mounted at this path/)
  await asRoot('auth enable -path=door -user-lockout-threshold=2 userpass')
  await asRoot('write auth/door/users/lee password=right')
  const login = 'login -method=userpass -path=door -token-only username=lee password='
  await asRoot('auth tune -user-lockout-duration=1h door')
  assert.equal(await asRoot('read -field=user_lockout_config.lockout_duration sys/auth/door/tune'), '3600')
  for (let guess = 0; guess < 2; guess++) assert.match(await refused(`${login}wrong`), /invalid username or password/)
  const locked = await refused(`${login}right`)
  assert.match(locked, /Code: 403[\s\S]*the user is locked out after too many failed logins/)
  assert.doesNotMatch(locked, /No token was sent/)
  await asRoot('auth tune -user-lockout-disable door')
  assert.match(await printed(`${login}right`), /^hvs\./)
  const accessor = await asRoot('read -field=door/.accessor sys/auth')
  const alias = `alias_name=lee alias_mount_accessor=${accessor}`
  const entity = await asRoot(`write -field=id identity/lookup/entity ${alias}`)
  await asRoot(`write identity/entity/id/${entity} disabled=true`)
  assert.match(await refused(`${login}right`), /Code: 403[\s\S]*or the entity is disabled/)
  await asRoot('auth disable auth/door')
})

test('logins: a machine gets its secret id wrapped, and logs in with approle', async () => {
  const roleId = await asRoot('read -field=role_id auth/approle/role/ci/role-id')
  const wrapping = await asRoot('write -f -wrap-ttl=1m -field=wrapping_token auth/approle/role/ci/secret-id')
  const secretId = await printed(`unwrap -field=secret_id ${wrapping}`)
  const login = `login -method=approle role_id=${roleId} secret_id=${secretId}`
  const answer = JSON.parse(await printed(`${login} -no-store -format=json`))
  assert.deepEqual([answer.auth.lease_duration, answer.auth.metadata], [1200, { role_name: 'ci' }])
  assert.match(await printed(`${login} -token-only`), /^hvs\./)
  assert.match(await refused(`${login} -token-only`), /Code: 400[\s\S]*\* invalid role or secret ID\n$/)
  assert.match(await refused(`unwrap ${wrapping}`), /wrapping token is not valid or does not exist/)
})

test('logins: one that comes wrapped is opened where its token is kept, and not where it is handed on', async () => {
  const login = `login -method=userpass -wrap-ttl=1m username=kim password=@${home.path}/password`
  assert.match(await printed(login), /^token +hvs\./m)
  assert.equal(await printed('token lookup -field=path'), 'auth/userpass/login/kim')
  const handedOn = await printed(`${login} -no-store -field=wrapping_token`)
  assert.match(await printed(`unwrap -field=token ${handedOn}`), /^hvs\./)
  assert.match(await refused(`unwrap ${handedOn}`), /does not exist/)
})

test('logins: a mount that gives batch tokens, and one that is moved, with its users', async () => {
  await asRoot('auth tune -token-type=batch userpass')
  assert.match(await asRoot('auth list -detailed'), /^userpass\/ .* batch /m)
  const batch = await kim()
  assert.match(batch, /^hvb\./)
  assert.equal(await printed('token lookup -field=type', batch), 'batch')
  assert.match(await refused('token renew', batch), /batch tokens cannot be renewed/)
  await asRoot('auth tune -token-type=default-service userpass')
  assert.match(await asRoot('auth move userpass people'), /^Success! Moved the auth method from: auth\/userpass\/ to/)
  const login = `login -method=userpass -path=people -token-only username=kim password=@${home.path}/password`
  assert.match(await printed(login), /^hvs\./)
  assert.match(await asRoot('auth move people userpass'), /to: auth\/userpass\/$/m)
})

test('leases: those of logins are listed, looked up, renewed, and end one by one or below a path', async () => {
  const tokens = [await kim(), await kim()]
  const keys = JSON.parse(await asRoot('list -format=json sys/leases/lookup/auth/userpass/login/kim')) as string[]
  const ids = keys.map((key) => `auth/userpass/login/kim/${key}`)
  const [first = ''] = ids
  assert.ok(ids.length >= tokens.length)
  assert.match(await asRoot(`lease lookup ${first}`), /^ttl +76[78]h/m)
  assert.equal(await asRoot(`lease renew -increment=1h -field=token_duration ${first}`), '1h')
  assert.match(await asRoot(`lease revoke -sync ${first}`), /^Success! Revoked lease/)
  assert.match(await refused(`lease lookup ${first}`, server.token), /invalid lease/)

  const token = await kim()
  assert.match(await refused('lease revoke -prefix auth/userpass/login', token), /"update" and "sudo" on/)
  assert.match(await asRoot('lease revoke -prefix auth/userpass/login'), /^Success! Revoked all leases below/)
  for (const each of [...tokens, token]) await refused('token lookup', each)
  const none = await run(['list', 'sys/leases/lookup/auth/userpass/login'], { VAULT_TOKEN: server.token })
  assert.deepEqual([none.code, none.stderr], [2, 'No value found at sys/leases/lookup/auth/userpass/login\n'])
})

test('tokens: a role says what a token may be', async () => {
  await asRoot('write auth/token/roles/app allowed_policies=app orphan=true token_period=1h path_suffix=app')
  const token = await asRoot('token create -role=app -field=token')
  const told = JSON.parse(await printed('token lookup -format=json', token)).data
  assert.deepEqual([told.orphan, told.period, told.path], [true, 3600, 'auth/token/create/app/app'])
  assert.match(await refused('token create -role=app -policy=other', server.token), /"other" is not among those of the/)
  assert.match(await refused('token create -role=none', server.token), /\* unknown role none\n$/)
  const accessor = await printed('token lookup -field=accessor', token)
  assert.equal(await asRoot(`token lookup -accessor -field=id ${accessor}`), '')
  await asRoot(`token revoke -accessor ${accessor}`)
  await refused('token lookup', token)
})

test('secrets: what is encrypted before a move is decrypted after it', async () => {
  const ciphertext = await asRoot('write -field=ciphertext transit/encrypt/orders plaintext=YQ==')
  assert.match(
    await asRoot('secrets move transit team/kms'),
    /^Success! Moved the secrets engine from: transit\/ to: t/,
  )
  assert.equal(await asRoot(`write -field=plaintext team/kms/decrypt/orders ciphertext=${ciphertext}`), 'YQ==')
  const back = await run('secrets move -format=json team/kms transit'.split(' '), { VAULT_TOKEN: server.token })
  const id = JSON.parse(back.stdout).data.migration_id
  const status = JSON.parse(await asRoot(`read -format=json sys/remount/status/${id}`)).data.migration_info
  assert.deepEqual(status, { source_mount: 'team/kms/', target_mount: 'transit/', status: 'success' })
  assert.match(await refused('secrets move transit auth/x', server.token), /between a secrets mount and an auth mount/)
})

test('policies: a refusal says once what is missing, and explain which rule of which policy decides', async () => {
  const token = await kim()
  const denied = await refused('write transit/decrypt/orders ciphertext=vault:v1:x', token)
  const said =
    '* permission denied\n* this token needs the capability "create" or "update" on "transit/decrypt/orders"\n'
  assert.ok(denied.endsWith(`Code: 403. Errors:\n\n${said}`), denied)

  const explained = await printed('policy explain -operation=update transit/decrypt/orders', token)
  assert.match(explained, /^Allowed +no$[\s\S]*^Policy +app$[\s\S]*^Rule +path "transit\/\*", line 1$/m)
  const granted = await printed('policy explain -operation=update transit/encrypt/orders', token)
  assert.match(
    granted,
    /^Allowed +yes$[\s\S]*^Reason +The rule grants it$[\s\S]*^Rule .*"transit\/encrypt\/\+", line 3$/m,
  )
  assert.match(granted, /^Other rule +path "transit\/\*", line 1 of app: is less specific/m)
  assert.match(
    await refused('policy explain -policy=app transit/keys/x', token),
    /"update" on "sys\/policies\/explain"/,
  )
  const of = `policy explain -of-token=${token} -operation=update -field=allowed transit/encrypt/orders`
  assert.equal(await asRoot(of), 'true')
})

test('the installed command: a password from standard input, a token in its file, and exit codes', () => {
  const env = { PATH: process.env.PATH, HOME: home.path, VAULT_ADDR: server.address }
  const command = (words: string, input = '') => {
    const { status, stdout, stderr } = spawnSync(join(PROJECT, 'bin/keywright'), words.split(' '), {
      env,
      input,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const login = command('login -method=userpass -no-print username=kim password=-', `${PASSWORD}\n`)
  assert.deepEqual(login, { status: 0, stdout: '', stderr: '' })
  const piped = command('login -method=userpass -token-only username=kim', `${PASSWORD}\n`)
  assert.deepEqual([piped.status, piped.stderr], [0, ''])
  assert.match(command('print token').stdout, /^hvs\.\w+\n$/)
  assert.equal(command('token lookup -field=display_name').stdout, 'userpass-kim')
  const denied = command('secrets list')
  assert.deepEqual([denied.status, denied.stdout], [2, ''])
  assert.match(denied.stderr, /\* this token needs the capability "read" on "sys\/mounts"\n$/)
  assert.equal(command('policy explain').status, 1)
})
