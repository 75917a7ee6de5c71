// Refuses looking a text up in a plain object (threats Z-07): `headers[name]` with the name `constructor` finds what
// every object inherits. Types tell whether an index is any text or one of a few known names. So the compiler is asked,
// while the rules of tidy-rules.ts look at the text alone.
import { spawnSync } from 'node:child_process'
import {
  type BinaryExpression,
  type ConditionalExpression,
  type ElementAccessExpression,
  type Expression,
  type ForInOrOfStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
  type VariableDeclaration,
} from 'typescript/unstable/ast'
import type { FileSystem } from 'typescript/unstable/fs'
import { API, type Checker, type Type, TypeFlags } from 'typescript/unstable/sync'
import { inProgram, type KnownLookUps } from './rule.ts'
import { KNOWN_LOOK_UPS } from './tidy-rules.ts'
import { type Finding, formatFinding } from './tree.ts'

const MESSAGE =
  'Z-07: a text looked up in a plain object finds what all inherit: own() or dictionary() of src/lib/own.ts, or a Map'

type LookUp = { readonly node: Node; readonly object: Expression; readonly index: Expression }

/**
 * Returns a line for each finding in the program under `root`; empty if there is none. It runs in a process of its own,
 * so that messages of the compiler do not mix with the caller's.
 */
export function lookUpLines(root: string): string {
  const options = { cwd: root, encoding: 'utf8' } as const
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [import.meta.filename], options)
  if (error !== undefined) return error.message
  return status === 0 ? '' : stdout.trim() || stderr.trim() || `look-ups.ts ended with exit code ${status}`
}

/** Returns the findings of the program under `root`, in the files of its tsconfig.json. */
export function lookUps(root: string, known: KnownLookUps, fs?: FileSystem): Finding[] {
  const api = new API({ cwd: root, ...(fs === undefined ? {} : { fs }) })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects()
    if (project === undefined) throw new Error(`${root} has no tsconfig.json`)
    const findings: Finding[] = []
    for (const name of project.program.getSourceFileNames()) {
      const path = name.slice(root.length + 1)
      if (!name.startsWith(`${root}/`) || !inProgram(path)) continue
      const file = project.program.getSourceFile(name)
      if (file === undefined) continue
      const excepted = new Map(Object.entries((Object.hasOwn(known, path) ? known[path] : undefined) ?? {}))
      const unused = new Set(excepted.keys())
      for (const { node } of unsafeIn(file, project.checker)) {
        const text = textOf(node, file)
        unused.delete(text)
        const line = file.text.slice(0, node.getStart(file)).split('\n').length
        if (!excepted.has(text)) findings.push({ path, line, message: MESSAGE })
      }
      for (const text of unused)
        findings.push({ path, line: 1, message: `Z-07: is excepted for ${text}, which it does not hold` })
    }
    return findings
  } finally {
    api.close()
  }
}

/** Finds indexed access and `in` by any text, if nothing shows that the member is the object's own. */
function unsafeIn(file: SourceFile, checker: Checker): LookUp[] {
  const found: LookUp[] = []
  const bare = new BareObjects(file)
  const visit = (node: Node): void => {
    if (node.kind === SyntaxKind.ElementAccessExpression) {
      const { expression, argumentExpression } = node as ElementAccessExpression
      if (argumentExpression !== undefined) found.push({ node, object: expression, index: argumentExpression })
    } else if (node.kind === SyntaxKind.BinaryExpression) {
      const { left, operatorToken, right } = node as BinaryExpression
      if (operatorToken.kind === SyntaxKind.InKeyword) found.push({ node, object: right, index: left })
    } else bare.see(node)
    node.forEachChild(visit)
  }
  visit(file)
  const types = checker.getTypeAtLocation(found.map(({ index }) => index))
  return found.filter((each, at) => isAnyText(types[at]) && !bare.has(each.object) && !isOwn(each, file))
}

