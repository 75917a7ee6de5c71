// Reads the record of the resource that a caller names, and turns refusals of the resource manager into refusals of the
// login.
import type { LoginAttempt } from './attempt.ts'
import { CloudRefusal, loginRefused } from './refusals.ts'
import { isOfType, isSameResource, type ResourceId, VIRTUAL_MACHINE } from './resource-id.ts'
import { permissionFor } from './resource-manager.ts'
import type { ResourceRecord } from './resource-record.ts'

/** The resource that a caller names, and the field that names it. */
export type Named = { readonly field: 'vmss_name' | 'vm_name' | 'resource_id'; readonly id: ResourceId }

/** Statuses that mean that there is no such resource. */
const MISSING = [400, 404, 409, 410]

/**
 * Returns the record of the named resource; if that is a scale set, checks that the host is a member.
 * @throws Refusal, CloudUnavailable
 */
export async function findRecord(attempt: LoginAttempt, { field, id }: Named): Promise<ResourceRecord> {
  const { host } = attempt
  if (field === 'vmss_name' && host !== undefined && isOfType(host, VIRTUAL_MACHINE)) {
    attempt.member = await readRecord(attempt, host)
    if (attempt.member.scaleSet === undefined || !isSameResource(attempt.member.scaleSet, id))
      throw loginRefused('vm is not a member of the scale set')
  }
  const record = await readRecord(attempt, id)
  if (!record.hasIdentity) throw loginRefused('no identity: the resource has none')
  return record
}

const readRecord = (attempt: LoginAttempt, id: ResourceId): Promise<ResourceRecord> =>
  told(id, () => attempt.recordOf(id))

/** Runs `work`. A resource that does not exist, or that this server may not read, becomes a refusal of the login. */
export async function told<T>(id: ResourceId, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof CloudRefusal)) throw cause
    if (MISSING.includes(cause.status)) throw loginRefused('resource not found', cause)
    if (cause.status === 403)
      throw loginRefused(`this server may not read the resource: its credential needs ${permissionFor(id)}`, cause)
    throw cause
  }
}
