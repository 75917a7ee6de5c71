import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { cryptoTable, readSpeed } from './crypto-report.ts'

test('bench:crypto shows medians, the ratio to the raw call, and the program where it ran', () => {
  const lines = cryptoTable([
    { type: 'ed25519', work: 'sign', ours: [44, 40, 90], raw: [40, 40, 41], opensslPerSecond: 25_000 },
    { type: 'ecdsa-p256', work: 'sign a digest', ours: [600, 610] },
  ]).split('\n')
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()))
  assert.deepEqual(cells[2]?.slice(1, 7), ['ed25519', 'sign', '44.0', '40.0', '1.10 x', '40.0'])
  assert.deepEqual(cells[3]?.slice(1, 7), ['ecdsa-p256', 'sign a digest', '605.0', '', '', ''])
})

test('bench:crypto reads the figures of the program, for pairs of keys and for ciphers', () => {
  assert.deepEqual(readSpeed('+F4:3:256:50073.170732:16842.424242\n', 0), { first: 50073.170732, second: 16842.424242 })
  assert.deepEqual(readSpeed('+R6:1:2\n+F6:0:253:Ed25519:27963.6:9598.2\n', 0), { first: 27963.6, second: 9598.2 })
  assert.deepEqual(readSpeed('+H:128\n+F:25:AES-256-GCM:344472275.84\n', 128), {
    first: 2_691_189.655,
    second: 2_691_189.655,
  })
  assert.equal(readSpeed('speed: Unknown algorithm sm2\n', 0), undefined)
})
