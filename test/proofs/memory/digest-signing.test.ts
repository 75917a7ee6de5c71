// P-14: signing over a digest computes with the private number in our own code. Nothing of it stays behind.
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { countInMemory, formsOf } from '../../fixtures/process-memory.ts'

const SOURCE = new URL('../../../src/crypto/', import.meta.url)
const skip = process.platform !== 'linux' && 'there is no /proc'

/** On its way to the program the number is hidden: what is read leaves copies. */
const MASK = 0x5a

/** Reads a private number, forgets it but for the key, signs, says so and waits. */
const SIGNER = `
  import { createPrivateKey, randomBytes } from 'node:crypto'
  import { signDigest } from '${SOURCE}signatures/ecdsa-over-digest.ts'
  import { P256 } from '${SOURCE}forms/ec-curves.ts'
  process.stdin.once('data', (hidden) => {
    const scalar = Buffer.alloc(32)
    for (let at = 0; at < 32; at += 1) scalar[at] = hidden[at] ^ ${MASK}
    const key = createPrivateKey({ key: scalar, format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: 'P-256' })
    scalar.fill(0)
    for (let count = 0; count < 200; count += 1) signDigest(P256, key, randomBytes(32))
    process.stdout.write('done')
    process.stdin.on('data', () => console.log(key.type))
  })
`

test('P-14 after signatures over digests the number is in memory once: where the loaded key has it', {
  skip,
}, async () => {
  const scalar = randomBytes(32)
  scalar[0] = 0x7f
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', SIGNER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    child.stdin.write(Buffer.from(scalar.map((byte) => byte ^ MASK)))
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    assert.equal(String(said), 'done')
    const lowestFirst = Buffer.from(scalar).reverse()
    const forms = [...formsOf('number', scalar), ...formsOf('lowest first', lowestFirst)]
    const counts = countInMemory(child.pid ?? assert.fail(), new Map(forms))
    assert.deepEqual(
      [...counts].filter(([, count]) => count > 0),
      [['lowest first raw', 1]],
    )
  } finally {
    if (child.kill('SIGKILL')) await once(child, 'exit')
  }
})
