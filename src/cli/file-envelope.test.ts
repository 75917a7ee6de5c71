import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../test/fixtures/seed.ts'
import { ByteReader } from './byte-reader.ts'
import { CliError } from './cli-error.ts'
import {
  encodeEnvelopeHeader,
  FIXED_BYTES,
  fileKey,
  isFileEnvelope,
  openSegments,
  readHeader,
  SEGMENT_BYTES,
  sealSegments,
} from './file-envelope.ts'

const TAG_BYTES = 16
const SALT = Buffer.alloc(32, 7)
const DATA_KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index))

/** Yields parts of odd lengths, as files and pipes give them. */
async function* inParts(bytes: Buffer, partBytes = 50_021): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}

async function collect(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

const key = fileKey(DATA_KEY, SALT)
const sealed = (content: Buffer) => collect(sealSegments(key, new ByteReader(inParts(content))))
const opened = (bytes: Buffer, partBytes?: number) =>
  collect(openSegments(key, new ByteReader(inParts(bytes, partBytes)), 'f'))

for (const bytes of [0, 1, SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 3 * SEGMENT_BYTES]) {
  test(`a file of ${bytes} bytes is what it was`, async () => {
    const content = randomBytes(bytes)
    const file = await sealed(content)
    assert.equal(file.length, bytes + TAG_BYTES * Math.max(1, Math.ceil(bytes / SEGMENT_BYTES)))
    assert.deepEqual(await opened(file), content)
    assert.deepEqual(await opened(file, 7), content)
  })
}

test('what was changed anywhere, cut, lengthened or moved does not open', async (context) => {
  const content = randomBytes(2 * SEGMENT_BYTES + 100)
  const file = await sealed(content)
  const step = SEGMENT_BYTES + TAG_BYTES
  const wrong = [
    file.subarray(0, step),
    file.subarray(0, 2 * step),
    file.subarray(0, -1),
    file.subarray(step),
    Buffer.concat([file, Buffer.alloc(1)]),
    Buffer.concat([file.subarray(step, 2 * step), file.subarray(0, step), file.subarray(2 * step)]),
    Buffer.alloc(0),
  ]
  for (const bytes of wrong) await assert.rejects(opened(bytes), /was changed or cut short/)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: file.length * 8 - 1 }), async (bit) => {
      const changed = Buffer.from(file)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await assert.rejects(opened(changed), CliError)
    }),
    { seed: testSeed(context), numRuns: 20 },
  )
})

test('the header comes back, and one that cannot be is refused by its name', async () => {
  const header = { wrappedKey: 'vault:v1:abcd', salt: SALT }
  const bytes = encodeEnvelopeHeader(header)
  const read = async (given: Buffer) => {
    const reader = new ByteReader(inParts(given, 5))
    return await readHeader(await reader.take(FIXED_BYTES), reader, 'f')
  }
  assert.deepEqual(await read(bytes), header)
  assert.ok(isFileEnvelope(bytes))
  assert.ok(!isFileEnvelope(Buffer.from('vault:v1:abcd')))
  for (let length = 7; length < bytes.length; length++) await assert.rejects(read(bytes.subarray(0, length)), CliError)
  for (const [at, says] of [
    [7, /format 9\.1\.16/],
    [8, /format 1\.9\.16/],
    [9, /format 1\.1\.9/],
  ] as const) {
    const other = Buffer.from(bytes)
    other[at] = 9
    await assert.rejects(read(other), says)
  }
})

// docs/file-format.md has the same example.
test('the bytes are those of the format', async () => {
  const header = encodeEnvelopeHeader({ wrappedKey: 'vault:v1:abcd', salt: SALT })
  const file = Buffer.concat([header, await sealed(Buffer.from('the quick brown fox'))])
  assert.equal(
    file.toString('hex'),
    '4b5746494c450001' +
      '01' +
      '10' +
      '000d' +
      '7661756c743a76313a61626364' +
      '07'.repeat(32) +
      // Made by another program (Python's cryptography).
      '820aee217b77f15c64b68437ce6ae600d8fb53febdd82cd9c705c84a0bbcdd9ff7a25e',
  )
})
