// Each check of the surroundings, on machines that a test describes: what it finds, and that it says what to do.
import { strict as assert } from 'node:assert'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { type FakeMachine, fakeMachine, LOCAL, NOW_MS, setting } from '../../test/fixtures/machine.ts'
import { PROJECT } from '../../test/fixtures/server-process.ts'
import { storageIn } from '../storage/drivers.ts'
import type { Verdict } from './check.ts'
import { CHECKS, faultsOf, refreshed, runChecks, summaryOf } from './report.ts'
import { HARDENING_FLAGS } from './runtime-checks.ts'
import type { HardeningSetting } from './setting.ts'

const DATA = '/var/lib/keywright'
const STORED = storageIn(DATA)
const OWN = { kind: 'directory', mode: 0o700 } as const
const OUTSIDE = { ...LOCAL, address: '0.0.0.0:8200', isLocal: false }
const { validFromDate, validToDate } = new X509Certificate(LOOPBACK_CERTIFICATE)
const [beginsAtMs, endsAtMs] = [validFromDate.getTime(), validToDate.getTime()]
const otherKey = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey
const TLS = { ...OUTSIDE, certFile: '/etc/tls.crt', keyFile: '/etc/tls.key' }
const TLS_FILES = {
  '/etc/tls.crt': { text: LOOPBACK_CERTIFICATE },
  '/etc/tls.key': { text: LOOPBACK_KEY, mode: 0o600 },
}
const DAY_MS = 86_400_000

type Case = {
  readonly id: string
  readonly name: string
  readonly machine?: FakeMachine
  readonly setting?: Partial<HardeningSetting>
  readonly verdict: Verdict
  readonly says: RegExp
}

const limits = (name: string, value: string) => ({
  '/proc/self/limits': { text: `Limit\n${name.padEnd(26)}${value.padEnd(21)}unlimited            units\n` },
})
const group = (name: string, value: string) => ({
  [`/sys/fs/cgroup/system.slice/keywright.service/${name}`]: { text: `${value}\n` },
})
const swaps = { '/proc/swaps': { text: 'Filename\tType\n/swap.img\tfile\n' } }

const AUDITED = { auditFiles: ['/var/log/keywright/audit.log'] }
const CONFIG_FOLDER = {
  '/etc/keywright': { kind: 'directory', mode: 0o755, owner: 0 },
  '/etc/keywright/a.hcl': { writable: true },
  '/etc/keywright/notes.txt': { mode: 0o666 },
} as const

