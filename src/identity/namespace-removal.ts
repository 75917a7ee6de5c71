// Removes what a namespace that is being deleted has of identities, and the memberships that others have by it. What
// the set shares and what belongs to this cluster are removed apart, as halves.ts has it.
//
// Each step is a transaction of bounded size: it takes the first keys that are left in a folder and removes them with
// what they lead to. So a removal that was interrupted is called again and goes on, and one that has been done does
// nothing. Entities and groups go first: from then on the rest counts for nothing, and since no id is used twice it
// never will again.
import type { DataOwner } from '../api/node-role.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { removeEntity } from './entities.ts'
import { ALIAS } from './entries.ts'
import { removeGroup } from './groups.ts'
import { membershipIn, removeChild, removeMembership } from './memberships.ts'
import { homeOf, idAtPlace } from './names.ts'
import { FOLDERS, findEntity, findGroup, type IdentityParts, removeAlias } from './records.ts'

/** Keys that one transaction takes; each leads to up to three more. */
const PAGE = 200

type Half = (typeof FOLDERS)[number]
/** Removes what a key leads to. `place` is the key behind its folder, which begins with the place of an id. */
type Removal = (parts: IdentityParts, tx: ViewTransaction, place: string, half: Half) => Promise<void> | void

/** The folders that have one for each namespace, in the order of their removal. */
const FOLDERS_OF_NAMESPACES: Readonly<Record<string, Removal>> = {
  entity: async (_parts, tx, place) => {
    const entity = await findEntity(tx, idAtPlace(place))
    if (entity !== undefined) removeEntity(tx, entity)
  },
  group: async (parts, tx, place) => {
    const group = await findGroup(tx, idAtPlace(place))
    if (group !== undefined) removeGroup(parts, tx, group)
  },
  alias: async ({ digest }, tx, place, half) => {
    const bytes = await tx.get(`${half}alias/${place}`)
    const alias = bytes === undefined ? undefined : ALIAS.decode(bytes)
    if (alias !== undefined) await removeAlias(tx, alias, digest(alias.name))
  },
  'entity-group': (_parts, tx, place, half) => {
    const { stamps, id: groupId } = membershipIn(lastOf(place))
    removeMembership(tx, { ...stamps, entityId: idAtPlace(place), groupId, local: half === FOLDERS[1] })
  },
  'group-entity': (_parts, tx, place, half) => {
    const { stamps, id: entityId } = membershipIn(lastOf(place))
    removeMembership(tx, { ...stamps, entityId, groupId: idAtPlace(place), local: half === FOLDERS[1] })
  },
  'group-parent': (_parts, tx, place) => removeChild(tx, lastOf(place), idAtPlace(place)),
  'group-child': (_parts, tx, place) => removeChild(tx, idAtPlace(place), lastOf(place)),
  // What is left of these leads to nothing that is there.
  'entity-name': () => {},
  'group-name': () => {},
  'alias-id': () => {},
  'alias-name': () => {},
  'alias-retired': () => {},
  'group-alias': () => {},
  'group-alias-name': () => {},
}

const lastOf = (place: string): string => place.slice(place.lastIndexOf('/') + 1)

/** Removes what the set shares of the namespace; for any other owner, what this cluster alone has of it. */
export async function removeNamespace(parts: IdentityParts, namespaceId: string, owner: DataOwner): Promise<void> {
  const half = FOLDERS[owner === 'set' ? 0 : 1]
  for (const [name, removal] of Object.entries(FOLDERS_OF_NAMESPACES)) {
    const folder = `${half}${name}/`
    while (
      await removePage(parts, folder + homeOf(namespaceId), (tx, key) =>
        removal(parts, tx, key.slice(folder.length), half),
      )
    )
      // Other namespaces get their time.
      await parts.world.timers.sleep(0)
  }
}

/** Removes one page of the keys in a folder; true if there may be more. */
function removePage(
  { view }: IdentityParts,
  folder: string,
  removal: (tx: ViewTransaction, key: string) => Promise<void> | void,
): Promise<boolean> {
  return view.transaction(async (tx) => {
    const keys = await tx.keys(folder, '', PAGE)
    for (const key of keys) {
      await removal(tx, key)
      tx.delete(key)
    }
    return keys.length === PAGE
  })
}
