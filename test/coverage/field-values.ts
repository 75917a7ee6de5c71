// Values for fields: such that fit, such that nearly fit, and such that nobody should send.
import type { Member } from '../../src/api/fields.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { PLAIN_REQUEST } from '../fixtures/certificate-requests.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'

/** What the server under test holds, for values that mean something to it. */
export type Pool = {
  /** One by each key. */
  readonly ciphertexts: Readonly<Record<string, string>>
  /** Tokens and accessors that may be used up. */
  readonly tokens: readonly string[]
  readonly accessors: readonly string[]
  /** Of these tokens. */
  readonly leases: readonly string[]
  readonly shares: readonly string[]
  /** Ids of what is under identity/, by the first segment of its path, and the accessor of a login mount. */
  readonly identity: Readonly<Record<string, readonly string[]>>
  readonly loginAccessor: string
}

/** In every text that is sent as a secret: no refusal and no log may repeat it. */
export const SECRET_MARK = 'never-to-be-repeated'
const PLAIN_MARK = 'may-be-repeated'

/** How a request is filled. */
export type Filling = {
  /** Id of the endpoint, and what stands in its path. */
  readonly id: string
  readonly pathName: string
  readonly pool: Pool
  /** How likely a value is none that fits. */
  readonly oddness: number
}

/** `name` is that of the field, without what it is inside of; `mark` is part of texts that make no sense. */
export function fieldValue(
  random: PseudoRandom,
  name: string,
  field: Member,
  filling: Filling,
  mark = PLAIN_MARK,
): JsonValue {
  if (!random.chance(filling.oddness)) return fittingValue(random, name, field, filling)
  return random.chance(0.6) ? nearValue(random, name, field, filling) : hostileValue(random, mark)
}

const base64 = (random: PseudoRandom, most: number): string =>
  Buffer.from(random.several(0, most, () => random.int(256))).toString('base64')

/** By the name of the field, or by endpoint and name; else anything of its kind. */
const MEANINGFUL: Readonly<Record<string, (random: PseudoRandom, pool: Pool, pathName: string) => JsonValue>> = {
  plaintext: (random) => base64(random, 40),
  ciphertext: (random, { ciphertexts }, pathName) =>
    (random.chance(0.8) ? ciphertexts[pathName] : undefined) ?? random.pick(Object.values(ciphertexts)),
  context: (random) => random.pick([CONTEXT, CONTEXT, CONTEXT, CONTEXT, '', base64(random, 40)]),
  input: (random) => base64(random, 40),
  hash_algorithm: (random) => random.pick(['sha2-256', 'sha2-256', 'sha3-512', 'sha1', 'none']),
  signature_algorithm: (random) => random.pick(['', 'pss', 'pkcs1v15']),
  marshaling_algorithm: (random) => random.pick(['asn1', 'asn1', 'jws']),
  salt_length: (random) => random.pick(['auto', 'hash', 20]),
  signature: (random, { ciphertexts }) => random.pick(Object.values(ciphertexts)),
  hmac: (random, { ciphertexts }) => random.pick(Object.values(ciphertexts)),
  csr: (random) => random.pick(['', PLAIN_REQUEST]),
  cmac: (random, { ciphertexts }) => random.pick(Object.values(ciphertexts)),
  associated_data: (random) => random.pick(['', '', '', '', '', base64(random, 40)]),
  nonce: (random) => random.pick(['', '', '', '', '', '', 'AAAAAAAAAAAAAAAA']),
  key_version: (random) => random.pick([0, 0, 1, 2]),
  bits: (random) => random.pick([128, 256, 512]),
  key_size: () => 0,
  managed_key_name: () => '',
  managed_key_id: () => '',
  type: (random) =>
    random.pick([
      'aes128-gcm96',
      'aes256-gcm96',
      'chacha20-poly1305',
      'rsa-2048',
      'ed25519',
      'ecdsa-p256',
      'hmac',
      'aes256-cmac',
    ]),
  token: (random, pool) => random.pick(pool.tokens),
  accessor: (random, pool) => random.pick(pool.accessors),
  lease_id: (random, pool) => random.pick(pool.leases),
  token_type: (random) => random.pick(['', 'default', 'service', 'batch', 'default-service', 'default-batch']),
  entity_alias: () => '',
  path_suffix: (random) => random.pick(['', 'suffix']),
  token_bound_cidrs: (random) => random.pick([[], '127.0.0.0/8', ['127.0.0.1', '::1/128']]),
  bound_cidrs: (random) => random.pick([[], '127.0.0.1']),
  key: (random, pool) => random.pick(pool.shares),
  policy: (random) =>
    random.pick(['path "a/*" { capabilities = ["read"] }', '{"path":{"b":{"capabilities":["list"]}}}']),
  policies: (random) => random.pick([['default'], ['generated'], 'default,generated', []]),
  paths: (random) =>
    random.several(1, 4, () => random.pick(['transit/keys/k', 'sys/mounts', '/sys/seal', '__proto__', ''])),
  path: (random) => random.pick(['transit/keys/k', 'sys/mounts']),
  secret_shares: (random) => random.pick([1, 3, 5]),
  secret_threshold: (random) => random.pick([1, 2, 3]),
  ttl: (random) => random.pick(['1h', 60, '5m']),
  primary_cluster_addr: (random) => random.pick(['', 'https://primary.test:8201']),
  primary_api_addr: (random) => random.pick(['', 'https://primary.test:8200']),
  secondary_public_key: () => '',
  ca_file: () => '',
  ca_path: () => '',
  mount_accessor: (_random, pool) => pool.loginAccessor,
  alias_mount_accessor: (_random, pool) => pool.loginAccessor,
  canonical_id: (random, pool) =>
    random.pick(['', '', ...(pool.identity.entity ?? []), ...(pool.identity.group ?? [])]),
  to_entity_id: (random, pool) => random.pick(pool.identity.entity ?? []),
  from_entity_ids: (random, pool) => [random.pick(pool.identity.entity ?? [])],
  'mounts-mount.type': () => 'transit',
  'token-create.type': (random) => random.pick(['', 'service', 'batch']),
  'token-create-orphan.type': (random) => random.pick(['', 'service', 'batch']),
  'token-create-by-role.type': (random) => random.pick(['', 'service', 'batch']),
  'password-policies-write.policy': () => 'length = 20\nrule "charset" { charset = "abcdef" }',
  algorithm: (random) => random.pick(['sha2-256', 'sha3-512', 'sha1']),
  allowed_origins: (random) => random.pick(['https://one.example', ['https://one.example', 'http://two.example']]),
  plugin: (random) => random.pick(['transit', 'userpass', '']),
  mounts: (random) => random.pick([['transit'], 'transit,auth/userpass', []]),
  'leases-count.type': () => 'irrevocable',
  'leases-read.type': () => 'irrevocable',
}

