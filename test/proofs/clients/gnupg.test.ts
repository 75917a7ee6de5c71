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
