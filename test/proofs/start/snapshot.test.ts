// Snapshots through a real server: saved under load, refused when damaged, restored, opened with the keys of their day.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyStore } from '../../../src/storage/verify/verify.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import {
  api,
  PROJECT,
  type ServerProcess,
  startConfigured,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'
import { ends, until } from '../../fixtures/until.ts'

async function start(t: TestContext): Promise<ServerProcess> {
  const { path, cleanUp } = temporaryDirectory()
  const server = await startServerProcess({ directory: join(path, 'data') })
  t.after(async () => {
    await server.stop()
    cleanUp()
  })
  return server
}

const unsealKey = (server: ServerProcess): string => /Unseal Key: (\S+)/.exec(server.output())?.[1] ?? ''

async function save(server: ServerProcess): Promise<Buffer> {
  const headers = { 'X-Vault-Token': server.token }
  const answer = await fetch(`${server.address}/v1/sys/storage/snapshot`, { headers })
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/octet-stream'])
  return Buffer.from(await answer.arrayBuffer())
}

type Restored = { readonly status: number; readonly body: Record<string, unknown> }

async function restore(server: ServerProcess, snapshot: Buffer, query = ''): Promise<Restored> {
  const answer = await fetch(`${server.address}/v1/sys/storage/snapshot${query}`, {
    method: 'POST',
    headers: { 'X-Vault-Token': server.token },
    body: new Uint8Array(snapshot),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function keysOf(server: ServerProcess): Promise<unknown> {
  return (await api(server, 'LIST', 'transit/keys')).body.data?.keys
}

test('a snapshot brings back what was there, and the server opens with the key of its day', async (t) => {
  const server = await start(t)
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/a')
  const { ciphertext } = (await api(server, 'POST', 'transit/encrypt/a', { plaintext: 'aGVsbG8=' })).body.data ?? {}
  const snapshot = await save(server)
  await api(server, 'POST', 'transit/keys/b')
  assert.deepEqual(await keysOf(server), ['a', 'b'])
  const { status, body } = await restore(server, snapshot)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal((body.data as Record<string, unknown>).seal_checked, true)
  assert.equal((await api(server, 'GET', 'transit/keys/a')).status, 503)
  assert.equal((await api(server, 'PUT', 'sys/unseal', { key: unsealKey(server) })).body.sealed, false)
  assert.deepEqual(await keysOf(server), ['a'])
  const opened = await api(server, 'POST', 'transit/decrypt/a', { ciphertext })
  assert.equal(opened.body.data?.plaintext, 'aGVsbG8=')
  await api(server, 'POST', 'transit/keys/c')
  assert.deepEqual(await keysOf(server), ['a', 'c'])
  await server.kill()
  const findings: string[] = []
  verifyStore({ directory: server.directory, keys: undefined, onFinding: (sentence) => findings.push(sentence) })
  assert.deepEqual(findings, [])
  const again = await startServerProcess({ directory: server.directory })
  t.after(() => again.stop())
  assert.deepEqual(await keysOf(again), ['a', 'c'])
})

test('D-06 P-10: a damaged snapshot is refused, and the server goes on as it was', async (t) => {
  const server = await start(t)
  for (let number = 0; number < 40; number++) {
    await api(server, 'PUT', `sys/policies/acl/p${number}`, { policy: 'path "x" { capabilities = ["read"] }' })
  }
  const snapshot = await save(server)
  const flippedAt = (at: number): Buffer => {
    const copy = Buffer.from(snapshot)
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at)
    return copy
  }
  const damaged = [
    Buffer.alloc(0),
    Buffer.from('{}'),
    ...[0, 9, 12, 20, 400, snapshot.length >> 1, snapshot.length - 100, snapshot.length - 1].map(flippedAt),
    ...[1, 32, 200, snapshot.length - 10].map((bytes) => snapshot.subarray(0, snapshot.length - bytes)),
    Buffer.concat([snapshot, Buffer.from('x')]),
  ]
  for (const [number, bytes] of damaged.entries()) {
    for (const query of ['', '?force=true']) {
      const { status, body } = await restore(server, bytes, query)
      assert.equal(status, 400, `${number}: ${JSON.stringify(body)}`)
    }
  }
  assert.equal((await api(server, 'GET', 'sys/policies/acl/p7')).status, 200)
  assert.equal((await restore(server, snapshot)).status, 200)
})

test('the snapshot of another cluster is taken with force only, and opens with its own key', async (t) => {
  const [one, other] = [await start(t), await start(t)]
  await api(other, 'POST', 'sys/mounts/elsewhere', { type: 'transit' })
  const snapshot = await save(other)
  const refused = await restore(one, snapshot)
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /of the cluster .* not of this one/)
  assert.equal((await api(one, 'GET', 'sys/mounts')).status, 200)
  const taken = await restore(one, snapshot, '?force=true')
  assert.equal(taken.status, 200)
  assert.equal((taken.body.data as Record<string, unknown>).seal_checked, false)
  const key = await api(one, 'PUT', 'sys/unseal', { key: unsealKey(one) })
  assert.equal(key.status, 400)
  assert.equal((await api(one, 'PUT', 'sys/unseal', { key: unsealKey(other) })).body.sealed, false)
  assert.ok('elsewhere/' in ((await api(one, 'GET', 'sys/mounts')).body.data ?? {}))
})

test('a snapshot needs sudo, both ways, and what is sent is not kept', async (t) => {
  const server = await start(t)
  const policy = 'path "sys/storage/snapshot" { capabilities = ["read", "create", "update"] }'
  await api(server, 'PUT', 'sys/policies/acl/almost', { policy })
  const made = await api(server, 'POST', 'auth/token/create', { policies: ['almost'] })
  const token = (made.body.auth as { client_token: string }).client_token
  const snapshot = await save(server)
  for (const used of [token, '', 'unknown']) {
    assert.equal((await api(server, 'GET', 'sys/storage/snapshot', undefined, used)).status, 403)
    const answer = await restore({ ...server, token: used }, snapshot)
    assert.equal(answer.status, 403)
  }
  assert.equal((await api(server, 'GET', 'sys/mounts')).status, 200)
})

test('a token with a limit of uses, whose requests travel to the writing thread, gets the same stream', async (t) => {
  const server = await start(t)
  const policy = 'path "sys/storage/snapshot" { capabilities = ["read", "update", "sudo"] }'
  await api(server, 'PUT', 'sys/policies/acl/backup', { policy })
  const made = await api(server, 'POST', 'auth/token/create', { policies: ['backup'], num_uses: 3 })
  const token = (made.body.auth as { client_token: string }).client_token
  const snapshot = await save({ ...server, token })
  assert.equal((await restore({ ...server, token }, snapshot.subarray(0, -1))).status, 400)
  assert.equal((await restore(server, snapshot)).status, 200)
})

/** Well within what the listener allows: from the first byte on, and between two parts. */
const MOST_PAUSE_MS = 900

test('an upload that breaks off or stands still changes nothing and is forgotten; a slow one is taken', async (t) => {
  const { path, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const config = join(path, 'server.hcl')
  writeFileSync(
    config,
    `listener "tcp" {\n address = "127.0.0.1:0"\n http_read_timeout = "1h"\n}\n` +
      `listener "tcp" {\n address = "127.0.0.1:0"\n http_read_header_timeout = 1\n http_read_timeout = 3\n}\n`,
  )
  const server = await startServerProcess({ directory: join(path, 'data'), args: ['-config', config] })
  t.after(() => server.stop())
  const impatient = [...server.output().matchAll(/Listening on (\S+)\n/g)][1]?.[1] ?? assert.fail('one listener')
  const snapshot = await save(server)
  const parts = 12
  const bytes = Math.ceil(snapshot.length / parts)
  type Upload = { readonly first: number; readonly thenBreak: boolean; readonly pauseMs: number }
  /** The status and body of the answer; undefined where the connection ended without one. */
  const sendParts = async ({ first, thenBreak, pauseMs }: Upload): Promise<string | undefined> => {
    // What breaks off is not to be forgotten for its pause.
    const to = thenBreak ? server.address : impatient
    const headers = { 'X-Vault-Token': server.token, 'Content-Length': snapshot.length }
    const sent = request(`${to}/v1/sys/storage/snapshot`, { method: 'PUT', headers, agent: false })
    let lastMs = performance.now()
    longestPauseMs = 0
    const ended = new Promise<string | undefined>((resolve) => {
      sent.on('response', async (answer) => resolve(`${answer.statusCode} ${await text(answer).catch(() => '')}`))
      sent.on('error', () => resolve(undefined))
    })
    for (let part = 0; part < first; part++) {
      sent.write(snapshot.subarray(part * bytes, (part + 1) * bytes))
      await sleep(pauseMs)
      longestPauseMs = Math.max(longestPauseMs, performance.now() - lastMs)
      lastMs = performance.now()
    }
    if (thenBreak) sent.destroy(new Error('broken off'))
    else if (first === parts) sent.end()
    return ends(ended, 'the end of the upload')
  }
  let longestPauseMs = 0
  /** The server learns a moment later that the one before has ended. Who stood still himself sends once more. */
  const upload = async (how: Upload): Promise<string | undefined> => {
    let answer: string | undefined
    await until(async () => {
      answer = await sendParts(how)
      const isUnderWay = answer?.startsWith('400 ') === true && answer.includes('A restore is under way')
      return longestPauseMs <= MOST_PAUSE_MS && !isUnderWay
    }, 'the upload before this one is forgotten')
    return answer
  }
  assert.equal(await upload({ first: 5, thenBreak: true, pauseMs: 50 }), undefined)
  assert.equal(await upload({ first: 2, thenBreak: false, pauseMs: 50 }), undefined)
  assert.equal((await api(server, 'GET', 'sys/mounts')).status, 200)
  // Longer in all than a request may take, but never silent for so long.
  assert.match((await upload({ first: parts, thenBreak: false, pauseMs: 500 })) ?? 'no answer', /^200 /)
})

test('P-01: a server that is killed while it restores has the old store or the new one, and a sound one', async (t) => {
  const random = pseudoRandom(testSeed(t))
  const { path, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const directory = join(path, 'data')
  let server = await startServerProcess({ directory })
  t.after(() => server.kill())
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/a')
  const snapshot = await save(server)
  for (let kills = 0; kills < Number(process.env.RESTORE_KILLS ?? '4'); kills++) {
    await api(server, 'POST', 'transit/keys/b')
    const restoring = restore(server, snapshot).catch(() => undefined)
    await new Promise((go) => setTimeout(go, random.int(150)))
    await server.kill()
    await restoring
    const findings: string[] = []
    verifyStore({ directory, keys: undefined, onFinding: (sentence) => findings.push(sentence) })
    assert.deepEqual(findings, [])
    server = await startServerProcess({ directory })
    const keys = await keysOf(server)
    assert.ok(['["a"]', '["a","b"]'].includes(JSON.stringify(keys)), JSON.stringify(keys))
  }
})

test('keywright operator snapshot saves, inspects and restores, and says what is wrong with a file', async (t) => {
  const server = await start(t)
  const { path, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const file = join(path, 'k.snapshot')
  const env = { ...process.env, VAULT_ADDR: server.address, VAULT_TOKEN: server.token }
  const run = (
    ...args: string[]
  ): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => {
    const command = [join(PROJECT, 'src/main.ts'), 'operator', 'snapshot', ...args]
    return spawnSync(process.execPath, command, { env, encoding: 'utf8' })
  }
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  const saved = run('save', file)
  assert.deepEqual([saved.status, saved.stderr], [0, ''])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(run('save', file).stderr, /exists already/)
  const facts = JSON.parse(run('inspect', '-format=json', file).stdout)
  assert.ok(facts.entries > 5 && facts.bytes === statSync(file).size)
  await api(server, 'DELETE', 'sys/mounts/transit')
  const bytes = readFileSync(file)
  const damaged = join(path, 'damaged.snapshot')
  writeFileSync(damaged, bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 1))
  const inspected = run('inspect', damaged)
  assert.equal(inspected.status, 1)
  assert.match(inspected.stderr, /chunk 1 of the snapshot is damaged/)
  const refused = run('restore', damaged)
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /chunk 1 of the snapshot is damaged.*Nothing was changed/)
  assert.match(run('restore', join(path, 'none')).stderr, /there is no such file/)
  const restored = run('restore', file)
  assert.deepEqual([restored.status, restored.stderr], [0, ''])
  assert.match(restored.stdout, /seal_checked +true/)
  await api(server, 'PUT', 'sys/unseal', { key: unsealKey(server) })
  assert.ok('transit/' in ((await api(server, 'GET', 'sys/mounts')).body.data ?? {}))
})

/** A server with two serving threads that opens itself by the key of 32 such bytes. */
async function startStatic(t: TestContext, keyByte: number): Promise<ServerProcess> {
  const { path, cleanUp } = temporaryDirectory()
  const [config, key] = [join(path, 'server.hcl'), join(path, 'key')]
  writeFileSync(key, Buffer.alloc(32, keyByte))
  const seal = `seal "static" {\n current_key_id = "a"\n current_key = "file://${key}"\n}\n`
  const listener = 'threads = 2\nlistener "tcp" { address = "127.0.0.1:0", tls_disable = true }\n'
  writeFileSync(config, `${listener}storage "sqlite" { path = "${path}/data" }\n${seal}`)
  const started = await startConfigured(config)
  t.after(async () => {
    await started.stop()
    cleanUp()
  })
  const made = await api(started, 'PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 })
  return { ...started, token: String(made.body.root_token), directory: `${path}/data` }
}

test('P-11: open again at once with a static key, with a snapshot older or newer, under a new data key', async (t) => {
  const server = await startStatic(t, 1)
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/a')
  const older = await save(server)
  await api(server, 'POST', 'sys/rotate')
  await api(server, 'POST', 'transit/keys/b')
  const newer = await save(server)
  const states = [
    { snapshot: older, keys: ['a'], term: 2 },
    { snapshot: newer, keys: ['a', 'b'], term: 3 },
    { snapshot: older, keys: ['a'], term: 2 },
  ]
  for (const { snapshot, keys, term } of states) {
    const { status, body } = await restore(server, snapshot)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal((body.data as Record<string, unknown>).sealed, false)
    // Each request on a connection of its own, so that both threads are asked.
    for (let turn = 0; turn < 8; turn++) assert.deepEqual(await keysOf(server), keys)
    const use = (await api(server, 'GET', 'sys/key-status')).body
    // Nobody knows how often the last one encrypted after the snapshot was taken.
    assert.equal(use.term, term)
    assert.ok(Number(use.encryptions) < 10, String(use.encryptions))
  }
})

test('the snapshot of another cluster is opened before it is taken, where a static key can', async (t) => {
  const [one, same, other] = [await startStatic(t, 1), await startStatic(t, 1), await startStatic(t, 2)]
  await api(same, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(same, 'POST', 'transit/keys/same')
  const refused = await restore(one, await save(other), '?force=true')
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /does not open with the static key .*Nothing was changed/)
  assert.equal((await api(one, 'GET', 'sys/mounts')).status, 200)
  const taken = await restore(one, await save(same), '?force=true')
  assert.equal(taken.status, 200)
  const { seal_checked: isChecked, sealed } = taken.body.data as Record<string, unknown>
  assert.deepEqual([isChecked, sealed], [true, false])
  assert.deepEqual(await keysOf({ ...one, token: same.token }), ['same'])
})

test('a restore that takes audit devices away says so, in its answer and in the log', async (t) => {
  const server = await start(t)
  const before = await save(server)
  const options = { file_path: 'discard' }
  assert.equal((await api(server, 'PUT', 'sys/audit/lost', { type: 'file', options })).status, 204)
  const after = await save(server)
  const same = await restore(server, after)
  assert.deepEqual([same.status, same.body.warnings ?? null], [200, null])
  assert.equal((await api(server, 'PUT', 'sys/unseal', { key: unsealKey(server) })).body.sealed, false)
  const { status, body } = await restore(server, before)
  assert.equal(status, 200)
  const warnings = body.warnings as string[]
  assert.match(String(warnings[0]), /lacks audit devices that were here: lost/)
  // Every store has the key that signs chains from its initialisation on.
  assert.equal(warnings.length, 1)
  // What a thread writes comes by way of the first one.
  await until(() => server.output().includes('lacks audit devices'), 'the line in the log')
})
