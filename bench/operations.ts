// The loads: one kind of request each, and over how many connections it is sent.
import { KEY, MOUNT, PLAINTEXT, SIGNING_TYPES, type Target, USER } from './targets.ts'

/** A load, for the server and where possible for the control. */
export type Operation = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Makes the JSON of the body; undefined if there is none. */
  readonly body: (target: Target) => object | undefined
  readonly connections: number
  /** Items that one request handles; the table shows items a second as well. */
  readonly items: number
  /** True if the control does this too. Other loads are compared with its encryption of 128 bytes. */
  readonly control: boolean
  /** True if each request creates another name, for which the administrator's token is used. */
  readonly creates: boolean
  /** Policies of the token: the one that grants this, and others beside it; one by default. */
  readonly policies?: number
  /** Lifetime of the wrapping, if answers are to come wrapped. */
  readonly wrapTtl?: string
  /** X-Vault-Namespace, if it is sent. */
  readonly namespace?: string
  /** True for logins: the caller has no token yet. */
  readonly anonymous?: boolean
}

const MANY = 16
const FEW = 4

const PLAIN = { method: 'POST', connections: MANY, items: 1, control: false, creates: false } as const

/** The load that others are compared with. */
export const REFERENCE = 'encrypt 128 B'

/** All loads, in the order in which they run. */
export const OPERATIONS: readonly Operation[] = [
  {
    ...PLAIN,
    name: REFERENCE,
    path: `${MOUNT}/encrypt/${KEY}`,
    body: () => ({ plaintext: PLAINTEXT }),
    control: true,
  },
  ...[10, 100].map((policies) => ({
    ...PLAIN,
    name: `${REFERENCE}, ${policies} policies`,
    path: `${MOUNT}/encrypt/${KEY}`,
    body: () => ({ plaintext: PLAINTEXT }),
    policies,
  })),
  {
    ...PLAIN,
    name: 'decrypt 128 B',
    path: `${MOUNT}/decrypt/${KEY}`,
    body: ({ ciphertext }) => ({ ciphertext }),
  },
  { ...PLAIN, name: 'hmac 128 B', path: `${MOUNT}/hmac/${KEY}`, body: () => ({ input: PLAINTEXT }) },
  { ...PLAIN, name: 'datakey', path: `${MOUNT}/datakey/plaintext/${KEY}`, body: () => ({}) },
  ...SIGNING_TYPES.map((type) => ({
    ...PLAIN,
    name: `sign ${type}`,
    path: `${MOUNT}/sign/${type}`,
    body: () => ({ input: PLAINTEXT }),
  })),
  ...(['ed25519', 'ecdsa-p256', 'rsa-2048'] as const).map((type) => ({
    ...PLAIN,
    name: `verify ${type}`,
    path: `${MOUNT}/verify/${type}`,
    body: ({ signatures }: Target) => ({ input: PLAINTEXT, signature: signatures.get(type) }),
  })),
  {
    ...PLAIN,
    name: 'encrypt batch of 1000',
    path: `${MOUNT}/encrypt/${KEY}`,
    body: () => ({ batch_input: Array.from({ length: 1000 }, () => ({ plaintext: PLAINTEXT })) }),
    connections: FEW,
    items: 1000,
    control: true,
  },
  {
    ...PLAIN,
    name: 'encrypt 1 MB',
    path: `${MOUNT}/encrypt/${KEY}`,
    body: () => ({ plaintext: Buffer.alloc(1 << 20, 'p').toString('base64') }),
    connections: FEW,
    control: true,
  },
  { ...PLAIN, name: 'key read', method: 'GET', path: `${MOUNT}/keys/${KEY}`, body: () => undefined },
  { ...PLAIN, name: 'token lookup-self', method: 'GET', path: 'auth/token/lookup-self', body: () => undefined },
  { ...PLAIN, name: 'key create, durable', path: `${MOUNT}/keys/new`, body: () => ({}), creates: true },
  // The loads from here on leave a token behind with every request, so they come last.
  {
    ...PLAIN,
    name: `${REFERENCE}, wrapped`,
    path: `${MOUNT}/encrypt/${KEY}`,
    body: () => ({ plaintext: PLAINTEXT }),
    wrapTtl: '5m',
  },
  {
    ...PLAIN,
    name: 'login by approle',
    path: 'auth/approle/login',
    body: ({ machine }) => machine,
    anonymous: true,
  },
  {
    ...PLAIN,
    name: 'login by userpass',
    path: `auth/userpass/login/${USER.username}`,
    body: () => ({ password: USER.password }),
    // The guard against guessing lets no more try at once.
    connections: FEW,
    anonymous: true,
  },
]
