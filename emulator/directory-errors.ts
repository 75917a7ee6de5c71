// Refusals of the directory. Words and numbers are the vendor's: servers under test may show or match them.
import type { JsonObject } from '../src/lib/json.ts'
import { Refusal } from './exchange.ts'

/** Makes a refusal. `code` is the number behind AADSTS. */
export function directoryError(status: number, error: string, code: number, text: string): Refusal {
  return new Refusal({ status, headers: { 'Cache-Control': 'no-store' }, body: directoryErrorBody(error, code, text) })
}

/** Returns the body of a refusal, which faults send as well. */
export function directoryErrorBody(error: string, code: number, text: string): JsonObject {
  return {
    error,
    error_description: `AADSTS${code}: ${text}`,
    error_codes: [code],
    // Fixed: they help only people who ask the vendor.
    timestamp: '1970-01-01 00:00:00Z',
    trace_id: '00000000-0000-0000-0000-000000000000',
    correlation_id: '00000000-0000-0000-0000-000000000000',
  }
}

/** The refusal for a tenant that the directory does not have. */
export function unknownTenant(name: string): Refusal {
  return directoryError(400, 'invalid_tenant', 90002, `Tenant '${name}' not found. Check the tenant's id.`)
}
