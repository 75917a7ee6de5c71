// The comparison of two trees over a link: roots of scopes, then hashes of pages, then digests of buckets. Each end
// holds its own tree, and tells no more than what the other needs to find the buckets that differ.
import { SENT_CLASSES } from '../../storage/classes.ts'
import type { PageAddress, TreeBucket, TreeClass } from '../../storage/contract.ts'
import { differingPlaces, faultOfPage, TREE_CLASSES, type Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { ProtocolFault } from './frames.ts'
import type { Message } from './messages.ts'

type ScopeRoots = Message<'roots'>['scopes']
type ScopePages = Message<'pages'>['scopes']
type PageDigests = Message<'digests'>['pages']

/** What two ends compare: the part of their trees that goes over the family, and that a filter lets through. */
export type Compared = { readonly family: ReplicationFamily; readonly isReached: (scope: string) => boolean }

/** True for the scope of a class that is in this part. A peer may name any. */
export function isCompared({ family, isReached }: Compared, part: Pick<PageAddress, 'class' | 'scope'>): boolean {
  return SENT_CLASSES[family].has(part.class) && isReached(part.scope)
}

/** Roots of all such scopes that this end has. */
export function rootsOf(tree: Tree, compared: Compared): ScopeRoots {
  return TREE_CLASSES.flatMap((storageClass) =>
    tree.scopes(storageClass).flatMap((scope) => {
      if (!isCompared(compared, { class: storageClass, scope })) return []
      const root = tree.scopeRoot(storageClass, scope)
      return root === undefined ? [] : [{ class: storageClass, scope, root }]
    }),
  )
}

/** Hashes of the pages of each scope whose root is another, or that only one end has. */
export function pagesOf(tree: Tree, compared: Compared, theirs: ScopeRoots): ScopePages {
  const known = new Map(theirs.map(({ class: of, scope, root }) => [nameOf(of, scope), root]))
  const names = [...rootsOf(tree, compared), ...theirs.filter((one) => isCompared(compared, one))]
  const scopes = new Map(names.map(({ class: of, scope }) => [nameOf(of, scope), { class: of, scope }]))
  return [...scopes.entries()].flatMap(([name, { class: of, scope }]) => {
    const [mine, other] = [tree.scopeRoot(of, scope), known.get(name)]
    if (mine !== undefined && other !== undefined && mine.equals(other)) return []
    const pages = [...tree.pageHashes(of, scope)].map(([page, hash]) => ({ page, hash }))
    return [{ class: of, scope, pages }]
  })
}

/** Pages that differ by their hashes, whichever end has them. */
export function differingPages(tree: Tree, theirs: ScopePages): PageAddress[] {
  return theirs.flatMap(({ class: of, scope, pages }) => {
    const [mine, others] = [tree.pageHashes(of, scope), new Map(pages.map(({ page, hash }) => [page, hash]))]
    const numbers = [...new Set([...mine.keys(), ...others.keys()])].sort((a, b) => a - b)
    const differing = numbers.filter((page) => {
      const [here, there] = [mine.get(page), others.get(page)]
      return here === undefined || there === undefined || !here.equals(there)
    })
    return differing.map((page) => ({ class: of, scope, page }))
  })
}

/** The digests of these pages. */
export function digestsOf(tree: Tree, pages: readonly PageAddress[]): PageDigests {
  return pages.map((page) => tree.page(page))
}

/** Buckets that differ by their digests. @throws ProtocolFault for digests that no tree has */
export function differingBuckets(tree: Tree, theirs: PageDigests): TreeBucket[] {
  return theirs.flatMap((page) => {
    const fault = faultOfPage(page)
    if (fault !== undefined) throw new ProtocolFault('damaged', `Page ${page.page} of ${page.scope} ${fault}`)
    const { class: of, scope, page: number } = page
    const places = differingPlaces(tree.page(page).digests, page.digests)
    return places.map((place) => ({ class: of, scope, page: number, place }))
  })
}

const nameOf = (storageClass: TreeClass, scope: string): string => `${storageClass} ${scope}`