/** The variables of a file that hold an object which inherits nothing. */
class BareObjects {
  readonly #file: SourceFile
  /** Names by the node of their scope. */
  readonly #declared = new Map<Node, Map<string, boolean>>()

  constructor(file: SourceFile) {
    this.#file = file
  }

  see(node: Node): void {
    if (node.kind !== SyntaxKind.VariableDeclaration && node.kind !== SyntaxKind.Parameter) return
    const { name, initializer } = node as VariableDeclaration
    let scope = node.parent
    while (!SCOPES.has(scope.kind) && scope.parent !== undefined) scope = scope.parent
    const names = this.#declared.get(scope) ?? new Map<string, boolean>()
    const isConst = node.parent.getText(this.#file).startsWith('const ')
    const isBare = initializer !== undefined && INHERITS_NOTHING.test(textOf(initializer, this.#file))
    this.#declared.set(scope, names.set(textOf(name, this.#file), isBare && isConst))
  }

  has(object: Expression): boolean {
    const name = textOf(object, this.#file)
    for (let at = object.parent; at !== undefined; at = at.parent) {
      const found = this.#declared.get(at)?.get(name)
      if (found !== undefined) return found
    }
    return false
  }
}

const SCOPES: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Block,
  SyntaxKind.SourceFile,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.ForStatement,
  SyntaxKind.ForInStatement,
  SyntaxKind.ForOfStatement,
  SyntaxKind.CaseBlock,
])

const INHERITS_NOTHING = /^(?:Object\.create\(null\)|dictionary(?:<.*>)?\(\))/

function isAnyText(type: Type | undefined): boolean {
  if (type === undefined) return true
  if (type.isUnionType()) return type.getTypes().some(isAnyText)
  return (type.flags & (TypeFlags.String | TypeFlags.TemplateLiteral | TypeFlags.Any | TypeFlags.Unknown)) !== 0
}

/** True behind `Object.hasOwn` of the same object and name, or in a loop over all names of the object. */
function isOwn({ node, object, index }: LookUp, file: SourceFile): boolean {
  const [of, name] = [unasserted(textOf(object, file)), textOf(index, file)]
  const asked = `Object.hasOwn(${of}, ${name})`
  for (let child = node, at = node.parent; at !== undefined; child = at, at = at.parent) {
    if (at.kind === SyntaxKind.ConditionalExpression) {
      const { condition, whenTrue } = at as ConditionalExpression
      if (child === whenTrue && textOf(condition, file).split(' && ').includes(asked)) return true
    } else if (at.kind === SyntaxKind.BinaryExpression) {
      const { left, operatorToken, right } = at as BinaryExpression
      const isAnd = operatorToken.kind === SyntaxKind.AmpersandAmpersandToken
      if (isAnd && child === right && textOf(left, file).split(' && ').includes(asked)) return true
    } else if (at.kind === SyntaxKind.ForInStatement || at.kind === SyntaxKind.ForOfStatement) {
      const { initializer, expression } = at as ForInOrOfStatement
      const all = at.kind === SyntaxKind.ForInStatement ? of : `Object.keys(${of})`
      const isRead = !isWritten(node)
      if (isRead && textOf(initializer, file) === `const ${name}` && textOf(expression, file) === all) return true
    }
  }
  return false
}

/** Removes a type assertion: `(value as T)` is `value`. */
const unasserted = (text: string): string => text.replace(/^\(([\w.]+) as [^()]*\)$/, '$1')

function isWritten(node: Node): boolean {
  if (node.parent.kind !== SyntaxKind.BinaryExpression) return false
  const { left, operatorToken } = node.parent as BinaryExpression
  return left === node && operatorToken.kind === SyntaxKind.EqualsToken
}

const textOf = (node: Node, file: SourceFile): string => node.getText(file)

if (import.meta.main) {
  const findings = lookUps(process.cwd(), KNOWN_LOOK_UPS)
  for (const finding of findings) console.log(formatFinding(finding))
  process.exitCode = findings.length === 0 ? 0 : 1
}
