// Which operation of replication is allowed in which state of a cluster, as data: each operation names the modes of its
// family in which it is allowed, and a few rules bind the two families together.
//
//   dr \ performance   disabled   primary   secondary
//   disabled           yes        yes       yes
//   primary            yes        yes       yes         a performance secondary may have DR secondaries of its own
//   secondary          yes        no        no          what its primary is in the other family counts nothing here
import type { ReplicationFamily } from '../../storage/peer-log.ts'

/** What a cluster is in one family. `bootstrapping`: a secondary whose copy is not whole yet. */
export const FAMILY_MODES = ['disabled', 'bootstrapping', 'primary', 'secondary'] as const
/** One of FAMILY_MODES. */
export type FamilyMode = (typeof FAMILY_MODES)[number]

/** What a cluster is in a family; `isFenced`: a primary that learned of another one that took over from it. */
export type FamilyPart = { readonly mode: FamilyMode; readonly isFenced: boolean }
/** What a cluster is in both families. */
export type FamilyParts = Readonly<Record<ReplicationFamily, FamilyPart>>

type Rule = {
  readonly modes: readonly FamilyMode[]
  /** True if a fenced primary may do it: it takes the cluster out of that state. */
  readonly whenFenced?: boolean
}

/** Operations by their paths below `sys/replication/FAMILY/`, with the modes of that family that allow them. */
const RULES = {
  'primary/enable': { modes: ['disabled'] },
  'primary/demote': { modes: ['primary'], whenFenced: true },
  'primary/disable': { modes: ['primary'], whenFenced: true },
  'primary/secondary-token': { modes: ['primary'] },
  'primary/revoke-secondary': { modes: ['primary'] },
  'primary/rotate-authority': { modes: ['primary'] },
  'primary/paths-filter': { modes: ['primary'] },
  'primary/dynamic-filter': { modes: ['primary'] },
  'secondary/dynamic-filter': { modes: ['secondary'] },
  'secondary/generate-public-key': { modes: ['disabled', 'secondary'] },
  'secondary/enable': { modes: ['disabled'] },
  'secondary/promote': { modes: ['secondary'] },
  // A copy that will never be whole is given up with it.
  'secondary/disable': { modes: ['secondary', 'bootstrapping'] },
  'secondary/update-primary': { modes: ['secondary'] },
} as const satisfies Readonly<Record<string, Rule>>

/** An operation that depends on what the cluster is. */
export type FamilyOperation = keyof typeof RULES
/** All of them. */
export const FAMILY_OPERATIONS = Object.keys(RULES) as FamilyOperation[]

/** Why an operation is not allowed now. */
export type OperationRefusal = { readonly status: 400 | 503; readonly sentence: string }

/** Clients and monitors look for this text in what a DR secondary answers. */
const ON_DR_SECONDARY = 'path disabled in replication DR secondary mode'

/** The refusal of an operation on a family; undefined if it is allowed. */
export function refusalOfOperation(
  parts: FamilyParts,
  family: ReplicationFamily,
  operation: FamilyOperation,
): OperationRefusal | undefined {
  const { modes, whenFenced = false }: Rule = RULES[operation]
  const { mode, isFenced } = parts[family]
  const refused = (status: OperationRefusal['status'], why: string): OperationRefusal => ({
    status,
    sentence: `${why}. ${statesIn(parts)}`,
  })
  if (family === 'performance' && follows(parts.dr.mode))
    return refused(400, `${ON_DR_SECONDARY}: "${operation}" is for its primary`)
  if (!modes.includes(mode)) {
    const status = mode === 'bootstrapping' && WAITS.has(operation) ? 503 : 400
    return refused(status, `"${operation}" is not for a cluster in mode ${mode}: ${remedyOf(operation, mode)}`)
  }
  if (mode === 'primary' && isFenced && !whenFenced)
    return refused(503, 'Another cluster took over as primary of this set: demote this one with "primary/demote"')
  const conflict = conflictOf(parts, family, operation)
  return conflict === undefined ? undefined : refused(400, conflict)
}

/** Operations that a secondary can do once its copy is whole. */
const WAITS: ReadonlySet<FamilyOperation> = new Set(['secondary/promote', 'secondary/update-primary'])

const follows = (mode: FamilyMode): boolean => mode === 'secondary' || mode === 'bootstrapping'

function statesIn({ dr, performance }: FamilyParts): string {
  return `This cluster is in mode ${dr.mode} for dr, and in mode ${performance.mode} for performance`
}

/** What the other family has against an operation that the own one allows. */
function conflictOf(parts: FamilyParts, family: ReplicationFamily, operation: FamilyOperation): string | undefined {
  const other = family === 'dr' ? 'performance' : 'dr'
  const { mode } = parts[other]
  if (operation === 'primary/enable' && mode === 'bootstrapping')
    return `The cluster is being copied for ${other}: wait until it is a secondary`
  if (operation !== 'secondary/enable') return undefined
  if (family === 'dr' && mode !== 'disabled')
    return 'A DR secondary has no part in performance replication: disable that first, as what it is there would vanish'
  if (family === 'performance' && mode === 'primary')
    return 'Its data would be replaced under its DR secondaries: disable dr first, and enable it again afterwards'
  return undefined
}

/** What to do instead. */
function remedyOf(operation: FamilyOperation, mode: FamilyMode): string {
  if (mode === 'bootstrapping')
    return 'wait until its copy is whole, or give it up with "secondary/disable" if it never will be'
  if (mode === 'disabled') {
    return operation.startsWith('primary/')
      ? '"primary/enable" makes it a primary first'
      : '"secondary/enable" makes it a secondary first'
  }
  if (mode === 'primary') {
    if (operation === 'primary/enable') return '"primary/disable" first, if it is to begin a new set'
    if (operation === 'secondary/promote') return 'it is the primary already, so look first which cluster you called'
    return operation === 'secondary/enable' || operation === 'secondary/disable'
      ? '"primary/disable" ends its set first, and cuts its secondaries off'
      : '"primary/demote" makes it a secondary first'
  }
  if (operation === 'primary/enable') return '"secondary/promote" makes it the primary of its set'
  if (operation === 'secondary/enable') return '"secondary/update-primary" gives it another primary'
  return 'call its primary'
}
