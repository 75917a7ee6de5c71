// Refuses a name that two files of src export: it means two things, or is one thing twice.
import { readSource } from './source-text.ts'
import { type Finding, isTest, type Tree } from './tree.ts'

const EXPORTED = /^export (?:declare )?(?:abstract )?(?:async )?(?:class|type|interface|function\*?|const|let) (\w+)/gm

/** Names that may stand in several files, with the reason. */
export const SHARED_NAMES: ReadonlyMap<string, string> = new Map([
  ['WrapInfo', 'the client imports nothing of the server, and both mean the same part of an answer'],
  ...['text', 'number', 'integer', 'flag', 'object', 'group', 'listOf', 'mapOf', 'optional', 'nullable'].map(
    (kind) => [kind, 'a kind of value: of a member of an answer, and of a member of a stored record'] as const,
  ),
])

/** Commands export themselves by the name that people type. */
const COMMANDS = 'src/cli/commands/'

/** Returns a finding for each further file that exports a name. */
export function doubledNames(tree: Tree, shared: ReadonlyMap<string, string> = SHARED_NAMES): Finding[] {
  const first = new Map<string, string>()
  const findings: Finding[] = []
  for (const [path, text] of tree) {
    if (!path.startsWith('src/') || path.startsWith(COMMANDS) || isTest(path)) continue
    const { code } = readSource(text)
    for (const { 1: name = '', index } of code.matchAll(EXPORTED)) {
      const before = first.get(name)
      if (before === undefined) first.set(name, path)
      else if (before !== path && !shared.has(name)) {
        const line = code.slice(0, index).split('\n').length
        findings.push({ path, line, message: `${name} is exported by ${before} as well: one name, one meaning` })
      }
    }
  }
  return findings
}
