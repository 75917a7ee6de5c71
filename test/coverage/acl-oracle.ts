// A second, slow answer to what src/auth answers fast: it goes through the rules of the policy language one by one, for
// each request anew, and shares nothing with it, neither tables nor types. The property test compares the two.

export type OracleJson =
  | string
  | number
  | boolean
  | null
  | readonly OracleJson[]
  | { readonly [name: string]: OracleJson }
export type OracleRule = {
  readonly path: string
  readonly capabilities: readonly string[]
  /** The old key `policy`. */
  readonly legacy?: string
  readonly allowed?: Readonly<Record<string, readonly OracleJson[]>>
  readonly denied?: Readonly<Record<string, readonly OracleJson[]>>
  readonly required?: readonly string[]
  readonly minWrap?: number
  readonly maxWrap?: number
  readonly pageLimit?: number
  /** Seconds since 1970. */
  readonly expires?: number
}
export type OraclePolicy = { readonly namespace: string; readonly rules: readonly OracleRule[] }
export type OracleRequest = {
  readonly operation: string
  readonly path: string
  readonly data: Readonly<Record<string, OracleJson>>
  readonly wrapTtl: number
  readonly sudo: boolean
}
/** Values by what stands between the braces of a template; a name that is not there has no value. */
export type OracleIdentity = Readonly<Record<string, string>>

const TEMPLATE = /\{\{ *([^ }]*) *\}\}/g

/** Whether the text of a path is one that a policy may not hold. */
export function oracleRefusesPath(path: string): boolean {
  return path.replaceAll(TEMPLATE, 'v').includes('+*')
}

/** The path with its values; undefined where one is missing or would act as more than a piece of a segment. */
function substituted(path: string, identity: OracleIdentity): string | undefined {
  let usable = true
  const text = path.replaceAll(TEMPLATE, (_whole, name: string) => {
    const value = Object.hasOwn(identity, name) ? (identity[name] ?? '') : ''
    if (value === '' || ['/', '+', '*', '\n'].some((bad) => value.includes(bad))) usable = false
    return value
  })
  return usable ? text : undefined
}

type Applied = OracleRule & { readonly full: string; readonly wild: 'none' | 'star' | 'plus' }

/** The rules with their full paths; those whose template has no usable value are gone. */
function applied(policies: readonly OraclePolicy[], identity: OracleIdentity, nowSeconds: number): Applied[] {
  const all: Applied[] = []
  for (const policy of policies) {
    for (const rule of policy.rules) {
      const path = substituted(rule.path.startsWith('/') ? rule.path.substring(1) : rule.path, identity)
      if (path === undefined || (rule.expires !== undefined && nowSeconds >= rule.expires)) continue
      const plus = path.split('/').some((segment) => segment.startsWith('+'))
      const wild = plus ? 'plus' : path.endsWith('*') ? 'star' : 'none'
      all.push({ ...rule, full: policy.namespace + path, wild })
    }
  }
  return all
}

function matches(rule: Applied, path: string): boolean {
  if (rule.wild === 'none') return rule.full === path
  if (rule.wild === 'star') return path.startsWith(rule.full.slice(0, -1))
  const open = rule.full.endsWith('*')
  const wanted = (open ? rule.full.slice(0, -1) : rule.full).split('/')
  const given = path.split('/')
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false
  return wanted.every((segment, at) => {
    const here = given[at] ?? ''
    // Threats A-05: a free segment is one segment, and not an empty one.
    if (segment === '+') return here !== ''
    return open && at === wanted.length - 1 ? here.startsWith(segment) : here === segment
  })
}

/** Whether `a` comes before `b` among wildcard rules that both match. */
function outranks(a: Applied, b: Applied): boolean {
  const firstWildcard = (rule: Applied) => (rule.wild === 'plus' ? rule.full.indexOf('+') : rule.full.length - 1)
  const plusSegments = (rule: Applied) =>
    rule.wild === 'plus' ? rule.full.split('/').filter((s) => s === '+').length : 0
  if (firstWildcard(a) !== firstWildcard(b)) return firstWildcard(a) > firstWildcard(b)
  if (a.full.endsWith('*') !== b.full.endsWith('*')) return b.full.endsWith('*')
  if (plusSegments(a) !== plusSegments(b)) return plusSegments(a) < plusSegments(b)
  if (a.full.length !== b.full.length) return a.full.length > b.full.length
  return a.full > b.full
}

function bestWildcard(rules: readonly Applied[], path: string): Applied | undefined {
  let best: Applied | undefined
  for (const rule of rules) {
    if (rule.wild === 'none' || !matches(rule, path)) continue
    if (best === undefined || outranks(rule, best)) best = rule
  }
  return best
}

/** All rules that share the path and kind of the one that applies. */
function chosen(rules: readonly Applied[], path: string, listing: boolean): Applied[] {
  const bare = listing && path.endsWith('/') ? path.slice(0, -1) : undefined
  const exact = (text: string) => rules.find((rule) => rule.wild === 'none' && rule.full === text)
  const winner =
    exact(path) ??
    (bare === undefined ? undefined : exact(bare)) ??
    bestWildcard(rules, path) ??
    (bare === undefined ? undefined : bestWildcard(rules, bare))
  if (winner === undefined) return []
  return rules.filter((rule) => rule.full === winner.full && rule.wild === winner.wild)
}

