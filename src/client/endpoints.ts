// Written by tools/generate.ts from the tables of endpoints: change the definitions, not this file.
/** Where engines are usually mounted that may be mounted elsewhere. */
export type Mount = 'transit' | 'auth/userpass' | 'auth/approle' | 'auth/cloud'

/** A duration: seconds, or text such as `90m`, `1h30m`, `2d`. */
export type Duration = number | string

/** A token that was made, renewed or logged in for. */
export type Auth = {
  /** The token */
  client_token: string
  /** Accessor: refers to the token without giving access */
  accessor: string
  /** All policies of the token */
  policies: readonly string[]
  /** Policies attached to the token itself */
  token_policies: readonly string[]
  /** Policies from its entity and groups */
  identity_policies?: readonly string[] | null
  /** Policies of other namespaces from its entity and groups, by the IDs of those */
  external_namespace_policies?: Readonly<Record<string, readonly string[]>>
  /** Metadata of the token, as key-value pairs */
  metadata: Readonly<Record<string, string>> | null
  /** Remaining TTL in seconds; 0: never expires */
  lease_duration: number
  /** The token can be renewed */
  renewable: boolean
  /** ID of the entity; empty if there is none */
  entity_id: string
  /** service or batch */
  token_type: string
  /** The token has no parent */
  orphan: boolean
  /** Always null: no MFA is required */
  mfa_requirement: unknown
  /** Remaining uses; 0: unlimited */
  num_uses: number
}

