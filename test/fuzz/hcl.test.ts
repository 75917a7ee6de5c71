// HCL_INPUTS=1000000 node --test test/fuzz/hcl.test.ts runs the long form.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PolicyError, parsePolicyDocument } from '../../src/auth/policy.ts'
import { HclError, type HclValue, parseHcl } from '../../src/lib/hcl.ts'
import { threadCpuMs } from '../fixtures/measured.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const FIXTURES = join(PROJECT, 'test/fixtures/policies')
const INPUTS = Number(process.env.HCL_INPUTS ?? 20_000)
/** No input here is longer than a few kilobytes. */
const SLOWEST_MS = 50

const SCRAPS = [
  'path',
  'capabilities',
  'a',
  '_x.y-z',
  'true',
  'false',
  'null',
  '"',
  '""',
  '"a"',
  '"\\"',
  '"\\n"',
  '"\\u0041"',
  '"\\x"',
  '"$' + '{',
  '}"',
  '{',
  '}',
  '[',
  ']',
  '=',
  ',',
  ':',
  '#',
  '//',
  '/*',
  '*/',
  '/',
  '<<',
  '<<-',
  '<<EOT\n',
  '\nEOT\n',
  'EOT',
  '<<-E\n  x\n  E\n',
  '0',
  '-',
  '-1',
  '0x',
  '0x1f',
  '1.5',
  '1e9',
  '1e',
  '09',
  '.',
  '+',
  '*',
  '{{',
  '}}',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\ufeff',
  '\u00a0',
  'é',
  '😀',
  '\ud800',
  '\udc00',
  '\\',
  "'",
  '`',
  '$',
  '{"path":{"a":{"capabilities":["read"]}}}',
]
const POLICIES = [
  'path "secret/*" { capabilities = ["read","list"] }',
  '# c\npath "a/+/b" {\n  capabilities = ["create", "update",]\n  min_wrapping_ttl = "1m"\n}\n',
  'path "a" {\n  allowed_parameters = { "x" = [] "y" = ["a*", 1, true] }\n  policy = "read"\n}\n',
  'path = { "x" = { policy = "write" } }\nname = <<-EOT\n  n\n  EOT\n',
  '{"path":[{"a/b":{"capabilities":["read"],"denied_parameters":{"x":[null,1.5,{"k":"v"}]}}}],"name":"n"}',
  'path "id/{{ identity.entity.aliases.acc.metadata.k }}/*" { capabilities = ["deny"] /* c */ }',
  ...readdirSync(FIXTURES).map((file) => readFileSync(join(FIXTURES, file), 'utf8')),
]

function input(random: PseudoRandom): string {
  const kind = random.int(4)
  if (kind === 0)
    return Buffer.from(random.several(0, 60, () => random.int(256))).toString(random.pick(['latin1', 'utf8']))
  if (kind === 1) return random.several(0, 30, () => random.pick(SCRAPS)).join(random.pick(['', ' ']))
  if (kind === 2) return random.pick(['{', '[', 'a{', 'a=[', '{"a":', '"', '<<E\n', '/*']).repeat(1 + random.int(200))
  let text = random.pick(POLICIES)
  for (let edits = random.int(4); edits >= 0; edits--) {
    const at = random.int(text.length + 1)
    const end = at + random.int(4)
    text =
      text.slice(0, at) + (random.chance(0.6) ? random.pick(SCRAPS) : '') + text.slice(random.chance(0.5) ? at : end)
  }
  return text
}

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

test('fuzz: hcl and policies throw only their own errors, in bounded time, and read back what they read', (context) => {
  const random = pseudoRandom(testSeed(context))
  let accepted = 0
  for (let done = 0; done < INPUTS; done++) {
    const text = input(random)
    const cpuMs = () => threadCpuMs(() => isReadable(text))
    const firstMs = threadCpuMs(() => {
      if (isReadable(text)) accepted++
    })
    // Garbage may be collected once; it is not at the same input each time.
    assert.ok(firstMs <= SLOWEST_MS || Math.min(cpuMs(), cpuMs(), cpuMs()) < SLOWEST_MS, JSON.stringify(text))
  }
  context.diagnostic(`accepted ${accepted} of ${INPUTS}`)
  // Inputs that are all refused would test half of the parser.
  assert.ok(accepted > INPUTS * 0.05)
})
