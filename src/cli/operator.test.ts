import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, ROOT_TOKEN, refused, startApiDouble, UNSEAL_KEYS } from '../../test/fixtures/api-double.ts'
import { collector, type Ran, runClient } from '../../test/fixtures/cli-run.ts'
import { runCli } from './cli.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function client(argv: readonly string[], stdin = ''): Promise<Ran> {
  return runClient(argv, { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN }, stdin })
}

const bodies = (): unknown[] => api.asked.filter(({ body }) => body !== '').map(({ body }) => JSON.parse(body))

test('status of an unsealed server, exit code 0', async () => {
  const ran = await client(['status'])
  assert.equal(ran.code, 0)
  assert.equal(
    ran.stdout,
    [
      'Key             Value',
      '---             -----',
      'Seal Type       shamir',
      'Initialized     true',
      'Sealed          false',
      'Total Shares    3',
      'Threshold       2',
      'Version         1.21.0',
      'Build Date      2026-01-02T03:04:05Z',
      'Storage Type    memory',
      'Cluster Name    double',
      'Cluster ID      0000-1',
      '',
    ].join('\n'),
  )
})

test('status of a sealed server shows the progress, exit code 2', async () => {
  Object.assign(api, { sealed: true, progress: 1 })
  const ran = await client(['status'])
  assert.equal(ran.code, 2)
  assert.match(ran.stdout, /^Sealed {13}true\n[\s\S]*^Unseal Progress {4}1\/2\nUnseal Nonce {7}a1b2\n/m)
  assert.deepEqual(
    api.asked.map(({ target }) => target),
    ['/v1/sys/seal-status'],
  )
})

test('status -format=json is the plain body, with what the leader says', async () => {
  const ordinary = JSON.parse((await client(['status', '-format=json'])).stdout)
  assert.deepEqual([ordinary.sealed, ordinary.t, ordinary.ha_enabled], [false, 2, undefined])
  const leader = { ha_enabled: true, is_self: true, active_time: 'T', leader_address: 'http://l' }
  api.answer = ({ target }) => (target === '/v1/sys/leader' ? { status: 200, body: leader } : undefined)
  assert.deepEqual(JSON.parse((await client(['status', '-format=json'])).stdout), { ...ordinary, ...leader })
  assert.match(
    (await client(['status'])).stdout,
    /HA Enabled +true\nHA Mode +active\nActive Since +T\nActive Node Address +http:\/\/l\n$/,
  )
  assert.equal((await client(['status', '-field=sealed'])).stdout, 'false')
})

test('status: exit code 1 where it cannot be told', async () => {
  api.answer = () => refused(400, 'no')
  assert.equal((await client(['status'])).code, 1)
  api.answer = () => ({ status: 200, body: {} })
  const ran = await client(['status'])
  assert.deepEqual([ran.code, ran.stdout], [1, ''])
  assert.match(ran.stderr, /does not say whether the server is sealed/)
  const nobody = await runClient(['status', '-address=http://127.0.0.1:1'])
  assert.equal(nobody.code, 1)
  assert.match(nobody.stderr, /^Error reading the seal status: the connection was refused/)
})

test('operator init shows keys and token, and sends all fields', async () => {
  const ran = await client(['operator', 'init', '-key-shares=3', '-key-threshold=2'])
  assert.equal(ran.code, 0)
  const keys = UNSEAL_KEYS.map((key, index) => `Unseal Key ${index + 1}: ${key}\n`).join('')
  assert.ok(ran.stdout.startsWith(`${keys}\nInitial Root Token: ${ROOT_TOKEN}\n\n`), ran.stdout)
  assert.match(ran.stdout, /Any 2 of the 3 unseal keys are needed/)
  assert.deepEqual(bodies(), [
    {
      secret_shares: 3,
      secret_threshold: 2,
      stored_shares: 0,
      pgp_keys: null,
      recovery_shares: 0,
      recovery_threshold: 0,
      recovery_pgp_keys: null,
      root_token_pgp_key: '',
    },
  ])
})

test('operator init: five shares and a threshold of three are the default', async () => {
  await client(['operator', 'init'])
  const [body] = bodies() as { secret_shares: number; secret_threshold: number }[]
  assert.deepEqual([body?.secret_shares, body?.secret_threshold], [5, 3])
})

test('operator init -format=json has the names of the reference', async () => {
  const { stdout } = await client(['operator', 'init', '-n', '1', '-t', '1', '-format=json'])
  assert.deepEqual(JSON.parse(stdout), {
    unseal_keys_b64: [UNSEAL_KEYS[0]],
    unseal_keys_hex: ['7368617265206f6e65'],
    unseal_shares: 1,
    unseal_threshold: 1,
    recovery_keys_b64: [],
    recovery_keys_hex: [],
    root_token: ROOT_TOKEN,
  })
  assert.equal((await client(['operator', 'init', '-n=1', '-t=1', '-field=root_token'])).stdout, ROOT_TOKEN)
})