/** Every endpoint by method and path: the fields it takes, those in the path among them, and what it answers. */
export type Endpoints = {
  /** Shows whether the server is initialised. */
  'GET sys/init': {
    fields: Record<never, never>
    result: {
      /** The server is initialised */
      initialized: boolean
    }
  }
  /** Initialises the server: creates its keys, the key shares and the first root token, which are shown only once. */
  'POST sys/init': {
    fields: {
      /** Number of shares to split the unseal key into */
      secret_shares?: number | undefined
      /** Number of shares required to unseal (threshold) */
      secret_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** OpenPGP public key, base64-encoded, that the root token is encrypted to */
      root_token_pgp_key?: string | undefined
      /** Number of shares to split the recovery key into, with auto-unseal */
      recovery_shares?: number | undefined
      /** Number of recovery key shares required (threshold), with auto-unseal */
      recovery_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each recovery key share */
      recovery_pgp_keys?: readonly string[] | undefined
      /** Accepted from old clients, but has no effect */
      stored_shares?: number | undefined
      /** Name of the cluster; generated if empty */
      cluster_name?: string | undefined
    }
    result: {
      /** Shares in hexadecimal; if encrypted, OpenPGP messages of that text */
      keys: readonly string[]
      /** Same as keys, base64-encoded */
      keys_base64: readonly string[]
      /** Shares of the recovery key, with auto-unseal */
      recovery_keys?: readonly string[]
      /** Same as recovery_keys, base64-encoded */
      recovery_keys_base64?: readonly string[]
      /** Root token, which never expires; if encrypted, an OpenPGP message, base64-encoded */
      root_token: string
    }
  }
  /** Shows the state of the seal. */
  'GET sys/seal-status': {
    fields: Record<never, never>
    result: {
      /** Type of seal */
      type: string
      /** The server is initialised */
      initialized: boolean
      /** The server is sealed */
      sealed: boolean
      /** Number of shares required to unseal (threshold) */
      t: number
      /** Total number of shares */
      n: number
      /** Number of shares submitted so far */
      progress: number
      /** Nonce of the unseal attempt in progress */
      nonce: string
      /** Version that clients check for compatibility */
      version: string
      /** Always empty: not recorded */
      build_date: string
      /** Always empty: not recorded */
      commit_date: string
      /** Seal migration is in progress */
      migration: boolean
      /** The server uses auto-unseal and has a recovery key */
      recovery_seal: boolean
      /** Type of storage */
      storage_type: string
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** ID of the cluster, while unsealed */
      cluster_id?: string
    }
  }
  /** Submits one share of the unseal key; the server unseals once it has enough shares. */
  'POST sys/unseal': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Discards the shares submitted so far */
      reset?: boolean | undefined
      /** Must be false: seal migration is not offered yet */
      migrate?: boolean | undefined
    }
    result: {
      /** Type of seal */
      type: string
      /** The server is initialised */
      initialized: boolean
      /** The server is sealed */
      sealed: boolean
      /** Number of shares required to unseal (threshold) */
      t: number
      /** Total number of shares */
      n: number
      /** Number of shares submitted so far */
      progress: number
      /** Nonce of the unseal attempt in progress */
      nonce: string
      /** Version that clients check for compatibility */
      version: string
      /** Always empty: not recorded */
      build_date: string
      /** Always empty: not recorded */
      commit_date: string
      /** Seal migration is in progress */
      migration: boolean
      /** The server uses auto-unseal and has a recovery key */
      recovery_seal: boolean
      /** Type of storage */
      storage_type: string
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** ID of the cluster, while unsealed */
      cluster_id?: string
    }
  }
  /** Seals the server: it serves nothing until it is unsealed again. */
  'POST sys/seal': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the health of this node, also in the status code: 200 active, 501 not initialised, 503 sealed. */
  'GET sys/health': {
    fields: {
      /** Status code to return if the node is active */
      activecode?: number | undefined
      /** Status code to return if the node is a standby */
      standbycode?: number | undefined
      /** Status code to return if the node is sealed */
      sealedcode?: number | undefined
      /** Status code to return if the node is not initialised */
      uninitcode?: number | undefined
      /** Status code to return if the node is a DR secondary */
      drsecondarycode?: number | undefined
      /**
       * Status code to return if the node is a performance standby, or a primary that another cluster took over from
       */
      performancestandbycode?: number | undefined
      /** Status code to return if the node is removed from its cluster */
      removedcode?: number | undefined
      /** Status code to return if the node is unhealthy */
      haunhealthycode?: number | undefined
      /** A standby returns the status code of an active node */
      standbyok?: boolean | undefined
      /** What performancestandbycode is for returns the status code of an active node */
      perfstandbyok?: boolean | undefined
    }
    result: {
      /** The server is initialised */
      initialized: boolean
      /** The server is sealed */
      sealed: boolean
      /** The node is not active: true for a standby, and while it is sealed */
      standby: boolean
      /** The node is a standby */
      performance_standby: boolean
      /** Role in performance replication: disabled, bootstrapping, primary or secondary; unknown while it is sealed */
      replication_performance_mode: string
      /** Role in disaster recovery, likewise */
      replication_dr_mode: string
      /** Server time, Unix time in seconds */
      server_time_utc: number
      /** Version that clients check for compatibility */
      version: string
      /** The edition is not community */
      enterprise: boolean
      /** Licence */
      license: {
        /** Always none: there is no licence that could expire */
        state: string
        /** Always empty: nothing expires */
        expiry_time: string
        /** Always false: nothing expires */
        terminated: boolean
      }
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** ID of the cluster, while unsealed */
      cluster_id?: string
      /** Always 0: there is no other active node */
      echo_duration_ms: number
      /** Always 0: there is no other active node */
      clock_skew_ms: number
      /** Always 0: the status of replication has it */
      replication_primary_canary_age_ms: number
    }
  }
  /** Shows the active node; without HA, only the addresses of this node. */
  'GET sys/leader': {
    fields: Record<never, never>
    result: {
      /** Always false: the storage is not shared */
      ha_enabled: boolean
      /** Always false: there is no election without HA */
      is_self: boolean
      /** Always the zero time, without HA */
      active_time: string
      /** API address of this node; empty if the listener redacts addresses */
      leader_address: string
      /** Cluster address of this node; empty if the listener redacts addresses */
      leader_cluster_address: string
      /** The node is a standby */
      performance_standby: boolean
      /** Always 0: there are no standbys */
      performance_standby_last_remote_wal: number
    }
  }
  /** Shows the hardening checks of machine, files, network and configuration. */
  'GET sys/hardening': {
    fields: Record<never, never>
    result: {
      /** Warnings prevent the server from starting (strict_hardening) */
      strict: boolean
      /** Number of checks that passed */
      ok: number
      /** Number of checks with a warning */
      warnings: number
      /** Number of checks with a finding that prevents the server from starting */
      refusals: number
      /** Number of checks without a result */
      unknown: number
      /** Facts about the server that was checked */
      server: {
        /** When this process started, RFC 3339 */
        started_at: string
        /** Number of serving threads */
        threads: number
        /** Size of the store, in bytes */
        stored_bytes: number
        /** Paths of the enabled audit devices */
        audit_devices: readonly string[]
        /** Listeners, as configured */
        listeners: readonly {
          /** host:port */
          address: string
          /** The listener uses TLS */
          tls: boolean
        }[]
      }
      /** Checks, by group */
      checks: readonly {
        /** ID in the security model, such as B-01 */
        id: string
        /** What the check requires */
        title: string
        /** process, runtime, files, network, storage, secrets or accountability */
        group: string
        /** ok, warn, refuse or unknown */
        verdict: string
        /** Finding, and what to do */
        message: string
      }[]
    }
  }
  /** Shows what this cluster is in both families of replication. */
  'GET sys/replication/status': {
    fields: Record<never, never>
    result: {
      /** Disaster recovery */
      dr: {
        /** disabled, bootstrapping, primary or secondary */
        mode: string
        /** Id of the set: the same on the primary and its secondaries */
        cluster_id?: string
        /** Primary: running or idle. Secondary: stream-wals, merkle-diff, merkle-sync or idle */
        state?: string
        /** Why the state is idle, in a word; missing if there is nothing to say */
        idle_reason?: string
        /** The same for people, with what to do; missing also if the listener withholds addresses */
        idle_sentence?: string
        /** Primary: what primary/enable was given. Secondary: the first address that it had of the primary */
        primary_cluster_addr?: string
        /**
         * Version of this program, by which clusters judge whether one can follow another; missing if the listener
         * withholds versions
         */
        program_version?: string
        /** Number of the history of this cluster; a promotion and a restore raise it */
        epoch?: number
        /** Id of the history, in hexadecimal */
        history_id?: string
        /** SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal */
        merkle_root?: string
        /** A check of the tree found it wrong */
        corrupted_merkle_tree?: boolean
        /** Time of that check, Unix time in seconds; negative: there was none */
        last_corruption_check_epoch?: string
        /** When the tree was last made anew, Unix time in seconds; 0: never */
        last_reindex_epoch?: string
        /** True while the tree is made anew; missing otherwise, as the next three */
        reindex_in_progress?: boolean
        /** building or flushing */
        reindex_stage?: string
        /** Entries that were looked at */
        reindex_building_progress?: number
        /** Entries in all */
        reindex_building_total?: number
        /** Grows with each promotion for disaster recovery */
        ssct_generation_counter?: number
        /**
         * For performance: local mounts of this cluster at whose path the set has a mount or a namespace, or around or
         * within it; missing if there are none, or the listener withholds addresses
         */
        conflicting_local_mounts?: readonly string[]
        /**
         * Records of this cluster that its new primary did not have, and that are kept aside; missing if there are none
         */
        undone_records?: number
        /** Index of the oldest change in the log; one more than the last if it is empty */
        retained_wal_from?: number
        /** Bytes of the log, about */
        retained_wal_bytes?: number
        /** For whom the log is retained */
        retained_for?: readonly {
          /** Who needs the records */
          name: string
          /** secondary: a cluster that follows; copy: a copy that is running */
          kind: string
          /** The records behind this index are needed */
          after: number
          /** Bytes of those that are there, about */
          bytes: number
          /** Bytes of the log up to which they are retained: a setting of the storage stanza */
          max_bytes: number
          /** True if some of them are gone: the secondary or the copy has to start over */
          broken: boolean
        }[]
        /**
         * Until each former primary knows that it was replaced, by this cluster or one before it: why they do not; "is
         * called" where addresses are withheld
         */
        former_primary?: string
        /** After a promotion: how much this cluster had of its former primary; missing if nothing, or if not known */
        promoted_from?: {
          /** Id of the history of its former primary, in hexadecimal */
          history_id: string
          /** Index of the last change of it that was applied: later ones of that history are not in the set */
          index: number
        }
        /** Another cluster took over as primary, so this one writes nothing */
        fenced?: boolean
        /** All to which a token was given that was not revoked since */
        known_secondaries?: readonly string[]
        /** For disaster recovery: the secondaries that writes wait for; missing if there are none */
        synchronous?: readonly {
          /** Id of the secondary */
          id: string
          /**
           * in-step: it has every write that was answered; waiting: writes wait for it; away: writes go on without it;
           * unknown: it was never let in, and nothing waits for it
           */
          state: string
          /** Time since which it has this state, RFC 3339; missing for one that is unknown */
          since?: string
        }[]
        /**
         * Those that this cluster handed over to, or is about to, and has heard nothing of since. Until they follow it
         * again, or are revoked, keys encrypt what was granted before; missing if there are none
         */
        may_have_taken_over?: readonly string[]
        /** All that were let in, connected or not; those without a link since this server started have no heartbeat */
        secondaries?: readonly {
          /** Where its API answers; empty if that is not known, or the listener withholds addresses */
          api_address: string
          /** Where its cluster port answers; likewise */
          cluster_address: string
          /** connected or disconnected */
          connection_status: string
          /** Time of its last heartbeat, RFC 3339; year 1: there was none */
          last_heartbeat: string
          /** Round trip of that, in milliseconds; 0 also if not known */
          last_heartbeat_duration_ms: string
          /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
          clock_skew_ms: string
          /**
           * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
           * milliseconds; 0 also if not known
           */
          replication_primary_canary_age_ms: string
          /** Id of the secondary */
          node_id: string
        }[]
        /** For performance: the filters of secondaries; missing if there are none */
        paths_filters?: readonly {
          /** Id of the secondary */
          id: string
          /** allow: it gets nothing but the paths; deny: all but them */
          mode: string
          /** How many paths there are */
          paths: number
        }[]
        /** Index of the last change */
        last_wal?: number
        /** For disaster recovery: index of the last change that its secondaries get */
        last_dr_wal?: number
        /** For performance: index of the last change that its secondaries get */
        last_performance_wal?: number
        /** State of the link to the primary: ready, connecting, idle or transient_failure */
        connection_state?: string
        /** The id that its token was made for */
        secondary_id?: string
        /** For performance: a filter of the primary keeps something from this cluster; missing if none does */
        filtered?: boolean
        /** Cluster addresses of the nodes of the primary */
        known_primary_cluster_addrs?: readonly string[]
        /** Nodes of the primary that there has been a link to */
        primaries?: readonly {
          /** Where its API answers; empty if that is not known, or the listener withholds addresses */
          api_address: string
          /** Where its cluster port answers; likewise */
          cluster_address: string
          /** connected or disconnected */
          connection_status: string
          /** Time of its last heartbeat, RFC 3339; year 1: there was none */
          last_heartbeat: string
          /** Round trip of that, in milliseconds; 0 also if not known */
          last_heartbeat_duration_ms: string
          /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
          clock_skew_ms: string
          /**
           * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
           * milliseconds; 0 also if not known
           */
          replication_primary_canary_age_ms: string
        }[]
        /** Since when it follows, RFC 3339 */
        last_start?: string
        /** Index of the last change of its primary that was applied, or 0 */
        last_remote_wal?: number
        /** How far a copy or a comparison is, while there is one */
        merkle_sync_progress?: {
          /** Entries that came */
          sync_progress: number
          /** Entries in all; 0 if that is not known */
          sync_total_keys: number
        }
        /** How far behind the primary this cluster is, in milliseconds; missing if not known */
        lag_ms?: string
        /** Changes of the primary that are not applied yet; missing if not known */
        lag_entries?: number
        /** Version of the server of the primary; missing if not known, or the listener withholds versions */
        server_version?: string
      }
      /** Performance */
      performance: {
        /** disabled, bootstrapping, primary or secondary */
        mode: string
        /** Id of the set: the same on the primary and its secondaries */
        cluster_id?: string
        /** Primary: running or idle. Secondary: stream-wals, merkle-diff, merkle-sync or idle */
        state?: string
        /** Why the state is idle, in a word; missing if there is nothing to say */
        idle_reason?: string
        /** The same for people, with what to do; missing also if the listener withholds addresses */
        idle_sentence?: string
        /** Primary: what primary/enable was given. Secondary: the first address that it had of the primary */
        primary_cluster_addr?: string
        /**
         * Version of this program, by which clusters judge whether one can follow another; missing if the listener
         * withholds versions
         */
        program_version?: string
        /** Number of the history of this cluster; a promotion and a restore raise it */
        epoch?: number
        /** Id of the history, in hexadecimal */
        history_id?: string
        /** SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal */
        merkle_root?: string
        /** A check of the tree found it wrong */
        corrupted_merkle_tree?: boolean
        /** Time of that check, Unix time in seconds; negative: there was none */
        last_corruption_check_epoch?: string
        /** When the tree was last made anew, Unix time in seconds; 0: never */
        last_reindex_epoch?: string
        /** True while the tree is made anew; missing otherwise, as the next three */
        reindex_in_progress?: boolean
        /** building or flushing */
        reindex_stage?: string
        /** Entries that were looked at */
        reindex_building_progress?: number
        /** Entries in all */
        reindex_building_total?: number
        /** Grows with each promotion for disaster recovery */
        ssct_generation_counter?: number
        /**
         * For performance: local mounts of this cluster at whose path the set has a mount or a namespace, or around or
         * within it; missing if there are none, or the listener withholds addresses
         */
        conflicting_local_mounts?: readonly string[]
        /**
         * Records of this cluster that its new primary did not have, and that are kept aside; missing if there are none
         */
        undone_records?: number
        /** Index of the oldest change in the log; one more than the last if it is empty */
        retained_wal_from?: number
        /** Bytes of the log, about */
        retained_wal_bytes?: number
        /** For whom the log is retained */
        retained_for?: readonly {
          /** Who needs the records */
          name: string
          /** secondary: a cluster that follows; copy: a copy that is running */
          kind: string
          /** The records behind this index are needed */
          after: number
          /** Bytes of those that are there, about */
          bytes: number
          /** Bytes of the log up to which they are retained: a setting of the storage stanza */
          max_bytes: number
          /** True if some of them are gone: the secondary or the copy has to start over */
          broken: boolean
        }[]
        /**
         * Until each former primary knows that it was replaced, by this cluster or one before it: why they do not; "is
         * called" where addresses are withheld
         */
        former_primary?: string
        /** After a promotion: how much this cluster had of its former primary; missing if nothing, or if not known */
        promoted_from?: {
          /** Id of the history of its former primary, in hexadecimal */
          history_id: string
          /** Index of the last change of it that was applied: later ones of that history are not in the set */
          index: number
        }
        /** Another cluster took over as primary, so this one writes nothing */
        fenced?: boolean
        /** All to which a token was given that was not revoked since */
        known_secondaries?: readonly string[]
        /** For disaster recovery: the secondaries that writes wait for; missing if there are none */
        synchronous?: readonly {
          /** Id of the secondary */
          id: string
          /**
           * in-step: it has every write that was answered; waiting: writes wait for it; away: writes go on without it;
           * unknown: it was never let in, and nothing waits for it
           */
          state: string
          /** Time since which it has this state, RFC 3339; missing for one that is unknown */
          since?: string
        }[]
        /**
         * Those that this cluster handed over to, or is about to, and has heard nothing of since. Until they follow it
         * again, or are revoked, keys encrypt what was granted before; missing if there are none
         */
        may_have_taken_over?: readonly string[]
        /** All that were let in, connected or not; those without a link since this server started have no heartbeat */
        secondaries?: readonly {
          /** Where its API answers; empty if that is not known, or the listener withholds addresses */
          api_address: string
          /** Where its cluster port answers; likewise */
          cluster_address: string
          /** connected or disconnected */
          connection_status: string
          /** Time of its last heartbeat, RFC 3339; year 1: there was none */
          last_heartbeat: string
          /** Round trip of that, in milliseconds; 0 also if not known */
          last_heartbeat_duration_ms: string
          /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
          clock_skew_ms: string
          /**
           * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
           * milliseconds; 0 also if not known
           */
          replication_primary_canary_age_ms: string
          /** Id of the secondary */
          node_id: string
        }[]
        /** For performance: the filters of secondaries; missing if there are none */
        paths_filters?: readonly {
          /** Id of the secondary */
          id: string
          /** allow: it gets nothing but the paths; deny: all but them */
          mode: string
          /** How many paths there are */
          paths: number
        }[]
        /** Index of the last change */
        last_wal?: number
        /** For disaster recovery: index of the last change that its secondaries get */
        last_dr_wal?: number
        /** For performance: index of the last change that its secondaries get */
        last_performance_wal?: number
        /** State of the link to the primary: ready, connecting, idle or transient_failure */
        connection_state?: string
        /** The id that its token was made for */
        secondary_id?: string
        /** For performance: a filter of the primary keeps something from this cluster; missing if none does */
        filtered?: boolean
        /** Cluster addresses of the nodes of the primary */
        known_primary_cluster_addrs?: readonly string[]
        /** Nodes of the primary that there has been a link to */
        primaries?: readonly {
          /** Where its API answers; empty if that is not known, or the listener withholds addresses */
          api_address: string
          /** Where its cluster port answers; likewise */
          cluster_address: string
          /** connected or disconnected */
          connection_status: string
          /** Time of its last heartbeat, RFC 3339; year 1: there was none */
          last_heartbeat: string
          /** Round trip of that, in milliseconds; 0 also if not known */
          last_heartbeat_duration_ms: string
          /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
          clock_skew_ms: string
          /**
           * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
           * milliseconds; 0 also if not known
           */
          replication_primary_canary_age_ms: string
        }[]
        /** Since when it follows, RFC 3339 */
        last_start?: string
        /** Index of the last change of its primary that was applied, or 0 */
        last_remote_wal?: number
        /** How far a copy or a comparison is, while there is one */
        merkle_sync_progress?: {
          /** Entries that came */
          sync_progress: number
          /** Entries in all; 0 if that is not known */
          sync_total_keys: number
        }
        /** How far behind the primary this cluster is, in milliseconds; missing if not known */
        lag_ms?: string
        /** Changes of the primary that are not applied yet; missing if not known */
        lag_entries?: number
        /** Version of the server of the primary; missing if not known, or the listener withholds versions */
        server_version?: string
      }
    }
  }
  /** Shows what this cluster is in the family for disaster recovery. */
  'GET sys/replication/dr/status': {
    fields: Record<never, never>
    result: {
      /** disabled, bootstrapping, primary or secondary */
      mode: string
      /** Id of the set: the same on the primary and its secondaries */
      cluster_id?: string
      /** Primary: running or idle. Secondary: stream-wals, merkle-diff, merkle-sync or idle */
      state?: string
      /** Why the state is idle, in a word; missing if there is nothing to say */
      idle_reason?: string
      /** The same for people, with what to do; missing also if the listener withholds addresses */
      idle_sentence?: string
      /** Primary: what primary/enable was given. Secondary: the first address that it had of the primary */
      primary_cluster_addr?: string
      /**
       * Version of this program, by which clusters judge whether one can follow another; missing if the listener
       * withholds versions
       */
      program_version?: string
      /** Number of the history of this cluster; a promotion and a restore raise it */
      epoch?: number
      /** Id of the history, in hexadecimal */
      history_id?: string
      /** SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal */
      merkle_root?: string
      /** A check of the tree found it wrong */
      corrupted_merkle_tree?: boolean
      /** Time of that check, Unix time in seconds; negative: there was none */
      last_corruption_check_epoch?: string
      /** When the tree was last made anew, Unix time in seconds; 0: never */
      last_reindex_epoch?: string
      /** True while the tree is made anew; missing otherwise, as the next three */
      reindex_in_progress?: boolean
      /** building or flushing */
      reindex_stage?: string
      /** Entries that were looked at */
      reindex_building_progress?: number
      /** Entries in all */
      reindex_building_total?: number
      /** Grows with each promotion for disaster recovery */
      ssct_generation_counter?: number
      /**
       * For performance: local mounts of this cluster at whose path the set has a mount or a namespace, or around or
       * within it; missing if there are none, or the listener withholds addresses
       */
      conflicting_local_mounts?: readonly string[]
      /**
       * Records of this cluster that its new primary did not have, and that are kept aside; missing if there are none
       */
      undone_records?: number
      /** Index of the oldest change in the log; one more than the last if it is empty */
      retained_wal_from?: number
      /** Bytes of the log, about */
      retained_wal_bytes?: number
      /** For whom the log is retained */
      retained_for?: readonly {
        /** Who needs the records */
        name: string
        /** secondary: a cluster that follows; copy: a copy that is running */
        kind: string
        /** The records behind this index are needed */
        after: number
        /** Bytes of those that are there, about */
        bytes: number
        /** Bytes of the log up to which they are retained: a setting of the storage stanza */
        max_bytes: number
        /** True if some of them are gone: the secondary or the copy has to start over */
        broken: boolean
      }[]
      /**
       * Until each former primary knows that it was replaced, by this cluster or one before it: why they do not; "is
       * called" where addresses are withheld
       */
      former_primary?: string
      /** After a promotion: how much this cluster had of its former primary; missing if nothing, or if not known */
      promoted_from?: {
        /** Id of the history of its former primary, in hexadecimal */
        history_id: string
        /** Index of the last change of it that was applied: later ones of that history are not in the set */
        index: number
      }
      /** Another cluster took over as primary, so this one writes nothing */
      fenced?: boolean
      /** All to which a token was given that was not revoked since */
      known_secondaries?: readonly string[]
      /** For disaster recovery: the secondaries that writes wait for; missing if there are none */
      synchronous?: readonly {
        /** Id of the secondary */
        id: string
        /**
         * in-step: it has every write that was answered; waiting: writes wait for it; away: writes go on without it;
         * unknown: it was never let in, and nothing waits for it
         */
        state: string
        /** Time since which it has this state, RFC 3339; missing for one that is unknown */
        since?: string
      }[]
      /**
       * Those that this cluster handed over to, or is about to, and has heard nothing of since. Until they follow it
       * again, or are revoked, keys encrypt what was granted before; missing if there are none
       */
      may_have_taken_over?: readonly string[]
      /** All that were let in, connected or not; those without a link since this server started have no heartbeat */
      secondaries?: readonly {
        /** Where its API answers; empty if that is not known, or the listener withholds addresses */
        api_address: string
        /** Where its cluster port answers; likewise */
        cluster_address: string
        /** connected or disconnected */
        connection_status: string
        /** Time of its last heartbeat, RFC 3339; year 1: there was none */
        last_heartbeat: string
        /** Round trip of that, in milliseconds; 0 also if not known */
        last_heartbeat_duration_ms: string
        /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
        clock_skew_ms: string
        /**
         * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
         * milliseconds; 0 also if not known
         */
        replication_primary_canary_age_ms: string
        /** Id of the secondary */
        node_id: string
      }[]
      /** For performance: the filters of secondaries; missing if there are none */
      paths_filters?: readonly {
        /** Id of the secondary */
        id: string
        /** allow: it gets nothing but the paths; deny: all but them */
        mode: string
        /** How many paths there are */
        paths: number
      }[]
      /** Index of the last change */
      last_wal?: number
      /** For disaster recovery: index of the last change that its secondaries get */
      last_dr_wal?: number
      /** For performance: index of the last change that its secondaries get */
      last_performance_wal?: number
      /** State of the link to the primary: ready, connecting, idle or transient_failure */
      connection_state?: string
      /** The id that its token was made for */
      secondary_id?: string
      /** For performance: a filter of the primary keeps something from this cluster; missing if none does */
      filtered?: boolean
      /** Cluster addresses of the nodes of the primary */
      known_primary_cluster_addrs?: readonly string[]
      /** Nodes of the primary that there has been a link to */
      primaries?: readonly {
        /** Where its API answers; empty if that is not known, or the listener withholds addresses */
        api_address: string
        /** Where its cluster port answers; likewise */
        cluster_address: string
        /** connected or disconnected */
        connection_status: string
        /** Time of its last heartbeat, RFC 3339; year 1: there was none */
        last_heartbeat: string
        /** Round trip of that, in milliseconds; 0 also if not known */
        last_heartbeat_duration_ms: string
        /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
        clock_skew_ms: string
        /**
         * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
         * milliseconds; 0 also if not known
         */
        replication_primary_canary_age_ms: string
      }[]
      /** Since when it follows, RFC 3339 */
      last_start?: string
      /** Index of the last change of its primary that was applied, or 0 */
      last_remote_wal?: number
      /** How far a copy or a comparison is, while there is one */
      merkle_sync_progress?: {
        /** Entries that came */
        sync_progress: number
        /** Entries in all; 0 if that is not known */
        sync_total_keys: number
      }
      /** How far behind the primary this cluster is, in milliseconds; missing if not known */
      lag_ms?: string
      /** Changes of the primary that are not applied yet; missing if not known */
      lag_entries?: number
      /** Version of the server of the primary; missing if not known, or the listener withholds versions */
      server_version?: string
    }
  }
  /** Shows what this cluster is in the family for performance. */
  'GET sys/replication/performance/status': {
    fields: Record<never, never>
    result: {
      /** disabled, bootstrapping, primary or secondary */
      mode: string
      /** Id of the set: the same on the primary and its secondaries */
      cluster_id?: string
      /** Primary: running or idle. Secondary: stream-wals, merkle-diff, merkle-sync or idle */
      state?: string
      /** Why the state is idle, in a word; missing if there is nothing to say */
      idle_reason?: string
      /** The same for people, with what to do; missing also if the listener withholds addresses */
      idle_sentence?: string
      /** Primary: what primary/enable was given. Secondary: the first address that it had of the primary */
      primary_cluster_addr?: string
      /**
       * Version of this program, by which clusters judge whether one can follow another; missing if the listener
       * withholds versions
       */
      program_version?: string
      /** Number of the history of this cluster; a promotion and a restore raise it */
      epoch?: number
      /** Id of the history, in hexadecimal */
      history_id?: string
      /** SHA-256 over what the family shares, in hexadecimal; missing while it is being read after an unseal */
      merkle_root?: string
      /** A check of the tree found it wrong */
      corrupted_merkle_tree?: boolean
      /** Time of that check, Unix time in seconds; negative: there was none */
      last_corruption_check_epoch?: string
      /** When the tree was last made anew, Unix time in seconds; 0: never */
      last_reindex_epoch?: string
      /** True while the tree is made anew; missing otherwise, as the next three */
      reindex_in_progress?: boolean
      /** building or flushing */
      reindex_stage?: string
      /** Entries that were looked at */
      reindex_building_progress?: number
      /** Entries in all */
      reindex_building_total?: number
      /** Grows with each promotion for disaster recovery */
      ssct_generation_counter?: number
      /**
       * For performance: local mounts of this cluster at whose path the set has a mount or a namespace, or around or
       * within it; missing if there are none, or the listener withholds addresses
       */
      conflicting_local_mounts?: readonly string[]
      /**
       * Records of this cluster that its new primary did not have, and that are kept aside; missing if there are none
       */
      undone_records?: number
      /** Index of the oldest change in the log; one more than the last if it is empty */
      retained_wal_from?: number
      /** Bytes of the log, about */
      retained_wal_bytes?: number
      /** For whom the log is retained */
      retained_for?: readonly {
        /** Who needs the records */
        name: string
        /** secondary: a cluster that follows; copy: a copy that is running */
        kind: string
        /** The records behind this index are needed */
        after: number
        /** Bytes of those that are there, about */
        bytes: number
        /** Bytes of the log up to which they are retained: a setting of the storage stanza */
        max_bytes: number
        /** True if some of them are gone: the secondary or the copy has to start over */
        broken: boolean
      }[]
      /**
       * Until each former primary knows that it was replaced, by this cluster or one before it: why they do not; "is
       * called" where addresses are withheld
       */
      former_primary?: string
      /** After a promotion: how much this cluster had of its former primary; missing if nothing, or if not known */
      promoted_from?: {
        /** Id of the history of its former primary, in hexadecimal */
        history_id: string
        /** Index of the last change of it that was applied: later ones of that history are not in the set */
        index: number
      }
      /** Another cluster took over as primary, so this one writes nothing */
      fenced?: boolean
      /** All to which a token was given that was not revoked since */
      known_secondaries?: readonly string[]
      /** For disaster recovery: the secondaries that writes wait for; missing if there are none */
      synchronous?: readonly {
        /** Id of the secondary */
        id: string
        /**
         * in-step: it has every write that was answered; waiting: writes wait for it; away: writes go on without it;
         * unknown: it was never let in, and nothing waits for it
         */
        state: string
        /** Time since which it has this state, RFC 3339; missing for one that is unknown */
        since?: string
      }[]
      /**
       * Those that this cluster handed over to, or is about to, and has heard nothing of since. Until they follow it
       * again, or are revoked, keys encrypt what was granted before; missing if there are none
       */
      may_have_taken_over?: readonly string[]
      /** All that were let in, connected or not; those without a link since this server started have no heartbeat */
      secondaries?: readonly {
        /** Where its API answers; empty if that is not known, or the listener withholds addresses */
        api_address: string
        /** Where its cluster port answers; likewise */
        cluster_address: string
        /** connected or disconnected */
        connection_status: string
        /** Time of its last heartbeat, RFC 3339; year 1: there was none */
        last_heartbeat: string
        /** Round trip of that, in milliseconds; 0 also if not known */
        last_heartbeat_duration_ms: string
        /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
        clock_skew_ms: string
        /**
         * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
         * milliseconds; 0 also if not known
         */
        replication_primary_canary_age_ms: string
        /** Id of the secondary */
        node_id: string
      }[]
      /** For performance: the filters of secondaries; missing if there are none */
      paths_filters?: readonly {
        /** Id of the secondary */
        id: string
        /** allow: it gets nothing but the paths; deny: all but them */
        mode: string
        /** How many paths there are */
        paths: number
      }[]
      /** Index of the last change */
      last_wal?: number
      /** For disaster recovery: index of the last change that its secondaries get */
      last_dr_wal?: number
      /** For performance: index of the last change that its secondaries get */
      last_performance_wal?: number
      /** State of the link to the primary: ready, connecting, idle or transient_failure */
      connection_state?: string
      /** The id that its token was made for */
      secondary_id?: string
      /** For performance: a filter of the primary keeps something from this cluster; missing if none does */
      filtered?: boolean
      /** Cluster addresses of the nodes of the primary */
      known_primary_cluster_addrs?: readonly string[]
      /** Nodes of the primary that there has been a link to */
      primaries?: readonly {
        /** Where its API answers; empty if that is not known, or the listener withholds addresses */
        api_address: string
        /** Where its cluster port answers; likewise */
        cluster_address: string
        /** connected or disconnected */
        connection_status: string
        /** Time of its last heartbeat, RFC 3339; year 1: there was none */
        last_heartbeat: string
        /** Round trip of that, in milliseconds; 0 also if not known */
        last_heartbeat_duration_ms: string
        /** How far its clock is ahead, in milliseconds; negative if it is behind, 0 also if not known */
        clock_skew_ms: string
        /**
         * Age of the newest place of the log of the primary up to which the secondary has everything for certain, in
         * milliseconds; 0 also if not known
         */
        replication_primary_canary_age_ms: string
      }[]
      /** Since when it follows, RFC 3339 */
      last_start?: string
      /** Index of the last change of its primary that was applied, or 0 */
      last_remote_wal?: number
      /** How far a copy or a comparison is, while there is one */
      merkle_sync_progress?: {
        /** Entries that came */
        sync_progress: number
        /** Entries in all; 0 if that is not known */
        sync_total_keys: number
      }
      /** How far behind the primary this cluster is, in milliseconds; missing if not known */
      lag_ms?: string
      /** Changes of the primary that are not applied yet; missing if not known */
      lag_entries?: number
      /** Version of the server of the primary; missing if not known, or the listener withholds versions */
      server_version?: string
    }
  }
  /** Makes this cluster the primary of a new set for disaster recovery. */
  'POST sys/replication/dr/primary/enable': {
    fields: {
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
    }
    result: undefined
  }
  /** Ends the set for disaster recovery, with the certificates of its secondaries. */
  'POST sys/replication/dr/primary/disable': {
    fields: Record<never, never>
    result: undefined
  }
  /** Makes a token by which one secondary is let in, once. */
  'POST sys/replication/dr/primary/secondary-token': {
    fields: {
      /** Name of the secondary, of your choice; a token or secondary that has it is replaced */
      id: string
      /** How long the token can be used, from 1 second to 768 hours */
      ttl?: Duration | undefined
      /** Public key that secondary/generate-public-key gave on the cluster to be let in */
      secondary_public_key?: string | undefined
    }
    result: {
      /** The token, sealed for the key; `wrap_info.token` takes its place in an answer that is wrapped */
      token: string
    }
  }
  /** Sends a secondary away, or makes its token void; only a new token lets it in again. */
  'POST sys/replication/dr/primary/revoke-secondary': {
    fields: {
      /** Name that the token was made for */
      id: string
    }
    result: undefined
  }
  /** Has the authority of the set followed by another one now; no link ends for it. */
  'POST sys/replication/dr/primary/rotate-authority': {
    fields: Record<never, never>
    result: {
      /** Secondaries that have not stored the next authority yet: it signs when they have, or were revoked */
      waits_for: readonly string[]
    }
  }
  /** Makes the key that a primary seals an activation token for; an earlier key is void. */
  'POST sys/replication/dr/secondary/generate-public-key': {
    fields: {
      /**
       * On a secondary for disaster recovery: Operation token of this cluster (generate-operation-token), or a batch
       * token of the set without a parent whose policy allows update on the path
       */
      dr_operation_token?: string | undefined
    }
    result: {
      /** The public key, for primary/secondary-token on the primary */
      secondary_public_key: string
    }
  }
  /** Makes this cluster a secondary for disaster recovery: its data give way to those of the primary. */
  'POST sys/replication/dr/secondary/enable': {
    fields: {
      /** Activation token: wrap_info.token or data.token of primary/secondary-token */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
    }
    result: undefined
  }
  /** Looks for what would keep secondary/enable with these fields from success; changes nothing, here or there. */
  'POST sys/replication/dr/secondary/check': {
    fields: {
      /** Activation token: wrap_info.token or data.token of primary/secondary-token */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
    }
    result: {
      /** In the order in which they were taken */
      checks: readonly {
        /** What was looked at */
        what: 'token' | 'api' | 'cluster port' | 'version' | 'clock' | 'admission'
        /** How it is */
        result: 'good' | 'bad' | 'not looked at'
        /** What was found, and what to do about it */
        sentence: string
      }[]
    }
  }
  /** Makes this primary a secondary that follows nobody; its data stay. */
  'POST sys/replication/dr/primary/demote': {
    fields: Record<never, never>
    result: undefined
  }
  /** Makes this secondary the primary of its set. */
  'POST sys/replication/dr/secondary/promote': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
      /** Promotes the cluster whatever it lacks, and although its primary may go on; loses what is missing */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Takes this secondary out of its set; it goes on by itself with the data that it has. */
  'POST sys/replication/dr/secondary/disable': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
    }
    result: undefined
  }
  /** Gives this secondary another primary of its set; what differs is sent, and nothing is copied anew. */
  'POST sys/replication/dr/secondary/update-primary': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
      /** Activation token of the new primary; blank: the cluster forgets the one that it has */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
      /** Takes a token of another set too, if this cluster follows nobody */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Makes this cluster the primary of a new set for performance replication. */
  'POST sys/replication/performance/primary/enable': {
    fields: {
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
    }
    result: undefined
  }
  /** As sys/replication/performance/primary/enable. */
  'POST sys/replication/primary/enable': {
    fields: {
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
    }
    result: undefined
  }
  /** Ends the set for performance replication, with the certificates of its secondaries. */
  'POST sys/replication/performance/primary/disable': {
    fields: Record<never, never>
    result: undefined
  }
  /** As sys/replication/performance/primary/disable. */
  'POST sys/replication/primary/disable': {
    fields: Record<never, never>
    result: undefined
  }
  /** Makes a token by which one secondary is let in, once. */
  'POST sys/replication/performance/primary/secondary-token': {
    fields: {
      /** Name of the secondary, of your choice; a token or secondary that has it is replaced */
      id: string
      /** How long the token can be used, from 1 second to 768 hours */
      ttl?: Duration | undefined
      /** Public key that secondary/generate-public-key gave on the cluster to be let in */
      secondary_public_key?: string | undefined
    }
    result: {
      /** The token, sealed for the key; `wrap_info.token` takes its place in an answer that is wrapped */
      token: string
    }
  }
  /** As sys/replication/performance/primary/secondary-token. */
  'POST sys/replication/primary/secondary-token': {
    fields: {
      /** Name of the secondary, of your choice; a token or secondary that has it is replaced */
      id: string
      /** How long the token can be used, from 1 second to 768 hours */
      ttl?: Duration | undefined
      /** Public key that secondary/generate-public-key gave on the cluster to be let in */
      secondary_public_key?: string | undefined
    }
    result: {
      /** The token, sealed for the key; `wrap_info.token` takes its place in an answer that is wrapped */
      token: string
    }
  }
  /** Sends a secondary away, or makes its token void; only a new token lets it in again. */
  'POST sys/replication/performance/primary/revoke-secondary': {
    fields: {
      /** Name that the token was made for */
      id: string
    }
    result: undefined
  }
  /** As sys/replication/performance/primary/revoke-secondary. */
  'POST sys/replication/primary/revoke-secondary': {
    fields: {
      /** Name that the token was made for */
      id: string
    }
    result: undefined
  }
  /** Has the authority of the set followed by another one now; no link ends for it. */
  'POST sys/replication/performance/primary/rotate-authority': {
    fields: Record<never, never>
    result: {
      /** Secondaries that have not stored the next authority yet: it signs when they have, or were revoked */
      waits_for: readonly string[]
    }
  }
  /** Makes the key that a primary seals an activation token for; an earlier key is void. */
  'POST sys/replication/performance/secondary/generate-public-key': {
    fields: Record<never, never>
    result: {
      /** The public key, for primary/secondary-token on the primary */
      secondary_public_key: string
    }
  }
  /** Makes this cluster a secondary for performance replication: its data give way to those of the primary. */
  'POST sys/replication/performance/secondary/enable': {
    fields: {
      /** Activation token: wrap_info.token or data.token of primary/secondary-token */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
    }
    result: undefined
  }
  /** As sys/replication/performance/secondary/enable. */
  'POST sys/replication/secondary/enable': {
    fields: {
      /** Activation token: wrap_info.token or data.token of primary/secondary-token */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
    }
    result: undefined
  }
  /** Looks for what would keep secondary/enable with these fields from success; changes nothing, here or there. */
  'POST sys/replication/performance/secondary/check': {
    fields: {
      /** Activation token: wrap_info.token or data.token of primary/secondary-token */
      token: string
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
    }
    result: {
      /** In the order in which they were taken */
      checks: readonly {
        /** What was looked at */
        what: 'token' | 'api' | 'cluster port' | 'version' | 'clock' | 'admission'
        /** How it is */
        result: 'good' | 'bad' | 'not looked at'
        /** What was found, and what to do about it */
        sentence: string
      }[]
    }
  }
  /** Makes this primary a secondary that follows nobody; its data stay. */
  'POST sys/replication/performance/primary/demote': {
    fields: Record<never, never>
    result: undefined
  }
  /** As sys/replication/performance/primary/demote. */
  'POST sys/replication/primary/demote': {
    fields: Record<never, never>
    result: undefined
  }
  /** Makes this secondary the primary of its set; its own tokens, leases and local mounts stay. */
  'POST sys/replication/performance/secondary/promote': {
    fields: {
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
      /** Promotes the cluster whatever it lacks, and although its primary may go on; loses what is missing */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** As sys/replication/performance/secondary/promote. */
  'POST sys/replication/secondary/promote': {
    fields: {
      /**
       * Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration
       */
      primary_cluster_addr?: string | undefined
      /** Promotes the cluster whatever it lacks, and although its primary may go on; loses what is missing */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Takes this secondary out of its set; it goes on by itself with the data that it has. */
  'POST sys/replication/performance/secondary/disable': {
    fields: Record<never, never>
    result: undefined
  }
  /** As sys/replication/performance/secondary/disable. */
  'POST sys/replication/secondary/disable': {
    fields: Record<never, never>
    result: undefined
  }
  /** Gives this secondary another primary of its set; what differs is sent, and nothing is copied anew. */
  'POST sys/replication/performance/secondary/update-primary': {
    fields: {
      /** Activation token of the new primary; blank: the cluster forgets the one that it has */
      token?: string | undefined
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
      /** Takes a token of another set too, if this cluster follows nobody */
      force?: boolean | undefined
      /**
       * Cluster addresses, https://host:port, that are tried in order: the first where the primary answers is kept,
       * with those behind it. Not together with token
       */
      update_primary_addrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** As sys/replication/performance/secondary/update-primary. */
  'POST sys/replication/secondary/update-primary': {
    fields: {
      /** Activation token of the new primary; blank: the cluster forgets the one that it has */
      token?: string | undefined
      /** Address of the API of the primary, in place of the one in a token that is unwrapped there */
      primary_api_addr?: string | undefined
      /** File on this server with CA certificates (PEM) that the API of the primary is trusted by */
      ca_file?: string | undefined
      /** Directory on this server with such files; default of both: the CAs of the system */
      ca_path?: string | undefined
      /** Takes a token of another set too, if this cluster follows nobody */
      force?: boolean | undefined
      /**
       * Cluster addresses, https://host:port, that are tried in order: the first where the primary answers is kept,
       * with those behind it. Not together with token
       */
      update_primary_addrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Lists what this cluster had and its new primary did not, by the times when that was undone. */
  'POST sys/replication/dr/secondary/undone': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
    }
    result: {
      /** All that are kept, oldest first */
      undone: readonly {
        /** Name of the set of records */
        id: string
        /** When they were kept aside, RFC 3339 */
        kept_at: string
        /** False while they are being kept, or where that was broken off; nothing was undone then */
        finished: boolean
        /** Id of the set for replication that the cluster was in */
        cluster_id: string
        /** True if this cluster wrote them as a primary; false if it had them from its former primary */
        written_here: boolean
        /** Records that were found */
        records: number
        /** Those of them that are not kept, for lack of room */
        records_left_out: number
        /** Changes of entries in all of them */
        operations: number
        /** Index of the first one in the log of this cluster */
        first_index: number
        /** Index of the last one */
        last_index: number
        /** Bytes that are kept */
        bytes: number
        /** False if records are left out, or may be missing */
        complete: boolean
        /** The log of this cluster did not reach back further: records up to this index may be missing */
        missing_up_to?: number
        /** Index of the last record that both clusters have, in the log of the former primary */
        fork_index: number
        /** Id of the history of that log, in hexadecimal */
        fork_history_id: string
      }[]
    }
  }
  /** Shows records that were undone, in the order in which they were written. */
  'POST sys/replication/dr/secondary/undone/show': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
      /** Name of the set of records */
      id: string
      /** Shows only records behind this index */
      after?: number | undefined
      /** Maximum number of records */
      limit?: number | undefined
      /** Shows the values in clear too, which are secrets */
      values?: boolean | undefined
    }
    result: {
      /** Records behind the given index, in order */
      records: readonly {
        /** Index in the log of this cluster */
        index: number
        /** Index in the log of the primary that wrote it, if that was another cluster */
        primary_index?: number
        /** When it was written, RFC 3339, by the clock of the server that wrote it */
        committed_at: string
        /** What it did, in one step */
        operations: readonly {
          /** What was done to the entry */
          kind: 'put' | 'delete'
          /** Which clusters get the entry */
          class: 'replicated' | 'local'
          /** UUID of the mount that the entry belongs to, or system */
          mount: string
          /** Path of the entry, as sys/raw names it */
          path: string
          /** True if the value can be shown: not where it was deleted, and not for keys of the server and audit */
          readable: boolean
          /** The value in base64, if it was asked for and can be shown */
          value?: string
        }[]
      }[]
      /** Value of "after" for the records that follow; missing: these were the last */
      next_after?: number
    }
  }
  /** Deletes a set of undone records. */
  'POST sys/replication/dr/secondary/undone/delete': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
      /** Name of the set of records */
      id: string
    }
    result: undefined
  }
  /** Lists what this cluster had and its primary of that time did not, by the times when that was undone. */
  'GET sys/replication/undone': {
    fields: Record<never, never>
    result: {
      /** All that are kept, oldest first */
      undone: readonly {
        /** Name of the set of records */
        id: string
        /** When they were kept aside, RFC 3339 */
        kept_at: string
        /** False while they are being kept, or where that was broken off; nothing was undone then */
        finished: boolean
        /** Id of the set for replication that the cluster was in */
        cluster_id: string
        /** True if this cluster wrote them as a primary; false if it had them from its former primary */
        written_here: boolean
        /** Records that were found */
        records: number
        /** Those of them that are not kept, for lack of room */
        records_left_out: number
        /** Changes of entries in all of them */
        operations: number
        /** Index of the first one in the log of this cluster */
        first_index: number
        /** Index of the last one */
        last_index: number
        /** Bytes that are kept */
        bytes: number
        /** False if records are left out, or may be missing */
        complete: boolean
        /** The log of this cluster did not reach back further: records up to this index may be missing */
        missing_up_to?: number
        /** Index of the last record that both clusters have, in the log of the former primary */
        fork_index: number
        /** Id of the history of that log, in hexadecimal */
        fork_history_id: string
      }[]
    }
  }
  /** Shows records that were undone, in the order in which they were written. */
  'GET sys/replication/undone/:id': {
    fields: {
      /** Name of the set of records */
      id: string
      /** Shows only records behind this index */
      after?: number | undefined
      /** Maximum number of records */
      limit?: number | undefined
      /** Shows the values in clear too, which are secrets */
      values?: boolean | undefined
    }
    result: {
      /** Records behind the given index, in order */
      records: readonly {
        /** Index in the log of this cluster */
        index: number
        /** Index in the log of the primary that wrote it, if that was another cluster */
        primary_index?: number
        /** When it was written, RFC 3339, by the clock of the server that wrote it */
        committed_at: string
        /** What it did, in one step */
        operations: readonly {
          /** What was done to the entry */
          kind: 'put' | 'delete'
          /** Which clusters get the entry */
          class: 'replicated' | 'local'
          /** UUID of the mount that the entry belongs to, or system */
          mount: string
          /** Path of the entry, as sys/raw names it */
          path: string
          /** True if the value can be shown: not where it was deleted, and not for keys of the server and audit */
          readable: boolean
          /** The value in base64, if it was asked for and can be shown */
          value?: string
        }[]
      }[]
      /** Value of "after" for the records that follow; missing: these were the last */
      next_after?: number
    }
  }
  /** Deletes a set of undone records. */
  'DELETE sys/replication/undone/:id': {
    fields: {
      /** Name of the set of records */
      id: string
    }
    result: undefined
  }
  /** Shows the filter of a secondary; without one the answer is empty. */
  'GET sys/replication/performance/primary/paths-filter/:id...': {
    fields: {
      /** Id that the token of the secondary was made for, or the id of the cluster that came with it */
      id: string
    }
    result: {
      /** allow: nothing but the paths; deny: all but them */
      mode: 'allow' | 'deny'
      /** Paths of mounts and namespaces */
      paths: readonly string[]
    } | undefined
  }
  /** Sets which mounts and namespaces a secondary gets. */
  'POST sys/replication/performance/primary/paths-filter/:id...': {
    fields: {
      /** Id that the token of the secondary was made for, or the id of the cluster that came with it */
      id: string
      /** allow: nothing but the paths; deny: all but them */
      mode?: string | undefined
      /** Paths of mounts and namespaces, from the root */
      paths?: readonly string[] | undefined
      /** Only shows what the filter would change for the secondary */
      dry_run?: boolean | undefined
    }
    result: {
      /** Mounts and namespaces that the secondary would get, with dry_run */
      would_appear: readonly string[]
      /** Mounts and namespaces that it would have no more, with dry_run */
      would_vanish: readonly string[]
    } | undefined
  }
  /** Removes the filter of a secondary, if it has one. */
  'DELETE sys/replication/performance/primary/paths-filter/:id...': {
    fields: {
      /** Id that the token of the secondary was made for, or the id of the cluster that came with it */
      id: string
    }
    result: undefined
  }
  /** Shows what a filter keeps from a secondary now. */
  'GET sys/replication/performance/primary/dynamic-filter/:id...': {
    fields: {
      /** Id that the token of the secondary was made for, or the id of the cluster that came with it */
      id: string
    }
    result: {
      /** Mounts that the secondary does not get now */
      dynamic_filtered_mounts: readonly string[]
      /** Namespaces that the secondary does not get now */
      dynamic_filtered_namespaces: readonly string[]
    }
  }
  /** Shows, on the secondary itself, what a filter keeps from it now. */
  'GET sys/replication/performance/secondary/dynamic-filter/:id...': {
    fields: {
      /** Id that the token of the secondary was made for, or the id of the cluster that came with it */
      id: string
    }
    result: {
      /** Mounts that the secondary does not get now */
      dynamic_filtered_mounts: readonly string[]
      /** Namespaces that the secondary does not get now */
      dynamic_filtered_namespaces: readonly string[]
    }
  }
  /** Compares the tree over all entries with them, and makes anew what is wrong, in the background. */
  'POST sys/replication/reindex': {
    fields: {
      /** Look at the stored bytes of each entry too, and make wrong leaves anew */
      diff?: boolean | undefined
      /** As diff, and nothing of the tree of before is kept */
      force?: boolean | undefined
      /** Store the new tree later: if the server is killed before, a new reindex may be needed */
      skip_flush?: boolean | undefined
    }
    result: undefined
  }
  /** Compares the tree over all entries with them, and makes anew what is wrong, in the background. */
  'POST sys/replication/dr/reindex': {
    fields: {
      /** Look at the stored bytes of each entry too, and make wrong leaves anew */
      diff?: boolean | undefined
      /** As diff, and nothing of the tree of before is kept */
      force?: boolean | undefined
      /** Store the new tree later: if the server is killed before, a new reindex may be needed */
      skip_flush?: boolean | undefined
    }
    result: undefined
  }
  /** Compares the tree over all entries with them, and makes anew what is wrong, in the background. */
  'POST sys/replication/performance/reindex': {
    fields: {
      /** Look at the stored bytes of each entry too, and make wrong leaves anew */
      diff?: boolean | undefined
      /** As diff, and nothing of the tree of before is kept */
      force?: boolean | undefined
      /** Store the new tree later: if the server is killed before, a new reindex may be needed */
      skip_flush?: boolean | undefined
    }
    result: undefined
  }
  /** As replication/reindex, on a secondary for disaster recovery. */
  'POST sys/replication/dr/secondary/reindex': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
      /** Look at the stored bytes of each entry too, and make wrong leaves anew */
      diff?: boolean | undefined
      /** As diff, and nothing of the tree of before is kept */
      force?: boolean | undefined
      /** Store the new tree later: if the server is killed before, a new reindex may be needed */
      skip_flush?: boolean | undefined
    }
    result: undefined
  }
  /** Has a secondary that stopped after an error call its primary again, without waiting for the next try. */
  'POST sys/replication/recover': {
    fields: Record<never, never>
    result: undefined
  }
  /** As replication/recover, on a secondary for disaster recovery. */
  'POST sys/replication/dr/secondary/recover': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
    }
    result: undefined
  }
  /** Compares the tree over all entries with their stored bytes, and says where they do not fit. */
  'POST sys/replication/merkle-check': {
    fields: Record<never, never>
    result: {
      /** What was found */
      merkle_corruption_report: {
        /** The same of one of the subtrees */
        corrupted_root: boolean
        /** The subtrees */
        corrupted_tree_map: {
          /** What secondaries of both families get */
          '1': {
            /** replicated or local */
            tree_type: string
            /** SHA-256 over the subtree, base64 */
            root_hash: string
            /** A hash that is kept is not that of the pages below it */
            corrupted_subtree_root: boolean
            /** Pages with something wrong, by their numbers; of all mounts together. Null: none */
            corrupted_index_tuples_map: Readonly<Record<string, {
              /** The hash that is kept of the page is not that of its subpages */
              corrupted: boolean
              /** Subpages that do not fit the entries in them */
              subpages: readonly number[]
            }>> | null
          }
          /** What DR alone gets */
          '2': {
            /** replicated or local */
            tree_type: string
            /** SHA-256 over the subtree, base64 */
            root_hash: string
            /** A hash that is kept is not that of the pages below it */
            corrupted_subtree_root: boolean
            /** Pages with something wrong, by their numbers; of all mounts together. Null: none */
            corrupted_index_tuples_map: Readonly<Record<string, {
              /** The hash that is kept of the page is not that of its subpages */
              corrupted: boolean
              /** Subpages that do not fit the entries in them */
              subpages: readonly number[]
            }>> | null
          }
        }
        /** Entries whose stored bytes are not those that their leaf was made of */
        corrupted_entries: number
        /** Entries that were looked at */
        checked_entries: number
        /** When the check ended, RFC 3339 */
        last_corruption_check_epoch: string
      }
    }
  }
  /** Compares the tree over all entries with their stored bytes, and says where they do not fit. */
  'POST sys/replication/dr/secondary/merkle-check': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
    }
    result: {
      /** What was found */
      merkle_corruption_report: {
        /** The same of one of the subtrees */
        corrupted_root: boolean
        /** The subtrees */
        corrupted_tree_map: {
          /** What secondaries of both families get */
          '1': {
            /** replicated or local */
            tree_type: string
            /** SHA-256 over the subtree, base64 */
            root_hash: string
            /** A hash that is kept is not that of the pages below it */
            corrupted_subtree_root: boolean
            /** Pages with something wrong, by their numbers; of all mounts together. Null: none */
            corrupted_index_tuples_map: Readonly<Record<string, {
              /** The hash that is kept of the page is not that of its subpages */
              corrupted: boolean
              /** Subpages that do not fit the entries in them */
              subpages: readonly number[]
            }>> | null
          }
          /** What DR alone gets */
          '2': {
            /** replicated or local */
            tree_type: string
            /** SHA-256 over the subtree, base64 */
            root_hash: string
            /** A hash that is kept is not that of the pages below it */
            corrupted_subtree_root: boolean
            /** Pages with something wrong, by their numbers; of all mounts together. Null: none */
            corrupted_index_tuples_map: Readonly<Record<string, {
              /** The hash that is kept of the page is not that of its subpages */
              corrupted: boolean
              /** Subpages that do not fit the entries in them */
              subpages: readonly number[]
            }>> | null
          }
        }
        /** Entries whose stored bytes are not those that their leaf was made of */
        corrupted_entries: number
        /** Entries that were looked at */
        checked_entries: number
        /** When the check ended, RFC 3339 */
        last_corruption_check_epoch: string
      }
    }
  }
  /** Shows the progress of the attempt to generate an operation token. */
  'GET sys/replication/dr/secondary/generate-operation-token/attempt': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Always empty: clients of root tokens read it */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /**
   * Starts an attempt to generate an operation token of this secondary; only one can be in progress, and it is
   * cancelled after ten minutes of inactivity.
   */
  'POST sys/replication/dr/secondary/generate-operation-token/attempt': {
    fields: {
      /** One-time password that the token is XORed with; generated if neither it nor pgp_key is sent */
      otp?: string | undefined
      /** OpenPGP public key, base64-encoded, that the token is encrypted to */
      pgp_key?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Always empty: clients of root tokens read it */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Cancels the attempt, if one is in progress. */
  'DELETE sys/replication/dr/secondary/generate-operation-token/attempt': {
    fields: {
      /** Nonce of the attempt that is meant; another one stays. Empty: whichever it is */
      nonce?: string | undefined
    }
    result: undefined
  }
  /** Submits one share; the response to the last required share has the encrypted token. */
  'POST sys/replication/dr/secondary/generate-operation-token/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Always empty: clients of root tokens read it */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Deletes the operation token that is sent. */
  'POST sys/replication/dr/secondary/operation-token/delete': {
    fields: {
      /**
       * Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose
       * policy allows update on the path
       */
      dr_operation_token: string
    }
    result: undefined
  }
  /** Shows the current data key of the barrier. */
  'GET sys/key-status': {
    fields: Record<never, never>
    result: {
      /** Term (number) of the key */
      term: number
      /** Time when the key came into use */
      install_time: string
      /** Number of encryptions under the key */
      encryptions: number
    }
  }
  /** Creates a new data key for all further encryption; data encrypted under older keys stays readable. */
  'POST sys/rotate': {
    fields: Record<never, never>
    result: undefined
  }
  /** Creates a new data key for all further encryption; data encrypted under older keys stays readable. */
  'POST sys/rotate/keyring': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows when the data key is rotated automatically. */
  'GET sys/rotate/config': {
    fields: Record<never, never>
    result: {
      /** Automatic rotation is enabled */
      enabled: boolean
      /** Number of encryptions after which the key is rotated */
      max_operations: number
      /** Time after which the key is rotated, in seconds; 0: no limit */
      interval: number
    }
  }
  /** Sets when the data key is rotated automatically. */
  'POST sys/rotate/config': {
    fields: {
      /** Enables automatic rotation */
      enabled?: boolean | undefined
      /** Number of encryptions after which the key is rotated, 1000000 to 3865470566 */
      max_operations?: number | undefined
      /** Time after which the key is rotated, in seconds; 0: no limit, otherwise at least 24 hours */
      interval?: Duration | undefined
    }
    result: undefined
  }
  /** Shows the progress of the attempt to rekey the unseal key. */
  'GET sys/rekey/init': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Shows the progress of the attempt to rekey the unseal key. */
  'GET sys/rotate/root/init': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to replace the unseal key and its shares; only one can be in progress. */
  'POST sys/rekey/init': {
    fields: {
      /** Number of new shares */
      secret_shares?: number | undefined
      /** Number of new shares that will be required (threshold) */
      secret_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Also keep the encrypted shares in storage */
      backup?: boolean | undefined
      /** New shares take effect only after enough of them are submitted for verification */
      require_verification?: boolean | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to replace the unseal key and its shares; only one can be in progress. */
  'POST sys/rotate/root/init': {
    fields: {
      /** Number of new shares */
      secret_shares?: number | undefined
      /** Number of new shares that will be required (threshold) */
      secret_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Also keep the encrypted shares in storage */
      backup?: boolean | undefined
      /** New shares take effect only after enough of them are submitted for verification */
      require_verification?: boolean | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Cancels the attempt, and discards new shares that await verification. */
  'DELETE sys/rekey/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Cancels the attempt, and discards new shares that await verification. */
  'DELETE sys/rotate/root/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Submits one of the current shares; the response to the last required share has the new shares. */
  'POST sys/rekey/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce?: string
      /** An attempt is in progress */
      started?: boolean
      /** Threshold: number of new shares that will be required */
      t?: number
      /** Number of new shares */
      n?: number
      /** Number of current shares submitted so far */
      progress?: number
      /** Number of current shares required */
      required?: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup?: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required?: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
      /** The new shares were created */
      complete?: boolean
      /** New shares, in hexadecimal, or as OpenPGP messages if encrypted */
      keys?: readonly string[]
      /** Same as keys, base64-encoded */
      keys_base64?: readonly string[]
    }
  }
  /** Submits one of the current shares; the response to the last required share has the new shares. */
  'POST sys/rotate/root/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce?: string
      /** An attempt is in progress */
      started?: boolean
      /** Threshold: number of new shares that will be required */
      t?: number
      /** Number of new shares */
      n?: number
      /** Number of current shares submitted so far */
      progress?: number
      /** Number of current shares required */
      required?: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup?: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required?: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
      /** The new shares were created */
      complete?: boolean
      /** New shares, in hexadecimal, or as OpenPGP messages if encrypted */
      keys?: readonly string[]
      /** Same as keys, base64-encoded */
      keys_base64?: readonly string[]
    }
  }
  /** Shows the progress of the verification of new shares. */
  'GET sys/rekey/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Shows the progress of the verification of new shares. */
  'GET sys/rotate/root/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Submits one of the new shares for verification; after the last required share the new shares take effect. */
  'POST sys/rekey/verify': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce?: string
      /** New shares await verification */
      started?: boolean
      /** Number of new shares required */
      t?: number
      /** Total number of new shares */
      n?: number
      /** Number of new shares submitted so far */
      progress?: number
      /** The new shares are in effect */
      complete?: boolean
    }
  }
  /** Submits one of the new shares for verification; after the last required share the new shares take effect. */
  'POST sys/rotate/root/verify': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce?: string
      /** New shares await verification */
      started?: boolean
      /** Number of new shares required */
      t?: number
      /** Total number of new shares */
      n?: number
      /** Number of new shares submitted so far */
      progress?: number
      /** The new shares are in effect */
      complete?: boolean
    }
  }
  /** Restarts the verification of new shares, under a new nonce. */
  'DELETE sys/rekey/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Restarts the verification of new shares, under a new nonce. */
  'DELETE sys/rotate/root/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Shows the encrypted shares of the unseal key that the last rekey kept. */
  'GET sys/rekey/backup': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt that created the shares */
      nonce: string
      /** Encrypted shares in hexadecimal, by key fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** Encrypted shares in base64, by key fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Deletes the encrypted shares of the unseal key that the last rekey kept. */
  'DELETE sys/rekey/backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the encrypted shares of the unseal key that the last rekey kept. */
  'GET sys/rotate/root/backup': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt that created the shares */
      nonce: string
      /** Encrypted shares in hexadecimal, by key fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** Encrypted shares in base64, by key fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Deletes the encrypted shares of the unseal key that the last rekey kept. */
  'DELETE sys/rotate/root/backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the progress of the attempt to rekey the recovery key. */
  'GET sys/rekey-recovery-key/init': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Shows the progress of the attempt to rekey the recovery key. */
  'GET sys/rotate/recovery/init': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to replace the recovery key and its shares; only one can be in progress. */
  'POST sys/rekey-recovery-key/init': {
    fields: {
      /** Number of new shares */
      secret_shares?: number | undefined
      /** Number of new shares that will be required (threshold) */
      secret_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Also keep the encrypted shares in storage */
      backup?: boolean | undefined
      /** New shares take effect only after enough of them are submitted for verification */
      require_verification?: boolean | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to replace the recovery key and its shares; only one can be in progress. */
  'POST sys/rotate/recovery/init': {
    fields: {
      /** Number of new shares */
      secret_shares?: number | undefined
      /** Number of new shares that will be required (threshold) */
      secret_threshold?: number | undefined
      /** OpenPGP public keys, base64-encoded, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Also keep the encrypted shares in storage */
      backup?: boolean | undefined
      /** New shares take effect only after enough of them are submitted for verification */
      require_verification?: boolean | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Threshold: number of new shares that will be required */
      t: number
      /** Number of new shares */
      n: number
      /** Number of current shares submitted so far */
      progress: number
      /** Number of current shares required */
      required: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
    }
  }
  /** Cancels the attempt, and discards new shares that await verification. */
  'DELETE sys/rekey-recovery-key/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Cancels the attempt, and discards new shares that await verification. */
  'DELETE sys/rotate/recovery/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Submits one of the current shares; the response to the last required share has the new shares. */
  'POST sys/rekey-recovery-key/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce?: string
      /** An attempt is in progress */
      started?: boolean
      /** Threshold: number of new shares that will be required */
      t?: number
      /** Number of new shares */
      n?: number
      /** Number of current shares submitted so far */
      progress?: number
      /** Number of current shares required */
      required?: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup?: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required?: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
      /** The new shares were created */
      complete?: boolean
      /** New shares, in hexadecimal, or as OpenPGP messages if encrypted */
      keys?: readonly string[]
      /** Same as keys, base64-encoded */
      keys_base64?: readonly string[]
    }
  }
  /** Submits one of the current shares; the response to the last required share has the new shares. */
  'POST sys/rotate/recovery/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce?: string
      /** An attempt is in progress */
      started?: boolean
      /** Threshold: number of new shares that will be required */
      t?: number
      /** Number of new shares */
      n?: number
      /** Number of current shares submitted so far */
      progress?: number
      /** Number of current shares required */
      required?: number
      /** Fingerprints of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are also kept in storage */
      backup?: boolean
      /** New shares take effect only after enough of them are submitted for verification */
      verification_required?: boolean
      /** Nonce of the verification, sent with each new share */
      verification_nonce?: string
      /** The new shares were created */
      complete?: boolean
      /** New shares, in hexadecimal, or as OpenPGP messages if encrypted */
      keys?: readonly string[]
      /** Same as keys, base64-encoded */
      keys_base64?: readonly string[]
    }
  }
  /** Shows the progress of the verification of new shares. */
  'GET sys/rekey-recovery-key/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Shows the progress of the verification of new shares. */
  'GET sys/rotate/recovery/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Submits one of the new shares for verification; after the last required share the new shares take effect. */
  'POST sys/rekey-recovery-key/verify': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce?: string
      /** New shares await verification */
      started?: boolean
      /** Number of new shares required */
      t?: number
      /** Total number of new shares */
      n?: number
      /** Number of new shares submitted so far */
      progress?: number
      /** The new shares are in effect */
      complete?: boolean
    }
  }
  /** Submits one of the new shares for verification; after the last required share the new shares take effect. */
  'POST sys/rotate/recovery/verify': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce?: string
      /** New shares await verification */
      started?: boolean
      /** Number of new shares required */
      t?: number
      /** Total number of new shares */
      n?: number
      /** Number of new shares submitted so far */
      progress?: number
      /** The new shares are in effect */
      complete?: boolean
    }
  }
  /** Restarts the verification of new shares, under a new nonce. */
  'DELETE sys/rekey-recovery-key/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Restarts the verification of new shares, under a new nonce. */
  'DELETE sys/rotate/recovery/verify': {
    fields: Record<never, never>
    result: {
      /** Nonce of the verification, sent with each new share */
      nonce: string
      /** New shares await verification */
      started: boolean
      /** Number of new shares required */
      t: number
      /** Total number of new shares */
      n: number
      /** Number of new shares submitted so far */
      progress: number
    }
  }
  /** Shows the encrypted shares of the recovery key that the last rekey kept. */
  'GET sys/rekey/recovery-key-backup': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt that created the shares */
      nonce: string
      /** Encrypted shares in hexadecimal, by key fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** Encrypted shares in base64, by key fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Deletes the encrypted shares of the recovery key that the last rekey kept. */
  'DELETE sys/rekey/recovery-key-backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the encrypted shares of the recovery key that the last rekey kept. */
  'GET sys/rotate/recovery/backup': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt that created the shares */
      nonce: string
      /** Encrypted shares in hexadecimal, by key fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** Encrypted shares in base64, by key fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Deletes the encrypted shares of the recovery key that the last rekey kept. */
  'DELETE sys/rotate/recovery/backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the progress of the attempt to generate a root token. */
  'GET sys/generate-root/attempt': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Shows the progress of the attempt to generate a root token. */
  'GET sys/generate-root-token/attempt': {
    fields: Record<never, never>
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /**
   * Starts an attempt to generate a root token; only one can be in progress, and it is cancelled after ten minutes of
   * inactivity.
   */
  'POST sys/generate-root/attempt': {
    fields: {
      /** One-time password that the token is XORed with; generated if neither it nor pgp_key is sent */
      otp?: string | undefined
      /** OpenPGP public key, base64-encoded, that the token is encrypted to */
      pgp_key?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /**
   * Starts an attempt to generate a root token; only one can be in progress, and it is cancelled after ten minutes of
   * inactivity.
   */
  'POST sys/generate-root-token/attempt': {
    fields: {
      /** One-time password that the token is XORed with; generated if neither it nor pgp_key is sent */
      otp?: string | undefined
      /** OpenPGP public key, base64-encoded, that the token is encrypted to */
      pgp_key?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Cancels the attempt, if one is in progress. */
  'DELETE sys/generate-root/attempt': {
    fields: Record<never, never>
    result: undefined
  }
  /** Cancels the attempt, if one is in progress. */
  'DELETE sys/generate-root-token/attempt': {
    fields: Record<never, never>
    result: undefined
  }
  /** Submits one share; the response to the last required share has the encrypted token. */
  'POST sys/generate-root/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Submits one share; the response to the last required share has the encrypted token. */
  'POST sys/generate-root-token/update': {
    fields: {
      /** One share, in hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Nonce of the attempt, sent with each share */
      nonce: string
      /** An attempt is in progress */
      started: boolean
      /** Number of shares submitted so far */
      progress: number
      /** Number of shares required */
      required: number
      /** The attempt is complete: the token was created */
      complete: boolean
      /** The encrypted token; empty until the attempt is complete */
      encoded_token: string
      /** Same as encoded_token */
      encoded_root_token: string
      /** Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password; only in the response that starts the attempt */
      otp: string
      /** Required length of a one-time password */
      otp_length: number
    }
  }
  /** Lists the namespaces directly below. */
  'LIST sys/namespaces': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Paths within the namespace that is asked */
      keys: readonly string[]
      /** The namespaces by these paths */
      key_info: Readonly<Record<string, {
        /** ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities */
        id: string
        /** UUID */
        uuid: string
        /** Path from the root on */
        path: string
        /** Metadata, as key-value pairs */
        custom_metadata: Readonly<Record<string, string>>
        /** An administrator keeps requests out of it */
        locked: boolean
        /** It is being deleted */
        tainted: boolean
      }>>
    }
  }
  /** Lists all namespaces below, at any depth. */
  'SCAN sys/namespaces': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Paths within the namespace that is asked */
      keys: readonly string[]
      /** The namespaces by these paths */
      key_info: Readonly<Record<string, {
        /** ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities */
        id: string
        /** UUID */
        uuid: string
        /** Path from the root on */
        path: string
        /** Metadata, as key-value pairs */
        custom_metadata: Readonly<Record<string, string>>
        /** An administrator keeps requests out of it */
        locked: boolean
        /** It is being deleted */
        tainted: boolean
      }>>
    }
  }
  /** Shows a namespace. */
  'GET sys/namespaces/:path...': {
    fields: {
      /** Name of the namespace, within the one that is asked */
      path: string
    }
    result: {
      /** ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities */
      id: string
      /** UUID */
      uuid: string
      /** Path from the root on */
      path: string
      /** Metadata, as key-value pairs */
      custom_metadata: Readonly<Record<string, string>>
      /** An administrator keeps requests out of it */
      locked: boolean
      /** It is being deleted */
      tainted: boolean
    }
  }
  /** Makes a namespace, or replaces the metadata of the one that is there. */
  'POST sys/namespaces/:path...': {
    fields: {
      /** Name of the namespace, within the one that is asked */
      path: string
      /** Metadata, as key-value pairs */
      custom_metadata?: Readonly<Record<string, string>> | undefined
    }
    result: {
      /** ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities */
      id: string
      /** UUID */
      uuid: string
      /** Path from the root on */
      path: string
      /** Metadata, as key-value pairs */
      custom_metadata: Readonly<Record<string, string>>
      /** An administrator keeps requests out of it */
      locked: boolean
      /** It is being deleted */
      tainted: boolean
    }
  }
  /** Changes some of the metadata of a namespace. */
  'PATCH sys/namespaces/:path...': {
    fields: {
      /** Name of the namespace, within the one that is asked */
      path: string
      /** Metadata, as key-value pairs */
      custom_metadata?: Readonly<Record<string, string | null>> | null | undefined
    }
    result: {
      /** ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities */
      id: string
      /** UUID */
      uuid: string
      /** Path from the root on */
      path: string
      /** Metadata, as key-value pairs */
      custom_metadata: Readonly<Record<string, string>>
      /** An administrator keeps requests out of it */
      locked: boolean
      /** It is being deleted */
      tainted: boolean
    }
  }
  /** Deletes a namespace with everything in it; one that contains others is refused. */
  'DELETE sys/namespaces/:path...': {
    fields: {
      /** Name of the namespace, within the one that is asked */
      path: string
    }
    result: {
      /** in-progress */
      status: string
    } | undefined
  }
  /** Locks a namespace: it and all below it refuse requests with 503. */
  'POST sys/namespaces/api-lock/lock': {
    fields: {
      /** Path of the namespace, within the one that is asked; empty: that one */
      path?: string | undefined
    }
    result: {
      /** The key that unlocks it, shown once */
      unlock_key: string
    }
  }
  /** Locks a namespace: it and all below it refuse requests with 503. */
  'POST sys/namespaces/api-lock/lock/:path...': {
    fields: {
      /** Path of the namespace, within the one that is asked; empty: that one */
      path: string
    }
    result: {
      /** The key that unlocks it, shown once */
      unlock_key: string
    }
  }
  /** Unlocks a namespace, with the key of its lock, or with sudo on the path. */
  'POST sys/namespaces/api-lock/unlock': {
    fields: {
      /** Path of the namespace, within the one that is asked; empty: that one */
      path?: string | undefined
      /** The key that the lock answered */
      unlock_key?: string | undefined
    }
    result: undefined
  }
  /** Unlocks a namespace, with the key of its lock, or with sudo on the path. */
  'POST sys/namespaces/api-lock/unlock/:path...': {
    fields: {
      /** Path of the namespace, within the one that is asked; empty: that one */
      path: string
      /** The key that the lock answered */
      unlock_key?: string | undefined
    }
    result: undefined
  }
  /** Lists all engines by path. */
  'GET sys/mounts': {
    fields: Record<never, never>
    result: {
      /** Mount */
      [name: string]: {
        /** Type of the engine or login method */
        type: string
        /** Description for operators */
        description: string
        /** Accessor of the mount */
        accessor: string
        /** UUID of the mount */
        uuid: string
        /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
        local: boolean
        /** Data is also encrypted by the seal (seal wrap) */
        seal_wrap: boolean
        /** The engine can use entropy from the seal */
        external_entropy_access: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Always empty: the engine is built in */
        plugin_version: string
        /** Version of the engine */
        running_plugin_version: string
        /** Always empty: the engine is built in */
        running_sha256: string
        /** supported */
        deprecation_status?: string
        /** Settings of the mount */
        config: {
          /** Default TTL in seconds; 0: the system default */
          default_lease_ttl: number
          /** Maximum TTL in seconds; 0: the system maximum */
          max_lease_ttl: number
          /** Stored and shown, but has no effect */
          force_no_cache: boolean
          /** unauth: listed to callers without a token */
          listing_visibility?: string
          /** Request fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_request_keys?: readonly string[]
          /** Response fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_response_keys?: readonly string[]
          /** Names of the managed keys that the engine can use */
          allowed_managed_keys?: readonly string[]
          /** Type of token that a login issues */
          token_type?: string
          /** User lockout of a login mount */
          user_lockout_config?: {
            /** Failed logins after which a user is locked out; 0: never */
            lockout_threshold: number
            /** How long the user is locked out, in seconds */
            lockout_duration: number
            /** Time without a failed login, in seconds, after which the count is reset */
            lockout_counter_reset: number
            /** The lockout is disabled */
            lockout_disable: boolean
          }
          /** Request headers passed to the engine */
          passthrough_request_headers?: readonly string[]
          /** Response headers that the engine can set */
          allowed_response_headers?: readonly string[]
        }
      }
    }
  }
  /** Shows an engine. */
  'GET sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Type of the engine or login method */
      type: string
      /** Description for operators */
      description: string
      /** Accessor of the mount */
      accessor: string
      /** UUID of the mount */
      uuid: string
      /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
      local: boolean
      /** Data is also encrypted by the seal (seal wrap) */
      seal_wrap: boolean
      /** The engine can use entropy from the seal */
      external_entropy_access: boolean
      /** Options of the engine */
      options: Readonly<Record<string, string>> | null
      /** Always empty: the engine is built in */
      plugin_version: string
      /** Version of the engine */
      running_plugin_version: string
      /** Always empty: the engine is built in */
      running_sha256: string
      /** supported */
      deprecation_status?: string
      /** Settings of the mount */
      config: {
        /** Default TTL in seconds; 0: the system default */
        default_lease_ttl: number
        /** Maximum TTL in seconds; 0: the system maximum */
        max_lease_ttl: number
        /** Stored and shown, but has no effect */
        force_no_cache: boolean
        /** unauth: listed to callers without a token */
        listing_visibility?: string
        /** Request fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_request_keys?: readonly string[]
        /** Response fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_response_keys?: readonly string[]
        /** Names of the managed keys that the engine can use */
        allowed_managed_keys?: readonly string[]
        /** Type of token that a login issues */
        token_type?: string
        /** User lockout of a login mount */
        user_lockout_config?: {
          /** Failed logins after which a user is locked out; 0: never */
          lockout_threshold: number
          /** How long the user is locked out, in seconds */
          lockout_duration: number
          /** Time without a failed login, in seconds, after which the count is reset */
          lockout_counter_reset: number
          /** The lockout is disabled */
          lockout_disable: boolean
        }
        /** Request headers passed to the engine */
        passthrough_request_headers?: readonly string[]
        /** Response headers that the engine can set */
        allowed_response_headers?: readonly string[]
      }
    }
  }
  /** Mounts an engine at a path. */
  'POST sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
      /** Type of the engine or login method */
      type?: string | undefined
      /** Description for operators */
      description?: string | undefined
      /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
      local?: boolean | undefined
      /** Must be false: seal wrap is not offered yet */
      seal_wrap?: boolean | undefined
      /** Must be false: entropy from the seal is not offered yet */
      external_entropy_access?: boolean | undefined
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | undefined
      /** Deprecated: use type */
      plugin_name?: string | undefined
      /** Must be empty: only the built-in version is available */
      plugin_version?: string | undefined
      /** Settings of the mount, as in tune */
      config?: {
        /** Default TTL, in seconds; 0 or "system" uses the system default */
        default_lease_ttl?: Duration | undefined
        /** Maximum TTL, in seconds; 0 or "system" uses the system maximum */
        max_lease_ttl?: Duration | undefined
        /** Stored and shown, but has no effect */
        force_no_cache?: boolean | undefined
        /** unauth lists the mount to callers without a token; hidden or empty does not */
        listing_visibility?: '' | 'unauth' | 'hidden' | undefined
        /** Token type of a login mount: service, batch, default-service or default-batch */
        token_type?: string | undefined
        /** User lockout of a login mount */
        user_lockout_config?: {
          /** Failed logins after which a user is locked out; 0: never */
          lockout_threshold?: number | undefined
          /** How long the user is locked out, in seconds */
          lockout_duration?: Duration | undefined
          /** Time without a failed login, in seconds, after which the count is reset */
          lockout_counter_reset_duration?: Duration | undefined
          /** Disables the lockout; setting it back to false restores the previous threshold */
          lockout_disable?: boolean | undefined
        } | undefined
        /** Request fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_request_keys?: readonly string[] | undefined
        /** Response fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_response_keys?: readonly string[] | undefined
        /** Request headers passed to the engine; headers that carry credentials are refused */
        passthrough_request_headers?: readonly string[] | undefined
        /** Response headers that the engine can set; headers of the server itself are refused */
        allowed_response_headers?: readonly string[] | undefined
        /** Names of the managed keys that the engine can use */
        allowed_managed_keys?: readonly string[] | undefined
        /** Must be empty: only the built-in version is available */
        plugin_version?: string | undefined
      } | undefined
    }
    result: undefined
  }
  /** Unmounts an engine and deletes all its data; a path without a mount is not an error. */
  'DELETE sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: undefined
  }
  /** Shows the settings of an engine. */
  'GET sys/mounts/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Description for operators */
      description: string
      /** Default TTL in effect, in seconds */
      default_lease_ttl: number
      /** Maximum TTL in effect, in seconds */
      max_lease_ttl: number
      /** Stored and shown, but has no effect */
      force_no_cache: boolean
      /** unauth: listed to callers without a token */
      listing_visibility?: string
      /** Request fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_request_keys?: readonly string[]
      /** Response fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_response_keys?: readonly string[]
      /** Names of the managed keys that the engine can use */
      allowed_managed_keys?: readonly string[]
      /** Request headers passed to the engine */
      passthrough_request_headers?: readonly string[]
      /** Response headers that the engine can set */
      allowed_response_headers?: readonly string[]
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | null
      /** Type of token that a login issues */
      token_type?: string
      /** User lockout of a login mount */
      user_lockout_config?: {
        /** Failed logins after which a user is locked out; 0: never */
        lockout_threshold: number
        /** How long the user is locked out, in seconds */
        lockout_duration: number
        /** Time without a failed login, in seconds, after which the count is reset */
        lockout_counter_reset: number
        /** The lockout is disabled */
        lockout_disable: boolean
      }
    }
  }
  /** Tunes an engine: changes the settings that are sent. */
  'POST sys/mounts/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
      /** Description for operators */
      description?: string | undefined
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | undefined
      /** Default TTL, in seconds; 0 or "system" uses the system default */
      default_lease_ttl?: Duration | undefined
      /** Maximum TTL, in seconds; 0 or "system" uses the system maximum */
      max_lease_ttl?: Duration | undefined
      /** Stored and shown, but has no effect */
      force_no_cache?: boolean | undefined
      /** unauth lists the mount to callers without a token; hidden or empty does not */
      listing_visibility?: '' | 'unauth' | 'hidden' | undefined
      /** Token type of a login mount: service, batch, default-service or default-batch */
      token_type?: string | undefined
      /** User lockout of a login mount */
      user_lockout_config?: {
        /** Failed logins after which a user is locked out; 0: never */
        lockout_threshold?: number | undefined
        /** How long the user is locked out, in seconds */
        lockout_duration?: Duration | undefined
        /** Time without a failed login, in seconds, after which the count is reset */
        lockout_counter_reset_duration?: Duration | undefined
        /** Disables the lockout; setting it back to false restores the previous threshold */
        lockout_disable?: boolean | undefined
      } | undefined
      /** Request fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_request_keys?: readonly string[] | undefined
      /** Response fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_response_keys?: readonly string[] | undefined
      /** Request headers passed to the engine; headers that carry credentials are refused */
      passthrough_request_headers?: readonly string[] | undefined
      /** Response headers that the engine can set; headers of the server itself are refused */
      allowed_response_headers?: readonly string[] | undefined
      /** Names of the managed keys that the engine can use */
      allowed_managed_keys?: readonly string[] | undefined
      /** Must be empty: only the built-in version is available */
      plugin_version?: string | undefined
    }
    result: undefined
  }
  /** Lists all login methods by path. */
  'GET sys/auth': {
    fields: Record<never, never>
    result: {
      /** Mount */
      [name: string]: {
        /** Type of the engine or login method */
        type: string
        /** Description for operators */
        description: string
        /** Accessor of the mount */
        accessor: string
        /** UUID of the mount */
        uuid: string
        /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
        local: boolean
        /** Data is also encrypted by the seal (seal wrap) */
        seal_wrap: boolean
        /** The engine can use entropy from the seal */
        external_entropy_access: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Always empty: the engine is built in */
        plugin_version: string
        /** Version of the engine */
        running_plugin_version: string
        /** Always empty: the engine is built in */
        running_sha256: string
        /** supported */
        deprecation_status?: string
        /** Settings of the mount */
        config: {
          /** Default TTL in seconds; 0: the system default */
          default_lease_ttl: number
          /** Maximum TTL in seconds; 0: the system maximum */
          max_lease_ttl: number
          /** Stored and shown, but has no effect */
          force_no_cache: boolean
          /** unauth: listed to callers without a token */
          listing_visibility?: string
          /** Request fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_request_keys?: readonly string[]
          /** Response fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_response_keys?: readonly string[]
          /** Names of the managed keys that the engine can use */
          allowed_managed_keys?: readonly string[]
          /** Type of token that a login issues */
          token_type?: string
          /** User lockout of a login mount */
          user_lockout_config?: {
            /** Failed logins after which a user is locked out; 0: never */
            lockout_threshold: number
            /** How long the user is locked out, in seconds */
            lockout_duration: number
            /** Time without a failed login, in seconds, after which the count is reset */
            lockout_counter_reset: number
            /** The lockout is disabled */
            lockout_disable: boolean
          }
          /** Request headers passed to the engine */
          passthrough_request_headers?: readonly string[]
          /** Response headers that the engine can set */
          allowed_response_headers?: readonly string[]
        }
      }
    }
  }
  /** Shows a login method. */
  'GET sys/auth/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Type of the engine or login method */
      type: string
      /** Description for operators */
      description: string
      /** Accessor of the mount */
      accessor: string
      /** UUID of the mount */
      uuid: string
      /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
      local: boolean
      /** Data is also encrypted by the seal (seal wrap) */
      seal_wrap: boolean
      /** The engine can use entropy from the seal */
      external_entropy_access: boolean
      /** Options of the engine */
      options: Readonly<Record<string, string>> | null
      /** Always empty: the engine is built in */
      plugin_version: string
      /** Version of the engine */
      running_plugin_version: string
      /** Always empty: the engine is built in */
      running_sha256: string
      /** supported */
      deprecation_status?: string
      /** Settings of the mount */
      config: {
        /** Default TTL in seconds; 0: the system default */
        default_lease_ttl: number
        /** Maximum TTL in seconds; 0: the system maximum */
        max_lease_ttl: number
        /** Stored and shown, but has no effect */
        force_no_cache: boolean
        /** unauth: listed to callers without a token */
        listing_visibility?: string
        /** Request fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_request_keys?: readonly string[]
        /** Response fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_response_keys?: readonly string[]
        /** Names of the managed keys that the engine can use */
        allowed_managed_keys?: readonly string[]
        /** Type of token that a login issues */
        token_type?: string
        /** User lockout of a login mount */
        user_lockout_config?: {
          /** Failed logins after which a user is locked out; 0: never */
          lockout_threshold: number
          /** How long the user is locked out, in seconds */
          lockout_duration: number
          /** Time without a failed login, in seconds, after which the count is reset */
          lockout_counter_reset: number
          /** The lockout is disabled */
          lockout_disable: boolean
        }
        /** Request headers passed to the engine */
        passthrough_request_headers?: readonly string[]
        /** Response headers that the engine can set */
        allowed_response_headers?: readonly string[]
      }
    }
  }
  /** Mounts a login method at a path. */
  'POST sys/auth/:path...': {
    fields: {
      /** Path of the mount */
      path: string
      /** Type of the engine or login method */
      type?: string | undefined
      /** Description for operators */
      description?: string | undefined
      /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
      local?: boolean | undefined
      /** Must be false: seal wrap is not offered yet */
      seal_wrap?: boolean | undefined
      /** Must be false: entropy from the seal is not offered yet */
      external_entropy_access?: boolean | undefined
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | undefined
      /** Deprecated: use type */
      plugin_name?: string | undefined
      /** Must be empty: only the built-in version is available */
      plugin_version?: string | undefined
      /** Settings of the mount, as in tune */
      config?: {
        /** Default TTL, in seconds; 0 or "system" uses the system default */
        default_lease_ttl?: Duration | undefined
        /** Maximum TTL, in seconds; 0 or "system" uses the system maximum */
        max_lease_ttl?: Duration | undefined
        /** Stored and shown, but has no effect */
        force_no_cache?: boolean | undefined
        /** unauth lists the mount to callers without a token; hidden or empty does not */
        listing_visibility?: '' | 'unauth' | 'hidden' | undefined
        /** Token type of a login mount: service, batch, default-service or default-batch */
        token_type?: string | undefined
        /** User lockout of a login mount */
        user_lockout_config?: {
          /** Failed logins after which a user is locked out; 0: never */
          lockout_threshold?: number | undefined
          /** How long the user is locked out, in seconds */
          lockout_duration?: Duration | undefined
          /** Time without a failed login, in seconds, after which the count is reset */
          lockout_counter_reset_duration?: Duration | undefined
          /** Disables the lockout; setting it back to false restores the previous threshold */
          lockout_disable?: boolean | undefined
        } | undefined
        /** Request fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_request_keys?: readonly string[] | undefined
        /** Response fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_response_keys?: readonly string[] | undefined
        /** Request headers passed to the engine; headers that carry credentials are refused */
        passthrough_request_headers?: readonly string[] | undefined
        /** Response headers that the engine can set; headers of the server itself are refused */
        allowed_response_headers?: readonly string[] | undefined
        /** Names of the managed keys that the engine can use */
        allowed_managed_keys?: readonly string[] | undefined
        /** Must be empty: only the built-in version is available */
        plugin_version?: string | undefined
      } | undefined
    }
    result: undefined
  }
  /** Unmounts a login method and deletes all its data; a path without a mount is not an error. */
  'DELETE sys/auth/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: undefined
  }
  /** Shows the settings of a login method. */
  'GET sys/auth/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Description for operators */
      description: string
      /** Default TTL in effect, in seconds */
      default_lease_ttl: number
      /** Maximum TTL in effect, in seconds */
      max_lease_ttl: number
      /** Stored and shown, but has no effect */
      force_no_cache: boolean
      /** unauth: listed to callers without a token */
      listing_visibility?: string
      /** Request fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_request_keys?: readonly string[]
      /** Response fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_response_keys?: readonly string[]
      /** Names of the managed keys that the engine can use */
      allowed_managed_keys?: readonly string[]
      /** Request headers passed to the engine */
      passthrough_request_headers?: readonly string[]
      /** Response headers that the engine can set */
      allowed_response_headers?: readonly string[]
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | null
      /** Type of token that a login issues */
      token_type?: string
      /** User lockout of a login mount */
      user_lockout_config?: {
        /** Failed logins after which a user is locked out; 0: never */
        lockout_threshold: number
        /** How long the user is locked out, in seconds */
        lockout_duration: number
        /** Time without a failed login, in seconds, after which the count is reset */
        lockout_counter_reset: number
        /** The lockout is disabled */
        lockout_disable: boolean
      }
    }
  }
  /** Tunes a login method: changes the settings that are sent. */
  'POST sys/auth/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
      /** Description for operators */
      description?: string | undefined
      /** Options of the engine, as key-value pairs */
      options?: Readonly<Record<string, string>> | undefined
      /** Default TTL, in seconds; 0 or "system" uses the system default */
      default_lease_ttl?: Duration | undefined
      /** Maximum TTL, in seconds; 0 or "system" uses the system maximum */
      max_lease_ttl?: Duration | undefined
      /** Stored and shown, but has no effect */
      force_no_cache?: boolean | undefined
      /** unauth lists the mount to callers without a token; hidden or empty does not */
      listing_visibility?: '' | 'unauth' | 'hidden' | undefined
      /** Token type of a login mount: service, batch, default-service or default-batch */
      token_type?: string | undefined
      /** User lockout of a login mount */
      user_lockout_config?: {
        /** Failed logins after which a user is locked out; 0: never */
        lockout_threshold?: number | undefined
        /** How long the user is locked out, in seconds */
        lockout_duration?: Duration | undefined
        /** Time without a failed login, in seconds, after which the count is reset */
        lockout_counter_reset_duration?: Duration | undefined
        /** Disables the lockout; setting it back to false restores the previous threshold */
        lockout_disable?: boolean | undefined
      } | undefined
      /** Request fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_request_keys?: readonly string[] | undefined
      /** Response fields that audit devices record in clear, not as HMAC */
      audit_non_hmac_response_keys?: readonly string[] | undefined
      /** Request headers passed to the engine; headers that carry credentials are refused */
      passthrough_request_headers?: readonly string[] | undefined
      /** Response headers that the engine can set; headers of the server itself are refused */
      allowed_response_headers?: readonly string[] | undefined
      /** Names of the managed keys that the engine can use */
      allowed_managed_keys?: readonly string[] | undefined
      /** Must be empty: only the built-in version is available */
      plugin_version?: string | undefined
    }
    result: undefined
  }
  /** Moves a mount to another path and keeps its data; for a login method, prefix both paths with auth/. */
  'POST sys/remount': {
    fields: {
      /** Current path of the mount */
      from: string
      /** New path of the mount */
      to: string
    }
    result: {
      /** ID to query the status with */
      migration_id: string
    }
  }
  /** Shows the status of the move of a mount. */
  'GET sys/remount/status/:id': {
    fields: {
      /** The migration_id of the move */
      id: string
    }
    result: {
      /** The migration_id that was sent */
      migration_id: string
      /** Details of the move */
      migration_info: {
        /** Previous path */
        source_mount: string
        /** New path */
        target_mount: string
        /** success */
        status: string
      }
    }
  }
  /** Lists the mounts that the caller can access, and those that are visible without a token. */
  'GET sys/internal/ui/mounts': {
    fields: Record<never, never>
    result: {
      /** Engines by path */
      secret: Readonly<Record<string, {
        /** Type of the engine or login method */
        type: string
        /** Description for operators */
        description: string
        /** Accessor of the mount */
        accessor?: string
        /** UUID of the mount */
        uuid?: string
        /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
        local?: boolean
        /** Data is also encrypted by the seal (seal wrap) */
        seal_wrap?: boolean
        /** The engine can use entropy from the seal */
        external_entropy_access?: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Always empty: the engine is built in */
        plugin_version?: string
        /** Version of the engine */
        running_plugin_version?: string
        /** Always empty: the engine is built in */
        running_sha256?: string
        /** supported */
        deprecation_status?: string
        /** Settings of the mount */
        config?: {
          /** Default TTL in seconds; 0: the system default */
          default_lease_ttl: number
          /** Maximum TTL in seconds; 0: the system maximum */
          max_lease_ttl: number
          /** Stored and shown, but has no effect */
          force_no_cache: boolean
          /** unauth: listed to callers without a token */
          listing_visibility?: string
          /** Request fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_request_keys?: readonly string[]
          /** Response fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_response_keys?: readonly string[]
          /** Names of the managed keys that the engine can use */
          allowed_managed_keys?: readonly string[]
          /** Type of token that a login issues */
          token_type?: string
          /** User lockout of a login mount */
          user_lockout_config?: {
            /** Failed logins after which a user is locked out; 0: never */
            lockout_threshold: number
            /** How long the user is locked out, in seconds */
            lockout_duration: number
            /** Time without a failed login, in seconds, after which the count is reset */
            lockout_counter_reset: number
            /** The lockout is disabled */
            lockout_disable: boolean
          }
          /** Request headers passed to the engine */
          passthrough_request_headers?: readonly string[]
          /** Response headers that the engine can set */
          allowed_response_headers?: readonly string[]
        }
      }>>
      /** Login methods by path */
      auth: Readonly<Record<string, {
        /** Type of the engine or login method */
        type: string
        /** Description for operators */
        description: string
        /** Accessor of the mount */
        accessor?: string
        /** UUID of the mount */
        uuid?: string
        /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
        local?: boolean
        /** Data is also encrypted by the seal (seal wrap) */
        seal_wrap?: boolean
        /** The engine can use entropy from the seal */
        external_entropy_access?: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Always empty: the engine is built in */
        plugin_version?: string
        /** Version of the engine */
        running_plugin_version?: string
        /** Always empty: the engine is built in */
        running_sha256?: string
        /** supported */
        deprecation_status?: string
        /** Settings of the mount */
        config?: {
          /** Default TTL in seconds; 0: the system default */
          default_lease_ttl: number
          /** Maximum TTL in seconds; 0: the system maximum */
          max_lease_ttl: number
          /** Stored and shown, but has no effect */
          force_no_cache: boolean
          /** unauth: listed to callers without a token */
          listing_visibility?: string
          /** Request fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_request_keys?: readonly string[]
          /** Response fields that audit devices record in clear, not as HMAC */
          audit_non_hmac_response_keys?: readonly string[]
          /** Names of the managed keys that the engine can use */
          allowed_managed_keys?: readonly string[]
          /** Type of token that a login issues */
          token_type?: string
          /** User lockout of a login mount */
          user_lockout_config?: {
            /** Failed logins after which a user is locked out; 0: never */
            lockout_threshold: number
            /** How long the user is locked out, in seconds */
            lockout_duration: number
            /** Time without a failed login, in seconds, after which the count is reset */
            lockout_counter_reset: number
            /** The lockout is disabled */
            lockout_disable: boolean
          }
          /** Request headers passed to the engine */
          passthrough_request_headers?: readonly string[]
          /** Response headers that the engine can set */
          allowed_response_headers?: readonly string[]
        }
      }>>
    }
  }
  /** Shows the mount that serves a path, to callers that can access the mount. */
  'GET sys/internal/ui/mounts/:path...': {
    fields: {
      /** Path of a mount, or any path within one */
      path: string
    }
    result: {
      /** Type of the engine or login method */
      type: string
      /** Description for operators */
      description: string
      /** Accessor of the mount */
      accessor: string
      /** UUID of the mount */
      uuid: string
      /** Local mount: a secondary for performance does not get it, one for disaster recovery does */
      local: boolean
      /** Data is also encrypted by the seal (seal wrap) */
      seal_wrap: boolean
      /** The engine can use entropy from the seal */
      external_entropy_access: boolean
      /** Options of the engine */
      options: Readonly<Record<string, string>> | null
      /** Always empty: the engine is built in */
      plugin_version: string
      /** Version of the engine */
      running_plugin_version: string
      /** Always empty: the engine is built in */
      running_sha256: string
      /** supported */
      deprecation_status?: string
      /** Settings of the mount */
      config: {
        /** Default TTL in seconds; 0: the system default */
        default_lease_ttl: number
        /** Maximum TTL in seconds; 0: the system maximum */
        max_lease_ttl: number
        /** Stored and shown, but has no effect */
        force_no_cache: boolean
        /** unauth: listed to callers without a token */
        listing_visibility?: string
        /** Request fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_request_keys?: readonly string[]
        /** Response fields that audit devices record in clear, not as HMAC */
        audit_non_hmac_response_keys?: readonly string[]
        /** Names of the managed keys that the engine can use */
        allowed_managed_keys?: readonly string[]
        /** Type of token that a login issues */
        token_type?: string
        /** User lockout of a login mount */
        user_lockout_config?: {
          /** Failed logins after which a user is locked out; 0: never */
          lockout_threshold: number
          /** How long the user is locked out, in seconds */
          lockout_duration: number
          /** Time without a failed login, in seconds, after which the count is reset */
          lockout_counter_reset: number
          /** The lockout is disabled */
          lockout_disable: boolean
        }
        /** Request headers passed to the engine */
        passthrough_request_headers?: readonly string[]
        /** Response headers that the engine can set */
        allowed_response_headers?: readonly string[]
      }
      /** Path of the mount */
      path: string
    }
  }
  /** Lists the namespaces below the namespace of the request in which the caller can access something. */
  'GET sys/internal/ui/namespaces': {
    fields: Record<never, never>
    result: {
      /** Paths within the namespace of the request, of all levels; absent: none */
      keys?: readonly string[]
    }
  }
  /** Shows the version that clients check for compatibility. */
  'GET sys/internal/ui/version': {
    fields: Record<never, never>
    result: {
      /** Version */
      version: string
    }
  }
  /** Lists the policies. */
  'LIST sys/policies/acl': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a policy. */
  'GET sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
    }
    result: {
      /** Name of the policy */
      name: string
      /** Text of the policy in HCL or JSON, as written */
      policy: string
      /** Version, incremented with each write; 0: built in, or written before versions were counted */
      version: number
      /** Time of the last write (RFC 3339), if known */
      modified?: string
      /** Writes must send cas, the version that they replace */
      cas_required: boolean
      /** Expiration time (RFC 3339), if the policy expires */
      expiration?: string
    }
  }
  /** Creates or replaces a policy. */
  'POST sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
      /** Text of the policy in HCL or JSON, optionally base64-encoded */
      policy?: string | undefined
      /** Check-and-set: writes only if this is the current version; -1: only if the policy does not exist */
      cas?: number | undefined
      /** Requires cas on later writes; if unset, unchanged */
      cas_required?: boolean | undefined
      /** Expiration time (RFC 3339 or Unix time in seconds); empty: never expires */
      expiration?: string | undefined
      /** Time until the policy expires, in seconds; alternative to expiration; 0: never expires */
      ttl?: Duration | undefined
    }
    result: undefined
  }
  /** Deletes a policy; an unknown policy is not an error. */
  'DELETE sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
    }
    result: undefined
  }
  /** Lists the policies, for old clients. */
  'GET sys/policy': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Same as keys */
      policies: readonly string[]
    }
  }
  /** Lists the policies, for old clients. */
  'LIST sys/policy': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Same as keys */
      policies: readonly string[]
    }
  }
  /** Shows a policy, for old clients. */
  'GET sys/policy/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
    }
    result: {
      /** Name of the policy */
      name: string
      /** Text of the policy in HCL or JSON, as written */
      rules: string
    }
  }
  /** Creates or replaces a policy, for old clients. */
  'POST sys/policy/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
      /** Text of the policy in HCL or JSON, optionally base64-encoded */
      policy?: string | undefined
      /** Deprecated: use policy */
      rules?: string | undefined
      /** Expiration time (RFC 3339 or Unix time in seconds); empty: never expires */
      expiration?: string | undefined
      /** Time until the policy expires, in seconds; alternative to expiration; 0: never expires */
      ttl?: Duration | undefined
    }
    result: undefined
  }
  /** Deletes a policy, for old clients. */
  'DELETE sys/policy/:name...': {
    fields: {
      /** Name of the policy; stored in lower case */
      name: string
    }
    result: undefined
  }
  /** Explains which rule decides a request of the calling token. */
  'POST sys/policies/explain-self': {
    fields: {
      /** Path of the request, without /v1/ */
      path: string
      /** Operation; a POST is a create if the path has no entry yet, otherwise an update */
      operation: 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch' | 'scan'
      /** Parameters of the request; rules can allow or deny parameters and their values */
      parameters?: Readonly<Record<string, unknown>> | undefined
      /** Value of X-Vault-Wrap-TTL, in seconds; 0: the response is not wrapped */
      wrap_ttl?: Duration | undefined
    }
    result: {
      /** The policies allow the request */
      allowed: boolean
      /** Reason for the decision, as a keyword */
      reason: string
      /** Reason for the decision, as a sentence */
      explanation: string
      /** Path that was sent */
      path: string
      /** Operation that was sent */
      operation: string
      /** Capabilities that the request needs on the path */
      needed: readonly string[]
      /** Rule that decides; null if no rule matches the path, and for root */
      rule: {
        /** Name of the policy */
        policy: string
        /** Path of the namespace of the policy; absent for the root namespace */
        namespace?: string
        /** Path of the rule, as written in the policy */
        path: string
        /** Line of the policy text on which the rule begins, counted from 1 */
        line: number
      } | null
      /** Rules that match the path, at most 50; the rule that decides is first */
      considered: readonly {
        /** Name of the policy */
        policy: string
        /** Path of the namespace of the policy; absent for the root namespace */
        namespace?: string
        /** Path of the rule, as written in the policy */
        path: string
        /** Line of the policy text on which the rule begins, counted from 1 */
        line: number
        /** Role of the rule in the decision */
        why: string
      }[]
      /** Number of matching rules that are not listed */
      omitted: number
    }
  }
  /** Explains which rule decides a request of a token, or a request under a list of policies. */
  'POST sys/policies/explain': {
    fields: {
      /** The token */
      token?: string | undefined
      /** Accessor of the token */
      accessor?: string | undefined
      /** Names of policies, as if attached to a token */
      policies?: readonly string[] | undefined
      /** Path of the request, without /v1/ */
      path: string
      /** Operation; a POST is a create if the path has no entry yet, otherwise an update */
      operation: 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch' | 'scan'
      /** Parameters of the request; rules can allow or deny parameters and their values */
      parameters?: Readonly<Record<string, unknown>> | undefined
      /** Value of X-Vault-Wrap-TTL, in seconds; 0: the response is not wrapped */
      wrap_ttl?: Duration | undefined
    }
    result: {
      /** The policies allow the request */
      allowed: boolean
      /** Reason for the decision, as a keyword */
      reason: string
      /** Reason for the decision, as a sentence */
      explanation: string
      /** Path that was sent */
      path: string
      /** Operation that was sent */
      operation: string
      /** Capabilities that the request needs on the path */
      needed: readonly string[]
      /** Rule that decides; null if no rule matches the path, and for root */
      rule: {
        /** Name of the policy */
        policy: string
        /** Path of the namespace of the policy; absent for the root namespace */
        namespace?: string
        /** Path of the rule, as written in the policy */
        path: string
        /** Line of the policy text on which the rule begins, counted from 1 */
        line: number
      } | null
      /** Rules that match the path, at most 50; the rule that decides is first */
      considered: readonly {
        /** Name of the policy */
        policy: string
        /** Path of the namespace of the policy; absent for the root namespace */
        namespace?: string
        /** Path of the rule, as written in the policy */
        path: string
        /** Line of the policy text on which the rule begins, counted from 1 */
        line: number
        /** Role of the rule in the decision */
        why: string
      }[]
      /** Number of matching rules that are not listed */
      omitted: number
    }
  }
  /** Shows the capabilities that a token has on paths. */
  'POST sys/capabilities': {
    fields: {
      /** The token */
      token: string
      /** Paths to check */
      paths?: readonly string[] | undefined
      /** Deprecated: use paths */
      path?: readonly string[] | undefined
    }
    result: {
      /** Capabilities on the path, if only one path was sent */
      capabilities?: readonly string[]
      /** Capabilities by path, sorted; root: everything, deny: nothing */
      [name: string]: unknown
    }
  }
  /** Shows the capabilities that a token, given by its accessor, has on paths. */
  'POST sys/capabilities-accessor': {
    fields: {
      /** Accessor of the token */
      accessor: string
      /** Paths to check */
      paths?: readonly string[] | undefined
      /** Deprecated: use paths */
      path?: readonly string[] | undefined
    }
    result: {
      /** Capabilities on the path, if only one path was sent */
      capabilities?: readonly string[]
      /** Capabilities by path, sorted; root: everything, deny: nothing */
      [name: string]: unknown
    }
  }
  /** Shows the capabilities that the calling token has on paths. */
  'POST sys/capabilities-self': {
    fields: {
      /** Ignored: the calling token is always used */
      token?: string | undefined
      /** Paths to check */
      paths?: readonly string[] | undefined
      /** Deprecated: use paths */
      path?: readonly string[] | undefined
    }
    result: {
      /** Capabilities on the path, if only one path was sent */
      capabilities?: readonly string[]
      /** Capabilities by path, sorted; root: everything, deny: nothing */
      [name: string]: unknown
    }
  }
  /** Returns all endpoints of the namespace as an OpenAPI document. */
  'GET sys/internal/specs/openapi': {
    fields: Record<never, never>
    result: {
      /** OpenAPI version of the document */
      openapi: string
      /** Title, description, version and licence */
      info: unknown
      /** Base URL of the paths */
      servers: readonly unknown[]
      /** Operations, by path and method */
      paths: unknown
      /** Shared schemas, responses and security schemes */
      components: unknown
    }
  }
  /** Looks up a lease. */
  'POST sys/leases/lookup': {
    fields: {
      /** ID of the lease */
      lease_id: string
    }
    result: {
      /** ID of the lease */
      id: string
      /** Path of the request that created the lease */
      path: string
      /** Time of creation, RFC 3339 */
      issue_time: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Time of the last renewal, RFC 3339; null: not renewed yet */
      last_renewal: string | null
      /** Path of its namespace; absent in the root */
      namespace_path?: string
      /** The lease can be renewed */
      renewable: boolean
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
    }
  }
  /** Lists the leases under a path prefix. */
  'LIST sys/leases/lookup': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Lists the leases under a path prefix. */
  'LIST sys/leases/lookup/:prefix...': {
    fields: {
      /** Path prefix of the leases */
      prefix: string
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Renews a lease, by renewing the token that it belongs to. */
  'POST sys/leases/renew': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Renews a lease, by renewing the token that it belongs to. */
  'POST sys/leases/renew/:lease_id...': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Renews a lease, by renewing the token that it belongs to. */
  'POST sys/renew': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Renews a lease, by renewing the token that it belongs to. */
  'POST sys/renew/:lease_id...': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Revokes a lease, by revoking the token that it belongs to and its children; an unknown lease is not an error. */
  'POST sys/leases/revoke': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes a lease, by revoking the token that it belongs to and its children; an unknown lease is not an error. */
  'POST sys/leases/revoke/:lease_id...': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes a lease, by revoking the token that it belongs to and its children; an unknown lease is not an error. */
  'POST sys/revoke': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes a lease, by revoking the token that it belongs to and its children; an unknown lease is not an error. */
  'POST sys/revoke/:lease_id...': {
    fields: {
      /** ID of the lease */
      lease_id: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes all leases under a path prefix. */
  'POST sys/leases/revoke-prefix/:prefix...': {
    fields: {
      /** Path prefix of the leases */
      prefix: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes all leases under a path prefix. */
  'POST sys/revoke-prefix/:prefix...': {
    fields: {
      /** Path prefix of the leases */
      prefix: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes all leases under a path prefix, like revoke-prefix: revoking a token depends on no external service. */
  'POST sys/leases/revoke-force/:prefix...': {
    fields: {
      /** Path prefix of the leases */
      prefix: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Revokes all leases under a path prefix, like revoke-prefix: revoking a token depends on no external service. */
  'POST sys/revoke-force/:prefix...': {
    fields: {
      /** Path prefix of the leases */
      prefix: string
      /** Accepted but ignored: the response is always sent after the revocation is done */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Starts a background task that removes leftover data of expired leases. */
  'POST sys/leases/tidy': {
    fields: Record<never, never>
    result: undefined
  }
  /** Counts the leases that could not be revoked. */
  'GET sys/leases/count': {
    fields: {
      /** Must be irrevocable: leases that have expired but could not be revoked */
      type: string
    }
    result: {
      /** Total number of these leases */
      lease_count: number
      /** Number of leases, by mount accessor */
      counts: Readonly<Record<string, number>>
    }
  }
  /** Lists the leases that could not be revoked. */
  'GET sys/leases': {
    fields: {
      /** Must be irrevocable: leases that have expired but could not be revoked */
      type: string
      /** Maximum number of leases to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Total number of these leases */
      lease_count: number
      /** Leases that could not be revoked */
      leases: readonly {
        /** ID of the lease */
        lease_id: string
        /** Accessor of its mount */
        mount_accessor: string
        /** Cause of the failure */
        error: string
      }[]
    }
  }
  /** Lists the users locked out after failed logins, by login mount; mounts with the most locked users come first. */
  'GET sys/locked-users': {
    fields: {
      /** Accessor of a login mount: returns only its users */
      mount_accessor?: string | undefined
    }
    result: {
      /** Namespaces with locked users */
      by_namespace: readonly {
        /** ID of the namespace */
        namespace_id: string
        /** Path of the namespace; empty: the root namespace */
        namespace_path: string
        /** Number of locked users in the namespace */
        counts: number
        /** Login mounts with locked users */
        mount_accessors: readonly {
          /** Accessor of the login mount */
          mount_accessor: string
          /** Number of locked users */
          counts: number
          /** Names of the locked users, sorted */
          alias_identifiers: readonly string[]
        }[]
      }[]
      /** Total number of locked users */
      total: number
    }
  }
  /** Unlocks a locked user; a user that is not locked is not an error. */
  'POST sys/locked-users/:mount_accessor/unlock/:alias_identifier...': {
    fields: {
      /** Accessor of the login mount */
      mount_accessor: string
      /** Name of the user, or the role_id of a role */
      alias_identifier: string
    }
    result: undefined
  }
  /** Shows the public key that verifies wrapping tokens in JWT form (ES512). */
  'GET sys/wrapping/pubkey': {
    fields: Record<never, never>
    result: {
      /** Public key, PEM */
      public_key: string
      /** p521 */
      jwt_curve: string
      /** X coordinate of the public key, as a decimal number */
      jwt_x: string
      /** Y coordinate of the public key, as a decimal number */
      jwt_y: string
    }
  }
  /** Wraps the data of the request, for the time given in X-Vault-Wrap-TTL. */
  'POST sys/wrapping/wrap': {
    fields: Record<never, never>
    result: {
      /** Member of the request data, as sent */
      [name: string]: unknown
    }
  }
  /** Looks up a wrapping token, without using it up. */
  'GET sys/wrapping/lookup': {
    fields: {
      /** The wrapping token; default: the calling token */
      token?: string | undefined
    }
    result: {
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** TTL set at creation, in seconds */
      creation_ttl: number
      /** Path of the request whose response is wrapped */
      creation_path: string
    }
  }
  /** Looks up a wrapping token, without using it up. */
  'POST sys/wrapping/lookup': {
    fields: {
      /** The wrapping token; default: the calling token */
      token?: string | undefined
    }
    result: {
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** TTL set at creation, in seconds */
      creation_ttl: number
      /** Path of the request whose response is wrapped */
      creation_path: string
    }
  }
  /** Unwraps the wrapped response; this works only once. */
  'POST sys/wrapping/unwrap': {
    fields: {
      /** The wrapping token; default: the calling token */
      token?: string | undefined
    }
    result: {
      /** Member of the original response */
      [name: string]: unknown
    }
  }
  /** Moves the wrapped response to a new token with the same TTL; the old token is used up. */
  'POST sys/wrapping/rewrap': {
    fields: {
      /** The wrapping token; default: the calling token */
      token?: string | undefined
    }
    result: undefined
  }
  /** Lists all audit devices by path. */
  'GET sys/audit': {
    fields: Record<never, never>
    result: {
      /** Audit device */
      [name: string]: {
        /** file, socket or syslog */
        type: string
        /** Description for operators */
        description: string
        /** Options of the device, as given */
        options: Readonly<Record<string, string>>
        /** Local device: a secondary for performance does not get it, one for disaster recovery does */
        local: boolean
        /** Path of the device */
        path: string
      }
    }
  }
  /** Enables an audit device, which records every request from then on. */
  'POST sys/audit/:path...': {
    fields: {
      /** Path of the device */
      path: string
      /** file, socket or syslog */
      type?: string | undefined
      /** Description for operators */
      description?: string | undefined
      /** Options of the device, as key-value pairs */
      options?: Readonly<Record<string, string>> | undefined
      /** Local device: a secondary for performance does not get it, one for disaster recovery does */
      local?: boolean | undefined
    }
    result: undefined
  }
  /** Disables an audit device; its recorded entries stay, and an unknown device is not an error. */
  'DELETE sys/audit/:path...': {
    fields: {
      /** Path of the device */
      path: string
    }
    result: undefined
  }
  /** Returns the HMAC of a text as an audit device records it, to search its entries for the text. */
  'POST sys/audit-hash/:path...': {
    fields: {
      /** Path of the device */
      path: string
      /** Text to hash */
      input?: string | undefined
    }
    result: {
      /** hmac-sha256: followed by hexadecimal digits */
      hash: string
    }
  }
  /** Shows the current heads of the audit hash chains and the key that signs them, to verify a log against. */
  'GET sys/audit-streams': {
    fields: Record<never, never>
    result: {
      /** Ed25519 public key, 32 bytes in base64; empty until the first device is enabled */
      public_key: string
      /** Chains in use, and the chains that ended most recently */
      streams: readonly {
        /** Name of the chain */
        stream: string
        /** Path of the device */
        device: string
        /** Sequence number of the last line */
        seq: number
        /** SHA-256 hash of the last line, base64url-encoded */
        hash: string
        /** The chain has ended */
        ended: boolean
      }[]
    }
  }
  /** Shows which request headers are recorded in the audit log. */
  'GET sys/config/auditing/request-headers': {
    fields: Record<never, never>
    result: {
      /** Settings, by header name in lower case */
      headers: Readonly<Record<string, {
        /** The value is recorded as an HMAC */
        hmac: boolean
      }>>
    }
  }
  /** Shows how a request header is recorded. */
  'GET sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the request header; case-insensitive */
      header: string
    }
    result: {
      /** Settings, by header name */
      [name: string]: unknown
    }
  }
  /** Starts recording a request header in the audit log. */
  'POST sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the request header; case-insensitive */
      header: string
      /** Record the value as an HMAC */
      hmac?: boolean | undefined
    }
    result: undefined
  }
  /** Stops recording a request header in the audit log. */
  'DELETE sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the request header; case-insensitive */
      header: string
    }
    result: undefined
  }
  /** Shows what all policies of the calling token grant together. */
  'GET sys/internal/ui/resultant-acl': {
    fields: Record<never, never>
    result: {
      /** The token has the root policy */
      root: boolean
      /** Grants by path; a segment "+" matches any segment */
      exact_paths: Readonly<Record<string, {
        /** Granted capabilities, sorted; deny: none */
        capabilities: readonly string[]
        /** Allowed parameters, by name */
        allowed_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Denied parameters, by name */
        denied_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Required parameters */
        required_parameters?: readonly string[]
      }>>
      /** Grants by path prefix, without the trailing * of the rule */
      glob_paths: Readonly<Record<string, {
        /** Granted capabilities, sorted; deny: none */
        capabilities: readonly string[]
        /** Allowed parameters, by name */
        allowed_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Denied parameters, by name */
        denied_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Required parameters */
        required_parameters?: readonly string[]
      }>>
      /** Always empty: the root namespace */
      chroot_namespace: string
    }
  }
  /** Returns the hash of the input. */
  'POST sys/tools/hash': {
    fields: {
      /** Data to hash, base64-encoded */
      input: string
      /** Hash algorithm: sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm?: string | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash, in the requested encoding */
      sum: string
    }
  }
  /** Returns the hash of the input. */
  'POST sys/tools/hash/:algorithm': {
    fields: {
      /** Data to hash, base64-encoded */
      input: string
      /** Hash algorithm: sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm: string
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash, in the requested encoding */
      sum: string
    }
  }
  /** Returns random bytes. */
  'POST sys/tools/random': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source?: string | undefined
      /** Number of bytes to return */
      bytes?: number | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Returns random bytes. */
  'POST sys/tools/random/:source': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source: string
      /** Number of bytes to return */
      bytes?: number | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Returns random bytes. */
  'POST sys/tools/random/:source/:bytes': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source: string
      /** Number of bytes to return */
      bytes: number
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Shows the features that the configured edition enables, for old clients. */
  'GET sys/license': {
    fields: Record<never, never>
    result: {
      /** Edition of the server */
      license_id: string
      /** Always empty: there is no customer */
      customer_id: string
      /** Features that the edition enables */
      features: readonly string[]
      /** Always 1970-01-01: no start date */
      start_time: string
      /** Always in the year 9999: never expires */
      expiration_time: string
      /** Always in the year 9999: never terminates */
      termination_time: string
      /** Always 0: no limit */
      performance_standby_count: number
    }
  }
  /** Shows the features that the configured edition enables. */
  'GET sys/license/status': {
    fields: Record<never, never>
    result: {
      /** Always true: the edition comes from the configuration at startup */
      autoloading_used: boolean
      /** Features and limits of the edition */
      autoloaded: {
        /** Edition of the server */
        license_id: string
        /** Always empty: there is no customer */
        customer_id: string
        /** Features that the edition enables */
        features: readonly string[]
        /** Always 1970-01-01: no start date */
        start_time: string
        /** Always in the year 9999: never expires */
        expiration_time: string
        /** Always in the year 9999: never terminates */
        termination_time: string
        /** Always 0: no limit */
        performance_standby_count: number
      }
      /** Always null: no licence is stored */
      persisted_autoload: {
        /** Edition of the server */
        license_id: string
        /** Always empty: there is no customer */
        customer_id: string
        /** Features that the edition enables */
        features: readonly string[]
        /** Always 1970-01-01: no start date */
        start_time: string
        /** Always in the year 9999: never expires */
        expiration_time: string
        /** Always in the year 9999: never terminates */
        termination_time: string
        /** Always 0: no limit */
        performance_standby_count: number
      } | null
    }
  }
  /** Shows the engines and login methods that can be mounted. */
  'GET sys/plugins/catalog': {
    fields: Record<never, never>
    result: {
      /** Login methods */
      auth: readonly string[]
      /** Engines */
      secret: readonly string[]
      /** Always empty: there are no database plugins */
      database: readonly string[]
      /** All plugins, with details */
      detailed: readonly {
        /** Name, which is the type to mount */
        name: string
        /** Kind: auth or secret */
        type: string
        /** Version of the engine */
        version: string
        /** Built into the server */
        builtin: boolean
        /** supported */
        deprecation_status: string
      }[]
    }
  }
  /** Lists the plugins of one kind. */
  'LIST sys/plugins/catalog/:type': {
    fields: {
      /** Kind: auth, secret or database */
      type: string
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows an engine or login method. */
  'GET sys/plugins/catalog/:type/:name': {
    fields: {
      /** Kind: auth, secret or database */
      type: string
      /** Name, such as transit */
      name: string
    }
    result: {
      /** Name, which is the type to mount */
      name: string
      /** Kind: auth or secret */
      type: string
      /** Version of the engine */
      version: string
      /** Built into the server */
      builtin: boolean
      /** supported */
      deprecation_status: string
      /** Always empty */
      args: readonly string[]
      /** Always empty: built into the server */
      command: string
      /** Always empty: built into the server */
      sha256: string
    }
  }
  /** Reloads mounts: every thread discards what it caches of them and reads it again. */
  'POST sys/plugins/reload/backend': {
    fields: {
      /** Name of the engine or login method, such as transit */
      plugin?: string | undefined
      /** Paths of the mounts, such as transit or auth/userpass */
      mounts?: readonly string[] | undefined
      /** global reloads on every node of every cluster; empty reloads on this cluster only */
      scope?: '' | 'global' | undefined
    }
    result: {
      /** ID of the reload */
      reload_id: string
    }
  }
  /** Reloads all mounts of one engine or login method. */
  'POST sys/plugins/reload/:type/:name': {
    fields: {
      /** Kind: auth, secret or database */
      type: string
      /** Name, such as transit */
      name: string
      /** global reloads on every node of every cluster; empty reloads on this cluster only */
      scope?: '' | 'global' | undefined
    }
    result: {
      /** ID of the reload */
      reload_id: string
    }
  }
  /** Shows the status of a reload. */
  'GET sys/plugins/reload/backend/status': {
    fields: {
      /** ID from the response of the reload */
      reload_id: string
    }
    result: {
      /** ID of the reload */
      reload_id: string
      /** Results, by the ID of the cluster */
      results: Readonly<Record<string, {
        /** Time of the reload */
        timestamp: string
        /** The reload was done */
        success: boolean
        /** Always empty */
        message: string
      }>>
    }
  }
  /** Lists the password policies. */
  'LIST sys/policies/password': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows the text of a password policy. */
  'GET sys/policies/password/:name': {
    fields: {
      /** Name of the password policy */
      name: string
    }
    result: {
      /** Text of the policy in HCL or JSON, as written */
      policy: string
    }
  }
  /** Creates or replaces a password policy. */
  'POST sys/policies/password/:name': {
    fields: {
      /** Name of the password policy */
      name: string
      /** Text of the policy in HCL or JSON, optionally base64-encoded */
      policy: string
    }
    result: undefined
  }
  /** Deletes a password policy; an unknown policy is not an error. */
  'DELETE sys/policies/password/:name': {
    fields: {
      /** Name of the password policy */
      name: string
    }
    result: undefined
  }
  /** Generates a password from the policy; the password is not stored. */
  'GET sys/policies/password/:name/generate': {
    fields: {
      /** Name of the password policy */
      name: string
    }
    result: {
      /** The generated password */
      password: string
    }
  }
  /** Counts the requests that this server has received since it started. */
  'GET sys/internal/counters/requests': {
    fields: Record<never, never>
    result: {
      /** Always one counter: no counts of earlier runs are kept */
      counters: readonly {
        /** Start of the count, when this server started */
        start_time: string
        /** Total count */
        total: number
      }[]
    }
  }
  /** Counts the entities that the namespace currently has. */
  'GET sys/internal/counters/entities': {
    fields: Record<never, never>
    result: {
      /** Counters */
      counters: {
        /** Entities */
        entities: {
          /** Total count */
          total: number
        }
      }
    }
  }
  /** Counts the service tokens of the namespace that are stored, in the root those of all; batch tokens are not. */
  'GET sys/internal/counters/tokens': {
    fields: Record<never, never>
    result: {
      /** Counters */
      counters: {
        /** Service tokens */
        service_tokens: {
          /** Total count */
          total: number
        }
      }
    }
  }
  /** Shows the configuration in use, without secrets. */
  'GET sys/config/state/sanitized': {
    fields: Record<never, never>
    result: {
      /** Value of the configuration key of this name */
      [name: string]: unknown
    }
  }
  /** Reloads one part of the configuration on every thread; SIGHUP reloads all parts. */
  'POST sys/config/reload/:subsystem': {
    fields: {
      /** Part to reload: tls, audit, log_level or replication */
      subsystem: string
    }
    result: undefined
  }
  /** Shows the CORS settings: which pages of other origins can call the API. */
  'GET sys/config/cors': {
    fields: Record<never, never>
    result: {
      /** CORS is enabled */
      enabled: boolean
      /** Allowed origins; * alone: all origins */
      allowed_origins?: readonly string[]
      /** Request headers that pages can send */
      allowed_headers?: readonly string[]
      /** Pages can send credentials, such as cookies */
      allow_credentials?: boolean
    }
  }
  /** Replaces the CORS settings: pages of exactly these origins can call the API. */
  'POST sys/config/cors': {
    fields: {
      /** Enables CORS; false disables it */
      enable?: boolean | undefined
      /** Allowed origins, such as https://example.com; * alone allows all */
      allowed_origins?: readonly string[] | undefined
      /** Request headers that pages can send in addition to those of the API */
      allowed_headers?: readonly string[] | undefined
      /** Lets pages send credentials, such as cookies; not allowed with * */
      allow_credentials?: boolean | undefined
    }
    result: undefined
  }
  /** Disables CORS: pages of other origins can no longer call the API. */
  'DELETE sys/config/cors': {
    fields: Record<never, never>
    result: undefined
  }
  /** Lists the custom response headers. */
  'LIST sys/config/ui/headers': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a custom response header. */
  'GET sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
      /** Returns all values, in the member values */
      multivalue?: boolean | undefined
    }
    result: {
      /** First value; present without multivalue */
      value?: string
      /** All values; present with multivalue */
      values?: readonly string[]
    }
  }
  /** Sets a custom header on all responses outside /v1/. */
  'POST sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
      /** Values of the header */
      values: readonly string[]
    }
    result: undefined
  }
  /** Removes a custom response header. */
  'DELETE sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
    }
    result: undefined
  }
  /** Shows which groups apply their policies to a token. */
  'GET sys/config/group-policy-application': {
    fields: Record<never, never>
    result: {
      /**
       * Groups that apply. within_namespace_hierarchy: of the namespace of the token and of those below it; any: of all
       * namespaces
       */
      group_policy_application_mode: string
    }
  }
  /** Sets which groups apply their policies to a token. */
  'POST sys/config/group-policy-application': {
    fields: {
      /**
       * Groups that apply. within_namespace_hierarchy: of the namespace of the token and of those below it; any: of all
       * namespaces
       */
      group_policy_application_mode: 'within_namespace_hierarchy' | 'any'
    }
    result: undefined
  }
  /** Lists the nodes that share the storage, which is only this one. */
  'GET sys/ha-status': {
    fields: Record<never, never>
    result: {
      /** Nodes */
      nodes: readonly {
        /** Host name of the machine */
        hostname: string
        /** API address: api_addr in the configuration */
        api_address: string
        /** Always empty: there is no traffic between nodes */
        cluster_address: string
        /** Always true: this is the active node */
        active_node: boolean
        /** Always null: this is the answering node */
        last_echo: string | null
        /** Version that clients check for compatibility */
        version: string
        /** Always empty: there are no upgrades to track */
        upgrade_version: string
        /** Always empty */
        redundancy_zone: string
      }[]
    }
  }
  /** Steps down as the active node (always refused). */
  'POST sys/step-down': {
    fields: Record<never, never>
    result: undefined
  }
  /** Lists the names of stored entries. */
  'LIST sys/raw': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Lists the names of stored entries. */
  'LIST sys/raw/:path...': {
    fields: {
      /** Path of the folder to list; unset: the root */
      path: string
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a stored entry, decrypted. */
  'GET sys/raw/:path...': {
    fields: {
      /** Storage path of the entry, without its namespace */
      path: string
      /** Encoding of value: base64; empty: text */
      encoding?: '' | 'base64' | undefined
    }
    result: {
      /** Value of the entry, as text or base64 */
      value: string
    }
  }
  /** Replaces a stored entry. */
  'POST sys/raw/:path...': {
    fields: {
      /** Storage path of the entry, without its namespace */
      path: string
      /** New value of the entry */
      value: string
      /** Encoding of value: base64; empty: text */
      encoding?: '' | 'base64' | undefined
    }
    result: undefined
  }
  /** Deletes a stored entry. */
  'DELETE sys/raw/:path...': {
    fields: {
      /** Storage path of the entry, without its namespace */
      path: string
    }
    result: undefined
  }
  /** Shows the processors, memory and disk of the machine that the server runs on. */
  'GET sys/host-info': {
    fields: Record<never, never>
    result: {
      /** Time of the measurement */
      timestamp: string
      /** Processors */
      cpu: readonly {
        /** Number of the logical processor */
        cpu: number
        /** Vendor */
        vendorId: string
        /** CPU family */
        family: string
        /** CPU model number */
        model: string
        /** Stepping */
        stepping: number
        /** Physical package ID */
        physicalId: string
        /** Core ID */
        coreId: string
        /** Number of cores */
        cores: number
        /** Model name */
        modelName: string
        /** Current clock rate, in MHz */
        mhz: number
        /** Cache size, in kilobytes */
        cacheSize: number
        /** Feature flags */
        flags: readonly string[]
        /** Microcode version */
        microcode: string
      }[]
      /** CPU times, by processor */
      cpu_times: readonly {
        /** Name of the processor */
        cpu: string
        /** Time spent in this state, in seconds */
        [name: string]: unknown
      }[]
      /** File system of the data directory; empty if the data is in memory */
      disk: readonly {
        /** Data directory */
        path: string
        /** Type of the file system */
        fstype: string
        /** Size, in bytes */
        total: number
        /** Space available to the server, in bytes */
        free: number
        /** Space in use, in bytes */
        used: number
        /** Space in use, as a percentage of the usable space */
        usedPercent: number
        /** Number of inodes */
        inodesTotal: number
        /** Number of inodes in use */
        inodesUsed: number
        /** Number of free inodes */
        inodesFree: number
        /** Inodes in use, as a percentage of all */
        inodesUsedPercent: number
      }[]
      /** Machine */
      host: {
        /** Host name */
        hostname: string
        /** Uptime, in seconds */
        uptime: number
        /** Boot time, Unix time in seconds */
        bootTime: number
        /** Number of processes and threads */
        procs: number
        /** Operating system */
        os: string
        /** Distribution */
        platform: string
        /** Family of the distribution */
        platformFamily: string
        /** Distribution version */
        platformVersion: string
        /** Kernel version */
        kernelVersion: string
        /** Machine architecture */
        kernelArch: string
        /** Always empty: not detected */
        virtualizationSystem: string
        /** Always empty: not detected */
        virtualizationRole: string
        /** Always empty: the host ID is confidential */
        hostid: string
      }
      /** Memory by kind, in bytes; usedPercent is a percentage */
      memory: Readonly<Record<string, number>>
    }
  }
  /** Shows the mounts in the router, by the chosen key. */
  'GET sys/internal/inspect/router/:tag': {
    fields: {
      /** Key of the result: root (path), uuid, accessor or storage (storage prefix) */
      tag: 'root' | 'uuid' | 'accessor' | 'storage'
    }
    result: {
      /** Mount */
      [name: string]: {
        /** ID of the namespace */
        mount_namespace: string
        /** Path of the mount, with that of its namespace */
        mount_path: string
        /** Type of the engine */
        mount_type: string
        /** UUID of the mount */
        uuid: string
        /** Accessor of the mount */
        accessor: string
        /** Storage prefix of its data */
        storage_prefix: string
        /** Always false: a mount leaves the router before its data is removed */
        tainted: boolean
      }
    }
  }
  /** Lists the versions of this program that have opened the store, oldest first. */
  'LIST sys/version-history': {
    fields: {
      /** Returns only versions that came after this one */
      after?: string | undefined
      /** Maximum number of versions to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Versions, oldest first */
      keys: readonly string[]
      /** Details, by version */
      key_info: Readonly<Record<string, {
        /** Previous version; null for the first */
        previous_version: string | null
        /** Time when this version first opened the store */
        timestamp_installed: string
        /** Always empty: not recorded */
        build_date: string
      }>>
    }
  }
  /** Returns the metrics of this node, as JSON or in the Prometheus text format. */
  'GET sys/metrics': {
    fields: {
      /** Format: `prometheus` for the Prometheus text format; empty for JSON */
      format?: '' | 'prometheus' | undefined
    }
    result: {
      /** Time of the measurement, RFC 3339 */
      Timestamp: string
      /** Gauges, which can go up and down */
      Gauges: readonly {
        /** Name of the metric, as in docs/metrics.md */
        Name: string
        /** Labels of the metric */
        Labels: Readonly<Record<string, string>>
        /** Current value */
        Value: number
      }[]
      /** Always empty */
      Points: readonly unknown[]
      /** Counters, which only increase */
      Counters: readonly {
        /** Name of the metric, as in docs/metrics.md */
        Name: string
        /** Labels of the metric */
        Labels: Readonly<Record<string, string>>
        /** Count */
        Count: number
        /** Same as Count */
        Sum: number
      }[]
      /** Distributions */
      Samples: readonly {
        /** Name of the metric, as in docs/metrics.md */
        Name: string
        /** Labels of the metric */
        Labels: Readonly<Record<string, string>>
        /** Number of samples */
        Count: number
        /** Sum of all samples */
        Sum: number
        /** Mean of the samples */
        Mean: number
      }[]
    }
  }
  /** Shows the requests in flight on all threads, by ID; at most the 1000 oldest. */
  'GET sys/in-flight-req': {
    fields: Record<never, never>
    result: {
      /** Request in flight, by its ID */
      [name: string]: {
        /** Start time, RFC 3339 */
        start_time: string
        /** Address of the client */
        client_remote_address: string
        /** Request path, with secret parts replaced by their field names; empty until the path is known */
        request_path: string
        /** HTTP method */
        request_method: string
      }
    }
  }
  /** Shows the level of each logger. */
  'GET sys/loggers': {
    fields: Record<never, never>
    result: {
      /** Level of the logger */
      server?: string
      /** Level of the logger */
      core?: string
      /** Level of the logger */
      auth?: string
      /** Level of the logger */
      identity?: string
      /** Level of the logger */
      seal?: string
      /** Level of the logger */
      storage?: string
      /** Level of the logger */
      telemetry?: string
      /** Level of the logger */
      audit?: string
      /** Level of the logger */
      replication?: string
    }
  }
  /** Sets the level of all loggers. */
  'POST sys/loggers': {
    fields: {
      /** Log level: one of trace, debug, info, warn, error */
      level: string
    }
    result: undefined
  }
  /** Resets all loggers to their configured levels. */
  'DELETE sys/loggers': {
    fields: Record<never, never>
    result: undefined
  }
  /** Shows the level of a logger. */
  'GET sys/loggers/:name': {
    fields: {
      /** Name of the logger: one of server, core, auth, identity, seal, storage, telemetry, audit, replication */
      name: string
    }
    result: {
      /** Level of the logger */
      server?: string
      /** Level of the logger */
      core?: string
      /** Level of the logger */
      auth?: string
      /** Level of the logger */
      identity?: string
      /** Level of the logger */
      seal?: string
      /** Level of the logger */
      storage?: string
      /** Level of the logger */
      telemetry?: string
      /** Level of the logger */
      audit?: string
      /** Level of the logger */
      replication?: string
    }
  }
  /** Sets the level of a logger. */
  'POST sys/loggers/:name': {
    fields: {
      /** Name of the logger: one of server, core, auth, identity, seal, storage, telemetry, audit, replication */
      name: string
      /** Log level: one of trace, debug, info, warn, error */
      level: string
    }
    result: undefined
  }
  /** Resets a logger to its configured level. */
  'DELETE sys/loggers/:name': {
    fields: {
      /** Name of the logger: one of server, core, auth, identity, seal, storage, telemetry, audit, replication */
      name: string
    }
    result: undefined
  }
  /** Lists the rate limit quotas. */
  'LIST sys/quotas/rate-limit': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a rate limit quota. */
  'GET sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
    }
    result: {
      /** rate-limit */
      type: string
      /** Name of the quota */
      name: string
      /** Full path of the namespace, mount or path that the quota applies to; empty: the root namespace */
      path: string
      /** Role whose logins the quota counts; empty: all requests */
      role: string
      /** Number of requests allowed in each interval */
      rate: number
      /** Length of the interval, in seconds */
      interval: number
      /** How long a caller over the limit is refused, in seconds; 0: until the interval ends */
      block_interval: number
      /** How callers are grouped: ip, none, entity_then_ip or entity_then_none */
      group_by: string
      /** Rate for callers without an entity, if callers are grouped by entity; otherwise 0 */
      secondary_rate: number
      /** The quota of a namespace also applies to those below it */
      inheritable: boolean
    }
  }
  /** Creates a rate limit quota, or changes the fields that are sent. */
  'POST sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
      /**
       * Full path of a namespace, of a mount, or of a path within one, with * at the end to match a prefix; empty: the
       * root namespace
       */
      path?: string | undefined
      /** Count only logins with this role; requires the path of a login mount that has roles */
      role?: string | undefined
      /** Number of requests allowed in each interval */
      rate?: number | undefined
      /** Length of the interval, in seconds; 1 if unset on a new quota */
      interval?: Duration | undefined
      /** How long a caller over the limit is refused, in seconds; 0: until the interval ends */
      block_interval?: Duration | undefined
      /** How callers are grouped; ip if unset on a new quota */
      group_by?: 'ip' | 'none' | 'entity_then_ip' | 'entity_then_none' | undefined
      /**
       * Rate for callers without an entity; requires group_by entity_then_ip or entity_then_none; same as rate if unset
       * on a new quota
       */
      secondary_rate?: number | undefined
      /**
       * Also counts requests in namespaces below, as far as no quota of theirs does; if unset on a new quota, true in
       * the root namespace alone; has no effect for a mount
       */
      inheritable?: boolean | undefined
    }
    result: undefined
  }
  /** Deletes a rate limit quota. */
  'DELETE sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
    }
    result: undefined
  }
  /** Shows the settings for all quotas. */
  'GET sys/quotas/config': {
    fields: Record<never, never>
    result: {
      /** Full paths that no quota counts */
      rate_limit_exempt_paths: readonly string[]
      /** Responses have X-RateLimit-… headers */
      enable_rate_limit_response_headers: boolean
      /** Requests refused by a quota are recorded in the audit log */
      enable_rate_limit_audit_logging: boolean
    }
  }
  /** Changes the settings for all quotas. */
  'POST sys/quotas/config': {
    fields: {
      /** Full paths that no quota counts; * at the end matches a prefix */
      rate_limit_exempt_paths?: readonly string[] | undefined
      /** Adds X-RateLimit-… headers to responses */
      enable_rate_limit_response_headers?: boolean | undefined
      /** Records refused requests in the audit log; each refusal then costs as much as any recorded request */
      enable_rate_limit_audit_logging?: boolean | undefined
    }
    result: undefined
  }
  /** Lists the managed keys. */
  'LIST sys/managed-keys/pkcs11': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a managed key, without its PIN. */
  'GET sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
    }
    result: {
      /** UUID, by which engines refer to the key */
      UUID: string
      /** Name of the managed key */
      name: string
      /** pkcs11 */
      type: string
      /** Name of the kms_library in the configuration */
      library: string
      /** Slot number */
      slot?: string
      /** Token label */
      token_label?: string
      /** Key label */
      key_label?: string
      /** Key ID, in hexadecimal */
      key_id?: string
      /** Mechanism number */
      mechanism: string
      /** Size of a generated key, in bits */
      key_bits?: number
      /** Curve of a generated key */
      curve?: string
      /** Hash function for RSA-OAEP */
      rsa_oaep_hash?: string
      /** The key is generated in the device if it does not exist */
      allow_generate_key: boolean
      /** Stored but has no effect: the server never replaces a key in a device */
      allow_replace_key: boolean
      /** Stored but has no effect: the server never imports a key into a device */
      allow_store_key: boolean
      /** Every mount can use the key */
      any_mount: boolean
      /** Allowed uses of the key */
      usages: readonly string[]
      /** Maximum number of concurrent operations */
      max_parallel: number
    }
  }
  /** Creates a managed key, or changes the fields that are sent. */
  'POST sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
      /** Name of a kms_library in the configuration */
      library?: string | undefined
      /** Slot number, in decimal; alternative to token_label */
      slot?: string | undefined
      /** Token label; alternative to slot */
      token_label?: string | undefined
      /** PIN of the token; never shown */
      pin?: string | undefined
      /** Key label */
      key_label?: string | undefined
      /** Key ID, in hexadecimal with 0x; if key_label is also set, both must match */
      key_id?: string | undefined
      /**
       * Mechanism of the key, required for a new key: 0x0001 (CKM_RSA_PKCS), 0x0009 (CKM_RSA_PKCS_OAEP), 0x000d
       * (CKM_RSA_PKCS_PSS), 0x1041 (CKM_ECDSA), 0x1087 (CKM_AES_GCM)
       */
      mechanism?: string | undefined
      /** Size of a generated key, in bits: 128 or 256 for AES; 2048, 3072 or 4096 for RSA */
      key_bits?: number | undefined
      /** Curve of a generated key: p256, p384, p521 */
      curve?: string | undefined
      /** Hash function for RSA-OAEP: sha1, sha224, sha256, sha384, sha512; sha256 if unset */
      rsa_oaep_hash?: string | undefined
      /** Generates the key in the device if it does not exist */
      allow_generate_key?: boolean | undefined
      /** Stored but has no effect: the server never replaces a key in a device */
      allow_replace_key?: boolean | undefined
      /** Stored but has no effect: the server never imports a key into a device */
      allow_store_key?: boolean | undefined
      /** Lets every mount use the key; otherwise only mounts that list it in allowed_managed_keys */
      any_mount?: boolean | undefined
      /** Allowed uses: encrypt, decrypt, sign, verify; if unset, all that the mechanism supports */
      usages?: readonly string[] | undefined
      /** Maximum number of concurrent operations; a device performs them one at a time */
      max_parallel?: number | undefined
    }
    result: undefined
  }
  /** Deletes a managed key; the key in the device stays. */
  'DELETE sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
    }
    result: undefined
  }
  /** Signs random bytes with a managed key, and verifies the signature. */
  'POST sys/managed-keys/pkcs11/:name/test/sign': {
    fields: {
      /** Name of the managed key */
      name: string
      /** Hash function for the signature */
      hash_algorithm?: string | undefined
    }
    result: undefined
  }
  /** Creates a token as a child of the calling token. */
  'POST auth/token/create': {
    fields: {
      /** Custom token ID; requires sudo */
      id?: string | undefined
      /** Policies to attach to the token; default: the policies of the caller */
      policies?: readonly string[] | undefined
      /** Metadata of the token, as key-value pairs */
      meta?: Readonly<Record<string, string>> | undefined
      /** Create an orphan token, which is not revoked together with the caller; requires sudo */
      no_parent?: boolean | undefined
      /** Do not attach the "default" policy */
      no_default_policy?: boolean | undefined
      /** The token can be renewed */
      renewable?: boolean | undefined
      /** TTL of the token, in seconds; 0 or unset uses the default of the mount */
      ttl?: Duration | undefined
      /** Deprecated: use ttl */
      lease?: Duration | undefined
      /** Token type: service, or batch, which is not stored and cannot be renewed or revoked */
      type?: string | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      explicit_max_ttl?: Duration | undefined
      /** Display name, shown in logs */
      display_name?: string | undefined
      /** Maximum number of uses; 0: unlimited */
      num_uses?: number | undefined
      /** Period of a periodic token, in seconds: each renewal resets the TTL to it; requires sudo; 0: not periodic */
      period?: Duration | undefined
      /** Entity alias to create the token for; the token role must allow it */
      entity_alias?: string | undefined
    }
    result: Auth
  }
  /** Creates an orphan token, which has no parent. */
  'POST auth/token/create-orphan': {
    fields: {
      /** Custom token ID; requires sudo */
      id?: string | undefined
      /** Policies to attach to the token; default: the policies of the caller */
      policies?: readonly string[] | undefined
      /** Metadata of the token, as key-value pairs */
      meta?: Readonly<Record<string, string>> | undefined
      /** Create an orphan token, which is not revoked together with the caller; requires sudo */
      no_parent?: boolean | undefined
      /** Do not attach the "default" policy */
      no_default_policy?: boolean | undefined
      /** The token can be renewed */
      renewable?: boolean | undefined
      /** TTL of the token, in seconds; 0 or unset uses the default of the mount */
      ttl?: Duration | undefined
      /** Deprecated: use ttl */
      lease?: Duration | undefined
      /** Token type: service, or batch, which is not stored and cannot be renewed or revoked */
      type?: string | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      explicit_max_ttl?: Duration | undefined
      /** Display name, shown in logs */
      display_name?: string | undefined
      /** Maximum number of uses; 0: unlimited */
      num_uses?: number | undefined
      /** Period of a periodic token, in seconds: each renewal resets the TTL to it; requires sudo; 0: not periodic */
      period?: Duration | undefined
      /** Entity alias to create the token for; the token role must allow it */
      entity_alias?: string | undefined
    }
    result: Auth
  }
  /** Creates a token with the settings of a token role. */
  'POST auth/token/create/:role_name': {
    fields: {
      /** Custom token ID; requires sudo */
      id?: string | undefined
      /** Policies to attach to the token; default: the policies of the caller */
      policies?: readonly string[] | undefined
      /** Metadata of the token, as key-value pairs */
      meta?: Readonly<Record<string, string>> | undefined
      /** Create an orphan token, which is not revoked together with the caller; requires sudo */
      no_parent?: boolean | undefined
      /** Do not attach the "default" policy */
      no_default_policy?: boolean | undefined
      /** The token can be renewed */
      renewable?: boolean | undefined
      /** TTL of the token, in seconds; 0 or unset uses the default of the mount */
      ttl?: Duration | undefined
      /** Deprecated: use ttl */
      lease?: Duration | undefined
      /** Token type: service, or batch, which is not stored and cannot be renewed or revoked */
      type?: string | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      explicit_max_ttl?: Duration | undefined
      /** Display name, shown in logs */
      display_name?: string | undefined
      /** Maximum number of uses; 0: unlimited */
      num_uses?: number | undefined
      /** Period of a periodic token, in seconds: each renewal resets the TTL to it; requires sudo; 0: not periodic */
      period?: Duration | undefined
      /** Entity alias to create the token for; the token role must allow it */
      entity_alias?: string | undefined
      /** Name of the token role */
      role_name: string
    }
    result: Auth
  }
  /** Looks up a token. */
  'POST auth/token/lookup': {
    fields: {
      /** The token; default: the calling token */
      token?: string | undefined
    }
    result: {
      /** Accessor: refers to the token without giving access; empty for a batch token */
      accessor: string
      /** IP addresses or CIDR blocks that the token can be used from */
      bound_cidrs?: readonly string[]
      /** Time of creation, Unix time in seconds */
      creation_time: number
      /** TTL set at creation, in seconds; 0: none */
      creation_ttl: number
      /** Display name, shown in logs */
      display_name: string
      /** ID of the entity; empty if there is none */
      entity_id: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Hard limit on the lifetime, in seconds; 0: none */
      explicit_max_ttl: number
      /** The token, if the caller sent it; otherwise empty */
      id: string
      /** Policies from its entity and groups */
      identity_policies?: readonly string[]
      /** Time of creation, RFC 3339 */
      issue_time?: string
      /** Time of the last renewal, RFC 3339 */
      last_renewal?: string
      /** Time of the last renewal, Unix time in seconds */
      last_renewal_time?: number
      /** Metadata set at creation, as key-value pairs */
      meta: Readonly<Record<string, string>> | null
      /** Path of its namespace; absent for a token of the root */
      namespace_path?: string
      /** Remaining uses; 0: unlimited */
      num_uses: number
      /** The token has no parent */
      orphan: boolean
      /** Path of the request that created the token */
      path: string
      /** Period in seconds: each renewal resets the TTL to it */
      period?: number
      /** Policies attached to the token, sorted */
      policies: readonly string[]
      /** The token can be renewed */
      renewable?: boolean
      /** Token role that the token was created by */
      role?: string
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
      /** Token type: service or batch */
      type: string
    }
  }
  /** Looks up a token given in the path (deprecated: proxies may write the path to their logs). */
  'GET auth/token/lookup/:token...': {
    fields: {
      /** The token */
      token: string
    }
    result: {
      /** Accessor: refers to the token without giving access; empty for a batch token */
      accessor: string
      /** IP addresses or CIDR blocks that the token can be used from */
      bound_cidrs?: readonly string[]
      /** Time of creation, Unix time in seconds */
      creation_time: number
      /** TTL set at creation, in seconds; 0: none */
      creation_ttl: number
      /** Display name, shown in logs */
      display_name: string
      /** ID of the entity; empty if there is none */
      entity_id: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Hard limit on the lifetime, in seconds; 0: none */
      explicit_max_ttl: number
      /** The token, if the caller sent it; otherwise empty */
      id: string
      /** Policies from its entity and groups */
      identity_policies?: readonly string[]
      /** Time of creation, RFC 3339 */
      issue_time?: string
      /** Time of the last renewal, RFC 3339 */
      last_renewal?: string
      /** Time of the last renewal, Unix time in seconds */
      last_renewal_time?: number
      /** Metadata set at creation, as key-value pairs */
      meta: Readonly<Record<string, string>> | null
      /** Path of its namespace; absent for a token of the root */
      namespace_path?: string
      /** Remaining uses; 0: unlimited */
      num_uses: number
      /** The token has no parent */
      orphan: boolean
      /** Path of the request that created the token */
      path: string
      /** Period in seconds: each renewal resets the TTL to it */
      period?: number
      /** Policies attached to the token, sorted */
      policies: readonly string[]
      /** The token can be renewed */
      renewable?: boolean
      /** Token role that the token was created by */
      role?: string
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
      /** Token type: service or batch */
      type: string
    }
  }
  /** Looks up the calling token. */
  'GET auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Accessor: refers to the token without giving access; empty for a batch token */
      accessor: string
      /** IP addresses or CIDR blocks that the token can be used from */
      bound_cidrs?: readonly string[]
      /** Time of creation, Unix time in seconds */
      creation_time: number
      /** TTL set at creation, in seconds; 0: none */
      creation_ttl: number
      /** Display name, shown in logs */
      display_name: string
      /** ID of the entity; empty if there is none */
      entity_id: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Hard limit on the lifetime, in seconds; 0: none */
      explicit_max_ttl: number
      /** The token, if the caller sent it; otherwise empty */
      id: string
      /** Policies from its entity and groups */
      identity_policies?: readonly string[]
      /** Time of creation, RFC 3339 */
      issue_time?: string
      /** Time of the last renewal, RFC 3339 */
      last_renewal?: string
      /** Time of the last renewal, Unix time in seconds */
      last_renewal_time?: number
      /** Metadata set at creation, as key-value pairs */
      meta: Readonly<Record<string, string>> | null
      /** Path of its namespace; absent for a token of the root */
      namespace_path?: string
      /** Remaining uses; 0: unlimited */
      num_uses: number
      /** The token has no parent */
      orphan: boolean
      /** Path of the request that created the token */
      path: string
      /** Period in seconds: each renewal resets the TTL to it */
      period?: number
      /** Policies attached to the token, sorted */
      policies: readonly string[]
      /** The token can be renewed */
      renewable?: boolean
      /** Token role that the token was created by */
      role?: string
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
      /** Token type: service or batch */
      type: string
    }
  }
  /** Looks up the calling token. */
  'POST auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Accessor: refers to the token without giving access; empty for a batch token */
      accessor: string
      /** IP addresses or CIDR blocks that the token can be used from */
      bound_cidrs?: readonly string[]
      /** Time of creation, Unix time in seconds */
      creation_time: number
      /** TTL set at creation, in seconds; 0: none */
      creation_ttl: number
      /** Display name, shown in logs */
      display_name: string
      /** ID of the entity; empty if there is none */
      entity_id: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Hard limit on the lifetime, in seconds; 0: none */
      explicit_max_ttl: number
      /** The token, if the caller sent it; otherwise empty */
      id: string
      /** Policies from its entity and groups */
      identity_policies?: readonly string[]
      /** Time of creation, RFC 3339 */
      issue_time?: string
      /** Time of the last renewal, RFC 3339 */
      last_renewal?: string
      /** Time of the last renewal, Unix time in seconds */
      last_renewal_time?: number
      /** Metadata set at creation, as key-value pairs */
      meta: Readonly<Record<string, string>> | null
      /** Path of its namespace; absent for a token of the root */
      namespace_path?: string
      /** Remaining uses; 0: unlimited */
      num_uses: number
      /** The token has no parent */
      orphan: boolean
      /** Path of the request that created the token */
      path: string
      /** Period in seconds: each renewal resets the TTL to it */
      period?: number
      /** Policies attached to the token, sorted */
      policies: readonly string[]
      /** The token can be renewed */
      renewable?: boolean
      /** Token role that the token was created by */
      role?: string
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
      /** Token type: service or batch */
      type: string
    }
  }
  /** Looks up a token by its accessor, without showing the token itself. */
  'POST auth/token/lookup-accessor': {
    fields: {
      /** Accessor of the token */
      accessor: string
    }
    result: {
      /** Accessor: refers to the token without giving access; empty for a batch token */
      accessor: string
      /** IP addresses or CIDR blocks that the token can be used from */
      bound_cidrs?: readonly string[]
      /** Time of creation, Unix time in seconds */
      creation_time: number
      /** TTL set at creation, in seconds; 0: none */
      creation_ttl: number
      /** Display name, shown in logs */
      display_name: string
      /** ID of the entity; empty if there is none */
      entity_id: string
      /** Expiration time, RFC 3339; null: never expires */
      expire_time: string | null
      /** Hard limit on the lifetime, in seconds; 0: none */
      explicit_max_ttl: number
      /** The token, if the caller sent it; otherwise empty */
      id: string
      /** Policies from its entity and groups */
      identity_policies?: readonly string[]
      /** Time of creation, RFC 3339 */
      issue_time?: string
      /** Time of the last renewal, RFC 3339 */
      last_renewal?: string
      /** Time of the last renewal, Unix time in seconds */
      last_renewal_time?: number
      /** Metadata set at creation, as key-value pairs */
      meta: Readonly<Record<string, string>> | null
      /** Path of its namespace; absent for a token of the root */
      namespace_path?: string
      /** Remaining uses; 0: unlimited */
      num_uses: number
      /** The token has no parent */
      orphan: boolean
      /** Path of the request that created the token */
      path: string
      /** Period in seconds: each renewal resets the TTL to it */
      period?: number
      /** Policies attached to the token, sorted */
      policies: readonly string[]
      /** The token can be renewed */
      renewable?: boolean
      /** Token role that the token was created by */
      role?: string
      /** Remaining TTL in seconds; 0: never expires */
      ttl: number
      /** Token type: service or batch */
      type: string
    }
  }
  /** Renews a token. */
  'POST auth/token/renew': {
    fields: {
      /** The token */
      token: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Renews the calling token. */
  'POST auth/token/renew-self': {
    fields: {
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Renews a token by its accessor, without showing the token itself. */
  'POST auth/token/renew-accessor': {
    fields: {
      /** Accessor of the token */
      accessor: string
      /** Requested TTL from now, in seconds; 0: the TTL set at creation */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Revokes a token and all its children; an unknown token is not an error. */
  'POST auth/token/revoke': {
    fields: {
      /** The token */
      token: string
    }
    result: undefined
  }
  /** Revokes the calling token and all its children. */
  'POST auth/token/revoke-self': {
    fields: Record<never, never>
    result: undefined
  }
  /** Revokes a token by its accessor, and all its children. */
  'POST auth/token/revoke-accessor': {
    fields: {
      /** Accessor of the token */
      accessor: string
    }
    result: undefined
  }
  /** Revokes a token but not its children, which become orphans. */
  'POST auth/token/revoke-orphan': {
    fields: {
      /** The token */
      token: string
    }
    result: undefined
  }
  /** Lists the accessors of all tokens of the namespace, in no meaningful order. */
  'LIST auth/token/accessors': {
    fields: {
      /** Last accessor of the previous page: returns only those after it */
      after?: string | undefined
      /** Maximum number of accessors to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Accessors, in no meaningful order */
      keys: readonly string[]
    }
  }
  /** Starts a background task that removes leftover data of tokens that are no longer valid. */
  'POST auth/token/tidy': {
    fields: Record<never, never>
    result: undefined
  }
  /** Lists the token roles. */
  'LIST auth/token/roles': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a token role. */
  'GET auth/token/roles/:role_name': {
    fields: {
      /** Name of the token role */
      role_name: string
    }
    result: {
      /** Name of the token role */
      name: string
      /** Policies that its tokens can have */
      allowed_policies: readonly string[]
      /** Policies that its tokens cannot have */
      disallowed_policies: readonly string[]
      /** Patterns of policies that its tokens can have */
      allowed_policies_glob: readonly string[]
      /** Patterns of policies that its tokens cannot have */
      disallowed_policies_glob: readonly string[]
      /** Entity aliases that its tokens can be created for */
      allowed_entity_aliases: readonly string[]
      /** Its tokens are orphans */
      orphan: boolean
      /** Its tokens can be renewed */
      renewable: boolean
      /** Suffix appended to the path of its tokens */
      path_suffix: string
      /** Period in seconds; 0: not periodic */
      token_period: number
      /** Hard limit on the lifetime in seconds; 0: none */
      token_explicit_max_ttl: number
      /** IP addresses or CIDR blocks that its tokens can be used from */
      token_bound_cidrs: readonly string[]
      /** Token type: service, batch, default-service or default-batch */
      token_type: string
      /** Do not attach the "default" policy */
      token_no_default_policy: boolean
      /** Maximum number of uses of each token; 0: unlimited */
      token_num_uses: number
      /** Same as token_period if written under this old name; otherwise 0 */
      period: number
      /** Same as token_explicit_max_ttl if written under this old name; otherwise 0 */
      explicit_max_ttl: number
      /** Same as token_bound_cidrs; present if written under this old name */
      bound_cidrs?: readonly string[]
    }
  }
  /** Creates a token role, or changes the fields that are sent. */
  'POST auth/token/roles/:role_name': {
    fields: {
      /** Name of the token role */
      role_name: string
      /**
       * Policies that its tokens can have, even if the caller lacks them; a request that names no policies gets all of
       * them
       */
      allowed_policies?: readonly string[] | undefined
      /** Policies that its tokens cannot have */
      disallowed_policies?: readonly string[] | undefined
      /** Like allowed_policies, as patterns with * at the start, at the end or both */
      allowed_policies_glob?: readonly string[] | undefined
      /** Like disallowed_policies, as patterns with * at the start, at the end or both */
      disallowed_policies_glob?: readonly string[] | undefined
      /** Its tokens are orphans */
      orphan?: boolean | undefined
      /** Its tokens can be renewed */
      renewable?: boolean | undefined
      /** Suffix appended to the path of its tokens, so that they can be revoked by prefix */
      path_suffix?: string | undefined
      /** Entity aliases that its tokens can be created for; * at the start or end matches any text */
      allowed_entity_aliases?: readonly string[] | undefined
      /**
       * Period of its tokens, in seconds: each renewal resets the TTL to it, with no maximum except
       * token_explicit_max_ttl; 0: not periodic
       */
      token_period?: Duration | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /** IP addresses or CIDR blocks that its tokens can be used from; empty: any address */
      token_bound_cidrs?: readonly string[] | undefined
      /** Token type: service or batch; with default-service and default-batch the request can choose */
      token_type?: string | undefined
      /** Do not attach the "default" policy */
      token_no_default_policy?: boolean | undefined
      /** Maximum number of uses of each token; 0: unlimited */
      token_num_uses?: number | undefined
      /** Deprecated: use token_period */
      period?: Duration | undefined
      /** Deprecated: use token_explicit_max_ttl */
      explicit_max_ttl?: Duration | undefined
      /** Deprecated: use token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Deletes a token role; its tokens stay valid, and an unknown role is not an error. */
  'DELETE auth/token/roles/:role_name': {
    fields: {
      /** Name of the token role */
      role_name: string
    }
    result: undefined
  }
  /** Creates an entity, or updates the one with the given id or name. */
  'POST identity/entity': {
    fields: {
      /** ID of an existing entity */
      id?: string | undefined
      /** Name; generated if unset */
      name?: string | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies that its tokens get in addition to their own; replaces the whole list */
      policies?: readonly string[] | undefined
      /** Disable the entity: all its tokens are refused */
      disabled?: boolean | undefined
    }
    result: {
      /** ID of the new entity */
      id: string
      /** Name of the new entity */
      name: string
      /** Always null: a new entity has no aliases */
      aliases: readonly string[] | null
    } | undefined
  }
  /** Deletes entities by their IDs, all or none; an unknown ID is not an error. */
  'POST identity/entity/batch-delete': {
    fields: {
      /** IDs of the entities */
      entity_ids: readonly string[]
    }
    result: undefined
  }
  /** Merges entities into another one, which takes over their aliases, and deletes them. */
  'POST identity/entity/merge': {
    fields: {
      /** IDs of the entities to merge and delete */
      from_entity_ids: readonly string[]
      /** ID of the entity to merge into */
      to_entity_id: string
      /** IDs of the aliases to keep where two of the entities have an alias at the same mount */
      conflicting_alias_ids_to_keep?: readonly string[] | undefined
      /** Accepted from clients that send it, but has no effect */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Lists the IDs of the entities. */
  'LIST identity/entity/id': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Summaries, by ID */
      key_info: Readonly<Record<string, {
        /** Member of the entry, as its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** Shows an entity. */
  'GET identity/entity/id/:id': {
    fields: {
      /** ID of the entity */
      id: string
    }
    result: {
      /** ID of the entity */
      id: string
      /** Name of the entity */
      name: string
      /** Aliases of the entity, which are its names at login mounts */
      aliases: readonly {
        /** ID of the alias */
        id: string
        /** ID of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Accessor of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty if it no longer exists */
        mount_path: string
        /** Type of the login mount; empty if it no longer exists */
        mount_type: string
        /** Metadata, as key-value pairs; null if none */
        metadata: Readonly<Record<string, string>> | null
        /** Metadata from operators, as key-value pairs; null if only logins have written the alias */
        custom_metadata: Readonly<Record<string, string>> | null
        /** IDs of the entities that it belonged to before they were merged; null if none */
        merged_from_canonical_ids: readonly string[] | null
        /** The login mount is local: a secondary for performance does not get it */
        local: boolean
        /** ID of the namespace; root for the root namespace */
        namespace_id: string
        /** Time of creation, RFC 3339 */
        creation_time: string
        /** Time of the last update, RFC 3339 */
        last_update_time: string
      }[]
      /** Policies attached to the entity */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** Disabled: all its tokens are refused */
      disabled: boolean
      /** IDs of all groups that contain it, directly or through other groups */
      group_ids: readonly string[]
      /** IDs of the groups that contain it directly */
      direct_group_ids: readonly string[]
      /** IDs of the groups that contain it through other groups */
      inherited_group_ids: readonly string[]
      /** IDs of the entities that were merged into it; null if none */
      merged_entity_ids: readonly string[] | null
      /** Always empty: MFA is not offered */
      mfa_secrets: {
        /** Never present */
        [name: string]: unknown
      }
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Updates an entity. */
  'POST identity/entity/id/:id': {
    fields: {
      /** ID of the entity */
      id: string
      /** New name */
      name?: string | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies that its tokens get in addition to their own; replaces the whole list */
      policies?: readonly string[] | undefined
      /** Disable the entity: all its tokens are refused */
      disabled?: boolean | undefined
    }
    result: undefined
  }
  /** Deletes an entity and its aliases; its tokens lose all access. */
  'DELETE identity/entity/id/:id': {
    fields: {
      /** ID of the entity */
      id: string
    }
    result: undefined
  }
  /** Lists the names of the entities. */
  'LIST identity/entity/name': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows an entity. */
  'GET identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; case-insensitive */
      name: string
    }
    result: {
      /** ID of the entity */
      id: string
      /** Name of the entity */
      name: string
      /** Aliases of the entity, which are its names at login mounts */
      aliases: readonly {
        /** ID of the alias */
        id: string
        /** ID of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Accessor of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty if it no longer exists */
        mount_path: string
        /** Type of the login mount; empty if it no longer exists */
        mount_type: string
        /** Metadata, as key-value pairs; null if none */
        metadata: Readonly<Record<string, string>> | null
        /** Metadata from operators, as key-value pairs; null if only logins have written the alias */
        custom_metadata: Readonly<Record<string, string>> | null
        /** IDs of the entities that it belonged to before they were merged; null if none */
        merged_from_canonical_ids: readonly string[] | null
        /** The login mount is local: a secondary for performance does not get it */
        local: boolean
        /** ID of the namespace; root for the root namespace */
        namespace_id: string
        /** Time of creation, RFC 3339 */
        creation_time: string
        /** Time of the last update, RFC 3339 */
        last_update_time: string
      }[]
      /** Policies attached to the entity */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** Disabled: all its tokens are refused */
      disabled: boolean
      /** IDs of all groups that contain it, directly or through other groups */
      group_ids: readonly string[]
      /** IDs of the groups that contain it directly */
      direct_group_ids: readonly string[]
      /** IDs of the groups that contain it through other groups */
      inherited_group_ids: readonly string[]
      /** IDs of the entities that were merged into it; null if none */
      merged_entity_ids: readonly string[] | null
      /** Always empty: MFA is not offered */
      mfa_secrets: {
        /** Never present */
        [name: string]: unknown
      }
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Creates an entity with this name, or updates it. */
  'POST identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; case-insensitive */
      name: string
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies that its tokens get in addition to their own; replaces the whole list */
      policies?: readonly string[] | undefined
      /** Disable the entity: all its tokens are refused */
      disabled?: boolean | undefined
    }
    result: {
      /** ID of the new entity */
      id: string
      /** Name of the new entity */
      name: string
      /** Always null: a new entity has no aliases */
      aliases: readonly string[] | null
    } | undefined
  }
  /** Deletes an entity and its aliases; its tokens lose all access. */
  'DELETE identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; case-insensitive */
      name: string
    }
    result: undefined
  }
  /** Creates an alias, or updates the one with the given id, or with the given mount_accessor and name. */
  'POST identity/entity-alias': {
    fields: {
      /** ID of an existing alias */
      id?: string | undefined
      /** Name at the login mount, as its login method reports it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** ID of the entity; if unset for a new alias, a new entity is created */
      canonical_id?: string | undefined
      /** Deprecated: use canonical_id */
      entity_id?: string | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      custom_metadata?: Readonly<Record<string, string>> | undefined
    }
    result: {
      /** ID of the alias */
      id: string
      /** ID of its entity */
      canonical_id: string
    }
  }
  /** Lists the IDs of the aliases. */
  'LIST identity/entity-alias/id': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Summaries, by ID */
      key_info: Readonly<Record<string, {
        /** Member of the entry, as its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** Shows an alias. */
  'GET identity/entity-alias/id/:id': {
    fields: {
      /** ID of the alias */
      id: string
    }
    result: {
      /** ID of the alias */
      id: string
      /** ID of its entity */
      canonical_id: string
      /** Name at the login mount */
      name: string
      /** Accessor of the login mount */
      mount_accessor: string
      /** Path of the login mount; empty if it no longer exists */
      mount_path: string
      /** Type of the login mount; empty if it no longer exists */
      mount_type: string
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** Metadata from operators, as key-value pairs; null if only logins have written the alias */
      custom_metadata: Readonly<Record<string, string>> | null
      /** IDs of the entities that it belonged to before they were merged; null if none */
      merged_from_canonical_ids: readonly string[] | null
      /** The login mount is local: a secondary for performance does not get it */
      local: boolean
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Updates an alias; a new name, mount or entity removes the group memberships granted by its logins. */
  'POST identity/entity-alias/id/:id': {
    fields: {
      /** ID of the alias */
      id: string
      /** Name at the login mount, as its login method reports it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** ID of the entity; if unset for a new alias, a new entity is created */
      canonical_id?: string | undefined
      /** Deprecated: use canonical_id */
      entity_id?: string | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      custom_metadata?: Readonly<Record<string, string>> | undefined
    }
    result: {
      /** ID of the alias */
      id: string
      /** ID of its entity */
      canonical_id: string
    }
  }
  /** Deletes an alias; the entity stays. */
  'DELETE identity/entity-alias/id/:id': {
    fields: {
      /** ID of the alias */
      id: string
    }
    result: undefined
  }
  /** Creates a group, or updates the one with the given id or name. */
  'POST identity/group': {
    fields: {
      /** ID of an existing group */
      id?: string | undefined
      /** Name; generated if unset */
      name?: string | undefined
      /** internal: members are set on the group; external: membership follows logins. Cannot be changed later */
      type?: 'internal' | 'external' | '' | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies granted to the tokens of its members; replaces the whole list */
      policies?: readonly string[] | undefined
      /** IDs of the entities that are members; replaces the whole list */
      member_entity_ids?: readonly string[] | undefined
      /** IDs of the groups that are members; replaces the whole list */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
    }
  }
  /** Lists the IDs of the groups. */
  'LIST identity/group/id': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Summaries, by ID */
      key_info: Readonly<Record<string, {
        /** Member of the entry, as its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** Shows a group. */
  'GET identity/group/id/:id': {
    fields: {
      /** ID of the group */
      id: string
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
      /** internal: members are set on the group; external: membership follows logins */
      type: string
      /** Policies granted to its members */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** IDs of the entities that are direct members */
      member_entity_ids: readonly string[]
      /** IDs of the groups that are members; null if none */
      member_group_ids: readonly string[] | null
      /** IDs of the groups that contain it; null if none */
      parent_group_ids: readonly string[] | null
      /** The group alias; empty if there is none */
      alias: {
        /** Same as in identity/group-alias */
        [name: string]: unknown
      }
      /** Incremented with each write, also of another group that takes this one in or lets it go */
      modify_index: number
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Updates a group. */
  'POST identity/group/id/:id': {
    fields: {
      /** ID of the group */
      id: string
      /** New name */
      name?: string | undefined
      /** internal: members are set on the group; external: membership follows logins. Cannot be changed later */
      type?: 'internal' | 'external' | '' | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies granted to the tokens of its members; replaces the whole list */
      policies?: readonly string[] | undefined
      /** IDs of the entities that are members; replaces the whole list */
      member_entity_ids?: readonly string[] | undefined
      /** IDs of the groups that are members; replaces the whole list */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
    }
  }
  /** Deletes a group. */
  'DELETE identity/group/id/:id': {
    fields: {
      /** ID of the group */
      id: string
    }
    result: undefined
  }
  /** Lists the names of the groups. */
  'LIST identity/group/name': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Shows a group. */
  'GET identity/group/name/:name...': {
    fields: {
      /** Name of the group; case-insensitive */
      name: string
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
      /** internal: members are set on the group; external: membership follows logins */
      type: string
      /** Policies granted to its members */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** IDs of the entities that are direct members */
      member_entity_ids: readonly string[]
      /** IDs of the groups that are members; null if none */
      member_group_ids: readonly string[] | null
      /** IDs of the groups that contain it; null if none */
      parent_group_ids: readonly string[] | null
      /** The group alias; empty if there is none */
      alias: {
        /** Same as in identity/group-alias */
        [name: string]: unknown
      }
      /** Incremented with each write, also of another group that takes this one in or lets it go */
      modify_index: number
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Creates a group with this name, or updates it. */
  'POST identity/group/name/:name...': {
    fields: {
      /** Name of the group; case-insensitive */
      name: string
      /** internal: members are set on the group; external: membership follows logins. Cannot be changed later */
      type?: 'internal' | 'external' | '' | undefined
      /** Metadata as key-value pairs; replaces all existing pairs */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies granted to the tokens of its members; replaces the whole list */
      policies?: readonly string[] | undefined
      /** IDs of the entities that are members; replaces the whole list */
      member_entity_ids?: readonly string[] | undefined
      /** IDs of the groups that are members; replaces the whole list */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
    }
  }
  /** Deletes a group. */
  'DELETE identity/group/name/:name...': {
    fields: {
      /** Name of the group; case-insensitive */
      name: string
    }
    result: undefined
  }
  /** Creates a group alias, or updates the one with the given id, or with the given mount_accessor and name. */
  'POST identity/group-alias': {
    fields: {
      /** ID of an existing group alias */
      id?: string | undefined
      /** Name of the group at the login mount, as its login method reports it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** ID of an external group; if unset for a new alias, a new group is created */
      canonical_id?: string | undefined
    }
    result: {
      /** ID of the group alias */
      id: string
      /** ID of its group */
      canonical_id: string
    }
  }
  /** Lists the IDs of the group aliases. */
  'LIST identity/group-alias/id': {
    fields: {
      /** Returns only entries that sort after this one */
      after?: string | undefined
      /** Maximum number of entries to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
      /** Summaries, by ID */
      key_info: Readonly<Record<string, {
        /** Member of the entry, as its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** Shows a group alias. */
  'GET identity/group-alias/id/:id': {
    fields: {
      /** ID of the group alias */
      id: string
    }
    result: {
      /** ID of the group alias */
      id: string
      /** ID of its group */
      canonical_id: string
      /** Name of the group at the login mount */
      name: string
      /** Accessor of the login mount */
      mount_accessor: string
      /** Path of the login mount; empty if it no longer exists */
      mount_path: string
      /** Type of the login mount; empty if it no longer exists */
      mount_type: string
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** Always null: group aliases are not merged */
      merged_from_canonical_ids: readonly string[] | null
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    }
  }
  /** Updates a group alias; a new name, mount or group removes the group memberships granted by its logins. */
  'POST identity/group-alias/id/:id': {
    fields: {
      /** ID of the group alias */
      id: string
      /** Name of the group at the login mount, as its login method reports it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** ID of an external group; if unset for a new alias, a new group is created */
      canonical_id?: string | undefined
    }
    result: {
      /** ID of the group alias */
      id: string
      /** ID of its group */
      canonical_id: string
    }
  }
  /** Deletes a group alias; the group stays, without members. */
  'DELETE identity/group-alias/id/:id': {
    fields: {
      /** ID of the group alias */
      id: string
    }
    result: undefined
  }
  /** Looks up an entity by its ID, its name or one of its aliases; 204 without a body if there is none. */
  'POST identity/lookup/entity': {
    fields: {
      /** ID of the entity or group */
      id?: string | undefined
      /** Name of the entity or group */
      name?: string | undefined
      /** ID of an alias */
      alias_id?: string | undefined
      /** Name of an alias; requires alias_mount_accessor */
      alias_name?: string | undefined
      /** Accessor of the login mount of the alias; requires alias_name */
      alias_mount_accessor?: string | undefined
    }
    result: {
      /** ID of the entity */
      id: string
      /** Name of the entity */
      name: string
      /** Aliases of the entity, which are its names at login mounts */
      aliases: readonly {
        /** ID of the alias */
        id: string
        /** ID of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Accessor of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty if it no longer exists */
        mount_path: string
        /** Type of the login mount; empty if it no longer exists */
        mount_type: string
        /** Metadata, as key-value pairs; null if none */
        metadata: Readonly<Record<string, string>> | null
        /** Metadata from operators, as key-value pairs; null if only logins have written the alias */
        custom_metadata: Readonly<Record<string, string>> | null
        /** IDs of the entities that it belonged to before they were merged; null if none */
        merged_from_canonical_ids: readonly string[] | null
        /** The login mount is local: a secondary for performance does not get it */
        local: boolean
        /** ID of the namespace; root for the root namespace */
        namespace_id: string
        /** Time of creation, RFC 3339 */
        creation_time: string
        /** Time of the last update, RFC 3339 */
        last_update_time: string
      }[]
      /** Policies attached to the entity */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** Disabled: all its tokens are refused */
      disabled: boolean
      /** IDs of all groups that contain it, directly or through other groups */
      group_ids: readonly string[]
      /** IDs of the groups that contain it directly */
      direct_group_ids: readonly string[]
      /** IDs of the groups that contain it through other groups */
      inherited_group_ids: readonly string[]
      /** IDs of the entities that were merged into it; null if none */
      merged_entity_ids: readonly string[] | null
      /** Always empty: MFA is not offered */
      mfa_secrets: {
        /** Never present */
        [name: string]: unknown
      }
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    } | undefined
  }
  /** Looks up a group by its ID, its name or its alias; 204 without a body if there is none. */
  'POST identity/lookup/group': {
    fields: {
      /** ID of the entity or group */
      id?: string | undefined
      /** Name of the entity or group */
      name?: string | undefined
      /** ID of an alias */
      alias_id?: string | undefined
      /** Name of an alias; requires alias_mount_accessor */
      alias_name?: string | undefined
      /** Accessor of the login mount of the alias; requires alias_name */
      alias_mount_accessor?: string | undefined
    }
    result: {
      /** ID of the group */
      id: string
      /** Name of the group */
      name: string
      /** internal: members are set on the group; external: membership follows logins */
      type: string
      /** Policies granted to its members */
      policies: readonly string[]
      /** Metadata, as key-value pairs; null if none */
      metadata: Readonly<Record<string, string>> | null
      /** IDs of the entities that are direct members */
      member_entity_ids: readonly string[]
      /** IDs of the groups that are members; null if none */
      member_group_ids: readonly string[] | null
      /** IDs of the groups that contain it; null if none */
      parent_group_ids: readonly string[] | null
      /** The group alias; empty if there is none */
      alias: {
        /** Same as in identity/group-alias */
        [name: string]: unknown
      }
      /** Incremented with each write, also of another group that takes this one in or lets it go */
      modify_index: number
      /** ID of the namespace; root for the root namespace */
      namespace_id: string
      /** Time of creation, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_update_time: string
    } | undefined
  }
  /** Shows the OpenID Connect discovery document for the identity tokens that mounts present to other services. */
  'GET identity/oidc/plugins/.well-known/openid-configuration': {
    fields: Record<never, never>
    result: {
      /** Issuer: the "iss" claim of the tokens */
      issuer: string
      /** URL of the public keys */
      jwks_uri: string
      /** Always id_token; tokens are not issued through this endpoint */
      response_types_supported: readonly string[]
      /** Always public: every recipient sees the same subject */
      subject_types_supported: readonly string[]
      /** Signature algorithms of the tokens */
      id_token_signing_alg_values_supported: readonly string[]
    }
  }
  /** Shows the public keys of identity tokens, as a JSON Web Key Set (RFC 7517). */
  'GET identity/oidc/plugins/.well-known/keys': {
    fields: Record<never, never>
    result: {
      /** Public keys, in order of use */
      keys: readonly {
        /** RSA */
        kty: string
        /** sig */
        use: string
        /** RS256 */
        alg: string
        /** Key ID, as in the header of a token */
        kid: string
        /** Modulus, base64url-encoded */
        n: string
        /** Exponent, base64url-encoded */
        e: string
      }[]
    }
  }
  /** Creates a named key. */
  'POST transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type?: string | undefined
      /** Parameter set of the type ml-dsa: 44, 65, 87. Equivalent to type ml-dsa-N */
      parameter_set?: string | undefined
      /** Derives a separate key for each context; encryption and signing require one */
      derived?: boolean | undefined
      /** Equal plaintexts with the same context give equal ciphertexts; requires derived */
      convergent_encryption?: boolean | undefined
      /** Allows export; cannot be disabled later */
      exportable?: boolean | undefined
      /** Allows plaintext backup; cannot be disabled later */
      allow_plaintext_backup?: boolean | undefined
      /** Rotation interval, at least one hour; 0 disables automatic rotation */
      auto_rotate_period?: Duration | undefined
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number | undefined
      /** Accepted and ignored */
      context?: string | undefined
      /** Name of the managed key; only for keys of type managed_key */
      managed_key_name?: string | undefined
      /** UUID of the managed key; only for keys of type managed_key */
      managed_key_id?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Describes a key, without secret material. */
  'GET transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Context of a derived signing key; ignored for other keys */
      context?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Lists the names of all keys. */
  'LIST transit/keys': {
    fields: {
      /** Returns only names that sort after this one, which need not exist */
      after?: string | undefined
      /** Maximum number of names to return; 0 or less: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Deletes a key with all its versions; requires deletion_allowed. */
  'DELETE transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: undefined
  }
  /** Updates the given settings of a key, either all of them or none. */
  'POST transit/keys/:name/config': {
    fields: {
      /** Name of the key */
      name: string
      /** Lowest version that can decrypt and verify; 0 means 1 */
      min_decryption_version?: number | undefined
      /** Lowest version that can encrypt, sign and make MACs, at least min_decryption_version; 0: no minimum */
      min_encryption_version?: number | undefined
      /** Whether the key can be deleted */
      deletion_allowed?: boolean | undefined
      /** Allows export; cannot be disabled later */
      exportable?: boolean | undefined
      /** Allows plaintext backup; cannot be disabled later */
      allow_plaintext_backup?: boolean | undefined
      /** Rotation interval, at least one hour; 0 disables automatic rotation */
      auto_rotate_period?: Duration | undefined
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts; 8 if never set */
      min_mac_length?: number | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Rotates a key: adds a version, which encrypts and signs by default from then on. */
  'POST transit/keys/:name/rotate': {
    fields: {
      /** Name of the key */
      name: string
      /** Name of the managed key; only for keys of type managed_key */
      managed_key_name?: string | undefined
      /** UUID of the managed key; only for keys of type managed_key */
      managed_key_id?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Permanently deletes the versions of a key below min_available_version. */
  'POST transit/keys/:name/trim': {
    fields: {
      /** Name of the key */
      name: string
      /** Lowest version to keep */
      min_available_version?: number | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Soft-deletes a key: takes it out of use until it is restored, without deleting anything. */
  'DELETE transit/keys/:name/soft-delete': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Restores a soft-deleted key. */
  'POST transit/keys/:name/soft-delete-restore': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Whether a separate key is derived for each context */
      derived: boolean
      /** Whether the key can be exported */
      exportable: boolean
      /** Whether the key can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Whether the key can be deleted */
      deletion_allowed: boolean
      /** Whether the key was imported */
      imported_key: boolean
      /** Whether the key is soft-deleted */
      soft_deleted: boolean
      /** Whether the key can encrypt */
      supports_encryption: boolean
      /** Whether the key can decrypt */
      supports_decryption: boolean
      /** Whether the key can sign */
      supports_signing: boolean
      /** Whether keys of this type can be created with derived */
      supports_derivation: boolean
      /** Highest key version, which encrypts and signs by default */
      latest_version: number
      /** Lowest version still stored: older ones were trimmed; 0: none were trimmed */
      min_available_version: number
      /** Lowest version that can decrypt and verify */
      min_decryption_version: number
      /** Lowest version that can encrypt, sign and make MACs; 0: no minimum */
      min_encryption_version: number
      /** Rotation interval in seconds; 0: no automatic rotation */
      auto_rotate_period: number
      /** Usable key versions, by version number */
      keys: Readonly<Record<string, unknown>>
      /** CMAC keys only: length in bytes of the shortest CMAC that verify accepts */
      min_mac_length?: number
      /** Key size in bytes; only for key types with a variable size */
      key_size?: number
      /** Imported keys only: whether the key can be rotated */
      imported_key_allow_rotation?: boolean
      /** Last backup; absent if there was none */
      backup_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /** Last restore; absent if there was none */
      restore_info?: {
        /** Time, RFC 3339 */
        time: string
        /** Latest key version at that time */
        version: number
      }
      /**
       * Upper bound on the messages that each version has encrypted; only in reads, and only for key types that are
       * limited to 2^32 messages per version
       */
      encryption_counts?: Readonly<Record<string, number>>
      /** Key derivation function; derived keys only */
      kdf?: string
      /** Only for derived keys whose kdf predates HKDF */
      kdf_mode?: string
      /** Whether equal plaintexts with the same context give equal ciphertexts; derived keys only */
      convergent_encryption?: boolean
      /** Always -1: each key version has its own algorithm version */
      convergent_encryption_version?: number
    }
  }
  /** Encrypts data with a named key. */
  'POST transit/encrypt/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Data to encrypt, base64; may be empty */
      plaintext?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Associated data, base64: authenticated but not encrypted */
      associated_data?: string | undefined
      /**
       * Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption.
       * Other convergent keys ignore it; any other key refuses it when encrypting
       */
      nonce?: string | undefined
      /** RSA padding: oaep (default), or pkcs1v15, for compatibility only */
      padding_scheme?: string | undefined
      /** Key version to encrypt with; 0 is the latest */
      key_version?: number | undefined
      /** Items to encrypt in place of plaintext, each with its own options */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        plaintext: string
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        associated_data?: string | undefined
        /** Same as the top-level field of this name */
        nonce?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
        /** Same as the top-level field of this name */
        padding_scheme?: string | undefined
        /** Same as the top-level field of this name */
        key_version?: number | undefined
      }[] | undefined
      /**
       * HTTP status, 200 to 599, for a batch in which some items fail and others succeed; 400 if unset. With 204 the
       * answer has no results. 205, 304 (which have no body either) and values out of range give 400 with a warning
       */
      partial_failure_response_code?: number | undefined
      /** Type of the key if the request creates it: a symmetric AEAD type */
      type?: string | undefined
      /** Whether the key is convergent, if the request creates it */
      convergent_encryption?: boolean | undefined
    }
    result: {
      /** Ciphertext: vault:vN: followed by base64; N is the key version */
      ciphertext?: string
      /** Key version that encrypted */
      key_version?: number
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Ciphertext: vault:vN: followed by base64; N is the key version */
        ciphertext?: string
        /** Key version that encrypted */
        key_version?: number
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Decrypts data with a named key. */
  'POST transit/decrypt/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Ciphertext, as returned by encrypt */
      ciphertext?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Associated data, base64: authenticated but not encrypted */
      associated_data?: string | undefined
      /**
       * Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption.
       * Other convergent keys ignore it; any other key refuses it when encrypting
       */
      nonce?: string | undefined
      /** RSA padding: oaep (default), or pkcs1v15, for compatibility only */
      padding_scheme?: string | undefined
      /** Items to decrypt in place of ciphertext, each with its own options */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        ciphertext: string
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        associated_data?: string | undefined
        /** Same as the top-level field of this name */
        nonce?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
        /** Same as the top-level field of this name */
        padding_scheme?: string | undefined
      }[] | undefined
      /**
       * HTTP status, 200 to 599, for a batch in which some items fail and others succeed; 400 if unset. With 204 the
       * answer has no results. 205, 304 (which have no body either) and values out of range give 400 with a warning
       */
      partial_failure_response_code?: number | undefined
    }
    result: {
      /** Plaintext, base64; empty for an empty message and for a failed item */
      plaintext?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Plaintext, base64; empty for an empty message and for a failed item */
        plaintext: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Re-encrypts a ciphertext with the latest version of its key, or with key_version. */
  'POST transit/rewrap/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Ciphertext, as returned by encrypt */
      ciphertext?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Associated data, base64: authenticated but not encrypted */
      associated_data?: string | undefined
      /**
       * Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption.
       * Other convergent keys ignore it; any other key refuses it when encrypting
       */
      nonce?: string | undefined
      /** RSA padding of the given ciphertext: oaep (default), or pkcs1v15, for compatibility only */
      decrypt_padding_scheme?: string | undefined
      /** RSA padding of the new ciphertext: oaep (default), or pkcs1v15, for compatibility only */
      encrypt_padding_scheme?: string | undefined
      /** Key version to encrypt with; 0 is the latest */
      key_version?: number | undefined
      /** Items to rewrap in place of ciphertext, each with its own options */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        ciphertext?: string | undefined
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        associated_data?: string | undefined
        /** Same as the top-level field of this name */
        nonce?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
        /** Same as the top-level field of this name */
        key_version?: number | undefined
        /** Same as the top-level field of this name */
        decrypt_padding_scheme?: string | undefined
        /** Same as the top-level field of this name */
        encrypt_padding_scheme?: string | undefined
      }[] | undefined
      /**
       * HTTP status, 200 to 599, for a batch in which some items fail and others succeed; 400 if unset. With 204 the
       * answer has no results. 205, 304 (which have no body either) and values out of range give 400 with a warning
       */
      partial_failure_response_code?: number | undefined
    }
    result: {
      /** Ciphertext: vault:vN: followed by base64; N is the key version */
      ciphertext?: string
      /** Key version that encrypted */
      key_version?: number
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Ciphertext: vault:vN: followed by base64; N is the key version */
        ciphertext?: string
        /** Key version that encrypted */
        key_version?: number
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Generates a data key and encrypts it with a named key. */
  'POST transit/datakey/:type/:name': {
    fields: {
      /** plaintext returns the data key in plaintext and encrypted; wrapped returns it only encrypted */
      type: string
      /** Name of the key */
      name: string
      /** Length of the data key in bits: 128, 256 or 512 */
      bits?: number | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Associated data, base64: authenticated but not encrypted */
      associated_data?: string | undefined
      /**
       * Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption.
       * Other convergent keys ignore it; any other key refuses it when encrypting
       */
      nonce?: string | undefined
      /** RSA padding: oaep (default), or pkcs1v15, for compatibility only */
      padding_scheme?: string | undefined
      /** Key version to encrypt with; 0 is the latest */
      key_version?: number | undefined
    }
    result: {
      /** Ciphertext: vault:vN: followed by base64; N is the key version */
      ciphertext: string
      /** Key version that encrypted */
      key_version: number
      /** Data key, base64; only with type plaintext */
      plaintext?: string
    }
  }
  /** Generates several data keys and encrypts each with a named key. */
  'POST transit/datakeys/:type/:name': {
    fields: {
      /** plaintext returns the data key in plaintext and encrypted; wrapped returns it only encrypted */
      type: string
      /** Name of the key */
      name: string
      /** Length of the data key in bits: 128, 256 or 512 */
      bits?: number | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Associated data, base64: authenticated but not encrypted */
      associated_data?: string | undefined
      /**
       * Nonce of 12 bytes, base64: required by key versions that were restored with version 1 of convergent encryption.
       * Other convergent keys ignore it; any other key refuses it when encrypting
       */
      nonce?: string | undefined
      /** RSA padding: oaep (default), or pkcs1v15, for compatibility only */
      padding_scheme?: string | undefined
      /** Key version to encrypt with; 0 is the latest */
      key_version?: number | undefined
      /** Number of data keys, 1 to 1000 */
      count: number
    }
    result: {
      /** Data keys */
      key_pairs: readonly {
        /** Encrypted data key: vault:vN: followed by base64; N is the key version */
        ciphertext: string
        /** Data key, base64; only with type plaintext */
        plaintext?: string
      }[]
      /** Key version that encrypted them */
      key_version: number
    }
  }
  /** Signs data with a named key. */
  'POST transit/sign/:name': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash algorithm, not used by ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 if unset or empty
       */
      hash_algorithm?: string | undefined
      /** Deprecated: use hash_algorithm; counts only if that is sent empty */
      algorithm?: string | undefined
      /** The input is already hashed; ed25519 takes it as the message, ML-DSA refuses this */
      prehashed?: boolean | undefined
      /** RSA padding: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** Encoding: asn1 (base64, ECDSA in DER) or jws (base64url, ECDSA as r followed by s) */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS salt length: auto (the longest; any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Data to sign, base64; empty if unset */
      input?: string | undefined
      /** Key version to sign with; 0 is the latest */
      key_version?: number | undefined
      /** Items to sign in place of input and context */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Signature: vault:vN: followed by base64, or base64url with jws; N is the key version */
      signature?: string
      /** Key version that signed */
      key_version?: number
      /** Public key for the context, base64; derived keys only */
      public_key?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Signature: vault:vN: followed by base64, or base64url with jws; N is the key version */
        signature?: string
        /** Key version that signed; 0 if the item failed */
        key_version: number
        /** Public key for the context, base64; derived keys only */
        publickey?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Signs data with a named key. */
  'POST transit/sign/:name/:hash_algorithm': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash algorithm, not used by ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 if unset or empty
       */
      hash_algorithm: string
      /** Deprecated: use hash_algorithm; counts only if that is sent empty */
      algorithm?: string | undefined
      /** The input is already hashed; ed25519 takes it as the message, ML-DSA refuses this */
      prehashed?: boolean | undefined
      /** RSA padding: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** Encoding: asn1 (base64, ECDSA in DER) or jws (base64url, ECDSA as r followed by s) */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS salt length: auto (the longest; any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Data to sign, base64; empty if unset */
      input?: string | undefined
      /** Key version to sign with; 0 is the latest */
      key_version?: number | undefined
      /** Items to sign in place of input and context */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Signature: vault:vN: followed by base64, or base64url with jws; N is the key version */
      signature?: string
      /** Key version that signed */
      key_version?: number
      /** Public key for the context, base64; derived keys only */
      public_key?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Signature: vault:vN: followed by base64, or base64url with jws; N is the key version */
        signature?: string
        /** Key version that signed; 0 if the item failed */
        key_version: number
        /** Public key for the context, base64; derived keys only */
        publickey?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Verifies a signature, HMAC or CMAC made with a named key. */
  'POST transit/verify/:name': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash algorithm, not used by ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 if unset or empty
       */
      hash_algorithm?: string | undefined
      /** Deprecated: use hash_algorithm; counts only if that is sent empty */
      algorithm?: string | undefined
      /** The input is already hashed; ed25519 takes it as the message, ML-DSA refuses this */
      prehashed?: boolean | undefined
      /** RSA padding: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** Encoding: asn1 (base64, ECDSA in DER) or jws (base64url, ECDSA as r followed by s) */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS salt length: auto (the longest; any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Data that was signed or authenticated, base64; empty if unset */
      input?: string | undefined
      /** Signature, as returned by sign */
      signature?: string | undefined
      /** HMAC, as returned by hmac; ignored if signature is given */
      hmac?: string | undefined
      /** CMAC, as returned by cmac; ignored if signature or hmac is given */
      cmac?: string | undefined
      /** Length of the CMAC in bytes, as when it was computed: at least min_mac_length of the key; 0 is all 16 */
      mac_length?: number | undefined
      /**
       * Items to verify in place of input, signature, hmac, cmac and context: all with signature, all with hmac or all
       * with cmac
       */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        signature?: string | undefined
        /** Same as the top-level field of this name */
        hmac?: string | undefined
        /** Same as the top-level field of this name */
        cmac?: string | undefined
        /** Same as the top-level field of this name */
        mac_length?: number | undefined
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Whether the signature, HMAC or CMAC is valid for the input */
      valid?: boolean
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Whether the signature, HMAC or CMAC is valid for the input */
        valid: boolean
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Verifies a signature, HMAC or CMAC made with a named key. */
  'POST transit/verify/:name/:hash_algorithm': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash algorithm, not used by ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 if unset or empty
       */
      hash_algorithm: string
      /** Deprecated: use hash_algorithm; counts only if that is sent empty */
      algorithm?: string | undefined
      /** The input is already hashed; ed25519 takes it as the message, ML-DSA refuses this */
      prehashed?: boolean | undefined
      /** RSA padding: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** Encoding: asn1 (base64, ECDSA in DER) or jws (base64url, ECDSA as r followed by s) */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS salt length: auto (the longest; any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Key derivation context, base64; required for derived keys */
      context?: string | undefined
      /** Data that was signed or authenticated, base64; empty if unset */
      input?: string | undefined
      /** Signature, as returned by sign */
      signature?: string | undefined
      /** HMAC, as returned by hmac; ignored if signature is given */
      hmac?: string | undefined
      /** CMAC, as returned by cmac; ignored if signature or hmac is given */
      cmac?: string | undefined
      /** Length of the CMAC in bytes, as when it was computed: at least min_mac_length of the key; 0 is all 16 */
      mac_length?: number | undefined
      /**
       * Items to verify in place of input, signature, hmac, cmac and context: all with signature, all with hmac or all
       * with cmac
       */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        signature?: string | undefined
        /** Same as the top-level field of this name */
        hmac?: string | undefined
        /** Same as the top-level field of this name */
        cmac?: string | undefined
        /** Same as the top-level field of this name */
        mac_length?: number | undefined
        /** Same as the top-level field of this name */
        context?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Whether the signature, HMAC or CMAC is valid for the input */
      valid?: boolean
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Whether the signature, HMAC or CMAC is valid for the input */
        valid: boolean
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Computes an HMAC with a named key. */
  'POST transit/hmac/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Hash algorithm: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 */
      algorithm?: string | undefined
      /** Data to authenticate, base64; may be empty */
      input?: string | undefined
      /** Key version that computes the HMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items to authenticate in place of input */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** HMAC in full length: vault:vN: followed by base64; N is the key version */
      hmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** HMAC in full length: vault:vN: followed by base64; N is the key version */
        hmac?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Computes an HMAC with a named key. */
  'POST transit/hmac/:name/:algorithm': {
    fields: {
      /** Name of the key */
      name: string
      /** Hash algorithm: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 */
      algorithm: string
      /** Data to authenticate, base64; may be empty */
      input?: string | undefined
      /** Key version that computes the HMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items to authenticate in place of input */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** HMAC in full length: vault:vN: followed by base64; N is the key version */
      hmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** HMAC in full length: vault:vN: followed by base64; N is the key version */
        hmac?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Computes an AES-CMAC with a named key. */
  'POST transit/cmac/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Length of the CMAC in bytes, 1 to 16: its first bytes are kept; 0 keeps all 16 */
      mac_length?: number | undefined
      /** Data to authenticate, base64; must not be empty */
      input?: string | undefined
      /** Key version that computes the CMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items to authenticate in place of input */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        mac_length?: number | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** CMAC: vault:vN: followed by base64; N is the key version */
      cmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** CMAC: vault:vN: followed by base64; N is the key version */
        cmac?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Computes an AES-CMAC with a named key. */
  'POST transit/cmac/:name/:mac_length': {
    fields: {
      /** Name of the key */
      name: string
      /** Length of the CMAC in bytes, 1 to 16: its first bytes are kept; 0 keeps all 16 */
      mac_length: number
      /** Data to authenticate, base64; must not be empty */
      input?: string | undefined
      /** Key version that computes the CMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items to authenticate in place of input */
      batch_input?: readonly {
        /** Same as the top-level field of this name */
        input?: string | undefined
        /** Same as the top-level field of this name */
        mac_length?: number | undefined
        /** Same as the top-level field of this name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** CMAC: vault:vN: followed by base64; N is the key version */
      cmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** CMAC: vault:vN: followed by base64; N is the key version */
        cmac?: string
        /** Reference of the item; empty if it has none */
        reference: string
        /** Why the item failed; absent if it succeeded */
        error?: string
      }[]
    }
  }
  /** Returns random bytes. */
  'POST transit/random': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source?: string | undefined
      /** Number of bytes to return */
      bytes?: number | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Returns random bytes. */
  'POST transit/random/:source': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source: string
      /** Number of bytes to return */
      bytes?: number | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Returns random bytes. */
  'POST transit/random/:source/:bytes': {
    fields: {
      /**
       * Source of randomness: platform is this machine alone; seal and all mix in the seal device. A number is taken as
       * `bytes`
       */
      source: string
      /** Number of bytes to return */
      bytes: number
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The random bytes, in the requested encoding */
      random_bytes: string
    }
  }
  /** Returns the hash of the input. */
  'POST transit/hash': {
    fields: {
      /** Data to hash, base64-encoded */
      input: string
      /** Hash algorithm: sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm?: string | undefined
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash, in the requested encoding */
      sum: string
    }
  }
  /** Returns the hash of the input. */
  'POST transit/hash/:algorithm': {
    fields: {
      /** Data to hash, base64-encoded */
      input: string
      /** Hash algorithm: sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm: string
      /** Encoding of the result: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash, in the requested encoding */
      sum: string
    }
  }
  /** Creates a certificate signing request (PKCS #10) for a key version. */
  'POST transit/keys/:name/csr': {
    fields: {
      /** Name of the key */
      name: string
      /** Key version that the request is for, and that signs it; 0 is the latest */
      version?: number | 'latest' | undefined
      /** Template: a certificate signing request in PEM */
      csr?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Certificate signing request in PEM */
      csr: string
    }
  }
  /** Sets the certificate chain of a version of a signing key, in place of any earlier one. */
  'POST transit/keys/:name/set-certificate': {
    fields: {
      /** Name of the key */
      name: string
      /** Key version that the first certificate is for; 0 is the latest */
      version?: number | 'latest' | undefined
      /** Certificates in PEM, starting with the certificate of the key */
      certificate_chain: string
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Certificate chain, as given */
      certificate_chain: string
    }
  }
  /** Creates a key by ECDH, from a named ECDSA key and the public key of another party. */
  'POST transit/derive-key/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Name of the ECDSA key whose private key is used */
      base_key_name: string
      /** Version of the base key; 0 is the latest */
      base_key_version?: number | undefined
      /** Public key of the other party, on the same curve, in PEM (SubjectPublicKeyInfo) */
      peer_public_key: string
      /** Key agreement algorithm: ecdh */
      key_derivation_algorithm?: string | undefined
      /** Type of the new key: aes128-gcm96, aes256-gcm96, chacha20-poly1305, xchacha20-poly1305 */
      derived_key_type?: string | undefined
    }
    result: undefined
  }
  /** Returns the public wrapping key for imports: RSA with 4096 bits. */
  'GET transit/wrapping_key': {
    fields: Record<never, never>
    result: {
      /** Public key in PEM */
      public_key: string
    }
  }
  /** Returns an exportable key wrapped with an RSA key, in the format that import accepts. */
  'GET transit/byok-export/:destination/:source': {
    fields: {
      /** Name of the RSA key that wraps, with its latest version */
      destination: string
      /** Name of the key to wrap */
      source: string
      /** Hash algorithm of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash?: string | undefined
    }
    result: {
      /** Name of the source key */
      name: string
      /** Type of the source key */
      type: string
      /** Wrapped keys, by version number */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Returns an exportable key wrapped with an RSA key, in the format that import accepts. */
  'GET transit/byok-export/:destination/:source/:version...': {
    fields: {
      /** Name of the RSA key that wraps, with its latest version */
      destination: string
      /** Name of the key to wrap */
      source: string
      /** Key version, or latest; if unset, all usable versions */
      version: string
      /** Hash algorithm of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash?: string | undefined
    }
    result: {
      /** Name of the source key */
      name: string
      /** Type of the source key */
      type: string
      /** Wrapped keys, by version number */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Imports key material as a new named key. */
  'POST transit/keys/:name/import': {
    fields: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type?: string | undefined
      /** Parameter set of the type ml-dsa: 44, 65, 87. Equivalent to type ml-dsa-N */
      parameter_set?: string | undefined
      /**
       * Wrapped key, base64: an AES key under the wrapping key (RSA-OAEP, 512 bytes), then the key under that AES key
       * (AES-KWP)
       */
      ciphertext?: string | undefined
      /** Hash algorithm of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash_function?: string | undefined
      /** Public key in PEM, in place of ciphertext */
      public_key?: string | undefined
      /** Allows rotation here; once rotated, the key accepts no imported versions */
      allow_rotation?: boolean | undefined
      /** Derives a separate key for each context; encryption and signing require one */
      derived?: boolean | undefined
      /** Accepted and ignored */
      context?: string | undefined
      /** Allows export; cannot be disabled later */
      exportable?: boolean | undefined
      /** Allows plaintext backup; cannot be disabled later */
      allow_plaintext_backup?: boolean | undefined
      /** Rotation interval, at least one hour; needs allow_rotation; 0: none */
      auto_rotate_period?: Duration | undefined
      /** Refused if true: an imported key cannot be convergent */
      convergent_encryption?: boolean | undefined
    }
    result: undefined
  }
  /** Imports key material into an imported key, as a new version or as the private key of an existing one. */
  'POST transit/keys/:name/import_version': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Wrapped key, base64: an AES key under the wrapping key (RSA-OAEP, 512 bytes), then the key under that AES key
       * (AES-KWP)
       */
      ciphertext?: string | undefined
      /** Hash algorithm of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash_function?: string | undefined
      /** Public key in PEM, in place of ciphertext */
      public_key?: string | undefined
      /** Version that has only its public key, to be completed with the private key */
      version?: number | undefined
    }
    result: undefined
  }
  /** Returns the material of an exportable key in plaintext, or the public parts of any key pair. */
  'GET transit/export/:type/:name': {
    fields: {
      /** What to export: encryption-key, signing-key, hmac-key, cmac-key, public-key, certificate-chain */
      type: string
      /** Name of the key */
      name: string
      /**
       * raw (the bytes, base64), der (PKCS #8 or SubjectPublicKeyInfo, base64), pem (the same structures in PEM), or
       * empty for the usual format of the key type
       */
      format?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Exported keys, by version number */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Returns the material of an exportable key in plaintext, or the public parts of any key pair. */
  'GET transit/export/:type/:name/:version...': {
    fields: {
      /** What to export: encryption-key, signing-key, hmac-key, cmac-key, public-key, certificate-chain */
      type: string
      /** Name of the key */
      name: string
      /** Key version, or latest; if unset, all usable versions */
      version: string
      /**
       * raw (the bytes, base64), der (PKCS #8 or SubjectPublicKeyInfo, base64), pem (the same structures in PEM), or
       * empty for the usual format of the key type
       */
      format?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Exported keys, by version number */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Returns a plaintext backup of a key, with all its versions and settings, for restore. */
  'GET transit/backup/:name': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: {
      /** Backup, as restore accepts it */
      backup: string
    }
  }
  /** Restores a key from a backup, with all its versions and settings. */
  'POST transit/restore': {
    fields: {
      /** Name of the restored key; if unset, the name in the backup */
      name?: string | undefined
      /** Backup, as returned by backup */
      backup?: string | undefined
      /** Replaces an existing key of that name */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Restores a key from a backup, with all its versions and settings. */
  'POST transit/restore/:name...': {
    fields: {
      /** Name of the restored key; if unset, the name in the backup */
      name: string
      /** Backup, as returned by backup */
      backup?: string | undefined
      /** Replaces an existing key of that name */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Returns the settings that apply to all keys of the mount. */
  'GET transit/config/keys': {
    fields: Record<never, never>
    result: {
      /** Whether encrypt is prevented from creating keys */
      disable_upsert: boolean
    }
  }
  /** Updates the settings that apply to all keys of the mount. */
  'POST transit/config/keys': {
    fields: {
      /** Prevents encrypt from creating keys */
      disable_upsert?: boolean | undefined
    }
    result: {
      /** Whether encrypt is prevented from creating keys */
      disable_upsert: boolean
    }
  }
  /** Returns the size of the key cache. */
  'GET transit/cache-config': {
    fields: Record<never, never>
    result: {
      /** Number of keys that each thread caches, at least 10; 0 is the default of 10000 */
      size: number
    }
  }
  /** Sets the size of the key cache. */
  'POST transit/cache-config': {
    fields: {
      /** Number of keys that each thread caches, at least 10; 0 is the default of 10000 */
      size?: number | undefined
    }
    result: {
      /** Number of keys that each thread caches, at least 10; 0 is the default of 10000 */
      size: number
    }
  }
  /** Shows the value that the calling token stores at a path. */
  'GET cubbyhole/:path...': {
    fields: {
      /** Path within the cubbyhole of the calling token */
      path: string
    }
    result: {
      /** Member of the stored object, as written */
      [name: string]: unknown
    }
  }
  /** Stores an object for the calling token alone, as long as the token lives; replaces an existing object. */
  'POST cubbyhole/:path...': {
    fields: {
      /** Path within the cubbyhole of the calling token */
      path: string
    }
    result: undefined
  }
  /** Deletes what the calling token stores at a path; a path without a value is not an error. */
  'DELETE cubbyhole/:path...': {
    fields: {
      /** Path within the cubbyhole of the calling token */
      path: string
    }
    result: undefined
  }
  /** Lists the names that the calling token stores below a path. */
  'LIST cubbyhole/': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted */
      keys: readonly string[]
    }
  }
  /** Lists the names that the calling token stores below a path. */
  'LIST cubbyhole/:path...': {
    fields: {
      /** Path of the folder to list */
      path: string
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted */
      keys: readonly string[]
    }
  }
  /** Lists all usernames. */
  'LIST auth/userpass/users': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Returns the token settings of a user, never the password. */
  'GET auth/userpass/users/:username': {
    fields: {
      /** Username, case-insensitive */
      username: string
    }
    result: {
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl: number
      /** Maximum TTL in seconds; 0 uses the maximum of the mount */
      token_max_ttl: number
      /** Hard limit on the lifetime in seconds; 0: none */
      token_explicit_max_ttl: number
      /** Period in seconds; 0: not periodic */
      token_period: number
      /** Policies attached to issued tokens */
      token_policies: readonly string[]
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens */
      token_bound_cidrs: readonly string[]
      /** Do not attach the "default" policy */
      token_no_default_policy: boolean
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** Token type: default, service or batch */
      token_type: string
      /** Same as token_policies; present if written under this old name */
      policies?: readonly string[]
      /** Same as token_ttl; present if written under this old name */
      ttl?: number
      /** Same as token_max_ttl; present if written under this old name */
      max_ttl?: number
      /** Same as token_bound_cidrs; present if written under this old name */
      bound_cidrs?: readonly string[]
    }
  }
  /** Creates a user, or updates the given fields. */
  'POST auth/userpass/users/:username': {
    fields: {
      /** Username, case-insensitive */
      username: string
      /** Password; required for a new user */
      password?: string | undefined
      /** Not supported: leave it empty */
      password_hash?: string | undefined
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl?: Duration | undefined
      /** Maximum TTL including renewals, in seconds; 0 uses the maximum of the mount */
      token_max_ttl?: Duration | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /**
       * Period in seconds: each renewal resets the TTL to it, with no maximum except token_explicit_max_ttl; 0: not
       * periodic
       */
      token_period?: Duration | undefined
      /** Policies attached to issued tokens */
      token_policies?: readonly string[] | undefined
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens; empty: any address */
      token_bound_cidrs?: readonly string[] | undefined
      /** Do not attach the "default" policy */
      token_no_default_policy?: boolean | undefined
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses?: number | undefined
      /** Token type: service, batch, or default, which uses the setting of the mount */
      token_type?: string | undefined
      /** Deprecated: use token_policies */
      policies?: readonly string[] | undefined
      /** Deprecated: use token_ttl */
      ttl?: Duration | undefined
      /** Deprecated: use token_max_ttl */
      max_ttl?: Duration | undefined
      /** Deprecated: use token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Deletes a user; issued tokens stay valid until they expire, but cannot be renewed. */
  'DELETE auth/userpass/users/:username': {
    fields: {
      /** Username, case-insensitive */
      username: string
    }
    result: undefined
  }
  /** Changes the password of a user. */
  'POST auth/userpass/users/:username/password': {
    fields: {
      /** Username, case-insensitive */
      username: string
      /** New password */
      password?: string | undefined
      /** Not supported: leave it empty */
      password_hash?: string | undefined
    }
    result: undefined
  }
  /** Sets the policies of a user. */
  'POST auth/userpass/users/:username/policies': {
    fields: {
      /** Username, case-insensitive */
      username: string
      /** Policies attached to issued tokens */
      token_policies?: readonly string[] | undefined
      /** Deprecated: use token_policies */
      policies?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Logs in with username and password. */
  'POST auth/userpass/login/:username': {
    fields: {
      /** Username, case-insensitive */
      username: string
      /** Password */
      password?: string | undefined
    }
    result: Auth
  }
  /** Lists the names of all roles. */
  'LIST auth/approle/role': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Returns the login constraints and token settings of a role. */
  'GET auth/approle/role/:role_name': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl: number
      /** Maximum TTL in seconds; 0 uses the maximum of the mount */
      token_max_ttl: number
      /** Hard limit on the lifetime in seconds; 0: none */
      token_explicit_max_ttl: number
      /** Period in seconds; 0: not periodic */
      token_period: number
      /** Policies attached to issued tokens */
      token_policies: readonly string[]
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens */
      token_bound_cidrs: readonly string[]
      /** Do not attach the "default" policy */
      token_no_default_policy: boolean
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** Token type: default, service or batch */
      token_type: string
      /** Same as token_policies; present if written under this old name */
      policies?: readonly string[]
      /** Same as token_ttl; present if written under this old name */
      ttl?: number
      /** Same as token_max_ttl; present if written under this old name */
      max_ttl?: number
      /** Same as token_bound_cidrs; present if written under this old name */
      bound_cidrs?: readonly string[]
      /** Whether login requires a secret id */
      bind_secret_id: boolean
      /** Where logins may come from; null: any */
      secret_id_bound_cidrs: readonly string[] | null
      /** Number of logins that a new secret id allows; 0: unlimited */
      secret_id_num_uses: number
      /** Lifetime of a new secret id, in seconds; 0: it never expires */
      secret_id_ttl: number
      /** Minimum length of custom secret ids, in characters */
      custom_secret_id_min_length: number
      /** Always false */
      local_secret_ids: boolean
      /** token_period, if it was set by this old name */
      period?: number
    }
  }
  /** Creates a role, or updates the given fields. */
  'POST auth/approle/role/:role_name': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Custom role id; generated for a new role if unset */
      role_id?: string | undefined
      /** Requires a secret id at login; true if never set */
      bind_secret_id?: boolean | undefined
      /** IP addresses or CIDR blocks that logins may come from; empty: any */
      secret_id_bound_cidrs?: readonly string[] | undefined
      /** Deprecated: use secret_id_bound_cidrs */
      bound_cidr_list?: readonly string[] | undefined
      /** Number of logins that a new secret id allows; 0: unlimited */
      secret_id_num_uses?: number | undefined
      /** Lifetime of a new secret id; 0: it never expires */
      secret_id_ttl?: Duration | undefined
      /** Minimum length of custom secret ids, in characters; 8 if never set */
      custom_secret_id_min_length?: number | undefined
      /** Must be false: local secret ids are not supported */
      local_secret_ids?: boolean | undefined
      /** Deprecated: use token_period */
      period?: Duration | undefined
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl?: Duration | undefined
      /** Maximum TTL including renewals, in seconds; 0 uses the maximum of the mount */
      token_max_ttl?: Duration | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /**
       * Period in seconds: each renewal resets the TTL to it, with no maximum except token_explicit_max_ttl; 0: not
       * periodic
       */
      token_period?: Duration | undefined
      /** Policies attached to issued tokens */
      token_policies?: readonly string[] | undefined
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens; empty: any address */
      token_bound_cidrs?: readonly string[] | undefined
      /** Do not attach the "default" policy */
      token_no_default_policy?: boolean | undefined
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses?: number | undefined
      /** Token type: service, batch, or default, which uses the setting of the mount */
      token_type?: string | undefined
      /** Deprecated: use token_policies */
      policies?: readonly string[] | undefined
      /** Deprecated: use token_ttl */
      ttl?: Duration | undefined
      /** Deprecated: use token_max_ttl */
      max_ttl?: Duration | undefined
      /** Deprecated: use token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Deletes a role and its secret ids; issued tokens stay valid until they expire, but cannot be renewed. */
  'DELETE auth/approle/role/:role_name': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_policies of a role. */
  'GET auth/approle/role/:role_name/policies': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_policies of a role. */
  'POST auth/approle/role/:role_name/policies': {
    fields: {
      /** Policies attached to issued tokens */
      token_policies?: readonly string[] | undefined
      /** Deprecated: use token_policies */
      policies?: readonly string[] | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_policies of a role to its default. */
  'DELETE auth/approle/role/:role_name/policies': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns bind_secret_id of a role. */
  'GET auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets bind_secret_id of a role. */
  'POST auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** Requires a secret id at login; true if never set */
      bind_secret_id?: boolean | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets bind_secret_id of a role to its default. */
  'DELETE auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns secret_id_num_uses of a role. */
  'GET auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_num_uses of a role. */
  'POST auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Number of logins that a new secret id allows; 0: unlimited */
      secret_id_num_uses?: number | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets secret_id_num_uses of a role to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns secret_id_ttl of a role. */
  'GET auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_ttl of a role. */
  'POST auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Lifetime of a new secret id; 0: it never expires */
      secret_id_ttl?: Duration | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets secret_id_ttl of a role to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns secret_id_bound_cidrs of a role. */
  'GET auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_bound_cidrs of a role. */
  'POST auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** IP addresses or CIDR blocks that logins may come from; empty: any */
      secret_id_bound_cidrs?: readonly string[] | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets secret_id_bound_cidrs of a role to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_ttl of a role. */
  'GET auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_ttl of a role. */
  'POST auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl?: Duration | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_ttl of a role to its default. */
  'DELETE auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_max_ttl of a role. */
  'GET auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_max_ttl of a role. */
  'POST auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Maximum TTL including renewals, in seconds; 0 uses the maximum of the mount */
      token_max_ttl?: Duration | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_max_ttl of a role to its default. */
  'DELETE auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_num_uses of a role. */
  'GET auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_num_uses of a role. */
  'POST auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses?: number | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_num_uses of a role to its default. */
  'DELETE auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_period of a role. */
  'GET auth/approle/role/:role_name/period': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_period of a role. */
  'POST auth/approle/role/:role_name/period': {
    fields: {
      /**
       * Period in seconds: each renewal resets the TTL to it, with no maximum except token_explicit_max_ttl; 0: not
       * periodic
       */
      token_period?: Duration | undefined
      /** Deprecated: use token_period */
      period?: Duration | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_period of a role to its default. */
  'DELETE auth/approle/role/:role_name/period': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns token_bound_cidrs of a role. */
  'GET auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Current value */
      [name: string]: unknown
    }
  }
  /** Sets token_bound_cidrs of a role. */
  'POST auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens; empty: any address */
      token_bound_cidrs?: readonly string[] | undefined
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Resets token_bound_cidrs of a role to its default. */
  'DELETE auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: undefined
  }
  /** Returns the role id of a role. */
  'GET auth/approle/role/:role_name/role-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
    }
    result: {
      /** Role id, which identifies the role at login */
      role_id: string
    }
  }
  /** Sets a custom role id for a role. */
  'POST auth/approle/role/:role_name/role-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** New role id */
      role_id: string
    }
    result: undefined
  }
  /** Lists the accessors of the secret ids of a role. */
  'LIST auth/approle/role/:role_name/secret-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Generates a secret id. */
  'POST auth/approle/role/:role_name/secret-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Metadata for the tokens: a string that holds a JSON object of string values */
      metadata?: string | undefined
      /** IP addresses or CIDR blocks that logins may come from, within those of the role */
      cidr_list?: readonly string[] | undefined
      /** IP addresses or CIDR blocks that tokens may be used from, within those of the role */
      token_bound_cidrs?: readonly string[] | undefined
      /** Number of logins allowed, at most secret_id_num_uses of the role; 0 or unset: as the role */
      num_uses?: number | undefined
      /** Lifetime, at most secret_id_ttl of the role; 0 or unset: as the role */
      ttl?: Duration | undefined
    }
    result: {
      /** Secret id; shown only once */
      secret_id: string
      /** Accessor, which identifies the secret id without granting access */
      secret_id_accessor: string
      /** Lifetime in seconds; 0: it never expires */
      secret_id_ttl: number
      /** Number of logins allowed; 0: unlimited */
      secret_id_num_uses: number
    }
  }
  /** Registers a custom secret id. */
  'POST auth/approle/role/:role_name/custom-secret-id': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Metadata for the tokens: a string that holds a JSON object of string values */
      metadata?: string | undefined
      /** IP addresses or CIDR blocks that logins may come from, within those of the role */
      cidr_list?: readonly string[] | undefined
      /** IP addresses or CIDR blocks that tokens may be used from, within those of the role */
      token_bound_cidrs?: readonly string[] | undefined
      /** Number of logins allowed, at most secret_id_num_uses of the role; 0 or unset: as the role */
      num_uses?: number | undefined
      /** Lifetime, at most secret_id_ttl of the role; 0 or unset: as the role */
      ttl?: Duration | undefined
      /** Custom secret id */
      secret_id: string
    }
    result: {
      /** Secret id; shown only once */
      secret_id: string
      /** Accessor, which identifies the secret id without granting access */
      secret_id_accessor: string
      /** Lifetime in seconds; 0: it never expires */
      secret_id_ttl: number
      /** Number of logins allowed; 0: unlimited */
      secret_id_num_uses: number
    }
  }
  /** Returns the properties of a secret id. */
  'POST auth/approle/role/:role_name/secret-id/lookup': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Secret id */
      secret_id: string
    }
    result: {
      /** Accessor of the secret id */
      secret_id_accessor: string
      /** Creation time, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_updated_time: string
      /** Expiration time, RFC 3339; the year 1: never */
      expiration_time: string
      /** Lifetime in seconds; 0: it never expires */
      secret_id_ttl: number
      /** Number of logins left; 0: unlimited */
      secret_id_num_uses: number
      /** Metadata for the tokens */
      metadata: Readonly<Record<string, string>>
      /** Where logins may come from; empty: as set for the role */
      cidr_list: readonly string[]
      /** Where tokens may be used from; empty: as set for the role */
      token_bound_cidrs: readonly string[]
    } | undefined
  }
  /** Destroys a secret id; succeeds even if it does not exist. */
  'POST auth/approle/role/:role_name/secret-id/destroy': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Secret id */
      secret_id: string
    }
    result: undefined
  }
  /** Destroys a secret id; succeeds even if it does not exist. */
  'DELETE auth/approle/role/:role_name/secret-id/destroy': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Secret id */
      secret_id: string
    }
    result: undefined
  }
  /** Returns the properties of a secret id. */
  'POST auth/approle/role/:role_name/secret-id-accessor/lookup': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Accessor of the secret id */
      secret_id_accessor: string
    }
    result: {
      /** Accessor of the secret id */
      secret_id_accessor: string
      /** Creation time, RFC 3339 */
      creation_time: string
      /** Time of the last update, RFC 3339 */
      last_updated_time: string
      /** Expiration time, RFC 3339; the year 1: never */
      expiration_time: string
      /** Lifetime in seconds; 0: it never expires */
      secret_id_ttl: number
      /** Number of logins left; 0: unlimited */
      secret_id_num_uses: number
      /** Metadata for the tokens */
      metadata: Readonly<Record<string, string>>
      /** Where logins may come from; empty: as set for the role */
      cidr_list: readonly string[]
      /** Where tokens may be used from; empty: as set for the role */
      token_bound_cidrs: readonly string[]
    }
  }
  /** Destroys a secret id; succeeds even if it does not exist. */
  'POST auth/approle/role/:role_name/secret-id-accessor/destroy': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Accessor of the secret id */
      secret_id_accessor: string
    }
    result: undefined
  }
  /** Destroys a secret id; succeeds even if it does not exist. */
  'DELETE auth/approle/role/:role_name/secret-id-accessor/destroy': {
    fields: {
      /** Name of the role, case-insensitive */
      role_name: string
      /** Accessor of the secret id */
      secret_id_accessor: string
    }
    result: undefined
  }
  /** Logs in with role id and secret id. */
  'POST auth/approle/login': {
    fields: {
      /** Role id */
      role_id?: string | undefined
      /** Secret id; required if the role has bind_secret_id */
      secret_id?: string | undefined
    }
    result: Auth
  }
  /** Removes expired secret ids. */
  'POST auth/approle/tidy/secret-id': {
    fields: Record<never, never>
    result: undefined
  }
  /** Returns the configuration of the mount. */
  'GET auth/cloud/config': {
    fields: Record<never, never>
    result: {
      /** Tenant (directory) */
      tenant_id: string
      /** Required audience of tokens */
      resource: string
      /** Cloud, as written; empty if unset */
      environment: string
      /** Client id */
      client_id: string
      /** Client secret that an operator wrote; only for callers with sudo */
      client_secret?: string
      /** Lifetime of new secrets, in seconds; 0: 4380 h */
      root_password_ttl: number
      /** Expiration time of the secret that the server created, RFC 3339 */
      root_password_expiration_date?: string
      /** Retries, as written */
      max_retries: number
      /** Delay before the first retry, in nanoseconds, as written */
      retry_delay: number
      /** Longest delay between retries, in nanoseconds, as written */
      max_retry_delay: number
      /** Whether every login must give subscription_id and resource_group_name */
      require_resource_fields: boolean
      /** Whether tokens of version 2.0 are accepted */
      accept_v2_tokens: boolean
      /** Whether the directory is asked if a token cannot list all groups */
      check_group_overage: boolean
      /** Authentication to the cloud, as written; empty: the first credential that is configured */
      auth_type: string
      /** Audience of tokens that the server signs; empty: it signs none */
      identity_token_audience: string
      /** Lifetime of these tokens in seconds, as written; 0: 3600 */
      identity_token_ttl: number
      /** Rotation interval in seconds; 0: never */
      rotation_period: number
      /** Rotation schedule; empty: none */
      rotation_schedule: string
      /** Time after the scheduled time in which a rotation may start, in seconds; 0: no limit */
      rotation_window: number
      /** Always empty */
      rotation_policy: string
      /** Whether rotation_period and rotation_schedule are disabled */
      disable_automated_rotation: boolean
      /** Whether a new secret is waiting until the directory accepts it */
      rotation_pending: boolean
      /** Fields that are unset, and taken from the environment of the server */
      from_environment: readonly string[]
    }
  }
  /** Configures the mount, or updates the given fields. */
  'POST auth/cloud/config': {
    fields: {
      /** Tenant (directory) of the workloads: its GUID or one of its domain names */
      tenant_id?: string | undefined
      /** Required audience of tokens: must be exactly the value of their aud claim */
      resource?: string | undefined
      /**
       * Cloud: CloudPublicCloud, CloudUSGovernmentCloud, CloudChinaCloud, CloudGermanCloud, the vendor’s names for
       * these, or a cloud that the server’s configuration defines; the public cloud if unset
       */
      environment?: string | undefined
      /** Client id of the application or identity that calls the cloud; empty: the machine’s own identity */
      client_id?: string | undefined
      /** Client secret of the application */
      client_secret?: string | undefined
      /** Lifetime of secrets that rotate-root creates; 0: 4380 h */
      root_password_ttl?: Duration | undefined
      /** Retries of a failed call to the cloud, at most 10; 0: 3, negative: none */
      max_retries?: number | undefined
      /** Delay before the first retry; 0: 800 ms, negative: none. A login ends after 10 s */
      retry_delay?: Duration | undefined
      /** Longest delay between retries; 0: 60 s, negative: unlimited */
      max_retry_delay?: Duration | undefined
      /** Every login must give subscription_id and resource_group_name, whatever its role requires */
      require_resource_fields?: boolean | undefined
      /** Accepts tokens of version 2.0 as well */
      accept_v2_tokens?: boolean | undefined
      /**
       * Asks the directory about the bound_group_ids of the role if the caller has too many groups for its token to
       * list
       */
      check_group_overage?: boolean | undefined
      /** Interval at which the server rotates client_secret, at least 10 s; 0: never */
      rotation_period?: Duration | undefined
      /** Rotation schedule as in cron: minute, hour, day, month, weekday, in UTC; excludes rotation_period */
      rotation_schedule?: string | undefined
      /**
       * Time after a scheduled minute in which a rotation may start, at least 1 h; 0: any time. Needs rotation_schedule
       */
      rotation_window?: Duration | undefined
      /** Disables rotation_period and rotation_schedule */
      disable_automated_rotation?: boolean | undefined
      /**
       * How this server authenticates to the cloud: root_creds (client_secret), plugin_wif (a token that it signs), msi
       * (the identity of its machine), aks_wi or aks_wif (a workload identity token in a file). Empty uses the first
       * that is configured: client_secret, identity_token_audience, the token file, the machine identity
       */
      auth_type?: string | undefined
      /** Audience of the tokens that the server signs and presents instead of a secret; excludes client_secret */
      identity_token_audience?: string | undefined
      /** Lifetime of these tokens, at most 24 h; 0: 1 h */
      identity_token_ttl?: Duration | undefined
      /** Not supported: leave it empty */
      rotation_policy?: string | undefined
    }
    result: undefined
  }
  /** Deletes the configuration and its credential; roles are kept. */
  'DELETE auth/cloud/config': {
    fields: Record<never, never>
    result: undefined
  }
  /** Lists the names of all roles. */
  'LIST auth/cloud/role': {
    fields: {
      /** Returns only names that sort after this one */
      after?: string | undefined
      /** Maximum number of names to return; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Returns the bounds and token settings of a role. */
  'GET auth/cloud/role/:name': {
    fields: {
      /** Name of the role, case-insensitive */
      name: string
    }
    result: {
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl: number
      /** Maximum TTL in seconds; 0 uses the maximum of the mount */
      token_max_ttl: number
      /** Hard limit on the lifetime in seconds; 0: none */
      token_explicit_max_ttl: number
      /** Period in seconds; 0: not periodic */
      token_period: number
      /** Policies attached to issued tokens */
      token_policies: readonly string[]
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens */
      token_bound_cidrs: readonly string[]
      /** Do not attach the "default" policy */
      token_no_default_policy: boolean
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** Token type: default, service or batch */
      token_type: string
      /** Same as token_policies; present if written under this old name */
      policies?: readonly string[]
      /** Same as token_ttl; present if written under this old name */
      ttl?: number
      /** Same as token_max_ttl; present if written under this old name */
      max_ttl?: number
      /** Same as token_bound_cidrs; present if written under this old name */
      bound_cidrs?: readonly string[]
      /** token_period, if it was set by this old name */
      period?: number
      /** token_num_uses, if it was set by this old name */
      num_uses?: number
      /** Identities that may log in */
      bound_service_principal_ids: readonly string[]
      /** Directory groups; the identity must be in one of them */
      bound_group_ids: readonly string[]
      /** Allowed subscriptions of the resource */
      bound_subscription_ids: readonly string[]
      /** Allowed resource groups of the resource */
      bound_resource_groups: readonly string[]
      /** Allowed regions of the resource */
      bound_locations: readonly string[]
      /** Allowed scale sets of the virtual machine */
      bound_scale_sets: readonly string[]
    }
  }
  /** Creates a role, or updates the given fields. */
  'POST auth/cloud/role/:name': {
    fields: {
      /** Name of the role, case-insensitive */
      name: string
      /** Object ids of the identities that may log in; * alone: any */
      bound_service_principal_ids?: readonly string[] | undefined
      /** Object ids of directory groups; the identity must be in one of them; * alone: any */
      bound_group_ids?: readonly string[] | undefined
      /** Allowed subscriptions of the workload’s resource */
      bound_subscription_ids?: readonly string[] | undefined
      /** Allowed resource groups of the workload’s resource */
      bound_resource_groups?: readonly string[] | undefined
      /** Allowed regions of the workload’s resource */
      bound_locations?: readonly string[] | undefined
      /** Allowed scale sets of the workload’s virtual machine */
      bound_scale_sets?: readonly string[] | undefined
      /** TTL of issued tokens, in seconds; 0 uses the default of the mount */
      token_ttl?: Duration | undefined
      /** Maximum TTL including renewals, in seconds; 0 uses the maximum of the mount */
      token_max_ttl?: Duration | undefined
      /** Hard limit on the lifetime in seconds, regardless of renewals; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /**
       * Period in seconds: each renewal resets the TTL to it, with no maximum except token_explicit_max_ttl; 0: not
       * periodic
       */
      token_period?: Duration | undefined
      /** Policies attached to issued tokens */
      token_policies?: readonly string[] | undefined
      /** IP addresses or CIDR blocks allowed for logins and for using the tokens; empty: any address */
      token_bound_cidrs?: readonly string[] | undefined
      /** Do not attach the "default" policy */
      token_no_default_policy?: boolean | undefined
      /** Maximum number of uses of a token; 0: unlimited */
      token_num_uses?: number | undefined
      /** Token type: service, batch, or default, which uses the setting of the mount */
      token_type?: string | undefined
      /** Deprecated: use token_policies */
      policies?: readonly string[] | undefined
      /** Deprecated: use token_ttl */
      ttl?: Duration | undefined
      /** Deprecated: use token_max_ttl */
      max_ttl?: Duration | undefined
      /** Deprecated: use token_period */
      period?: Duration | undefined
      /** Deprecated: use token_num_uses */
      num_uses?: number | undefined
    }
    result: undefined
  }
  /** Deletes a role; issued tokens stay valid until they expire, but cannot be renewed. */
  'DELETE auth/cloud/role/:name': {
    fields: {
      /** Name of the role, case-insensitive */
      name: string
    }
    result: undefined
  }
  /** Logs in a workload with its cloud identity. */
  'POST auth/cloud/login': {
    fields: {
      /** Name of the role to log in with, case-insensitive */
      role?: string | undefined
      /** Identity token (JWT) that the cloud gave the workload */
      jwt?: string | undefined
      /** Subscription of the workload’s resource */
      subscription_id?: string | undefined
      /** Resource group of the workload’s resource */
      resource_group_name?: string | undefined
      /** Name of the workload’s virtual machine; ignored if vmss_name is given */
      vm_name?: string | undefined
      /** Name of the scale set of the workload’s virtual machine */
      vmss_name?: string | undefined
      /**
       * Id of any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; ignored if
       * vm_name or vmss_name is given
       */
      resource_id?: string | undefined
    }
    result: Auth
  }
  /** Shows which checks a login would pass or fail, without logging in. */
  'POST auth/cloud/explain': {
    fields: {
      /** Name of the role to log in with, case-insensitive */
      role?: string | undefined
      /** Identity token (JWT) that the cloud gave the workload */
      jwt?: string | undefined
      /** Subscription of the workload’s resource */
      subscription_id?: string | undefined
      /** Resource group of the workload’s resource */
      resource_group_name?: string | undefined
      /** Name of the workload’s virtual machine; ignored if vmss_name is given */
      vm_name?: string | undefined
      /** Name of the scale set of the workload’s virtual machine */
      vmss_name?: string | undefined
      /**
       * Id of any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; ignored if
       * vm_name or vmss_name is given
       */
      resource_id?: string | undefined
      /** Client address of the login; empty: that of this request */
      remote_address?: string | undefined
    }
    result: {
      /** Whether the login would succeed */
      allowed: boolean
      /** HTTP status that the login would return */
      status: number
      /** Reason for the refusal; empty if the login would succeed */
      reason: string
      /** Checks, in the order in which a login runs them */
      checks: readonly {
        /** Name of the check */
        name: string
        /** Verdict: passed, failed or not reached */
        verdict: string
        /** What the check found */
        detail: string
      }[]
    }
  }
  /** Creates a new client secret for the application, known only to this server. */
  'POST auth/cloud/rotate-root': {
    fields: Record<never, never>
    result: undefined
  }
}
