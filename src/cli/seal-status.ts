// The seal status of a server, with what `sys/leader` says of the cluster. Both answers are plain ones, without the
// envelope, and need no token.
import type { AnswerRow } from './answer-rows.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Client } from './client.ts'
import { exactMember, isMembers, type Json, type JsonMembers } from './exact-json.ts'
import { formatTable } from './output.ts'
import { RemoteError } from './remote-error.ts'

const PATH = 'sys/seal-status'

/** Reads the seal status, and the members of `sys/leader` from an unsealed server that has it. @throws RemoteFailure */
export async function readSealStatus(client: Client): Promise<JsonMembers> {
  const { body } = await client.send({ doing: 'reading the seal status', method: 'GET', path: PATH })
  const status = sealStatusOf(body)
  return status.sealed === true ? status : { ...status, ...(await readLeader(client)) }
}

/** Returns the body if it is a seal status. @throws RemoteFailure if not, as when another program listens there */
export function sealStatusOf(body: Json | undefined): JsonMembers {
  if (isMembers(body) && typeof exactMember(body, 'sealed') === 'boolean') return body
  throw new RemoteFailure('Error reading the seal status: the answer does not say whether the server is sealed')
}

/** Returns no members if the server refuses: one without a cluster need not have the endpoint. */
async function readLeader(client: Client): Promise<JsonMembers> {
  try {
    const { body } = await client.send({ doing: 'reading the leader', method: 'GET', path: 'sys/leader' })
    return isMembers(body) ? body : {}
  } catch (error) {
    if (error instanceof RemoteError) return {}
    throw error
  }
}

/** Formats the status. Labels and order are those of the reference; rows without a value are left out. */
export function formatSealStatus(status: Json): string {
  const tell = (label: string, member: string): AnswerRow[] => {
    const value = exactMember(status, member)
    return value === undefined || value === null || value === '' ? [] : [[label, value]]
  }
  const recovery = exactMember(status, 'recovery_seal') === true ? 'Recovery ' : ''
  return formatTable([
    ...tell('Seal Type', 'type'),
    ...tell('Recovery Seal Type', 'recovery_seal_type'),
    ...tell('Initialized', 'initialized'),
    ...tell('Sealed', 'sealed'),
    ...tell(`Total ${recovery}Shares`, 'n'),
    ...tell('Threshold', 't'),
    ...progressRows(status),
    ...tell('Version', 'version'),
    ...tell('Build Date', 'build_date'),
    ...tell('Storage Type', 'storage_type'),
    ...tell('Cluster Name', 'cluster_name'),
    ...tell('Cluster ID', 'cluster_id'),
    ...tell('HA Enabled', 'ha_enabled'),
    ...haRows(status),
  ])
}

function progressRows(status: Json): AnswerRow[] {
  if (exactMember(status, 'sealed') !== true || exactMember(status, 'initialized') !== true) return []
  const nonce = exactMember(status, 'nonce') ?? ''
  return [
    ['Unseal Progress', `${exactMember(status, 'progress') ?? 0}/${exactMember(status, 't') ?? '?'}`],
    ...(nonce === '' ? [] : [['Unseal Nonce', nonce] as const]),
  ]
}

function haRows(status: Json): AnswerRow[] {
  if (exactMember(status, 'ha_enabled') !== true) return []
  const active = exactMember(status, 'is_self') === true
  const since = exactMember(status, 'active_time') ?? ''
  const leader = exactMember(status, 'leader_address') ?? ''
  return [
    ['HA Mode', active ? 'active' : 'standby'],
    ...(active && since !== '' ? [['Active Since', since] as const] : []),
    ...(leader === '' ? [] : [['Active Node Address', leader] as const]),
  ]
}
