// Every command there is. A new one is a file in commands/ and a line here; help, completion and docs/cli.md follow.
import type { CommandGroup } from './command.ts'
import { AUDIT_COMMANDS } from './commands/audit.ts'
import { CLOUD_COMMANDS } from './commands/cloud.ts'
import { COMPLETION_COMMANDS } from './commands/completion.ts'
import { remove } from './commands/delete.ts'
import { LEASE_COMMANDS } from './commands/lease.ts'
import { list } from './commands/list.ts'
import { login } from './commands/login.ts'
import { AUTH_COMMANDS, SECRETS_COMMANDS } from './commands/mounts.ts'
import { NAMESPACE_COMMANDS } from './commands/namespace.ts'
import { operatorDiagnose } from './commands/operator-diagnose.ts'
import { operatorGenerateRoot } from './commands/operator-generate-root.ts'
import { operatorInit } from './commands/operator-init.ts'
import { operatorKeyStatus } from './commands/operator-key-status.ts'
import { operatorRekey } from './commands/operator-rekey.ts'
import { operatorRotate } from './commands/operator-rotate.ts'
import { operatorSeal } from './commands/operator-seal.ts'
import { operatorUnseal } from './commands/operator-unseal.ts'
import { pathHelp } from './commands/path-help.ts'
import { POLICY_COMMANDS } from './commands/policy.ts'
import { printToken } from './commands/print-token.ts'
import { read } from './commands/read.ts'
import { replicationDemote, replicationPromote, replicationUpdatePrimary } from './commands/replication-failover.ts'
import { REPLICATION_FILTER_COMMANDS } from './commands/replication-filter.ts'
import {
  replicationDisable,
  replicationEnable,
  replicationRevoke,
  replicationRotateAuthority,
  replicationSecondaryToken,
} from './commands/replication-primary.ts'
import {
  replicationActivate,
  replicationCheck,
  replicationPublicKey,
  replicationRecover,
} from './commands/replication-secondary.ts'
import { replicationStatus } from './commands/replication-status.ts'
import { replicationSwitchover } from './commands/replication-switchover.ts'
import { replicationUndone } from './commands/replication-undone.ts'
import { snapshotInspect } from './commands/snapshot-inspect.ts'
import { snapshotRestore } from './commands/snapshot-restore.ts'
import { snapshotSave } from './commands/snapshot-save.ts'
import { status } from './commands/status.ts'
import { TOKEN_COMMANDS } from './commands/token.ts'
import { transitDecrypt } from './commands/transit-decrypt.ts'
import { transitEncrypt } from './commands/transit-encrypt.ts'
import { transitExport } from './commands/transit-export.ts'
import { transitImport, transitImportVersion } from './commands/transit-import.ts'
import { transitRewrap } from './commands/transit-rewrap.ts'
import { transitSign, transitVerify } from './commands/transit-sign.ts'
import { unwrap } from './commands/unwrap.ts'
import { version } from './commands/version.ts'
import { write } from './commands/write.ts'

/** The tree of commands, in the order of the help. */
export const COMMANDS: CommandGroup = {
  name: 'keywright',
  summary: 'Keywright, a key-management service and its client',
  elsewhere: [
    { name: 'server', summary: 'Run the server' },
    { name: 'storage', summary: 'Check a data directory' },
    { name: 'help', summary: 'Show the help of a command' },
  ],
  members: [
    read,
    write,
    list,
    remove,
    login,
    unwrap,
    status,
    TOKEN_COMMANDS,
    NAMESPACE_COMMANDS,
    POLICY_COMMANDS,
    SECRETS_COMMANDS,
    AUTH_COMMANDS,
    CLOUD_COMMANDS,
    LEASE_COMMANDS,
    AUDIT_COMMANDS,
    {
      name: 'operator',
      summary: 'Check, initialise, unseal, seal, back up and replicate a server, and manage its keys',
      members: [
        operatorDiagnose,
        operatorInit,
        operatorUnseal,
        operatorSeal,
        operatorKeyStatus,
        operatorRotate,
        operatorRekey,
        operatorGenerateRoot,
        {
          name: 'snapshot',
          summary: 'Save, restore and inspect snapshots of the store',
          members: [snapshotSave, snapshotRestore, snapshotInspect],
        },
        {
          name: 'replication',
          summary: 'Set up replication with another cluster, and show how it is',
          members: [
            replicationStatus,
            replicationEnable,
            replicationDisable,
            replicationSecondaryToken,
            replicationRevoke,
            replicationRotateAuthority,
            REPLICATION_FILTER_COMMANDS,
            replicationPublicKey,
            replicationCheck,
            replicationActivate,
            replicationRecover,
            replicationUndone,
            replicationSwitchover,
            replicationPromote,
            replicationDemote,
            replicationUpdatePrimary,
          ],
        },
      ],
    },
    {
      name: 'transit',
      summary: 'Encrypt, decrypt and sign files with keys on the server; import and export keys',
      members: [
        transitEncrypt,
        transitDecrypt,
        transitRewrap,
        transitSign,
        transitVerify,
        transitImport,
        transitImportVersion,
        transitExport,
      ],
    },
    pathHelp,
    { name: 'print', summary: 'Print settings of the client', members: [printToken] },
    COMPLETION_COMMANDS,
    version,
  ],
}
