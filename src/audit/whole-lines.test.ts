import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { importSigningKey, newSigningKey, publicKeyText, signText } from '../crypto/signatures/text-signature.ts'
import { openAuditFile } from './audit-file.ts'
import { LineStream } from './line-stream.ts'
import { Verification } from './verify.ts'
import { wholeLines } from './whole-lines.ts'

const signingKey = importSigningKey(newSigningKey(randomBytes))
const publicKey = publicKeyText(signingKey)
let time = 0

const newStream = (id: string): LineStream =>
  new LineStream({
    id: id.repeat(16),
    prefix: '',
    time: () => new Date(time++).toISOString(),
    sign: (text) => signText(signingKey, text),
  })

function start(stream: LineStream, found: readonly object[] = []): void {
  const named = JSON.stringify(found)
  stream.mark('start', `,"device":"file/","thread":"serving","public_key":"${publicKey}","found":${named}`)
}

/** So many bytes of what waits, and no more. */
function store(stream: LineStream, bytes = stream.length): string {
  const text = stream.gathered.subarray(0, bytes).toString('latin1')
  stream.settle(bytes)
  return text
}

const entry = (stream: LineStream): void => stream.append('request', '"request":{"path":"a"}', '')

function faultsIn(log: string): readonly string[] {
  const verification = new Verification({ publicKey })
  for (const [at, line] of log.split('\n').entries()) verification.take(Buffer.from(line, 'latin1'), `log:${at + 1}`)
  return verification.finish().faults
}

// The page about a lost audit device met it, followed on a disk that cuts a write at the end of a block.
test('F-04: whatever a full disk leaves of a line, later chains name what is whole, and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-test-'))
  try {
    const path = join(directory, 'audit.log')
    for (const isBehind of [true, false]) {
      for (let cut = 1, longest = 2; cut < longest; cut++) {
        const [one, two, three] = [newStream('A'), newStream('B'), newStream('C')]
        start(one)
        start(two)
        let log = store(one) + store(two)
        entry(one)
        longest = one.length
        log += store(one, cut)
        // Another thread's line, glued to the piece; then one that begins with the newline that is missing.
        entry(two)
        if (isBehind) log += store(two)
        writeFileSync(path, isBehind ? log : `${log}\n`)
        const { handle, found } = await openAuditFile(path, 0o600, 'any')
        await handle.close()
        start(three, found)
        three.mark('end')
        log += `${isBehind ? '' : '\n'}${store(three)}`
        entry(one)
        one.mark('end')
        two.mark('end')
        log += store(one) + store(two)
        assert.deepEqual(faultsIn(log), [], `${cut} bytes, ${isBehind ? 'behind' : 'before'} another line`)
      }
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('a line that is whole is taken once, and nothing of it is a piece', () => {
  const one = newStream('A')
  start(one)
  entry(one)
  const [first = '', second = ''] = store(one).split('\n')
  assert.deepEqual(
    wholeLines(`${first}${second}`).map(({ before, text }) => [before, text]),
    [
      ['', first],
      ['', second],
    ],
  )
  assert.deepEqual(
    wholeLines(`keywright: ${first.slice(0, 200)}${second}`).map(({ before, text }) => [before, text]),
    [[`keywright: ${first.slice(0, 200)}`, second]],
  )
  for (const none of ['', 'x', first.slice(0, -1), `${first}x`]) assert.deepEqual(wholeLines(none), [])
})

test('a line that somebody glued from very many is a piece, and is not parsed again and again', () => {
  const one = newStream('A')
  start(one)
  const [line = ''] = store(one).split('\n')
  assert.equal(wholeLines(line.repeat(20)).length, 20)
  assert.deepEqual(wholeLines(line.repeat(20_000)), [])
})
