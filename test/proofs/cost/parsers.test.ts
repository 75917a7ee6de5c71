// What parsers compute, at most, for texts that are made to keep them busy.
// HCL_INPUTS=1000000 node --test test/proofs/cost/parsers.test.ts runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PolicyError, parsePolicyDocument } from '../../../src/auth/policy.ts'
import { DER, der, requireDer } from '../../../src/crypto/encoding/der.ts'
import { HclError, parseHcl } from '../../../src/lib/hcl.ts'
import { parseJson } from '../../../src/lib/json.ts'
import { hclInput } from '../../fixtures/hcl-inputs.ts'
import { leastMs, threadCpuMs } from '../../fixtures/measured.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'

const INPUTS = Number(process.env.HCL_INPUTS ?? 20_000)
/** No input of these is longer than a few kilobytes. */
const SLOWEST_INPUT_MS = 50
const INTERPOLATION = '$' + '{'

// The processor takes longer for the same, too, where others use its caches: what is slow by itself is so each time.

test('N-06: 8 MB of brackets are refused at once', async () => {
  const brackets = Buffer.alloc(8_000_000, '[')
  const refuse = () => assert.throws(() => parseJson(brackets), /nested deeper/)
  const ms = await leastMs(50, () => threadCpuMs(refuse))
  assert(ms < 50, `${ms} ms`)
})

test('JSON: a text of a million backslashes is crossed in time', async () => {
  const text = '\\'.repeat(1_000_000)
  const cross = () => assert.equal(parseJson(Buffer.from(JSON.stringify(text))), text)
  const ms = await leastMs(500, () => threadCpuMs(cross))
  assert(ms < 500, `${ms} ms`)
})

test('DER: what is deep or has many members is looked at soon', async () => {
  requireDer(Buffer.alloc(0))
  requireDer(Buffer.from('3008a003020101800101', 'hex'))
  let deep: Buffer = Buffer.alloc(0)
  for (let count = 0; count < 5_000; count += 1) deep = der(DER.sequence, deep)
  const wide = der(DER.sequence, Buffer.from('3000'.repeat(25_000), 'hex'))
  for (const bytes of [deep, wide]) {
    const milliseconds = await leastMs(50, () => threadCpuMs(() => requireDer(bytes)))
    assert.ok(milliseconds < 50, `${milliseconds} ms`)
  }
})

// Each of these would take many seconds if a position, a comment or a mark were searched for from the start each time.
const LONG: readonly { name: string; text: string }[] = [
  { name: 'items', text: 'a=1\n'.repeat(60_000) },
  { name: 'items on one line', text: 'a=1 '.repeat(60_000) },
  { name: 'blocks', text: 'path "a" {}\n'.repeat(20_000) },
  { name: 'labels', text: `${'a '.repeat(125_000)}{}` },
  { name: 'escapes', text: `a = "${'\\n'.repeat(125_000)}"` },
  { name: 'interpolations', text: `a = "${`${INTERPOLATION}}`.repeat(75_000)}"` },
  {
    name: 'lines of a here-document',
    text: `a = <<-${'E'.repeat(1000)}\n${`${'E'.repeat(9)}\n`.repeat(25_000)}${'E'.repeat(1000)}\n`,
  },
  { name: 'comments', text: '/**/'.repeat(60_000) },
  { name: 'list elements', text: `a = [${'0,'.repeat(125_000)}]` },
  { name: 'JSON members', text: `{"a":1${',"a":1'.repeat(40_000)}}` },
  { name: 'JSON escapes', text: `{"a":"${'\\n'.repeat(125_000)}"}` },
]
for (const { name, text } of LONG) {
  test(`hcl takes linear time for very many ${name}`, () => {
    const cpuMs = () => threadCpuMs(() => parseHcl(text))
    // Collecting garbage may take one run longer, not several.
    const ms = cpuMs()
    assert.ok(ms < 300 || Math.min(cpuMs(), cpuMs(), cpuMs()) < 300, `${ms} ms`)
  })
}

function read(text: string): void {
  for (const parse of [parseHcl, parsePolicyDocument]) {
    try {
      parse(text)
    } catch (cause) {
      if (!(cause instanceof HclError || cause instanceof PolicyError)) throw cause
    }
  }
}

test('hcl and policies are read or refused soon, whatever they are', (context) => {
  const random = pseudoRandom(testSeed(context))
  for (let done = 0; done < INPUTS; done++) {
    const text = hclInput(random)
    const cpuMs = () => threadCpuMs(() => read(text))
    // Garbage may be collected once; it is not at the same input each time.
    const isSoon = cpuMs() <= SLOWEST_INPUT_MS || Math.min(cpuMs(), cpuMs(), cpuMs()) < SLOWEST_INPUT_MS
    assert.ok(isSoon, JSON.stringify(text))
  }
})
