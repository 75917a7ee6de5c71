import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { type Outbound, OutboundError, type OutboundRequest, type Reach } from '../../lib/outbound.ts'
import { type AskedPrimary, apiAddressFor, newPrimaryApi, PRIMARY_API_MS, type PrimaryApiParts } from './primary-api.ts'

const JWT = 'header.payload.signature'
const BUNDLE = 'keywright-activation-1-c2VjcmV0'
const ASKED: AskedPrimary = { family: 'dr', address: 'https://a.example:8200', jwt: JWT, caFile: '', caPath: '' }
const NOW_MS = Date.UTC(2026, 0, 1)
const HEALTH = { initialized: true, sealed: false, version: '1.21.0' }
const CREATED = { data: { creation_path: 'sys/replication/dr/primary/secondary-token' } }

type Stage = {
  readonly api: ReturnType<typeof newPrimaryApi>
  readonly asked: OutboundRequest[]
  readonly reaches: Reach[]
}

/** Answers by the end of the path: a status and a body, or the error that it fails with. */
function staged(
  answers: Readonly<Record<string, readonly [number, unknown] | Error>>,
  authorities: PrimaryApiParts['authorities'] = { read: async () => ({ ca: undefined, trust: 'system' }) },
): Stage {
  const asked: OutboundRequest[] = []
  const reaches: Reach[] = []
  const request: Outbound['request'] = async (sent) => {
    asked.push(sent)
    const found = answers[sent.url.slice(sent.url.lastIndexOf('/') + 1)] ?? assert.fail(sent.url)
    if (found instanceof Error) throw found
    const headers = new Map([['date', new Date(NOW_MS + 60_000).toUTCString()]])
    return { status: found[0], headers, body: Buffer.from(JSON.stringify(found[1])) }
  }
  const api = newPrimaryApi({
    authorities,
    outboundTo: (reach) => {
      reaches.push(reach)
      return { request }
    },
    clock: { nowMs: () => NOW_MS },
  })
  return { api, asked, reaches }
}

const failed = (code: string, message = `${code} ${JWT}`): Error => Object.assign(new Error(message), { code })
const GOOD = { unwrap: [200, { data: { token: BUNDLE } }], lookup: [200, CREATED], health: [200, HEALTH] } as const

test('the bundle is asked for with the token, at the one origin, within limits', async () => {
  const { api, asked, reaches } = staged(GOOD)
  assert.deepEqual(await api.unwrap(ASKED), { kind: 'bundle', text: BUNDLE })
  assert.deepEqual(reaches, [{ origin: 'https://a.example:8200' }])
  assert.deepEqual(asked, [
    {
      method: 'PUT',
      url: 'https://a.example:8200/v1/sys/wrapping/unwrap',
      headers: { Accept: 'application/json', 'X-Vault-Token': JWT },
      timeoutMs: PRIMARY_API_MS,
      maxAnswerBytes: 65_536,
    },
  ])
})

test('an address has its path kept, and http goes out as it stands', async () => {
  const { api, asked, reaches } = staged(GOOD)
  await api.unwrap({ ...ASKED, address: 'http://[::1]:8200/path/' })
  assert.equal(asked[0]?.url, 'http://[::1]:8200/path/v1/sys/wrapping/unwrap')
  assert.deepEqual(reaches, [{ origin: 'http://[::1]:8200' }])
})

test('certificates are judged by the authorities that were found', async () => {
  const named: unknown[] = []
  const { api, reaches } = staged(GOOD, {
    read: async ({ caFile, caPath }) => {
      named.push([caFile, caPath])
      return { ca: 'PEM', trust: 'ca_file' }
    },
  })
  await api.unwrap({ ...ASKED, caFile: '/ca/a.pem' })
  assert.deepEqual([named, reaches], [[['/ca/a.pem', '']], [{ origin: 'https://a.example:8200', ca: 'PEM' }]])
})

test('files that cannot be used are told before anything is asked', async () => {
  const { api, asked } = staged(GOOD, { read: async () => ({ sentence: 'The files are no use' }) })
  for (const found of [await api.unwrap(ASKED), await api.look(ASKED)])
    assert.deepEqual(found, { kind: 'failed', sentence: 'The files are no use' })
  assert.deepEqual(asked, [])
})

