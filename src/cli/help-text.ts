// The text that `-h` prints, made from the declarations. tools/cli-page.ts makes docs/cli.md from the same.
import { type Command, type CommandGroup, type CommandNode, isGroup } from './command.ts'
import type { Option } from './options.ts'

const PROGRAM = 'keywright'
/** Characters in a line. It is fixed: the help is the same text in a pipe and on every terminal. */
const WIDTH = 100

/** Returns the help of a command or group. `trail` has the words up to its name; it is empty for the program. */
export function commandHelpText(node: CommandNode, trail: readonly string[]): string {
  const title = [PROGRAM, ...trail].join(' ')
  return isGroup(node) ? groupHelp(node, title) : commandHelp(node, title)
}

function groupHelp(group: CommandGroup, title: string): string {
  const all = [...group.members, ...(group.elsewhere ?? [])]
  const width = Math.max(...all.map(({ name }) => name.length))
  const rows = all.map(({ name, summary }) => `    ${name.padEnd(width)}    ${summary}`)
  return [
    `Usage: ${title} COMMAND [options] [arguments]`,
    '',
    `  ${group.summary}.`,
    '',
    'Commands:',
    ...rows,
    '',
    `"${title} COMMAND -h" shows the help of a command.`,
    '',
  ].join('\n')
}

function commandHelp(command: Command, title: string): string {
  const hasOptions = Object.keys(command.options).length > 0
  const usage = [title, ...(hasOptions ? ['[options]'] : []), ...(command.usage === '' ? [] : [command.usage])]
  const lines = [`Usage: ${usage.join(' ')}`, '']
  for (const paragraph of [`${command.summary}.`, ...command.describe]) lines.push(...wrap(paragraph, '  '), '')
  if (command.examples.length > 0) {
    lines.push('Examples:', ...command.examples.map((example) => `    ${PROGRAM} ${example}`), '')
  }
  if (hasOptions) lines.push('Options:', ...Object.entries(command.options).flatMap(optionLines), '')
  return lines.join('\n')
}

function optionLines([name, option]: [string, Option]): string[] {
  return [`    ${optionForms(name, option)}`, ...wrap(`${option.about}.${optionOrigin(option)}`, '        ')]
}

/** Returns the option with its value as it is typed, and its letter or alias before it. */
export function optionForms(name: string, option: Option): string {
  const other = option.short ?? option.alias
  return `${other === undefined ? '' : `-${other}, `}-${name}${option.kind === 'flag' ? '' : `=${option.value}`}`
}

/** Returns sentences about the value of an option that is not given: the variables, then the default. */
export function optionOrigin(option: Option): string {
  const env = option.env === undefined ? '' : ` Environment: ${option.env.join(', then ')}.`
  const several = option.kind === 'texts' ? ' May be given several times.' : ''
  const isPlain = option.kind === 'texts' || option.default === undefined || option.default === false
  return isPlain ? several + env : `${env} Default: ${option.default}.`
}

function wrap(paragraph: string, indent: string): string[] {
  const lines: string[] = []
  let line = indent
  for (const word of paragraph.split(' ')) {
    if (line.length + word.length > WIDTH && line !== indent) {
      lines.push(line.trimEnd())
      line = indent
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}
