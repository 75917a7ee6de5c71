// Whether the state of the server came from a snapshot. A restored store has a history of its own; what is stored here
// names the one that the audit knows, so the first opening behind a restore sees that it is another:
//
//   root/core/audit-origin    JSON, {"format":1,"history":HEX,"restored":{"at":RFC 3339,"before":PUBLIC KEY}}
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import type { View } from '../storage/sealed-storage.ts'
import type { RestoredState } from './device.ts'

const ORIGIN = 'audit-origin'

type Origin = { readonly history: string; readonly restored: RestoredState | undefined }

/** Undefined where it was never restored. */
export async function readRestored(view: Pick<View, 'get'>): Promise<RestoredState | undefined> {
  return decode(await view.get(ORIGIN))?.restored
}

/** `now` is what counts where a restore came in between. True where one did. */
export function noteHistory(view: View, history: string, now: () => RestoredState): Promise<boolean> {
  return view.transaction(async (tx) => {
    const known = decode(await tx.get(ORIGIN))
    if (known?.history === history) return false
    const restored = known === undefined ? undefined : now()
    tx.put(ORIGIN, Buffer.from(JSON.stringify({ format: 1, history, ...(restored && { restored }) })))
    return restored !== undefined
  })
}

function decode(bytes: Buffer | undefined): Origin | undefined {
  const value = bytes === undefined ? undefined : parseStoredJson(bytes)
  if (!isJsonObject(value) || typeof value.history !== 'string') return undefined
  const { restored } = value
  if (!isJsonObject(restored)) return { history: value.history, restored: undefined }
  return { history: value.history, restored: { at: String(restored.at), before: String(restored.before) } }
}
