// One request made by chance from the endpoint table: mostly sensible, with something odd in the path, the query, the
// headers or the body.
import type { EndpointOperation } from '../../src/api/endpoint.ts'
import type { JsonValue } from '../../src/lib/json.ts'
import { type Placed, pathsOf } from '../fixtures/endpoint-table.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'
import { rawRequest } from '../fixtures/raw-http.ts'
import { type Filling, fieldValue, hostileValue, type Pool, SECRET_MARK } from './field-values.ts'

export type GeneratedRequest = {
  /** What it was made from; what is odd in it may lead elsewhere. */
  readonly id: string
  readonly method: string
  /** Latin-1: what is beyond ASCII goes out as one byte. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
  readonly bytes: Buffer
}

/** What a request may be made from. */
export type Material = {
  readonly endpoints: readonly Placed[]
  readonly pool: Pool
  /** For what stands in paths; some are names of things, some come and go. */
  readonly names: readonly string[]
  /** For what stands behind sys/mounts/. */
  readonly mounts: readonly string[]
  /** Of whoever sends it. */
  readonly token: string
  readonly otherTokens: readonly string[]
}

export function generateRequest(random: PseudoRandom, material: Material): GeneratedRequest {
  const placed = random.pick(material.endpoints)
  const operation = placed.endpoint.operation
  const method = random.chance(0.85) ? usualMethod(random, operation) : random.pick(METHODS)
  const pathName = pathNameFor(random, placed, material)
  const path = targetPath(random, placed, pathName)
  const { id } = placed.endpoint
  const filling = { id, pathName, pool: material.pool, oddness: random.pick([0, 0, 0.1, 0.5]) }
  const query = queryOf(random, placed, method, filling)
  const target = query === '' ? path : `${path}?${query}`
  const body = bodyOf(random, placed, method, filling)
  const headers = [...tokenHeaders(random, material), ...otherHeaders(random)]
  // Two lengths; without a body the server would rightly wait for one.
  if (body !== undefined && random.chance(0.01)) headers.push(['Content-Length', '5'])
  if (body !== undefined && random.chance(0.1)) {
    const chunked = [...headers, ['Transfer-Encoding', 'chunked'] as const]
    return {
      id,
      method,
      target,
      headers: chunked,
      body,
      bytes: Buffer.concat([rawRequest(method, target, chunked), chunks(random, body)]),
    }
  }
  return { id, method, target, headers, body, bytes: rawRequest(method, target, headers, body) }
}

const METHODS = [
  'GET',
  'HEAD',
  'LIST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HELP',
  'OPTIONS',
  'TRACE',
  'SCAN',
  'FOO',
  'get',
]

function usualMethod(random: PseudoRandom, operation: EndpointOperation): string {
  if (operation === 'update') return random.pick(['POST', 'PUT'])
  return { read: 'GET', list: random.pick(['LIST', 'GET']), scan: 'SCAN', patch: 'PATCH', delete: 'DELETE' }[operation]
}

const ODD_NAMES = [
  '.',
  '..',
  'a..b',
  '...',
  '-a',
  'a-',
  'a.',
  '%2e%2e',
  '%2E',
  '%252e',
  '%00',
  'a%0ab',
  '%2F',
  'a%2Fb',
  '%5c..%5c',
  '%ff%fe',
  '%c3%a4',
  '%ed%a0%80',
  '%',
  '%z1',
  '%4',
  'a%20b',
  'a+b',
  '%7f',
  '%c2%85',
  '%e2%80%ae',
  '\u00e4',
  '__proto__',
  'constructor',
  'toString',
  '"',
  "'",
  '\\',
  '<a>',
  '{{x}}',
  '*',
  '+',
  ':name',
  '(a)',
  ';a=b',
  '#a',
  '@',
  'K',
  'x'.repeat(500),
  'x'.repeat(513),
  'x'.repeat(1100),
  'x/'.repeat(600),
  'x'.repeat(5000),
  'sys',
  'auth/token',
  '',
]

function pathNameFor(random: PseudoRandom, { endpoint }: Placed, { names, mounts, pool }: Material): string {
  const { path } = endpoint
  if (path.includes(':token')) return random.pick(pool.tokens)
  const ids = path.endsWith('/id/:id') ? pool.identity[path.slice(0, path.indexOf('/'))] : undefined
  const named = path.startsWith('mounts') ? mounts : path.includes('mounts') ? [...mounts, 'transit', 'sys'] : names
  const usual = ids ?? named
  return random.chance(0.85) ? random.pick(usual) : random.pick(ODD_NAMES)
}

function targetPath(random: PseudoRandom, placed: Placed, name: string): string {
  const path = `/v1/${random.pick(pathsOf(placed, name)).replace(/\/below$/, random.chance(0.8) ? '' : '/below')}`
  return random.chance(0.9) ? path : bentPath(random, path)
}

function bentPath(random: PseudoRandom, path: string): string {
  const at = random.int(path.length + 1)
  return random.pick([
    `${path}/`,
    `${path}//`,
    path.replaceAll('/', '//'),
    `/${path}`,
    path.replace('/v1/', '/v1/./'),
    path.replace('/v1/', '/v1/x/../'),
    path.replace('/v1/', '/v1/%2e%2e/v1/'),
    path.replace('/v1/', '/V1/'),
    path.replace('/v1/', '/v2/'),
    `http://localhost${path}`,
    `//localhost${path}`,
    '*',
    '/',
    '/v1',
    '/v1/',
    path.slice(0, at),
    `${path.slice(0, at)}${random.pick(ODD_NAMES)}${path.slice(at)}`,
    `${path.slice(0, at)}/${random.pick(ODD_NAMES)}/${path.slice(at)}`,
    `${path.slice(0, at)} ${path.slice(at)}`,
    `${path.slice(0, at)}\u0001${path.slice(at)}`,
    `${path.slice(0, at)}%${path.slice(at)}`,
    [...path]
      .map((character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .join('')
      .replace('%2fv1%2f', '/v1/'),
  ])
}

const ODD_QUERIES = [
  'list',
  'list=',
  'list=maybe',
  'list=1',
  'help=1',
  'help',
  '=',
  '&&&',
  '%',
  '%zz=%',
  'a=b&a=c',
  '__proto__=x',
  '?',
  'list=true&list=false',
]

function queryOf(random: PseudoRandom, { endpoint }: Placed, method: string, filling: Filling): string {
  const parts: string[] = []
  if (endpoint.operation === 'list' && method === 'GET') parts.push('list=true')
  if (endpoint.operation !== 'update') {
    for (const [name, field] of Object.entries(endpoint.fields)) {
      if (random.chance(0.3))
        parts.push(`${name}=${encodeQuery(textOf(fieldValue(random, name, field, filling)).slice(0, 2000))}`)
    }
  }
  if (random.chance(0.05)) parts.push(random.pick(ODD_QUERIES))
  if (random.chance(0.005)) parts.push(...Array.from({ length: 150 }, (_, index) => `p${index}=1`))
  return parts.join('&')
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Like encodeURIComponent, but a lone surrogate becomes the bytes that UTF-8 forbids. */
const encodeQuery = (text: string): string => (text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80')

function tokenHeaders(random: PseudoRandom, { token, otherTokens }: Material): (readonly [string, string])[] {
  if (random.chance(0.8)) return [['X-Vault-Token', token]]
  return random.pick([
    () => [],
    () => [['X-Vault-Token', random.pick(otherTokens)] as const],
    () => [['Authorization', `Bearer ${token}`] as const],
    () => [['Authorization', 'Basic AAAA'] as const],
    () => [['X-Vault-Token', token] as const, ['X-Vault-Token', random.pick(otherTokens)] as const],
    () => [['x-vault-token', token] as const, ['Authorization', `Bearer ${random.pick(otherTokens)}`] as const],
    () => [['X-Vault-Token', ''] as const],
    () => [['X-Vault-Token', ` ${token}\t`] as const],
    () => [['X-Vault-Token', `${token}\u00ff`] as const],
    () => [['X-Vault-Token', 'x'.repeat(9000)] as const],
    () => [['X-Vault-Token', `${token}\u0001`] as const],
  ])()
}

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Type', 'application/x-www-form-urlencoded'],
  ['Content-Type', 'application/merge-patch+json'],
  ['Content-Type', 'text/plain;charset=UTF-16'],
  ['Content-Type', ''],
  ['Content-Type', 'x'.repeat(3000)],
  ['X-Vault-Wrap-TTL', '60'],
  ['X-Vault-Wrap-TTL', '0'],
  ['X-Vault-Wrap-TTL', '-1'],
  ['X-Vault-Wrap-TTL', 'soon'],
  ['X-Vault-Namespace', 'root'],
  ['X-Vault-Namespace', '/'],
  ['X-Vault-Namespace', 'other/'],
  ['X-Vault-Namespace', '../..'],
  ['X-Vault-Namespace', '\u00e4'],
  ['X-Vault-Request', 'true'],
  ['X-Forwarded-For', '1.2.3.4, \u00ff'],
  ['Content-Encoding', 'gzip'],
  ['Expect', 'something'],
  ['Connection', 'close'],
  ['Upgrade', 'h2c'],
  ['Cookie', 'a=b'],
  ['__proto__', 'x'],
  ['X-Long', 'y'.repeat(20_000)],
  ['Origin', 'http://evil.example'],
  ['Host', 'elsewhere'],
  ['Bad Name', 'x'],
  ['Transfer-Encoding', 'gzip'],
]

function otherHeaders(random: PseudoRandom): (readonly [string, string])[] {
  if (random.chance(0.85)) return random.chance(0.5) ? [] : [['Content-Type', 'application/json']]
  return random.several(1, 3, () => random.pick(ODD_HEADERS))
}

/** Without these most requests fail, though the table does not ask for them. */
const NEEDED = ['plaintext', 'ciphertext', 'policy', 'paths', 'type', 'secret_shares', 'secret_threshold', 'context']

function bodyOf(random: PseudoRandom, { endpoint }: Placed, method: string, filling: Filling): Buffer | undefined {
  if (method === 'LIST' || method === 'HELP') return random.chance(0.05) ? Buffer.from('{}') : undefined
  if (endpoint.operation !== 'update') return random.chance(0.05) ? Buffer.from(bentJson(random, '{"a":1}')) : undefined
  const share = random.pick([0.1, 0.3, 0.6])
  const fields = Object.entries(endpoint.fields).filter(([name, { required }]) =>
    random.chance(required || NEEDED.includes(name) ? 0.95 : name === 'batch_input' ? 0.2 : share),
  )
  const body: Record<string, JsonValue> = Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      fieldValue(random, name, field, filling, field.secret ? SECRET_MARK : undefined),
    ]),
  )
  if (random.chance(0.05)) body[random.pick(['unknown', '__proto', 'Name', '', 'a b', '\u0000'])] = hostileValue(random)
  const text = JSON.stringify(body)
  return random.chance(0.92) ? Buffer.from(text) : bentJson(random, text)
}

/** JSON that is none, or that no serialiser writes. */
function bentJson(random: PseudoRandom, text: string): Buffer {
  const at = random.int(text.length + 1)
  const [before, after] = [text.slice(0, at), text.slice(at)]
  return random.pick<() => Buffer>([
    () => Buffer.from(before),
    () => Buffer.from(`${text}${text}`),
    () => Buffer.from(`${text}\n\t `),
    () => Buffer.from(`\ufeff${text}`),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from(after)]),
    () =>
      Buffer.from(
        `${before}${random.pick(['"', '\\', '{', '}', '[', ']', ',', ':', '\u0000', '1', '-', '//', "'"])}${after}`,
      ),
    () => Buffer.from(text.replace('{', '{"__proto__":{"a":1},"__proto__":null,')),
    () => Buffer.from(text.replace('{', `{"a":1e400,"a":-0,"b":${'9'.repeat(500)},`)),
    () => Buffer.from(`[${text}]`),
    () =>
      Buffer.from(random.pick(['null', 'true', '1', '"x"', '[]', '', ' ', '{', '}', 'NaN', 'a=b&c=d', '%', '\u0000'])),
    () => Buffer.from('['.repeat(1 + random.int(2000))),
    () => Buffer.from(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`),
    () => Buffer.from(`"${'\\'.repeat(random.int(200))}`),
  ])()
}

function chunks(random: PseudoRandom, body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + random.int(50_000))
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
    at += part.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

const SHOWN_BODY_BYTES = 2_000

/** What a person needs to send it again. */
export function describeRequest({ method, target, headers, body }: GeneratedRequest): string {
  const shown = (text: string): string =>
    text.length > 200 ? `${JSON.stringify(text.slice(0, 200))}… (${text.length})` : JSON.stringify(text)
  const bodyText =
    body === undefined
      ? 'no body'
      : `body (${body.length} bytes) ${JSON.stringify(body.toString('latin1', 0, SHOWN_BODY_BYTES))}`
  const lines = headers.map(([name, value]) => `${name}: ${shown(value)}`)
  return `${method} ${shown(target)} ${lines.join(', ')} ${bodyText}`
}
