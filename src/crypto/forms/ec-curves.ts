// The curves of ECDSA: FIPS 186-5 and SP 800-186 for those of NIST, SEC 2 for secp256k1. All have cofactor 1, which
// agreement relies on (primitives/agreement.ts).

/** A curve in short Weierstrass form. The runtime knows its equation; here stands what it does not tell. */
export type Curve = {
  /** Its name in reads of a key, in JSON Web Keys and in the runtime. */
  readonly name: 'P-256' | 'P-384' | 'P-521' | 'secp256k1'
  /** Its name in the details of a loaded key. */
  readonly opensslName: string
  /** Order of the base point, a prime, big-endian. */
  readonly order: Buffer
  /** SEQUENCE { id-ecPublicKey, OID of the curve } in DER (RFC 5480 section 2.1.1). */
  readonly algorithmIdentifier: Buffer
}

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** P-256 (SP 800-186 section 3.2.1.3). */
export const P256: Curve = {
  name: 'P-256',
  opensslName: 'prime256v1',
  order: fromHex('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'),
  algorithmIdentifier: fromHex('301306072a8648ce3d020106082a8648ce3d030107'),
}

/** P-384 (SP 800-186 section 3.2.1.4). */
export const P384: Curve = {
  name: 'P-384',
  opensslName: 'secp384r1',
  order: fromHex(`${'ff'.repeat(24)}c7634d81f4372ddf581a0db248b0a77aecec196accc52973`),
  algorithmIdentifier: fromHex('301006072a8648ce3d020106052b81040022'),
}

/** P-521 (SP 800-186 section 3.2.1.5). */
export const P521: Curve = {
  name: 'P-521',
  opensslName: 'secp521r1',
  order: fromHex(`01${'ff'.repeat(32)}fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409`),
  algorithmIdentifier: fromHex('301006072a8648ce3d020106052b81040023'),
}

/** secp256k1 (SEC 2 section 2.4.1). */
export const SECP256K1: Curve = {
  name: 'secp256k1',
  opensslName: 'secp256k1',
  order: fromHex('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'),
  algorithmIdentifier: fromHex('301006072a8648ce3d020106052b8104000a'),
}

/** All curves that keys of the service can be on. */
export const CURVES: readonly Curve[] = [P256, P384, P521, SECP256K1]

/** Bits of the order, without leading zeros. */
export const orderBits = ({ order }: Curve): number => order.length * 8 - Math.clz32((order[0] ?? 0) << 24)

/** Bytes of a private key, of r and of s. */
export const scalarBytes = ({ order }: Curve): number => order.length
