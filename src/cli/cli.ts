// The command-line client: finds the command, parses its options, runs it, and says what went wrong.
import { nearest } from '../lib/nearest.ts'
import { CliError, type ExitCode, RemoteFailure, UsageError } from './cli-error.ts'
import { type Command, type CommandGroup, type CommandNode, isGroup } from './command.ts'
import { COMMANDS } from './commands.ts'
import { COMMON_OPTIONS } from './common-options.ts'
import { commandHelpText } from './help-text.ts'
import { type CliIo, writeAll } from './io.ts'
import { isHelp, isOption, parseOptions, readOption } from './options.ts'
import { ShownRequest } from './shown-request.ts'

/** Other programs answer to these as well. They count as the first word alone. */
const VERSION_OPTIONS = ['-v', '-version', '--version']

/**
 * Runs one command line, without the program's name, and resolves to the exit code of the process. A defect is printed
 * with its stack, and ends with 1.
 */
export async function runCli(argv: readonly string[], io: CliIo, commands: CommandGroup = COMMANDS): Promise<number> {
  const words = VERSION_OPTIONS.includes(argv[0] ?? '') ? ['version', ...argv.slice(1)] : argv
  const found: Found = { node: commands, trail: [], rest: [...words], help: false }
  try {
    find(found)
    return isGroup(found.node) || found.help
      ? await showHelp(found, io)
      : await runCommand(found.node, found, io, commands)
  } catch (error) {
    return await report(error, found, io)
  }
}

/** How far the search for the command came; `find` changes it, so that an error can name the words already read. */
type Found = {
  node: CommandNode
  /** The words of the command so far, for messages. */
  trail: string[]
  /** Everything else in order: options and arguments. */
  rest: string[]
  help: boolean
}

/** Takes the words of the command out of the rest. The common options may stand before and between them. */
function find(found: Found): void {
  let at = 0
  while (isGroup(found.node) && at < found.rest.length) {
    const word = found.rest[at] ?? ''
    if (isOption(word)) {
      if (isHelp(word)) found.help = true
      at += isHelp(word) ? 1 : readOption(COMMON_OPTIONS, found.rest, at).width
      continue
    }
    found.rest.splice(at, 1)
    if (word === 'help' && found.trail.length === 0) found.help = true
    else {
      found.node = memberOf(found, word)
      found.trail.push(word)
    }
  }
}

function memberOf({ node, trail }: Found, word: string): CommandNode {
  const { members, elsewhere = [] } = isGroup(node) ? node : { members: [] }
  const member = members.find(({ name }) => name === word)
  if (member !== undefined) return member
  // src/main.ts takes `server` and `storage` as first words; here they can only stand behind an option.
  if (elsewhere.some(({ name }) => name === word)) throw new UsageError(`try \`keywright ${word} -h\``)
  const meant = nearest(
    word,
    [...members, ...elsewhere].map(({ name }) => name),
  )
  throw new UsageError(
    `there is no command ${[...trail, word].join(' ')}${meant === undefined ? '' : `, did you mean ${meant}?`}`,
  )
}

/** Prints help. Help that was asked for is the result, on standard output; otherwise a command was missing. */
async function showHelp({ node, trail, help }: Found, io: CliIo): Promise<ExitCode> {
  await writeAll(help ? io.stdout : io.stderr, commandHelpText(node, trail))
  return help ? 0 : 1
}

async function runCommand(
  command: Command,
  { trail, rest }: Found,
  io: CliIo,
  commands: CommandGroup,
): Promise<ExitCode> {
  const parsed = parseOptions(command.options, rest, io.env)
  if (parsed.kind === 'help') return await showHelp({ node: command, trail, rest, help: true }, io)
  checkCount(command, parsed.args)
  return await command.run({ io, options: parsed.options as never, args: parsed.args, commands })
}

/** Checks the number of arguments. The message does not repeat them: one too many may be a misplaced secret. */
function checkCount({ args: { needed, most } }: Command, args: readonly string[]): void {
  const missing = needed[args.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing`)
  if (args.length > most) throw new UsageError(`there are ${args.length} arguments, and at most ${most} are expected`)
}

async function report(error: unknown, { trail }: Found, io: CliIo): Promise<ExitCode> {
  const title = ['keywright', ...trail].join(' ')
  if (!(error instanceof CliError)) {
    // The reader of the pipe is gone, as behind `| head`: nothing is wrong that anyone could be told.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return 1
    await complain(io, `${title}: internal error: ${error instanceof Error ? error.stack : 'not an error object'}`)
    return 1
  }
  // -output-curl-string and -output-policy end the command in place of the request.
  if (error instanceof ShownRequest) {
    await writeAll(io.stdout, `${error.message}\n`)
    return 0
  }
  if (error instanceof UsageError) {
    await complain(io, `${title}: ${error.message}\n"${title} -h" shows how it is used.`)
    return error.exitCode
  }
  await complain(io, error instanceof RemoteFailure ? error.message : `Error: ${error.message}`)
  return error.exitCode
}

async function complain(io: CliIo, text: string): Promise<void> {
  try {
    await writeAll(io.stderr, `${text}\n`)
  } catch {
    // Standard error is closed. The exit code still tells.
  }
}
