// Sixteen clients on three keys of a real server with several threads: whatever they mix, no rotation is lost, and
// nobody is refused but for a version below the minimum.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { Connection } from '../../model/connection.ts'

const CLIENTS = 16
const KEYS = ['a', 'b', 'c']
const CALLS_PER_CLIENT = 250
/** How many versions the limits leave behind the latest that was seen. */
const MOST_VERSIONS_LEFT = 4

let server: ServerProcess
const directory = temporaryDirectory()
before(async () => {
  server = await startServerProcess({ directory: `${directory.path}/data`, args: ['-threads=2'] })
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  for (const key of KEYS) await api(server, 'POST', `transit/keys/${key}`)
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

/** What all clients together know of one key. */
type Known = {
  readonly given: Set<number>
  latest: number
  /** The highest limit that anyone has asked for, answered or not. */
  leastAsked: number
  readonly ciphertexts: { readonly ciphertext: string; readonly version: number; readonly plaintext: string }[]
}

test('P-06 Q-05: 16 clients on 3 keys lose no rotation and are refused only below the minimum', async (context) => {
  const random = pseudoRandom(testSeed(context))
  const keys = new Map<string, Known>(
    KEYS.map((key) => [key, { given: new Set([1]), latest: 1, leastAsked: 1, ciphertexts: [] }]),
  )
  let refused = 0
  const client = async (own: PseudoRandom): Promise<void> => {
    const connection = new Connection(server.address)
    for (let calls = 0; calls < CALLS_PER_CLIENT; calls++) {
      const [name, key] = own.pick([...keys])
      const chosen = own.int(100)
      if (chosen < 15) await rotate(connection, name, key)
      else if (chosen < 25) await limit(connection, name, key, own)
      else if (chosen < 60 || key.ciphertexts.length === 0) await encrypt(connection, name, key, own)
      else if (!(await decrypt(connection, name, own.pick(key.ciphertexts), key))) refused++
    }
    connection.renew()
  }
  await Promise.all(Array.from({ length: CLIENTS }, () => client(pseudoRandom(random.int(2 ** 31)))))

  const rotations: string[] = []
  for (const [name, { given, latest }] of keys) {
    const { body } = await api(server, 'GET', `transit/keys/${name}`)
    assert.equal(body.data?.latest_version, latest, `key ${name}`)
    assert.deepEqual(
      [...given].sort((a, b) => a - b),
      Array.from({ length: latest }, (_, i) => i + 1),
      'each version was given to one rotation',
    )
    rotations.push(`${latest - 1} of ${name}`)
  }
  assert.ok(refused > 0, 'no limit was ever felt: this run proves nothing of them')
  context.diagnostic(`rotations: ${rotations.join(', ')}; decryptions below the minimum: ${refused}`)
})

async function rotate(connection: Connection, name: string, key: Known): Promise<void> {
  const { status, data } = await connection.call('root', 'POST', `transit/keys/${name}/rotate`)
  assert.equal(status, 200)
  const version = Number(data.latest_version)
  assert.ok(!key.given.has(version), `version ${version} of ${name} was given twice`)
  key.given.add(version)
  key.latest = Math.max(key.latest, version)
}

/** Limits go up and down, but never above what there is. */
async function limit(connection: Connection, name: string, key: Known, random: PseudoRandom): Promise<void> {
  const least = Math.max(1, key.latest - random.int(MOST_VERSIONS_LEFT))
  key.leastAsked = Math.max(key.leastAsked, least)
  const body = { min_decryption_version: least }
  const { status } = await connection.call('root', 'POST', `transit/keys/${name}/config`, body)
  assert.equal(status, 200)
}

async function encrypt(connection: Connection, name: string, key: Known, random: PseudoRandom): Promise<void> {
  const before = key.latest
  const plaintext = Buffer.from(`plaintext ${random.int(2 ** 31)}`).toString('base64')
  const { status, data } = await connection.call('root', 'POST', `transit/encrypt/${name}`, { plaintext })
  assert.equal(status, 200)
  const version = Number(data.key_version)
  assert.ok(version >= before, `${name} encrypted with version ${version} after ${before} was answered`)
  key.ciphertexts.push({ ciphertext: String(data.ciphertext), version, plaintext })
}

/** Whether it was decrypted; where it was not, its version must be below a limit that somebody asked for. */
async function decrypt(
  connection: Connection,
  name: string,
  { ciphertext, version, plaintext }: Known['ciphertexts'][number],
  key: Known,
): Promise<boolean> {
  const { status, data } = await connection.call('root', 'POST', `transit/decrypt/${name}`, { ciphertext })
  if (status === 200) assert.equal(data.plaintext, plaintext)
  else {
    assert.equal(status, 400)
    assert.ok(version < key.leastAsked, `version ${version} of ${name} is not below ${key.leastAsked}`)
  }
  return status === 200
}
