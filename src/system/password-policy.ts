// Rules for passwords that the server makes: how long, of which characters, and how many of which at least.
//
//   length = 20
//   rule "charset" {
//     charset   = "abcdefghijklmnopqrstuvwxyz"
//     min-chars = 1
//   }
import type { RandomBytes } from '../crypto/primitives/random-bytes.ts'
import { blocksOf, type HclBlock, HclError, itemsOf, parseHcl, scalar } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'

export type CharacterRule = { readonly characters: string; readonly minimum: number }
export type PasswordPolicy = { readonly length: number; readonly rules: readonly CharacterRule[] }

/** Why a text is no such policy. */
export class PasswordPolicyError extends Error {
  override name = 'PasswordPolicyError'
}

const MIN_LENGTH = 4
const MAX_LENGTH = 100
const MAX_RULES = 100
const MAX_CHARACTERS = 1_000
const MAX_TEXT = 65_536

/** @throws PasswordPolicyError that names what is wrong, in a text that may be HCL or JSON */
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

function ruleOf({ labels, body, line }: HclBlock): CharacterRule {
  const where = `rule in line ${line}`
  if (labels[0] !== 'charset') throw new PasswordPolicyError(`${where}: only rule "charset" is offered`)
  requireKnown(body, ['charset', 'min-chars'])
  const characters = itemsOf(body, 'charset').map(({ value }) => scalar(value))[0]
  if (typeof characters !== 'string' || characters === '')
    throw new PasswordPolicyError(`${where}: charset must be text with the characters`)
  const distinct = [...new Set(characters)].join('')
  if ([...distinct].length > MAX_CHARACTERS || !distinct.isWellFormed() || /\p{C}/u.test(distinct))
    throw new PasswordPolicyError(`${where}: charset must have at most ${MAX_CHARACTERS} characters, all printable`)
  const minimum = wholeNumber(body, 'min-chars') ?? 0
  if (minimum < 0) throw new PasswordPolicyError(`${where}: min-chars must not be negative`)
  return { characters: distinct, minimum }
}

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
 * A password that keeps the policy: first of each rule as many characters as it asks for, then of all, in an order by
 * chance. So every policy that can be kept at all is kept at once.
 */
export function generatePassword({ length, rules }: PasswordPolicy, random: RandomBytes): string {
  const draw = new FairDraw(random)
  const all = [...new Set(rules.flatMap(({ characters }) => [...characters]))]
  const chosen = rules.flatMap(({ characters, minimum }) => {
    const set = [...characters]
    return Array.from({ length: minimum }, () => set[draw.below(set.length)] as string)
  })
  while (chosen.length < length) chosen.push(all[draw.below(all.length)] as string)
  // Fisher and Yates.
  for (let at = chosen.length - 1; at > 0; at--) {
    const other = draw.below(at + 1)
    const character = chosen[at] as string
    chosen[at] = chosen[other] as string
    chosen[other] = character
  }
  return chosen.join('')
}

const DRAWS_AT_ONCE = 128
const RANGE = 2 ** 16

/** Numbers below a bound, each as likely as any other. */
class FairDraw {
  readonly #random: RandomBytes
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(random: RandomBytes) {
    this.#random = random
  }

  /** `bound` is at most 2^16. */
  below(bound: number): number {
    // What is beyond the last whole multiple would make the first numbers likelier.
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
