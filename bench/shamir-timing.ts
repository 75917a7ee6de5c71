// Checks whether combining shares takes longer for some secrets than for others: Welch's t over two classes of shares.
// It is slow and needs a quiet machine, so it is no test: sh bin/with-runtime bench/shamir-timing.ts
import assert from 'node:assert/strict'
import { randomBytes, randomFillSync } from 'node:crypto'
import { multiply } from '../src/crypto/primitives/galois-field.ts'
import { combineShares } from '../src/crypto/primitives/shamir.ts'

const SHARE_BYTES = 33
const INPUTS = 4096
const SAMPLES = 200_000
const RUNS = 3
/** Beyond this t the classes differ, with a chance of error below one in 100,000. */
const T_LIMIT = 4.5

type Work = (shares: readonly Buffer[]) => unknown
type Input = { readonly shares: readonly Buffer[]; readonly fixed: boolean }

/** Draws the inputs of both classes, in random order in one block of memory: its place must not tell the class. */
function drawInputs(): Input[] {
  const block = Buffer.alloc(INPUTS * 2 * SHARE_BYTES)
  return [...randomBytes(INPUTS)].map((label, index) => {
    const at = index * 2 * SHARE_BYTES
    const shares = [block.subarray(at, at + SHARE_BYTES), block.subarray(at + SHARE_BYTES, at + 2 * SHARE_BYTES)]
    const fixed = (label & 1) === 1
    shares.forEach((share, x) => {
      if (!fixed) randomFillSync(share)
      share.writeUInt8(x + 5, SHARE_BYTES - 1)
    })
    return { shares, fixed }
  })
}

/** Returns the mean and its variance without the slowest tenth, which was interrupted. */
function summary(samples: number[]): { mean: number; variance: number } {
  const kept = samples.sort((a, b) => a - b).slice(0, Math.floor(samples.length * 0.9))
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const squares = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / (kept.length - 1) / kept.length }
}

function welchT(work: Work): number {
  const inputs = drawInputs()
  for (const { shares } of inputs) work(shares)
  const times: { readonly fixed: number[]; readonly random: number[] } = { fixed: [], random: [] }
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const input = inputs[sample % INPUTS]
    assert.ok(input !== undefined)
    const start = process.hrtime.bigint()
    work(input.shares)
    const took = Number(process.hrtime.bigint() - start)
    times[input.fixed ? 'fixed' : 'random'].push(took)
  }
  const [fixed, random] = [summary(times.fixed), summary(times.random)]
  return (fixed.mean - random.mean) / Math.sqrt(fixed.variance + random.variance)
}

/** True if every run finds a difference, and in the same direction. */
function leaks(work: Work, report: (line: string) => void): boolean {
  welchT(work)
  const values = Array.from({ length: RUNS }, () => welchT(work))
  report(`t = ${values.map((t) => t.toFixed(1)).join(', ')}`)
  return values.every((t) => t > T_LIMIT) || values.every((t) => t < -T_LIMIT)
}

/** S-01: the measurement must find arithmetic that skips zeros, or it proves nothing. */
const skipsZeros: Work = (shares) =>
  shares.map((share) => share.reduce((sum, byte) => (byte === 0 ? sum : sum ^ multiply(byte, 7)), 0))

const report = (name: string) => (line: string) => console.log(`${name}: ${line}`)
const measures = leaks(skipsZeros, report('arithmetic that skips zeros'))
const leaking = leaks(combineShares, report('combining shares, zeros against random bytes'))
if (!measures) console.log('the measurement does not find a known leak on this machine: too much else is running')
if (leaking) console.log('combining shares takes longer for some secrets')
process.exitCode = measures && !leaking ? 0 : 1