/** Of the keys with derivation in the pool's ciphertexts, base64. */
export const CONTEXT = 'Y3R4'

const OF_KIND: Readonly<Record<string, (random: PseudoRandom, field: Member, filling: Filling) => JsonValue>> = {
  string: (random) => random.pick(['', 'text', 'another text']),
  int: (random, { schema }) => Number(schema.minimum ?? 0) + random.int(10),
  version: (random) => random.pick([0, 0, 1, 'latest']),
  number: (random) => random.pick([0.5, 1, 100]),
  bool: (random) => random.chance(0.5),
  duration: (random) => random.pick([0, 3600, '90m', '1h30m']),
  'signed duration': (random) => random.pick([0, -1, '4s', '-1s']),
  bytes: (random) => base64(random, 40),
  strings: (random) => random.several(0, 3, () => random.pick(['a', 'b', 'default'])),
  map: () => ({ a: 'b', c: 'd' }),
  object: (random, field, filling) => membersOf(random, field, filling),
  batch: (random, field, filling) => random.several(0, 5, () => membersOf(random, field, filling)),
}

export function fittingValue(random: PseudoRandom, name: string, field: Member, filling: Filling): JsonValue {
  const { enum: values } = field.schema
  if (Array.isArray(values)) return random.pick(values)
  const meaningful = MEANINGFUL[`${filling.id}.${name}`] ?? MEANINGFUL[name]
  if (meaningful !== undefined) return meaningful(random, filling.pool, filling.pathName)
  const make = OF_KIND[field.kind]
  if (make === undefined) throw new Error(`No values of the kind ${field.kind}`)
  return make(random, field, filling)
}

/** Some of its members; mostly those that must be there. */
function membersOf(random: PseudoRandom, { members = {} }: Member, filling: Filling): JsonValue {
  const chosen = Object.entries(members).filter(([, { required }]) => random.chance(required ? 0.98 : 0.3))
  return Object.fromEntries(chosen.map(([name, member]) => [name, fieldValue(random, name, member, filling)]))
}

