// The output for people at a terminal, and its plain form elsewhere.
import { strict as assert } from 'node:assert'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, startApiDouble } from '../../test/fixtures/api-double.ts'
import { runClient } from '../../test/fixtures/cli-run.ts'
import { diagnosisExitCode, formatDiagnosis } from './diagnosis.ts'
import type { Diagnosed } from './io.ts'
import { bar, type Style, styleOf, wrapped } from './picture.ts'
import { readableSize, spanOf } from './status-picture.ts'

const PLAIN: Style = { isTerminal: false, isUnicode: false, hasColour: false, width: 100 }
const stream = (isTTY: boolean, columns: number) => Object.assign(new PassThrough(), { isTTY, columns })

test('a terminal has colours and signs where it wants them', () => {
  const utf8 = { LANG: 'de_DE.UTF-8' }
  const style = (env: Record<string, string>, isTTY = true, columns = 80) => styleOf({ env }, stream(isTTY, columns))
  assert.deepEqual(style(utf8), { isTerminal: true, isUnicode: true, hasColour: true, width: 80 })
  assert.deepEqual(style({ ...utf8, NO_COLOR: '1' }).hasColour, false)
  assert.deepEqual(style({ ...utf8, LC_ALL: 'C' }).isUnicode, false)
  assert.deepEqual(style({ ...utf8, TERM: 'dumb' }), PLAIN)
  assert.deepEqual(style(utf8, false), PLAIN)
  assert.deepEqual([style(utf8, true, 20).width, style(utf8, true, 400).width], [60, 120])
})