test('operator init -status: 0 initialised, 2 not, 1 not to be told', async () => {
  const yes = await client(['operator', 'init', '-status'])
  assert.deepEqual([yes.code, yes.stdout], [0, 'The server is initialized\n'])
  api.answer = () => ({ status: 200, body: { initialized: false } })
  const no = await client(['operator', 'init', '-status'])
  assert.deepEqual([no.code, no.stdout], [2, 'The server is not initialized\n'])
  assert.deepEqual(bodies(), [])
  api.answer = () => ({ status: 200, body: {} })
  assert.equal((await client(['operator', 'init', '-status'])).code, 1)
})

test('operator unseal takes keys as argument, from standard input and from a terminal', async () => {
  api.sealed = true
  const first = await client(['operator', 'unseal', UNSEAL_KEYS[0] ?? ''])
  assert.equal(first.code, 0)
  assert.match(first.stdout, /Unseal Progress {4}1\/2/)
  const second = await client(['operator', 'unseal'], `${UNSEAL_KEYS[1]}\n`)
  assert.match(second.stdout, /^Sealed +false$/m)
  const [stdout, stderr] = [collector(), collector()]
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  stdin.write(`${UNSEAL_KEYS[2]}\r`)
  const env = { VAULT_ADDR: api.address }
  const io = {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
  assert.equal(await runCli(['operator', 'unseal'], io), 0)
  assert.equal(stderr.bytes().toString(), 'Unseal Key (will be hidden): \n')
  assert.deepEqual(
    bodies(),
    UNSEAL_KEYS.map((key) => ({ key, reset: false, migrate: false })),
  )
})

test('operator unseal -reset forgets the keys handed in', async () => {
  Object.assign(api, { sealed: true, progress: 1 })
  assert.match((await client(['operator', 'unseal', '-reset'])).stdout, /Unseal Progress {4}0\/2/)
  assert.deepEqual(bodies(), [{ reset: true }])
})

test('operator unseal with a wrong or an empty key, which is not repeated', async () => {
  api.sealed = true
  const wrong = await client(['operator', 'unseal', 'secret'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /^Error unsealing: [\s\S]*\* unseal failed, invalid key\n$/)
  assert.doesNotMatch(wrong.stderr, /secret/)
  assert.equal((await client(['operator', 'unseal'], '\n')).code, 1)
  assert.equal((await client(['operator', 'unseal', 'secret', 'secret'])).code, 1)
})

test('operator seal', async () => {
  const ran = await client(['operator', 'seal'])
  assert.deepEqual([ran.code, ran.stdout, api.sealed], [0, 'Success! The server is sealed.\n', true])
  assert.equal(api.asked[0]?.method, 'PUT')
})

const OPERATION_TOKEN = '/v1/sys/replication/dr/secondary/generate-operation-token'
const RUNNING = {
  nonce: 'n-1',
  started: true,
  progress: 1,
  required: 2,
  complete: false,
  encoded_token: '',
  encoded_root_token: '',
  pgp_fingerprint: '',
  otp: '',
  otp_length: 28,
}

test('operator generate-root -dr-token calls the attempt of the DR secondary', async () => {
  api.answer = ({ method }) => ({ status: method === 'DELETE' ? 204 : 200, body: method === 'DELETE' ? '' : RUNNING })
  const command = ['operator', 'generate-root', '-dr-token']
  const otp = 'a'.repeat(28)
  assert.match((await client([...command, '-init', `-otp=${otp}`])).stdout, /^Started +true\nProgress +1\/2$/m)
  assert.match((await client([...command, '-status'])).stdout, /^Nonce +n-1$/m)
  assert.match((await client([...command, '-'], 'share\n')).stdout, /^Progress +1\/2$/m)
  assert.match((await client([...command, '-nonce=n-2', 'share'])).stdout, /^Progress +1\/2$/m)
  assert.match((await client([...command, '-generate-otp'])).stdout, /^[0-9A-Za-z]{28}\n$/)
  const canceled = 'Success! Operation token generation canceled (if it was started)\n'
  assert.equal((await client([...command, '-cancel'])).stdout, canceled)
  assert.equal((await client([...command, '-cancel', '-nonce=n 1'])).stdout, canceled)
  assert.deepEqual(
    api.asked.map(({ method, target }) => `${method} ${target}`),
    [
      `PUT ${OPERATION_TOKEN}/attempt`,
      `GET ${OPERATION_TOKEN}/attempt`,
      `GET ${OPERATION_TOKEN}/attempt`,
      `PUT ${OPERATION_TOKEN}/update`,
      `PUT ${OPERATION_TOKEN}/update`,
      `GET ${OPERATION_TOKEN}/attempt`,
      `DELETE ${OPERATION_TOKEN}/attempt`,
      `DELETE ${OPERATION_TOKEN}/attempt?nonce=n+1`,
    ],
  )
  assert.deepEqual(bodies(), [
    { otp, pgp_key: '' },
    { key: 'share', nonce: 'n-1' },
    { key: 'share', nonce: 'n-2' },
  ])
})

test('operator generate-root -dr-token hands in no key where no attempt runs', async () => {
  api.answer = () => ({ status: 200, body: { ...RUNNING, nonce: '', started: false } })
  const ran = await client(['operator', 'generate-root', '-dr-token', 'share'])
  assert.notEqual(ran.code, 0)
  assert.match(ran.stderr, /No operation token generation is in progress: start one with -init/)
  assert.deepEqual(bodies(), [])
})
