// The keys that stand in no stanza. Most of those that the reference has and this server does not need are accepted and
// ignored, so that an existing file works.
import { DEFAULT_STORAGE, storeLocation } from '../storage/drivers.ts'
import { KEPT_SETTINGS } from './kept.ts'
import { SHARED_LIMIT_SETTINGS } from './limits.ts'
import { ignored, refused, type Stanza, setting } from './setting.ts'

const UNNAMED_STORAGE = `${DEFAULT_STORAGE.type} ${storeLocation(DEFAULT_STORAGE).where}`
const NO_PLUGINS = 'engines and login methods are built in'
const NO_CLUSTER = 'there are no further nodes'

/** All keys at the top. The parts of this room read their own. */
export const TOP_STANZA: Stanza = {
  title: 'Top-level keys',
  about: 'Each may appear once, in one of the files.',
  settings: {
    threads: setting(
      'number',
      'number of cores minus one, at least one',
      'Number of threads that serve requests; one more writes, and one has the links to other clusters',
    ),
    listener: setting('stanza', 'required', 'Where the server listens; see below'),
    storage: setting('stanza', UNNAMED_STORAGE, 'Where the data are stored; see below'),
    seal: setting('stanza', 'shamir', 'How the server is unsealed; see below'),
    kms_library: setting('stanza', 'none', 'A PKCS #11 device for managed keys; see below'),
    api_addr: setting('URL', 'none', 'Address for clients, shown by `sys/leader`'),
    cluster_addr: setting(
      'https://host:port',
      'the host of api_addr, or of cluster_address of the first listener, with the port of that',
      'Where other clusters are told that the cluster port is, shown by `sys/leader`; empty without a host that ' +
        'others can reach',
    ),
    replication: setting('stanza', 'none', 'Replication between clusters; see below'),
    cluster_name: setting('text', 'generated', 'Name of a new cluster, if its initialisation sets none'),
    reported_version: setting('version', '1.21.0', 'Version that the server reports to clients'),
    default_lease_ttl: setting('duration', '768h', 'Default lifetime of a token'),
    max_lease_ttl: setting('duration', '768h', 'Maximum lifetime of a token'),
    edition: setting(
      '"enterprise", "plus", "community"',
      'enterprise',
      'Set of features that is enabled; every edition is included',
    ),
    permission_denied_hints: setting('bool', 'true', 'A 403 says which permission the policies of the caller lack'),
    raw_storage_endpoint: setting(
      'bool',
      'false',
      '`sys/raw` reads and writes stored data directly, for a token with `sudo`',
    ),
    log_level: setting(
      '"trace" to "error"',
      'info',
      'Lowest level that is logged; `sys/loggers` changes it at run time',
    ),
    log_format: setting('"standard", "json"', 'standard', 'Format of log lines'),
    telemetry: setting('stanza', 'none', 'Export of traces; see docs/telemetry.md'),
    audit: setting('stanza', 'none', 'An audit device, which records requests; see docs/audit-format.md'),
    cloud: setting(
      'stanza',
      'none',
      'A cloud, besides those of the vendor, that `cloud` auth mounts can use; see below',
    ),
    unsafe_allow_api_audit_creation: setting('bool', 'true', 'Whether API requests may create audit devices'),
    strict_hardening: setting('bool', 'false', 'A warning of the startup checks prevents the start'),
    require_audit: setting('bool', 'false', 'The server does not start without an `audit` stanza'),
    pid_file: setting('path', 'none', 'File that holds the process id while the server listens'),
    ...SHARED_LIMIT_SETTINGS,
    ...KEPT_SETTINGS,
    disable_mlock: ignored('memory cannot be locked: disable swap'),
    ui: ignored('the server has no user interface'),
    license_path: ignored('no licence is needed, see edition'),
    plugin_directory: ignored(NO_PLUGINS),
    plugin_tmpdir: ignored(NO_PLUGINS),
    plugin_file_uid: ignored(NO_PLUGINS),
    plugin_file_permissions: ignored(NO_PLUGINS),
    cache_size: ignored('caches have fixed limits'),
    disable_cache: ignored('caches are always up to date'),
    disable_clustering: ignored(NO_CLUSTER),
    disable_performance_standby: ignored(NO_CLUSTER),
    disable_sealwrap: ignored('there is no seal wrapping'),
    disable_printable_check: ignored('the check of paths is always on'),
    detect_deadlocks: ignored('threads share no locks'),
    enable_response_header_hostname: ignored('answers do not name the host'),
    enable_response_header_raft_node_id: ignored(NO_CLUSTER),
    service_registration: ignored('there is no service registration'),
    reporting: ignored('the server sends no usage reports'),
    imprecise_lease_role_tracking: ignored('leases are not counted by role'),
    introspection_endpoint: refused('leave it out'),
    ha_storage: refused('the server runs as a single node'),
    backend: refused('use storage instead'),
    user_lockout: refused('set user_lockout_config on the auth mount'),
    entropy: refused('random bytes come from the operating system'),
    sentinel: refused('policies are written in HCL'),
    initialize: refused('call sys/init, or keywright operator init'),
  },
}