test('words are wrapped, and a long one stands alone', () => {
  assert.deepEqual(wrapped('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrapped('a verylongword b', 5), ['a', 'verylongword', 'b'])
  assert.deepEqual(wrapped('', 5), [''])
})

test('a bar has as much in it as was done', () => {
  assert.equal(bar(PLAIN, 2, 3, 24), `${'#'.repeat(16)}${'.'.repeat(8)}`)
  assert.equal(bar(PLAIN, 0, 0, 4), '....')
  assert.equal(bar(PLAIN, 9, 3, 4), '####')
})

test('spans and sizes are told in the units that people use', () => {
  const DAY = 86_400_000
  const spans = [0, 59_000, 60_000, 3_600_000 + 120_000, 3 * DAY + 4 * 3_600_000, -5].map(spanOf)
  assert.deepEqual(spans, ['0 s', '59 s', '1 min', '1 h 2 min', '3 d 4 h', '0 s'])
  assert.deepEqual([0, 1_023, 1_536, 2 ** 20, 3 * 2 ** 30].map(readableSize), [
    '0 B',
    '1023 B',
    '1.5 KiB',
    '1.0 MiB',
    '3.0 GiB',
  ])
})

const CHECKS: readonly Diagnosed[] = [
  { id: 'B-01', title: 'Short', group: 'first', verdict: 'ok', sentence: 'It is well' },
  { id: 'B-02', title: 'A longer title', group: 'second', verdict: 'warn', sentence: 'It is not: mend it\u001b[2J' },
  { id: 'B-03', title: 'Third', group: 'first', verdict: 'refuse', sentence: 'It cannot be: change it' },
  { id: 'B-04', title: 'Fourth', group: 'second', verdict: 'unknown', sentence: 'Nobody knows' },
]

test('a diagnosis is read by groups, with what is to be done beside each check', () => {
  assert.equal(
    formatDiagnosis({ subject: 'server.hcl, data', checks: CHECKS }, PLAIN),
    `server.hcl, data

first
  [ok]   Short           It is well
  [stop] Third           It cannot be: change it

second
  [warn] A longer title  It is not: mend it\\u001b[2J
  [?]    Fourth          Nobody knows

1 passed, 1 with warnings, 1 that prevent a start, 1 not checked
`,
  )
})

test('on a narrow terminal what was found stands below, and no line is longer', () => {
  const [check] = CHECKS.slice(1)
  const long = {
    ...(check as Diagnosed),
    title: 'A title that takes half of a narrow line',
    sentence: 'word '.repeat(30),
  }
  const text = formatDiagnosis({ subject: 's', checks: [long] }, { ...PLAIN, width: 60 })
  for (const line of text.split('\n')) assert.ok(line.length <= 60, line)
})

test('the exit code of a diagnosis is that of its worst check', () => {
  const codes = [[0], [3], [0, 1], [1, 2]].map((at) =>
    diagnosisExitCode({ subject: '', checks: at.map((i) => CHECKS[i] as Diagnosed) }),
  )
  assert.deepEqual(codes, [0, 0, 2, 1])
})

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

const SURROUNDINGS = {
  data: {
    ok: 12,
    warnings: 3,
    refusals: 0,
    server: {
      started_at: '2020-01-01T00:00:00Z',
      threads: 4,
      stored_bytes: 2_621_440,
      audit_devices: ['file/'],
      listeners: [{ address: '10.0.0.1:8200', tls: true }],
    },
    checks: [{ id: 'B-01', title: 'One', group: 'process', verdict: 'ok', message: 'Well' }],
  },
}

const run = (argv: readonly string[], terminal: boolean, token = 'hvs.some') =>
  runClient(argv, { terminal, env: { VAULT_ADDR: api.address, VAULT_TOKEN: token, NO_COLOR: '1' } })

test('status on a terminal has the state at a glance above the same table', async () => {
  const table = (await run(['status'], false)).stdout
  const seen = api.asked.length
  api.answer = ({ target }) => (target === '/v1/sys/hardening' ? { status: 200, body: SURROUNDINGS } : undefined)
  const { code, stdout } = await run(['status'], true)
  assert.equal(code, 0)
  const [head, server, checks, empty, ...rest] = stdout.split('\n')
  assert.match(head ?? '', /^\* open {2}(\S+ {2})?http:\/\/127\.0\.0\.1:\d+ in clear$/)
  assert.match(server ?? '', /^ {2}4 threads, up \d+ d( \d+ h)?, 2\.5 MiB stored, audit to file\/, TLS$/)
  assert.equal(checks, '  Hardening checks: 3 warnings: keywright operator diagnose -server')
  assert.deepEqual([empty, rest.join('\n')], ['', table])
  assert.ok(api.asked.length > seen)
})

test('status asks no more where nobody looks, for a field, or without a token', async () => {
  const asked = async (argv: readonly string[], terminal: boolean, token?: string): Promise<boolean> => {
    api.asked.length = 0
    await run(argv, terminal, token)
    return api.asked.some(({ target }) => target === '/v1/sys/hardening')
  }
  assert.equal(await asked(['status'], true), true)
  assert.equal(await asked(['status'], false), false)
  assert.equal(await asked(['status', '-format=json'], true), false)
  assert.equal(await asked(['status', '-field=sealed'], true), false)
  assert.equal(await asked(['status'], true, ''), false)
})

test('status does without what the server refuses, or does not answer in time', async () => {
  api.answer = ({ target }) => (target === '/v1/sys/hardening' ? { status: 403, body: { errors: ['no'] } } : undefined)
  const refused = await run(['status'], true)
  assert.deepEqual([refused.code, refused.stderr], [0, ''])
  assert.doesNotMatch(refused.stdout, /threads|Checks/)
})

test('status of a sealed server shows how many keys are missing', async () => {
  api.sealed = true
  api.progress = 1
  const { code, stdout } = await run(['status'], true)
  assert.equal(code, 2)
  assert.match(stdout, /^\* sealed {2}http.*\n {2}#{12}\.{12} {2}1 of 2, 1 more key: keywright operator unseal\n\nKey /)
})

test('operator diagnose -server shows what the server found', async () => {
  api.answer = ({ target }) => (target === '/v1/sys/hardening' ? { status: 200, body: SURROUNDINGS } : undefined)
  const { code, stdout } = await run(['operator', 'diagnose', '-server'], false)
  assert.equal(code, 0)
  assert.match(stdout, /^http.*\n\nprocess\n {2}\[ok\] {3}One {2}Well\n\n1 passed\n$/)
  assert.equal((await run(['operator', 'diagnose', '-server', '-data=x'], false)).code, 1)
  api.answer = () => ({ status: 403, body: { errors: ['permission denied'] } })
  assert.equal((await run(['operator', 'diagnose', '-server'], false)).code, 2)
})

test('who cannot be reached is named, with what gave the address', async () => {
  const told = async (argv: readonly string[], env: Record<string, string>): Promise<string> =>
    (await runClient(['status', ...argv], { env })).stderr.trimEnd().split('\n').at(-1) ?? ''
  const nowhere = 'http://127.0.0.1:1'
  assert.equal(await told([], { VAULT_ADDR: nowhere }), 'The address is that of VAULT_ADDR.')
  assert.equal(await told([], { VAULT_ADDR: 'x', KEYWRIGHT_ADDR: nowhere }), 'The address is that of KEYWRIGHT_ADDR.')
  assert.equal(await told([`-address=${nowhere}`], {}), 'The address is that of -address.')
})