/** A fitting value, bent. */
function nearValue(random: PseudoRandom, name: string, field: Member, filling: Filling): JsonValue {
  const fitting = fittingValue(random, name, field, filling)
  if (typeof fitting === 'string' && fitting.startsWith('vault:')) return bentCiphertext(random, fitting)
  if (typeof fitting === 'string') return bentText(random, fitting)
  if (typeof fitting === 'number')
    return random.pick<JsonValue>([...ODD_NUMBERS, String(fitting), fitting + 0.5, -fitting])
  if (typeof fitting === 'boolean') return random.pick<JsonValue>(['true', 'F', 't', '', 0, 1, 2, 'yes', 'TRUE', null])
  return random.pick<JsonValue>([JSON.stringify(fitting), [fitting], { '0': fitting }, null, '', 'a, b,,c', [], {}])
}

const ODD_NUMBERS: readonly JsonValue[] = [
  -1,
  0,
  -0,
  1.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 63),
  1e21,
  1e308,
  5e-324,
  '0x10',
  '010',
  '0b11',
  '1_000',
  '08',
  '1e3',
  ' 1',
  '+1',
  '--1',
  '9'.repeat(400),
]

function bentText(random: PseudoRandom, text: string): JsonValue {
  const at = random.int(text.length + 1)
  return random.pick<JsonValue>([
    text.slice(0, at),
    `${text.slice(0, at)}${random.pick(STRANGE_CHARACTERS)}${text.slice(at)}`,
    `${text}=`,
    text.replaceAll('+', '-').replaceAll('/', '_'),
    ` ${text} `,
    text.toUpperCase(),
    text + text,
  ])
}

function bentCiphertext(random: PseudoRandom, ciphertext: string): JsonValue {
  const payload = ciphertext.slice(ciphertext.lastIndexOf(':') + 1)
  const bytes = Buffer.from(payload, 'base64')
  const at = random.int(bytes.length)
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.int(8)), at)
  const version = random.pick(['0', '-1', '2', '99', '01', '+1', '1.0', '', 'x', '9'.repeat(30), '9007199254740993'])
  return random.pick([
    `vault:v1:${bytes.toString('base64')}`,
    `vault:v1:${bytes.subarray(0, at).toString('base64')}`,
    `vault:v${version}:${payload}`,
    `vault:v1:${payload.slice(0, -1)}`,
    `vault:v1:${payload.replaceAll('+', '-').replaceAll('/', '_')}`,
    `vault:v1:${payload}\n`,
    `VAULT:v1:${payload}`,
    `vault:v1${payload}`,
    `vault:v1:1:${payload}`,
    payload,
    'vault:v1:',
    'vault:',
  ])
}

const STRANGE_CHARACTERS = [
  '\u0000',
  '\n',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '💥',
  'ﬀ',
  'K',
  '"',
  '\\',
  '%',
  '%00',
]

const LONG_TEXT = 'x'.repeat(100_000)

/** `mark` is part of the texts in it. */
export function hostileValue(random: PseudoRandom, mark = PLAIN_MARK): JsonValue {
  const text = `${mark}${random.pick(STRANGE_CHARACTERS)}`
  return random.pick<() => JsonValue>([
    () => null,
    () => random.pick([true, false]),
    () => random.pick(ODD_NUMBERS),
    () => text,
    () => random.several(1, 20, () => random.pick(STRANGE_CHARACTERS)).join(''),
    () => LONG_TEXT,
    () => [],
    () => ({}),
    () => [null, 1, text, [], {}],
    () => JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'),
    () => JSON.parse('{"__proto__":"text","toString":"text","hasOwnProperty":1,"length":2147483647}'),
    () => ({ type: 'Buffer', data: [1, 2, 3] }),
    () => nested(random.int(70)),
    () => Array.from({ length: random.int(300) }, () => text),
    () => Object.fromEntries(Array.from({ length: random.int(300) }, (_, index) => [`${text}${index}`, index])),
    () =>
      random.pick([
        '../../etc/passwd',
        "' OR 1=1 --",
        '$'.concat('{7*7}'),
        '{{identity.entity.id}}',
        '<script>',
        'a,b,c',
        'root',
        '*',
        '+',
        '\u202e',
      ]),
  ])()
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 'x'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
