// Refusals of graph, in its own form and words.
import type { JsonObject } from '../src/lib/json.ts'
import { Refusal } from './exchange.ts'

/** Makes a refusal. */
export function graphError(status: number, code: string, message: string): Refusal {
  return new Refusal({ status, body: graphErrorBody(code, message) })
}

/** Returns the body of a refusal, which faults send as well. Date and id are fixed, so that answers repeat. */
export function graphErrorBody(code: string, message: string): JsonObject {
  const zero = '00000000-0000-0000-0000-000000000000'
  return { error: { code, message, innerError: { date: '1970-01-01T00:00:00', 'request-id': zero } } }
}

/** The refusal for a caller without the permission. */
export function graphDenied(): Refusal {
  return graphError(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
}

/** The refusal for an object that is not there. */
export function graphMissing(id: string): Refusal {
  const text = `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`
  return graphError(404, 'Request_ResourceNotFound', text)
}
