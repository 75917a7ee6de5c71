// Refuses an exported thing without a sentence above it: what is exported is read by people who do not know its file.
import { readSource } from './source-text.ts'
import { type Finding, isTest, type Tree } from './tree.ts'

const EXPORTED = /^export (?:declare )?(?:abstract )?(?:async )?(?:class|type|interface|function\*?|const|let) (\w+)/

/** Written by a program from the table of endpoints, which has their sentences. */
const GENERATED = 'src/client/endpoints.ts'

/** Returns a finding for each exported declaration without a comment on the line above it; tests may have them. */
export function silentExports(tree: Tree): Finding[] {
  return [...tree].flatMap(([path, text]) => {
    if (isTest(path) || path === GENERATED) return []
    const source = readSource(text)
    const comments = source.comments.split('\n')
    const code = source.code.split('\n')
    return code.flatMap((line, index) => {
      const name = EXPORTED.exec(line)?.[1]
      if (name === undefined || (comments[index - 1]?.trim() && code[index - 1]?.trim() === '')) return []
      return [{ path, line: index + 1, message: `${name} is exported without a sentence above it: say what it is for` }]
    })
  })
}
