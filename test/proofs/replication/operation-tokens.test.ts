// Operation tokens of two real servers, made with our own client.
import { strict as assert } from 'node:assert'
import { type TestContext, test } from 'node:test'
import { runClient } from '../../fixtures/cli-run.ts'
import { activate, Cluster, type ClusterOptions, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'

const DELETE = 'sys/replication/dr/secondary/operation-token/delete'
const PUBLIC_KEY = 'sys/replication/dr/secondary/generate-public-key'
const ATTEMPTS = 'sys/replication/dr/secondary/generate-operation-token/*'

/** A primary, and a secondary that follows it. */
async function followed(context: TestContext, ofSecondary: ClusterOptions = {}) {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  context.after(async () => {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  })
  const primary = await Cluster.make('one', temporary.path)
  clusters.push(primary)
  const secondary = await Cluster.make('two', temporary.path, ofSecondary)
  clusters.push(secondary)
  await primary.must('POST', 'sys/replication/dr/primary/enable', {})
  await activate(primary, secondary)
  secondary.share = primary.share
  await levelled(primary, secondary)
  /** Runs `operator generate-root -dr-token` against the secondary. */
  const generate = async (token: string, options: readonly string[], input = ''): Promise<string> => {
    const env = { VAULT_ADDR: secondary.address, VAULT_TOKEN: token }
    const ran = await runClient(['operator', 'generate-root', '-dr-token', ...options], { env, stdin: input })
    assert.equal(ran.code, 0, ran.stderr)
    return ran.stdout
  }
  return { primary, secondary, generate }
}

type Followed = Awaited<ReturnType<typeof followed>>

/** An operation token by the client, as people with shares make it. */
async function made({ primary, generate }: Followed, token: string): Promise<string> {
  const otp = (await generate(token, ['-generate-otp'])).trim()
  assert.match(await generate(token, ['-init', `-otp=${otp}`]), /^Started +true\nProgress +0\/1$/m)
  const encoded = (await generate(token, ['-field=encoded_token', '-'], `${primary.share}\n`)).trim()
  return (await generate('', [`-decode=${encoded}`, `-otp=${otp}`])).trim()
}

test('T88, T92: the client makes an operation token, which outlives kill -9 and deletes itself', async (context) => {
  const all = await followed(context)
  const { secondary, generate } = all
  const dr_operation_token = await made(all, '')
  assert.match(dr_operation_token, /^hvs\.[0-9A-Za-z]{24}$/)
  assert.match(await generate('', ['-init']), /^OTP +[0-9A-Za-z]{28}$/m)
  await secondary.kill()
  await secondary.restart()
  assert.match(await generate('', ['-status']), /^Started +false$/m)
  assert.equal((await secondary.call('POST', PUBLIC_KEY, { dr_operation_token }, '')).status, 200)
  assert.equal((await secondary.call('POST', DELETE, { dr_operation_token }, '')).status, 204)
  assert.equal((await secondary.call('POST', PUBLIC_KEY, { dr_operation_token }, '')).status, 403)
  assert.match(await generate('', ['-cancel']), /^Success! Operation token generation canceled/)
})

test('T93: where the configuration asks for a token too, shares alone make none', async (context) => {
  const more = 'replication {\n  unauthenticated_operation_token = false\n}'
  const all = await followed(context, { more })
  const { primary, secondary } = all
  const policy = `path "${ATTEMPTS}" { capabilities = ["read", "update", "delete"] }`
  await primary.must('PUT', 'sys/policies/acl/attempts', { policy })
  const wanted = { type: 'batch', no_parent: true, ttl: '1h', policies: ['attempts'] }
  const { body } = await primary.must('POST', 'auth/token/create', wanted)
  const { client_token } = body.auth as { readonly client_token: string }
  await levelled(primary, secondary)
  await assert.rejects(made(all, ''), /permission denied: X-Vault-Token must be a batch token of the set/)
  const dr_operation_token = await made(all, client_token)
  assert.equal((await secondary.call('POST', DELETE, { dr_operation_token }, '')).status, 204)
})
