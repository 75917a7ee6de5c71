// The stanza `replication`: whether this server takes part in replication, and what operations of it may do.
import { isAbsolute } from 'node:path'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type ConsistencySettings, DEFAULT_CONSISTENCY } from '../replication/consistency/settings.ts'
import { faultOfPeerId } from '../replication/set/peer-name.ts'
import {
  DEFAULT_TIMEOUT_MS,
  LONGEST_WAIT_MS,
  MAX_SYNCHRONOUS,
  NOT_SYNCHRONOUS,
  type SynchronousSettings,
} from '../replication/synchronous/settings.ts'
import { ignored, type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, listIn, millisecondsIn, only, single, switchOf } from './values.ts'

/** The settings with their defaults. It is plain data, as the whole configuration is. */
export type ReplicationConfig = {
  /** False: no cluster port is opened, and the operations of replication are refused. */
  readonly isEnabled: boolean
  /** Directories that `ca_file` and `ca_path` of an activation may name files in; none: both are refused. */
  readonly allowedCaPaths: readonly string[]
  /** Whether key shares alone make an operation token for disaster recovery; false: a batch token too. */
  readonly makesOperationTokensOpenly: boolean
  readonly consistency: ConsistencySettings
  readonly synchronous: SynchronousSettings
}

/** The settings of a server without the stanza. */
export const DEFAULT_REPLICATION: ReplicationConfig = {
  isEnabled: true,
  allowedCaPaths: [],
  makesOperationTokensOpenly: true,
  consistency: DEFAULT_CONSISTENCY,
  synchronous: NOT_SYNCHRONOUS,
}

/** A request has to be answered within the limits of its listener, whatever it waits for. */
const MAX_WAIT_MS = 60_000

const READ_FROM_STORE = 'secondaries are sent the log as the store has it: its limits are those of the storage stanza'

/** Keys of the stanza; docs/configuration.md shows them. */
export const REPLICATION_STANZA: Stanza = {
  title: 'replication',
  about:
    'Other clusters that follow this one, or that this one follows. They talk over the cluster ports ' +
    '(`cluster_address` of a listener). The storage stanza says how much of the log is retained for secondaries.',
  settings: {
    enabled: setting('bool', 'true', 'Whether there is a cluster port; if not, operations of replication are refused'),
    allowed_ca_paths: setting(
      'list of paths',
      'none',
      'Directories on this server in which `ca_file` and `ca_path` of `secondary/enable` may name files; without any ' +
        'both are refused',
    ),
    unauthenticated_operation_token: setting(
      'bool',
      'true',
      'Whether key shares alone make an operation token on a secondary for disaster recovery; if not, a batch token ' +
        'of the primary whose policy allows the path is needed too, in `X-Vault-Token`',
    ),
    best_effort_wal_wait_duration: setting(
      'duration',
      '2s',
      'How long a performance secondary holds the answer to a write that its primary carried out, until it can be ' +
        'read here; then it is given with a warning. At most 60s; 0s: no answer is held',
    ),
    consistency_wait: setting(
      'duration',
      '100ms',
      'How long a request waits for the state in its `X-Vault-Index` before it is refused with 412. At most 60s',
    ),
    await_state_limit: setting(
      'duration',
      '2s',
      'The same for requests with `X-Vault-Inconsistent: await-state`. At most 60s',
    ),
    synchronous_secondaries: setting(
      'list of texts',
      'none',
      `Ids of secondaries for disaster recovery, ${MAX_SYNCHRONOUS} at most: a write is answered when each of them ` +
        'has it on its disk',
    ),
    synchronous_timeout: setting(
      'duration, or `never`',
      '10s',
      'How long one of them may be away, or a write wait for it, until writes go on without it: from 100ms to 50s. ' +
        '`never`: a write that none confirms is stored and answered with 503',
    ),
    // docs/decisions/0025-heartbeats-as-canary.md
    replication_canary_write_interval_seconds: ignored(
      'secondaries measure their lag by heartbeats, and nothing is written for it',
    ),
    resolver_discover_servers: ignored('a primary has one active node, and tells secondaries where it is'),
    logshipper_buffer_length: ignored(READ_FROM_STORE),
    logshipper_buffer_size: ignored(READ_FROM_STORE),
    allow_forwarding_via_header: ignored('a cluster has one node, so no request is forwarded within it'),
    allow_forwarding_via_token: ignored('tokens carry no state of a node'),
  },
}

/** Reads the stanza, and warnings about it; returns nothing for a file without it. @throws ConfigError */
export function replicationOf(body: HclObject): {
  readonly replication?: ReplicationConfig
  readonly warnings?: readonly string[]
} {
  const block = only(body, 'replication', 0)
  if (block === undefined) return {}
  const warnings = checkKeys(block.body, REPLICATION_STANZA.settings, REPLICATION_STANZA.title)
  const allowedCaPaths = listIn(block.body, 'allowed_ca_paths')
  if (!allowedCaPaths.every((path) => isAbsolute(path)))
    throw new ConfigError(`line ${block.line}: "allowed_ca_paths" must be a list of absolute paths of directories`)
  const replication = {
    isEnabled: switchOf(block.body, 'enabled', DEFAULT_REPLICATION.isEnabled),
    allowedCaPaths,
    makesOperationTokensOpenly: switchOf(
      block.body,
      'unauthenticated_operation_token',
      DEFAULT_REPLICATION.makesOperationTokensOpenly,
    ),
    consistency: consistencyOf(block.body),
    synchronous: synchronousOf(block.body, block.line),
  }
  return { replication, ...(warnings.length === 0 ? {} : { warnings }) }
}

function consistencyOf(body: HclObject): ConsistencySettings {
  const { waitMs, awaitStateMs, heldMs } = DEFAULT_CONSISTENCY
  const duration = (key: string, missing: number): number => millisecondsIn(body, key, MAX_WAIT_MS) ?? missing
  return {
    waitMs: duration('consistency_wait', waitMs),
    awaitStateMs: duration('await_state_limit', awaitStateMs),
    heldMs: duration('best_effort_wal_wait_duration', heldMs),
  }
}

/** A shorter one would be over on every way to another region. */
const SHORTEST_TIMEOUT_MS = 100

function synchronousOf(body: HclObject, line: number): SynchronousSettings {
  const ids = listIn(body, 'synchronous_secondaries')
  const fault = ids.map(faultOfPeerId).find((found) => found !== undefined)
  if (fault !== undefined) throw new ConfigError(`line ${line}: an id in "synchronous_secondaries" ${fault}`)
  if (new Set(ids).size < ids.length)
    throw new ConfigError(`line ${line}: "synchronous_secondaries" has the same id twice`)
  if (ids.length > MAX_SYNCHRONOUS)
    throw new ConfigError(`line ${line}: "synchronous_secondaries" has more than ${MAX_SYNCHRONOUS} ids`)
  const never = single(body, 'synchronous_timeout') === 'never'
  return { ids, timeoutMs: never ? undefined : timeoutOf(body) }
}

function timeoutOf(body: HclObject): number {
  const timeoutMs = millisecondsIn(body, 'synchronous_timeout', LONGEST_WAIT_MS) ?? DEFAULT_TIMEOUT_MS
  if (timeoutMs < SHORTEST_TIMEOUT_MS)
    throw new ConfigError(`"synchronous_timeout" must be "never", or ${SHORTEST_TIMEOUT_MS}ms at least`)
  return timeoutMs
}
