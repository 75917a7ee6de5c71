// The form of a command of the client. Dispatch, parsing, help, completion and docs/cli.md know commands only by it.
import type { ExitCode } from './cli-error.ts'
import type { CliIo } from './io.ts'
import type { OptionTable, OptionValues } from './options.ts'

/** One run of a command: the process around it, and the options and arguments as they were parsed. */
export type CommandCall<T extends OptionTable> = {
  readonly io: CliIo
  readonly options: OptionValues<T>
  /** The arguments; their number is within what `args` of the command allows. */
  readonly args: readonly string[]
  /** All commands, for completion. */
  readonly commands: CommandGroup
}

/** The kind of an argument that can be completed: a path of the API, or a name that the server can list. */
export type Completes = 'path' | 'policy' | 'namespace' | 'secrets' | 'auth'

type Described = {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
}

/** A command as its file declares it, with the types of its own options. */
export type Definition<T extends OptionTable> = Described & {
  /** The arguments as the help shows them, options aside. */
  readonly usage: string
  /** Paragraphs of the help. */
  readonly describe: readonly string[]
  /** Command lines that work, without `keywright`. Tests parse each. */
  readonly examples: readonly string[]
  readonly options: T
  /** Names of the arguments that must be given, and the greatest number that may be. */
  readonly args: { readonly needed: readonly string[]; readonly most: number }
  /** Kinds of names that the shell can offer for the arguments, in their order; files if it is missing. */
  readonly completes?: readonly Completes[]
  readonly run: (call: CommandCall<T>) => Promise<ExitCode>
}

/** A definition whose option types are erased. It is safe: values are always parsed from the command's own table. */
export type Command = Omit<Definition<OptionTable>, 'run'> & {
  readonly run: (call: CommandCall<never>) => Promise<ExitCode>
}

/** Commands under a common first word. */
export type CommandGroup = Described & {
  readonly members: readonly CommandNode[]
  /** Words that are handled before a command is looked for here. They are listed in the help. */
  readonly elsewhere?: readonly Described[]
}
/** A node of the tree of commands. */
export type CommandNode = Command | CommandGroup

/** Erases the types of the options, so that commands of different options fit in one table. */
export function command<const T extends OptionTable>(definition: Definition<T>): Command {
  return definition as unknown as Command
}

/** True if more words are needed to name a command. */
export function isGroup(node: CommandNode): node is CommandGroup {
  return 'members' in node
}
