// Who may operate a secondary for disaster recovery (Interface 2.5). It serves no client, and judges only what it can
// judge without its primary: operation tokens that were made here with key shares, and batch tokens of the set. A batch
// token carries its own entry, and one with a parent could have been ended where this cluster does not hear of it.
import { fail } from '../api/errors.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { RequestInfo } from '../api/request.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { Rights } from '../auth/rights.ts'
import type { TokenStore } from '../auth/token-store.ts'
import { isInCidrs } from '../lib/cidr.ts'
import { deleteOperationToken, isOperationToken } from '../replication/set/operation-tokens.ts'
import type { View } from '../storage/sealed-storage.ts'
import type { AttemptLimits } from './seal/attempt-limits.ts'

/** The field of a body that carries the token. */
export const TOKEN_FIELD = 'dr_operation_token'

/** The parts that tokens are judged with. */
export type OperationTokenParts = {
  readonly rightsOf: (entry: object) => Promise<Rights>
  /** The view of replication/set/records.ts. */
  readonly sets: View
  readonly tokens: Pick<TokenStore, 'findOrphanBatch'>
  readonly policies: Pick<PolicyStore, 'acl'>
  readonly attempts: Pick<AttemptLimits, 'run'>
  readonly nodeRole: () => NodeRole
}

/** Judges operation tokens. Only on the thread that writes: an endpoint that uses it declares `runsOn: 'writer'`. */
export class OperationTokens {
  readonly #parts: OperationTokenParts

  constructor(parts: OperationTokenParts) {
    this.#parts = parts
  }

  /** True on a secondary for disaster recovery, whole or not: only there are operation tokens. */
  get areHere(): boolean {
    const { dr } = this.#parts.nodeRole()
    return dr === 'secondary' || dr === 'bootstrapping'
  }

  /** @throws Refusal on any other cluster */
  requireHere(): void {
    if (this.areHere) return
    const { dr } = this.#parts.nodeRole()
    throw fail('replication_refused', [
      `Only a secondary for disaster recovery does that, and this cluster is in mode ${dr} for dr`,
    ])
  }

  /**
   * Requires an operation token, or a batch token that may `update` at `path`, which is below the mount; with
   * `needsSudo` it needs `sudo` too. Guesses are slowed.
   * @throws Refusal: 400 without a token, and on any other cluster; 403 for a wrong one; 429
   */
  async require(token: string, path: string, request: RequestInfo, needsSudo = false): Promise<void> {
    this.requireHere()
    if (token === '') throw fail('field_missing', [TOKEN_FIELD])
    await this.#slowed(request, async () => {
      if ((await this.#isGenerated(token)) || (await this.#mayBatch(token, path, request, needsSudo))) return
      const batch = batchToken(path, request, needsSudo)
      throw refused(`"${TOKEN_FIELD}"`, `an operation token of this cluster, or ${batch}`)
    })
  }

  /**
   * Requires a batch token in `X-Vault-Token`, for what is asked for at `path`, which is below the mount. Guesses are
   * slowed. @throws Refusal: 400 on any other cluster, 403 without a good token, 429
   */
  async requireCredential(path: string, request: RequestInfo): Promise<void> {
    this.requireHere()
    await this.#slowed(request, async () => {
      const { unjudgedToken = '' } = request
      if (!(await this.#mayBatch(unjudgedToken, path, request)))
        throw refused('X-Vault-Token', batchToken(path, request))
    })
  }

  /** Deletes an operation token. @throws Refusal as `require` does, and for a batch token */
  async remove(token: string, path: string, request: RequestInfo): Promise<void> {
    await this.require(token, path, request)
    const isRemoved = await this.#parts.sets.transaction(async (tx) => {
      if (!(await isOperationToken(tx, token))) return false
      deleteOperationToken(tx, token)
      return true
    })
    if (isRemoved) return
    throw fail('token_cannot', ['A batch token is nowhere stored, and ends by itself when its TTL is over'])
  }

  /** A refusal counts against the address; a good token proves nothing about shares that were given from there. */
  #slowed(request: RequestInfo, judge: () => Promise<void>): Promise<void> {
    const attempt = { purpose: TOKEN_FIELD, action: 'share', address: request.remoteAddress } as const
    return this.#parts.attempts.run(attempt, judge, () => undefined)
  }

  #isGenerated(token: string): Promise<boolean> {
    return this.#parts.sets.transaction((tx) => isOperationToken(tx, token))
  }

  /** True for a live batch token without a parent whose policies allow the request. */
  async #mayBatch(token: string, path: string, request: RequestInfo, sudoRequired = false): Promise<boolean> {
    const { tokens, policies, rightsOf } = this.#parts
    const entry = tokens.findOrphanBatch(token)
    if (entry === undefined || !isInCidrs(request.remoteAddress, entry.boundCidrs)) return false
    const rights = await rightsOf(entry)
    const acl = await policies.acl(rights.policies, rights.subject)
    const { namespace, operation, mountPath, wrapTtlSeconds, input = {} } = request
    // The token itself says who asks; rules about parameters are about what is asked for.
    const { [TOKEN_FIELD]: _, ...parameters } = input
    return acl.check({ operation, path: namespace.path + mountPath + path, parameters, wrapTtlSeconds, sudoRequired })
      .allowed
  }
}

const refused = (field: string, takes: string) => fail('operation_refused', [field, takes])

const batchToken = (path: string, { operation, mountPath }: RequestInfo, needsSudo = false): string =>
  `a batch token of the set without a parent whose policy allows "${operation}"${needsSudo ? ' and "sudo"' : ''} on ` +
  `${mountPath}${path}`