const OLD_WORDS: Readonly<Record<string, readonly string[]>> = {
  deny: ['deny'],
  read: ['read', 'list'],
  write: ['create', 'read', 'update', 'delete', 'list'],
  sudo: ['create', 'read', 'update', 'delete', 'list', 'sudo'],
}

function capabilitiesOf(group: readonly Applied[]): string[] {
  const words = new Set(group.flatMap((rule) => [...rule.capabilities, ...(OLD_WORDS[rule.legacy ?? ''] ?? [])]))
  const { min, max } = wrapLimits(group)
  if (words.size === 0 || words.has('deny') || (max > 0 && max < min)) return ['deny']
  return [...words].sort()
}

/** 0: no limit. */
function lowest(values: (number | undefined)[]): number {
  const set = values.filter((value) => value !== undefined && value > 0) as number[]
  return set.length === 0 ? 0 : Math.min(...set)
}

/** Threats A-08: a page is a whole number from 1 to the limit; whatever else is sent does not bound the list. */
function pagePasses(group: readonly Applied[], data: OracleRequest['data']): boolean {
  const most = lowest(group.map((rule) => rule.pageLimit))
  if (most === 0 || !Object.hasOwn(data, 'limit')) return true
  const sent = data.limit
  const asked = typeof sent === 'string' && /^[0-9]{1,15}$/.test(sent) ? Number(sent) : sent
  return typeof asked === 'number' && Number.isInteger(asked) && asked >= 1 && asked <= most
}

function wrapLimits(group: readonly Applied[]): { min: number; max: number } {
  return { min: lowest(group.map((rule) => rule.minWrap)), max: lowest(group.map((rule) => rule.maxWrap)) }
}

/** The joined lists of one kind, by name in lower case; `every` stands for the empty list. */
function joinedLists(group: readonly Applied[], kind: 'allowed' | 'denied'): Map<string, OracleJson[] | 'every'> {
  const joined = new Map<string, OracleJson[] | 'every'>()
  for (const rule of group) {
    for (const [name, values] of Object.entries(rule[kind] ?? {})) {
      const before = joined.get(name.toLowerCase())
      const every = values.length === 0 || before === 'every'
      joined.set(name.toLowerCase(), every ? 'every' : [...(before ?? []), ...values])
    }
  }
  return joined
}

function valueFits(list: OracleJson[] | 'every', value: OracleJson): boolean {
  if (list === 'every') return true
  return list.some((listed) => {
    if (typeof listed !== 'string' || typeof value !== 'string') return JSON.stringify(listed) === JSON.stringify(value)
    if (listed === '*') return value === '*'
    const start = listed.startsWith('*')
    const end = listed.endsWith('*')
    const middle = listed.substring(start ? 1 : 0, end ? listed.length - 1 : listed.length)
    if (start && end) return value.indexOf(middle) !== -1
    if (start) return value.length >= middle.length && value.substring(value.length - middle.length) === middle
    if (end) return value.substring(0, middle.length) === middle
    return value === listed
  })
}

function dataPasses(group: readonly Applied[], data: OracleRequest['data']): boolean {
  const sent = Object.entries(data)
  for (const rule of group) {
    for (const name of rule.required ?? []) if (!sent.some(([key]) => key === name.toLowerCase())) return false
  }
  if (sent.length === 0) return true
  const denied = joinedLists(group, 'denied')
  if (denied.has('*')) return false
  for (const [name, value] of sent) {
    const list = denied.get(name.toLowerCase())
    if (list !== undefined && valueFits(list, value)) return false
  }
  const allowed = joinedLists(group, 'allowed')
  if ([...allowed.keys()].every((name) => name === '*')) return true
  return sent.every(([name, value]) => {
    const list = allowed.get(name.toLowerCase())
    return list === undefined ? allowed.has('*') : valueFits(list, value)
  })
}

const NEEDS: Readonly<Record<string, string>> = { renew: 'update', revoke: 'update', rollback: 'update' }

export function oracleAllows(
  policies: readonly OraclePolicy[],
  identity: OracleIdentity,
  { operation, path, data, wrapTtl, sudo }: OracleRequest,
  nowSeconds: number,
): boolean {
  if (operation === 'help') return true
  const listing = operation === 'list' || operation === 'scan'
  // A list's path gets its slash before the policy is asked.
  const asked = listing && path !== '' && !path.endsWith('/') ? `${path}/` : path
  const group = chosen(applied(policies, identity, nowSeconds), asked, listing)
  const words = capabilitiesOf(group)
  if (words.includes('deny') || !words.includes(NEEDS[operation] ?? operation)) return false
  if (sudo && !words.includes('sudo')) return false
  const { min, max } = wrapLimits(group)
  if (max > 0 && (wrapTtl === 0 || wrapTtl > max)) return false
  if (min > 0 && wrapTtl < min) return false
  if (listing) return pagePasses(group, data)
  return ['read', 'update', 'create', 'patch'].includes(operation) ? dataPasses(group, data) : true
}

export function oracleCapabilities(
  policies: readonly OraclePolicy[],
  identity: OracleIdentity,
  path: string,
  nowSeconds: number,
): readonly string[] {
  return capabilitiesOf(chosen(applied(policies, identity, nowSeconds), path, true))
}
