// sys/init, sys/seal-status, sys/unseal and sys/seal. All but seal are answered without a token and while sealed, in
// bare bodies: there is no one to authenticate before the barrier is open.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, int, string } from '../../api/fields.ts'
import { DONE, type RequestInfo } from '../../api/request.ts'
import { flag, integer, listOf, optional, type Shapes, text } from '../../api/shape.ts'
import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { pgpFieldReader, pgpKeys } from '../pgp-field.ts'
import { wipeAll } from '../seal/key-shares.ts'
import { readPgpKeys, type ShareTexts, shareTexts } from '../seal/share-answer.ts'
import { checkShareNumbers } from '../seal/share-numbers.ts'
import { withShare } from '../seal/share-text.ts'
import type { System as Whole } from '../system.ts'
import { clusterShown, versionShown } from './shown-facts.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'attempts' | 'facts' | 'seal' | 'sealStatus' | 'slow' | 'world'>

const SEAL_STATUS: Shapes = {
  type: text('Type of seal'),
  initialized: flag('The server is initialised'),
  sealed: flag('The server is sealed'),
  t: integer('Number of shares required to unseal (threshold)'),
  n: integer('Total number of shares'),
  progress: integer('Number of shares submitted so far'),
  nonce: text('Nonce of the unseal attempt in progress'),
  version: text('Version that clients check for compatibility'),
  build_date: text('Always empty: not recorded'),
  commit_date: text('Always empty: not recorded'),
  migration: flag('Seal migration is in progress'),
  recovery_seal: flag('The server uses auto-unseal and has a recovery key'),
  storage_type: text('Type of storage'),
  cluster_name: optional(text('Name of the cluster, while unsealed')),
  cluster_id: optional(text('ID of the cluster, while unsealed')),
}

/** The status as the listener lets a caller without a token see it. */
function sealStatusBody(system: System, request: RequestInfo): object {
  const status = system.sealStatus()
  return {
    type: status.type,
    initialized: status.initialized,
    sealed: status.sealed,
    t: status.threshold,
    n: status.shares,
    progress: status.progress,
    nonce: status.nonce,
    version: versionShown(system, request),
    build_date: '',
    commit_date: '',
    migration: false,
    recovery_seal: status.type !== 'shamir',
    storage_type: system.facts.storageType,
    ...clusterShown(status.cluster, request),
  }
}

const open = { capability: 'none', whileSealed: true, body: 'plain' } as const

const readInit = endpoint({
  id: 'init-read',
  operation: 'read',
  path: 'init',
  ...open,
  offeredIn: 'root',
  runsOn: 'any-node',
  onDrSecondary: 'open',
  summary: 'Shows whether the server is initialised',
  fields: {},
  response: { initialized: flag('The server is initialised') },
  handler: (system: System) => ({ data: { initialized: system.sealStatus().initialized } }),
})

/** The remedy for moving a store to another kind of seal; there is no such migration. */
const notOffered = 'is not offered yet: leave it out'

/** The name is shown to every caller without a token, and terminals print it. */
const MAX_CLUSTER_NAME_CHARACTERS = 128
/** No control characters (Unicode C) and no separators of lines or paragraphs. */
const PRINTABLE = /^[^\p{C}\p{Zl}\p{Zp}]*$/u

const init = endpoint({
  id: 'init',
  operation: 'update',
  path: 'init',
  ...open,
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'node',
  changesSeal: true,
  summary:
    'Initialises the server: creates its keys, the key shares and the first root token, which are shown only once',
  fields: {
    secret_shares: int('Number of shares to split the unseal key into', { default: 0, min: 0, max: MAX_SHARES }),
    secret_threshold: int('Number of shares required to unseal (threshold)', { default: 0, min: 0, max: MAX_SHARES }),
    pgp_keys: pgpKeys('OpenPGP public keys, base64-encoded, one for each share'),
    root_token_pgp_key: string('OpenPGP public key, base64-encoded, that the root token is encrypted to', {
      default: '',
    }),
    recovery_shares: int('Number of shares to split the recovery key into, with auto-unseal', {
      default: 0,
      min: 0,
      max: MAX_SHARES,
    }),
    recovery_threshold: int('Number of recovery key shares required (threshold), with auto-unseal', {
      default: 0,
      min: 0,
      max: MAX_SHARES,
    }),
    recovery_pgp_keys: pgpKeys('OpenPGP public keys, base64-encoded, one for each recovery key share'),
    stored_shares: int('Accepted from old clients, but has no effect', { default: 0 }),
    cluster_name: string('Name of the cluster; generated if empty', { default: '', max: MAX_CLUSTER_NAME_CHARACTERS }),
  },
  response: {
    keys: listOf(text('Share'), 'Shares in hexadecimal; if encrypted, OpenPGP messages of that text'),
    keys_base64: listOf(text('Share'), 'Same as keys, base64-encoded'),
    recovery_keys: optional(listOf(text('Share'), 'Shares of the recovery key, with auto-unseal')),
    recovery_keys_base64: optional(listOf(text('Share'), 'Same as recovery_keys, base64-encoded')),
    root_token: text('Root token, which never expires; if encrypted, an OpenPGP message, base64-encoded'),
  },
  handler: async (system: System, args) => {
    // This comes first: reading OpenPGP keys is slow work, and a caller needs no token for it.
    if (system.sealStatus().initialized) throw fail('seal_state_wrong', ['Vault is already initialized']) // Wire text.
    const isAuto = system.sealStatus().type !== 'shamir'
    refuseOtherSeal(isAuto, args)
    if (!PRINTABLE.test(args.cluster_name))
      throw fail('field_invalid', ['cluster_name', 'must have printable characters only'])
    const [kind, shares, threshold, pgpKeys] = isAuto
      ? (['recovery', args.recovery_shares, args.recovery_threshold, args.recovery_pgp_keys] as const)
      : (['secret', args.secret_shares, args.secret_threshold, args.pgp_keys] as const)
    checkShareNumbers(kind, shares, threshold)
    const readKey = pgpFieldReader(system.world, system.slow)
    const field = isAuto ? 'recovery_pgp_keys' : 'pgp_keys'
    const encryptors = await readPgpKeys(readKey, field, pgpKeys ?? [], shares)
    const forToken = args.root_token_pgp_key
    const tokenKey = forToken === '' ? undefined : await readKey('root_token_pgp_key', forToken)
    let texts: ShareTexts | undefined
    let encrypted: string | undefined
    // Shares and token are encrypted before the keys are committed. If that failed afterwards, no one would hold the
    // keys of the store, and a root token would be left over (threats T-17).
    const made = await system.seal.initialise({ shares, threshold }, args.cluster_name, async (made) => {
      texts = await shareTexts(made.shares, encryptors)
      encrypted = (await tokenKey?.encrypt(made.rootToken))?.toString('base64')
    })
    // Their texts cannot be wiped: they are strings of the answer (threats N-10).
    wipeAll(made.shares)
    if (texts === undefined) throw new Error('Keys were made that nobody is told')
    const { keys, keysBase64 } = texts
    return {
      data: {
        ...(isAuto
          ? { keys: [], keys_base64: [], recovery_keys: keys, recovery_keys_base64: keysBase64 }
          : { keys, keys_base64: keysBase64 }),
        root_token: encrypted ?? made.rootToken,
      },
    }
  },
})

