// Rules for passwords that the server makes: the length, the characters, and how many of each set at least.
//
//   length = 20
//   rule "charset" {
//     charset   = "abcdefghijklmnopqrstuvwxyz"
//     min-chars = 1
//   }
import type { RandomBytes } from '../crypto/primitives/random-bytes.ts'
import { blocksOf, type HclBlock, HclError, itemsOf, parseHcl, scalar } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'

/** A set of distinct characters, of which a password has at least `minimum`. */
export type CharacterRule = { readonly characters: string; readonly minimum: number }
/** A parsed policy. The minima of its rules add up to `length` at most, so some password always fulfils it. */
export type PasswordPolicy = { readonly length: number; readonly rules: readonly CharacterRule[] }

/** Why a text is not a password policy, in words for its author. Endpoints answer 400 with its message. */
export class PasswordPolicyError extends Error {
  override name = 'PasswordPolicyError'
}

// Lengths in characters. The bounds keep parsing and generating quick: both run on the thread that serves.
const MIN_LENGTH = 4
const MAX_LENGTH = 100
const MAX_RULES = 100
const MAX_CHARACTERS = 1_000
const MAX_TEXT = 65_536

/** Parses a policy in HCL or JSON. @throws PasswordPolicyError naming what is wrong, with its line if there is one */
export function parsePasswordPolicy(text: string): PasswordPolicy {
  if (text.length > MAX_TEXT) throw new PasswordPolicyError(`longer than ${MAX_TEXT} characters`)
  try {
    return policyOf(parseHcl(text))
  } catch (cause) {
    if (cause instanceof HclError) throw new PasswordPolicyError(cause.message)
    throw cause
  }
}

function policyOf(body: HclObject): PasswordPolicy {
  requireKnown(body, ['length', 'rule'])
  const length = wholeNumber(body, 'length')
  if (length === undefined || length < MIN_LENGTH || length > MAX_LENGTH)
    throw new PasswordPolicyError(`length must be a number from ${MIN_LENGTH} to ${MAX_LENGTH}`)
  const rules = blocksOf(body, 'rule', 1).map(ruleOf)
  if (rules.length === 0) throw new PasswordPolicyError('at least one rule "charset" says which characters there are')
  if (rules.length > MAX_RULES) throw new PasswordPolicyError(`more than ${MAX_RULES} rules`)
  const needed = rules.reduce((sum, { minimum }) => sum + minimum, 0)
  if (needed > length) throw new PasswordPolicyError(`the rules ask for ${needed} characters, the length is ${length}`)
  return { length, rules }
}

/** A rule "charset". Characters are code points: one outside the basic plane counts once. */
function ruleOf({ labels, body, line }: HclBlock): CharacterRule {
  const where = `rule in line ${line}`
  if (labels[0] !== 'charset') throw new PasswordPolicyError(`${where}: only rule "charset" is offered`)
  requireKnown(body, ['charset', 'min-chars'])
  const characters = itemsOf(body, 'charset').map(({ value }) => scalar(value))[0]
  if (typeof characters !== 'string' || characters === '')
    throw new PasswordPolicyError(`${where}: charset must be text with the characters`)
  // A character that is listed twice would be drawn twice as often.
  const distinct = [...new Set(characters)].join('')
  if ([...distinct].length > MAX_CHARACTERS || !distinct.isWellFormed() || /\p{C}/u.test(distinct))
    throw new PasswordPolicyError(`${where}: charset must have at most ${MAX_CHARACTERS} characters, all printable`)
  const minimum = wholeNumber(body, 'min-chars') ?? 0
  if (minimum < 0) throw new PasswordPolicyError(`${where}: min-chars must not be negative`)
  return { characters: distinct, minimum }
}

/** Refuses unknown and repeated keys: a misspelt rule would be left out in silence. */
function requireKnown(body: HclObject, known: readonly string[]): void {
  for (const [index, { key, line }] of body.items.entries()) {
    if (!known.includes(key)) throw new PasswordPolicyError(`line ${line}: unknown key, known are ${known.join(', ')}`)
    const isRepeated = key !== 'rule' && body.items.findIndex((other) => other.key === key) !== index
    if (isRepeated) throw new PasswordPolicyError(`line ${line}: ${key} stands twice`)
  }
}

function wholeNumber(body: HclObject, key: string): number | undefined {
  const [item] = itemsOf(body, key)
  if (item === undefined) return undefined
  const value = scalar(item.value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new PasswordPolicyError(`${key} must be a whole number`)
}

/**
 * Returns a password that fulfils the policy. It draws the minimum of each rule, fills up from all characters, and
 * shuffles. Differs: docs/differences.md#the-server. Drawing until a password fits may take for ever.
 */
export function generatePassword({ length, rules }: PasswordPolicy, random: RandomBytes): string {
  const draw = new FairDraw(random)
  const all = [...new Set(rules.flatMap(({ characters }) => [...characters]))]
  const chosen = rules.flatMap(({ characters, minimum }) => {
    const set = [...characters]
    return Array.from({ length: minimum }, () => set[draw.below(set.length)] as string)
  })
  while (chosen.length < length) chosen.push(all[draw.below(all.length)] as string)
  // The shuffle of Fisher and Yates: without it the characters of the rules would stand first.
  for (let at = chosen.length - 1; at > 0; at--) {
    const other = draw.below(at + 1)
    const character = chosen[at] as string
    chosen[at] = chosen[other] as string
    chosen[other] = character
  }
  return chosen.join('')
}

/** Draws per call of the random source: a password of 100 characters, shuffled, needs some 200. */
const DRAWS_AT_ONCE = 128
/** Values of one draw of two bytes. A policy has fewer characters than that, because its text has (MAX_TEXT). */
const RANGE = 2 ** 16

/** Uniform random numbers below a bound. */
class FairDraw {
  readonly #random: RandomBytes
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(random: RandomBytes) {
    this.#random = random
  }

  /** `bound` is at most 2^16. */
  below(bound: number): number {
    // A value beyond the last whole multiple of `bound` is drawn again: it would make small numbers likelier.
    const fair = RANGE - (RANGE % bound)
    for (;;) {
      const value = this.#next()
      if (value < fair) return value % bound
    }
  }

  #next(): number {
    if (this.#at + 2 > this.#bytes.length) {
      this.#bytes = this.#random(2 * DRAWS_AT_ONCE)
      this.#at = 0
    }
    const value = this.#bytes.readUInt16BE(this.#at)
    this.#at += 2
    return value
  }
}
