// sys/init, seal-status, unseal, seal: bare bodies, answered without a token but for seal, and while sealed.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { bool, int, string, strings } from '../api/fields.ts'
import { DONE } from '../api/request.ts'
import { flag, integer, listOf, optional, type Shapes, text } from '../api/shape.ts'
import { decodeBase64 } from '../lib/base64.ts'
import { decodeHex } from '../lib/hex.ts'
import type { System } from './system.ts'

const SEAL_STATUS: Shapes = {
  type: text('Kind of seal'),
  initialized: flag('Keys were made'),
  sealed: flag('The barrier is closed'),
  t: integer('Shares needed'),
  n: integer('Shares there are'),
  progress: integer('Shares given so far'),
  nonce: text('Names the attempt under way'),
  version: text('Version that clients gate on'),
  build_date: text('Empty: not recorded'),
  commit_date: text('Empty: not recorded'),
  migration: flag('Seal migration under way'),
  recovery_seal: flag('Auto-unseal with recovery keys'),
  storage_type: text('Kind of storage'),
  cluster_name: optional(text('Name of the cluster, while unsealed')),
  cluster_id: optional(text('Id of the cluster, while unsealed')),
}

export function sealStatusBody(system: System): object {
  const status = system.sealStatus()
  return {
    type: 'shamir',
    initialized: status.initialized,
    sealed: status.sealed,
    t: status.threshold,
    n: status.shares,
    progress: status.progress,
    nonce: status.nonce,
    version: system.facts.reportedVersion,
    build_date: '',
    commit_date: '',
    migration: false,
    recovery_seal: false,
    storage_type: system.facts.storageType,
    ...(status.cluster === undefined ? {} : { cluster_name: status.cluster.name, cluster_id: status.cluster.id }),
  }
}

const open = { capability: 'none', whileSealed: true, body: 'plain' } as const

const readInit = endpoint({
  id: 'init-read',
  operation: 'read',
  path: 'init',
  ...open,
  runsOn: 'any-node',
  summary: 'Whether the keys of this server were made',
  fields: {},
  response: { initialized: flag('Keys were made') },
  handler: (system: System) => ({ data: { initialized: system.sealStatus().initialized } }),
})

const MAX_SHARES = 255
const notOffered = 'is not offered yet: leave it out'

const init = endpoint({
  id: 'init',
  operation: 'update',
  path: 'init',
  ...open,
  runsOn: 'writer',
  changesSeal: true,
  summary: 'Makes the keys, their shares and the first root token; they are shown once',
  fields: {
    secret_shares: int('How many shares to split the unseal key into', { default: 0, min: 0, max: MAX_SHARES }),
    secret_threshold: int('How many of them are needed', { default: 0, min: 0, max: MAX_SHARES }),
    pgp_keys: strings('Keys to encrypt the shares to'),
    root_token_pgp_key: string('Key to encrypt the root token to', { default: '' }),
    recovery_shares: int('Only with auto-unseal', { default: 0 }),
    recovery_threshold: int('Only with auto-unseal', { default: 0 }),
    recovery_pgp_keys: strings('Only with auto-unseal'),
    stored_shares: int('Of old clients; not used', { default: 0 }),
    cluster_name: string('Name of the cluster; made up where empty', { default: '' }),
  },
  response: {
    keys: listOf(text('Share'), 'Shares in hexadecimal'),
    keys_base64: listOf(text('Share'), 'The same shares in base64'),
    root_token: text('A root token without an end'),
  },
  handler: async (system: System, args) => {
    checkShares(args.secret_shares, args.secret_threshold)
    if ((args.pgp_keys?.length ?? 0) > 0) throw fail('field_invalid', ['pgp_keys', notOffered])
    if (args.root_token_pgp_key !== '') throw fail('field_invalid', ['root_token_pgp_key', notOffered])
    if (args.recovery_shares !== 0 || args.recovery_threshold !== 0 || (args.recovery_pgp_keys?.length ?? 0) > 0) {
      throw fail('field_invalid', ['recovery_shares', 'parameters recovery_* not applicable to seal type shamir'])
    }
    const made = await system.seal.initialise(
      { shares: args.secret_shares, threshold: args.secret_threshold },
      args.cluster_name,
    )
    return {
      data: {
        keys: made.shares.map((share) => share.toString('hex')),
        keys_base64: made.shares.map((share) => share.toString('base64')),
        root_token: made.rootToken,
      },
    }
  },
})

function checkShares(shares: number, threshold: number): void {
  if (shares < 1)
    throw fail('field_invalid', ['secret_shares', 'invalid seal configuration: shares must be at least one'])
  if (threshold < 1)
    throw fail('field_invalid', ['secret_threshold', 'invalid seal configuration: threshold must be at least one'])
  if (threshold > shares) throw fail('field_invalid', ['secret_threshold', 'must not be larger than secret_shares'])
  if (shares > 1 && threshold === 1)
    throw fail('field_invalid', ['secret_threshold', 'must be at least 2 where there are several shares'])
}

const readSealStatus = endpoint({
  id: 'seal-status',
  operation: 'read',
  path: 'seal-status',
  ...open,
  runsOn: 'any-node',
  summary: 'State of the seal',
  fields: {},
  response: SEAL_STATUS,
  handler: (system: System) => ({ data: sealStatusBody(system) }),
})

const SHARE_MIN_BYTES = 16
const SHARE_MAX_BYTES = 33

/** Hexadecimal or base64; a text that could be both is what has the length of a share. */
function decodeShare(given: string): Buffer {
  for (const decodeText of [decodeHex, decodeBase64]) {
    try {
      const share = decodeText(given)
      if (share.length >= SHARE_MIN_BYTES && share.length <= SHARE_MAX_BYTES) return share
      share.fill(0)
    } catch {
      // Not of this form; the other one may fit.
    }
  }
  throw fail('field_invalid', ['key', "'key' must be a valid hex or base64 string of 16 to 33 bytes"])
}

const unseal = endpoint({
  id: 'unseal',
  operation: 'update',
  path: 'unseal',
  ...open,
  runsOn: 'writer',
  changesSeal: true,
  summary: 'Gives one share of the unseal key; with enough of them the server opens',
  fields: {
    key: string('One share, hexadecimal or base64', { secret: true, default: '' }),
    reset: bool('Forget the shares given so far', { default: false }),
    migrate: bool('Seal migration', { default: false }),
  },
  response: SEAL_STATUS,
  handler: async (system: System, { key, reset, migrate }) => {
    if (migrate) throw fail('field_invalid', ['migrate', notOffered])
    if (reset) {
      if (!system.sealStatus().sealed) throw fail('bad_request', ['vault is unsealed'])
      await system.seal.reset()
    } else {
      if (key === '')
        throw fail('field_invalid', ['key', "'key' must be specified in request body as JSON, or 'reset' set to true"])
      await system.seal.unseal(decodeShare(key))
    }
    return { data: sealStatusBody(system) }
  },
})

const seal = endpoint({
  id: 'seal',
  operation: 'update',
  path: 'seal',
  capability: 'update',
  sudo: true,
  runsOn: 'writer',
  changesSeal: true,
  summary: 'Closes the barrier: nothing is served until it is unsealed again',
  fields: {},
  handler: async (system: System) => {
    await system.seal.seal()
    return DONE
  },
})

export const SEAL_ENDPOINTS: readonly Endpoint[] = [readInit, init, readSealStatus, unseal, seal]
