// Written by tools/generate.ts from the tables of endpoints: change the definitions, not this file.
/** Where engines are usually mounted that may be mounted elsewhere. */
export type Mount = 'transit' | 'auth/userpass' | 'auth/approle' | 'auth/cloud'

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
  /** Those of its entity and groups */
  identity_policies?: readonly string[]
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
      /** The edition is not community */
      enterprise: boolean
      /** Licence */
      license: {
        /** none: there is no licence that could end */
        state: string
        /** Empty: it does not end */
        expiry_time: string
        /** It ended */
        terminated: boolean
      }
      /** Name of the cluster, while unsealed */
      cluster_name?: string
      /** Id of the cluster, while unsealed */
      cluster_id?: string
      /** 0: there is no active node to ask */
      echo_duration_ms: number
      /** 0: there is no active node to ask */
      clock_skew_ms: number
      /** 0: there is no primary */
      replication_primary_canary_age_ms: number
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
  /** How the server is protected by what is around it: machine, files, network, configuration. */
  'GET sys/hardening': {
    fields: Record<never, never>
    result: {
      /** What would be a warning keeps the server from starting (strict_hardening) */
      strict: boolean
      /** Checks that found nothing */
      ok: number
      /** Checks that found something */
      warnings: number
      /** Checks that found what would keep the server from starting */
      refusals: number
      /** Checks that could not tell */
      unknown: number
      /** What the checks are about */
      server: {
        /** When this process started, RFC 3339 */
        started_at: string
        /** Threads that serve */
        threads: number
        /** Size of the store */
        stored_bytes: number
        /** Audit devices that are on */
        audit_devices: readonly string[]
        /** Where it listens, as the configuration says it */
        listeners: readonly {
          /** host:port */
          address: string
          /** Speaks TLS */
          tls: boolean
        }[]
      }
      /** By group */
      checks: readonly {
        /** As in the security model: B-01 */
        id: string
        /** What should be */
        title: string
        /** process, runtime, files, network, storage, secrets or accountability */
        group: string
        /** ok, warn, refuse or unknown */
        verdict: string
        /** What was found, and what to do */
        message: string
      }[]
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
  /** How far the attempt to make new shares of the unseal key is. */
  'GET sys/rotate/root/init': {
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
  /** Starts an attempt to make new shares of a new unseal key; one at a time. */
  'POST sys/rotate/root/init': {
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
  /** Drops the attempt, and new shares that were not given back. */
  'DELETE sys/rotate/root/init': {
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
  /** Gives one of the old shares; the answer to the last one that is needed has the new ones. */
  'POST sys/rotate/root/update': {
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
  /** How many of the new shares were given back. */
  'GET sys/rotate/root/verify': {
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
  /** Gives back one of the new shares; with the last that is needed they are in force. */
  'POST sys/rotate/root/verify': {
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
  /** Forgets which new shares were given back; they are asked for anew, under another nonce. */
  'DELETE sys/rotate/root/verify': {
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
  /** The encrypted shares of the unseal key that were kept at the last rekey. */
  'GET sys/rotate/root/backup': {
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
  'DELETE sys/rotate/root/backup': {
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
  /** How far the attempt to make new shares of the recovery key is. */
  'GET sys/rotate/recovery/init': {
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
  /** Starts an attempt to make new shares of a new recovery key; one at a time. */
  'POST sys/rotate/recovery/init': {
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
  /** Drops the attempt, and new shares that were not given back. */
  'DELETE sys/rotate/recovery/init': {
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
  /** Gives one of the old shares; the answer to the last one that is needed has the new ones. */
  'POST sys/rotate/recovery/update': {
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
  /** How many of the new shares were given back. */
  'GET sys/rotate/recovery/verify': {
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
  /** Gives back one of the new shares; with the last that is needed they are in force. */
  'POST sys/rotate/recovery/verify': {
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
  /** Forgets which new shares were given back; they are asked for anew, under another nonce. */
  'DELETE sys/rotate/recovery/verify': {
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
  /** The encrypted shares of the recovery key that were kept at the last rekey. */
  'GET sys/rotate/recovery/backup': {
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
  'DELETE sys/rotate/recovery/backup': {
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
  /** How far the attempt to make a root token is. */
  'GET sys/generate-root-token/attempt': {
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
  /** Starts an attempt to make a root token; one at a time, dropped when it is left alone for ten minutes. */
  'POST sys/generate-root-token/attempt': {
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
  /** Drops the attempt, if there is one. */
  'DELETE sys/generate-root-token/attempt': {
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
  /** Gives one share; the answer to the last one that is needed has the encrypted token. */
  'POST sys/generate-root-token/update': {
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
  /** All engines by path. */
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
          /** Fields of requests that audit shows in clear */
          audit_non_hmac_request_keys?: readonly string[]
          /** Fields of answers that audit shows in clear */
          audit_non_hmac_response_keys?: readonly string[]
          /** Managed keys that the engine may use */
          allowed_managed_keys?: readonly string[]
          /** Kind of token a login gives */
          token_type?: string
          /** What guessing leads to */
          user_lockout_config?: {
            /** Failures until a name is locked */
            lockout_threshold: number
            /** Seconds */
            lockout_duration: number
            /** Seconds without a failure after which the count begins anew */
            lockout_counter_reset: number
            /** Names are never locked */
            lockout_disable: boolean
          }
          /** Those of a request that its engine gets to see */
          passthrough_request_headers?: readonly string[]
          /** Those of an answer that its engine may set */
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
        /** Fields of requests that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[]
        /** Fields of answers that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[]
        /** Managed keys that the engine may use */
        allowed_managed_keys?: readonly string[]
        /** Kind of token a login gives */
        token_type?: string
        /** What guessing leads to */
        user_lockout_config?: {
          /** Failures until a name is locked */
          lockout_threshold: number
          /** Seconds */
          lockout_duration: number
          /** Seconds without a failure after which the count begins anew */
          lockout_counter_reset: number
          /** Names are never locked */
          lockout_disable: boolean
        }
        /** Those of a request that its engine gets to see */
        passthrough_request_headers?: readonly string[]
        /** Those of an answer that its engine may set */
        allowed_response_headers?: readonly string[]
      }
    }
  }
  /** Mounts an engine at a path. */
  'POST sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
      /** Kind of mount */
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
        /** Lifetime where nothing else is said; 0: as the system has it */
        default_lease_ttl?: Duration | undefined
        /** Longest lifetime; 0: as the system has it */
        max_lease_ttl?: Duration | undefined
        /** Nothing is cached */
        force_no_cache?: boolean | undefined
        /** unauth: listed to callers without a token */
        listing_visibility?: '' | 'unauth' | 'hidden' | undefined
        /** Of a login mount: service, batch, default-service or default-batch */
        token_type?: string | undefined
        /** Of a login mount: what guessing leads to */
        user_lockout_config?: {
          /** Failures until a name is locked */
          lockout_threshold?: number | undefined
          /** How long it is locked */
          lockout_duration?: Duration | undefined
          /** Without a failure for so long the count begins anew */
          lockout_counter_reset_duration?: Duration | undefined
          /** Names are never locked; false after true: as before, with the threshold of then */
          lockout_disable?: boolean | undefined
        } | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[] | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[] | undefined
        /** Headers of requests that the engine gets to see; none that gives access */
        passthrough_request_headers?: readonly string[] | undefined
        /** Headers of answers that the engine may set; none of the server itself */
        allowed_response_headers?: readonly string[] | undefined
        /** Names of managed keys that the engine may use */
        allowed_managed_keys?: readonly string[] | undefined
        /** Only the built-in version is offered */
        plugin_version?: string | undefined
      } | undefined
    }
    result: undefined
  }
  /** Removes an engine and all its data; one that is not there is no error. */
  'DELETE sys/mounts/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: undefined
  }
  /** What is tuned of an engine. */
  'GET sys/mounts/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** For people */
      description: string
      /** Seconds, as it is in force */
      default_lease_ttl: number
      /** Seconds, as it is in force */
      max_lease_ttl: number
      /** Nothing is cached */
      force_no_cache: boolean
      /** unauth: listed to everybody */
      listing_visibility?: string
      /** Fields of requests that audit shows in clear */
      audit_non_hmac_request_keys?: readonly string[]
      /** Fields of answers that audit shows in clear */
      audit_non_hmac_response_keys?: readonly string[]
      /** Managed keys that the engine may use */
      allowed_managed_keys?: readonly string[]
      /** Those of a request that its engine gets to see */
      passthrough_request_headers?: readonly string[]
      /** Those of an answer that its engine may set */
      allowed_response_headers?: readonly string[]
      /** Options of the engine */
      options?: Readonly<Record<string, string>> | null
      /** Kind of token a login gives */
      token_type?: string
      /** What guessing leads to */
      user_lockout_config?: {
        /** Failures until a name is locked */
        lockout_threshold: number
        /** Seconds */
        lockout_duration: number
        /** Seconds without a failure after which the count begins anew */
        lockout_counter_reset: number
        /** Names are never locked */
        lockout_disable: boolean
      }
    }
  }
  /** Tunes an engine: changes what is sent. */
  'POST sys/mounts/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
      /** For people */
      description?: string | undefined
      /** Options of the engine */
      options?: Readonly<Record<string, string>> | undefined
      /** Lifetime where nothing else is said; 0: as the system has it */
      default_lease_ttl?: Duration | undefined
      /** Longest lifetime; 0: as the system has it */
      max_lease_ttl?: Duration | undefined
      /** Nothing is cached */
      force_no_cache?: boolean | undefined
      /** unauth: listed to callers without a token */
      listing_visibility?: '' | 'unauth' | 'hidden' | undefined
      /** Of a login mount: service, batch, default-service or default-batch */
      token_type?: string | undefined
      /** Of a login mount: what guessing leads to */
      user_lockout_config?: {
        /** Failures until a name is locked */
        lockout_threshold?: number | undefined
        /** How long it is locked */
        lockout_duration?: Duration | undefined
        /** Without a failure for so long the count begins anew */
        lockout_counter_reset_duration?: Duration | undefined
        /** Names are never locked; false after true: as before, with the threshold of then */
        lockout_disable?: boolean | undefined
      } | undefined
      /** Fields that audit shows in clear */
      audit_non_hmac_request_keys?: readonly string[] | undefined
      /** Fields that audit shows in clear */
      audit_non_hmac_response_keys?: readonly string[] | undefined
      /** Headers of requests that the engine gets to see; none that gives access */
      passthrough_request_headers?: readonly string[] | undefined
      /** Headers of answers that the engine may set; none of the server itself */
      allowed_response_headers?: readonly string[] | undefined
      /** Names of managed keys that the engine may use */
      allowed_managed_keys?: readonly string[] | undefined
      /** Only the built-in version is offered */
      plugin_version?: string | undefined
    }
    result: undefined
  }
  /** All login methods by path. */
  'GET sys/auth': {
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
          /** Fields of requests that audit shows in clear */
          audit_non_hmac_request_keys?: readonly string[]
          /** Fields of answers that audit shows in clear */
          audit_non_hmac_response_keys?: readonly string[]
          /** Managed keys that the engine may use */
          allowed_managed_keys?: readonly string[]
          /** Kind of token a login gives */
          token_type?: string
          /** What guessing leads to */
          user_lockout_config?: {
            /** Failures until a name is locked */
            lockout_threshold: number
            /** Seconds */
            lockout_duration: number
            /** Seconds without a failure after which the count begins anew */
            lockout_counter_reset: number
            /** Names are never locked */
            lockout_disable: boolean
          }
          /** Those of a request that its engine gets to see */
          passthrough_request_headers?: readonly string[]
          /** Those of an answer that its engine may set */
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
        /** Fields of requests that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[]
        /** Fields of answers that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[]
        /** Managed keys that the engine may use */
        allowed_managed_keys?: readonly string[]
        /** Kind of token a login gives */
        token_type?: string
        /** What guessing leads to */
        user_lockout_config?: {
          /** Failures until a name is locked */
          lockout_threshold: number
          /** Seconds */
          lockout_duration: number
          /** Seconds without a failure after which the count begins anew */
          lockout_counter_reset: number
          /** Names are never locked */
          lockout_disable: boolean
        }
        /** Those of a request that its engine gets to see */
        passthrough_request_headers?: readonly string[]
        /** Those of an answer that its engine may set */
        allowed_response_headers?: readonly string[]
      }
    }
  }
  /** Mounts a login method at a path. */
  'POST sys/auth/:path...': {
    fields: {
      /** Path of the mount */
      path: string
      /** Kind of mount */
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
        /** Lifetime where nothing else is said; 0: as the system has it */
        default_lease_ttl?: Duration | undefined
        /** Longest lifetime; 0: as the system has it */
        max_lease_ttl?: Duration | undefined
        /** Nothing is cached */
        force_no_cache?: boolean | undefined
        /** unauth: listed to callers without a token */
        listing_visibility?: '' | 'unauth' | 'hidden' | undefined
        /** Of a login mount: service, batch, default-service or default-batch */
        token_type?: string | undefined
        /** Of a login mount: what guessing leads to */
        user_lockout_config?: {
          /** Failures until a name is locked */
          lockout_threshold?: number | undefined
          /** How long it is locked */
          lockout_duration?: Duration | undefined
          /** Without a failure for so long the count begins anew */
          lockout_counter_reset_duration?: Duration | undefined
          /** Names are never locked; false after true: as before, with the threshold of then */
          lockout_disable?: boolean | undefined
        } | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[] | undefined
        /** Fields that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[] | undefined
        /** Headers of requests that the engine gets to see; none that gives access */
        passthrough_request_headers?: readonly string[] | undefined
        /** Headers of answers that the engine may set; none of the server itself */
        allowed_response_headers?: readonly string[] | undefined
        /** Names of managed keys that the engine may use */
        allowed_managed_keys?: readonly string[] | undefined
        /** Only the built-in version is offered */
        plugin_version?: string | undefined
      } | undefined
    }
    result: undefined
  }
  /** Removes a login method and all its data; one that is not there is no error. */
  'DELETE sys/auth/:path...': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: undefined
  }
  /** What is tuned of a login method. */
  'GET sys/auth/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
    }
    result: {
      /** For people */
      description: string
      /** Seconds, as it is in force */
      default_lease_ttl: number
      /** Seconds, as it is in force */
      max_lease_ttl: number
      /** Nothing is cached */
      force_no_cache: boolean
      /** unauth: listed to everybody */
      listing_visibility?: string
      /** Fields of requests that audit shows in clear */
      audit_non_hmac_request_keys?: readonly string[]
      /** Fields of answers that audit shows in clear */
      audit_non_hmac_response_keys?: readonly string[]
      /** Managed keys that the engine may use */
      allowed_managed_keys?: readonly string[]
      /** Those of a request that its engine gets to see */
      passthrough_request_headers?: readonly string[]
      /** Those of an answer that its engine may set */
      allowed_response_headers?: readonly string[]
      /** Options of the engine */
      options?: Readonly<Record<string, string>> | null
      /** Kind of token a login gives */
      token_type?: string
      /** What guessing leads to */
      user_lockout_config?: {
        /** Failures until a name is locked */
        lockout_threshold: number
        /** Seconds */
        lockout_duration: number
        /** Seconds without a failure after which the count begins anew */
        lockout_counter_reset: number
        /** Names are never locked */
        lockout_disable: boolean
      }
    }
  }
  /** Tunes a login method: changes what is sent. */
  'POST sys/auth/:path.../tune': {
    fields: {
      /** Path of the mount */
      path: string
      /** For people */
      description?: string | undefined
      /** Options of the engine */
      options?: Readonly<Record<string, string>> | undefined
      /** Lifetime where nothing else is said; 0: as the system has it */
      default_lease_ttl?: Duration | undefined
      /** Longest lifetime; 0: as the system has it */
      max_lease_ttl?: Duration | undefined
      /** Nothing is cached */
      force_no_cache?: boolean | undefined
      /** unauth: listed to callers without a token */
      listing_visibility?: '' | 'unauth' | 'hidden' | undefined
      /** Of a login mount: service, batch, default-service or default-batch */
      token_type?: string | undefined
      /** Of a login mount: what guessing leads to */
      user_lockout_config?: {
        /** Failures until a name is locked */
        lockout_threshold?: number | undefined
        /** How long it is locked */
        lockout_duration?: Duration | undefined
        /** Without a failure for so long the count begins anew */
        lockout_counter_reset_duration?: Duration | undefined
        /** Names are never locked; false after true: as before, with the threshold of then */
        lockout_disable?: boolean | undefined
      } | undefined
      /** Fields that audit shows in clear */
      audit_non_hmac_request_keys?: readonly string[] | undefined
      /** Fields that audit shows in clear */
      audit_non_hmac_response_keys?: readonly string[] | undefined
      /** Headers of requests that the engine gets to see; none that gives access */
      passthrough_request_headers?: readonly string[] | undefined
      /** Headers of answers that the engine may set; none of the server itself */
      allowed_response_headers?: readonly string[] | undefined
      /** Names of managed keys that the engine may use */
      allowed_managed_keys?: readonly string[] | undefined
      /** Only the built-in version is offered */
      plugin_version?: string | undefined
    }
    result: undefined
  }
  /** Gives a mount, or a login method (both paths with auth/ before them), another path; its data stay. */
  'POST sys/remount': {
    fields: {
      /** Path of the mount */
      from: string
      /** Its new path */
      to: string
    }
    result: {
      /** To ask for the status with */
      migration_id: string
    }
  }
  /** How far the move of a mount is. */
  'GET sys/remount/status/:id': {
    fields: {
      /** The migration_id */
      id: string
    }
    result: {
      /** As asked */
      migration_id: string
      /** The move */
      migration_info: {
        /** Path before */
        source_mount: string
        /** Path after */
        target_mount: string
        /** success */
        status: string
      }
    }
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
        accessor?: string
        /** Names its data */
        uuid?: string
        /** Stays out of replication */
        local?: boolean
        /** Wrapped by the seal as well */
        seal_wrap?: boolean
        /** May use entropy of the seal */
        external_entropy_access?: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Empty: built in */
        plugin_version?: string
        /** Version of the engine */
        running_plugin_version?: string
        /** Empty: built in */
        running_sha256?: string
        /** supported */
        deprecation_status?: string
        /** Tuning */
        config?: {
          /** Seconds; 0: of the system */
          default_lease_ttl: number
          /** Seconds; 0: of the system */
          max_lease_ttl: number
          /** Nothing is cached */
          force_no_cache: boolean
          /** unauth: listed to everybody */
          listing_visibility?: string
          /** Fields of requests that audit shows in clear */
          audit_non_hmac_request_keys?: readonly string[]
          /** Fields of answers that audit shows in clear */
          audit_non_hmac_response_keys?: readonly string[]
          /** Managed keys that the engine may use */
          allowed_managed_keys?: readonly string[]
          /** Kind of token a login gives */
          token_type?: string
          /** What guessing leads to */
          user_lockout_config?: {
            /** Failures until a name is locked */
            lockout_threshold: number
            /** Seconds */
            lockout_duration: number
            /** Seconds without a failure after which the count begins anew */
            lockout_counter_reset: number
            /** Names are never locked */
            lockout_disable: boolean
          }
          /** Those of a request that its engine gets to see */
          passthrough_request_headers?: readonly string[]
          /** Those of an answer that its engine may set */
          allowed_response_headers?: readonly string[]
        }
      }>>
      /** Login methods by path */
      auth: Readonly<Record<string, {
        /** Engine */
        type: string
        /** For people */
        description: string
        /** Names the mount */
        accessor?: string
        /** Names its data */
        uuid?: string
        /** Stays out of replication */
        local?: boolean
        /** Wrapped by the seal as well */
        seal_wrap?: boolean
        /** May use entropy of the seal */
        external_entropy_access?: boolean
        /** Options of the engine */
        options: Readonly<Record<string, string>> | null
        /** Empty: built in */
        plugin_version?: string
        /** Version of the engine */
        running_plugin_version?: string
        /** Empty: built in */
        running_sha256?: string
        /** supported */
        deprecation_status?: string
        /** Tuning */
        config?: {
          /** Seconds; 0: of the system */
          default_lease_ttl: number
          /** Seconds; 0: of the system */
          max_lease_ttl: number
          /** Nothing is cached */
          force_no_cache: boolean
          /** unauth: listed to everybody */
          listing_visibility?: string
          /** Fields of requests that audit shows in clear */
          audit_non_hmac_request_keys?: readonly string[]
          /** Fields of answers that audit shows in clear */
          audit_non_hmac_response_keys?: readonly string[]
          /** Managed keys that the engine may use */
          allowed_managed_keys?: readonly string[]
          /** Kind of token a login gives */
          token_type?: string
          /** What guessing leads to */
          user_lockout_config?: {
            /** Failures until a name is locked */
            lockout_threshold: number
            /** Seconds */
            lockout_duration: number
            /** Seconds without a failure after which the count begins anew */
            lockout_counter_reset: number
            /** Names are never locked */
            lockout_disable: boolean
          }
          /** Those of a request that its engine gets to see */
          passthrough_request_headers?: readonly string[]
          /** Those of an answer that its engine may set */
          allowed_response_headers?: readonly string[]
        }
      }>>
    }
  }
  /** The mount that serves a path, to a caller who can reach it. */
  'GET sys/internal/ui/mounts/:path...': {
    fields: {
      /** Any path */
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
        /** Fields of requests that audit shows in clear */
        audit_non_hmac_request_keys?: readonly string[]
        /** Fields of answers that audit shows in clear */
        audit_non_hmac_response_keys?: readonly string[]
        /** Managed keys that the engine may use */
        allowed_managed_keys?: readonly string[]
        /** Kind of token a login gives */
        token_type?: string
        /** What guessing leads to */
        user_lockout_config?: {
          /** Failures until a name is locked */
          lockout_threshold: number
          /** Seconds */
          lockout_duration: number
          /** Seconds without a failure after which the count begins anew */
          lockout_counter_reset: number
          /** Names are never locked */
          lockout_disable: boolean
        }
        /** Those of a request that its engine gets to see */
        passthrough_request_headers?: readonly string[]
        /** Those of an answer that its engine may set */
        allowed_response_headers?: readonly string[]
      }
      /** Path of the mount */
      path: string
    }
  }
  /** Namespaces below this one: none. */
  'GET sys/internal/ui/namespaces': {
    fields: Record<never, never>
    result: {
      /** Only the root namespace exists */
      keys: readonly string[]
    }
  }
  /** Version that clients gate on. */
  'GET sys/internal/ui/version': {
    fields: Record<never, never>
    result: {
      /** Version */
      version: string
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
      /** Grows by one with each write; 0: built in, or written before versions were counted */
      version: number
      /** When it was written (RFC 3339), where that is known */
      modified?: string
      /** A write must name the version that it replaces */
      cas_required: boolean
      /** When the policy ends (RFC 3339), where it does */
      expiration?: string
    }
  }
  /** Creates or replaces a policy. */
  'POST sys/policies/acl/:name...': {
    fields: {
      /** Name of the policy; kept in lower case */
      name: string
      /** HCL or JSON, or base64 of either */
      policy?: string | undefined
      /** The version that is replaced, -1 where none must be there; else nothing is written */
      cas?: number | undefined
      /** Later writes must give cas; where it is missing: as before */
      cas_required?: boolean | undefined
      /** When the policy ends (RFC 3339, or seconds since 1970); empty: it stays */
      expiration?: string | undefined
      /** The same from now on; 0: it stays */
      ttl?: Duration | undefined
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
      /** When the policy ends (RFC 3339, or seconds since 1970); empty: it stays */
      expiration?: string | undefined
      /** The same from now on; 0: it stays */
      ttl?: Duration | undefined
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
  /** Which rule decides about a request of the calling token. */
  'POST sys/policies/explain-self': {
    fields: {
      /** Path of the request, without /v1/ */
      path: string
      /** What is done there; a POST is create where nothing is there yet, else update */
      operation: 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch' | 'scan'
      /** What is sent with it: rules may allow or deny parameters and their values */
      parameters?: Readonly<Record<string, unknown>> | undefined
      /** Of X-Vault-Wrap-TTL; 0: the answer is not wrapped */
      wrap_ttl?: Duration | undefined
    }
    result: {
      /** The policies allow the request */
      allowed: boolean
      /** The same in a word, with what is missing */
      reason: string
      /** The reason in a sentence */
      explanation: string
      /** As it was asked */
      path: string
      /** As it was asked */
      operation: string
      /** What the request needs on the path */
      needed: readonly string[]
      /** The rule that decides; null where no rule is about the path, and for root */
      rule: {
        /** Name of the policy */
        policy: string
        /** Path of the rule, as the policy has it */
        path: string
        /** Where the rule begins in the text of the policy, from 1 on */
        line: number
      } | null
      /** The rules about the path, at most 50, the one that decides first */
      considered: readonly {
        /** Name of the policy */
        policy: string
        /** Path of the rule, as the policy has it */
        path: string
        /** Where the rule begins in the text of the policy, from 1 on */
        line: number
        /** Whether it counts, and why not */
        why: string
      }[]
      /** Rules about the path that are not listed */
      omitted: number
    }
  }
  /** Which rule decides about a request of a token, or under a list of policies. */
  'POST sys/policies/explain': {
    fields: {
      /** The token */
      token?: string | undefined
      /** Accessor of the token */
      accessor?: string | undefined
      /** Names of policies, as a token would carry them */
      policies?: readonly string[] | undefined
      /** Path of the request, without /v1/ */
      path: string
      /** What is done there; a POST is create where nothing is there yet, else update */
      operation: 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch' | 'scan'
      /** What is sent with it: rules may allow or deny parameters and their values */
      parameters?: Readonly<Record<string, unknown>> | undefined
      /** Of X-Vault-Wrap-TTL; 0: the answer is not wrapped */
      wrap_ttl?: Duration | undefined
    }
    result: {
      /** The policies allow the request */
      allowed: boolean
      /** The same in a word, with what is missing */
      reason: string
      /** The reason in a sentence */
      explanation: string
      /** As it was asked */
      path: string
      /** As it was asked */
      operation: string
      /** What the request needs on the path */
      needed: readonly string[]
      /** The rule that decides; null where no rule is about the path, and for root */
      rule: {
        /** Name of the policy */
        policy: string
        /** Path of the rule, as the policy has it */
        path: string
        /** Where the rule begins in the text of the policy, from 1 on */
        line: number
      } | null
      /** The rules about the path, at most 50, the one that decides first */
      considered: readonly {
        /** Name of the policy */
        policy: string
        /** Path of the rule, as the policy has it */
        path: string
        /** Where the rule begins in the text of the policy, from 1 on */
        line: number
        /** Whether it counts, and why not */
        why: string
      }[]
      /** Rules about the path that are not listed */
      omitted: number
    }
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
  /** What the token of an accessor may do on paths. */
  'POST sys/capabilities-accessor': {
    fields: {
      /** Accessor of the token */
      accessor: string
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
  /** Shows what is known of a lease. */
  'POST sys/leases/lookup': {
    fields: {
      /** Name of the lease */
      lease_id: string
    }
    result: {
      /** Name of the lease */
      id: string
      /** Request path that made it */
      path: string
      /** RFC 3339 */
      issue_time: string
      /** RFC 3339; null: never */
      expire_time: string | null
      /** RFC 3339; null: it was not renewed */
      last_renewal: string | null
      /** Can be renewed */
      renewable: boolean
      /** Seconds left; 0: no end */
      ttl: number
    }
  }
  /** Names of the leases below a path. */
  'LIST sys/leases/lookup': {
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
  /** Names of the leases below a path. */
  'LIST sys/leases/lookup/:prefix...': {
    fields: {
      /** Path below which the leases are */
      prefix: string
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
  /** Prolongs a lease: the token that it belongs to. */
  'POST sys/leases/renew': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Prolongs a lease: the token that it belongs to. */
  'POST sys/leases/renew/:lease_id...': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Prolongs a lease: the token that it belongs to. */
  'POST sys/renew': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Prolongs a lease: the token that it belongs to. */
  'POST sys/renew/:lease_id...': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** How long from now; 0: the lifetime it was made with */
      increment?: Duration | undefined
    }
    result: Auth
  }
  /** Ends a lease: the token that it belongs to, with its children; one that is not there is no error. */
  'POST sys/leases/revoke': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Ends a lease: the token that it belongs to, with its children; one that is not there is no error. */
  'POST sys/leases/revoke/:lease_id...': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Ends a lease: the token that it belongs to, with its children; one that is not there is no error. */
  'POST sys/revoke': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Ends a lease: the token that it belongs to, with its children; one that is not there is no error. */
  'POST sys/revoke/:lease_id...': {
    fields: {
      /** Name of the lease */
      lease_id: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Ends all leases below a path. */
  'POST sys/leases/revoke-prefix/:prefix...': {
    fields: {
      /** Path below which the leases are */
      prefix: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Ends all leases below a path. */
  'POST sys/revoke-prefix/:prefix...': {
    fields: {
      /** Path below which the leases are */
      prefix: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Like revoke-prefix: a token needs nothing from outside to be ended. */
  'POST sys/leases/revoke-force/:prefix...': {
    fields: {
      /** Path below which the leases are */
      prefix: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Like revoke-prefix: a token needs nothing from outside to be ended. */
  'POST sys/revoke-force/:prefix...': {
    fields: {
      /** Path below which the leases are */
      prefix: string
      /** Wait until it is done: so it always is */
      sync?: boolean | undefined
    }
    result: undefined
  }
  /** Removes, behind the answer, what is left of leases that ended. */
  'POST sys/leases/tidy': {
    fields: Record<never, never>
    result: undefined
  }
  /** How many leases could not be ended. */
  'GET sys/leases/count': {
    fields: {
      /** Only irrevocable: those that should have ended and could not be removed */
      type: string
    }
    result: {
      /** All */
      lease_count: number
      /** By accessor of the mount */
      counts: Readonly<Record<string, number>>
    }
  }
  /** Leases that could not be ended. */
  'GET sys/leases': {
    fields: {
      /** Only irrevocable: those that should have ended and could not be removed */
      type: string
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** All */
      lease_count: number
      /** Leases */
      leases: readonly {
        /** Name of the lease */
        lease_id: string
        /** Of its mount */
        mount_accessor: string
        /** Kind of failure */
        error: string
      }[]
    }
  }
  /** Names that guessing locked, by login mount, most first. */
  'GET sys/locked-users': {
    fields: {
      /** Only of the login mount with this accessor */
      mount_accessor?: string | undefined
    }
    result: {
      /** Namespaces with locked names */
      by_namespace: readonly {
        /** Namespace */
        namespace_id: string
        /** Empty: the root namespace */
        namespace_path: string
        /** Locked names in it */
        counts: number
        /** Login mounts with locked names */
        mount_accessors: readonly {
          /** Of the login mount */
          mount_accessor: string
          /** Locked names */
          counts: number
          /** The names, sorted */
          alias_identifiers: readonly string[]
        }[]
      }[]
      /** All locked names */
      total: number
    }
  }
  /** Unlocks a name before its time; one that is not locked is no error. */
  'POST sys/locked-users/:mount_accessor/unlock/:alias_identifier...': {
    fields: {
      /** Accessor of the login mount */
      mount_accessor: string
      /** The name: of a user, or the role id of a role */
      alias_identifier: string
    }
    result: undefined
  }
  /** The public key under which wrapping tokens in JWT form are signed (ES512). */
  'GET sys/wrapping/pubkey': {
    fields: Record<never, never>
    result: {
      /** PEM */
      public_key: string
      /** p521 */
      jwt_curve: string
      /** Of the point, a decimal number */
      jwt_x: string
      /** Of the point, a decimal number */
      jwt_y: string
    }
  }
  /** Wraps the data of the request; X-Vault-Wrap-TTL says for how long. */
  'POST sys/wrapping/wrap': {
    fields: Record<never, never>
    result: {
      /** As it was sent */
      [name: string]: unknown
    }
  }
  /** When and by which request a wrapping token was made; does not spend it. */
  'GET sys/wrapping/lookup': {
    fields: {
      /** The wrapping token; the default is the calling one */
      token?: string | undefined
    }
    result: {
      /** RFC 3339 */
      creation_time: string
      /** Seconds */
      creation_ttl: number
      /** Path of the request whose answer it is */
      creation_path: string
    }
  }
  /** When and by which request a wrapping token was made; does not spend it. */
  'POST sys/wrapping/lookup': {
    fields: {
      /** The wrapping token; the default is the calling one */
      token?: string | undefined
    }
    result: {
      /** RFC 3339 */
      creation_time: string
      /** Seconds */
      creation_ttl: number
      /** Path of the request whose answer it is */
      creation_path: string
    }
  }
  /** The wrapped answer, once: whoever comes later is refused. */
  'POST sys/wrapping/unwrap': {
    fields: {
      /** The wrapping token; the default is the calling one */
      token?: string | undefined
    }
    result: {
      /** The answer as it was */
      [name: string]: unknown
    }
  }
  /** Puts the wrapped answer under a new token of the same lifetime; the old one is spent. */
  'POST sys/wrapping/rewrap': {
    fields: {
      /** The wrapping token; the default is the calling one */
      token?: string | undefined
    }
    result: undefined
  }
  /** All audit devices by path. */
  'GET sys/audit': {
    fields: Record<never, never>
    result: {
      /** Device */
      [name: string]: {
        /** file, socket or syslog */
        type: string
        /** For people */
        description: string
        /** As they were given */
        options: Readonly<Record<string, string>>
        /** Stays out of replication */
        local: boolean
        /** Name of the device */
        path: string
      }
    }
  }
  /** Makes an audit device; every request from then on is recorded by it. */
  'POST sys/audit/:path...': {
    fields: {
      /** Name of the device */
      path: string
      /** file, socket or syslog */
      type?: string | undefined
      /** For people */
      description?: string | undefined
      /** Options of the device */
      options?: Readonly<Record<string, string>> | undefined
      /** Stays out of replication */
      local?: boolean | undefined
    }
    result: undefined
  }
  /** Removes an audit device, not what it recorded; one that is not there is no error. */
  'DELETE sys/audit/:path...': {
    fields: {
      /** Name of the device */
      path: string
    }
    result: undefined
  }
  /** What a text looks like in the entries of a device, to search for it. */
  'POST sys/audit-hash/:path...': {
    fields: {
      /** Name of the device */
      path: string
      /** The text */
      input?: string | undefined
    }
    result: {
      /** hmac-sha256: and hexadecimal digits */
      hash: string
    }
  }
  /** How far the chains of entries are, and the key that signs them: to check a log against. */
  'GET sys/audit-streams': {
    fields: Record<never, never>
    result: {
      /** Ed25519, 32 bytes in base64; empty before the first device was made */
      public_key: string
      /** Chains that are written, and those that ended last */
      streams: readonly {
        /** Name of the chain */
        stream: string
        /** Path of the device */
        device: string
        /** Number of its last line */
        seq: number
        /** Of that line: SHA-256, base64url */
        hash: string
        /** No line follows */
        ended: boolean
      }[]
    }
  }
  /** Which request headers are recorded. */
  'GET sys/config/auditing/request-headers': {
    fields: Record<never, never>
    result: {
      /** By their names in lower case */
      headers: Readonly<Record<string, {
        /** The value is written as its HMAC */
        hmac: boolean
      }>>
    }
  }
  /** Whether a request header is recorded, and how. */
  'GET sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the header */
      header: string
    }
    result: {
      /** The setting, under the name of the header */
      [name: string]: unknown
    }
  }
  /** Records a request header from now on. */
  'POST sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the header */
      header: string
      /** Write its value as an HMAC */
      hmac?: boolean | undefined
    }
    result: undefined
  }
  /** No longer records a request header. */
  'DELETE sys/config/auditing/request-headers/:header': {
    fields: {
      /** Name of the header */
      header: string
    }
    result: undefined
  }
  /** What all policies of the calling token grant together. */
  'GET sys/internal/ui/resultant-acl': {
    fields: Record<never, never>
    result: {
      /** Everything is allowed */
      root: boolean
      /** By path; a segment "+" stands for any */
      exact_paths: Readonly<Record<string, {
        /** Granted, sorted; deny: nothing */
        capabilities: readonly string[]
        /** By name */
        allowed_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** By name */
        denied_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Must be sent */
        required_parameters?: readonly string[]
      }>>
      /** By the beginning of the path, without the star that ends the rule */
      glob_paths: Readonly<Record<string, {
        /** Granted, sorted; deny: nothing */
        capabilities: readonly string[]
        /** By name */
        allowed_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** By name */
        denied_parameters?: Readonly<Record<string, readonly unknown[]>>
        /** Must be sent */
        required_parameters?: readonly string[]
      }>>
      /** Empty: the root namespace */
      chroot_namespace: string
    }
  }
  /** Hash of the input. */
  'POST sys/tools/hash': {
    fields: {
      /** Data, base64 */
      input: string
      /** sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm?: string | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash */
      sum: string
    }
  }
  /** Hash of the input. */
  'POST sys/tools/hash/:algorithm': {
    fields: {
      /** Data, base64 */
      input: string
      /** sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm: string
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash */
      sum: string
    }
  }
  /** Random bytes. */
  'POST sys/tools/random': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source?: string | undefined
      /** How many */
      bytes?: number | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** Random bytes. */
  'POST sys/tools/random/:source': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source: string
      /** How many */
      bytes?: number | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** Random bytes. */
  'POST sys/tools/random/:source/:bytes': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source: string
      /** How many */
      bytes: number
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** The same for old clients. */
  'GET sys/license': {
    fields: Record<never, never>
    result: {
      /** The edition */
      license_id: string
      /** Empty: nobody is asked */
      customer_id: string
      /** Those that are on */
      features: readonly string[]
      /** Since ever */
      start_time: string
      /** Never */
      expiration_time: string
      /** Never */
      termination_time: string
      /** 0: no bound */
      performance_standby_count: number
    }
  }
  /** Which features are on, as the edition in the configuration has it. */
  'GET sys/license/status': {
    fields: Record<never, never>
    result: {
      /** A licence was loaded at start: the edition of the configuration */
      autoloading_used: boolean
      /** What the edition gives */
      autoloaded: {
        /** The edition */
        license_id: string
        /** Empty: nobody is asked */
        customer_id: string
        /** Those that are on */
        features: readonly string[]
        /** Since ever */
        start_time: string
        /** Never */
        expiration_time: string
        /** Never */
        termination_time: string
        /** 0: no bound */
        performance_standby_count: number
      }
      /** null: nothing is stored */
      persisted_autoload: {
        /** The edition */
        license_id: string
        /** Empty: nobody is asked */
        customer_id: string
        /** Those that are on */
        features: readonly string[]
        /** Since ever */
        start_time: string
        /** Never */
        expiration_time: string
        /** Never */
        termination_time: string
        /** 0: no bound */
        performance_standby_count: number
      } | null
    }
  }
  /** Engines and login methods that can be mounted. */
  'GET sys/plugins/catalog': {
    fields: Record<never, never>
    result: {
      /** Login methods */
      auth: readonly string[]
      /** Engines */
      secret: readonly string[]
      /** None: there are no databases */
      database: readonly string[]
      /** All of them */
      detailed: readonly {
        /** Name: what is mounted as type */
        name: string
        /** auth or secret */
        type: string
        /** Version of the engine */
        version: string
        /** Part of the server */
        builtin: boolean
        /** supported */
        deprecation_status: string
      }[]
    }
  }
  /** Names of one type. */
  'LIST sys/plugins/catalog/:type': {
    fields: {
      /** auth, secret or database */
      type: string
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
  /** One engine or login method. */
  'GET sys/plugins/catalog/:type/:name': {
    fields: {
      /** auth, secret or database */
      type: string
      /** Name */
      name: string
    }
    result: {
      /** Name: what is mounted as type */
      name: string
      /** auth or secret */
      type: string
      /** Version of the engine */
      version: string
      /** Part of the server */
      builtin: boolean
      /** supported */
      deprecation_status: string
      /** None */
      args: readonly string[]
      /** Empty */
      command: string
      /** Empty */
      sha256: string
    }
  }
  /** Makes mounts read anew what they keep in memory, on every thread. */
  'POST sys/plugins/reload/backend': {
    fields: {
      /** Engine or login method, such as transit */
      plugin?: string | undefined
      /** Paths of mounts: transit, auth/userpass */
      mounts?: readonly string[] | undefined
      /** global: on every node of every cluster */
      scope?: '' | 'global' | undefined
    }
    result: {
      /** Names the reload */
      reload_id: string
    }
  }
  /** Makes all mounts of one engine or login method read anew what they keep in memory. */
  'POST sys/plugins/reload/:type/:name': {
    fields: {
      /** auth, secret or database */
      type: string
      /** Name, such as transit */
      name: string
      /** global: on every node of every cluster */
      scope?: '' | 'global' | undefined
    }
    result: {
      /** Names the reload */
      reload_id: string
    }
  }
  /** Whether a reload was done. */
  'GET sys/plugins/reload/backend/status': {
    fields: {
      /** From the answer of the reload */
      reload_id: string
    }
    result: {
      /** The same */
      reload_id: string
      /** By the id of the cluster whose nodes did it */
      results: Readonly<Record<string, {
        /** When */
        timestamp: string
        /** It was done */
        success: boolean
        /** Empty */
        message: string
      }>>
    }
  }
  /** Names of the password policies. */
  'LIST sys/policies/password': {
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
  /** Text of a password policy. */
  'GET sys/policies/password/:name': {
    fields: {
      /** Name of the policy */
      name: string
    }
    result: {
      /** HCL or JSON, as it was written */
      policy: string
    }
  }
  /** Creates or replaces a password policy. */
  'POST sys/policies/password/:name': {
    fields: {
      /** Name of the policy */
      name: string
      /** HCL or JSON, or base64 of either */
      policy: string
    }
    result: undefined
  }
  /** Removes a password policy; one that is not there is no error. */
  'DELETE sys/policies/password/:name': {
    fields: {
      /** Name of the policy */
      name: string
    }
    result: undefined
  }
  /** Makes a password by the policy; it is kept nowhere. */
  'GET sys/policies/password/:name/generate': {
    fields: {
      /** Name of the policy */
      name: string
    }
    result: {
      /** The password */
      password: string
    }
  }
  /** Requests that this server has taken since it started. */
  'GET sys/internal/counters/requests': {
    fields: Record<never, never>
    result: {
      /** One: nothing is kept of the time before */
      counters: readonly {
        /** Since when: the start of this server */
        start_time: string
        /** How many */
        total: number
      }[]
    }
  }
  /** Entities that there are now. */
  'GET sys/internal/counters/entities': {
    fields: Record<never, never>
    result: {
      /** Counters */
      counters: {
        /** Entities */
        entities: {
          /** How many */
          total: number
        }
      }
    }
  }
  /** Service tokens that are stored now; batch tokens are not. */
  'GET sys/internal/counters/tokens': {
    fields: Record<never, never>
    result: {
      /** Counters */
      counters: {
        /** Service tokens */
        service_tokens: {
          /** How many */
          total: number
        }
      }
    }
  }
  /** The configuration that the server runs with, without what opens something. */
  'GET sys/config/state/sanitized': {
    fields: Record<never, never>
    result: {
      /** By the key of the configuration file */
      [name: string]: unknown
    }
  }
  /** Reads a part of the configuration anew, on every thread, as SIGHUP does for all parts. */
  'POST sys/config/reload/:subsystem': {
    fields: {
      /** Part of the server */
      subsystem: string
    }
    result: undefined
  }
  /** Which pages of other origins may call. */
  'GET sys/config/cors': {
    fields: Record<never, never>
    result: {
      /** Some may */
      enabled: boolean
      /** * alone: every one */
      allowed_origins?: readonly string[]
      /** Request headers that they may send */
      allowed_headers?: readonly string[]
      /** Cookies and the like may be sent along */
      allow_credentials?: boolean
    }
  }
  /** Lets pages of these origins call, and no others. */
  'POST sys/config/cors': {
    fields: {
      /** false: pages of no other origin may */
      enable?: boolean | undefined
      /** Such as https://example.com, or * alone for every origin */
      allowed_origins?: readonly string[] | undefined
      /** Request headers they may send besides those of the API */
      allowed_headers?: readonly string[] | undefined
      /** Cookies and the like may be sent along; not with * */
      allow_credentials?: boolean | undefined
    }
    result: undefined
  }
  /** Pages of no other origin may call. */
  'DELETE sys/config/cors': {
    fields: Record<never, never>
    result: undefined
  }
  /** Names of the headers that are set. */
  'LIST sys/config/ui/headers': {
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
  /** What a header is set to. */
  'GET sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
      /** All values, as values */
      multivalue?: boolean | undefined
    }
    result: {
      /** The first value */
      value?: string
      /** All of them */
      values?: readonly string[]
    }
  }
  /** Sets a header of the answers outside /v1/. */
  'POST sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
      /** Its values */
      values: readonly string[]
    }
    result: undefined
  }
  /** The header is not set any more. */
  'DELETE sys/config/ui/headers/:header': {
    fields: {
      /** Name of the header */
      header: string
    }
    result: undefined
  }
  /** The nodes that share the storage: this one. */
  'GET sys/ha-status': {
    fields: Record<never, never>
    result: {
      /** Nodes */
      nodes: readonly {
        /** Name of its machine */
        hostname: string
        /** api_addr of its configuration */
        api_address: string
        /** Empty: nodes do not talk to each other */
        cluster_address: string
        /** It writes */
        active_node: boolean
        /** null: it is this one */
        last_echo: string | null
        /** Version that clients gate on */
        version: string
        /** Empty: no upgrade is under way */
        upgrade_version: string
        /** Empty */
        redundancy_zone: string
      }[]
    }
  }
  /** Hands the active role to another node. */
  'POST sys/step-down': {
    fields: Record<never, never>
    result: undefined
  }
  /** Names of stored entries. */
  'LIST sys/raw': {
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
  /** Names of stored entries. */
  'LIST sys/raw/:path...': {
    fields: {
      /** A folder; missing: the root */
      path: string
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
  /** A stored entry in clear. */
  'GET sys/raw/:path...': {
    fields: {
      /** Path of the entry, without its namespace */
      path: string
      /** base64: value is base64; else it is text */
      encoding?: '' | 'base64' | undefined
    }
    result: {
      /** The entry, as text or base64 */
      value: string
    }
  }
  /** Replaces a stored entry. */
  'POST sys/raw/:path...': {
    fields: {
      /** Path of the entry, without its namespace */
      path: string
      /** The entry */
      value: string
      /** base64: value is base64; else it is text */
      encoding?: '' | 'base64' | undefined
    }
    result: undefined
  }
  /** Removes a stored entry. */
  'DELETE sys/raw/:path...': {
    fields: {
      /** Path of the entry, without its namespace */
      path: string
    }
    result: undefined
  }
  /** Processors, memory and disk of the machine below this server. */
  'GET sys/host-info': {
    fields: Record<never, never>
    result: {
      /** When it was looked at */
      timestamp: string
      /** Processors */
      cpu: readonly {
        /** Number */
        cpu: number
        /** Maker */
        vendorId: string
        /** Family */
        family: string
        /** Model */
        model: string
        /** Stepping */
        stepping: number
        /** Package */
        physicalId: string
        /** Core */
        coreId: string
        /** Cores */
        cores: number
        /** Name */
        modelName: string
        /** Clock rate now */
        mhz: number
        /** Kilobytes */
        cacheSize: number
        /** What it can do */
        flags: readonly string[]
        /** Version of its microcode */
        microcode: string
      }[]
      /** What they did */
      cpu_times: readonly {
        /** Name */
        cpu: string
        /** Seconds */
        [name: string]: unknown
      }[]
      /** The file system of the data; empty where they are in memory */
      disk: readonly {
        /** Directory of the data */
        path: string
        /** Kind of file system */
        fstype: string
        /** Bytes */
        total: number
        /** Bytes that the server may use */
        free: number
        /** Bytes */
        used: number
        /** Of what may be used */
        usedPercent: number
        /** Inodes */
        inodesTotal: number
        /** Of them in use */
        inodesUsed: number
        /** Of them free */
        inodesFree: number
        /** Of all */
        inodesUsedPercent: number
      }[]
      /** Machine */
      host: {
        /** Name */
        hostname: string
        /** Seconds since its start */
        uptime: number
        /** When it started, seconds since the epoch */
        bootTime: number
        /** Processes and threads */
        procs: number
        /** Operating system */
        os: string
        /** Distribution */
        platform: string
        /** What the distribution comes from */
        platformFamily: string
        /** Version of the distribution */
        platformVersion: string
        /** Version of the kernel */
        kernelVersion: string
        /** Architecture */
        kernelArch: string
        /** Empty: not looked for */
        virtualizationSystem: string
        /** Empty: not looked for */
        virtualizationRole: string
        /** Empty: it is a secret of the machine */
        hostid: string
      }
      /** Memory, by kind; usedPercent is a share */
      memory: Readonly<Record<string, number>>
    }
  }
  /** The mounts as the router has them. */
  'GET sys/internal/inspect/router/:tag': {
    fields: {
      /** root, uuid, accessor or storage */
      tag: 'root' | 'uuid' | 'accessor' | 'storage'
    }
    result: {
      /** Mount */
      [name: string]: {
        /** Namespace */
        mount_namespace: string
        /** Path */
        mount_path: string
        /** Engine */
        mount_type: string
        /** Names its data */
        uuid: string
        /** Names the mount */
        accessor: string
        /** Where its data lie */
        storage_prefix: string
        /** It is being removed */
        tainted: boolean
      }
    }
  }
  /** Versions of this program that opened the store, the oldest first. */
  'LIST sys/version-history': {
    fields: {
      /** Only versions that came after this one */
      after?: string | undefined
      /** At most so many versions; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** By version */
      key_info: Readonly<Record<string, {
        /** The one before; null for the first */
        previous_version: string | null
        /** When it first opened the store */
        timestamp_installed: string
        /** Empty: not recorded */
        build_date: string
      }>>
    }
  }
  /** Metrics of this node: JSON, or the text that Prometheus reads. */
  'GET sys/metrics': {
    fields: {
      /** `prometheus` for its text format; empty for JSON */
      format?: '' | 'prometheus' | undefined
    }
    result: {
      /** RFC 3339 */
      Timestamp: string
      /** What goes up and down */
      Gauges: readonly {
        /** Of docs/metrics.md */
        Name: string
        /** What it is about */
        Labels: Readonly<Record<string, string>>
        /** Now */
        Value: number
      }[]
      /** Empty */
      Points: readonly unknown[]
      /** Only grow */
      Counters: readonly {
        /** Of docs/metrics.md */
        Name: string
        /** What it is about */
        Labels: Readonly<Record<string, string>>
        /** So many */
        Count: number
        /** As Count */
        Sum: number
      }[]
      /** Distributions */
      Samples: readonly {
        /** Of docs/metrics.md */
        Name: string
        /** What it is about */
        Labels: Readonly<Record<string, string>>
        /** How many */
        Count: number
        /** Of all */
        Sum: number
        /** Of one */
        Mean: number
      }[]
    }
  }
  /** Requests that are under way, by their ids, over all threads; the 1000 oldest. */
  'GET sys/in-flight-req': {
    fields: Record<never, never>
    result: {
      /** A request, by its id */
      [name: string]: {
        /** RFC 3339 */
        start_time: string
        /** Address of the client */
        client_remote_address: string
        /** Path; what is secret in it stands as its name; empty before it is known */
        request_path: string
        /** Method of HTTP */
        request_method: string
      }
    }
  }
  /** Level of each logger. */
  'GET sys/loggers': {
    fields: Record<never, never>
    result: {
      /** Its level */
      server?: string
      /** Its level */
      core?: string
      /** Its level */
      auth?: string
      /** Its level */
      identity?: string
      /** Its level */
      seal?: string
      /** Its level */
      storage?: string
      /** Its level */
      telemetry?: string
      /** Its level */
      audit?: string
    }
  }
  /** Sets the level of all loggers. */
  'POST sys/loggers': {
    fields: {
      /** One of trace, debug, info, warn, error */
      level: string
    }
    result: undefined
  }
  /** All loggers as configured. */
  'DELETE sys/loggers': {
    fields: Record<never, never>
    result: undefined
  }
  /** Level of a logger. */
  'GET sys/loggers/:name': {
    fields: {
      /** One of server, core, auth, identity, seal, storage, telemetry, audit */
      name: string
    }
    result: {
      /** Its level */
      server?: string
      /** Its level */
      core?: string
      /** Its level */
      auth?: string
      /** Its level */
      identity?: string
      /** Its level */
      seal?: string
      /** Its level */
      storage?: string
      /** Its level */
      telemetry?: string
      /** Its level */
      audit?: string
    }
  }
  /** Sets the level of a logger. */
  'POST sys/loggers/:name': {
    fields: {
      /** One of server, core, auth, identity, seal, storage, telemetry, audit */
      name: string
      /** One of trace, debug, info, warn, error */
      level: string
    }
    result: undefined
  }
  /** A logger as configured. */
  'DELETE sys/loggers/:name': {
    fields: {
      /** One of server, core, auth, identity, seal, storage, telemetry, audit */
      name: string
    }
    result: undefined
  }
  /** Names of the quotas. */
  'LIST sys/quotas/rate-limit': {
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
  /** A quota. */
  'GET sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
    }
    result: {
      /** rate-limit */
      type: string
      /** Name */
      name: string
      /** What it counts requests to; empty: everything */
      path: string
      /** Role of the logins that it counts; empty: it counts everything */
      role: string
      /** Requests in each interval */
      rate: number
      /** Seconds */
      interval: number
      /** Seconds; 0: nobody is refused beyond the interval */
      block_interval: number
      /** By whom requests are counted */
      group_by: string
      /** The rate of those without an entity, where they are counted for themselves */
      secondary_rate: number
      /** Counts in namespaces below, too */
      inheritable: boolean
    }
  }
  /** Makes or changes a quota. */
  'POST sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
      /** A mount, or a path in one, with * at the end for all that begin so; empty: everything */
      path?: string | undefined
      /** Only logins with this role; the path is a login mount that has roles */
      role?: string | undefined
      /** Requests in each interval */
      rate?: number | undefined
      /** How long an interval is; a second where nothing was said */
      interval?: Duration | undefined
      /** How long who exceeds it is refused; 0: until the interval is over */
      block_interval?: Duration | undefined
      /** By whom requests are counted: ip where nothing was said */
      group_by?: 'ip' | 'none' | 'entity_then_ip' | 'entity_then_none' | undefined
      /** The rate of those without an entity; only with group_by entity_then_… */
      secondary_rate?: number | undefined
      /** Of a quota for everything: true, where there are no namespaces */
      inheritable?: boolean | undefined
    }
    result: undefined
  }
  /** Removes a quota. */
  'DELETE sys/quotas/rate-limit/:name': {
    fields: {
      /** Name of the quota */
      name: string
    }
    result: undefined
  }
  /** What counts for all quotas. */
  'GET sys/quotas/config': {
    fields: Record<never, never>
    result: {
      /** What no quota counts */
      rate_limit_exempt_paths: readonly string[]
      /** X-RateLimit- headers tell callers what is left */
      enable_rate_limit_response_headers: boolean
      /** What a quota refuses is recorded in the audit */
      enable_rate_limit_audit_logging: boolean
    }
  }
  /** Changes what counts for all quotas. */
  'POST sys/quotas/config': {
    fields: {
      /** Paths that no quota counts, with * at the end for all that begin so */
      rate_limit_exempt_paths?: readonly string[] | undefined
      /** Tells callers what is left, in X-RateLimit- headers */
      enable_rate_limit_response_headers?: boolean | undefined
      /** Records what a quota refuses: each refusal then costs as much as a request that is recorded */
      enable_rate_limit_audit_logging?: boolean | undefined
    }
    result: undefined
  }
  /** Names of the managed keys. */
  'LIST sys/managed-keys/pkcs11': {
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
  /** A managed key, without its PIN. */
  'GET sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
    }
    result: {
      /** What uses the key knows it by this */
      UUID: string
      /** Name */
      name: string
      /** pkcs11 */
      type: string
      /** Name of the kms_library in the configuration */
      library: string
      /** Number of the slot */
      slot?: string
      /** Label of the token */
      token_label?: string
      /** Label of the key */
      key_label?: string
      /** Id of the key, in hexadecimal */
      key_id?: string
      /** Number of the mechanism */
      mechanism: string
      /** Bits of a key that is made */
      key_bits?: number
      /** Curve of a key that is made */
      curve?: string
      /** Hash of RSA-OAEP */
      rsa_oaep_hash?: string
      /** The key is made where there is none */
      allow_generate_key: boolean
      /** Kept and not used: nothing here replaces a key in a device */
      allow_replace_key: boolean
      /** Kept and not used: nothing here brings a key into a device */
      allow_store_key: boolean
      /** Every mount may use it */
      any_mount: boolean
      /** What it may be used for */
      usages: readonly string[]
      /** At most so many operations at once */
      max_parallel: number
    }
  }
  /** Makes or changes a managed key: what is sent. */
  'POST sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
      /** Name of a kms_library in the configuration */
      library?: string | undefined
      /** Number of the slot, in decimal; or token_label */
      slot?: string | undefined
      /** Label of the token; or slot */
      token_label?: string | undefined
      /** PIN of the token; it is never shown */
      pin?: string | undefined
      /** Label of the key */
      key_label?: string | undefined
      /** Id of the key, in hexadecimal with 0x; with key_label, both must fit */
      key_id?: string | undefined
      /**
       * What the key does: 0x0001 (CKM_RSA_PKCS), 0x0009 (CKM_RSA_PKCS_OAEP), 0x000d (CKM_RSA_PKCS_PSS), 0x1041
       * (CKM_ECDSA), 0x1087 (CKM_AES_GCM); needed
       */
      mechanism?: string | undefined
      /** Of a key that is made: 128 or 256 of AES, 2048, 3072 or 4096 of RSA */
      key_bits?: number | undefined
      /** Of a key that is made: p256, p384, p521 */
      curve?: string | undefined
      /** Of RSA-OAEP: sha1, sha224, sha256, sha384, sha512; sha256 where nothing was said */
      rsa_oaep_hash?: string | undefined
      /** Makes the key in the device where there is none */
      allow_generate_key?: boolean | undefined
      /** Kept and not used: nothing here replaces a key in a device */
      allow_replace_key?: boolean | undefined
      /** Kept and not used: nothing here brings a key into a device */
      allow_store_key?: boolean | undefined
      /** Every mount may use it; else those whose allowed_managed_keys have its name */
      any_mount?: boolean | undefined
      /** What it may be used for: encrypt, decrypt, sign, verify; all that its mechanism can */
      usages?: readonly string[] | undefined
      /** At most so many operations at once; a device does one after the other */
      max_parallel?: number | undefined
    }
    result: undefined
  }
  /** Forgets a managed key; the key in the device stays. */
  'DELETE sys/managed-keys/pkcs11/:name': {
    fields: {
      /** Name of the managed key */
      name: string
    }
    result: undefined
  }
  /** Signs random bytes with a managed key, and verifies them. */
  'POST sys/managed-keys/pkcs11/:name/test/sign': {
    fields: {
      /** Name of the managed key */
      name: string
      /** Hash of what is signed */
      hash_algorithm?: string | undefined
    }
    result: undefined
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
      /** service, or batch: not stored, cannot be renewed or revoked */
      type?: string | undefined
      /** Hard end after creation, whatever is renewed */
      explicit_max_ttl?: Duration | undefined
      /** For logs */
      display_name?: string | undefined
      /** Requests it may make; 0: unlimited */
      num_uses?: number | undefined
      /** Each renewal gives this long, without an end; needs sudo */
      period?: Duration | undefined
      /** Who it is for, where the token role allows it */
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
      /** service, or batch: not stored, cannot be renewed or revoked */
      type?: string | undefined
      /** Hard end after creation, whatever is renewed */
      explicit_max_ttl?: Duration | undefined
      /** For logs */
      display_name?: string | undefined
      /** Requests it may make; 0: unlimited */
      num_uses?: number | undefined
      /** Each renewal gives this long, without an end; needs sudo */
      period?: Duration | undefined
      /** Who it is for, where the token role allows it */
      entity_alias?: string | undefined
    }
    result: Auth
  }
  /** Makes a token as a token role says. */
  'POST auth/token/create/:role_name': {
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
      /** service, or batch: not stored, cannot be renewed or revoked */
      type?: string | undefined
      /** Hard end after creation, whatever is renewed */
      explicit_max_ttl?: Duration | undefined
      /** For logs */
      display_name?: string | undefined
      /** Requests it may make; 0: unlimited */
      num_uses?: number | undefined
      /** Each renewal gives this long, without an end; needs sudo */
      period?: Duration | undefined
      /** Who it is for, where the token role allows it */
      entity_alias?: string | undefined
      /** The token role */
      role_name: string
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
      /** Names the token without giving access; a batch token has none */
      accessor: string
      /** Addresses that it may be used from */
      bound_cidrs?: readonly string[]
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
      /** Those of its entity and groups */
      identity_policies?: readonly string[]
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
      /** The token role that it was made by */
      role?: string
      /** Seconds left; 0: no end */
      ttl: number
      /** service or batch */
      type: string
    }
  }
  /** Old form of lookup: the token stands in the path, where logs of proxies may show it. */
  'GET auth/token/lookup/:token...': {
    fields: {
      /** The token */
      token: string
    }
    result: {
      /** Names the token without giving access; a batch token has none */
      accessor: string
      /** Addresses that it may be used from */
      bound_cidrs?: readonly string[]
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
      /** Those of its entity and groups */
      identity_policies?: readonly string[]
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
      /** The token role that it was made by */
      role?: string
      /** Seconds left; 0: no end */
      ttl: number
      /** service or batch */
      type: string
    }
  }
  /** Shows what is known of the calling token. */
  'GET auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Names the token without giving access; a batch token has none */
      accessor: string
      /** Addresses that it may be used from */
      bound_cidrs?: readonly string[]
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
      /** Those of its entity and groups */
      identity_policies?: readonly string[]
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
      /** The token role that it was made by */
      role?: string
      /** Seconds left; 0: no end */
      ttl: number
      /** service or batch */
      type: string
    }
  }
  /** Shows what is known of the calling token. */
  'POST auth/token/lookup-self': {
    fields: Record<never, never>
    result: {
      /** Names the token without giving access; a batch token has none */
      accessor: string
      /** Addresses that it may be used from */
      bound_cidrs?: readonly string[]
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
      /** Those of its entity and groups */
      identity_policies?: readonly string[]
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
      /** The token role that it was made by */
      role?: string
      /** Seconds left; 0: no end */
      ttl: number
      /** service or batch */
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
      /** Names the token without giving access; a batch token has none */
      accessor: string
      /** Addresses that it may be used from */
      bound_cidrs?: readonly string[]
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
      /** Those of its entity and groups */
      identity_policies?: readonly string[]
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
      /** The token role that it was made by */
      role?: string
      /** Seconds left; 0: no end */
      ttl: number
      /** service or batch */
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
  /** Prolongs the token with this accessor, without showing the token itself. */
  'POST auth/token/renew-accessor': {
    fields: {
      /** The accessor */
      accessor: string
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
  /** Ends a token alone: its children stay, without a parent. */
  'POST auth/token/revoke-orphan': {
    fields: {
      /** The token */
      token: string
    }
    result: undefined
  }
  /** Accessors of all tokens, in no order that means anything. */
  'LIST auth/token/accessors': {
    fields: {
      /** Only those behind this one of the page before */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** Removes, behind the answer, what is left of tokens that can never be used again. */
  'POST auth/token/tidy': {
    fields: Record<never, never>
    result: undefined
  }
  /** Names of the token roles. */
  'LIST auth/token/roles': {
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
  /** Shows a token role. */
  'GET auth/token/roles/:role_name': {
    fields: {
      /** Name of the role */
      role_name: string
    }
    result: {
      /** Name of the role */
      name: string
      /** Allowed */
      allowed_policies: readonly string[]
      /** Forbidden */
      disallowed_policies: readonly string[]
      /** Allowed */
      allowed_policies_glob: readonly string[]
      /** Forbidden */
      disallowed_policies_glob: readonly string[]
      /** Aliases that a token may be made for */
      allowed_entity_aliases: readonly string[]
      /** Its tokens have no parent */
      orphan: boolean
      /** Its tokens can be renewed */
      renewable: boolean
      /** Behind the path of its tokens */
      path_suffix: string
      /** Seconds */
      token_period: number
      /** Seconds */
      token_explicit_max_ttl: number
      /** Addresses */
      token_bound_cidrs: readonly string[]
      /** service, batch, default-service or default-batch */
      token_type: string
      /** Without the policy "default" */
      token_no_default_policy: boolean
      /** 0: unlimited */
      token_num_uses: number
      /** As token_period, where it was written by its old name; else 0 */
      period: number
      /** As token_explicit_max_ttl, where it was written by its old name; else 0 */
      explicit_max_ttl: number
      /** As token_bound_cidrs, where it was written by its old name */
      bound_cidrs?: readonly string[]
    }
  }
  /** Makes a token role, or changes what is sent of it. */
  'POST auth/token/roles/:role_name': {
    fields: {
      /** Name of the role */
      role_name: string
      /** Its tokens may have these, whatever the caller has; none asked for: all of them */
      allowed_policies?: readonly string[] | undefined
      /** Its tokens never have these */
      disallowed_policies?: readonly string[] | undefined
      /** Like allowed_policies, with a star at the end, the start or both */
      allowed_policies_glob?: readonly string[] | undefined
      /** Like disallowed_policies, with stars */
      disallowed_policies_glob?: readonly string[] | undefined
      /** Its tokens have no parent */
      orphan?: boolean | undefined
      /** Its tokens can be renewed */
      renewable?: boolean | undefined
      /** Stands behind the path of its tokens, so that they can be revoked apart */
      path_suffix?: string | undefined
      /** Aliases that a token may be made for; a star at an end stands for any text */
      allowed_entity_aliases?: readonly string[] | undefined
      /** Each renewal gives this long, without an end */
      token_period?: Duration | undefined
      /** Hard end after creation, whatever is renewed */
      token_explicit_max_ttl?: Duration | undefined
      /** Addresses that its tokens may be used from */
      token_bound_cidrs?: readonly string[] | undefined
      /** service or batch; default-service and default-batch leave it to the request */
      token_type?: string | undefined
      /** Without the policy "default" */
      token_no_default_policy?: boolean | undefined
      /** Requests that each of its tokens may make; 0: unlimited */
      token_num_uses?: number | undefined
      /** Old name of token_period */
      period?: Duration | undefined
      /** Old name of token_explicit_max_ttl */
      explicit_max_ttl?: Duration | undefined
      /** Old name of token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Removes a token role; its tokens stay, and one that is not there is no error. */
  'DELETE auth/token/roles/:role_name': {
    fields: {
      /** Name of the role */
      role_name: string
    }
    result: undefined
  }
  /** Makes an entity, or changes the one with the id or the name. */
  'POST identity/entity': {
    fields: {
      /** Id of an entity that is there */
      id?: string | undefined
      /** Name; the default is one that is made up */
      name?: string | undefined
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of its tokens, besides their own; all of them are replaced */
      policies?: readonly string[] | undefined
      /** No access, with whatever token */
      disabled?: boolean | undefined
    }
    result: {
      /** Id of the new entity */
      id: string
      /** Its name */
      name: string
      /** None yet */
      aliases: readonly string[]
    } | undefined
  }
  /** Removes entities by their ids, all or none; one that is not there is no error. */
  'POST identity/entity/batch-delete': {
    fields: {
      /** Ids of the entities */
      entity_ids: readonly string[]
    }
    result: undefined
  }
  /** Gives the aliases of entities to another one and removes them. */
  'POST identity/entity/merge': {
    fields: {
      /** Ids of the entities to be removed */
      from_entity_ids: readonly string[]
      /** Id of the one that remains */
      to_entity_id: string
      /** Where two have an alias at the same mount: the one that stays */
      conflicting_alias_ids_to_keep?: readonly string[] | undefined
      /** Taken from clients that send it; nothing depends on it */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Ids of the entities. */
  'LIST identity/entity/id': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** By id */
      key_info: Readonly<Record<string, {
        /** As its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** One entity. */
  'GET identity/entity/id/:id': {
    fields: {
      /** Id of the entity */
      id: string
    }
    result: {
      /** Id of the entity */
      id: string
      /** Name */
      name: string
      /** Its names at login mounts */
      aliases: readonly {
        /** Id of the alias */
        id: string
        /** Id of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty: it is gone */
        mount_path: string
        /** Its login method; empty: it is gone */
        mount_type: string
        /** Names and texts */
        metadata: Readonly<Record<string, string>> | null
        /** Names and texts */
        custom_metadata: Readonly<Record<string, string>>
        /** Entities that it belonged to before */
        merged_from_canonical_ids: readonly string[] | null
        /** Of a mount that stays out of replication */
        local: boolean
        /** root */
        namespace_id: string
        /** RFC 3339 */
        creation_time: string
        /** RFC 3339 */
        last_update_time: string
      }[]
      /** Given to it by name */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** No access, with whatever token */
      disabled: boolean
      /** All groups that it is in */
      group_ids: readonly string[]
      /** Those that it is in itself */
      direct_group_ids: readonly string[]
      /** Those that its groups are in */
      inherited_group_ids: readonly string[]
      /** Entities that were merged into it */
      merged_entity_ids: readonly string[] | null
      /** Empty: not offered */
      mfa_secrets: {
        /** None */
        [name: string]: unknown
      }
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Changes an entity. */
  'POST identity/entity/id/:id': {
    fields: {
      /** Id of the entity */
      id: string
      /** New name */
      name?: string | undefined
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of its tokens, besides their own; all of them are replaced */
      policies?: readonly string[] | undefined
      /** No access, with whatever token */
      disabled?: boolean | undefined
    }
    result: undefined
  }
  /** Removes an entity with its aliases; its tokens have no access any more. */
  'DELETE identity/entity/id/:id': {
    fields: {
      /** Id of the entity */
      id: string
    }
    result: undefined
  }
  /** Names of the entities. */
  'LIST identity/entity/name': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** One entity. */
  'GET identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; the case of its letters makes no difference */
      name: string
    }
    result: {
      /** Id of the entity */
      id: string
      /** Name */
      name: string
      /** Its names at login mounts */
      aliases: readonly {
        /** Id of the alias */
        id: string
        /** Id of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty: it is gone */
        mount_path: string
        /** Its login method; empty: it is gone */
        mount_type: string
        /** Names and texts */
        metadata: Readonly<Record<string, string>> | null
        /** Names and texts */
        custom_metadata: Readonly<Record<string, string>>
        /** Entities that it belonged to before */
        merged_from_canonical_ids: readonly string[] | null
        /** Of a mount that stays out of replication */
        local: boolean
        /** root */
        namespace_id: string
        /** RFC 3339 */
        creation_time: string
        /** RFC 3339 */
        last_update_time: string
      }[]
      /** Given to it by name */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** No access, with whatever token */
      disabled: boolean
      /** All groups that it is in */
      group_ids: readonly string[]
      /** Those that it is in itself */
      direct_group_ids: readonly string[]
      /** Those that its groups are in */
      inherited_group_ids: readonly string[]
      /** Entities that were merged into it */
      merged_entity_ids: readonly string[] | null
      /** Empty: not offered */
      mfa_secrets: {
        /** None */
        [name: string]: unknown
      }
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Makes the entity, or changes it. */
  'POST identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; the case of its letters makes no difference */
      name: string
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of its tokens, besides their own; all of them are replaced */
      policies?: readonly string[] | undefined
      /** No access, with whatever token */
      disabled?: boolean | undefined
    }
    result: {
      /** Id of the new entity */
      id: string
      /** Its name */
      name: string
      /** None yet */
      aliases: readonly string[]
    } | undefined
  }
  /** Removes an entity with its aliases; its tokens have no access any more. */
  'DELETE identity/entity/name/:name...': {
    fields: {
      /** Name of the entity; the case of its letters makes no difference */
      name: string
    }
    result: undefined
  }
  /** Makes an alias, or changes the one with the id or with the mount and the name. */
  'POST identity/entity-alias': {
    fields: {
      /** Id of an alias that is there */
      id?: string | undefined
      /** Name at the login mount, as its method gives it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** Id of its entity; the default for a new alias is a new entity */
      canonical_id?: string | undefined
      /** Old name of canonical_id */
      entity_id?: string | undefined
      /** Names and texts; all of them are replaced */
      custom_metadata?: Readonly<Record<string, string>> | undefined
    }
    result: {
      /** Id of the alias */
      id: string
      /** Id of its entity */
      canonical_id: string
    }
  }
  /** Ids of the aliases. */
  'LIST identity/entity-alias/id': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** By id */
      key_info: Readonly<Record<string, {
        /** As its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** One alias. */
  'GET identity/entity-alias/id/:id': {
    fields: {
      /** Id of the alias */
      id: string
    }
    result: {
      /** Id of the alias */
      id: string
      /** Id of its entity */
      canonical_id: string
      /** Name at the login mount */
      name: string
      /** Of the login mount */
      mount_accessor: string
      /** Path of the login mount; empty: it is gone */
      mount_path: string
      /** Its login method; empty: it is gone */
      mount_type: string
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** Names and texts */
      custom_metadata: Readonly<Record<string, string>>
      /** Entities that it belonged to before */
      merged_from_canonical_ids: readonly string[] | null
      /** Of a mount that stays out of replication */
      local: boolean
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Changes an alias; another name, mount or entity ends the memberships that logins by it gave. */
  'POST identity/entity-alias/id/:id': {
    fields: {
      /** Id of the alias */
      id: string
      /** Name at the login mount, as its method gives it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** Id of its entity; the default for a new alias is a new entity */
      canonical_id?: string | undefined
      /** Old name of canonical_id */
      entity_id?: string | undefined
      /** Names and texts; all of them are replaced */
      custom_metadata?: Readonly<Record<string, string>> | undefined
    }
    result: {
      /** Id of the alias */
      id: string
      /** Id of its entity */
      canonical_id: string
    }
  }
  /** Removes an alias; the entity stays. */
  'DELETE identity/entity-alias/id/:id': {
    fields: {
      /** Id of the alias */
      id: string
    }
    result: undefined
  }
  /** Makes a group, or changes the one with the id or the name. */
  'POST identity/group': {
    fields: {
      /** Id of a group that is there */
      id?: string | undefined
      /** Name; the default is one that is made up */
      name?: string | undefined
      /** internal: members are named here; external: logins say who is in it; cannot be changed */
      type?: 'internal' | 'external' | '' | undefined
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of the tokens of its members; all of them are replaced */
      policies?: readonly string[] | undefined
      /** Entities in it; all of them are replaced */
      member_entity_ids?: readonly string[] | undefined
      /** Groups in it; all of them are replaced */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** Id of the group */
      id: string
      /** Its name */
      name: string
    }
  }
  /** Ids of the groups. */
  'LIST identity/group/id': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** By id */
      key_info: Readonly<Record<string, {
        /** As its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** One group. */
  'GET identity/group/id/:id': {
    fields: {
      /** Id of the group */
      id: string
    }
    result: {
      /** Id of the group */
      id: string
      /** Name */
      name: string
      /** internal: members are named here; external: logins say who is in it */
      type: string
      /** Given to its members */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** Entities that are in it themselves */
      member_entity_ids: readonly string[]
      /** Groups that are in it */
      member_group_ids: readonly string[]
      /** Groups that it is in */
      parent_group_ids: readonly string[]
      /** Empty: it has none */
      alias: {
        /** As identity/group-alias shows it */
        [name: string]: unknown
      }
      /** Grows with each write */
      modify_index: number
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Changes a group. */
  'POST identity/group/id/:id': {
    fields: {
      /** Id of the group */
      id: string
      /** New name */
      name?: string | undefined
      /** internal: members are named here; external: logins say who is in it; cannot be changed */
      type?: 'internal' | 'external' | '' | undefined
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of the tokens of its members; all of them are replaced */
      policies?: readonly string[] | undefined
      /** Entities in it; all of them are replaced */
      member_entity_ids?: readonly string[] | undefined
      /** Groups in it; all of them are replaced */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** Id of the group */
      id: string
      /** Its name */
      name: string
    }
  }
  /** Removes a group. */
  'DELETE identity/group/id/:id': {
    fields: {
      /** Id of the group */
      id: string
    }
    result: undefined
  }
  /** Names of the groups. */
  'LIST identity/group/name': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
    }
  }
  /** One group. */
  'GET identity/group/name/:name...': {
    fields: {
      /** Name of the group; the case of its letters makes no difference */
      name: string
    }
    result: {
      /** Id of the group */
      id: string
      /** Name */
      name: string
      /** internal: members are named here; external: logins say who is in it */
      type: string
      /** Given to its members */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** Entities that are in it themselves */
      member_entity_ids: readonly string[]
      /** Groups that are in it */
      member_group_ids: readonly string[]
      /** Groups that it is in */
      parent_group_ids: readonly string[]
      /** Empty: it has none */
      alias: {
        /** As identity/group-alias shows it */
        [name: string]: unknown
      }
      /** Grows with each write */
      modify_index: number
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Makes the group, or changes it. */
  'POST identity/group/name/:name...': {
    fields: {
      /** Name of the group; the case of its letters makes no difference */
      name: string
      /** internal: members are named here; external: logins say who is in it; cannot be changed */
      type?: 'internal' | 'external' | '' | undefined
      /** Names and texts; all of them are replaced */
      metadata?: Readonly<Record<string, string>> | undefined
      /** Policies of the tokens of its members; all of them are replaced */
      policies?: readonly string[] | undefined
      /** Entities in it; all of them are replaced */
      member_entity_ids?: readonly string[] | undefined
      /** Groups in it; all of them are replaced */
      member_group_ids?: readonly string[] | undefined
    }
    result: {
      /** Id of the group */
      id: string
      /** Its name */
      name: string
    }
  }
  /** Removes a group. */
  'DELETE identity/group/name/:name...': {
    fields: {
      /** Name of the group; the case of its letters makes no difference */
      name: string
    }
    result: undefined
  }
  /** Makes a group alias, or changes the one with the id or with the mount and the name. */
  'POST identity/group-alias': {
    fields: {
      /** Id of a group alias that is there */
      id?: string | undefined
      /** Name of the group at the login mount, as its method gives it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** Id of an external group; the default for a new alias is a new group */
      canonical_id?: string | undefined
    }
    result: {
      /** Id of the group alias */
      id: string
      /** Id of its group */
      canonical_id: string
    }
  }
  /** Ids of the group aliases. */
  'LIST identity/group-alias/id': {
    fields: {
      /** Only what sorts after this */
      after?: string | undefined
      /** At most so many; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names in order; a folder ends in / */
      keys: readonly string[]
      /** By id */
      key_info: Readonly<Record<string, {
        /** As its own endpoint shows it */
        [name: string]: unknown
      }>>
    }
  }
  /** One group alias. */
  'GET identity/group-alias/id/:id': {
    fields: {
      /** Id of the group alias */
      id: string
    }
    result: {
      /** Id of the group alias */
      id: string
      /** Id of its group */
      canonical_id: string
      /** Name of the group at the login mount */
      name: string
      /** Of the login mount */
      mount_accessor: string
      /** Path of the login mount; empty: it is gone */
      mount_path: string
      /** Its login method; empty: it is gone */
      mount_type: string
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** None */
      merged_from_canonical_ids: readonly string[] | null
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    }
  }
  /** Changes a group alias; another name, mount or group ends the memberships that logins by it gave. */
  'POST identity/group-alias/id/:id': {
    fields: {
      /** Id of the group alias */
      id: string
      /** Name of the group at the login mount, as its method gives it */
      name?: string | undefined
      /** Accessor of the login mount */
      mount_accessor?: string | undefined
      /** Id of an external group; the default for a new alias is a new group */
      canonical_id?: string | undefined
    }
    result: {
      /** Id of the group alias */
      id: string
      /** Id of its group */
      canonical_id: string
    }
  }
  /** Removes a group alias; the group stays, without members. */
  'DELETE identity/group-alias/id/:id': {
    fields: {
      /** Id of the group alias */
      id: string
    }
    result: undefined
  }
  /** The entity that something is known of; 204 without a body where there is none. */
  'POST identity/lookup/entity': {
    fields: {
      /** Id */
      id?: string | undefined
      /** Name */
      name?: string | undefined
      /** Id of an alias */
      alias_id?: string | undefined
      /** Name of an alias, together with alias_mount_accessor */
      alias_name?: string | undefined
      /** Accessor of the login mount of the alias */
      alias_mount_accessor?: string | undefined
    }
    result: {
      /** Id of the entity */
      id: string
      /** Name */
      name: string
      /** Its names at login mounts */
      aliases: readonly {
        /** Id of the alias */
        id: string
        /** Id of its entity */
        canonical_id: string
        /** Name at the login mount */
        name: string
        /** Of the login mount */
        mount_accessor: string
        /** Path of the login mount; empty: it is gone */
        mount_path: string
        /** Its login method; empty: it is gone */
        mount_type: string
        /** Names and texts */
        metadata: Readonly<Record<string, string>> | null
        /** Names and texts */
        custom_metadata: Readonly<Record<string, string>>
        /** Entities that it belonged to before */
        merged_from_canonical_ids: readonly string[] | null
        /** Of a mount that stays out of replication */
        local: boolean
        /** root */
        namespace_id: string
        /** RFC 3339 */
        creation_time: string
        /** RFC 3339 */
        last_update_time: string
      }[]
      /** Given to it by name */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** No access, with whatever token */
      disabled: boolean
      /** All groups that it is in */
      group_ids: readonly string[]
      /** Those that it is in itself */
      direct_group_ids: readonly string[]
      /** Those that its groups are in */
      inherited_group_ids: readonly string[]
      /** Entities that were merged into it */
      merged_entity_ids: readonly string[] | null
      /** Empty: not offered */
      mfa_secrets: {
        /** None */
        [name: string]: unknown
      }
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    } | undefined
  }
  /** The group that something is known of; 204 without a body where there is none. */
  'POST identity/lookup/group': {
    fields: {
      /** Id */
      id?: string | undefined
      /** Name */
      name?: string | undefined
      /** Id of an alias */
      alias_id?: string | undefined
      /** Name of an alias, together with alias_mount_accessor */
      alias_name?: string | undefined
      /** Accessor of the login mount of the alias */
      alias_mount_accessor?: string | undefined
    }
    result: {
      /** Id of the group */
      id: string
      /** Name */
      name: string
      /** internal: members are named here; external: logins say who is in it */
      type: string
      /** Given to its members */
      policies: readonly string[]
      /** Names and texts */
      metadata: Readonly<Record<string, string>> | null
      /** Entities that are in it themselves */
      member_entity_ids: readonly string[]
      /** Groups that are in it */
      member_group_ids: readonly string[]
      /** Groups that it is in */
      parent_group_ids: readonly string[]
      /** Empty: it has none */
      alias: {
        /** As identity/group-alias shows it */
        [name: string]: unknown
      }
      /** Grows with each write */
      modify_index: number
      /** root */
      namespace_id: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_update_time: string
    } | undefined
  }
  /** Who signs the tokens by which mounts prove elsewhere who they are. */
  'GET identity/oidc/plugins/.well-known/openid-configuration': {
    fields: Record<never, never>
    result: {
      /** Claim "iss" of the tokens */
      issuer: string
      /** Where their keys are */
      jwks_uri: string
      /** Nothing is handed out here */
      response_types_supported: readonly string[]
      /** Everybody is told the same subject */
      subject_types_supported: readonly string[]
      /** How the tokens are signed */
      id_token_signing_alg_values_supported: readonly string[]
    }
  }
  /** The public keys of those tokens, as a JSON Web Key Set (RFC 7517). */
  'GET identity/oidc/plugins/.well-known/keys': {
    fields: Record<never, never>
    result: {
      /** In the order of their use */
      keys: readonly {
        /** RSA */
        kty: string
        /** sig */
        use: string
        /** RS256 */
        alg: string
        /** Names the key in the head of a token */
        kid: string
        /** Modulus, base64url */
        n: string
        /** Exponent, base64url */
        e: string
      }[]
    }
  }
  /** Makes a named key. */
  'POST transit/keys/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type?: string | undefined
      /** With the type ml-dsa, which one: 44, 65, 87. The same as the type ml-dsa-N */
      parameter_set?: string | undefined
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
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
      /** Of a key that makes CMACs: bytes of the shortest that verify takes, else 8 */
      min_mac_length?: number | undefined
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Deletes the versions of a key below min_available_version, for good. */
  'POST transit/keys/:name/trim': {
    fields: {
      /** Name of the key */
      name: string
      /** The lowest version that is kept */
      min_available_version?: number | undefined
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Takes a key out of use until it is restored: nothing of it is deleted. */
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
      /** Equal plaintexts under one context give equal ciphertexts, with derivation */
      convergent_encryption?: boolean
      /** -1: each version has its own, the current one */
      convergent_encryption_version?: number
    }
  }
  /** Brings a key back into use that was taken out of it with soft-delete. */
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
      /** The versions that can be used, by number */
      keys: Readonly<Record<string, unknown>>
      /** Of a key that makes CMACs: bytes of the shortest that verify takes */
      min_mac_length?: number
      /** Bytes of a key, of types that come in several sizes */
      key_size?: number
      /** Of an imported key: whether it can be rotated */
      imported_key_allow_rotation?: boolean
      /** When it was last backed up */
      backup_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** When it was last restored */
      restore_info?: {
        /** RFC 3339 */
        time: string
        /** The latest version then */
        version: number
      }
      /** In reads: what each version encrypted at most, of types whose nonces are good for 2^32 messages */
      encryption_counts?: Readonly<Record<string, number>>
      /** How keys are derived, with derivation */
      kdf?: string
      /** Of keys whose kdf is older than HKDF */
      kdf_mode?: string
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
      /** 12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass */
      nonce?: string | undefined
      /** Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it */
      padding_scheme?: string | undefined
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
        padding_scheme?: string | undefined
        /** As the field of the same name */
        key_version?: number | undefined
      }[] | undefined
      /**
       * Status for a batch of which some items fail and some do not, 200 to 599; else 400. With 204 the answer has no
       * results; 205 and 304, whose answers have no body either, and what is out of range are 400 with a warning
       */
      partial_failure_response_code?: number | undefined
      /** Type of the key, where the request makes it: one that is symmetric and authenticates */
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
      /** 12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass */
      nonce?: string | undefined
      /** Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it */
      padding_scheme?: string | undefined
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
        /** As the field of the same name */
        padding_scheme?: string | undefined
      }[] | undefined
      /**
       * Status for a batch of which some items fail and some do not, 200 to 599; else 400. With 204 the answer has no
       * results; 205 and 304, whose answers have no body either, and what is out of range are 400 with a warning
       */
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
      /** 12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass */
      nonce?: string | undefined
      /**
       * Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it: of the ciphertext that is
       * given
       */
      decrypt_padding_scheme?: string | undefined
      /**
       * Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it: of the ciphertext that is
       * made
       */
      encrypt_padding_scheme?: string | undefined
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
        /** As the field of the same name */
        decrypt_padding_scheme?: string | undefined
        /** As the field of the same name */
        encrypt_padding_scheme?: string | undefined
      }[] | undefined
      /**
       * Status for a batch of which some items fail and some do not, 200 to 599; else 400. With 204 the answer has no
       * results; 205 and 304, whose answers have no body either, and what is out of range are 400 with a warning
       */
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
      /** 12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass */
      nonce?: string | undefined
      /** Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it */
      padding_scheme?: string | undefined
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
  /** Makes many data keys and encrypts each with a named key. */
  'POST transit/datakeys/:type/:name': {
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
      /** 12 bytes, base64: what restored versions of convergent encryption 1 take; other convergent keys let it pass */
      nonce?: string | undefined
      /** Of RSA keys: oaep, which is the default, or pkcs1v15, for those who must have it */
      padding_scheme?: string | undefined
      /** Version of the key that encrypts; 0 is the latest */
      key_version?: number | undefined
      /** How many, 1 to 1000 */
      count: number
    }
    result: {
      /** The data keys */
      key_pairs: readonly {
        /** vault:vN: and base64 */
        ciphertext: string
        /** For type plaintext; base64 */
        plaintext?: string
      }[]
      /** Version of the key that encrypted them */
      key_version: number
    }
  }
  /** Signs data with a named key. */
  'POST transit/sign/:name': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash of the input, not for ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 where none is named
       */
      hash_algorithm?: string | undefined
      /** Older name of hash_algorithm, looked at where that one is sent empty */
      algorithm?: string | undefined
      /** The input is the hash already; ed25519 takes it for the message, ML-DSA refuses it */
      prehashed?: boolean | undefined
      /** RSA: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** asn1, or jws: base64url, and ECDSA as r and s one after the other */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS: auto (the longest, any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** What to sign, base64; missing: nothing */
      input?: string | undefined
      /** Version of the key that signs; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input and context */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64, or base64url where marshaled as jws */
      signature?: string
      /** Version of the key that signed */
      key_version?: number
      /** Of a key with derivation: the public key for the context, base64 */
      public_key?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64, or base64url where marshaled as jws */
        signature?: string
        /** Version of the key that signed; 0 where the item failed */
        key_version: number
        /** Of a key with derivation: the public key for the context, base64 */
        publickey?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
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
       * Hash of the input, not for ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 where none is named
       */
      hash_algorithm: string
      /** Older name of hash_algorithm, looked at where that one is sent empty */
      algorithm?: string | undefined
      /** The input is the hash already; ed25519 takes it for the message, ML-DSA refuses it */
      prehashed?: boolean | undefined
      /** RSA: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** asn1, or jws: base64url, and ECDSA as r and s one after the other */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS: auto (the longest, any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** What to sign, base64; missing: nothing */
      input?: string | undefined
      /** Version of the key that signs; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input and context */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64, or base64url where marshaled as jws */
      signature?: string
      /** Version of the key that signed */
      key_version?: number
      /** Of a key with derivation: the public key for the context, base64 */
      public_key?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64, or base64url where marshaled as jws */
        signature?: string
        /** Version of the key that signed; 0 where the item failed */
        key_version: number
        /** Of a key with derivation: the public key for the context, base64 */
        publickey?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Verifies a signature, an HMAC or a CMAC of a named key. */
  'POST transit/verify/:name': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash of the input, not for ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 where none is named
       */
      hash_algorithm?: string | undefined
      /** Older name of hash_algorithm, looked at where that one is sent empty */
      algorithm?: string | undefined
      /** The input is the hash already; ed25519 takes it for the message, ML-DSA refuses it */
      prehashed?: boolean | undefined
      /** RSA: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** asn1, or jws: base64url, and ECDSA as r and s one after the other */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS: auto (the longest, any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** What was signed or authenticated, base64; missing: nothing */
      input?: string | undefined
      /** What sign gave */
      signature?: string | undefined
      /** What hmac gave, looked at where there is no signature */
      hmac?: string | undefined
      /** What cmac gave, looked at where there is neither of the two */
      cmac?: string | undefined
      /** Of a cmac: its bytes, as when it was made, not below min_mac_length of the key; 0 is all of it */
      mac_length?: number | undefined
      /**
       * Items instead of input, signature, hmac, cmac and context: all have a signature, or all an hmac, or all a cmac
       */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        signature?: string | undefined
        /** As the field of the same name */
        hmac?: string | undefined
        /** As the field of the same name */
        cmac?: string | undefined
        /** As the field of the same name */
        mac_length?: number | undefined
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Whether it is one of the input */
      valid?: boolean
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Whether it is one of the input */
        valid: boolean
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Verifies a signature, an HMAC or a CMAC of a named key. */
  'POST transit/verify/:name/:hash_algorithm': {
    fields: {
      /** Name of the key */
      name: string
      /**
       * Hash of the input, not for ed25519 and ML-DSA: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224,
       * sha3-256, sha3-384, sha3-512, none; sha2-256 where none is named
       */
      hash_algorithm: string
      /** Older name of hash_algorithm, looked at where that one is sent empty */
      algorithm?: string | undefined
      /** The input is the hash already; ed25519 takes it for the message, ML-DSA refuses it */
      prehashed?: boolean | undefined
      /** RSA: pss or pkcs1v15; empty is pss */
      signature_algorithm?: string | undefined
      /** asn1, or jws: base64url, and ECDSA as r and s one after the other */
      marshaling_algorithm?: string | undefined
      /** RSA-PSS: auto (the longest, any when verifying), hash (as the hash), or a number of bytes */
      salt_length?: string | undefined
      /** Context, for keys with derivation; base64 */
      context?: string | undefined
      /** What was signed or authenticated, base64; missing: nothing */
      input?: string | undefined
      /** What sign gave */
      signature?: string | undefined
      /** What hmac gave, looked at where there is no signature */
      hmac?: string | undefined
      /** What cmac gave, looked at where there is neither of the two */
      cmac?: string | undefined
      /** Of a cmac: its bytes, as when it was made, not below min_mac_length of the key; 0 is all of it */
      mac_length?: number | undefined
      /**
       * Items instead of input, signature, hmac, cmac and context: all have a signature, or all an hmac, or all a cmac
       */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        signature?: string | undefined
        /** As the field of the same name */
        hmac?: string | undefined
        /** As the field of the same name */
        cmac?: string | undefined
        /** As the field of the same name */
        mac_length?: number | undefined
        /** As the field of the same name */
        context?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** Whether it is one of the input */
      valid?: boolean
      /** Results in the order of the items */
      batch_results?: readonly {
        /** Whether it is one of the input */
        valid: boolean
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Makes an HMAC with a named key. */
  'POST transit/hmac/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Hash: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 */
      algorithm?: string | undefined
      /** What to authenticate, base64; it may be empty */
      input?: string | undefined
      /** Version of the key that makes the HMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64, in full length */
      hmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64, in full length */
        hmac?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Makes an HMAC with a named key. */
  'POST transit/hmac/:name/:algorithm': {
    fields: {
      /** Name of the key */
      name: string
      /** Hash: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 */
      algorithm: string
      /** What to authenticate, base64; it may be empty */
      input?: string | undefined
      /** Version of the key that makes the HMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64, in full length */
      hmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64, in full length */
        hmac?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Makes an AES-CMAC with a named key. */
  'POST transit/cmac/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Bytes of the CMAC, from its first: 1 to 16; 0 is all of it */
      mac_length?: number | undefined
      /** What to authenticate, base64, and not empty */
      input?: string | undefined
      /** Version of the key that makes the CMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        mac_length?: number | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64 */
      cmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64 */
        cmac?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Makes an AES-CMAC with a named key. */
  'POST transit/cmac/:name/:mac_length': {
    fields: {
      /** Name of the key */
      name: string
      /** Bytes of the CMAC, from its first: 1 to 16; 0 is all of it */
      mac_length: number
      /** What to authenticate, base64, and not empty */
      input?: string | undefined
      /** Version of the key that makes the CMAC; 0 is the latest */
      key_version?: number | undefined
      /** Items instead of input */
      batch_input?: readonly {
        /** As the field of the same name */
        input?: string | undefined
        /** As the field of the same name */
        mac_length?: number | undefined
        /** As the field of the same name */
        reference?: string | undefined
      }[] | undefined
    }
    result: {
      /** vault:vN: and base64 */
      cmac?: string
      /** Results in the order of the items */
      batch_results?: readonly {
        /** vault:vN: and base64 */
        cmac?: string
        /** As in the item; empty for none */
        reference: string
        /** What is wrong with the item, where it failed */
        error?: string
      }[]
    }
  }
  /** Random bytes. */
  'POST transit/random': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source?: string | undefined
      /** How many */
      bytes?: number | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** Random bytes. */
  'POST transit/random/:source': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source: string
      /** How many */
      bytes?: number | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** Random bytes. */
  'POST transit/random/:source/:bytes': {
    fields: {
      /** platform: this machine; seal: the device of the seal; all: both mixed. A number here is `bytes` */
      source: string
      /** How many */
      bytes: number
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The bytes */
      random_bytes: string
    }
  }
  /** Hash of the input. */
  'POST transit/hash': {
    fields: {
      /** Data, base64 */
      input: string
      /** sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm?: string | undefined
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash */
      sum: string
    }
  }
  /** Hash of the input. */
  'POST transit/hash/:algorithm': {
    fields: {
      /** Data, base64 */
      input: string
      /** sha2-224, -256, -384, -512 or sha3-224, -256, -384, -512 */
      algorithm: string
      /** Of the answer: hex or base64 */
      format?: 'hex' | 'base64' | undefined
    }
    result: {
      /** The hash */
      sum: string
    }
  }
  /** Signs a certificate request (PKCS #10) for the public key of a version. */
  'POST transit/keys/:name/csr': {
    fields: {
      /** Name of the key */
      name: string
      /** Version of the key that the request is for, and that signs it; 0 is the latest */
      version?: number | 'latest' | undefined
      /** Template: another certificate request in PEM */
      csr?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** The request in PEM */
      csr: string
    }
  }
  /** Keeps a chain of certificates with a version of a key that signs, in place of what was there. */
  'POST transit/keys/:name/set-certificate': {
    fields: {
      /** Name of the key */
      name: string
      /** Version of the key that the first certificate is for; 0 is the latest */
      version?: number | 'latest' | undefined
      /** Certificates in PEM, that of the key first */
      certificate_chain: string
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** As it was given */
      certificate_chain: string
    }
  }
  /** Makes a key that another party can make as well, from an ECDSA key here and their public key. */
  'POST transit/derive-key/:name': {
    fields: {
      /** Name of the key */
      name: string
      /** Name of the ECDSA key whose private half is used */
      base_key_name: string
      /** Its version; 0 is the latest */
      base_key_version?: number | undefined
      /** Public key of the other party, on the same curve: SubjectPublicKeyInfo in PEM */
      peer_public_key: string
      /** How they agree on it: ecdh */
      key_derivation_algorithm?: string | undefined
      /** Type of the new key: aes128-gcm96, aes256-gcm96, chacha20-poly1305, xchacha20-poly1305 */
      derived_key_type?: string | undefined
    }
    result: undefined
  }
  /** Shows the public key for which keys are wrapped that are to be imported: RSA with 4096 bits. */
  'GET transit/wrapping_key': {
    fields: Record<never, never>
    result: {
      /** PEM */
      public_key: string
    }
  }
  /** Shows an exportable key wrapped for an RSA key, as import takes it. */
  'GET transit/byok-export/:destination/:source': {
    fields: {
      /** Name of an RSA key, whose latest version wraps */
      destination: string
      /** Name of the key to be wrapped */
      source: string
      /** Hash of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash?: string | undefined
    }
    result: {
      /** Name of the source */
      name: string
      /** Type of the source */
      type: string
      /** By number of the version */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Shows an exportable key wrapped for an RSA key, as import takes it. */
  'GET transit/byok-export/:destination/:source/:version...': {
    fields: {
      /** Name of an RSA key, whose latest version wraps */
      destination: string
      /** Name of the key to be wrapped */
      source: string
      /** Number of a version, or latest; without it all that can be used */
      version: string
      /** Hash of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash?: string | undefined
    }
    result: {
      /** Name of the source */
      name: string
      /** Type of the source */
      type: string
      /** By number of the version */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Makes a named key of one that was made elsewhere. */
  'POST transit/keys/:name/import': {
    fields: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type?: string | undefined
      /** With the type ml-dsa, which one: 44, 65, 87. The same as the type ml-dsa-N */
      parameter_set?: string | undefined
      /** The key, wrapped: 512 bytes of RSA-OAEP under the wrapping key, then AES-KWP; base64 */
      ciphertext?: string | undefined
      /** Hash of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash_function?: string | undefined
      /** Instead of ciphertext: the public half alone, in PEM */
      public_key?: string | undefined
      /** It can be rotated here; afterwards no version of it can be imported */
      allow_rotation?: boolean | undefined
      /** Each request gives a context, from which the key for it is derived */
      derived?: boolean | undefined
      /** Accepted and not used */
      context?: string | undefined
      /** Can be exported; stays so */
      exportable?: boolean | undefined
      /** Can be backed up in plaintext; stays so */
      allow_plaintext_backup?: boolean | undefined
      /** Time after which it is rotated, an hour or more; needs allow_rotation */
      auto_rotate_period?: Duration | undefined
      /** Refused: a key from elsewhere cannot be convergent */
      convergent_encryption?: boolean | undefined
    }
    result: undefined
  }
  /** Adds a version that was made elsewhere to an imported key, or completes one. */
  'POST transit/keys/:name/import_version': {
    fields: {
      /** Name of the key */
      name: string
      /** The key, wrapped: 512 bytes of RSA-OAEP under the wrapping key, then AES-KWP; base64 */
      ciphertext?: string | undefined
      /** Hash of RSA-OAEP: SHA1, SHA224, SHA256, SHA384, SHA512 */
      hash_function?: string | undefined
      /** Instead of ciphertext: the public half alone, in PEM */
      public_key?: string | undefined
      /** Version of which only the public half is known, to be completed by its private key */
      version?: number | undefined
    }
    result: undefined
  }
  /** Shows key material in clear, of a key that is exportable; public halves of any key. */
  'GET transit/export/:type/:name': {
    fields: {
      /** What of the key: encryption-key, signing-key, hmac-key, cmac-key, public-key, certificate-chain */
      type: string
      /** Name of the key */
      name: string
      /** raw: base64 of the bytes; der: base64 of PKCS #8 or SubjectPublicKeyInfo; pem: the same as text */
      format?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** By number of the version */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Shows key material in clear, of a key that is exportable; public halves of any key. */
  'GET transit/export/:type/:name/:version...': {
    fields: {
      /** What of the key: encryption-key, signing-key, hmac-key, cmac-key, public-key, certificate-chain */
      type: string
      /** Name of the key */
      name: string
      /** Number of a version, or latest; without it all that can be used */
      version: string
      /** raw: base64 of the bytes; der: base64 of PKCS #8 or SubjectPublicKeyInfo; pem: the same as text */
      format?: string | undefined
    }
    result: {
      /** Name of the key */
      name: string
      /** Type of the key */
      type: string
      /** By number of the version */
      keys: Readonly<Record<string, string>>
    }
  }
  /** Shows a key with all its versions and settings in clear, for restore. */
  'GET transit/backup/:name': {
    fields: {
      /** Name of the key */
      name: string
    }
    result: {
      /** What restore takes */
      backup: string
    }
  }
  /** Makes a key of a backup, with all its versions and settings. */
  'POST transit/restore': {
    fields: {
      /** Name of the key; without it the one in the backup */
      name?: string | undefined
      /** What backup showed */
      backup?: string | undefined
      /** Takes the place of a key of that name */
      force?: boolean | undefined
    }
    result: undefined
  }
  /** Makes a key of a backup, with all its versions and settings. */
  'POST transit/restore/:name...': {
    fields: {
      /** Name of the key; without it the one in the backup */
      name: string
      /** What backup showed */
      backup?: string | undefined
      /** Takes the place of a key of that name */
      force?: boolean | undefined
    }
    result: undefined
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
  /** Shows how many keys are kept ready for use. */
  'GET transit/cache-config': {
    fields: Record<never, never>
    result: {
      /** Keys that each thread keeps ready for use; 0: as many as is usual, 10000 */
      size: number
    }
  }
  /** Changes how many keys are kept ready for use. */
  'POST transit/cache-config': {
    fields: {
      /** Keys that each thread keeps ready for use; 0: as many as is usual, 10000 */
      size?: number | undefined
    }
    result: {
      /** Keys that each thread keeps ready for use; 0: as many as is usual, 10000 */
      size: number
    }
  }
  /** What the calling token keeps at a path. */
  'GET cubbyhole/:path...': {
    fields: {
      /** Any path */
      path: string
    }
    result: {
      /** As it was written */
      [name: string]: unknown
    }
  }
  /** Keeps an object for the calling token alone, as long as it lives; replaces what was there. */
  'POST cubbyhole/:path...': {
    fields: {
      /** Any path */
      path: string
    }
    result: undefined
  }
  /** Forgets what the calling token keeps at a path; nothing there is no error. */
  'DELETE cubbyhole/:path...': {
    fields: {
      /** Any path */
      path: string
    }
    result: undefined
  }
  /** Names that the calling token keeps below a path. */
  'LIST cubbyhole/': {
    fields: {
      /** Only names that sort after this one */
      after?: string | undefined
      /** At most so many names; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted */
      keys: readonly string[]
    }
  }
  /** Names that the calling token keeps below a path. */
  'LIST cubbyhole/:path...': {
    fields: {
      /** A folder */
      path: string
      /** Only names that sort after this one */
      after?: string | undefined
      /** At most so many names; 0: all */
      limit?: number | undefined
    }
    result: {
      /** Names, sorted */
      keys: readonly string[]
    }
  }
  /** Names of all users. */
  'LIST auth/userpass/users': {
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
  /** What tokens a user gets; never the password. */
  'GET auth/userpass/users/:username': {
    fields: {
      /** Name; upper case counts as lower case */
      username: string
    }
    result: {
      /** Seconds */
      token_ttl: number
      /** Seconds */
      token_max_ttl: number
      /** Seconds */
      token_explicit_max_ttl: number
      /** Seconds */
      token_period: number
      /** Policies of the tokens */
      token_policies: readonly string[]
      /** Where logins come from */
      token_bound_cidrs: readonly string[]
      /** Without the policy "default" */
      token_no_default_policy: boolean
      /** Requests a token may make; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** default, service or batch */
      token_type: string
      /** Where the old name was used */
      policies?: readonly string[]
      /** Where the old name was used */
      ttl?: number
      /** Where the old name was used */
      max_ttl?: number
      /** Where the old name was used */
      bound_cidrs?: readonly string[]
    }
  }
  /** Makes a user, or changes what is sent. */
  'POST auth/userpass/users/:username': {
    fields: {
      /** Name; upper case counts as lower case */
      username: string
      /** Password */
      password?: string | undefined
      /** Not taken over */
      password_hash?: string | undefined
      /** Lifetime of the tokens; 0: as the mount has it */
      token_ttl?: Duration | undefined
      /** Longest lifetime, renewals included; 0: as the mount has it */
      token_max_ttl?: Duration | undefined
      /** Hard end after the login, whatever is renewed; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /** Each renewal gives this long, without an end; 0: not periodic */
      token_period?: Duration | undefined
      /** Policies of the tokens */
      token_policies?: readonly string[] | undefined
      /** Addresses or blocks that logins may come from and tokens be used from; empty: anywhere */
      token_bound_cidrs?: readonly string[] | undefined
      /** Without the policy "default" */
      token_no_default_policy?: boolean | undefined
      /** Requests a token may make; 0: unlimited */
      token_num_uses?: number | undefined
      /** service, batch, or default: as the mount has it */
      token_type?: string | undefined
      /** Old name of token_policies */
      policies?: readonly string[] | undefined
      /** Old name of token_ttl */
      ttl?: Duration | undefined
      /** Old name of token_max_ttl */
      max_ttl?: Duration | undefined
      /** Old name of token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Removes a user; tokens that it got live on until they end. */
  'DELETE auth/userpass/users/:username': {
    fields: {
      /** Name; upper case counts as lower case */
      username: string
    }
    result: undefined
  }
  /** Changes the password of a user. */
  'POST auth/userpass/users/:username/password': {
    fields: {
      /** Name; upper case counts as lower case */
      username: string
      /** Password */
      password?: string | undefined
      /** Not taken over */
      password_hash?: string | undefined
    }
    result: undefined
  }
  /** Changes the policies of a user. */
  'POST auth/userpass/users/:username/policies': {
    fields: {
      /** Name; upper case counts as lower case */
      username: string
      /** Policies of the tokens */
      token_policies?: readonly string[] | undefined
      /** Old name of token_policies */
      policies?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Logs in. */
  'POST auth/userpass/login/:username': {
    fields: {
      /** Name, in any case */
      username: string
      /** Password */
      password?: string | undefined
    }
    result: Auth
  }
  /** Names of all roles. */
  'LIST auth/approle/role': {
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
  /** What a role asks for and gives. */
  'GET auth/approle/role/:role_name': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** Seconds */
      token_ttl: number
      /** Seconds */
      token_max_ttl: number
      /** Seconds */
      token_explicit_max_ttl: number
      /** Seconds */
      token_period: number
      /** Policies of the tokens */
      token_policies: readonly string[]
      /** Where logins come from */
      token_bound_cidrs: readonly string[]
      /** Without the policy "default" */
      token_no_default_policy: boolean
      /** Requests a token may make; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** default, service or batch */
      token_type: string
      /** Where the old name was used */
      policies?: readonly string[]
      /** Where the old name was used */
      ttl?: number
      /** Where the old name was used */
      max_ttl?: number
      /** Where the old name was used */
      bound_cidrs?: readonly string[]
      /** A login needs a secret id */
      bind_secret_id: boolean
      /** Where logins may come from; null: anywhere */
      secret_id_bound_cidrs: readonly string[] | null
      /** Logins that a new secret id is good for; 0: without limit */
      secret_id_num_uses: number
      /** Seconds; 0: without end */
      secret_id_ttl: number
      /** Characters that a secret id of one’s own has at least */
      custom_secret_id_min_length: number
      /** Always false */
      local_secret_ids: boolean
      /** Where the old name was used */
      period?: number
    }
  }
  /** Makes a role, or changes what is sent. */
  'POST auth/approle/role/:role_name': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** A role id of your own; the default is a new one */
      role_id?: string | undefined
      /** A login needs a secret id */
      bind_secret_id?: boolean | undefined
      /** Addresses or blocks that logins may come from; empty: anywhere */
      secret_id_bound_cidrs?: readonly string[] | undefined
      /** Old name of secret_id_bound_cidrs */
      bound_cidr_list?: readonly string[] | undefined
      /** Logins that a new secret id is good for; 0: without limit */
      secret_id_num_uses?: number | undefined
      /** Lifetime of a new secret id; 0: it does not end */
      secret_id_ttl?: Duration | undefined
      /** Characters that a secret id of your own has at least; the default is 8 */
      custom_secret_id_min_length?: number | undefined
      /** Only false is offered */
      local_secret_ids?: boolean | undefined
      /** Old name of token_period */
      period?: Duration | undefined
      /** Lifetime of the tokens; 0: as the mount has it */
      token_ttl?: Duration | undefined
      /** Longest lifetime, renewals included; 0: as the mount has it */
      token_max_ttl?: Duration | undefined
      /** Hard end after the login, whatever is renewed; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /** Each renewal gives this long, without an end; 0: not periodic */
      token_period?: Duration | undefined
      /** Policies of the tokens */
      token_policies?: readonly string[] | undefined
      /** Addresses or blocks that logins may come from and tokens be used from; empty: anywhere */
      token_bound_cidrs?: readonly string[] | undefined
      /** Without the policy "default" */
      token_no_default_policy?: boolean | undefined
      /** Requests a token may make; 0: unlimited */
      token_num_uses?: number | undefined
      /** service, batch, or default: as the mount has it */
      token_type?: string | undefined
      /** Old name of token_policies */
      policies?: readonly string[] | undefined
      /** Old name of token_ttl */
      ttl?: Duration | undefined
      /** Old name of token_max_ttl */
      max_ttl?: Duration | undefined
      /** Old name of token_bound_cidrs */
      bound_cidrs?: readonly string[] | undefined
    }
    result: undefined
  }
  /** Removes a role and its secret ids; tokens that it gave live on until they end. */
  'DELETE auth/approle/role/:role_name': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_policies of a role. */
  'GET auth/approle/role/:role_name/policies': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_policies of a role. */
  'POST auth/approle/role/:role_name/policies': {
    fields: {
      /** Policies of the tokens */
      token_policies?: readonly string[] | undefined
      /** Old name of token_policies */
      policies?: readonly string[] | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_policies of a role back to its default. */
  'DELETE auth/approle/role/:role_name/policies': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads bind_secret_id of a role. */
  'GET auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets bind_secret_id of a role. */
  'POST auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** A login needs a secret id */
      bind_secret_id?: boolean | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets bind_secret_id of a role back to its default. */
  'DELETE auth/approle/role/:role_name/bind-secret-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads secret_id_num_uses of a role. */
  'GET auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_num_uses of a role. */
  'POST auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Logins that a new secret id is good for; 0: without limit */
      secret_id_num_uses?: number | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets secret_id_num_uses of a role back to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-num-uses': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads secret_id_ttl of a role. */
  'GET auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_ttl of a role. */
  'POST auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Lifetime of a new secret id; 0: it does not end */
      secret_id_ttl?: Duration | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets secret_id_ttl of a role back to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads secret_id_bound_cidrs of a role. */
  'GET auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets secret_id_bound_cidrs of a role. */
  'POST auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** Addresses or blocks that logins may come from; empty: anywhere */
      secret_id_bound_cidrs?: readonly string[] | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets secret_id_bound_cidrs of a role back to its default. */
  'DELETE auth/approle/role/:role_name/secret-id-bound-cidrs': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_ttl of a role. */
  'GET auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_ttl of a role. */
  'POST auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** Lifetime of the tokens; 0: as the mount has it */
      token_ttl?: Duration | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_ttl of a role back to its default. */
  'DELETE auth/approle/role/:role_name/token-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_max_ttl of a role. */
  'GET auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_max_ttl of a role. */
  'POST auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Longest lifetime, renewals included; 0: as the mount has it */
      token_max_ttl?: Duration | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_max_ttl of a role back to its default. */
  'DELETE auth/approle/role/:role_name/token-max-ttl': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_num_uses of a role. */
  'GET auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_num_uses of a role. */
  'POST auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Requests a token may make; 0: unlimited */
      token_num_uses?: number | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_num_uses of a role back to its default. */
  'DELETE auth/approle/role/:role_name/token-num-uses': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_period of a role. */
  'GET auth/approle/role/:role_name/period': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_period of a role. */
  'POST auth/approle/role/:role_name/period': {
    fields: {
      /** Each renewal gives this long, without an end; 0: not periodic */
      token_period?: Duration | undefined
      /** Old name of token_period */
      period?: Duration | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_period of a role back to its default. */
  'DELETE auth/approle/role/:role_name/period': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Reads token_bound_cidrs of a role. */
  'GET auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** As it is set */
      [name: string]: unknown
    }
  }
  /** Sets token_bound_cidrs of a role. */
  'POST auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** Addresses or blocks that logins may come from and tokens be used from; empty: anywhere */
      token_bound_cidrs?: readonly string[] | undefined
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** Sets token_bound_cidrs of a role back to its default. */
  'DELETE auth/approle/role/:role_name/token-bound-cidrs': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: undefined
  }
  /** The role id. */
  'GET auth/approle/role/:role_name/role-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
    }
    result: {
      /** Names the role at login */
      role_id: string
    }
  }
  /** Gives the role a role id of your own. */
  'POST auth/approle/role/:role_name/role-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** The role id */
      role_id: string
    }
    result: undefined
  }
  /** Accessors of the secret ids of a role. */
  'LIST auth/approle/role/:role_name/secret-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
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
  /** Makes a secret id. */
  'POST auth/approle/role/:role_name/secret-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** A JSON object of names and texts, as text: kept with the tokens */
      metadata?: string | undefined
      /** Addresses or blocks that logins may come from; within those of the role */
      cidr_list?: readonly string[] | undefined
      /** Addresses or blocks that tokens may be used from; the default is the role’s */
      token_bound_cidrs?: readonly string[] | undefined
      /** Logins it is good for; 0: without limit; the default is the role’s */
      num_uses?: number | undefined
      /** Lifetime; the default is the role’s */
      ttl?: Duration | undefined
    }
    result: {
      /** The secret id: shown now and never again */
      secret_id: string
      /** Names it without giving access */
      secret_id_accessor: string
      /** Seconds; 0: without end */
      secret_id_ttl: number
      /** Logins; 0: without limit */
      secret_id_num_uses: number
    }
  }
  /** Takes over a secret id of your own. */
  'POST auth/approle/role/:role_name/custom-secret-id': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** A JSON object of names and texts, as text: kept with the tokens */
      metadata?: string | undefined
      /** Addresses or blocks that logins may come from; within those of the role */
      cidr_list?: readonly string[] | undefined
      /** Addresses or blocks that tokens may be used from; the default is the role’s */
      token_bound_cidrs?: readonly string[] | undefined
      /** Logins it is good for; 0: without limit; the default is the role’s */
      num_uses?: number | undefined
      /** Lifetime; the default is the role’s */
      ttl?: Duration | undefined
      /** The secret id */
      secret_id: string
    }
    result: {
      /** The secret id: shown now and never again */
      secret_id: string
      /** Names it without giving access */
      secret_id_accessor: string
      /** Seconds; 0: without end */
      secret_id_ttl: number
      /** Logins; 0: without limit */
      secret_id_num_uses: number
    }
  }
  /** What is known of a secret id. */
  'POST auth/approle/role/:role_name/secret-id/lookup': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** The secret id */
      secret_id: string
    }
    result: {
      /** Names it */
      secret_id_accessor: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_updated_time: string
      /** RFC 3339; the year 1: never */
      expiration_time: string
      /** Seconds; 0: without end */
      secret_id_ttl: number
      /** Logins left; 0: without limit */
      secret_id_num_uses: number
      /** Kept with the tokens */
      metadata: Readonly<Record<string, string>>
      /** Where logins may come from */
      cidr_list: readonly string[]
      /** Where tokens may be used from */
      token_bound_cidrs: readonly string[]
    } | undefined
  }
  /** Destroys a secret id; one that is not there is no error. */
  'POST auth/approle/role/:role_name/secret-id/destroy': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** The secret id */
      secret_id: string
    }
    result: undefined
  }
  /** Destroys a secret id; one that is not there is no error. */
  'DELETE auth/approle/role/:role_name/secret-id/destroy': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** The secret id */
      secret_id: string
    }
    result: undefined
  }
  /** What is known of a secret id. */
  'POST auth/approle/role/:role_name/secret-id-accessor/lookup': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** Its accessor */
      secret_id_accessor: string
    }
    result: {
      /** Names it */
      secret_id_accessor: string
      /** RFC 3339 */
      creation_time: string
      /** RFC 3339 */
      last_updated_time: string
      /** RFC 3339; the year 1: never */
      expiration_time: string
      /** Seconds; 0: without end */
      secret_id_ttl: number
      /** Logins left; 0: without limit */
      secret_id_num_uses: number
      /** Kept with the tokens */
      metadata: Readonly<Record<string, string>>
      /** Where logins may come from */
      cidr_list: readonly string[]
      /** Where tokens may be used from */
      token_bound_cidrs: readonly string[]
    }
  }
  /** Destroys a secret id; one that is not there is no error. */
  'POST auth/approle/role/:role_name/secret-id-accessor/destroy': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** Its accessor */
      secret_id_accessor: string
    }
    result: undefined
  }
  /** Destroys a secret id; one that is not there is no error. */
  'DELETE auth/approle/role/:role_name/secret-id-accessor/destroy': {
    fields: {
      /** Name; upper case counts as lower case */
      role_name: string
      /** Its accessor */
      secret_id_accessor: string
    }
    result: undefined
  }
  /** Logs in. */
  'POST auth/approle/login': {
    fields: {
      /** Names the role */
      role_id?: string | undefined
      /** Proves it */
      secret_id?: string | undefined
    }
    result: Auth
  }
  /** Removes secret ids that are over. */
  'POST auth/approle/tidy/secret-id': {
    fields: Record<never, never>
    result: undefined
  }
  /** The configuration of the mount. */
  'GET auth/cloud/config': {
    fields: Record<never, never>
    result: {
      /** Directory */
      tenant_id: string
      /** Audience */
      resource: string
      /** Cloud, as written; empty: the public one */
      environment: string
      /** Application */
      client_id: string
      /** What an operator wrote, to callers with sudo */
      client_secret?: string
      /** Seconds */
      root_password_ttl: number
      /** RFC 3339: end of the secret that rotate-root made */
      root_password_expiration_date?: string
      /** Further attempts */
      max_retries: number
      /** Nanoseconds */
      retry_delay: number
      /** Nanoseconds */
      max_retry_delay: number
      /** Logins name the resource */
      require_resource_fields: boolean
      /** Tokens of version 2.0 are taken */
      accept_v2_tokens: boolean
      /** The directory is asked about groups that a token does not list */
      check_group_overage: boolean
      /** As written; empty: the first credential that is configured */
      auth_type: string
      /** Of tokens that the server signs; empty: it signs none */
      identity_token_audience: string
      /** Seconds, as written; 0: 3600 */
      identity_token_ttl: number
      /** Seconds */
      rotation_period: number
      /** Times */
      rotation_schedule: string
      /** Seconds */
      rotation_window: number
      /** Always empty */
      rotation_policy: string
      /** Neither of them counts */
      disable_automated_rotation: boolean
      /** A new secret waits until the directory takes it */
      rotation_pending: boolean
      /** What is empty here and comes from the server’s environment */
      from_environment: readonly string[]
    }
  }
  /** Configures the mount, or changes what is sent. */
  'POST auth/cloud/config': {
    fields: {
      /** Directory that the callers belong to: its GUID, or a domain name of it */
      tenant_id?: string | undefined
      /** Audience that tokens must be for, exactly as in their claim "aud" */
      resource?: string | undefined
      /**
       * CloudPublicCloud, CloudUSGovernmentCloud, CloudChinaCloud, CloudGermanCloud, the vendor’s names of them, or one
       * that the configuration of the server defines; empty: the public cloud
       */
      environment?: string | undefined
      /** Application whose credential asks the cloud; empty: the machine’s own identity */
      client_id?: string | undefined
      /** Its secret */
      client_secret?: string | undefined
      /** Lifetime of secrets that rotate-root makes; 0: 4380 h */
      root_password_ttl?: Duration | undefined
      /** Further attempts of a call to the cloud; 0: three, negative: none */
      max_retries?: number | undefined
      /** Wait before the first of them; 0: 800 ms, negative: none. A login ends after 10 s */
      retry_delay?: Duration | undefined
      /** Longest wait; 0: 60 s, negative: without a bound */
      max_retry_delay?: Duration | undefined
      /** A login names subscription_id and resource_group_name, whatever its role asks for */
      require_resource_fields?: boolean | undefined
      /** Tokens of version 2.0 are taken too */
      accept_v2_tokens?: boolean | undefined
      /** Where a token names too many groups to list, the directory is asked about those that the role is bound to */
      check_group_overage?: boolean | undefined
      /** The secret is changed by the service this often; 0: not */
      rotation_period?: Duration | undefined
      /** The same by minute, hour, day, month and weekday, in UTC; not with rotation_period */
      rotation_schedule?: string | undefined
      /** Time after a scheduled minute in which a change may begin; 0: any time */
      rotation_window?: Duration | undefined
      /** The two do nothing */
      disable_automated_rotation?: boolean | undefined
      /**
       * By what this server shows the cloud who it is: root_creds (client_secret), plugin_wif (a token that it signs),
       * msi (the identity of its machine), aks_wi (a token that workload identity leaves in a file; also aks_wif).
       * Empty: client_secret where there is one, then identity_token_audience, the file, the machine
       */
      auth_type?: string | undefined
      /** The server signs tokens for this audience and shows them instead of a secret; not with client_secret */
      identity_token_audience?: string | undefined
      /** Lifetime of these tokens, 24 h at most; 0: 1 h */
      identity_token_ttl?: Duration | undefined
      /** Not offered: leave it empty */
      rotation_policy?: string | undefined
    }
    result: undefined
  }
  /** Forgets configuration and credential; roles stay. */
  'DELETE auth/cloud/config': {
    fields: Record<never, never>
    result: undefined
  }
  /** Names of all roles. */
  'LIST auth/cloud/role': {
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
  /** Whom a role admits, and what tokens it gives. */
  'GET auth/cloud/role/:name': {
    fields: {
      /** Name; upper case counts as lower case */
      name: string
    }
    result: {
      /** Seconds */
      token_ttl: number
      /** Seconds */
      token_max_ttl: number
      /** Seconds */
      token_explicit_max_ttl: number
      /** Seconds */
      token_period: number
      /** Policies of the tokens */
      token_policies: readonly string[]
      /** Where logins come from */
      token_bound_cidrs: readonly string[]
      /** Without the policy "default" */
      token_no_default_policy: boolean
      /** Requests a token may make; 0: unlimited */
      token_num_uses: number
      /** Always false */
      token_strictly_bind_ip: boolean
      /** default, service or batch */
      token_type: string
      /** Where the old name was used */
      policies?: readonly string[]
      /** Where the old name was used */
      ttl?: number
      /** Where the old name was used */
      max_ttl?: number
      /** Where the old name was used */
      bound_cidrs?: readonly string[]
      /** Where the old name was used */
      period?: number
      /** Where the old name was used */
      num_uses?: number
      /** Identities */
      bound_service_principal_ids: readonly string[]
      /** Groups of the directory */
      bound_group_ids: readonly string[]
      /** Subscriptions */
      bound_subscription_ids: readonly string[]
      /** Resource groups */
      bound_resource_groups: readonly string[]
      /** Regions */
      bound_locations: readonly string[]
      /** Scale sets */
      bound_scale_sets: readonly string[]
    }
  }
  /** Makes a role, or changes what is sent. */
  'POST auth/cloud/role/:name': {
    fields: {
      /** Name; upper case counts as lower case */
      name: string
      /** Object ids of identities; * alone: any */
      bound_service_principal_ids?: readonly string[] | undefined
      /** Object ids of groups of the directory, of which the caller is in one; * alone: any */
      bound_group_ids?: readonly string[] | undefined
      /** Subscriptions of the caller’s machine or other resource */
      bound_subscription_ids?: readonly string[] | undefined
      /** Resource groups of it */
      bound_resource_groups?: readonly string[] | undefined
      /** Regions of it */
      bound_locations?: readonly string[] | undefined
      /** Scale sets that the machine is in */
      bound_scale_sets?: readonly string[] | undefined
      /** Lifetime of the tokens; 0: as the mount has it */
      token_ttl?: Duration | undefined
      /** Longest lifetime, renewals included; 0: as the mount has it */
      token_max_ttl?: Duration | undefined
      /** Hard end after the login, whatever is renewed; 0: none */
      token_explicit_max_ttl?: Duration | undefined
      /** Each renewal gives this long, without an end; 0: not periodic */
      token_period?: Duration | undefined
      /** Policies of the tokens */
      token_policies?: readonly string[] | undefined
      /** Addresses or blocks that logins may come from and tokens be used from; empty: anywhere */
      token_bound_cidrs?: readonly string[] | undefined
      /** Without the policy "default" */
      token_no_default_policy?: boolean | undefined
      /** Requests a token may make; 0: unlimited */
      token_num_uses?: number | undefined
      /** service, batch, or default: as the mount has it */
      token_type?: string | undefined
      /** Old name of token_policies */
      policies?: readonly string[] | undefined
      /** Old name of token_ttl */
      ttl?: Duration | undefined
      /** Old name of token_max_ttl */
      max_ttl?: Duration | undefined
      /** Old name of token_period */
      period?: Duration | undefined
      /** Old name of token_num_uses */
      num_uses?: number | undefined
    }
    result: undefined
  }
  /** Removes a role; tokens that it gave live on until they end, and are not renewed. */
  'DELETE auth/cloud/role/:name': {
    fields: {
      /** Name; upper case counts as lower case */
      name: string
    }
    result: undefined
  }
  /** Logs in. */
  'POST auth/cloud/login': {
    fields: {
      /** Role to log in by; upper case counts as lower case */
      role?: string | undefined
      /** Token that the cloud gave the workload */
      jwt?: string | undefined
      /** Subscription that the workload’s resource is in */
      subscription_id?: string | undefined
      /** Resource group of it */
      resource_group_name?: string | undefined
      /** Virtual machine that it is; not used where vmss_name is given */
      vm_name?: string | undefined
      /** Scale set that it is in */
      vmss_name?: string | undefined
      /**
       * Any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; not used where one
       * of the names is given
       */
      resource_id?: string | undefined
    }
    result: Auth
  }
  /** Says which checks a login meets, without logging in. */
  'POST auth/cloud/explain': {
    fields: {
      /** Role to log in by; upper case counts as lower case */
      role?: string | undefined
      /** Token that the cloud gave the workload */
      jwt?: string | undefined
      /** Subscription that the workload’s resource is in */
      subscription_id?: string | undefined
      /** Resource group of it */
      resource_group_name?: string | undefined
      /** Virtual machine that it is; not used where vmss_name is given */
      vm_name?: string | undefined
      /** Scale set that it is in */
      vmss_name?: string | undefined
      /**
       * Any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; not used where one
       * of the names is given
       */
      resource_id?: string | undefined
      /** Where the login comes from; empty: where this request does */
      remote_address?: string | undefined
    }
    result: {
      /** The login would succeed */
      allowed: boolean
      /** Of the login’s answer */
      status: number
      /** Of the refusal; empty where it is allowed */
      reason: string
      /** In the order of the login */
      checks: readonly {
        /** What is checked */
        name: string
        /** passed, failed or not reached */
        verdict: string
        /** What was found */
        detail: string
      }[]
    }
  }
  /** Makes a new secret for the application of the mount, which nobody else knows. */
  'POST auth/cloud/rotate-root': {
    fields: Record<never, never>
    result: undefined
  }
}
