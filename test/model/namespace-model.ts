// A tree of namespaces as a model: what is in each, and what a request must be answered. Written as the reference tells
// it, one namespace after the other, and sharing nothing with the program: no ids, tables or compiled rules.
import { type OraclePolicy, type OracleRule, oracleAllows } from '../coverage/acl-oracle.ts'

/** A namespace. One that is made again under the same path is another. */
export type Place = {
  /** Ends in '/', or is '' for the root. */
  readonly path: string
  readonly id: string
  /** Opens it, while it is locked. */
  unlockKey?: string | undefined
  isGone?: true
  readonly policies: Map<string, readonly OracleRule[]>
  /** Each with a text that no other has. */
  readonly passwordPolicies: Map<string, string>
  /** By path, without '/' at the end. */
  readonly mounts: Map<string, Mount>
}
/** What is in a mount moves with it. */
export type Mount = {
  readonly type: 'transit' | 'userpass'
  /** The namespaces by whose id data of it are stored: that in which it was made. */
  readonly home: Place
  /** Keys of transit with their public keys, users with policies of which no other has the first. */
  readonly things: Map<string, Thing>
  readonly entities: Map<string, Entity>
}
export type Thing = { readonly canary: string; readonly policies: readonly string[] }
export type Entity = { readonly home: Place; readonly id: string }
export type Group = { readonly home: Place; readonly policies: readonly string[]; readonly members: readonly Entity[] }
export type Token = {
  readonly text: string
  readonly home: Place
  readonly policies: readonly string[]
  readonly isBatch: boolean
  readonly parent?: Token | undefined
  readonly entity?: Entity | undefined
  /** The mount that gave it. */
  readonly login?: Mount
  isRevoked: boolean
  /** What it keeps in its cubbyholes, by namespace. */
  readonly kept: Map<Place, string>
}

/** A request to what `about` names; `canary` is what its answer alone may hold. */
export type Asked = {
  readonly method: string
  readonly operation: string
  /** Within the namespace. */
  readonly path: string
  readonly sudo?: true
}
/** What a policy judges, besides the path. */
export type Judged = { readonly operation: string; readonly sudo?: boolean | undefined }
export type Outcome = { readonly status: 200 | 403 | 404 | 503; readonly canary?: string | undefined }

export const DEEPEST = 4

/** What the policy `default` says about what is asked here. */
const DEFAULT_RULES: readonly OracleRule[] = [
  { path: 'auth/token/lookup-self', capabilities: ['read'] },
  { path: 'cubbyhole/*', capabilities: ['create', 'read', 'update', 'delete', 'list'] },
]

export const newPlace = (path: string, id: string): Place => ({
  path,
  id,
  policies: new Map(),
  passwordPolicies: new Map(),
  mounts: new Map(),
})

/** All that is known of the server. */
export class NamespaceModel {
  readonly places: Place[] = [newPlace('', 'root')]
  groups: Group[] = []
  readonly tokens: Token[] = []

  get root(): Place {
    return this.places[0] as Place
  }

  at(path: string): Place | undefined {
    return this.places.find((one) => one.path === path)
  }

  /** The namespaces directly inside. */
  inside(place: Place): readonly Place[] {
    return this.places.filter((one) => one !== place && this.around(one) === place)
  }

  /** The one that it lies in. */
  around(place: Place): Place {
    const names = place.path.split('/').slice(0, -2)
    return this.at(names.map((name) => `${name}/`).join('')) as Place
  }

  /** The deepest namespace from `place` on that the path leads into, and what is left of the path. */
  follow(place: Place, path: string): readonly [Place, string] {
    const slash = path.indexOf('/')
    const inner = slash < 0 ? undefined : this.at(place.path + path.slice(0, slash + 1))
    return inner === undefined ? [place, path] : this.follow(inner, path.slice(slash + 1))
  }

  /** The topmost locked namespace. */
  lockOn(place: Place): Place | undefined {
    const above = place === this.root ? undefined : this.lockOn(this.around(place))
    return above ?? (place.unlockKey === undefined ? undefined : place)
  }

