import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { envelope, ROOT_TOKEN, refused, startApiDouble } from '../../test/fixtures/api-double.ts'
import { runClient } from '../../test/fixtures/cli-run.ts'
import { candidates } from './candidates.ts'
import { COMMANDS } from './commands.ts'

const NAMES = {
  path: ['transit/', 'sys/'],
  policy: ['app', 'default'],
  namespace: ['team'],
  secrets: ['transit/'],
  auth: ['token/'],
}

const CASES: readonly { typed: string; offers: readonly string[] }[] = [
  { typed: 'rea', offers: ['read'] },
  { typed: 'serv', offers: ['server'] },
  { typed: 'token ', offers: ['capabilities', 'create', 'lookup', 'renew', 'revoke'] },
  { typed: '-format json token re', offers: ['renew', 'revoke'] },
  { typed: 'nothing ', offers: [] },
  { typed: 'read -form', offers: ['-format'] },
  { typed: 'read --form', offers: ['--format'] },
  { typed: 'read -format=', offers: ['-format=json', '-format=raw', '-format=table', '-format=yaml'] },
  { typed: 'read -format j', offers: ['json'] },
  { typed: 'read -field na', offers: [] },
  { typed: 'token create -renewable=', offers: ['-renewable=false', '-renewable=true'] },
  { typed: 'read tr', offers: ['transit/'] },
  { typed: 'read -field=a tr', offers: ['transit/'] },
  { typed: 'read transit/ ', offers: [] },
  { typed: 'policy write ', offers: ['app', 'default'] },
  { typed: 'policy write app ', offers: [] },
  { typed: 'policy fmt ', offers: [] },
  { typed: 'namespace delete ', offers: ['team'] },
  { typed: '-ns a namespace l', offers: ['list', 'lock', 'lookup'] },
  { typed: 'auth tune ', offers: ['token/'] },
  { typed: 'operator replication s', offers: ['secondary-token', 'status', 'switchover'] },
  { typed: 'operator replication status -family=', offers: ['-family=dr', '-family=performance'] },
  { typed: 'token capabilities hvs.x t', offers: ['transit/'] },
]

for (const { typed, offers } of CASES) {
  test(`completion: "${typed}"`, async () => {
    assert.deepEqual(await candidates(COMMANDS, typed.split(' '), async (kind) => NAMES[kind]), offers)
  })
}

test('completion: every option of every command is offered', async () => {
  const offered = await candidates(COMMANDS, ['token', 'create', '-'], async () => [])
  for (const name of ['-policy', '-ttl', '-address', '-wrap-ttl', '-output-policy'])
    assert.ok(offered.includes(name), name)
})

test('completion: names of the server, where there is a token', async () => {
  const api = await startApiDouble()
  const offered = async (words: readonly string[], env = {}) => {
    const all = { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN, ...env }
    return (await runClient(['completion', 'candidates', '--', ...words], { env: all })).stdout
  }
  api.answer = ({ target }) => {
    const data = {
      '/v1/sys/internal/ui/mounts': { secret: { 'transit/': {}, 'team/kms/': {} }, auth: { 'token/': {} } },
      '/v1/sys/mounts': { 'transit/': {} },
      '/v1/sys/policies/acl?list=true': { keys: ['app'] },
      '/v1/sys/namespaces?list=true': { keys: ['team/'] },
      '/v1/transit/keys?list=true': { keys: ['orders', 'payments'] },
    }[target]
    return data === undefined ? refused(500) : { status: 200, body: envelope({ data }) }
  }
  assert.equal(await offered(['read', 't']), 'team/kms/\ntransit/\n')
  assert.equal(await offered(['read', 'a']), 'auth/token/\n')
  assert.equal(await offered(['read', 'transit/keys/pa']), 'transit/keys/payments\n')
  assert.equal(await offered(['secrets', 'tune', '']), 'transit/\n')
  assert.equal(await offered(['policy', 'read', '']), 'app\n')
  assert.equal(await offered(['namespace', 'lookup', '']), 'team\n')
  const before = api.asked.length
  assert.equal(await offered(['read', 'none/x']), '', 'a failure says nothing')
  assert.equal(api.asked.length, before + 1, 'and is not tried again')
  assert.equal(await offered(['policy', 'read', ''], { VAULT_TOKEN: '' }), '')
  assert.equal(api.asked.length, before + 1, 'without a token nobody is asked')
  await api.close()
})

const noBash = spawnSync('bash', ['--version']).error === undefined ? false : 'there is no bash'

test('completion: the script for bash offers what the program prints', { skip: noBash }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keywright-completion-'))
  const { stdout: script } = await runClient(['completion', 'bash'])
  const program = join(folder, 'keywright')
  // Stands for the program: it prints the words that it got, then candidates.
  writeFileSync(
    program,
    `#!/bin/sh\nshift 3\necho "$#:$*" >> ${folder}/asked\nprintf '%s\\n' -format=json -format=yaml\n`,
  )
  chmodSync(program, 0o755)
  const line = 'keywright read -format='
  const press = `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(keywright read -format =) COMP_CWORD=3`
  const shell = `${script}\n${press}\n_keywright\nprintf '<%s>' "\${COMPREPLY[@]}"\ncat ${folder}/asked`
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
  const ran = spawnSync('bash', ['-c', shell], { env, encoding: 'utf8' })
  assert.deepEqual([ran.stdout, ran.stderr], ['<json><yaml>2:read -format=\n', ''])
  rmSync(folder, { recursive: true })
})

for (const shell of ['zsh', 'fish']) {
  test(`completion: the script for ${shell} asks the program`, async () => {
    const { code, stdout } = await runClient(['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /keywright completion candidates -- /)
  })
}
