// The API of a primary over real TLS on loopback.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { SECOND_CERTIFICATE } from '../../test/fixtures/more-certificates.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import { DEFAULT_REPLICATION } from '../config/replication.ts'
import { realWorld, type World } from '../lib/world.ts'
import { realPrimaryApi } from './primary-api.ts'

const BUNDLE = 'keywright-activation-1-c2VjcmV0'
const JWT = 'header.payload.signature'
const temporary = temporaryDirectory()
const file = (name: string, text: string): string => {
  const path = join(temporary.path, name)
  writeFileSync(path, text)
  return path
}
const CA_FILE = file('ca.pem', LOOPBACK_CERTIFICATE)
const OTHER_CA = file('other.pem', SECOND_CERTIFICATE)

const answers: RequestListener = ({ method, url, headers }, answer) => {
  const isOurs = method === 'PUT' && url === '/v1/sys/wrapping/unwrap' && headers['x-vault-token'] === JWT
  answer.writeHead(isOurs ? 200 : 400).end(JSON.stringify({ data: { token: BUNDLE } }))
}
const MATERIAL = { cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }
const servers = {
  tls: createHttps(MATERIAL, answers),
  http: createHttp(answers),
  elsewhere: createHttp((_, answer) => answer.writeHead(307, { Location: '/v1/sys/wrapping/unwrap' }).end()),
  endless: createHttp((_, answer) => answer.end(Buffer.alloc(70_000))),
  silent: createServer((socket) => socket.resume().on('error', () => {})),
  other: createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n')),
  client: createHttps({ ...MATERIAL, requestCert: true, minVersion: 'TLSv1.3', ca: SECOND_CERTIFICATE }, answers),
} satisfies Readonly<Record<string, Server>>

before(() =>
  Promise.all(Object.values(servers).map((each) => new Promise<void>((done) => each.listen(0, '127.0.0.1', done)))),
)
after(() => {
  for (const each of Object.values(servers)) {
    if ('closeAllConnections' in each) each.closeAllConnections()
    each.close()
  }
  temporary.cleanUp()
})

const portOf = (name: keyof typeof servers): number => (servers[name].address() as AddressInfo).port
const replication = { ...DEFAULT_REPLICATION, allowedCaPaths: [temporary.path] }

async function unwrapped(
  address: string,
  given: { caFile?: string; caPath?: string } = {},
  world: Partial<World> = {},
) {
  const api = realPrimaryApi({ replication }, { ...realWorld(), ...world })
  const found = await api.unwrap({ family: 'dr', address, jwt: JWT, caFile: '', caPath: '', ...given })
  return found.kind === 'bundle' ? found.text : found.sentence
}

test('the bundle comes over TLS that the named authorities prove, and over http', async () => {
  const address = `https://127.0.0.1:${portOf('tls')}`
  assert.equal(await unwrapped(address, { caFile: CA_FILE }), BUNDLE)
  assert.equal(await unwrapped(address, { caPath: temporary.path }), BUNDLE)
  assert.equal(await unwrapped(`http://127.0.0.1:${portOf('http')}/`), BUNDLE)
})

const told: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
  [
    'whose authority nobody named',
    () => unwrapped(`https://127.0.0.1:${portOf('tls')}`),
    /at 127\.0\.0\.1:\d+ shows a certificate of no authority .* "ca_file" or "ca_path"$/,
  ],
  [
    'of another authority',
    () => unwrapped(`https://127.0.0.1:${portOf('tls')}`, { caFile: OTHER_CA }),
    /shows a certificate that no authority in "ca_file" has issued/,
  ],
  [
    'of another name',
    () => unwrapped(`https://localhost:${portOf('tls')}`, { caFile: CA_FILE }),
    /at localhost:\d+ shows a certificate that is not for localhost/,
  ],
  [
    'that speaks http',
    () => unwrapped(`https://127.0.0.1:${portOf('http')}`),
    /answers without TLS: perhaps it speaks/,
  ],
  [
    'that speaks https',
    () => unwrapped(`http://127.0.0.1:${portOf('tls')}`),
    /closed the connection without an answer: perhaps it speaks https/,
  ],
  ['of another kind', () => unwrapped(`http://127.0.0.1:${portOf('other')}`), /answers something else than HTTP/],
  ['that redirects', () => unwrapped(`http://127.0.0.1:${portOf('elsewhere')}`), /redirects elsewhere \(status 307\)/],
  ['without an end', () => unwrapped(`http://127.0.0.1:${portOf('endless')}`), /more than such a server does/],
  ['that is not there', () => unwrapped('https://127.0.0.1:1'), /at 127\.0\.0\.1:1 refuses connections/],
  [
    'that wants a certificate',
    () => unwrapped(`https://127.0.0.1:${portOf('client')}`, { caFile: CA_FILE }),
    /ended the TLS handshake: it may ask for a client certificate/,
  ],
  [
    'that no file may prove',
    () => unwrapped('https://127.0.0.1:1', { caFile: '/etc/hostname' }),
    /^"ca_file" leads out of the directories of "allowed_ca_paths"/,
  ],
]

for (const [name, ask, says] of told) {
  test(`a primary ${name} is told as what it is`, async () => assert.match(await ask(), says))
}

test('a primary that does not answer is waited for ten seconds', async () => {
  const time = steppedTime(0)
  const asked = unwrapped(`https://127.0.0.1:${portOf('silent')}`, {}, { timers: time.timers })
  await until(() => time.waiting().length > 0, 'it is asked')
  await time.advance(9_999)
  assert.equal(time.waiting().length, 1)
  await time.advance(1)
  assert.match(await asked, /did not answer within 10 s/)
})