  isAlive(token: Token): boolean {
    if (token.isRevoked || token.home.isGone || token.entity?.home.isGone) return false
    return token.parent === undefined || this.isAlive(token.parent)
  }

  /** The mount of a path, and what is left of the path. */
  mountOf({ mounts }: Place, path: string): readonly [Mount, string] | undefined {
    for (const [at, mount] of mounts) if (path.startsWith(`${at}/`)) return [mount, path.slice(at.length + 1)]
    return undefined
  }

  /** All policies that count for a token, each with the namespace that it is written in. */
  policiesOf({ home, policies, entity }: Token): readonly OraclePolicy[] {
    const named = (place: Place, names: readonly string[]): OraclePolicy[] =>
      names.flatMap((name) => {
        const written = name === 'default' ? DEFAULT_RULES : place.policies.get(name)
        return written === undefined ? [] : [{ namespace: place.path, rules: written }]
      })
    const ofGroups = this.groups
      .filter((group) => !group.home.isGone && group.home.path.startsWith(home.path))
      .filter(({ members }) => entity !== undefined && members.includes(entity))
    return [...named(home, policies), ...ofGroups.flatMap((group) => named(group.home, group.policies))]
  }

  allows(token: Token, full: string, { operation, sudo = false }: Judged): boolean {
    if (token.policies.includes('root')) return true
    const request = { operation, path: full, data: {}, wrapTtl: 0, sudo }
    return oracleAllows(this.policiesOf(token), {}, request, 0)
  }

  /** What the server must answer to the request of the token, with this header and path. */
  outcome(header: string, path: string, asked: Omit<Asked, 'path'>, token: Token): Outcome {
    const outer = this.at(header)
    if (outer === undefined) return { status: 404 }
    const [place, rest] = this.follow(outer, path)
    if (this.lockOn(place) !== undefined) return { status: 503 }
    if (!this.isAlive(token)) return { status: 403 }
    // It is about the token, wherever it is asked.
    const judgedIn = rest === 'auth/token/lookup-self' ? token.home : place
    // What is not there needs no more than the right to its path.
    const sudo = asked.sudo === true && rest === 'auth/token/accessors'
    if (!this.allows(token, judgedIn.path + rest, { operation: asked.operation, sudo })) return { status: 403 }
    return this.#found(place, rest, token)
  }

  #found(place: Place, rest: string, token: Token): Outcome {
    if (rest === 'sys/mounts' || rest === 'auth/token/lookup-self') return { status: 200 }
    if (rest === 'auth/token/accessors') return { status: this.#hasTokens(place) ? 200 : 404 }
    const shown = (canary: string | undefined): Outcome => ({ status: canary === undefined ? 404 : 200, canary })
    if (rest === 'cubbyhole/c') return shown(token.kept.get(place))
    const policy = /^sys\/policies\/password\/(.*)$/.exec(rest)?.[1]
    if (policy !== undefined) return shown(place.passwordPolicies.get(policy))
    const [mount, below] = this.mountOf(place, rest) ?? []
    if (mount === undefined || below === undefined) return { status: 404 }
    const folder = mount.type === 'transit' ? 'keys' : 'users'
    if (below === folder) return { status: mount.things.size > 0 ? 200 : 404 }
    return shown(below.startsWith(`${folder}/`) ? mount.things.get(below.slice(folder.length + 1))?.canary : undefined)
  }

  #hasTokens(place: Place): boolean {
    return this.tokens.some((token) => token.home === place && !token.isBatch && this.isAlive(token))
  }

  /** A mount may have its path there. */
  hasRoom(place: Place, path: string, moving?: Mount): boolean {
    const [name = ''] = path.split('/')
    if (this.at(`${place.path}${name}/`) !== undefined) return false
    return [...place.mounts].every(
      ([at, mount]) => mount === moving || !(`${at}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${at}/`)),
    )
  }

  /** Ends a namespace without others inside, with all that is in it. */
  remove(place: Place): void {
    place.isGone = true
    this.places.splice(this.places.indexOf(place), 1)
    this.groups = this.groups.filter(({ home }) => home !== place)
  }
}
