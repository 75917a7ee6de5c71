// Names of entities and of groups are unique in a namespace, in any case of their letters. Each function works inside a
// transaction of the caller.
import { fail } from '../api/errors.ts'
import { idEnding } from '../api/namespace.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Entity, Group } from './entries.ts'
import { nameSegment } from './names.ts'
import { freeName, type IdentityParts, takeName } from './records.ts'

type Kind = 'entity' | 'group'
type Named = Pick<Entity | Group, 'id' | 'namespace' | 'name'>

const SUFFIX_BYTES = 4

/** Returns a made-up name that is free; `find` looks a name up in the namespace. It ends as ids there do. */
export async function madeUpName(
  { world }: IdentityParts,
  kind: Kind,
  namespaceId: string,
  find: (name: string) => Promise<Named | undefined>,
): Promise<string> {
  for (;;) {
    const name = `${kind}_${world.random.bytes(SUFFIX_BYTES).toString('hex')}${idEnding(namespaceId)}`
    if ((await find(name)) === undefined) return name
  }
}

/** Takes the name of a new thing. @throws Refusal if another has it */
export async function claimName(tx: ViewTransaction, kind: Kind, thing: Named): Promise<void> {
  if (await takeName(tx, `${kind}-name`, thing.name, thing)) return
  throw fail('field_invalid', ['name', `another ${kind} has it, in whatever case: choose another, or change that one`])
}

/** Exchanges the old name for the new one. @throws Refusal if another has the new one */
export async function changeName(tx: ViewTransaction, kind: Kind, before: Named, after: Named): Promise<void> {
  if (after.name === before.name) return
  if (nameSegment(after.name) !== nameSegment(before.name)) freeName(tx, `${kind}-name`, before)
  await claimName(tx, kind, after)
}
