// Sentences of the grammar of HCL 1, made together with what they mean, in all the ways in which one thing can be
// written: the parser must accept each and read that meaning. HCL_SENTENCES=1000000 runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHcl } from '../../src/lib/hcl.ts'
import type { HclValue } from '../../src/lib/hcl-tree.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'

const SENTENCES = Number(process.env.HCL_SENTENCES ?? 10_000)

type Scalar = string | number | boolean
type Meaning = Scalar | { readonly list: readonly Meaning[] } | { readonly items: readonly Item[] }
type Item = { readonly key: string; readonly labels: readonly string[]; readonly value: Meaning }
/** A piece of text and what it means. */
type Written<T> = { readonly text: string; readonly means: T }

const WORDS = ['path', 'a', '_b', 'key-1', 'x.y', 'capabilities', 'trueish', 'nullx', 'E', 'null']
const CHARACTERS = ['a', 'Z', '0', ' ', '/', '*', '+', '{', '}', '{{', '}}', '$', '#', '//', "'", 'é', '東', '😀', '\t']
const ESCAPED: readonly [string, string][] = [
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\t', '\t'],
  ['\\"', '"'],
  ['\\\\', '\\'],
  ['\\a', '\x07'],
  ['\\v', '\v'],
  ['\\x41', 'A'],
  ['\\101', 'A'],
  ['\\u00e9', 'é'],
  ['\\U0001F600', '😀'],
]
const NUMBERS: readonly [string, number][] = [
  ['0', 0],
  ['7', 7],
  ['-12', -12],
  ['0x1F', 31],
  ['-0xff', -255],
  ['017', 15],
  ['1.5', 1.5],
  ['-2.25e2', -225],
  ['3e-2', 0.03],
  ['1E+3', 1000],
]
const BLANKS = ['', ' ', '\n', '\t', '\r\n', '# "\n', '// {\n', '/* } " */', '/* \n */', '  ']

/** Where two words would run into one another. */
const gap = (random: PseudoRandom): string => ` ${random.pick(BLANKS)}`
const blank = (random: PseudoRandom): string => random.pick(BLANKS)

function quoted(random: PseudoRandom): Written<string> {
  let [text, means] = ['', '']
  for (const character of random.several(0, 6, () => random.pick(CHARACTERS))) {
    const [written, meant] = random.chance(0.2) ? random.pick(ESCAPED) : [character, character]
    // `${` begins something in which quotes mean nothing; it has its own piece below.
    if (means.endsWith('$') && meant.startsWith('{')) continue
    text += written
    means += meant
  }
  if (random.chance(0.05)) return { text: `"${text}\${x["k"]}"`, means: `${means}\${x["k"]}` }
  return { text: `"${text}"`, means }
}

function hereDocument(random: PseudoRandom): Written<string> {
  const lines = random.several(0, 3, () => random.pick(['a', 'b "c" # d', '', 'EO', '{', '  e']))
  const end = random.pick(['\n', '\r\n'])
  const all = (indentation: string) => lines.map((line) => indentation + line + end).join('')
  const means = lines.map((line) => `${line}\n`).join('')
  return random.chance(0.5)
    ? { text: `<<EOT${end}${all('')}EOT\n`, means }
    : { text: `<<-EOT${end}${all('    ')}    EOT\n`, means }
}

function scalar(random: PseudoRandom): Written<Scalar> {
  const kind = random.int(8)
  if (kind < 4) return quoted(random)
  if (kind === 4) return hereDocument(random)
  if (kind === 5) return random.pick([true, false].map((means) => ({ text: String(means), means })))
  const [text, means] = random.pick(NUMBERS)
  return { text, means }
}

function value(random: PseudoRandom, depth: number): Written<Meaning> {
  const kind = depth > 3 ? 0 : random.int(6)
  if (kind === 4) return list(random, depth)
  return kind === 5 ? object(random, depth) : scalar(random)
}

function list(random: PseudoRandom, depth: number): Written<Meaning> {
  const elements = random.several(0, 3, () => value(random, depth + 1))
  const texts = elements.map(({ text }) => blank(random) + text + blank(random))
  const trailing = elements.length > 0 && random.chance(0.3) ? `,${blank(random)}` : ''
  return {
    text: `[${texts.join(',')}${trailing}${blank(random)}]`,
    means: { list: elements.map(({ means }) => means) },
  }
}

function object(random: PseudoRandom, depth: number): Written<Meaning> {
  const { text, means } = items(random, depth + 1)
  return { text: `{${blank(random)}${text}${blank(random)}}`, means: { items: means } }
}

function key(random: PseudoRandom): Written<string> {
  if (random.chance(0.4)) return quoted(random)
  const word = random.pick(WORDS)
  return { text: word, means: word }
}

function item(random: PseudoRandom, depth: number): Written<Item> {
  const first = key(random)
  if (random.chance(0.5)) {
    const { text, means } = value(random, depth)
    const written = `${first.text}${blank(random)}=${blank(random)}${text}`
    return { text: written, means: { key: first.means, labels: [], value: means } }
  }
  const labels = random.several(0, 2, () => key(random))
  const body = object(random, depth)
  const head = [first, ...labels].map(({ text }) => text + gap(random)).join('')
  return {
    text: head + body.text,
    means: { key: first.means, labels: labels.map(({ means }) => means), value: body.means },
  }
}

function items(random: PseudoRandom, depth: number): Written<Item[]> {
  const all = random.several(0, depth === 0 ? 4 : 2, () => item(random, depth))
  const separator = () => (random.chance(0.2) ? `${blank(random)},` : '') + gap(random)
  return { text: all.map(({ text }) => text + separator()).join(''), means: all.map(({ means }) => means) }
}

function meaningOf(read: HclValue): Meaning {
  if (read.kind === 'list') return { list: read.elements.map(meaningOf) }
  if (read.kind === 'object') {
    return {
      items: read.items.map(({ key: name, labels, value: held }) => ({ key: name, labels, value: meaningOf(held) })),
    }
  }
  assert.ok(read.kind !== 'null' && typeof read.value !== 'bigint')
  return read.value
}

test('fuzz: every sentence of the grammar is read as it is meant', (context) => {
  const random = pseudoRandom(testSeed(context))
  let longest = 0
  for (let done = 0; done < SENTENCES; done++) {
    const { text, means } = items(random, 0)
    const whole = blank(random) + text + blank(random)
    const read = meaningOf(parseHcl(whole))
    assert.deepEqual(read, { items: means }, JSON.stringify(whole))
    longest = Math.max(longest, text.length)
  }
  // Sentences that are all short would nest nothing.
  assert.ok(longest > 300)
})
