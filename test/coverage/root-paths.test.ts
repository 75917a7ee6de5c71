// Which endpoints need `sudo` besides their capability: those for which the reference products ask for it,
// and those said here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingName, PLACED_ENDPOINTS, pathsOf } from '../fixtures/endpoint-table.ts'

/** Of the reference products; one that ends in a star is about all that begins so. */
const ROOT_PATHS = [
  'sys/auth/*',
  'sys/remount',
  'sys/audit',
  'sys/audit/*',
  'sys/raw',
  'sys/raw/*',
  'sys/rotate',
  'sys/rotate/keyring',
  'sys/rotate/root',
  'sys/config/cors',
  'sys/config/auditing/*',
  'sys/config/ui/headers/*',
  'sys/plugins/catalog/*',
  'sys/revoke-prefix/*',
  'sys/revoke-force/*',
  'sys/leases/revoke-prefix/*',
  'sys/leases/revoke-force/*',
  'sys/leases/lookup/*',
  'sys/leases',
  'sys/internal/inspect/*',
  'sys/replication/primary/secondary-token',
  'sys/replication/performance/primary/secondary-token',
  'sys/replication/dr/primary/secondary-token',
  'sys/replication/reindex',
  'sys/replication/performance/reindex',
  'sys/replication/dr/reindex',
  'sys/storage/raft/snapshot-auto/config/*',
  // Here the handlers ask for it.
  'sys/seal',
  'sys/step-down',
  'auth/token/revoke-orphan/*',
  'auth/token/accessors*',
]

/** Ours, or stricter than the reference, and why. */
const ALSO: Readonly<Record<string, string>> = {
  'sys/audit-streams': 'tells how the log of all requests is checked',
  'sys/rekey/backup': 'hands out shares of the unseal key, though encrypted',
  'sys/rekey/recovery-key-backup': 'hands out shares of the recovery key, though encrypted',
  'sys/storage/snapshot': 'a snapshot holds everything, and a restore replaces it',
  'sys/rotate/root*': 'by a token, what shares alone can do elsewhere',
  'sys/rotate/recovery*': 'by a token, what shares alone can do elsewhere',
  'sys/generate-root-token*': 'by a token, what shares alone can do elsewhere',
  'sys/replication/undone*': 'its values are those of sys/raw',
  'sys/replication/dr/primary/rotate-authority': 'replaces a key that all clusters of the set trust',
  'sys/replication/performance/primary/rotate-authority': 'the same',
  'sys/hardening': 'tells an attacker what is weak',
  'sys/leases/lookup': 'a list of all leases is a list of their paths, as below it',
  'sys/config/ui/headers': 'a list, whose path ends in a slash, is below it',
  'auth/token/revoke-orphan': 'the products ask for it in the handler',
  'auth/cloud/explain': 'tells claim by claim what a role asks for',
  'identity/entity/merge': 'gives the aliases of one entity to another',
}

const isAmong = (paths: readonly string[], path: string): boolean =>
  paths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : path === one))
const isRootPath = (path: string): boolean => isAmong(ROOT_PATHS, path)

for (const placed of PLACED_ENDPOINTS) {
  const { id, sudo, capability } = placed.endpoint
  test(`${id} ${sudo === true ? 'needs' : 'does not need'} sudo, as the lists say`, () => {
    for (const path of pathsOf(placed, missingName(placed))) {
      if (sudo === true) assert.ok(isRootPath(path) || isAmong(Object.keys(ALSO), path), `${path} is no root path`)
      else assert.ok(!isRootPath(path) || capability === 'none', `${path} is a root path`)
    }
  })
}
