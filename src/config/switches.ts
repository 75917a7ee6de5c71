// Switches of a listener that its requests carry along: what needs a token, and what is shown without one. They belong
// to the listener, so that an inner network can have what an outer one has not.
import type { ListenerSwitches } from '../api/request.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type Stanza, setting } from './setting.ts'
import { checkKeys, only, switchOf } from './values.ts'

/** The switches of a listener that sets none, and of requests that came through no listener. */
export const NO_SWITCHES: ListenerSwitches = {
  tokenAskedFor: { generateRoot: false, rekey: false },
  unauthenticatedMetrics: false,
  unauthenticatedProfiling: false,
  unauthenticatedInFlight: false,
  redacts: { addresses: false, version: false, clusterName: false },
  hidesReplicationStatus: false,
}

/** Keys of a listener; docs/configuration.md shows them. */
export const SWITCH_SETTINGS = {
  disable_unauthed_rekey_endpoints: setting('bool', 'false', '`sys/rekey` also needs a token with `sudo`'),
  disable_unauthed_generate_root_endpoints: setting(
    'bool',
    'false',
    '`sys/generate-root` also needs a token with `sudo`',
  ),
  redact_addresses: setting(
    'bool',
    'false',
    '`sys/leader` and the status of replication show no addresses, and the latter no paths of mounts; nor does the ' +
      'identity token issuer show one until a mount has requested a token',
  ),
  redact_version: setting(
    'bool',
    'false',
    '`sys/health`, `sys/seal-status` and the status of replication do not show the version',
  ),
  redact_cluster_name: setting('bool', 'false', '`sys/health` and `sys/seal-status` do not show the cluster name'),
  disable_replication_status_endpoints: setting(
    'bool',
    'false',
    '`sys/replication/status` and the status of each family answer with 403',
  ),
  telemetry: setting('stanza', 'none', 'Access to metrics; see below'),
  profiling: setting('stanza', 'none', 'Access to profiles; see below'),
  inflight_requests_logging: setting('stanza', 'none', 'Access to requests in flight; see below'),
} as const

/** Stanzas inside a listener, each with one switch. Names are those of the reference. */
const INNER = {
  telemetry: 'unauthenticated_metrics_access',
  profiling: 'unauthenticated_pprof_access',
  inflight_requests_logging: 'unauthenticated_in_flight_request_access',
} as const

/** Keys of these stanzas, in one table for the page. */
export const INNER_STANZA: Stanza = {
  title: 'Inside a listener',
  about: 'Each belongs in a stanza of its own inside the listener, such as `telemetry { … }`.',
  settings: {
    unauthenticated_metrics_access: setting('bool', 'false', 'In `telemetry`: `sys/metrics` needs no token'),
    unauthenticated_pprof_access: setting('bool', 'false', 'In `profiling`: `sys/pprof` needs no token'),
    unauthenticated_in_flight_request_access: setting(
      'bool',
      'false',
      'In `inflight_requests_logging`: `sys/in-flight-req` needs no token',
    ),
  },
}

/** Reads the switches; undefined if all are off, so that most requests carry nothing. @throws ConfigError */
export function switchesOf(body: HclObject): ListenerSwitches | undefined {
  const switches = {
    tokenAskedFor: {
      generateRoot: switchOf(body, 'disable_unauthed_generate_root_endpoints'),
      rekey: switchOf(body, 'disable_unauthed_rekey_endpoints'),
    },
    unauthenticatedMetrics: innerSwitch(body, 'telemetry'),
    unauthenticatedProfiling: innerSwitch(body, 'profiling'),
    unauthenticatedInFlight: innerSwitch(body, 'inflight_requests_logging'),
    redacts: {
      addresses: switchOf(body, 'redact_addresses'),
      version: switchOf(body, 'redact_version'),
      clusterName: switchOf(body, 'redact_cluster_name'),
    },
    hidesReplicationStatus: switchOf(body, 'disable_replication_status_endpoints'),
  }
  return JSON.stringify(switches) === JSON.stringify(NO_SWITCHES) ? undefined : switches
}

function innerSwitch(body: HclObject, stanza: keyof typeof INNER): boolean {
  const block = only(body, stanza, 0)
  if (block === undefined) return false
  const key = INNER[stanza]
  checkKeys(block.body, { [key]: INNER_STANZA.settings[key] as never }, stanza)
  return switchOf(block.body, key)
}
