// Refuses citations that a reader outside cannot follow. A comment, a test's name or a page may cite a row of
// docs/threats.md, a section of docs/interface.md or a decision record. A file or a place in a page may be cited too.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { readSource } from './source-text.ts'
import { type Finding, isTest, readTree, type Tree } from './tree.ts'

const THREATS = 'docs/threats.md'
const INTERFACE = 'docs/interface.md'

/** Pages, scripts and units, which are read beside the source text. */
const CITING = [
  '*.md',
  '{docs,changes,emulator,examples,deploy,bench,test}/**/*.md',
  'native/*/*.md',
  'bin/*',
  'deploy/*',
]

/** Files that name missing sources on purpose, with the reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  'tools/citations.ts': 'says how a citation looks',
  'tools/citations.test.ts': 'plants what is refused',
}

/** Reads all files that can cite: source text, pages, scripts. */
export function readCiting(root: string): Tree {
  const paths = CITING.flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(root.length + 1))
  const others = paths.map((path) => path.replaceAll('\\', '/')).sort()
  const read = (path: string): [string, string] => [path, readFileSync(join(root, path), 'utf8')]
  return new Map([...readTree(root), ...others.map(read)])
}

/** Returns every citation of `tree` that leads nowhere. `isThere` knows the files that are not in `tree`. */
export function checkCitations(tree: Tree, isThere: (path: string) => boolean): Finding[] {
  const sources = readSources(tree, isThere)
  const cited = [...tree].flatMap(([path, text]) => {
    if (Object.hasOwn(EXCEPT, path)) return []
    const remarks = isTest(path) && !isPage(path) ? readSource(text).comments : text
    const found = KINDS.flatMap(({ pattern, applies, judge, isOfFiles }) => {
      if (!applies(path)) return []
      return [...(isOfFiles === true ? remarks : text).matchAll(pattern)].flatMap((match) => {
        const message = judge(match, sources, path)
        return message === undefined ? [] : [{ path, line: lineOf(text, match.index), message }]
      })
    })
    return found.sort((a, b) => a.line - b.line)
  })
  return [...cited, ...doubledRows(tree.get(THREATS) ?? '')]
}

/** Finds ids with two rows, which mean nothing: two branches may have taken the same one. */
function doubledRows(page: string): Finding[] {
  const ids = firstCells(page).filter((cell) => /\d/.test(cell))
  const doubled = new Set(ids.filter((id, at) => ids.indexOf(id) !== at))
  return [...doubled].map((id) => {
    const line = lineOf(page, page.lastIndexOf(`| ${id} |`))
    return { path: THREATS, line, message: `${id} has a row already: take the next free number` }
  })
}

/** Checks the repository at `root`, for `npm test`. */
export function citationFindings(root: string): Finding[] {
  return checkCitations(readCiting(root), (path) => existsSync(join(root, path)))
}

/** The places that can be cited. */
type Sources = {
  /** Ids in the tables of threats.md: `N-02`, `A7`, `part 4`. */
  readonly ids: ReadonlySet<string>
  /** Numbers of the headings of threats.md. */
  readonly threats: ReadonlySet<string>
  /** Numbers of the headings and rows of interface.md. */
  readonly sections: ReadonlySet<string>
  readonly decisions: ReadonlySet<number>
  /** The anchors of each page, which can stand behind a `#`. */
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>
  readonly isThere: (path: string) => boolean
}

function readSources(tree: Tree, isThere: (path: string) => boolean): Sources {
  const pages = [...tree].filter(([path]) => path.endsWith('.md'))
  const threats = tree.get(THREATS) ?? ''
  const sections = tree.get(INTERFACE) ?? ''
  return {
    ids: new Set(firstCells(threats).flatMap(spread)),
    threats: new Set(headings(threats).map(numberOf)),
    sections: new Set([...headings(sections).map(numberOf), ...firstCells(sections)]),
    decisions: new Set(pages.map(([path]) => Number(/^docs\/decisions\/(\d{4})-/.exec(path)?.[1]))),
    anchors: new Map(pages.map(([path, text]) => [path, anchorsOf(text)])),
    isThere: (path) => tree.has(path) || isThere(path),
  }
}

/** One way to cite. */
type Kind = {
  readonly pattern: RegExp
  readonly applies: (path: string) => boolean
  /** True if only the comments of tests are read: their texts name files that they make. */
  readonly isOfFiles?: boolean
  /** Returns what is wrong, and the remedy; undefined if the source is there. */
  readonly judge: (match: RegExpExecArray, sources: Sources, path: string) => string | undefined
}

const isPage = (path: string): boolean => path.endsWith('.md')
const isAny = (): boolean => true

/** The beginning of a test's name: ids with commas between them, and a colon behind. */
const HEAD = /^(?:(?:[A-Z]\d{1,3}|part \d+)(?:,| and|:)? )+/
/** A beginning that names a paper which is not in the repository. */
const STRANGE_HEAD = /^(?:rows?|traps?|issue|point|finding) \d+/
/** A name in capitals: the reader is to put a file there. */
const PLACEHOLDER = /\/[A-Z][A-Z-]+(?:[./]|$)/

