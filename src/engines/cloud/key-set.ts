// The keys that a directory signs with (RFC 7517), as its document lists them. All tenants of a cloud share them. A key
// may name its tenant, and is then used for no other.
import { importJwtKey, type JwtKey } from '../../crypto/jwt/jwt-signature.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { isGuid, isSameName } from './names.ts'

/** A key, ready for verification. */
export type SigningKey = {
  readonly key: JwtKey
  /** The tenant of the issuer that the key names; undefined: all tenants. */
  readonly tenant: string | undefined
}
/** The keys of one document, by name. */
export type KeySet = ReadonlyMap<string, SigningKey>

const MAX_KEYS = 100
const MAX_KID_CHARACTERS = 256

/**
 * Reads the document of keys; keys of other kinds are left out. Returns undefined if the document cannot be trusted.
 */
export async function readKeySet({ keys }: JsonObject): Promise<KeySet | undefined> {
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return undefined
  const found = new Map<string, SigningKey>()
  for (const each of keys) {
    const read = await readKey(each)
    if (read === undefined) continue
    // If two keys have one name, choosing between them would be guessing.
    if (found.has(read.kid)) return undefined
    found.set(read.kid, read)
  }
  return found.size === 0 ? undefined : found
}

async function readKey(value: JsonValue): Promise<(SigningKey & { readonly kid: string }) | undefined> {
  if (!isJsonObject(value)) return undefined
  const { kty, use, alg, kid, n, e, issuer } = value
  const isForSignatures =
    kty === 'RSA' && (use === undefined || use === 'sig') && (alg === undefined || alg === 'RS256')
  if (!isForSignatures || typeof kid !== 'string' || kid === '' || kid.length > MAX_KID_CHARACTERS) return undefined
  if (typeof n !== 'string' || typeof e !== 'string') return undefined
  const tenant = tenantOf(issuer)
  const key = tenant === null ? undefined : await importJwtKey(n, e)
  return key === undefined || tenant === null ? undefined : { kid, key, tenant }
}

/** Returns the tenant of a key's issuer: undefined for any tenant, null if the text is not an issuer. */
function tenantOf(issuer: JsonValue | undefined): string | undefined | null {
  if (issuer === undefined) return undefined
  if (typeof issuer !== 'string') return null
  const segments = issuer.split('/')
  if (segments.some((segment) => isSameName(segment, '{tenantid}'))) return undefined
  return segments.find(isGuid) ?? null
}