test('a look spends nothing, and tells version and clock', async () => {
  const { api, asked } = staged(GOOD)
  assert.deepEqual(await api.look(ASKED), {
    kind: 'good',
    sentence: 'The API of the primary at a.example:8200 answers, and the token can be unwrapped there',
    version: '1.21.0',
    clockSkewMs: 60_000,
  })
  assert.deepEqual(
    asked.map(({ method, url, headers }) => [method, url.slice(22), headers['X-Vault-Token']]),
    [
      ['GET', '/v1/sys/health', undefined],
      ['POST', '/v1/sys/wrapping/lookup', JWT],
    ],
  )
})

test('a look at a primary that cannot give the bundle says why, and sends it no token', async () => {
  const { api, asked } = staged({ ...GOOD, health: [503, { ...HEALTH, sealed: true }] })
  const { kind, sentence, clockSkewMs } = await api.look(ASKED)
  assert.deepEqual([kind, clockSkewMs, asked.length], ['failed', 60_000, 1])
  assert.equal(sentence, 'The API of the primary at a.example:8200 is sealed: unseal it, and try again')
  const refusing = await staged({ ...GOOD, lookup: [400, { errors: [JWT] }] }).api.look(ASKED)
  assert.match(refusing.sentence, /at a\.example:8200 refused the token with status 400/)
  assert.equal(refusing.version, '1.21.0')
})

