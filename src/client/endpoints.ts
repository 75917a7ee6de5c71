// Written by tools/generate.ts from the tables of endpoints: change the definitions, not this file.
/** Where engines are usually mounted that may be mounted elsewhere. */
export type Mount = 'transit'

/** A duration: seconds, or text such as `90m`, `1h30m`, `2d`. */
export type Duration = number | string

/** A token that was made, renewed or logged in for. */
export type Auth = {
  /** The token */
  client_token: string
  /** Names the token without giving access */
  accessor: string
  /** All policies of the token */
  policies: readonly string[]
  /** Those that the token itself carries */
  token_policies: readonly string[]
  /** Names and texts kept with the token */
  metadata: Readonly<Record<string, string>> | null
  /** Seconds left; 0: no end */
  lease_duration: number
  /** Can be renewed */
  renewable: boolean
  /** Identity; empty without one */
  entity_id: string
  /** service or batch */
  token_type: string
  /** Has no parent */
  orphan: boolean
  /** null: nothing else is asked for */
  mfa_requirement: unknown
  /** Requests left; 0: unlimited */
  num_uses: number
}

/** Every endpoint by method and path: the fields it takes, those in the path among them, and what it answers. */
export type Endpoints = {
  /** Whether the keys of this server were made. */
  'GET sys/init': {
    fields: Record<never, never>
    result: {
      /** Keys were made */
      initialized: boolean
    }
  }
  /** Makes the keys, their shares and the first root token; they are shown once. */
  'POST sys/init': {
    fields: {
      /** How many shares to split the unseal key into */
      secret_shares?: number | undefined
      /** How many of them are needed */
      secret_threshold?: number | undefined
      /** OpenPGP public keys in base64, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** OpenPGP public key in base64 that the root token is encrypted to */
      root_token_pgp_key?: string | undefined
      /** As secret_shares, where the server opens by itself */
      recovery_shares?: number | undefined
      /** As secret_threshold, there */
      recovery_threshold?: number | undefined
      /** As pgp_keys, there */
      recovery_pgp_keys?: readonly string[] | undefined
      /** Of old clients; not used */
      stored_shares?: number | undefined
      /** Name of the cluster; made up where empty */
      cluster_name?: string | undefined
    }
    result: {
      /** Shares in hexadecimal, or OpenPGP messages of that text */
      keys: readonly string[]
      /** The same shares or messages in base64 */
      keys_base64: readonly string[]
      /** Shares of the recovery key, where the server opens by itself */
      recovery_keys?: readonly string[]
      /** The same in base64 */
      recovery_keys_base64?: readonly string[]
      /** A root token without an end; base64 of an OpenPGP message where it was encrypted */
      root_token: string
    }
  }
  /** State of the seal. */
  'GET sys/seal-status': {
    fields: Record<never, never>
    result: {
      /** Kind of seal */
      type: string
      /** Keys were made */
      initialized: boolean
      /** The barrier is closed */
      sealed: boolean
      /** Shares needed */
      t: number
      /** Shares there are */
      n: number
      /** Shares given so far */
      progress: number
      /** Names the attempt under way */
      nonce: string
      /** Version that clients gate on */
      version: string
      /** Empty: not recorded */
      build_date: string
      /** Empty: not recorded */
      commit_date: string
      /** Seal migration under way */
      migration: boolean
      /** Auto-unseal with recovery keys */
      recovery_seal: boolean
      /** Kind of storage */
      storage_type: string
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** Id of the cluster, while unsealed */
      cluster_id?: string
    }
  }
  /** Gives one share of the unseal key; with enough of them the server opens. */
  'POST sys/unseal': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Forget the shares given so far */
      reset?: boolean | undefined
      /** Seal migration */
      migrate?: boolean | undefined
    }
    result: {
      /** Kind of seal */
      type: string
      /** Keys were made */
      initialized: boolean
      /** The barrier is closed */
      sealed: boolean
      /** Shares needed */
      t: number
      /** Shares there are */
      n: number
      /** Shares given so far */
      progress: number
      /** Names the attempt under way */
      nonce: string
      /** Version that clients gate on */
      version: string
      /** Empty: not recorded */
      build_date: string
      /** Empty: not recorded */
      commit_date: string
      /** Seal migration under way */
      migration: boolean
      /** Auto-unseal with recovery keys */
      recovery_seal: boolean
      /** Kind of storage */
      storage_type: string
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** Id of the cluster, while unsealed */
      cluster_id?: string
    }
  }
  /** Closes the barrier: nothing is served until it is unsealed again. */
  'POST sys/seal': {
    fields: Record<never, never>
    result: undefined
  }
  /** State of this node, in the status too: 200 active, 501 not initialised, 503 sealed. */
  'GET sys/health': {
    fields: {
      /** Status to answer when active */
      activecode?: number | undefined
      /** Status to answer when standby */
      standbycode?: number | undefined
      /** Status to answer when sealed */
      sealedcode?: number | undefined
      /** Status to answer when not initialised */
      uninitcode?: number | undefined
      /** Status to answer when a DR secondary */
      drsecondarycode?: number | undefined
      /** Status to answer when a performance standby */
      performancestandbycode?: number | undefined
      /** Status to answer when removed from its cluster */
      removedcode?: number | undefined
      /** Status to answer when unhealthy */
      haunhealthycode?: number | undefined
      /** A standby answers as an active node */
      standbyok?: boolean | undefined
      /** A performance standby answers as an active node */
      perfstandbyok?: boolean | undefined
    }
    result: {
      /** Keys were made */
      initialized: boolean
      /** The barrier is closed */
      sealed: boolean
      /** Another node is active */
      standby: boolean
      /** Serves reads for the active node */
      performance_standby: boolean
      /** disabled */
      replication_performance_mode: string
      /** disabled */
      replication_dr_mode: string
      /** Seconds since the epoch */
      server_time_utc: number
      /** Version that clients gate on */
      version: string
      /** All features are on */
      enterprise: boolean
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** Id of the cluster, while unsealed */
      cluster_id?: string
      /** 0: there is no active node to ask */
      echo_duration_ms: number
      /** 0: there is no active node to ask */
      clock_skew_ms: number
    }
  }
  /** Which node is active: with one node, this one. */
  'GET sys/leader': {
    fields: Record<never, never>
    result: {
      /** Several nodes share the storage */
      ha_enabled: boolean
      /** This node is the active one */
      is_self: boolean
      /** Since when; the zero time without HA */
      active_time: string
      /** API address of the active node */
      leader_address: string
      /** Cluster address of the active node */
      leader_cluster_address: string
      /** Serves reads for the active node */
      performance_standby: boolean
      /** 0: not a standby */
      performance_standby_last_remote_wal: number
    }
  }
  /** The data key that encrypts now. */
  'GET sys/key-status': {
    fields: Record<never, never>
    result: {
      /** Number of the key */
      term: number
      /** Since when it encrypts */
      install_time: string
      /** How often it did */
      encryptions: number
    }
  }
  /** Makes a new data key, which encrypts from now on; what older ones encrypted stays readable. */
  'POST sys/rotate': {
    fields: Record<never, never>
    result: undefined
  }
  /** Makes a new data key, which encrypts from now on; what older ones encrypted stays readable. */
  'POST sys/rotate/keyring': {
    fields: Record<never, never>
    result: undefined
  }
  /** When a new data key is made without being asked for. */
  'GET sys/rotate/config': {
    fields: Record<never, never>
    result: {
      /** It is */
      enabled: boolean
      /** Encryptions under one key */
      max_operations: number
      /** Seconds that a key is used; 0: no limit */
      interval: number
    }
  }
  /** Changes when a new data key is made without being asked for. */
  'POST sys/rotate/config': {
    fields: {
      /** Make one at all */
      enabled?: boolean | undefined
      /** Encryptions under one key, 1000000 to 3865470566 */
      max_operations?: number | undefined
      /** How long a key is used; 0: no limit, else at least 24 hours */
      interval?: Duration | undefined
    }
    result: undefined
  }
  /** How far the attempt to make new shares of the unseal key is. */
  'GET sys/rekey/init': {
    fields: Record<never, never>
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** New shares that will be needed */
      t: number
      /** New shares there will be */
      n: number
      /** Old shares given so far */
      progress: number
      /** Old shares needed */
      required: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup: boolean
      /** New shares are in force when enough of them were given back */
      verification_required: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to make new shares of a new unseal key; one at a time. */
  'POST sys/rekey/init': {
    fields: {
      /** How many new shares */
      secret_shares?: number | undefined
      /** How many of them will be needed */
      secret_threshold?: number | undefined
      /** OpenPGP public keys in base64, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Keep the encrypted shares in storage too */
      backup?: boolean | undefined
      /** Only in force when enough were given back */
      require_verification?: boolean | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** New shares that will be needed */
      t: number
      /** New shares there will be */
      n: number
      /** Old shares given so far */
      progress: number
      /** Old shares needed */
      required: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup: boolean
      /** New shares are in force when enough of them were given back */
      verification_required: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
    }
  }
  /** Drops the attempt, and new shares that were not given back. */
  'DELETE sys/rekey/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Gives one of the old shares; the answer to the last one that is needed has the new ones. */
  'POST sys/rekey/update': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce?: string
      /** An attempt is under way */
      started?: boolean
      /** New shares that will be needed */
      t?: number
      /** New shares there will be */
      n?: number
      /** Old shares given so far */
      progress?: number
      /** Old shares needed */
      required?: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup?: boolean
      /** New shares are in force when enough of them were given back */
      verification_required?: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
      /** The new shares were made */
      complete?: boolean
      /** New shares in hexadecimal, or OpenPGP messages */
      keys?: readonly string[]
      /** The same in base64 */
      keys_base64?: readonly string[]
    }
  }
  /** How many of the new shares were given back. */
  'GET sys/rekey/verify': {
    fields: Record<never, never>
    result: {
      /** Goes with each new share that is given back */
      nonce: string
      /** New shares wait to be given back */
      started: boolean
      /** New shares needed */
      t: number
      /** New shares there are */
      n: number
      /** New shares given back so far */
      progress: number
    }
  }
  /** Gives back one of the new shares; with the last that is needed they are in force. */
  'POST sys/rekey/verify': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Goes with each new share that is given back */
      nonce?: string
      /** New shares wait to be given back */
      started?: boolean
      /** New shares needed */
      t?: number
      /** New shares there are */
      n?: number
      /** New shares given back so far */
      progress?: number
      /** The new shares are in force */
      complete?: boolean
    }
  }
  /** Forgets which new shares were given back; they are asked for anew, under another nonce. */
  'DELETE sys/rekey/verify': {
    fields: Record<never, never>
    result: {
      /** Goes with each new share that is given back */
      nonce: string
      /** New shares wait to be given back */
      started: boolean
      /** New shares needed */
      t: number
      /** New shares there are */
      n: number
      /** New shares given back so far */
      progress: number
    }
  }
  /** The encrypted shares of the unseal key that were kept at the last rekey. */
  'GET sys/rekey/backup': {
    fields: Record<never, never>
    result: {
      /** Of the attempt that made them */
      nonce: string
      /** By fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** By fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Removes them. */
  'DELETE sys/rekey/backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** How far the attempt to make new shares of the recovery key is. */
  'GET sys/rekey-recovery-key/init': {
    fields: Record<never, never>
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** New shares that will be needed */
      t: number
      /** New shares there will be */
      n: number
      /** Old shares given so far */
      progress: number
      /** Old shares needed */
      required: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup: boolean
      /** New shares are in force when enough of them were given back */
      verification_required: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
    }
  }
  /** Starts an attempt to make new shares of a new recovery key; one at a time. */
  'POST sys/rekey-recovery-key/init': {
    fields: {
      /** How many new shares */
      secret_shares?: number | undefined
      /** How many of them will be needed */
      secret_threshold?: number | undefined
      /** OpenPGP public keys in base64, one for each share */
      pgp_keys?: readonly string[] | undefined
      /** Keep the encrypted shares in storage too */
      backup?: boolean | undefined
      /** Only in force when enough were given back */
      require_verification?: boolean | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** New shares that will be needed */
      t: number
      /** New shares there will be */
      n: number
      /** Old shares given so far */
      progress: number
      /** Old shares needed */
      required: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup: boolean
      /** New shares are in force when enough of them were given back */
      verification_required: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
    }
  }
  /** Drops the attempt, and new shares that were not given back. */
  'DELETE sys/rekey-recovery-key/init': {
    fields: Record<never, never>
    result: undefined
  }
  /** Gives one of the old shares; the answer to the last one that is needed has the new ones. */
  'POST sys/rekey-recovery-key/update': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce?: string
      /** An attempt is under way */
      started?: boolean
      /** New shares that will be needed */
      t?: number
      /** New shares there will be */
      n?: number
      /** Old shares given so far */
      progress?: number
      /** Old shares needed */
      required?: number
      /** Of the OpenPGP keys, in the order of the shares */
      pgp_fingerprints?: readonly string[] | null
      /** Encrypted new shares are kept in storage too */
      backup?: boolean
      /** New shares are in force when enough of them were given back */
      verification_required?: boolean
      /** Goes with each new share that is given back */
      verification_nonce?: string
      /** The new shares were made */
      complete?: boolean
      /** New shares in hexadecimal, or OpenPGP messages */
      keys?: readonly string[]
      /** The same in base64 */
      keys_base64?: readonly string[]
    }
  }
  /** How many of the new shares were given back. */
  'GET sys/rekey-recovery-key/verify': {
    fields: Record<never, never>
    result: {
      /** Goes with each new share that is given back */
      nonce: string
      /** New shares wait to be given back */
      started: boolean
      /** New shares needed */
      t: number
      /** New shares there are */
      n: number
      /** New shares given back so far */
      progress: number
    }
  }
  /** Gives back one of the new shares; with the last that is needed they are in force. */
  'POST sys/rekey-recovery-key/verify': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Goes with each new share that is given back */
      nonce?: string
      /** New shares wait to be given back */
      started?: boolean
      /** New shares needed */
      t?: number
      /** New shares there are */
      n?: number
      /** New shares given back so far */
      progress?: number
      /** The new shares are in force */
      complete?: boolean
    }
  }
  /** Forgets which new shares were given back; they are asked for anew, under another nonce. */
  'DELETE sys/rekey-recovery-key/verify': {
    fields: Record<never, never>
    result: {
      /** Goes with each new share that is given back */
      nonce: string
      /** New shares wait to be given back */
      started: boolean
      /** New shares needed */
      t: number
      /** New shares there are */
      n: number
      /** New shares given back so far */
      progress: number
    }
  }
  /** The encrypted shares of the recovery key that were kept at the last rekey. */
  'GET sys/rekey/recovery-key-backup': {
    fields: Record<never, never>
    result: {
      /** Of the attempt that made them */
      nonce: string
      /** By fingerprint */
      keys: Readonly<Record<string, readonly string[]>>
      /** By fingerprint */
      keys_base64: Readonly<Record<string, readonly string[]>>
    }
  }
  /** Removes them. */
  'DELETE sys/rekey/recovery-key-backup': {
    fields: Record<never, never>
    result: undefined
  }
  /** How far the attempt to make a root token is. */
  'GET sys/generate-root/attempt': {
    fields: Record<never, never>
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** Shares given so far */
      progress: number
      /** Shares needed */
      required: number
      /** The token was made */
      complete: boolean
      /** The token, encrypted; empty until then */
      encoded_token: string
      /** The same */
      encoded_root_token: string
      /** Of the key that it is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password, only in the answer to the start */
      otp: string
      /** How long a one-time password has to be */
      otp_length: number
    }
  }
  /** Starts an attempt to make a root token; one at a time, dropped when it is left alone for ten minutes. */
  'POST sys/generate-root/attempt': {
    fields: {
      /** One-time password that the token is XORed with; made here where neither it nor pgp_key is given */
      otp?: string | undefined
      /** OpenPGP public key in base64 that the token is encrypted to */
      pgp_key?: string | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** Shares given so far */
      progress: number
      /** Shares needed */
      required: number
      /** The token was made */
      complete: boolean
      /** The token, encrypted; empty until then */
      encoded_token: string
      /** The same */
      encoded_root_token: string
      /** Of the key that it is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password, only in the answer to the start */
      otp: string
      /** How long a one-time password has to be */
      otp_length: number
    }
  }
  /** Drops the attempt, if there is one. */
  'DELETE sys/generate-root/attempt': {
    fields: Record<never, never>
    result: undefined
  }
  /** Gives one share; the answer to the last one that is needed has the encrypted token. */
  'POST sys/generate-root/update': {
    fields: {
      /** One share, hexadecimal or base64 */
      key?: string | undefined
      /** Nonce of the attempt */
      nonce?: string | undefined
    }
    result: {
      /** Names the attempt; goes with each share */
      nonce: string
      /** An attempt is under way */
      started: boolean
      /** Shares given so far */
      progress: number
      /** Shares needed */
      required: number
      /** The token was made */
      complete: boolean
      /** The token, encrypted; empty until then */
      encoded_token: string
      /** The same */
      encoded_root_token: string
      /** Of the key that it is encrypted to; empty with a one-time password */
      pgp_fingerprint: string
      /** The one-time password, only in the answer to the start */
      otp: string
      /** How long a one-time password has to be */
      otp_length: number
    }
  }
  /** All mounts by path. */
  'GET sys/mounts': {
    fields: Record<never, never>
    result: {
      /** Mount */
      [name: string]: {
        /** Engine */
        type: string
        /** For people */
        description: string
        /** Names the mount */
        accessor: string
        /** Names its data */
        uuid: string
        /** Stays out of replication */
        local: boolean
        /** Wrapped by the seal as well */
        seal_wrap: boolean
        /** May use entropy of the seal */
        external_entropy_access: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Empty: built in */
        plugin_version: string
        /** Version of the engine */
        running_plugin_version: string
        /** Empty: built in */
        running_sha256: string
        /** supported */
        deprecation_status?: string
        /** Tuning */
        config: {
          /** Seconds; 0: of the system */
          default_lease_ttl: number
          /** Seconds; 0: of the system */
          max_lease_ttl: number
          /** Nothing is cached */
          force_no_cache: boolean
          /** unauth: listed to everybody */
          listing_visibility?: string
          /** Kind of token a login gives */
          token_type?: string
        }
      }
    }
  }
  /** One mount. */
  'GET sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Engine */
      type: string
      /** For people */
      description: string
      /** Names the mount */
      accessor: string
      /** Names its data */
      uuid: string
      /** Stays out of replication */
      local: boolean
      /** Wrapped by the seal as well */
      seal_wrap: boolean
      /** May use entropy of the seal */
      external_entropy_access: boolean
      /** Options of the engine */
      options: Readonly<Record<string, string>> | null
      /** Empty: built in */
      plugin_version: string
      /** Version of the engine */
      running_plugin_version: string
      /** Empty: built in */
      running_sha256: string
      /** supported */
      deprecation_status?: string
      /** Tuning */
      config: {
        /** Seconds; 0: of the system */
        default_lease_ttl: number
        /** Seconds; 0: of the system */
        max_lease_ttl: number
        /** Nothing is cached */
        force_no_cache: boolean
        /** unauth: listed to everybody */
        listing_visibility?: string
        /** Kind of token a login gives */
        token_type?: string
      }
    }
  }
  /** Mounts an engine at a path. */
  'POST sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
      /** Engine */
      type?: string | undefined
      /** For people */
      description?: string | undefined
      /** Keep out of replication */
      local?: boolean | undefined
      /** Wrap by the seal as well */
      seal_wrap?: boolean | undefined
      /** Use entropy of the seal */
      external_entropy_access?: boolean | undefined
      /** Options of the engine */
      options?: Readonly<Record<string, string>> | undefined
      /** Old way to name the engine */
      plugin_name?: string | undefined
      /** Only the built-in version is offered */
      plugin_version?: string | undefined
      /** Tuning */
      config?: {
        /** Lifetime of leases where nothing else is said */
        default_lease_ttl?: Duration | undefined
        /** Longest lifetime of leases */
        max_lease_ttl?: Duration | undefined
        /** Nothing is cached */
        force_no_cache?: boolean | undefined
        /** unauth: listed to callers without a token */
        listing_visibility?: '' | 'unauth' | 'hidden' | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[] | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[] | undefined
        /** Headers handed to the engine */
        passthrough_request_headers?: readonly string[] | undefined
        /** Headers the engine may set */
        allowed_response_headers?: readonly string[] | undefined
        /** Managed keys the engine may use */
        allowed_managed_keys?: readonly string[] | undefined
        /** Only the built-in version is offered */
        plugin_version?: string | undefined
      } | undefined
    }
    result: undefined
  }
  /** Removes a mount and all its data; one that is not there is no error. */
  'DELETE sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: undefined
  }
  /** Mounts that the caller can reach; without a token those that are listed to everybody. */
  'GET sys/internal/ui/mounts': {
    fields: Record<never, never>
    result: {
      /** Engines by path */
      secret: Readonly<Record<string, {
        /** Engine */
        type: string
        /** For people */
        description: string
        /** Names the mount */
        accessor: string
        /** Names its data */
        uuid: string
        /** Stays out of replication */
        local: boolean
        /** Wrapped by the seal as well */
        seal_wrap: boolean
        /** May use entropy of the seal */
        external_entropy_access: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Empty: built in */
        plugin_version: string
        /** Version of the engine */
        running_plugin_version: string
        /** Empty: built in */
        running_sha256: string
        /** supported */
        deprecation_status?: string
        /** Tuning */
        config: {
          /** Seconds; 0: of the system */
          default_lease_ttl: number
          /** Seconds; 0: of the system */
          max_lease_ttl: number
          /** Nothing is cached */
          force_no_cache: boolean
          /** unauth: listed to everybody */
          listing_visibility?: string
          /** Kind of token a login gives */
          token_type?: string
        }
      }>>
      /** Login methods by path */
      auth: Readonly<Record<string, {
        /** Engine */
        type: string
        /** For people */
        description: string
        /** Names the mount */
        accessor: string
        /** Names its data */
        uuid: string
        /** Stays out of replication */
        local: boolean
        /** Wrapped by the seal as well */
        seal_wrap: boolean
        /** May use entropy of the seal */
        external_entropy_access: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Empty: built in */
        plugin_version: string
        /** Version of the engine */
        running_plugin_version: string
        /** Empty: built in */
        running_sha256: string
        /** supported */
        deprecation_status?: string
        /** Tuning */
        config: {
          /** Seconds; 0: of the system */
          default_lease_ttl: number
          /** Seconds; 0: of the system */
          max_lease_ttl: number
          /** Nothing is cached */
          force_no_cache: boolean
          /** unauth: listed to everybody */
          listing_visibility?: string
          /** Kind of token a login gives */
          token_type?: string
        }
      }>>
    }
  }
  /** The mount that serves a path, to a caller who can reach it. */
  'GET sys/internal/ui/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** Engine */
      type: string
      /** For people */
      description: string
      /** Names the mount */
      accessor: string
      /** Names its data */
      uuid: string
      /** Stays out of replication */
      local: boolean
      /** Wrapped by the seal as well */
      seal_wrap: boolean
      /** May use entropy of the seal */
      external_entropy_access: boolean
      /** Options of the engine */
      options: Readonly<Record<string, string>> | null
      /** Empty: built in */
      plugin_version: string
      /** Version of the engine */
      running_plugin_version: string
      /** Empty: built in */
      running_sha256: string
      /** supported */
      deprecation_status?: string
      /** Tuning */
      config: {
        /** Seconds; 0: of the system */
        default_lease_ttl: number
        /** Seconds; 0: of the system */
        max_lease_ttl: number
        /** Nothing is cached */
        force_no_cache: boolean
        /** unauth: listed to everybody */
        listing_visibility?: string
        /** Kind of token a login gives */
        token_type?: string
      }
      /** Path of the mount */
      path: string
    }
  }
  /** Names of the policies. */
  'LIST sys/policies/acl': {
    fields: {
      /** Only names that sort after this one */
      after?: string | undefined
      /** At most so many names; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Text of a policy. */
  'GET sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
    }
    result: {
      /** Name */
      name: string
      /** HCL or JSON, as it was written */
      policy: string
    }
  }
  /** Creates or replaces a policy. */
  'POST sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
      /** HCL or JSON, or base64 of either */
      policy?: string | undefined
    }
    result: undefined
  }
  /** Removes a policy; one that is not there is no error. */
  'DELETE sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
    }
    result: undefined
  }
  /** Names of the policies, for old clients. */
  'GET sys/policy': {
    fields: {
      /** Only names that sort after this one */
      after?: string | undefined
      /** At most so many names; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** The same names */
      policies: readonly string[]
    }
  }
  /** Names of the policies, for old clients. */
  'LIST sys/policy': {
    fields: {
      /** Only names that sort after this one */
      after?: string | undefined
      /** At most so many names; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** The same names */
      policies: readonly string[]
    }
  }
  /** Text of a policy, for old clients. */
  'GET sys/policy/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
    }
    result: {
      /** Name */
      name: string
      /** HCL or JSON, as it was written */
      rules: string
    }
  }
  /** Creates or replaces a policy, for old clients. */
  'POST sys/policy/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
      /** HCL or JSON, or base64 of either */
      policy?: string | undefined
      /** Old name of policy */
      rules?: string | undefined
    }
    result: undefined
  }
  /** Removes a policy, for old clients. */
  'DELETE sys/policy/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
    }
    result: undefined
  }
  /** What a token may do on paths. */
  'POST sys/capabilities': {
    fields: {
      /** The token */
      token: string
      /** Paths to ask about */
      paths?: readonly string[] | undefined
      /** Old name of paths */
      path?: readonly string[] | undefined
    }
    result: {
      /** Where one path was asked about: what is granted on it */
      capabilities?: readonly string[]
      /** By path, sorted; root: everything, deny: nothing */
      [name: string]: unknown
    }
  }
  /** What the calling token may do on paths. */
  'POST sys/capabilities-self': {
    fields: {
      /** Ignored: the caller is meant */
      token?: string | undefined
      /** Paths to ask about */
      paths?: readonly string[] | undefined
      /** Old name of paths */
      path?: readonly string[] | undefined
    }
    result: {
      /** Where one path was asked about: what is granted on it */
      capabilities?: readonly string[]
      /** By path, sorted; root: everything, deny: nothing */
      [name: string]: unknown
    }
  }
  /** All endpoints as an OpenAPI document. */
  'GET sys/internal/specs/openapi': {
    fields: Record<never, never>
    result: {
      /** Version of OpenAPI */
      openapi: string
      /** Title, description, version and licence */
      info: unknown
      /** Where the paths begin */
      servers: readonly unknown[]
      /** Operations by path and method */
      paths: unknown
      /** Schemas that operations share */
      components: unknown
    }
  }
  /** Makes a token, a child of the caller. */
  'POST auth/token/create': {
    fields: {
      /** A text of your own as the token; needs sudo */
      id?: string | undefined
      /** Policies; the default is those of the caller */
      policies?: readonly string[] | undefined
      /** Names and texts kept with the token */
      meta?: Readonly<Record<string, string>> | undefined
      /** No parent: it does not fall with the caller; needs sudo */
      no_parent?: boolean | undefined
      /** Without the policy "default" */
      no_default_policy?: boolean | undefined
      /** Can be renewed */
      renewable?: boolean | undefined
      /** Lifetime */
      ttl?: Duration | undefined
      /** Old name of ttl */
      lease?: Duration | undefined
      /** Kind of token; only "service" is offered */
      type?: string | undefined
      /** Hard end after creation, whatever is renewed */
      explicit_max_ttl?: Duration | undefined
      /** For logs */
      display_name?: string | undefined
      /** Requests it may make; 0: unlimited */
      num_uses?: number | undefined
      /** Each renewal gives this long, without an end; needs sudo */
      period?: Duration | undefined
      /** Only through a token role, which is not offered yet */
      entity_alias?: string | undefined
    }
    result: Auth
  }
  /** Makes a token without a parent. */
  'POST auth/token/create-orphan': {
    fields: {
      /** A text of your own as the token; needs sudo */
      id?: string | undefined
      /** Policies; the default is those of the caller */
      policies?: readonly string[] | undefined
      /** Names and texts kept with the token */
      meta?: Readonly<Record<string, string>> | undefined
      /** No parent: it does not fall with the caller; needs sudo */
      no_parent?: boolean | undefined
      /** Without the policy "default" */
      no_default_policy?: boolean | undefined
      /** Can be renewed */
      renewable?: boolean | undefined
      /** Lifetime */
      ttl?: Duration | undefined
      /** Old name of ttl */
      lease?: Duration | undefined
      /** Kind of token; only "service" is offered */
      type?: string | undefined
      /** Hard end after creation, whatever is renewed */
      explicit_max_ttl?: Duration | undefined
      /** For logs */
      display_name?: string | undefined
      /** Requests it may make; 0: unlimited */
      num_uses?: number | undefined
      /** Each renewal gives this long, without an end; needs sudo */
      period?: Duration | undefined
      /** Only through a token role, which is not offered yet */
      entity_alias?: string | undefined
    }
    result: Auth
  }
  /** Shows what is known of a token. */
  'POST auth/token/lookup': {
    fields: {
      /** The token; the default is the caller */
      token?: string | undefined
    }
    result: {
      /** Names the token without giving access */
      accessor: string
      /** Seconds since the epoch */
      creation_time: number
      /** Lifetime given at creation, seconds; 0: none */
      creation_ttl: number
      /** For logs */
      display_name: string
      /** Identity; empty without one */
      entity_id: string
      /** RFC 3339; null: never */
      expire_time: string | null
      /** Hard end after creation, seconds; 0: none */
      explicit_max_ttl: number
      /** The token, where the caller gave it */
      id: string
      /** RFC 3339 */
      issue_time?: string
      /** RFC 3339 */
      last_renewal?: string
      /** Seconds since the epoch */
      last_renewal_time?: number
      /** Names and texts given at creation */
      meta: Readonly<Record<string, string>> | null
      /** Requests left; 0: unlimited */
      num_uses: number
      /** Has no parent */
      orphan: boolean
      /** Request path that made it */
      path: string
      /** Each renewal gives so many seconds */
      period?: number
      /** Policies, sorted */
      policies: readonly string[]
      /** Can be renewed */
      renewable?: boolean
      /** Seconds left; 0: no end */
      ttl: number
      /** service */
      type: string
    }
  }
  /** Shows what is known of the calling token. */
  'GET auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Names the token without giving access */
      accessor: string
      /** Seconds since the epoch */
      creation_time: number
      /** Lifetime given at creation, seconds; 0: none */
      creation_ttl: number
      /** For logs */
      display_name: string
      /** Identity; empty without one */
      entity_id: string
      /** RFC 3339; null: never */
      expire_time: string | null
      /** Hard end after creation, seconds; 0: none */
      explicit_max_ttl: number
      /** The token, where the caller gave it */
      id: string
      /** RFC 3339 */
      issue_time?: string
      /** RFC 3339 */
      last_renewal?: string
      /** Seconds since the epoch */
      last_renewal_time?: number
      /** Names and texts given at creation */
      meta: Readonly<Record<string, string>> | null
      /** Requests left; 0: unlimited */
      num_uses: number
      /** Has no parent */
      orphan: boolean
      /** Request path that made it */
      path: string
      /** Each renewal gives so many seconds */
      period?: number
      /** Policies, sorted */
      policies: readonly string[]
      /** Can be renewed */
      renewable?: boolean
      /** Seconds left; 0: no end */
      ttl: number
      /** service */
      type: string
    }
  }
  /** Shows what is known of the calling token. */
  'POST auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Names the token without giving access */
      accessor: string
      /** Seconds since the epoch */
      creation_time: number
      /** Lifetime given at creation, seconds; 0: none */
      creation_ttl: number
      /** For logs */
      display_name: string
      /** Identity; empty without one */
      entity_id: string
      /** RFC 3339; null: never */
      expire_time: string | null
      /** Hard end after creation, seconds; 0: none */
      explicit_max_ttl: number
      /** The token, where the caller gave it */
      id: string
      /** RFC 3339 */
      issue_time?: string
      /** RFC 3339 */
      last_renewal?: string
      /** Seconds since the epoch */
      last_renewal_time?: number
      /** Names and texts given at creation */
      meta: Readonly<Record<string, string>> | null
      /** Requests left; 0: unlimited */
      num_uses: number
      /** Has no parent */
      orphan: boolean
      /** Request path that made it */
      path: string
      /** Each renewal gives so many seconds */
      period?: number
      /** Policies, sorted */
      policies: readonly string[]
      /** Can be renewed */
      renewable?: boolean
      /** Seconds left; 0: no end */
      ttl: number
      /** service */
      type: string
    }
  }
  /** Shows what is known of the token with this accessor, without the token itself. */
  'POST auth/token/lookup-accessor': {
    fields: {
      /** The accessor */
      accessor: string
    }
    result: {
      /** Names the token without giving access */
      accessor: string
      /** Seconds since the epoch */
      creation_time: number
      /** Lifetime given at creation, seconds; 0: none */
      creation_ttl: number
      /** For logs */
      display_name: string
      /** Identity; empty without one */
      entity_id: string
      /** RFC 3339; null: never */
      expire_time: string | null
      /** Hard end after creation, seconds; 0: none */
      explicit_max_ttl: number
      /** The token, where the caller gave it */
      id: string
      /** RFC 3339 */
      issue_time?: string
      /** RFC 3339 */
      last_renewal?: string
      /** Seconds since the epoch */
      last_renewal_time?: number
      /** Names and texts given at creation */
      meta: Readonly<Record<string, string>> | null
      /** Requests left; 0: unlimited */
      num_uses: number
      /** Has no parent */
      orphan: boolean
      /** Request path that made it */
      path: string
      /** Each renewal gives so many seconds */
      period?: number
      /** Policies, sorted */
      policies: readonly string[]
      /** Can be renewed */
      renewable?: boolean
      /** Seconds left; 0: no end */
      ttl: number
      /** service */
      type: string
    }
  }
  /** Prolongs a token. */
  'POST auth/token/renew': {
    fields: {
      /** The token */
      token: string
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Prolongs the calling token. */
  'POST auth/token/renew-self': {
    fields: {
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Ends a token and all its children; one that is not there is no error. */
  'POST auth/token/revoke': {
    fields: {
      /** The token */
      token: string
    }
    result: undefined
  }
  /** Ends the calling token and all its children. */
  'POST auth/token/revoke-self': {
    fields: Record<never, never>
    result: undefined
  }
  /** Ends the token with this accessor and all its children. */
  'POST auth/token/revoke-accessor': {
    fields: {
      /** The accessor */
      accessor: string
    }
    result: undefined
  }
  /** Makes a named key. */
  'POST transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type?: string | undefined
      /** Each request gives a context, from which the key for it is derived */
      derived?: boolean | undefined
      /** Equal plaintexts under one context give equal ciphertexts; needs derived */
      convergent_encryption?: boolean | undefined
      /** Can be exported; stays so */
      exportable?: boolean | undefined
      /** Can be backed up in plaintext; stays so */
      allow_plaintext_backup?: boolean | undefined
      /** Time after which it is rotated, an hour or more; 0: only when asked to */
      auto_rotate_period?: Duration | undefined
      /** Bytes, only for types that come in several sizes */
      key_size?: number | undefined
      /** Accepted and not used */
      context?: string | undefined
      /** Name of a managed key, only for keys of type managed_key */
      managed_key_name?: string | undefined
      /** UUID of a managed key, only for keys of type managed_key */
      managed_key_id?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Each request gives a context, from which the key for it is derived */
      derived: boolean
      /** Can be exported */
      exportable: boolean
      /** Can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Can be deleted */
      deletion_allowed: boolean
      /** Was imported */
      imported_key: boolean
      /** Is marked as deleted */
      soft_deleted: boolean
      /** Encrypts */
      supports_encryption: boolean
      /** Decrypts */
      supports_decryption: boolean
      /** Signs */
      supports_signing: boolean
      /** Can be made with derivation */
      supports_derivation: boolean
      /** The version that encrypts */
      latest_version: number
      /** Older versions were deleted for good; 0: none was */
      min_available_version: number
      /** Older versions decrypt nothing */
      min_decryption_version: number
      /** Older versions encrypt nothing; 0: no bound is set */
      min_encryption_version: number
      /** Seconds after which it is rotated; 0: only when asked to */
      auto_rotate_period: number
      /** Creation times of the versions that can be used, by number */
      keys: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Describes a key: nothing secret. */
  'GET transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Context of a signing key with derivation; else not used */
      context?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Each request gives a context, from which the key for it is derived */
      derived: boolean
      /** Can be exported */
      exportable: boolean
      /** Can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Can be deleted */
      deletion_allowed: boolean
      /** Was imported */
      imported_key: boolean
      /** Is marked as deleted */
      soft_deleted: boolean
      /** Encrypts */
      supports_encryption: boolean
      /** Decrypts */
      supports_decryption: boolean
      /** Signs */
      supports_signing: boolean
      /** Can be made with derivation */
      supports_derivation: boolean
      /** The version that encrypts */
      latest_version: number
      /** Older versions were deleted for good; 0: none was */
      min_available_version: number
      /** Older versions decrypt nothing */
      min_decryption_version: number
      /** Older versions encrypt nothing; 0: no bound is set */
      min_encryption_version: number
      /** Seconds after which it is rotated; 0: only when asked to */
      auto_rotate_period: number
      /** Creation times of the versions that can be used, by number */
      keys: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Lists the names of all keys. */
  'LIST transit/keys': {
    fields: {
      /** Only names that come after this one, which need not exist */
      after?: string | undefined
      /** At most so many names; 0 or less: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Deletes a key with all its versions, where deletion_allowed is set. */
  'DELETE transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: undefined
  }
  /** Changes the settings of a key: those that are given, all or none. */
  'POST transit/keys/:name/config': {
    fields: {
      /** Name of the key */
      name: string
      /** Lowest version that decrypts */
      min_decryption_version?: number | undefined
      /** Lowest version that encrypts, not below min_decryption_version; 0: no bound */
      min_encryption_version?: number | undefined
      /** Whether it can be deleted */
      deletion_allowed?: boolean | undefined
      /** Whether it can be exported; stays true */
      exportable?: boolean | undefined
      /** Whether it can be backed up in plaintext; stays true */
      allow_plaintext_backup?: boolean | undefined
      /** Time after which it is rotated, an hour or more; 0: only when asked to */
      auto_rotate_period?: Duration | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Each request gives a context, from which the key for it is derived */
      derived: boolean
      /** Can be exported */
      exportable: boolean
      /** Can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Can be deleted */
      deletion_allowed: boolean
      /** Was imported */
      imported_key: boolean
      /** Is marked as deleted */
      soft_deleted: boolean
      /** Encrypts */
      supports_encryption: boolean
      /** Decrypts */
      supports_decryption: boolean
      /** Signs */
      supports_signing: boolean
      /** Can be made with derivation */
      supports_derivation: boolean
      /** The version that encrypts */
      latest_version: number
      /** Older versions were deleted for good; 0: none was */
      min_available_version: number
      /** Older versions decrypt nothing */
      min_decryption_version: number
      /** Older versions encrypt nothing; 0: no bound is set */
      min_encryption_version: number
      /** Seconds after which it is rotated; 0: only when asked to */
      auto_rotate_period: number
      /** Creation times of the versions that can be used, by number */
      keys: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Adds a version to a key, which encrypts from now on. */
  'POST transit/keys/:name/rotate': {
    fields: {
      /** Name of the key */
      name: string
      /** Name of a managed key, only for keys of type managed_key */
      managed_key_name?: string | undefined
      /** UUID of a managed key, only for keys of type managed_key */
      managed_key_id?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** Each request gives a context, from which the key for it is derived */
      derived: boolean
      /** Can be exported */
      exportable: boolean
      /** Can be backed up in plaintext */
      allow_plaintext_backup: boolean
      /** Can be deleted */
      deletion_allowed: boolean
      /** Was imported */
      imported_key: boolean
      /** Is marked as deleted */
      soft_deleted: boolean
      /** Encrypts */
      supports_encryption: boolean
      /** Decrypts */
      supports_decryption: boolean
      /** Signs */
      supports_signing: boolean
      /** Can be made with derivation */
      supports_derivation: boolean
      /** The version that encrypts */
      latest_version: number
      /** Older versions were deleted for good; 0: none was */
      min_available_version: number
      /** Older versions decrypt nothing */
      min_decryption_version: number
      /** Older versions encrypt nothing; 0: no bound is set */
      min_encryption_version: number
      /** Seconds after which it is rotated; 0: only when asked to */
      auto_rotate_period: number
      /** Creation times of the versions that can be used, by number */
      keys: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Encrypts data with a named key. */
  'POST transit/encrypt/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** What to encrypt, base64; it may be empty */
      plaintext?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** Authenticated with the message, not encrypted; base64 */
      associated_data?: string | undefined
      /** Never used: 12 bytes are accepted for convergent keys, which once needed them; base64 */
      nonce?: string | undefined
      /** Version of the key that encrypts; 0 is the latest */
      key_version?: number | undefined
      /** Items to encrypt instead of plaintext, each with its own options */
      batch_input?: readonly {
        /** As the field of the same name */
        plaintext: string
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        associated_data?: string | undefined
        /** As the field of the same name */
        nonce?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
        /** As the field of the same name */
        key_version?: number | undefined
      }[] | undefined
      /** Status for a batch of which some items fail and some do not, 200 to 599; else 400 */
      partial_failure_response_code?: number | undefined
      /** Type of the key, where the request makes it */
      type?: string | undefined
      /** Whether the key is convergent, where the request makes it */
      convergent_encryption?: boolean | undefined
    }
    result: {
      /** vault:vN: and base64 */
      ciphertext?: string
      /** Version of the key that encrypted */
      key_version?: number
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64 */
        ciphertext?: string
        /** Version of the key that encrypted */
        key_version?: number
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Decrypts what a named key encrypted. */
  'POST transit/decrypt/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** What encrypt gave */
      ciphertext?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** Authenticated with the message, not encrypted; base64 */
      associated_data?: string | undefined
      /** Never used: 12 bytes are accepted for convergent keys, which once needed them; base64 */
      nonce?: string | undefined
      /** Items to decrypt instead of ciphertext, each with its own options */
      batch_input?: readonly {
        /** As the field of the same name */
        ciphertext: string
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        associated_data?: string | undefined
        /** As the field of the same name */
        nonce?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
      /** Status for a batch of which some items fail and some do not, 200 to 599; else 400 */
      partial_failure_response_code?: number | undefined
    }
    result: {
      /** Base64; empty for an empty message, and in an item that failed */
      plaintext?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Base64; empty for an empty message, and in an item that failed */
        plaintext: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Encrypts what a named key encrypted anew, with its latest version. */
  'POST transit/rewrap/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** What encrypt gave */
      ciphertext?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** Authenticated with the message, not encrypted; base64 */
      associated_data?: string | undefined
      /** Never used: 12 bytes are accepted for convergent keys, which once needed them; base64 */
      nonce?: string | undefined
      /** Version of the key that encrypts; 0 is the latest */
      key_version?: number | undefined
      /** Items to rewrap instead of ciphertext, each with its own options */
      batch_input?: readonly {
        /** As the field of the same name */
        ciphertext?: string | undefined
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        associated_data?: string | undefined
        /** As the field of the same name */
        nonce?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
        /** As the field of the same name */
        key_version?: number | undefined
      }[] | undefined
      /** Status for a batch of which some items fail and some do not, 200 to 599; else 400 */
      partial_failure_response_code?: number | undefined
    }
    result: {
      /** vault:vN: and base64 */
      ciphertext?: string
      /** Version of the key that encrypted */
      key_version?: number
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64 */
        ciphertext?: string
        /** Version of the key that encrypted */
        key_version?: number
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Makes a data key and encrypts it with a named key. */
  'POST transit/datakey/:type/:name': {
    fields: {
      /** plaintext: the key in clear and encrypted; wrapped: only encrypted */
      type: string
      /** Name of the key */
      name: string
      /** Length of the key: 128, 256 or 512 */
      bits?: number | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** Authenticated with the message, not encrypted; base64 */
      associated_data?: string | undefined
      /** Never used: 12 bytes are accepted for convergent keys, which once needed them; base64 */
      nonce?: string | undefined
      /** Version of the key that encrypts; 0 is the latest */
      key_version?: number | undefined
    }
    result: {
      /** vault:vN: and base64 */
      ciphertext: string
      /** Version of the key that encrypted */
      key_version: number
      /** The data key, for type plaintext; base64 */
      plaintext?: string
    }
  }
  /** Shows the settings for all keys. */
  'GET transit/config/keys': {
    fields: Record<never, never>
    result: {
      /** Whether encrypt makes no keys */
      disable_upsert: boolean
    }
  }
  /** Changes the settings for all keys. */
  'POST transit/config/keys': {
    fields: {
      /** Whether encrypt makes no keys */
      disable_upsert?: boolean | undefined
    }
    result: {
      /** Whether encrypt makes no keys */
      disable_upsert: boolean
    }
  }
}
