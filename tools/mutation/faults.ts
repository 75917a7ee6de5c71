// Finds the small faults that can be planted in a file: the place, and the text to put there. It reads the compiler's
// tree of the file; types are checked elsewhere.
import {
  type BinaryExpression,
  type Block,
  type CallExpression,
  type Expression,
  type FunctionLikeDeclaration,
  type Node,
  type SourceFile,
  type Statement,
  SyntaxKind,
} from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { lineAt } from '../source-text.ts'

/** One fault: the text from `start` to `end` becomes `to`. */
export type Fault = {
  readonly rule: RuleName
  readonly line: number
  readonly start: number
  readonly end: number
  readonly to: string
}

type Change = { readonly node: Node; readonly to: string } | { readonly at: number; readonly to: string }
type Rule = (node: Node, text: (node: Node) => string) => readonly Change[]

/** Rules by the name that reports show. */
const RULES = {
  negate: (node, text) => conditionsOf(node).map((condition) => ({ node: condition, to: `!(${text(condition)})` })),
  compare: (node) => operatorChange(node, COMPARISONS),
  logic: (node) => operatorChange(node, LOGIC),
  arithmetic: (node) => operatorChange(node, ARITHMETIC),
  'one side': (node, text) =>
    isLogical(node) ? [node.left, node.right].map((side) => ({ node, to: text(side) })) : [],
  'no call': (node) => (isBareCall(node) ? [{ node, to: '{}' }] : []),
  'no assignment': (node) => (isBareAssignment(node) ? [{ node, to: '{}' }] : []),
  'no guard': (node) => (isGuard(node) ? [{ node, to: '{}' }] : []),
  'early return': earlyReturns,
  'swap arguments': swappedArguments,
  'no last argument': (node) => withoutLastArgument(node),
  'off by one': offByOne,
  flip: (node) =>
    is.isTrueLiteral(node) ? [{ node, to: 'false' }] : is.isFalseLiteral(node) ? [{ node, to: 'true' }] : [],
  'other method': otherMethod,
  'no step': withoutStep,
  'no property': (node) => propertiesOf(node).map((property) => ({ node: property, to: '...{}' })),
  'no element': (node) =>
    is.isArrayLiteralExpression(node) ? node.elements.map((element) => ({ node: element, to: '...[]' })) : [],
} as const satisfies Record<string, Rule>

/** Name of a rule. */
export type RuleName = keyof typeof RULES
/** Names of all rules. */
export const RULE_NAMES = Object.keys(RULES) as RuleName[]

/** Returns all faults that the rules find in a file, in its order. */
export function faultsOf(file: SourceFile): Fault[] {
  const found: Fault[] = []
  const text = (node: Node): string => node.getText(file)
  const visit = (node: Node): void => {
    if (isLeftOut(node, text)) return
    for (const rule of RULE_NAMES) {
      for (const change of RULES[rule](node, text)) {
        const [start, end] = 'at' in change ? [change.at, change.at] : [change.node.getStart(file), change.node.end]
        found.push({ rule, line: lineAt(file.text, start), start, end, to: change.to })
      }
    }
    node.forEachChild(visit)
  }
  file.forEachChild(visit)
  return found
}

/** True for types, imports, log lines and texts of errors: tests should not hold them to the letter. */
function isLeftOut(node: Node, text: (node: Node) => string): boolean {
  if (is.isTypeNode(node) || is.isImportDeclaration(node) || is.isExportDeclaration(node)) return true
  if (is.isInterfaceDeclaration(node) || is.isTypeAliasDeclaration(node)) return true
  if (is.isThrowStatement(node)) return true
  if (is.isExpressionStatement(node)) return /^(?:assert\b|(?:this\.)?#?\w*\.?log(?:ger)?\b)/.test(text(node))
  return false
}

const COMPARISONS: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
])
const LOGIC: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
])
const ARITHMETIC: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.SlashToken, '*'],
  [SyntaxKind.PercentToken, '*'],
  [SyntaxKind.AmpersandToken, '|'],
  [SyntaxKind.BarToken, '&'],
])
const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  find: 'findLast',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  max: 'min',
  min: 'max',
  floor: 'ceil',
  ceil: 'floor',
}
/** Functions whose arguments may come in any order. */
const ANY_ORDER = ['Math.min', 'Math.max']
const STEPS = [
  'filter',
  'sort',
  'toSorted',
  'trim',
  'toLowerCase',
  'toReversed',
  'slice',
  'subarray',
  'catch',
  'finally',
]
const ENDINGS = [
  SyntaxKind.ReturnStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.ContinueStatement,
  SyntaxKind.BreakStatement,
]

function conditionsOf(node: Node): Expression[] {
  if (is.isIfStatement(node)) return [node.expression]
  return is.isConditionalExpression(node) ? [node.condition] : []
}

function operatorChange(node: Node, operators: ReadonlyMap<SyntaxKind, string>): Change[] {
  if (!is.isBinaryExpression(node)) return []
  const to = operators.get(node.operatorToken.kind)
  return to === undefined ? [] : [{ node: node.operatorToken, to }]
}

