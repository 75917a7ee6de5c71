// Completion: the words that could come next on a command line, derived from the table of commands.

import { own } from '../lib/own.ts'
import { type CommandGroup, type CommandNode, type Completes, isGroup } from './command.ts'
import { COMMON_OPTIONS } from './common-options.ts'
import { isOption, type Option, type OptionTable, readOption } from './options.ts'

/** Finds names on the server for an argument that begins with `typed`. */
export type FindNames = (kind: Completes, typed: string) => Promise<readonly string[]>

/**
 * Returns what the last word can become, sorted. `words` are those behind the program's name, up to the cursor; the
 * last one may be empty. Where nothing is found the shell offers files.
 */
export async function candidates(
  commands: CommandGroup,
  words: readonly string[],
  findNames: FindNames,
): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const place = placeOf(commands, words.slice(0, -1))
  if (place === undefined) return []
  const found = await offersOf(place, typed, findNames)
  return found.filter((each) => each.startsWith(typed)).sort()
}

/** The position of the cursor: within which command, behind how many arguments, or inside an option. */
type Place = {
  readonly node: CommandNode
  /** Arguments before the cursor. */
  readonly args: number
  /** The option whose value is being typed. */
  readonly pending?: Option | undefined
}

/** Returns undefined if the words so far are no command. */
function placeOf(commands: CommandGroup, words: readonly string[]): Place | undefined {
  let node: CommandNode = commands
  let args = 0
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (isOption(word) && word !== '--') {
      const option = optionAt(optionsOf(node), words, at)
      if (option === undefined) continue
      if (at + option.width > words.length) return { node, args, pending: option.option }
      at += option.width - 1
    } else if (isGroup(node)) {
      const member: CommandNode | undefined = node.members.find(({ name }) => name === word)
      if (member === undefined) return undefined
      node = member
    } else args += 1
  }
  return { node, args }
}

function optionsOf(node: CommandNode): OptionTable {
  return isGroup(node) ? COMMON_OPTIONS : node.options
}

/** `width` is 2 if the value is the next word, even when that is not typed yet: the empty word stands in for it. */
function optionAt(table: OptionTable, words: readonly string[], at: number) {
  try {
    const { name, width } = readOption(table, [...words, ''], at)
    return { option: own(table, name), width }
    // An unknown option: the line is unfinished, and complaints do not belong at a prompt.
  } catch {
    return undefined
  }
}

async function offersOf({ node, args, pending }: Place, typed: string, findNames: FindNames): Promise<string[]> {
  if (pending !== undefined) return valuesOf(pending)
  if (typed.startsWith('-')) return optionOffers(optionsOf(node), typed)
  if (isGroup(node)) return [...node.members, ...(node.elsewhere ?? [])].map(({ name }) => name)
  const kind = node.completes?.[args]
  return kind === undefined ? [] : [...(await findNames(kind, typed))]
}

function optionOffers(table: OptionTable, typed: string): string[] {
  const dashes = typed.startsWith('--') ? '--' : '-'
  const equals = typed.indexOf('=')
  if (equals === -1) return Object.keys(table).map((name) => dashes + name)
  const option = own(table, typed.slice(dashes.length, equals))
  return option === undefined ? [] : valuesOf(option).map((value) => typed.slice(0, equals + 1) + value)
}

function valuesOf(option: Option): string[] {
  if (option.kind === 'flag') return ['true', 'false']
  return option.kind === 'text' ? [...(option.oneOf ?? [])] : []
}
