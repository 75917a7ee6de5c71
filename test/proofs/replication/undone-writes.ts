// What a cluster keeps aside of what its new primary does not have.
import assert from 'node:assert/strict'
import { DR } from '../../fixtures/failing-over.ts'
import type { Cluster } from '../../fixtures/real-cluster.ts'

type Kept = { readonly id: string; readonly complete: boolean }
type Shown = { readonly operations: readonly { readonly path: string }[] }

/** Parts of the paths of all undone records: names of what was written are among them. Nothing is kept afterwards. */
export async function takeUndone(secondary: Cluster, token: string): Promise<ReadonlySet<string>> {
  const ask = async (what: string, body: object = {}): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await secondary.call('POST', `${DR}/secondary/${what}`, { dr_operation_token: token, ...body }, '')
    assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data ?? {}
  }
  const names = new Set<string>()
  for (const { id, complete } of (await ask('undone')).undone as readonly Kept[]) {
    assert.ok(complete, 'all that was undone is kept')
    for (let after: unknown = 0; after !== undefined; ) {
      const page = await ask('undone/show', { id, after })
      const records = page.records as readonly Shown[]
      for (const { path } of records.flatMap(({ operations }) => operations))
        for (const part of path.split('/')) names.add(part)
      after = page.next_after
    }
    await ask('undone/delete', { id })
  }
  return names
}