const CASES: readonly Case[] = [
  { id: 'B-01', name: 'root', machine: { user: 0 }, verdict: 'warn', says: /a user of its own/ },
  {
    id: 'B-01',
    name: 'capabilities',
    machine: { files: { '/proc/self/status': { text: 'CapEff:\t0000000000000400\n' } } },
    verdict: 'warn',
    says: /empty CapabilityBoundingSet/,
  },
  { id: 'B-01', name: 'a plain user', verdict: 'ok', says: /user 990, with no capabilities/ },
  {
    id: 'B-02',
    name: 'a program that the server may write',
    machine: { files: { '/opt/keywright/src': { kind: 'directory', mode: 0o755, writable: true } } },
    verdict: 'warn',
    says: /give these to root/,
  },
  {
    id: 'B-02',
    name: 'a configuration that everybody may write',
    machine: { files: { '/etc/keywright.hcl': { mode: 0o666 } } },
    verdict: 'warn',
    says: /chmod go-w/,
  },
  {
    id: 'B-02',
    name: 'a file of the program that everybody may write',
    machine: {
      files: {
        '/opt/keywright/src/lib': { kind: 'directory', mode: 0o755, owner: 0 },
        '/opt/keywright/src/lib/main.ts': { mode: 0o666, owner: 0 },
      },
    },
    verdict: 'warn',
    says: /^Others may write \/opt\/keywright\/src\/lib\/main\.ts:/,
  },
  {
    id: 'B-02',
    name: 'a file in the directory of the configuration that the server may write',
    machine: { files: CONFIG_FOLDER },
    setting: { configFiles: ['/etc/keywright'] },
    verdict: 'warn',
    says: /^The server can write \/etc\/keywright\/a\.hcl:/,
  },
  {
    id: 'B-02',
    name: 'a link to a file that everybody may write',
    machine: { files: { '/etc/keywright.hcl': { kind: 'link', target: '/srv/a' }, '/srv/a': { mode: 0o666 } } },
    verdict: 'warn',
    says: /Others may write \/etc\/keywright\.hcl:/,
  },
  {
    id: 'B-02',
    name: 'a link to a file of root',
    machine: {
      files: { '/etc/keywright.hcl': { kind: 'link', target: '/srv/a' }, '/srv/a': { mode: 0o644, owner: 0 } },
    },
    verdict: 'ok',
    says: /neither/,
  },
  {
    id: 'B-02',
    name: 'many files of the program that the server may write',
    machine: {
      files: Object.fromEntries([...'abcdefg'].map((name) => [`/opt/keywright/src/${name}.ts`, { writable: true }])),
    },
    verdict: 'warn',
    says: /src\/e\.ts and 2 more: give/,
  },
  { id: 'B-02', name: 'root', machine: { user: 0 }, verdict: 'unknown', says: /B-01/ },
  { id: 'B-02', name: 'a program of root', verdict: 'ok', says: /neither/ },
  { id: 'B-03', name: 'loopback in clear', verdict: 'ok', says: /this machine only/ },
  {
    id: 'B-03',
    name: 'P-61: an open address without a certificate',
    setting: { listeners: [OUTSIDE] },
    verdict: 'refuse',
    says: /set tls_cert_file and tls_key_file, or tls_disable/,
  },
  {
    id: 'B-03',
    name: 'P-61: an open address that says so',
    setting: { listeners: [{ ...OUTSIDE, isTlsDisabled: true }] },
    verdict: 'warn',
    says: /reads every token/,
  },
  {
    id: 'B-03',
    name: 'one of two listeners in clear',
    machine: { nowMs: beginsAtMs + DAY_MS, files: TLS_FILES },
    setting: { listeners: [TLS, { ...OUTSIDE, address: '0.0.0.0:8300', isTlsDisabled: true }] },
    verdict: 'warn',
    says: /8300/,
  },
  {
    id: 'B-03',
    name: 'a good certificate',
    machine: { nowMs: beginsAtMs + DAY_MS, files: TLS_FILES },
    setting: { listeners: [TLS] },
    verdict: 'ok',
    says: /uses TLS/,
  },
  {
    id: 'B-03',
    name: 'a certificate that ends soon',
    machine: { nowMs: endsAtMs - 10 * DAY_MS, files: TLS_FILES },
    setting: { listeners: [TLS] },
    verdict: 'warn',
    says: /expires in 10 days: renew/,
  },
  {
    id: 'B-03',
    name: 'a certificate that has ended',
    machine: { nowMs: endsAtMs + DAY_MS, files: TLS_FILES },
    setting: { listeners: [TLS] },
    verdict: 'refuse',
    says: /has expired: renew/,
  },
  {
    id: 'B-03',
    name: 'a certificate of tomorrow',
    machine: { nowMs: beginsAtMs - DAY_MS, files: TLS_FILES },
    setting: { listeners: [TLS] },
    verdict: 'refuse',
    says: /check the clock/,
  },
  {
    id: 'B-03',
    name: 'another key',
    machine: { nowMs: beginsAtMs + DAY_MS, files: { ...TLS_FILES, '/etc/tls.key': { text: otherKey } } },
    setting: { listeners: [TLS] },
    verdict: 'refuse',
    says: /does not belong to the certificate/,
  },
  {
    id: 'B-03',
    name: 'no certificate in the file',
    machine: { files: { ...TLS_FILES, '/etc/tls.crt': { text: 'nothing' } } },
    setting: { listeners: [TLS] },
    verdict: 'refuse',
    says: /tls\.crt holds no readable certificate/,
  },
  {
    id: 'B-03',
    name: 'a missing key',
    machine: { files: { '/etc/tls.crt': TLS_FILES['/etc/tls.crt'] } },
    setting: { listeners: [TLS] },
    verdict: 'refuse',
    says: /tls\.key holds no readable private key/,
  },
  {
    id: 'B-03',
    name: 'a key that everybody may read',
    machine: {
      nowMs: beginsAtMs + DAY_MS,
      files: { ...TLS_FILES, '/etc/tls.key': { text: LOOPBACK_KEY, mode: 0o644 } },
    },
    setting: { listeners: [TLS] },
    verdict: 'warn',
    says: /mode 644: chmod 600/,
  },
  {
    id: 'B-03',
    name: 'a key for the group of the server',
    machine: {
      nowMs: beginsAtMs + DAY_MS,
      files: { ...TLS_FILES, '/etc/tls.key': { text: LOOPBACK_KEY, mode: 0o640 } },
    },
    setting: { listeners: [TLS] },
    verdict: 'ok',
    says: /uses TLS/,
  },
  { id: 'B-04', name: 'no swap', verdict: 'ok', says: /no swap/ },
  { id: 'B-04', name: 'swap', machine: { files: swaps }, verdict: 'warn', says: /MemorySwapMax=0/ },
  {
    id: 'B-04',
    name: 'swap that the group may not use',
    machine: { files: { ...swaps, ...group('memory.swap.max', '0') } },
    verdict: 'ok',
    says: /control group has no swap/,
  },
  {
    id: 'B-04',
    name: 'swap that a group above may not use',
    machine: { files: { ...swaps, '/sys/fs/cgroup/system.slice/memory.swap.max': { text: '0\n' } } },
    verdict: 'ok',
    says: /control group has no swap/,
  },
  {
    id: 'B-04',
    name: 'memory that is swapped out',
    machine: { files: { ...swaps, '/proc/self/status': { text: 'VmSwap:\t     128 kB\n' } } },
    verdict: 'warn',
    says: /128 kB .* disable swap/,
  },
  { id: 'B-05', name: 'no core dumps', verdict: 'ok', says: /size limit is 0/ },
  {
    id: 'B-05',
    name: 'core dumps without memory',
    machine: { files: limits('Max core file size', 'unlimited') },
    verdict: 'ok',
    says: /no memory/,
  },
  {
    id: 'B-05',
    name: 'core dumps',
    machine: {
      files: { ...limits('Max core file size', 'unlimited'), '/proc/self/coredump_filter': { text: '00000033\n' } },
    },
    verdict: 'warn',
    says: /LimitCORE=0/,
  },
  {
    id: 'B-06',
    name: 'T-17: root tokens',
    setting: { rootTokens: { found: 2, looked: 9, isPartial: false } },
    verdict: 'warn',
    says: /There are 2 root tokens: revoke/,
  },
  { id: 'B-06', name: 'none', verdict: 'ok', says: /none among 3/ },
  {
    id: 'B-06',
    name: 'none among those looked at',
    setting: { rootTokens: { found: 0, looked: 9, isPartial: true } },
    verdict: 'unknown',
    says: /the rest were not checked/,
  },
  {
    id: 'B-06',
    name: 'a sealed server',
    setting: { rootTokens: undefined },
    verdict: 'unknown',
    says: /while the server is unsealed/,
  },
  { id: 'B-07', name: 'no device', setting: { auditDevices: [] }, verdict: 'warn', says: /no record of who/ },
  {
    id: 'B-07',
    name: 'no device where one is required',
    setting: { auditDevices: [], isAuditDeclared: false, isAuditRequired: true },
    verdict: 'refuse',
    says: /declares no audit device: declare one/,
  },
  { id: 'B-07', name: 'a device', setting: { isAuditRequired: true }, verdict: 'ok', says: /file\// },
  {
    id: 'B-07',
    name: 'a sealed server',
    setting: { auditDevices: undefined },
    verdict: 'unknown',
    says: /while the server is unsealed/,
  },
  {
    id: 'B-07',
    name: 'a device of requests where a declared one is required',
    setting: { auditDevices: undefined, isAuditDeclared: false, isAuditRequired: true },
    verdict: 'refuse',
    says: /declares no audit device: declare one/,
  },
  {
    id: 'B-07',
    name: 'a file in a missing directory',
    setting: AUDITED,
    verdict: 'refuse',
    says: /\/var\/log\/keywright is missing: create it/,
  },
  {
    id: 'B-07',
    name: 'a file in a directory of others',
    machine: { files: { '/var/log/keywright': { kind: 'directory', mode: 0o755, owner: 0 } } },
    setting: AUDITED,
    verdict: 'refuse',
    says: /may not write to \/var\/log\/keywright,/,
  },
  {
    id: 'B-07',
    name: 'a file of others',
    machine: {
      files: {
        '/var/log/keywright': { kind: 'directory', writable: true },
        '/var/log/keywright/audit.log': { owner: 0 },
      },
    },
    setting: AUDITED,
    verdict: 'refuse',
    says: /may not write to \/var\/log\/keywright\/audit\.log,/,
  },
  {
    id: 'B-07',
    name: 'a directory in the place of a file',
    machine: {
      files: {
        '/var/log/keywright': { kind: 'directory', writable: true },
        '/var/log/keywright/audit.log': { kind: 'directory', writable: true },
      },
    },
    setting: AUDITED,
    verdict: 'refuse',
    says: /is a directory: name a file/,
  },
  {
    id: 'B-07',
    name: 'a file in the place of the directory',
    machine: { files: { '/var/log/keywright': { writable: true } } },
    setting: AUDITED,
    verdict: 'refuse',
    says: /is not a directory: name another/,
  },
  {
    id: 'B-07',
    name: 'a file that can be made',
    machine: { files: { '/var/log/keywright': { kind: 'directory', writable: true } } },
    setting: AUDITED,
    verdict: 'ok',
    says: /file\//,
  },
  { id: 'B-08', name: 'a clock of the past', machine: { nowMs: 0 }, verdict: 'warn', says: /1970-01-01/ },
  { id: 'B-08', name: 'a clock', verdict: 'ok', says: /2027-01-01T00:00:00Z/ },
  { id: 'B-09', name: 'no directory', setting: { storage: STORED }, verdict: 'ok', says: /the server creates it/ },
  {
    id: 'B-09',
    name: 'no directory, where none can be made',
    machine: { files: { '/var/lib': { kind: 'directory', mode: 0o755, owner: 0 } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /create it, owned by the user/,
  },
  {
    id: 'B-09',
    name: 'a directory of its own',
    machine: { files: { [DATA]: OWN, [`${DATA}/keywright.db`]: {} } },
    setting: { storage: STORED },
    verdict: 'ok',
    says: /Only its owner/,
  },
  {
    id: 'B-09',
    name: 'a directory that others enter',
    machine: { files: { [DATA]: { ...OWN, mode: 0o755 } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /chmod 700/,
  },
  {
    id: 'B-09',
    name: 'a file that others read',
    machine: { files: { [DATA]: OWN, [`${DATA}/keywright.db`]: { mode: 0o640 } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /keywright\.db: chmod 600/,
  },
  {
    id: 'B-09',
    name: 'a link',
    machine: { files: { [DATA]: { kind: 'link' } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /is a link: name the directory/,
  },
  {
    id: 'B-09',
    name: 'a link in it',
    machine: { files: { [DATA]: OWN, [`${DATA}/keywright.db`]: { kind: 'link' } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /must hold none/,
  },
  {
    id: 'B-09',
    name: 'a directory of another user',
    machine: { files: { [DATA]: { ...OWN, owner: 1000 } } },
    setting: { storage: STORED },
    verdict: 'refuse',
    says: /chown it/,
  },
  {
    id: 'B-09',
    name: 'a directory of another user, for root',
    machine: { user: 0, files: { [DATA]: { ...OWN, owner: 1000 } } },
    setting: { storage: STORED },
    verdict: 'warn',
    says: /start as that user/,
  },
  {
    id: 'B-09',
    name: 'NFS',
    machine: { files: { [DATA]: OWN }, fileSystem: () => ({ type: 0x6969, freeBytes: 2 ** 40 }) },
    setting: { storage: STORED },
    verdict: 'warn',
    says: /NFS.*local file system/,
  },
  {
    id: 'B-09',
    name: 'memory',
    machine: { files: { [DATA]: OWN }, fileSystem: () => ({ type: 0x01021994, freeBytes: 2 ** 40 }) },
    setting: { storage: STORED },
    verdict: 'warn',
    says: /tmpfs.*use a disk/,
  },
  {
    id: 'B-09',
    name: 'a full disk',
    machine: { files: { [DATA]: OWN }, fileSystem: () => ({ type: 0xef53, freeBytes: 2 ** 20 }) },
    setting: { storage: STORED },
    verdict: 'warn',
    says: /1 MiB left: free space/,
  },
  {
    id: 'B-10',
    name: 'a secret in the configuration',
    setting: { inlineSecrets: ['seal.current_key'] },
    verdict: 'warn',
    says: /seal\.current_key is in .*file:\/\/PATH/,
  },
  {
    id: 'B-10',
    name: 'a secret that everybody may read',
    machine: { files: { '/etc/keywright.hcl': { mode: 0o644 } } },
    setting: { inlineSecrets: ['seal.current_key'] },
    verdict: 'warn',
    says: /which every user can read/,
  },
  { id: 'B-10', name: 'no secret', verdict: 'ok', says: /holds no secret/ },
  { id: 'B-11', name: 'this runtime', verdict: 'ok', says: /FIPS mode off/ },
  { id: 'B-11', name: 'an old library', machine: { opensslVersion: '3.0.13' }, verdict: 'refuse', says: /npm ci/ },
  {
    id: 'B-11',
    name: 'a generator that repeats itself',
    machine: { world: { ...fakeMachine().world, random: { bytes: (n) => Buffer.alloc(n), uuid: () => '' } } },
    verdict: 'refuse',
    says: /repeats itself/,
  },
  {
    id: 'B-12',
    name: 'few files',
    machine: { files: limits('Max open files', '1024') },
    verdict: 'warn',
    says: /1024 .* LimitNOFILE=65536/,
  },
  {
    id: 'B-12',
    name: 'a small heap',
    machine: { heapLimitBytes: 2 ** 26 },
    verdict: 'warn',
    says: /limited to 64 MiB/,
  },
  {
    id: 'B-12',
    name: 'a group that cannot hold it',
    machine: { files: group('memory.max', String(128 * 2 ** 20)) },
    verdict: 'refuse',
    says: /128 MiB: give it 208 MiB, or use fewer threads/,
  },
  {
    id: 'B-12',
    name: 'a small group',
    machine: { files: group('memory.max', String(300 * 2 ** 20)) },
    verdict: 'warn',
    says: /300 MiB/,
  },
  { id: 'B-12', name: 'enough', verdict: 'ok', says: /65536/ },
  { id: 'B-13', name: 'nothing', verdict: 'ok', says: /No environment variable/ },
  {
    id: 'B-13',
    name: 'N-34: an inspector',
    machine: { flags: [...HARDENING_FLAGS, '--inspect=0.0.0.0:9229'] },
    verdict: 'refuse',
    says: /given --inspect: leave/,
  },
  {
    id: 'B-13',
    name: 'N-35: code before the program',
    machine: { env: { NODE_OPTIONS: '--import=/tmp/of-somebody.mjs' } },
    verdict: 'refuse',
    says: /NODE_OPTIONS holds --import: unset/,
  },
  {
    id: 'B-13',
    name: 'N-35: other options',
    machine: { env: { NODE_OPTIONS: '--max-old-space-size=4096' } },
    verdict: 'warn',
    says: /NODE_OPTIONS changes/,
  },
  {
    id: 'B-13',
    name: 'N-35: certificates of everybody',
    machine: { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    verdict: 'refuse',
    says: /disables certificate checks/,
  },
  {
    id: 'B-13',
    name: 'N-33: reports',
    machine: { flags: [...HARDENING_FLAGS, '--report-on-signal'] },
    verdict: 'refuse',
    says: /report-on-signal/,
  },
  ...['NODE_DEBUG', 'NODE_V8_COVERAGE', 'SSLKEYLOGFILE', 'OPENSSL_CONF', 'OPENSSL_MODULES'].map(
    (name): Case => ({
      id: 'B-13',
      name: `N-35: ${name}`,
      machine: { env: { [name]: 'of-somebody' } },
      verdict: 'refuse',
      says: /^\w+ is set, .*: unset it for the server$/,
    }),
  ),
  ...['LD_PRELOAD', 'NODE_EXTRA_CA_CERTS'].map(
    (name): Case => ({
      id: 'B-13',
      name: `N-35: ${name}`,
      machine: { env: { [name]: 'of-somebody' } },
      verdict: 'warn',
      says: /^\w+ is set, .*: unset it for the server$/,
    }),
  ),
  { id: 'B-14', name: 'N-60: an old runtime', machine: { nodeVersion: '24.21.0' }, verdict: 'refuse', says: /npm ci/ },
  { id: 'B-14', name: 'a newer runtime', machine: { nodeVersion: '26.11.1' }, verdict: 'ok', says: /26\.11\.1/ },
  {
    id: 'B-14',
    name: 'N-37: flags that are missing',
    machine: { flags: HARDENING_FLAGS.slice(1) },
    verdict: 'warn',
    says: /without --disable-proto=delete: start with bin\/keywright/,
  },
  { id: 'B-15', name: 'nothing stored', verdict: 'ok', says: /Nothing is stored/ },
  { id: 'B-16', name: 'a wide umask', machine: { umask: 0o022 }, verdict: 'warn', says: /umask is 022/ },
  { id: 'B-16', name: 'the umask', verdict: 'ok', says: /077/ },
  {
    id: 'B-17',
    name: 'a development server',
    setting: { isDevelopment: true },
    verdict: 'warn',
    says: /never give it real secrets/,
  },
  {
    id: 'B-17',
    name: 'a development server that others reach',
    setting: { isDevelopment: true, listeners: [OUTSIDE] },
    verdict: 'refuse',
    says: /use 127\.0\.0\.1/,
  },
  {
    id: 'B-17',
    name: 'data of a development server',
    machine: { files: { [DATA]: OWN, [`${DATA}/development-keys.json`]: {} } },
    setting: { storage: STORED },
    verdict: 'warn',
    says: /rekey, rotate, and remove the file/,
  },
  { id: 'B-17', name: 'another server', setting: { storage: STORED }, verdict: 'ok', says: /Neither the server/ },
]

for (const { id, name, machine, setting: given, verdict, says } of CASES) {
  test(`${id}: ${name}: ${verdict}`, async () => {
    const check = CHECKS.filter((each) => each.id === id)
    const [result] = await runChecks(fakeMachine(machine), setting(given), check)
    const sentence = result?.sentence ?? ''
    assert.equal(result?.verdict, verdict, sentence)
    assert.match(sentence, says)
    assert.doesNotMatch(sentence, /\.$|undefined/)
  })
}

test('P-62: there is a check for every number, each with a case that is well and one that is not', () => {
  const ids = Array.from({ length: 17 }, (_, i) => `B-${String(i + 1).padStart(2, '0')}`)
  assert.deepEqual(CHECKS.map(({ id }) => id).sort(), ids)
  for (const id of ids) {
    const verdicts = CASES.filter((each) => each.id === id).map(({ verdict }) => verdict)
    // Store and disk are tested with real ones (test/proofs/start/hardening.test.ts).
    if (id !== 'B-15') assert.ok(verdicts.includes('warn') || verdicts.includes('refuse'), id)
    assert.ok(verdicts.includes('ok'), id)
  }
})

test('strict_hardening turns what would be a warning into a refusal, and nothing else', async () => {
  const machine = fakeMachine({ user: 0, flags: [], files: swaps })
  const loose = await runChecks(machine, setting({ rootTokens: undefined }))
  const strict = await runChecks(machine, setting({ rootTokens: undefined, isStrict: true }))
  assert.deepEqual(
    strict.map(({ verdict }) => verdict),
    loose.map(({ verdict }) => (verdict === 'warn' ? 'refuse' : verdict)),
  )
  assert.deepEqual(summaryOf(loose), { ok: 12, warn: 3, refuse: 0, unknown: 2 })
})

test('a development server is refused for what it could not run with only', async () => {
  const env = { NODE_OPTIONS: '--import=x' }
  const results = await runChecks(fakeMachine({ env }), setting({ isDevelopment: true, isStrict: true }))
  assert.deepEqual(
    faultsOf(results).map(({ id, verdict }) => `${id} ${verdict}`),
    ['B-13 warn', 'B-17 warn'],
  )
})

test('what is looked at again gets a new answer, and the rest keeps that of the start', async () => {
  const start = await runChecks(fakeMachine({ opensslVersion: '1.0.0', user: 0 }), setting())
  const later = await refreshed(start, fakeMachine(), setting())
  const verdicts = Object.fromEntries(later.map(({ id, verdict }) => [id, verdict]))
  assert.deepEqual([later.length, verdicts['B-01'], verdicts['B-11']], [CHECKS.length, 'ok', 'refuse'])
})

test('B-14: the flags that are looked for are those that the launcher gives', () => {
  const lines = readFileSync(join(PROJECT, 'bin/runtime.flags'), 'utf8').split('\n')
  const given = lines.flatMap((line) => (line.startsWith('--') ? [line.split(' ')[0] ?? ''] : []))
  assert.deepEqual(
    given.filter((flag) => flag !== '--expose-gc'),
    HARDENING_FLAGS,
  )
})

test('the machine of the cases is well', async () => {
  const results = await runChecks(fakeMachine({ nowMs: NOW_MS }), setting())
  assert.deepEqual(faultsOf(results), [])
})
