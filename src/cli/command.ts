// What a command of the client is. Dispatch, parsing and help know commands only by this.
import type { ExitCode } from './cli-error.ts'
import type { CliIo } from './io.ts'
import type { OptionTable, OptionValues } from './options.ts'

export type CommandCall<T extends OptionTable> = {
  readonly io: CliIo
  readonly options: OptionValues<T>
  /** As many as `args` of the command allows. */
  readonly args: readonly string[]
  /** All commands, for those about commands. */
  readonly commands: CommandGroup
}

/** What stands at the place of an argument: a path of the API, or a name that the server can list. */
export type Completes = 'path' | 'policy' | 'secrets' | 'auth'

type Described = {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
}

export type Definition<T extends OptionTable> = Described & {
  /** What follows the name, options aside. */
  readonly usage: string
  /** Paragraphs. */
  readonly describe: readonly string[]
  /** What may be typed, without `keywright`. */
  readonly examples: readonly string[]
  readonly options: T
  /** Names of the arguments that must be there, and how many there may be. */
  readonly args: { readonly needed: readonly string[]; readonly most: number }
  /** What the shell can offer for the arguments, in their order; files where it is missing. */
  readonly completes?: readonly Completes[]
  readonly run: (call: CommandCall<T>) => Promise<ExitCode>
}

/** A definition whose option types are forgotten: the parser pairs it with values made from its own table. */
export type Command = Omit<Definition<OptionTable>, 'run'> & {
  readonly run: (call: CommandCall<never>) => Promise<ExitCode>
}

/** Commands under a common first word. */
export type CommandGroup = Described & {
  readonly members: readonly CommandNode[]
  /** Words that are understood before a command is looked for here. */
  readonly elsewhere?: readonly Described[]
}
export type CommandNode = Command | CommandGroup

export function command<const T extends OptionTable>(definition: Definition<T>): Command {
  return definition as unknown as Command
}

export function isGroup(node: CommandNode): node is CommandGroup {
  return 'members' in node
}