const KINDS: readonly Kind[] = [
  {
    pattern: /(?<![\w-])[A-Z]-\d\d(?![\w-])/g,
    applies: isAny,
    judge: ([id], { ids }) =>
      ids.has(id) ? undefined : `${id} has no row in ${THREATS}: give it one, or cite another`,
  },
  {
    pattern: /\b[Tt]hreats (?:part )?(\d+(?:\.\d+)?)/g,
    applies: isAny,
    judge: ([, number = ''], { threats }) =>
      threats.has(number) ? undefined : `${THREATS} has no heading ${number}: cite one that it has`,
  },
  {
    pattern: /\bInterface (\d+(?:\.\d+)?)(?:(?:,| and) (\d+\.\d+))?/g,
    applies: isAny,
    judge: ([, first = '', second = first], { sections }) => {
      const missing = [first, second].find((number) => !sections.has(number))
      return missing === undefined ? undefined : `${INTERFACE} has no section ${missing}: give it one, or cite another`
    },
  },
  {
    pattern: /\b[Dd]ecisions? (\d+(?:\.\d+)?)/g,
    applies: isAny,
    judge: ([, number = ''], { decisions }) =>
      decisions.has(Number(number))
        ? undefined
        : `docs/decisions has no record ${number}: cite one that is there, or give the reason itself`,
  },
  {
    pattern: /\b[\w-]+\.md,? (?:(?:section|part|trap|rows?|table) )?\d+(?:\.\d+)?/g,
    applies: isAny,
    judge: judgePaper,
  },
  {
    pattern: /\b[Rr]eference,? (?:section |part )?\d+\.\d+/g,
    applies: isAny,
    judge: judgePaper,
  },
  {
    pattern: /\bshared\/(?:spec|design|reference)\b/g,
    applies: isAny,
    judge: ([cited]) => `${cited} is no part of the repository: give the reason itself, or a page of docs`,
  },
  {
    pattern: /(?<![\w/.])docs\/[\w./-]+?\.md(?:#([\w-]+))?/g,
    applies: (path) => !isPage(path),
    isOfFiles: true,
    judge: ([target], sources) => judgeTarget(target, sources),
  },
  {
    pattern: /(?<![\w/.-])(?:src|test|tools|bench|emulator|examples|deploy|bin)\/[\w./-]*(?:\.(?:ts|js)\b|\/(?=`))/g,
    applies: (path) => isPage(path) || path.endsWith('.ts'),
    isOfFiles: true,
    judge: ([target], sources) => (PLACEHOLDER.test(target) ? undefined : judgeTarget(target, sources)),
  },
  {
    pattern: /\(((?:[A-Z]\d{1,3}(?:, )?)+)\)/g,
    applies: isPage,
    judge: ([, cited = ''], { ids }) => judgeRows(cited.split(', '), ids),
  },
  {
    pattern: /\]\((?!https?:|mailto:)([^)\s]+)\)/g,
    applies: isPage,
    judge: ([, target = ''], sources, path) =>
      judgeTarget(target.startsWith('#') ? `${path}${target}` : join(dirname(path), target), sources),
  },
  {
    pattern: /(?:\btest\(\s*|\bname: )(['"`])((?:\\.|(?!\1)[^\\])*)/g,
    applies: isTest,
    judge: ([, , name = ''], { ids }) => {
      const strange = STRANGE_HEAD.exec(name)?.[0]
      if (strange !== undefined) return `"${strange}" is a row of a paper that is not here: say what the test is about`
      const head = HEAD.exec(name)?.[0] ?? ''
      return judgeRows(head.match(/[A-Z]\d{1,3}|part \d+/g) ?? [], ids)
    },
  },
]

function judgeRows(cited: readonly string[], ids: ReadonlySet<string>): string | undefined {
  const missing = cited.find((id) => !ids.has(id))
  return missing === undefined ? undefined : `${missing} has no row in ${THREATS}: give it one at the end of the page`
}

function judgePaper([cited]: RegExpExecArray): string {
  return `"${cited}" is a paper that is not here: give the reason itself, an RFC, or a page of docs`
}

function judgeTarget(target: string, { anchors, isThere }: Sources): string | undefined {
  const [file = '', anchor] = normalize(target).replaceAll('\\', '/').split('#')
  const path = file.replace(/\/$/, '')
  if (!isThere(path)) return `${path} is not there: cite a file that is`
  if (anchor === undefined || anchors.get(path)?.has(anchor) === true) return undefined
  return `${path} has no heading #${anchor}: cite one that it has`
}

/** Returns the lines of a page with the text between fences blanked: a shell comment is no heading. */
function proseOf(page: string): string[] {
  let fenced = false
  return page.split('\n').map((line) => {
    const fence = line.trimStart().startsWith('```')
    if (fence) fenced = !fenced
    return fence || fenced ? '' : line
  })
}

function headings(page: string): string[] {
  return proseOf(page).flatMap((line) => /^#{1,6} +(.*?) *$/.exec(line)?.[1] ?? [])
}

function numberOf(heading: string): string {
  return /^\d+(?:\.\d+)*(?= )/.exec(heading)?.[0] ?? ''
}

/** Returns the first cell of every row of every table. */
function firstCells(page: string): string[] {
  return proseOf(page).flatMap((line) => /^\| *(.*?) *\|/.exec(line)?.[1] ?? [])
}

/** Expands a cell such as `L1 to L115`. */
function spread(cell: string): string[] {
  const [, letter = '', first, last] = /^([A-Z])(\d+) to [A-Z](\d+)$/.exec(cell) ?? []
  if (first === undefined || last === undefined) return [cell]
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${letter}${Number(first) + at}`)
}

/**
 * Returns the anchors of a page, made as repository hosts make them: lower case, no punctuation, dashes for blanks, a
 * number for a twin.
 */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = headings(page).map((heading) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = text.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-')
    const twins = seen.get(slug) ?? 0
    seen.set(slug, twins + 1)
    return twins === 0 ? slug : `${slug}-${twins}`
  })
  return new Set(anchors)
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
