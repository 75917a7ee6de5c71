// Writes docs/cli.md, the page of the command line, from the table of its commands.
import { type Command, type CommandGroup, type CommandNode, isGroup } from '../src/cli/command.ts'
import { COMMON_OPTIONS } from '../src/cli/common-options.ts'
import { optionForms, optionOrigin } from '../src/cli/help-text.ts'
import type { OptionTable } from '../src/cli/options.ts'
import { cell } from './errors-page.ts'

/** What exit code 2 means where it is an answer. */
const NEGATIVE_ANSWERS = [
  '`status`: sealed',
  '`operator init -status`: not initialised',
  '`operator replication status`: something to look at, as a family that is idle or a peer that is disconnected',
  '`operator replication check`: an activation would not work',
  '`operator replication switchover`: a look is bad, or a step failed',
]

/** Returns the page. */
export function cliPage(commands: CommandGroup): string {
  const sections = commands.members.map((node) => section(node, [node.name], 2))
  return `# Command line

<!-- Written by tools/generate.ts from src/cli: change the definitions, not this page. -->

\`keywright COMMAND [options] [arguments]\`, after the command lines of the reference products: their commands, options,
variables and exit codes mean the same here. Options have one dash or two, and may stand before or behind the arguments.
\`-h\` behind any command shows its help.

| Exit code | |
|---|---|
| 0 | Done |
| 1 | The mistake is here: in the command line, a file, the terminal |
| 2 | The server refused, or could not be reached; ${NEGATIVE_ANSWERS.join('; ')} |
| 3 | \`audit verify\`: no fault, and lines that no signature covers |

\`-format\` is \`table\` for people, with lifetimes and moments in words; \`json\`, \`yaml\` and \`raw\` are the answer
as the server gave it, numbers digit by digit. \`-field=NAME\` prints one value as it is.
\`keywright completion bash\` (or \`zsh\`, \`fish\`) makes the shell complete commands, options, mounts, policies and
paths.

## Options that commands share

Commands that ask a server have all of these or, where there is no answer to print or to wrap, most of them. What is not
given is taken from the variables, the first that is set.

${optionTable(COMMON_OPTIONS)}

${sections.join('\n')}`
}

function section(node: CommandNode, trail: readonly string[], level: number): string {
  const title = `${'#'.repeat(level)} ${trail.join(' ')}\n\n`
  if (isGroup(node)) {
    const inner = node.members.map((member) => section(member, [...trail, member.name], Math.min(level + 1, 4)))
    return `${title}${node.summary}.\n\n${inner.join('\n')}`
  }
  return title + commandText(node, trail)
}

function commandText(command: Command, trail: readonly string[]): string {
  const own = Object.fromEntries(
    Object.entries(command.options).filter(([name]) => !Object.hasOwn(COMMON_OPTIONS, name)),
  )
  const options = Object.keys(own).length === 0 ? [] : [optionTable(own)]
  const usage = ['keywright', ...trail, '[options]', command.usage].filter((word) => word !== '').join(' ')
  const examples = command.examples.map((example) => `keywright ${example}\n`).join('')
  const paragraphs = [`${command.summary}.`, ...command.describe.map(escaped)]
  return `${[`\`${usage}\``, ...paragraphs, ...options, `\`\`\`text\n${examples}\`\`\``].join('\n\n')}\n`
}

function optionTable(table: OptionTable): string {
  const rows = Object.entries(table).map(([name, option]) => {
    const origin = optionOrigin(option)
    return `| ${cell(`\`${optionForms(name, option)}\``)} | ${cell(escaped(`${option.about}.${origin}`))} |`
  })
  return ['| Option | |', '|---|---|', ...rows].join('\n')
}

/** Escapes characters that mean something in Markdown. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('*', '\\*').replaceAll('<', '\\<')
}
