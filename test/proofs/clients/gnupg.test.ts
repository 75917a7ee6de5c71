// Messages to OpenPGP keys, read by GnuPG where it is there. It starts an agent beside it.
import { strict as assert } from 'node:assert'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPgpKey } from '../../../src/crypto/pgp.ts'
import { inlineWork } from '../../../src/lib/slow-work.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { without } from '../../fixtures/debian-packages.ts'
import { followedServers } from '../../fixtures/replicated-servers.ts'

const slow = inlineWork(realWorld())
/** GnuPG makes its keys by the clock of the machine, and none may be from the future. */
const clock = { nowMs: () => Date.now() + 2000, monotonicMs: () => 0 }

/** A key ring of its own for each run; its agent ends with it. */
function gpgHome() {
  const home = mkdtempSync(join(tmpdir(), 'kw-gpg-'))
  const base = ['--homedir', home, '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '']
  return {
    gpg: (args: readonly string[], input: Buffer = Buffer.alloc(0)): Buffer =>
      execFileSync('gpg', [...base, ...args], { stdio: ['pipe', 'pipe', 'ignore'], input }),
    end: (): void => {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

test('a message to a key of GnuPG opens there', { skip: without('gpg') }, async () => {
  const { gpg, end } = gpgHome()
  try {
    gpg(['--quick-generate-key', 'holder', 'default', 'default', 'never'])
    const key = await readPgpKey(gpg(['--export', 'holder']), clock, slow)
    assert.ok(gpg(['--list-keys', '--with-colons']).toString().includes(key.fingerprint.toUpperCase()))
    assert.equal(gpg(['--decrypt'], await key.encrypt('the text')).toString(), 'the text')
  } finally {
    end()
  }
})

/** Parts of a key of each kind: what certifies, and what is encrypted to. */
const KINDS = [
  { name: 'RSA', primary: 'rsa2048', subkey: 'rsa2048' },
  { name: 'Curve25519', primary: 'ed25519', subkey: 'cv25519' },
  { name: 'P-256', primary: 'nistp256', subkey: 'nistp256' },
]
/** Virtual time is behind the clock of the machine. */
const LONG_AGO = ['--faked-system-time', '20200101T000000']
for (const { name, primary, subkey } of KINDS) {
  test(`T88: an operation token for a key of GnuPG (${name}) opens there`, { skip: without('gpg') }, async () => {
    const { gpg, end } = gpgHome()
    try {
      gpg([...LONG_AGO, '--quick-generate-key', 'holder', primary, 'cert', 'never'])
      const [, fingerprint = ''] = /^fpr:+([0-9A-F]+):/m.exec(gpg(['--list-keys', '--with-colons']).toString()) ?? []
      gpg([...LONG_AGO, '--quick-add-key', fingerprint, subkey, 'encr', 'never'])
      const { primary: followed, secondary } = await followedServers(88)
      const at = 'sys/replication/dr/secondary'
      const pgp_key = gpg(['--export', 'holder']).toString('base64')
      const started = (await secondary.must('POST', `${at}/generate-operation-token/attempt`, { pgp_key }, '')).body
      assert.equal(started.pgp_fingerprint, fingerprint.toLowerCase())
      const given = { key: followed.server.shares[0]?.toString('hex'), nonce: started.nonce }
      const { body } = await secondary.must('POST', `${at}/generate-operation-token/update`, given, '')
      const token = gpg(['--decrypt'], Buffer.from(String(body.encoded_token), 'base64')).toString()
      assert.match(token, /^hvs\.[0-9A-Za-z]{24}$/)
      await secondary.must('POST', `${at}/operation-token/delete`, { dr_operation_token: token }, '')
    } finally {
      end()
    }
  })
}
