// Our own client's commands for those who hold keys, against real servers.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { decrypt, generateKey, readMessage } from 'openpgp'
import { runClient } from '../../fixtures/cli-run.ts'
import { startConfigured, temporaryDirectory } from '../../fixtures/server-process.ts'

type Run = (...argv: string[]) => Promise<string>

/** A new server with this seal. What `run` runs succeeds; a last word that begins with '<' is its standard input. */
async function stage(
  context: TestContext,
  seal = '',
): Promise<{ run: Run; setToken: (token: string) => void; path: string }> {
  const directory = temporaryDirectory()
  const config = join(directory.path, 'server.hcl')
  const storage = `storage "sqlite" { path = "${directory.path}/data" }\n`
  writeFileSync(config, `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\n${storage}${seal}`)
  const server = await startConfigured(config)
  context.after(async () => {
    await server.stop()
    directory.cleanUp()
  })
  let token = ''
  const run: Run = async (...argv) => {
    const input = argv.at(-1)?.startsWith('<') === true ? String(argv.pop()).slice(1) : ''
    const ran = await runClient(argv, { env: { VAULT_ADDR: server.address, VAULT_TOKEN: token }, stdin: input })
    assert.equal(ran.code, 0, `${argv.slice(0, 2).join(' ')}: ${ran.stderr}`)
    return ran.stdout
  }
  const setToken = (made: string): void => {
    token = made
  }
  return { run, setToken, path: directory.path }
}

type Initialised = { unseal_keys_b64: string[]; recovery_keys_b64: string[]; root_token: string }

test('operator: shares, rotation, a root token and new shares', async (context) => {
  const { run, setToken } = await stage(context)
  const made = JSON.parse(await run('operator', 'init', '-n=3', '-t=2', '-format=json')) as Initialised
  setToken(made.root_token)
  const [first = '', second = ''] = made.unseal_keys_b64
  for (const key of [first, second]) await run('operator', 'unseal', `<${key}`)

  assert.match(await run('operator', 'key-status'), /^Key Term +1$/m)
  assert.match(
    await run('operator', 'rotate'),
    /^Success! Rotated key\n[\s\S]*^Key Term +2\n[\s\S]*^Encryption Count +\d+$/m,
  )

  const otp = (await run('operator', 'generate-root', '-generate-otp')).trim()
  assert.match(await run('operator', 'generate-root', '-init', `-otp=${otp}`), /^Started +true\nProgress +0\/2$/m)
  assert.match(await run('operator', 'generate-root', `<${first}`), /^Progress +1\/2$/m)
  assert.match(await run('operator', 'generate-root', '-status'), /^Progress +1\/2$/m)
  const encoded = (await run('operator', 'generate-root', '-field=encoded_token', `<${second}`)).trim()
  const token = (await run('operator', 'generate-root', `-decode=${encoded}`, `-otp=${otp}`)).trim()
  setToken(token)
  assert.match(await run('read', 'auth/token/lookup-self'), /^path +auth\/token\/root$/m)
  assert.match(await run('operator', 'generate-root', '-cancel'), /canceled/)

  await run('operator', 'rekey', '-init', '-n=2', '-t=2', '-verify')
  assert.match(await run('operator', 'rekey', `<${first}`), /^Rekey Progress +1\/2$/m)
  const rekeyed = JSON.parse(await run('operator', 'rekey', '-format=json', `<${second}`)) as { keys_base64: string[] }
  assert.match(await run('operator', 'rekey', '-verify', '-status'), /^Rekey Progress +0\/2$/m)
  const [one = '', two = ''] = rekeyed.keys_base64
  await run('operator', 'rekey', '-verify', `<${one}`)
  assert.match(await run('operator', 'rekey', '-verify', `<${two}`), /new keys are in force/)
  await run('operator', 'seal')
  for (const key of [one, two]) await run('operator', 'unseal', `<${key}`)
  assert.match(await run('operator', 'key-status'), /^Key Term +2$/m)
})

test('operator: a server that opens itself, with recovery keys', async (context) => {
  const key = 'a5'.repeat(32)
  const { run, setToken } = await stage(context, `seal "static" {\n current_key_id = "a"\n current_key = "${key}"\n}\n`)
  const text = await run('operator', 'init', '-recovery-shares=1', '-recovery-threshold=1')
  assert.match(text, /^Recovery Key 1: \S+\n\nInitial Root Token: \S+\n\nSuccess! /)
  assert.match(text, /^Success! The server is initialized, and unseals itself at every start\.$/m)
  const [, recovery = ''] = /^Recovery Key 1: (\S+)$/m.exec(text) ?? []
  const [, token = ''] = /^Initial Root Token: (\S+)$/m.exec(text) ?? []
  setToken(token)
  assert.match(await run('status'), /^Seal Type +static\n[\s\S]*^Sealed +false\nTotal Recovery Shares +1$/m)
  await run('operator', 'rekey', '-init', '-target=recovery', '-n=1', '-t=1')
  assert.match(await run('operator', 'rekey', '-target=recovery', `<${recovery}`), /^Key 1: \S+$/m)
})

test('operator init with OpenPGP keys, in each form that a file may have', async (context) => {
  const { run, setToken, path } = await stage(context)
  const pair = await generateKey({
    userIDs: [{ name: 'holder' }],
    type: 'ecc',
    curve: 'curve25519Legacy',
    format: 'object',
  })
  const binary = Buffer.from(pair.publicKey.write())
  const files = { armoured: pair.publicKey.armor(), binary, text: binary.toString('base64') }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  const names = Object.keys(files).map((name) => join(path, name))
  const keys = [`-pgp-keys=${names.join(',')}`, `-root-token-pgp-key=${names[0]}`]
  const made = JSON.parse(await run('operator', 'init', '-n=3', '-t=2', '-format=json', ...keys)) as Initialised
  const opened: string[] = []
  for (const message of [...made.unseal_keys_b64, made.root_token]) {
    const parsed = await readMessage({ binaryMessage: Buffer.from(message, 'base64') })
    opened.push((await decrypt({ message: parsed, decryptionKeys: pair.privateKey })).data)
  }
  const [first = '', , third = '', token = ''] = opened
  for (const key of [first, third]) await run('operator', 'unseal', `<${key}`)
  setToken(token)
  assert.match(await run('status'), /^Sealed +false$/m)
  await run('read', 'sys/mounts')
})