test('an address that cannot be asked is told with the field that gives another', async () => {
  const { api, asked } = staged(GOOD)
  const told = async (address: string): Promise<string> => (await api.look({ ...ASKED, address })).sentence
  assert.match(await told(''), /has no address of its primary: give it in "primary_api_addr"/)
  assert.match(await told('a.example:8200'), /The address "a\.example:8200" .* begins with .*"primary_api_addr"/)
  assert.match(await told('https://u:p@a'), /has more than a host, a port and a path/)
  assert.match(await told(`https://${'a'.repeat(400)}`), /^The address of the primary's API has more than 300/)
  assert.match((await api.unwrap({ ...ASKED, address: '' })) && (await told('ftp://a')), /no address that begins/)
  assert.deepEqual(asked, [])
})

test('the address of the request counts before that of the token', () => {
  assert.deepEqual(
    [apiAddressFor('https://a', 'https://b'), apiAddressFor('', 'https://b')],
    ['https://a', 'https://b'],
  )
})

const FAILED: readonly (readonly [string, string, Error, RegExp])[] = [
  ['nobody listens', 'https', failed('ECONNREFUSED'), /:8200 refuses connections: .*"primary_api_addr"/],
  ['the name is unknown', 'https', failed('ENOTFOUND'), /cannot be found: .*"primary_api_addr"/],
  ['no way leads there', 'https', failed('EHOSTUNREACH'), /cannot be reached from here \(EHOSTUNREACH\); "primary_api/],
  ['no answer comes', 'https', new OutboundError('time', JWT), /did not answer within 10 s; "primary_api_addr"/],
  ['the system waits no longer', 'http', failed('ETIMEDOUT'), /did not answer within 10 s/],
  ['the answer is endless', 'https', new OutboundError('size', JWT), /answers with more than such a server does/],
  ['the connection is cut', 'https', failed('ECONNRESET'), /closed the connection without an answer$/],
  ['TLS is asked in clear', 'http', failed('ECONNRESET'), /without an answer: perhaps it speaks https$/],
  ['no HTTP is spoken', 'http', failed('HPE_INVALID_CONSTANT'), /answers something else than HTTP/],
  ['no TLS is spoken', 'https', failed('EPROTO', `wrong version number ${JWT}`), /answers without TLS: perhaps it spe/],
  ['no authority is trusted', 'https', failed('SELF_SIGNED_CERT_IN_CHAIN'), /trusts: name .*"ca_file" or "ca_path"/],
  ['the certificate is old', 'https', failed('CERT_HAS_EXPIRED'), /has expired or is not valid yet/],
  [
    'it is of another name',
    'https',
    failed('ERR_TLS_CERT_ALTNAME_INVALID'),
    /not for a\.example: .*"primary_api_addr"/,
  ],
  ['a certificate is wanted', 'https', failed('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), /client certificate/],
  ['something else is wrong', 'https', failed('ESTRANGE'), /cannot be asked \(ESTRANGE\)$/],
  ['the code is no code', 'https', failed(`x ${JWT}`), /cannot be asked \(unknown\)$/],
]

for (const [name, scheme, cause, says] of FAILED) {
  test(`the operator is told where and why, and no secret, if ${name}`, async () => {
    const { api } = staged({ unwrap: cause, health: cause, lookup: cause })
    const asked = { ...ASKED, address: `${scheme}://a.example:8200` }
    for (const found of [await api.unwrap(asked), await api.look(asked)]) {
      assert.equal(found.kind, 'failed')
      const { sentence } = found as { readonly sentence: string }
      assert.match(sentence, says)
      assert.match(sentence, /^The API of the primary at a\.example:8200 /)
      assert.ok(!sentence.includes(JWT))
    }
  })
}

test('a certificate of another authority than those given is told with the field', async () => {
  for (const trust of ['ca_file', 'ca_path'] as const) {
    const cause = failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    const { api } = staged({ unwrap: cause }, { read: async () => ({ ca: '', trust }) })
    const why = `shows a certificate that no authority in "${trust}" has issued: name its authority there`
    const sentence = `The API of the primary at a.example:8200 ${why}`
    assert.deepEqual(await api.unwrap(ASKED), { kind: 'failed', sentence })
  }
})

test('a port that is not written is told all the same', async () => {
  for (const [address, where] of [
    ['https://a.example', 'a.example:443'],
    ['http://a.example/', 'a.example:80'],
  ] as const) {
    const found = await staged({ health: failed('ECONNREFUSED') }).api.look({ ...ASKED, address })
    assert.ok(found.sentence.startsWith(`The API of the primary at ${where} refuses`), found.sentence)
  }
})

/** The API of a real server, without a network. */
const ofServer = ({ call }: MemoryServer) =>
  newPrimaryApi({
    authorities: { read: async () => ({ ca: undefined, trust: 'system' }) },
    outboundTo: () => ({
      request: async ({ method, url, headers }) => {
        const { status, body } = await call(
          method,
          url.split('/v1/')[1] ?? '',
          undefined,
          headers['X-Vault-Token'] ?? '',
        )
        return { status, headers: new Map(), body: Buffer.from(JSON.stringify(body)) }
      },
    }),
    clock: { nowMs: () => NOW_MS },
  })

test('a server gives what was wrapped once, refuses it then, and while it is sealed', async () => {
  const server = await startMemoryServer()
  const wrapped = async (method: string, path: string, data?: object): Promise<string> => {
    const { body } = await server.call(method, path, data, 'root', { wrapTtl: '60', wrapFormat: 'jwt' })
    return (body.wrap_info as { readonly token: string }).token
  }
  const bundle = () => wrapped('POST', 'sys/wrapping/wrap', { token: BUNDLE })
  const api = ofServer(server)
  const asked = { ...ASKED, jwt: await bundle() }
  // It is not the call that gives activation tokens that wrapped it.
  assert.match((await api.look(asked)).sentence, /has the answer of another call wrapped in this token/)
  assert.equal((await api.look(asked)).version, '1.21.0')
  assert.deepEqual(await api.unwrap(asked), { kind: 'bundle', text: BUNDLE })
  const again = await api.unwrap(asked)
  assert.match(JSON.stringify(again), /a\.example:8200 refused the token with status 40[03]/)
  assert.match((await api.look(asked)).sentence, /refused the token with status 40[03]/)
  const policy = await wrapped('GET', 'sys/policies/acl/default')
  assert.equal(policy.split('.').length, 3)
  assert.match((await api.look({ ...asked, jwt: policy })).sentence, /another call wrapped/)
  assert.match(JSON.stringify(await api.unwrap({ ...asked, jwt: policy })), /another call wrapped/)
  assert.match(JSON.stringify(await api.unwrap({ ...asked, jwt: policy })), /refused the token/)
  const late = await bundle()
  server.advance(61)
  assert.match(JSON.stringify(await api.unwrap({ ...asked, jwt: late })), /refused the token/)
  await server.node.operations.seal()
  assert.match(JSON.stringify(await api.unwrap(asked)), /is sealed, or no node there is ready \(status 503\)/)
  assert.match((await api.look(asked)).sentence, /is sealed: unseal it/)
})
