// HCL_INPUTS=1000000 node --test test/fuzz/hcl.test.ts runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PolicyError, parsePolicyDocument } from '../../src/auth/policy.ts'
import { HclError, parseHcl } from '../../src/lib/hcl.ts'
import type { HclValue } from '../../src/lib/hcl-tree.ts'
import { hclInput } from '../fixtures/hcl-inputs.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'

const INPUTS = Number(process.env.HCL_INPUTS ?? 20_000)

/** HCL that holds the same values, by other means than the text that was read. Undefined where JSON's null is in it. */
function written(value: HclValue): string | undefined {
  if (value.kind === 'null') return undefined
  if (value.kind === 'string') return quoted(value.value)
  if (value.kind === 'list') {
    const elements = value.elements.map(written)
    return elements.includes(undefined) ? undefined : `[${elements.join(', ')}]`
  }
  if (value.kind !== 'object') return String(value.value)
  const items: string[] = []
  for (const item of value.items) {
    const inner = written(item.value)
    if (inner === undefined) return undefined
    const head = [item.key, ...item.labels].map(quoted).join(' ')
    items.push(item.labels.length > 0 ? `${head} ${inner}` : `${head} = ${inner}`)
  }
  return `{\n${items.join('\n')}\n}`
}

function quoted(text: string): string {
  const codes = [...text].map((character) => (character.codePointAt(0) ?? 0).toString(16).padStart(8, '0'))
  return `"${codes.map((code) => `\\U${code}`).join('')}"`
}

/** Without places: those differ when the same thing is written differently. */
function values(value: HclValue): unknown {
  if (value.kind === 'list') return value.elements.map(values)
  if (value.kind !== 'object') return value.value
  return value.items.map((item) => [item.key, item.labels, values(item.value)])
}

/** Whether the text could be read; everything that must hold of one input. */
function isReadable(text: string): boolean {
  let isAccepted = false
  try {
    const body = parseHcl(text)
    isAccepted = true
    const again = written(body)
    if (again !== undefined) assert.deepEqual(values(parseHcl(again.slice(1, -1))), values(body), JSON.stringify(text))
  } catch (error) {
    if (!(error instanceof HclError)) throw new Error(`Escaped from ${JSON.stringify(text)}`, { cause: error })
    assert.ok(error.line >= 1 && error.column >= 1 && error.message.length < 200, JSON.stringify(text))
  }
  try {
    parsePolicyDocument(text)
  } catch (error) {
    if (!(error instanceof PolicyError)) throw new Error(`Escaped from ${JSON.stringify(text)}`, { cause: error })
    assert.ok(error.message.length < 400, JSON.stringify(text))
  }
  return isAccepted
}

test('fuzz: hcl and policies throw only their own errors, and read back what they read', (context) => {
  const random = pseudoRandom(testSeed(context))
  let accepted = 0
  for (let done = 0; done < INPUTS; done++) {
    const text = hclInput(random)
    if (isReadable(text)) accepted++
  }
  context.diagnostic(`accepted ${accepted} of ${INPUTS}`)
  // Inputs that are all refused would test half of the parser.
  assert.ok(accepted > INPUTS * 0.05)
})
