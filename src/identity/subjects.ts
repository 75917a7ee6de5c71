// The subject behind a token: the facts about an entity that access depends on. They are cached, because every request
// asks for them.
import type { TemplateReference } from '../auth/policy-path.ts'
import type { NamespacedNames, Subject } from '../auth/subject.ts'
import { CoherentCache } from '../lib/coherent-cache.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { Alias, Entity, Group } from './entries.ts'
import { directGroups, type GivenMembership, inheritedGroups } from './memberships.ts'
import { idAtPlace } from './names.ts'
import { aliasesOf, FOLDERS, type From, findEntity, type IdentityParts } from './records.ts'

/** An entry has some hundred bytes, with groups and metadata some thousand. */
const CACHED_SUBJECTS = 20_000

/** Everything about one entity, as one reading found it. */
export type EntityFacts = {
  readonly entity: Entity
  readonly aliases: readonly Alias[]
  /** The groups that it is in itself. */
  readonly direct: readonly Group[]
  /** Those of its memberships that logins gave. */
  readonly logins: readonly GivenMembership[]
  /** The groups above those. */
  readonly inherited: readonly Group[]
}

/**
 * Reads the facts. The entries are read one by one, so a write in between may show in some of them only. `loginGroups`
 * are memberships that logins on another cluster gave.
 */
export async function entityFacts(
  from: From,
  entity: Entity,
  loginGroups: readonly GivenMembership[] = [],
): Promise<EntityFacts> {
  const aliases = await aliasesOf(from, entity.id)
  const { groups: direct, logins } = await directGroups(from, entity.id, aliases, loginGroups)
  return { entity, aliases, direct, logins, inherited: await inheritedGroups(from, direct) }
}

/** The subjects of one thread. A change of an entity drops that one; a change of any group drops all. */
export class Subjects {
  readonly #subjects = new CoherentCache<Subject>(CACHED_SUBJECTS)
  readonly #parts: Pick<IdentityParts, 'view' | 'digest'>

  constructor(parts: Pick<IdentityParts, 'view' | 'digest'>, invalidation: Invalidation) {
    this.#parts = parts
    const reset = () => this.#subjects.clear()
    const forget = (rest: string) => this.#subjects.forget(idAtPlace(rest))
    for (const folder of FOLDERS) {
      for (const perEntity of ['entity/', 'alias/', 'alias-retired/', 'entity-group/']) {
        invalidation.register({ prefix: `sys/${folder}${perEntity}`, changed: forget, reset })
      }
      // A group may be above any entity, and changes of groups are rare, so all subjects are dropped.
      for (const perGroup of ['group/', 'group-parent/']) {
        invalidation.register({ prefix: `sys/${folder}${perGroup}`, changed: reset, reset })
      }
    }
  }

  /** The subject of an entity; undefined if it does not exist. A promise only if it is not cached. */
  get(entityId: string): Subject | undefined | Promise<Subject | undefined> {
    return this.#subjects.get(entityId, this.#load)
  }

  readonly #load = (entityId: string): Promise<Subject | undefined> => this.read(entityId)

  /**
   * The subject of an entity, past the cache; in these groups by logins elsewhere. Reads until two readings agree: then
   * all facts were true at one moment between them. With a single reading an entity could get a policy that a group was
   * given after the entity had left it.
   */
  async read(entityId: string, loginGroups: readonly GivenMembership[] = []): Promise<Subject | undefined> {
    for (let before = ''; ; ) {
      const entity = await findEntity(this.#parts.view, entityId)
      if (entity === undefined) return undefined
      const facts = await entityFacts(this.#parts.view, entity, loginGroups)
      const text = JSON.stringify(facts)
      if (text === before) return subjectOf(facts, this.#parts.digest)
      before = text
    }
  }
}

/**
 * Makes the subject: policies of the entity and all its groups, and the values for templates in policies. `key` is a
 * digest of those values, so that compiled policies can be cached by it.
 */
export function subjectOf(facts: EntityFacts, digest: (text: string) => string): Subject {
  const { entity } = facts
  const groups = [...facts.direct, ...facts.inherited]
  return Object.freeze({
    disabled: entity.disabled,
    policies: policiesOf([entity, ...groups]),
    loginGroups: Object.freeze([...facts.logins]),
    key: digest(JSON.stringify(templateValues(facts, groups))),
    resolve: (reference: TemplateReference, namespaceId: string) => resolve(facts, groups, reference, namespaceId),
  })
}

/** The policies that entity and groups give, by the namespace of each. */
function policiesOf(givers: readonly Pick<Group, 'namespace' | 'policies'>[]): readonly NamespacedNames[] {
  const byNamespace = new Map<string, Set<string>>()
  for (const { namespace, policies } of givers) {
    if (policies.length === 0) continue
    const names = byNamespace.get(namespace) ?? new Set()
    byNamespace.set(namespace, names)
    for (const name of policies) names.add(name)
  }
  const sorted = [...byNamespace].sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.freeze(
    sorted.map(([namespaceId, names]) => Object.freeze({ namespaceId, names: Object.freeze([...names].sort()) })),
  )
}

/** Everything that `resolve` reads; what is missing here would let a cached policy outlive a change. */
function templateValues({ entity, aliases }: EntityFacts, groups: readonly Group[]): unknown {
  return [
    [entity.id, entity.name, entity.metadata],
    aliases.map(({ id, name, mountAccessor, metadata, customMetadata }) => [
      mountAccessor,
      id,
      name,
      metadata,
      customMetadata,
    ]),
    groups.map(({ id, name, metadata }) => [id, name, metadata]),
  ]
}

/** The value of a template. An entity has one alias at a mount, so the accessor says which is meant (threats A-04). */
function resolve(
  { entity, aliases }: EntityFacts,
  groups: readonly Group[],
  reference: TemplateReference,
  namespaceId: string,
): string | undefined {
  const { subject, selector } = reference
  switch (subject) {
    case 'entity':
      return fieldOf(entity, reference)
    case 'alias':
      return fieldOf(
        aliases.find(({ mountAccessor }) => mountAccessor === selector),
        reference,
      )
    case 'group-by-id':
      return fieldOf(
        groups.find(({ id }) => id === selector),
        reference,
      )
    case 'group-by-name':
      return fieldOf(
        groups.find(({ name, namespace }) => name === selector && namespace === namespaceId),
        reference,
      )
  }
}

type Named = Pick<Entity, 'id' | 'name' | 'metadata'> & Partial<Pick<Alias, 'customMetadata'>>

function fieldOf(thing: Named | undefined, { field, key }: TemplateReference): string | undefined {
  if (thing === undefined) return undefined
  if (field === 'id' || field === 'name') return thing[field]
  const texts = field === 'metadata' ? thing.metadata : (thing.customMetadata ?? {})
  return Object.hasOwn(texts, key) ? texts[key] : undefined
}
