// One example for each endpoint of transit, in an order in which one mount accepts them all.
import { LEAF_CERTIFICATE, LEAF_PUBLIC_KEY } from '../test/fixtures/certificate-chain.ts'
import { Earlier, type Example, type Members, Sample } from './example.ts'

/** Public key of another party. */
const PEER_PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVDF1Z3wX3fcLjg5lWCSUAhDDbtpl
MAhh7AvOxrJItpU3xKCk9OgS6bHDHJLCJzDOkhm+WFvUHsRki1476O7JBQ==
-----END PUBLIC KEY-----
`
const HELLO = 'aGVsbG8gd29ybGQ='
const MADE_AT = 1767225600

/** A key of type aes256-gcm96, as src/engines/transit/key-description.ts describes it. */
const described = (changes: Members): Members => ({
  name: 'orders',
  type: 'aes256-gcm96',
  derived: false,
  exportable: false,
  allow_plaintext_backup: false,
  deletion_allowed: false,
  imported_key: false,
  soft_deleted: false,
  supports_encryption: true,
  supports_decryption: true,
  supports_signing: false,
  supports_derivation: true,
  latest_version: 1,
  min_available_version: 0,
  min_decryption_version: 1,
  min_encryption_version: 0,
  auto_rotate_period: 0,
  keys: { 1: MADE_AT },
  ...changes,
})

const BOUNDED: Members = { latest_version: 2, min_decryption_version: 2, min_encryption_version: 2 }
const TRIMMED: Members = { ...BOUNDED, min_available_version: 2, keys: { 2: MADE_AT } }

const KEYS: readonly Example[] = [
  { id: 'transit-key-create', path: 'keys/orders', body: { type: 'aes256-gcm96' }, answer: described({}) },
  { id: 'transit-key-read', path: 'keys/orders', answer: described({ encryption_counts: { 1: 0 } }) },
  {
    id: 'transit-key-list',
    path: 'keys',
    before: [{ operation: 'update', path: 'keys/receipts', body: { type: 'ed25519' } }],
    answer: { keys: ['orders', 'receipts'] },
  },
]

const ENCRYPTION: readonly Example[] = [
  {
    id: 'transit-encrypt',
    path: 'encrypt/orders',
    body: { plaintext: HELLO },
    answer: {
      ciphertext: new Sample('vault:v1:', 'AUn6hvTYIP8k7iwRGeBAL5BvnSdE2byZcoel4zJ8dezNmEGWGKjx'),
      key_version: 1,
    },
  },
  {
    id: 'transit-decrypt',
    path: 'decrypt/orders',
    body: { ciphertext: new Earlier('transit-encrypt', ['ciphertext']) },
    answer: { plaintext: HELLO },
  },
  {
    id: 'transit-key-rotate',
    path: 'keys/orders/rotate',
    answer: described({ latest_version: 2, keys: { 1: MADE_AT, 2: MADE_AT } }),
  },
  {
    id: 'transit-rewrap',
    about: 'after a rotation of `orders`',
    path: 'rewrap/orders',
    body: { ciphertext: new Earlier('transit-encrypt', ['ciphertext']) },
    answer: {
      ciphertext: new Sample('vault:v2:', 'FMXOdEuXSiVaj+Dd8C9veiJ/0AxfzLmrAdvolNJ+QwiEuQg3Schq'),
      key_version: 2,
    },
  },
  {
    id: 'transit-datakey',
    path: 'datakey/plaintext/orders',
    body: { bits: 256 },
    answer: {
      ciphertext: new Sample('vault:v2:', 'Hqs+YIXKm+iY6MnOitqigmITmukP…'),
      key_version: 2,
      plaintext: new Sample('', 'OwQB8WTcAC5SKUi79Ie9zfYaG7l3…'),
    },
  },
  {
    id: 'transit-datakeys',
    path: 'datakeys/wrapped/orders',
    body: { count: 2 },
    answer: {
      key_pairs: [
        { ciphertext: new Sample('vault:v2:', 'FuqtaHbWzFiiSPMAFSwCbrrJuBoC…') },
        { ciphertext: new Sample('vault:v2:', 'c455s3pTxrR5jxi6DvOSN7Yj5Tyn…') },
      ],
      key_version: 2,
    },
  },
]

const LIFE: readonly Example[] = [
  {
    id: 'transit-key-configure',
    about: 'after all ciphertexts have been rewrapped to version 2',
    path: 'keys/orders/config',
    body: { min_decryption_version: 2, min_encryption_version: 2 },
    answer: described({ ...BOUNDED, keys: { 2: MADE_AT } }),
  },
  {
    id: 'transit-key-trim',
    about: 'with both minimum versions at 2',
    path: 'keys/orders/trim',
    body: { min_available_version: 2 },
    answer: described(TRIMMED),
  },
  {
    id: 'transit-key-soft-delete',
    path: 'keys/orders/soft-delete',
    answer: described({ ...TRIMMED, soft_deleted: true }),
  },
  {
    id: 'transit-key-soft-delete-restore',
    path: 'keys/orders/soft-delete-restore',
    answer: described(TRIMMED),
  },
]

const SIGNING: readonly Example[] = [
  {
    id: 'transit-sign',
    about: 'where `receipts` is of type ed25519',
    path: 'sign/receipts',
    body: { input: HELLO },
    answer: {
      signature: new Sample('vault:v1:', 'igikzHMRHTgThSwq3sy1Ts+AngvU…'),
      key_version: 1,
    },
  },
  {
    id: 'transit-verify',
    path: 'verify/receipts',
    body: { input: HELLO, signature: new Earlier('transit-sign', ['signature']) },
    answer: { valid: true },
  },
  {
    id: 'transit-hmac',
    path: 'hmac/orders/sha2-256',
    body: { input: HELLO },
    answer: { hmac: new Sample('vault:v2:', 'Mfb2OmGJ13zvusHUIzoQyKtOGpeZdKPsbHg5MDbBIxo=') },
  },
  {
    id: 'transit-cmac',
    about: 'where `meters` is of type aes256-cmac',
    before: [{ operation: 'update', path: 'keys/meters', body: { type: 'aes256-cmac' } }],
    path: 'cmac/meters',
    body: { input: HELLO },
    answer: { cmac: new Sample('vault:v1:', 'SC/ZDC2kSGBoPYGI5PcixA==') },
  },
]

const WITHOUT_KEYS: readonly Example[] = [
  {
    id: 'transit-random',
    path: 'random/16',
    body: { format: 'hex' },
    answer: { random_bytes: new Sample('', 'd02f53eb13086286f490a616c28006fd') },
  },
  {
    id: 'transit-hash',
    path: 'hash/sha2-256',
    body: { input: HELLO },
    answer: { sum: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' },
  },
  {
    id: 'transit-keys-config-write',
    path: 'config/keys',
    body: { disable_upsert: true },
    answer: { disable_upsert: true },
  },
  { id: 'transit-keys-config-read', path: 'config/keys', answer: { disable_upsert: true } },
  { id: 'transit-cache-config-write', path: 'cache-config', body: { size: 5000 }, answer: { size: 5000 } },
  { id: 'transit-cache-config-read', path: 'cache-config', answer: { size: 5000 } },
]

const MOVABLE: Members = { exportable: true, allow_plaintext_backup: true }

const MOVING: readonly Example[] = [
  {
    id: 'transit-wrapping-key',
    path: 'wrapping_key',
    answer: { public_key: new Sample('-----BEGIN PUBLIC KEY-----\n', 'MIICIjANBgkqhkiG9w0BAQEFAAOC…') },
  },
  {
    id: 'transit-byok-export',
    about: 'where `elsewhere` is the wrapping key of the importing mount, and `invoices` is exportable',
    before: [
      {
        operation: 'update',
        path: 'keys/elsewhere/import',
        body: { type: 'rsa-4096', public_key: new Earlier('transit-wrapping-key', ['public_key']) },
      },
      { operation: 'update', path: 'keys/invoices', body: MOVABLE },
      { operation: 'update', path: 'keys/invoices/rotate' },
    ],
    path: 'byok-export/elsewhere/invoices',
    answer: {
      name: 'invoices',
      type: 'aes256-gcm96',
      keys: {
        1: new Sample('', 'a6Tu9Akh8btBII03795Ws5h84/fa…'),
        2: new Sample('', 'eBP3jGRDeXNS5iSD0e5nXtAcC1Tp…'),
      },
    },
  },
  {
    id: 'transit-key-import',
    about: 'with version 1 as byok-export returned it',
    path: 'keys/invoices-here/import',
    body: { type: 'aes256-gcm96', ciphertext: new Earlier('transit-byok-export', ['keys', '1']) },
  },
  {
    id: 'transit-key-import-version',
    about: 'with version 2 as byok-export returned it',
    path: 'keys/invoices-here/import_version',
    body: { ciphertext: new Earlier('transit-byok-export', ['keys', '2']) },
  },
  {
    id: 'transit-export',
    path: 'export/encryption-key/invoices/latest',
    answer: {
      name: 'invoices',
      type: 'aes256-gcm96',
      keys: { 2: new Sample('', '2OhR6+b5yezvvAb0xQgaK5POjCS1…') },
    },
  },
  {
    id: 'transit-backup',
    about: 'where `invoices` has exportable and allow_plaintext_backup set',
    path: 'backup/invoices',
    answer: { backup: new Sample('eyJ', 'wb2xpY3kiOnsibmFtZSI6Imludm9p…') },
  },
  {
    id: 'transit-restore',
    path: 'restore/invoices-again',
    body: { backup: new Earlier('transit-backup', ['backup']) },
  },
  {
    id: 'transit-key-delete',
    about: 'where `invoices` has deletion_allowed set',
    before: [{ operation: 'update', path: 'keys/invoices/config', body: { deletion_allowed: true } }],
    path: 'keys/invoices',
  },
]

/** A certificate request with CN=receipts and the name of a host; its key was thrown away. */
const TEMPLATE = `-----BEGIN CERTIFICATE REQUEST-----
MIHEMHgCAQAwEzERMA8GA1UEAwwIcmVjZWlwdHMwKjAFBgMrZXADIQAjOceRW/gb
JJyzBLv+Zjgq+sz7HYVxbuOCXOjl17d2w6AyMDAGCSqGSIb3DQEJDjEjMCEwHwYD
VR0RBBgwFoIUcmVjZWlwdHMuZXhhbXBsZS5vcmcwBQYDK2VwA0EAy61jrmQc9upK
GuRrEJ/MfxLu+uGQ1K6Wngg/SFASdqk1L1R3AwA0i/3NxxkcEfCmkbqrmIP9/GMO
pONm3j4BDw==
-----END CERTIFICATE REQUEST-----
`

const PAIRS: readonly Example[] = [
  {
    id: 'transit-key-csr',
    about: 'where `receipts` is of type ed25519',
    path: 'keys/receipts/csr',
    body: { csr: TEMPLATE },
    answer: {
      name: 'receipts',
      type: 'ed25519',
      csr: new Sample('-----BEGIN CERTIFICATE REQUEST-----\n', 'MIHEMHgCAQAwEzERMA8GA1UEAwwI…'),
    },
  },
  {
    id: 'transit-key-set-certificate',
    about: 'with a certificate for a key of which only the public key was imported',
    before: [
      {
        operation: 'update',
        path: 'keys/devices/import',
        body: { type: 'ed25519', public_key: LEAF_PUBLIC_KEY },
      },
    ],
    path: 'keys/devices/set-certificate',
    body: { certificate_chain: LEAF_CERTIFICATE },
    answer: { name: 'devices', type: 'ed25519', certificate_chain: LEAF_CERTIFICATE },
  },
  {
    id: 'transit-derive-key',
    about: 'where `agreement` is of type ecdsa-p256',
    before: [{ operation: 'update', path: 'keys/agreement', body: { type: 'ecdsa-p256' } }],
    path: 'derive-key/shared',
    body: { base_key_name: 'agreement', peer_public_key: PEER_PUBLIC_KEY },
  },
]

/** All examples, in the order in which they are sent. */
export const TRANSIT_EXAMPLES: readonly Example[] = [
  ...KEYS,
  ...ENCRYPTION,
  ...LIFE,
  ...SIGNING,
  ...WITHOUT_KEYS,
  ...PAIRS,
  ...MOVING,
]
