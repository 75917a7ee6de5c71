// What differs between two runs of one seed, since node or a library draws it and takes no randomness from outside. It
// all goes into answers alone, but for the last row, and what is compared must leave it out. An audit device logs a
// digest of an answer, so its chain differs from there on.
import type { MemoryServer } from '../fixtures/memory-server.ts'

type Server = Pick<MemoryServer, 'call' | 'shares'>
type Call = Server['call']

export type DrawnByNode = {
  readonly what: string
  readonly why: string
  /** Calls that make what `ask` needs. */
  readonly needs?: (call: Call) => Promise<unknown>
  readonly ask: (call: Call, server: Server) => ReturnType<Call>
  /** What it draws is stored, too. */
  readonly isStored?: true
}

const HELLO = 'aGVsbG8='
const ECDSA = 'The number k of a signature; RFC 6979 would do without, and node does not offer it'
const RSA_SEED = 'The padding of RSA encryption'

const signed = (type: string, why: string): DrawnByNode => ({
  what: `a signature of ${type}`,
  why,
  needs: (call) => call('POST', `transit/keys/${type}`, { type }),
  ask: (call) => call('POST', `transit/sign/${type}`, { input: HELLO }),
})

const encrypted = (padding: string): DrawnByNode => ({
  what: `a message under RSA with ${padding}`,
  why: RSA_SEED,
  needs: (call) => call('POST', 'transit/keys/rsa-3072', { type: 'rsa-3072' }),
  ask: (call) => call('POST', 'transit/encrypt/rsa-3072', { plaintext: HELLO, padding_scheme: padding }),
})

/** `publicKey` is an OpenPGP key, in base64. */
export const drawnByNode = (publicKey: string): readonly DrawnByNode[] => [
  ...['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ecdsa-secp256k1'].map((type) => signed(type, ECDSA)),
  ...['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'].map((type) => signed(type, 'FIPS 204 hedges a signature')),
  signed('rsa-2048', 'The salt of PSS, which is the default'),
  encrypted('oaep'),
  encrypted('pkcs1v15'),
  {
    what: 'a certificate request of an ECDSA key',
    why: ECDSA,
    needs: (call) => call('POST', 'transit/keys/ecdsa-p256', { type: 'ecdsa-p256' }),
    ask: (call) => call('POST', 'transit/keys/ecdsa-p256/csr', {}),
  },
  {
    what: 'a key wrapped for another server',
    why: RSA_SEED,
    needs: async (call) => {
      await call('POST', 'transit/keys/rsa-4096', { type: 'rsa-4096' })
      await call('POST', 'transit/keys/leaves', { exportable: true })
    },
    ask: (call) => call('GET', 'transit/byok-export/rsa-4096/leaves'),
  },
  {
    what: 'a wrapping token in the form of a JWT',
    why: `It is signed. ${ECDSA}`,
    ask: (call) => call('GET', 'sys/mounts', undefined, 'root', { wrapTtl: '60', wrapFormat: 'jwt' }),
  },
  {
    what: 'a share encrypted to an OpenPGP key, and its backup',
    why: 'The session key of the message, which the library draws',
    ask: async (call, { shares }) => {
      const pgp = { pgp_keys: [publicKey], backup: true }
      const { body } = await call('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1, ...pgp })
      return call('POST', 'sys/rekey/update', { key: shares[0]?.toString('base64'), nonce: body.nonce })
    },
    isStored: true,
  },
]
