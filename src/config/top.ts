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
  title: 'Keys at the top',
  about: 'They stand once, in one of the files.',
  settings: {
    threads: setting(
      'number',
      'one less than there are cores, one at least',
      'Threads that serve requests; one more writes',
    ),
    listener: setting('stanza', 'needed', 'Where the server listens; see below'),
    storage: setting('stanza', UNNAMED_STORAGE, 'Where its data are; see below'),
    seal: setting('stanza', 'shamir', 'What opens it; see below'),
    kms_library: setting('stanza', 'none', 'A device for managed keys; see below'),
    api_addr: setting('URL', 'none', 'Address for clients, shown by `sys/leader`'),
    cluster_addr: setting('URL', 'none', 'Address for other nodes, shown by `sys/leader`'),
    cluster_name: setting('text', 'made up', 'Name of a cluster that is initialised without one'),
    reported_version: setting('version', '1.21.0', 'What clients are told that ask for the version'),
    default_lease_ttl: setting('duration', '768h', 'Lifetime of a token where nothing else says'),
    max_lease_ttl: setting('duration', '768h', 'Longest lifetime'),
    edition: setting(
      '"enterprise", "plus", "community"',
      'enterprise',
      'Features that are switched on; everything is there in any case',
    ),
    permission_denied_hints: setting('bool', 'true', 'A 403 says what the policies of the caller lack'),
    raw_storage_endpoint: setting('bool', 'false', '`sys/raw` reads and writes what is stored, to a token with `sudo`'),
    log_level: setting('"trace" to "error"', 'info', 'How much the log says; `sys/loggers` changes it while it runs'),
    log_format: setting('"standard", "json"', 'standard', 'Form of a line of the log'),
    telemetry: setting('stanza', 'none', 'Where traces go; see docs/telemetry.md'),
    audit: setting('stanza', 'none', 'Where requests are recorded; see docs/audit-format.md'),
    cloud: setting('stanza', 'none', 'A cloud that login mounts can belong to besides those of the vendor; see below'),
    unsafe_allow_api_audit_creation: setting('bool', 'true', 'Whether requests may make audit devices'),
    strict_hardening: setting('bool', 'false', 'What would be a warning of the checks at start stops the start'),
    require_audit: setting('bool', 'false', 'Without a stanza `audit` the server does not start'),
    pid_file: setting('path', 'none', 'A file with the id of the process, while it listens'),
    ...SHARED_LIMIT_SETTINGS,
    ...KEPT_SETTINGS,
    disable_mlock: ignored('memory cannot be locked from here: switch swapping off'),
    ui: ignored('there is no user interface in the server'),
    license_path: ignored('everything is in the open product, see edition'),
    plugin_directory: ignored(NO_PLUGINS),
    plugin_tmpdir: ignored(NO_PLUGINS),
    plugin_file_uid: ignored(NO_PLUGINS),
    plugin_file_permissions: ignored(NO_PLUGINS),
    cache_size: ignored('caches have their own bounds'),
    disable_cache: ignored('caches follow every write at once'),
    disable_clustering: ignored(NO_CLUSTER),
    disable_performance_standby: ignored(NO_CLUSTER),
    disable_sealwrap: ignored('no second seal wraps values'),
    disable_printable_check: ignored('paths are checked in one way'),
    detect_deadlocks: ignored('nothing is locked between threads'),
    enable_response_header_hostname: ignored('answers do not name the machine'),
    enable_response_header_raft_node_id: ignored(NO_CLUSTER),
    service_registration: ignored('the server registers nowhere'),
    reporting: ignored('the server reports to nobody'),
    imprecise_lease_role_tracking: ignored('nothing is counted by role'),
    introspection_endpoint: refused('leave it out'),
    ha_storage: refused('one node has its storage for itself'),
    backend: refused('write storage instead'),
    user_lockout: refused('tune it at the login mount, as user_lockout_config'),
    entropy: refused('random bytes come from the kernel'),
    sentinel: refused('policies are written in HCL'),
    initialize: refused('call sys/init, or keywright operator init'),
  },
}
