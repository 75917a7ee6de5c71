// The life of a server with namespaces, drawn from a seed: each step changes something in the server and in the model,
// and asks what has become of it.
import assert from 'node:assert/strict'
import type { OracleRule } from '../coverage/acl-oracle.ts'
import { type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { recordsNaming } from '../fixtures/records-naming.ts'
import { turns } from '../fixtures/turns.ts'
import {
  type Asked,
  DEEPEST,
  type Entity,
  type Mount,
  NamespaceModel,
  newPlace,
  type Outcome,
  type Place,
  type Token,
} from './namespace-model.ts'

/** Some begin as others do, and some are mounts as well. */
const NAMES = ['a', 'ab', 'a-b', 'b', 'kv'] as const
const MOUNT_PATHS = ['kv', 'kv', 'kv', 'b', 'ab/kv', 'auth/up', 'auth/up', 'auth/ab'] as const
const POLICIES = ['p', 'q'] as const
const THINGS = ['k', 'l'] as const
const MOST_PLACES = 9
const PROBES = 10

/** What is asked, within a namespace. */
const ASKED: readonly Asked[] = [
  ...MOUNT_PATHS.flatMap((mount): Asked[] => {
    const folder = `${mount}/${mount.startsWith('auth/') ? 'users' : 'keys'}`
    return [
      { method: 'LIST', operation: 'list', path: folder },
      ...THINGS.map((thing): Asked => ({ method: 'GET', operation: 'read', path: `${folder}/${thing}` })),
    ]
  }),
  ...POLICIES.map((name): Asked => ({ method: 'GET', operation: 'read', path: `sys/policies/password/${name}` })),
  { method: 'GET', operation: 'read', path: 'sys/mounts' },
  { method: 'GET', operation: 'read', path: 'auth/token/lookup-self' },
  { method: 'LIST', operation: 'list', path: 'auth/token/accessors', sudo: true },
  { method: 'GET', operation: 'read', path: 'cubbyhole/c' },
]

const HEADS = ['', '', '', 'a/', 'a/a/', 'ab/', 'b/', '+/', '+/+/', '+/a/', 'a/+/']
const ENDS = ['*', '*', 'kv/*', 'kv/keys/*', 'kv/keys/k', 'kv/keys/', '+/keys/k', '+/+/k', 'auth/*', 'auth/up/users/+']
const ENDS_OF_SYSTEM = [
  'sys/*',
  'sys/mounts',
  'sys/policies/password/+',
  'auth/token/create',
  'auth/token/*',
  'cubbyhole/c',
]
const WHOLE = ['*', 'a*', 'ab*', 'a/*', 'b/*', '+/*', '+/+/+', 'auth/token/create', '+/auth/token/create']
const CAPABILITIES = ['read', 'read', 'list', 'update', 'sudo']

const isRefused = (status: number): boolean => status >= 400 && status < 500
const asPath = (text: string): string => (text === '' ? text : `${text}/`)

/** One server and what is known of it. */
export class NamespaceLife {
  readonly #server: MemoryServer
  readonly #random: PseudoRandom
  readonly #model = new NamespaceModel()
  /** How often there was which outcome. */
  readonly seen = new Map<string, number>()
  /** Everything that names the place that it is in. */
  readonly #canaries = new Set<string>()
  #made = 0

  private constructor(server: MemoryServer, random: PseudoRandom) {
    this.#server = server
    this.#random = random
  }

  static async begin(seed: number): Promise<NamespaceLife> {
    const life = new NamespaceLife(await startMemoryServer(), pseudoRandom(seed))
    const root = { text: 'root', policies: ['root'], isBatch: false, isRevoked: false, kept: new Map() }
    life.#model.tokens.push({ ...root, home: life.#model.root })
    for (let first = 0; first < 4; first++) await life.#makePlace()
    for (let first = 0; first < 8; first++) await life.#mount()
    return life
  }

  get #root(): Token {
    return this.#model.tokens[0] as Token
  }

  async step(): Promise<void> {
    const change = this.#random.pick(this.#changes)
    await change()
    for (let probe = 0; probe < PROBES; probe++) await this.#probe()
  }

  readonly #changes: readonly (() => Promise<void>)[] = [
    ...several(3, () => this.#makePlace()),
    ...several(2, () => this.#removePlace()),
    () => this.#lock(),
    ...several(2, () => this.#unlock()),
    ...several(3, () => this.#mount()),
    () => this.#unmount(),
    ...several(2, () => this.#move()),
    ...several(3, () => this.#writeThing()),
    ...several(8, () => this.#writePolicy()),
    ...several(2, () => this.#writePasswordPolicy()),
    ...several(4, () => this.#makeToken()),
    ...several(5, () => this.#delegate()),
    ...several(5, () => this.#login()),
    ...several(4, () => this.#makeGroup()),
    () => this.#revoke(),
    ...several(2, () => this.#keep()),
  ]

  #count(outcome: string): void {
    this.seen.set(outcome, (this.seen.get(outcome) ?? 0) + 1)
  }

  /** A text that is in nothing else. */
  #canary(): string {
    const canary = `canary-${++this.#made}.`
    this.#canaries.add(canary)
    return canary
  }

  /** Header and path of a request to the place: the first part of its path is in the one, the rest in the other. */
  #split(place: Place): readonly [header: string, path: string] {
    const names = place.path.split('/').slice(0, -1)
    const inHeader = this.#random.int(names.length + 1)
    const joined = (part: readonly string[]) => part.map((name) => `${name}/`).join('')
    return [joined(names.slice(0, inHeader)), joined(names.slice(inHeader))]
  }

  async #ask(place: Place, method: string, path: string, body?: object, token = this.#root) {
    const [namespace, before] = this.#split(place)
    return this.#server.call(method, before + path, body, token.text, namespace === '' ? {} : { namespace })
  }

  /** A change by root, which works if `isFine`, and is refused otherwise as what a caller asked for wrongly. */
  async #change(isFine: boolean, place: Place, method: string, path: string, body?: object) {
    const { status, body: answer } = await this.#ask(place, method, path, body)
    const lock = this.#model.lockOn(place)
    // It is opened from inside, unless another is around it.
    const isLocked = lock !== undefined && !(lock === place && path === 'sys/namespaces/api-lock/unlock')
    const about = `${method} ${path} in "${place.path}": ${status} ${JSON.stringify(answer)} ${JSON.stringify(body)}`
    if (isLocked) assert.equal(status, 503, about)
    else assert.ok(isFine ? status < 300 : isRefused(status), about)
    this.#count(isLocked ? 'locked change' : isFine ? `${method} ${path.split('/')[1]}` : 'refused change')
    return isFine && !isLocked ? answer : undefined
  }

  #place = (): Place => this.#random.pick(this.#model.places)
  /** Mostly one that is alive. */
  #token(): Token {
    const alive = this.#model.tokens.filter((one) => one === this.#root || this.#model.isAlive(one))
    return this.#random.pick(this.#random.chance(0.8) ? alive : this.#model.tokens)
  }

  #mounted(): readonly (readonly [Place, string, Mount])[] {
    return this.#model.places.flatMap((place) => [...place.mounts].map(([path, one]) => [place, path, one] as const))
  }

  async #makePlace(): Promise<void> {
    const { places } = this.#model
    const parent = this.#place()
    const depth = parent.path.split('/').length - 1
    if (depth === DEEPEST || places.length === MOST_PLACES) return
    const name = this.#random.pick(NAMES)
    const there = this.#model.at(`${parent.path}${name}/`)
    const isFree = ![...parent.mounts.keys()].some((path) => `${path}/`.startsWith(`${name}/`))
    const made = await this.#change(there !== undefined || isFree, parent, 'POST', `sys/namespaces/${name}`)
    if (made === undefined) return
    const { id, path } = made.data as { readonly id: string; readonly path: string }
    assert.equal(path, `${parent.path}${name}/`)
    if (there !== undefined) return assert.equal(id, there.id)
    assert.ok(places.every((one) => one.id !== id))
    assert.deepEqual(await recordsNaming(this.#server, id), [`root/core/namespace/${parent.id}/${name}`])
    places.push(newPlace(path, id))
  }

  async #removePlace(): Promise<void> {
    const place = this.#place()
    if (place === this.#model.root) return
    const name = place.path.split('/').at(-2) ?? ''
    const isEmpty = this.#model.inside(place).length === 0
    const answer = await this.#change(isEmpty, this.#model.around(place), 'DELETE', `sys/namespaces/${name}`)
    if (answer === undefined) return
    this.#model.remove(place)
    while (this.#server.node.namespaces.byId(place.id) !== undefined) await turns(1)
    await this.#requireNothingOf(place)
  }

  /** What is stored of one that is gone: data of mounts that left it, and where those say that their data are. */
  async #requireNothingOf({ id }: Place): Promise<void> {
    const isMovedData = (key: string) => /^(logical|auth)\//.test(key.slice(id.length + 1)) && key.startsWith(`${id}/`)
    const left = (await recordsNaming(this.#server, id)).filter((key) => !isMovedData(key))
    const moved = this.#mounted().filter(([, , { home }]) => home.id === id)
    assert.equal(left.length, moved.length, String(left))
    assert.ok(left.every((key) => key.includes('/core/mounts/')))
    const folders = (await recordsNaming(this.#server, id)).filter(isMovedData).map((key) => key.split('/')[2])
    assert.ok(new Set(folders).size <= moved.length)
  }

  async #lock(): Promise<void> {
    const place = this.#place()
    const [around, path] = this.#seenFrom(place)
    const isFine = place !== this.#model.root && this.#model.lockOn(place) === undefined
    const answer = await this.#change(isFine, around, 'POST', `sys/namespaces/api-lock/lock${path}`)
    if (answer !== undefined) place.unlockKey = String((answer.data as { unlock_key: string }).unlock_key)
  }

  async #unlock(): Promise<void> {
    const locked = this.#model.places.filter(({ unlockKey }) => unlockKey !== undefined)
    const place = this.#random.pick(locked.length === 0 ? this.#model.places : locked)
    const [around, path] = this.#seenFrom(place)
    const isFine = place.unlockKey !== undefined && this.#model.lockOn(place) === place
    const key = this.#random.chance(0.7) ? { unlock_key: place.unlockKey ?? 'wrong' } : {}
    const answer = await this.#change(isFine, around, 'POST', `sys/namespaces/api-lock/unlock${path}`, key)
    if (answer !== undefined) place.unlockKey = undefined
  }

  /** A namespace that another lies in, and the way there. */
  #seenFrom(place: Place): readonly [around: Place, path: string] {
    const around = this.#random.pick(this.#model.places.filter((one) => place.path.startsWith(one.path)))
    const path = place.path.slice(around.path.length, -1)
    return [around, path === '' ? '' : `/${path}`]
  }

  async #mount(): Promise<void> {
    const from = this.#place()
    const path = this.#random.pick(MOUNT_PATHS)
    const type = path.startsWith('auth/') ? 'userpass' : 'transit'
    const at = `sys/${type === 'transit' ? 'mounts/' : ''}${path}`
    const made = await this.#change(this.#model.hasRoom(from, path), from, 'POST', at, { type })
    if (made !== undefined) from.mounts.set(path, { type, home: from, things: new Map(), entities: new Map() })
  }

  async #unmount(): Promise<void> {
    if (this.#mounted().length === 0) return
    const [place, path, mount] = this.#random.pick(this.#mounted())
    const at = `sys/${mount.type === 'transit' ? 'mounts/' : ''}${path}`
    if ((await this.#change(true, place, 'DELETE', at)) === undefined) return
    place.mounts.delete(path)
    this.#endLogins(mount)
  }

  #endLogins(mount: Mount): void {
    for (const token of this.#model.tokens) if (token.login === mount) token.isRevoked = true
  }

  /** Within the namespace that is asked, both ends may lie in one below. */
  async #move(): Promise<void> {
    if (this.#mounted().length === 0) return
    const [place, path, mount] = this.#random.pick(this.#mounted())
    const [within, way] = this.#seenFrom(place)
    const from = asPath(way.slice(1)) + path
    const sent = this.#random.pick([asPath(this.#seenWithin(within)), '']) + this.#random.pick(MOUNT_PATHS)
    const [target, to] = this.#model.follow(within, sent)
    const isSameKind = path.startsWith('auth/') === to.startsWith('auth/')
    const isFine = isSameKind && !to.includes('/auth/') && this.#model.hasRoom(target, to, mount)
    if ((await this.#change(isFine, within, 'POST', 'sys/remount', { from, to: sent })) === undefined) return
    place.mounts.delete(path)
    target.mounts.set(to, mount)
    if (target !== place) this.#endLogins(mount)
  }

  #seenWithin(within: Place): string {
    const inside = this.#model.places.filter(({ path }) => path.startsWith(within.path))
    return this.#random.pick(inside).path.slice(within.path.length, -1)
  }

  async #writeThing(): Promise<void> {
    if (this.#mounted().length === 0) return
    const [place, path, mount] = this.#random.pick(this.#mounted())
    const name = this.#random.pick(THINGS)
    if (mount.type === 'transit') {
      const made = await this.#change(true, place, 'POST', `${path}/keys/${name}`, { type: 'ed25519' })
      const keys = made?.data?.keys as Readonly<Record<string, { readonly public_key: string }>> | undefined
      const key = keys?.['1']?.public_key
      if (key === undefined) return
      assert.equal(mount.things.get(name)?.canary ?? key, key)
      mount.things.set(name, { canary: key, policies: [] })
      this.#canaries.add(key)
    } else {
      const canary = this.#canary()
      const policies = [canary, this.#random.pick(POLICIES)]
      const body = { password: 'x', token_policies: policies }
      if ((await this.#change(true, place, 'POST', `${path}/users/${name}`, body)) !== undefined)
        mount.things.set(name, { canary, policies })
    }
  }

  /** Mostly about a namespace that is there, as the one in which it is written sees it. */
  #rule(place: Place): OracleRule {
    const { pick, chance, several: some } = this.#random
    const end = pick(chance(0.5) ? ENDS : ENDS_OF_SYSTEM)
    const head = chance(0.5) ? asPath(this.#seenWithin(place)) : pick(HEADS)
    const path = chance(0.2) ? pick(WHOLE) : head + end
    return { path, capabilities: chance(0.15) ? ['deny'] : some(1, 4, () => pick(CAPABILITIES)) }
  }

  async #writePolicy(): Promise<void> {
    const place = this.#place()
    const name = this.#random.pick(POLICIES)
    const rules = this.#random.several(1, 5, () => this.#rule(place))
    if (this.#random.chance(0.4)) rules.push(this.#ofDelegates(place))
    const lines = rules.map((rule) => `path "${rule.path}" { capabilities = ${JSON.stringify(rule.capabilities)} }`)
    const body = { policy: lines.join('\n') }
    if ((await this.#change(true, place, 'POST', `sys/policies/acl/${name}`, body)) !== undefined)
      place.policies.set(name, rules)
  }

  async #writePasswordPolicy(): Promise<void> {
    const place = this.#place()
    const name = this.#random.pick(POLICIES)
    const canary = this.#canary()
    const body = { policy: `# ${canary}\nlength = 20\nrule "charset" { charset = "abc" }` }
    if ((await this.#change(true, place, 'POST', `sys/policies/password/${name}`, body)) !== undefined)
      place.passwordPolicies.set(name, canary)
  }

  /** A policy by which tokens may be made, here and below. */
  #ofDelegates(place: Place): OracleRule {
    const head = this.#random.pick(['', '+/', asPath(this.#seenWithin(place))])
    return { path: `${head}auth/token/create`, capabilities: this.#random.pick([['update'], ['update', 'sudo']]) }
  }

  #policies(): readonly string[] {
    return [...new Set(this.#random.several(1, 2, () => this.#random.pick(POLICIES)))]
  }

  #add(answer: Record<string, unknown>, token: Omit<Token, 'text' | 'isRevoked' | 'kept'>): void {
    const { client_token: text, accessor } = answer.auth as { readonly client_token: string; readonly accessor: string }
    const ending = token.home === this.#model.root ? '' : `.${token.home.id}`
    assert.equal(/\.[^.]*$/.exec(text.slice(text.indexOf('.') + 1))?.[0] ?? '', ending, text)
    assert.equal(/\..*$/.exec(accessor)?.[0] ?? '', token.isBatch ? '' : ending, accessor)
    this.#model.tokens.push({ ...token, text, isRevoked: false, kept: new Map() })
  }

  async #makeToken(): Promise<void> {
    const written = this.#model.places.filter(({ policies }) => policies.size > 0)
    const home = written.length > 0 && this.#random.chance(0.7) ? this.#random.pick(written) : this.#place()
    const isBatch = this.#random.chance(0.3)
    const asked = { policies: this.#policies(), no_default_policy: this.#random.chance(0.3) }
    const policies = [...asked.policies, ...(asked.no_default_policy ? [] : ['default'])]
    const body = { ...asked, type: isBatch ? 'batch' : 'service' }
    const made = await this.#change(true, home, 'POST', 'auth/token/create', body)
    if (made !== undefined) this.#add(made, { home, policies, isBatch })
  }

  /**
   * A token that another makes: below its namespace it needs sudo, and at home it hands on what it has, to which sudo
   * adds `default`.
   */
  async #delegate(): Promise<void> {
    const parent = this.#token()
    if (parent === this.#root || parent.isBatch) return
    const below = this.#model.places.filter(({ path }) => path.startsWith(parent.home.path))
    const home = this.#random.pick(this.#random.chance(0.8) && below.length > 0 ? below : this.#model.places)
    const isAtHome = home === parent.home
    const asked = isAtHome ? [] : this.#policies()
    const { status, body } = await this.#ask(home, 'POST', 'auth/token/create', { policies: asked }, parent)
    const may = (sudo: object) =>
      this.#model.allows(parent, `${home.path}auth/token/create`, { operation: 'update', ...sudo })
    const isLocked = this.#model.lockOn(home) !== undefined
    const isAllowed = this.#model.isAlive(parent) && may({})
    const isGranted = isAllowed && (isAtHome || may({ sudo: true }))
    const expected = isLocked ? 503 : !isAllowed ? 403 : isGranted ? 200 : 400
    assert.equal(status, expected, `${JSON.stringify(body)} ${parent.home.path} makes a token in ${home.path}`)
    this.#count(`${status} to a delegate ${isAtHome ? 'at home' : 'elsewhere'}`)
    if (status !== 200) return
    const policies = isAtHome
      ? [...new Set([...parent.policies, ...(may({ sudo: true }) ? ['default'] : [])])]
      : [...asked, 'default']
    this.#add(body, { home, policies, isBatch: false, parent, entity: isAtHome ? parent.entity : undefined })
  }

  async #login(): Promise<void> {
    const logins = this.#mounted().filter(([, , { type, things }]) => type === 'userpass' && things.size > 0)
    if (logins.length === 0) return
    const [place, path, mount] = this.#random.pick(logins)
    const user = this.#random.pick([...mount.things.keys()])
    const made = await this.#change(true, place, 'POST', `${path}/login/${user}`, { password: 'x' })
    if (made === undefined) return
    const { entity_id: id } = made.auth as { readonly entity_id: string }
    const known = mount.entities.get(user)
    const entity = known === undefined || known.home.isGone ? { home: place, id } : known
    assert.equal(id, entity.id)
    assert.equal(/\..*$/.exec(id)?.[0] ?? '', entity.home === this.#model.root ? '' : `.${entity.home.id}`)
    mount.entities.set(user, entity)
    this.#add(made, {
      home: place,
      policies: [...(mount.things.get(user)?.policies ?? []), 'default'],
      isBatch: false,
      entity,
      login: mount,
    })
  }

  #entities(): readonly Entity[] {
    return this.#model.tokens.flatMap(({ entity }) => (entity === undefined || entity.home.isGone ? [] : [entity]))
  }

  async #makeGroup(): Promise<void> {
    const entities = this.#entities()
    if (entities.length === 0) return
    const home = this.#place()
    const members = this.#random.several(1, 3, () => this.#random.pick(entities))
    const policies = this.#policies()
    const body = { policies, member_entity_ids: members.map(({ id }) => id) }
    const made = await this.#change(true, home, 'POST', 'identity/group', body)
    if (made === undefined) return
    assert.equal(/\..*$/.exec(String(made.data?.id))?.[0] ?? '', home === this.#model.root ? '' : `.${home.id}`)
    this.#model.groups.push({ home, policies, members })
  }

  async #revoke(): Promise<void> {
    const token = this.#token()
    if (token === this.#root || token.isBatch) return
    const body = { token: token.text }
    const isFine = this.#model.isAlive(token)
    const { status } = await this.#ask(this.#model.root, 'POST', 'auth/token/revoke', body)
    // One that is none may be answered either way.
    assert.ok(isFine ? status === 204 : status < 500, String(status))
    token.isRevoked = true
  }

  /** Something in a cubbyhole, of which a token has one in each namespace. */
  async #keep(): Promise<void> {
    const token = this.#token()
    if (token.isBatch) return
    const place = this.#random.pick([token.home, this.#place()])
    if (place.isGone) return
    const canary = this.#canary()
    const { status } = await this.#ask(place, 'POST', 'cubbyhole/c', { canary }, token)
    const operation = token.kept.has(place) ? 'update' : 'create'
    const isAllowed = this.#model.isAlive(token) && this.#model.allows(token, `${place.path}cubbyhole/c`, { operation })
    const isLocked = this.#model.lockOn(place) !== undefined
    assert.equal(status, isLocked ? 503 : isAllowed ? 204 : 403, `cubbyhole in "${place.path}"`)
    if (status === 204) token.kept.set(place, canary)
  }

  async #probe(): Promise<void> {
    const token = this.#token()
    const inside = this.#model.places.filter(({ path }) => path.startsWith(token.home.path))
    const place = inside.length > 0 && this.#random.chance(0.5) ? this.#random.pick(inside) : this.#place()
    const [header, before] = this.#random.chance(0.85) ? this.#split(place) : this.#anyway()
    await this.#require(header, before, this.#random.pick(this.#random.chance(0.5) ? this.#there(place) : ASKED), token)
  }

  /** What may be asked about things that are there. */
  #there(place: Place): readonly Asked[] {
    const isThere = ({ path }: Asked) => [...place.mounts.keys()].some((mount) => path.startsWith(`${mount}/`))
    return ASKED.filter((asked) => isThere(asked) || asked.path.includes('/token/') || asked.path.startsWith('sys/'))
  }

  /** A way that may lead nowhere. */
  #anyway(): readonly [header: string, path: string] {
    const way = () => this.#random.several(0, 2, () => `${this.#random.pick(NAMES)}/`).join('')
    return [way(), way()]
  }

  async #require(header: string, before: string, asked: Asked, token: Token): Promise<void> {
    if (asked.path.startsWith('cubbyhole/') && token.isBatch) return
    const path = before + asked.path
    const wanted = this.#model.outcome(header, path, asked, token)
    const namespace = header === '' ? {} : { namespace: header }
    const { status, body } = await this.#server.call(asked.method, path, undefined, token.text, namespace)
    const text = JSON.stringify(body).replaceAll('\\n', '')
    const about = `${asked.method} "${header}" + ${path}: ${status} ${text}, a token of "${token.home.path}"`
    assert.equal(status, wanted.status, `${about} with ${JSON.stringify(this.#model.policiesOf(token))}`)
    this.#requireCanary(wanted, text, asked, about)
    const asker = token === this.#root ? 'root' : this.#model.isAlive(token) ? 'alive' : 'dead'
    const place = this.#model.at(header + before)
    const where = place === undefined ? 'nowhere' : place === token.home ? 'at home' : 'elsewhere'
    this.#count(`${status} ${asker} ${where}`)
    if (status === 200 && !this.#model.allows({ ...token, entity: undefined }, place?.path + asked.path, asked))
      this.#count('200 by a group')
  }

  /** The answer has what is asked for, and nothing else that somebody put somewhere. */
  #requireCanary({ canary }: Outcome, text: string, { path }: Asked, about: string): void {
    // A token shows its own policies.
    if (path === 'auth/token/lookup-self') return
    for (const one of this.#canaries) assert.equal(text.includes(one), one === canary, about)
  }

  /** Asks for everything everywhere with every token, and at the end for what is left of each place. */
  async requireAll(): Promise<void> {
    for (const token of this.#model.tokens)
      for (const place of this.#model.places) {
        const [header, before] = this.#split(place)
        await this.#require(header, before, this.#random.pick(ASKED), token)
      }
    while (this.#model.places.length > 1) {
      for (const place of this.#model.places) place.unlockKey === undefined || (await this.#unlock())
      await this.#removePlace()
    }
  }
}

const several = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one)
