// Refuses what no file may hold, and reports sizes without refusing them. `npm run tidy`.
import { doubledNames } from './exported-names.ts'
import { lookUpLines } from './look-ups.ts'
import { applyRules } from './rule.ts'
import { silentExports } from './silent-exports.ts'
import { formatSizes, oversizes } from './sizes.ts'
import { RULES } from './tidy-rules.ts'
import { type Finding, formatFinding, readTree, type Tree } from './tree.ts'

/** The width of biome.json. Lines that the formatter cannot break are refused here. */
const MOST_COLUMNS = 120
const REPORTED_ROWS = 10

/** Returns the findings in `tree`: long lines, breaches of RULES, and names that two files export. */
export function tidy(tree: Tree): Finding[] {
  const inFiles = [...tree].flatMap(([path, text]) => [...longLines(path, text), ...applyRules(RULES, path, text)])
  return [...inFiles, ...doubledNames(tree)]
}

/** Returns all that `npm run tidy` refuses in the project at `root`, a line each. */
export function tidyLines(root: string, tree: Tree): string[] {
  const findings = [...tidy(tree), ...silentExports(tree)]
  return [...findings.map(formatFinding), lookUpLines(root)].filter((line) => line !== '')
}

function longLines(path: string, text: string): Finding[] {
  return text.split('\n').flatMap((content, index) => {
    const columns = [...content].length
    if (columns <= MOST_COLUMNS) return []
    return [{ path, line: index + 1, message: `${columns} columns, at most ${MOST_COLUMNS}` }]
  })
}

if (import.meta.main) {
  const tree = readTree(process.cwd())
  const lines = tidyLines(process.cwd(), tree)
  for (const line of lines) console.log(line)
  console.log(formatSizes(oversizes(tree), REPORTED_ROWS))
  process.exitCode = lines.length === 0 ? 0 : 1
}