/** The fields of init that belong to one kind of seal. */
type InitNumbers = {
  readonly secret_shares: number
  readonly secret_threshold: number
  readonly pgp_keys: readonly string[] | undefined
  readonly recovery_shares: number
  readonly recovery_threshold: number
  readonly recovery_pgp_keys: readonly string[] | undefined
}

/** Refuses the fields of the other kind of seal: its shares would not be made. @throws Refusal */
function refuseOtherSeal(isAuto: boolean, args: InitNumbers): void {
  const [shares, threshold, keys, names, type] = isAuto
    ? [args.secret_shares, args.secret_threshold, args.pgp_keys, 'secret_shares,secret_threshold', 'static']
    : [
        args.recovery_shares,
        args.recovery_threshold,
        args.recovery_pgp_keys,
        'recovery_shares,recovery_threshold',
        'shamir',
      ]
  if (shares === 0 && threshold === 0 && (keys?.length ?? 0) === 0) return
  throw fail('field_not_applicable', [`parameters ${names} not applicable to seal type ${type}`]) // Wire text.
}

const readSealStatus = endpoint({
  id: 'seal-status',
  operation: 'read',
  path: 'seal-status',
  ...open,
  offeredIn: 'all',
  runsOn: 'any-node',
  onDrSecondary: 'open',
  summary: 'Shows the state of the seal',
  fields: {},
  response: SEAL_STATUS,
  handler: (system: System, _args, request) => ({ data: sealStatusBody(system, request) }),
})

const unseal = endpoint({
  id: 'unseal',
  operation: 'update',
  path: 'unseal',
  ...open,
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'node',
  changesSeal: true,
  summary: 'Submits one share of the unseal key; the server unseals once it has enough shares',
  fields: {
    key: string('One share, in hexadecimal or base64', { secret: true, default: '' }),
    reset: bool('Discards the shares submitted so far', { default: false }),
    migrate: bool('Must be false: seal migration is not offered yet', { default: false }),
  },
  response: SEAL_STATUS,
  handler: async (system: System, { key, reset, migrate }, request) => {
    await system.attempts.run(
      { purpose: 'unseal', action: reset ? 'change' : 'share', address: request.remoteAddress },
      async () => {
        if (migrate) throw fail('field_invalid', ['migrate', notOffered])
        return reset ? resetUnseal(system) : giveUnsealShare(system, key)
      },
      // Undefined for a reset, and for a share to an open server: neither says anything about the giver.
      (isOpened) => isOpened,
    )
    return { data: sealStatusBody(system, request) }
  },
})

/** Forgets the shares given so far. @throws Refusal if the server is open */
async function resetUnseal(system: System): Promise<undefined> {
  if (!system.sealStatus().sealed) throw fail('seal_state_wrong', ['vault is unsealed'])
  await system.seal.reset()
}

/** Gives one share; the result is that of `SealOperations.unseal`. */
async function giveUnsealShare(system: System, key: string): Promise<boolean | undefined> {
  if (key === '')
    throw fail('field_invalid', ['key', "'key' must be specified in request body as JSON, or 'reset' set to true"])
  return withShare(key, (share) => system.seal.unseal(share))
}

const seal = endpoint({
  id: 'seal',
  operation: 'update',
  path: 'seal',
  capability: 'update',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: 'node',
  changesSeal: true,
  summary: 'Seals the server: it serves nothing until it is unsealed again',
  fields: {},
  handler: async (system: System) => {
    await system.seal.seal()
    return DONE
  },
})

/** Initialisation, status, unsealing and sealing. */
export const SEAL_ENDPOINTS: readonly Endpoint<System>[] = [readInit, init, readSealStatus, unseal, seal]