function isLogical(node: Node): node is BinaryExpression {
  if (!is.isBinaryExpression(node)) return false
  const { kind } = node.operatorToken
  return LOGIC.has(kind) || kind === SyntaxKind.QuestionQuestionToken
}

function isBareCall(node: Node): boolean {
  if (!is.isExpressionStatement(node)) return false
  const { expression } = node
  return is.isCallExpression(is.isAwaitExpression(expression) ? expression.expression : expression)
}

function isBareAssignment(node: Node): boolean {
  if (!is.isExpressionStatement(node)) return false
  const { expression } = node
  if (is.isBinaryExpression(expression)) return is.isAssignmentOperator(expression.operatorToken.kind)
  return is.isPostfixUnaryExpression(expression)
}

/** True for a guard, such as `if (…) return`. */
function isGuard(node: Node): boolean {
  if (!is.isIfStatement(node) || node.elseStatement !== undefined) return false
  const { thenStatement } = node
  const statements: readonly Statement[] = is.isBlock(thenStatement) ? thenStatement.statements : [thenStatement]
  return statements.length === 1 && ENDINGS.includes(statements[0]?.kind ?? SyntaxKind.Unknown)
}

function earlyReturns(node: Node, text: (node: Node) => string): Change[] {
  if (!is.isFunctionLikeDeclaration(node)) return []
  const { body, type } = node as FunctionLikeDeclaration & { readonly type?: Node }
  if (body === undefined) return []
  const results = resultsOf(type === undefined ? '' : text(type))
  if (is.isBlock(body)) return afterBrace(body, results)
  return results.filter((result) => result !== '').map((to) => ({ node: body, to }))
}

/** Returns values that a function of this return type could give at once; '' is a return without a value. */
function resultsOf(type: string): readonly string[] {
  const result = /^Promise<(.*)>$/s.exec(type)?.[1] ?? type
  if (result === 'void' || result === '') return ['']
  if (result === 'boolean') return ['true', 'false']
  if (result === 'number') return ['0']
  if (result === 'string') return [`''`]
  if (/\[\]$|^ReadonlyArray<|^Array</.test(result)) return ['[]']
  return result.includes('undefined') ? ['undefined'] : []
}

function afterBrace(body: Block, results: readonly string[]): Change[] {
  const [first] = body.statements
  if (first === undefined) return []
  return results.map((result) => ({ at: first.pos, to: result === '' ? '\n  return;' : `\n  return ${result};` }))
}

function argumentsOf(node: Node): readonly Expression[] {
  if (is.isCallExpression(node)) return node.arguments
  return is.isNewExpression(node) ? (node.arguments ?? []) : []
}

function swappedArguments(node: Node, text: (node: Node) => string): Change[] {
  const all = argumentsOf(node)
  if (ANY_ORDER.includes(calleeText(node, text))) return []
  return all.slice(1).flatMap((second, at) => {
    const first = all[at]
    if (first === undefined || text(first) === text(second)) return []
    const swapped = all.map((each) => (each === first ? second : each === second ? first : each)).map(text)
    return [{ node, to: `${calleeText(node, text)}(${swapped.join(', ')})` }]
  })
}

function withoutLastArgument(node: Node): Change[] {
  const last = argumentsOf(node).at(-1)
  return last === undefined || is.isSpreadElement(last) ? [] : [{ node: last, to: '...[]' }]
}

function calleeText(node: Node, text: (node: Node) => string): string {
  if (!is.isCallExpression(node) && !is.isNewExpression(node)) return ''
  const question = is.isCallExpression(node) && node.questionDotToken !== undefined ? '?.' : ''
  return `${is.isNewExpression(node) ? 'new ' : ''}${text(node.expression)}${question}`
}

function offByOne(node: Node, text: (node: Node) => string): Change[] {
  if (!is.isNumericLiteral(node)) return []
  const value = Number(text(node).replaceAll('_', ''))
  if (!Number.isSafeInteger(value)) return []
  return value > 0 ? [value + 1, value - 1].map((to) => ({ node, to: String(to) })) : [{ node, to: '1' }]
}

function methodOf(node: Node): CallExpression | undefined {
  return is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression) ? node : undefined
}

function otherMethod(node: Node, text: (node: Node) => string): Change[] {
  const callee = methodOf(node)?.expression
  if (callee === undefined || !is.isPropertyAccessExpression(callee)) return []
  const to = Object.hasOwn(METHODS, text(callee.name)) ? METHODS[text(callee.name)] : undefined
  return to === undefined ? [] : [{ node: callee.name, to }]
}

/** Removes a step of a chain: `list.filter(…)` becomes `list`. */
function withoutStep(node: Node, text: (node: Node) => string): Change[] {
  const callee = methodOf(node)?.expression
  if (callee === undefined || !is.isPropertyAccessExpression(callee) || !STEPS.includes(text(callee.name))) return []
  return [{ node, to: text(callee.expression) }]
}

function propertiesOf(node: Node): Node[] {
  if (!is.isObjectLiteralExpression(node)) return []
  return node.properties.filter((each) => is.isPropertyAssignment(each) || is.isShorthandPropertyAssignment(each))
}
