// `keywright operator replication undone`: the requests that it sends, and what it prints.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, type Reply, ROOT_TOKEN, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function undone(argv: string): Promise<Ran> {
  const words = `operator replication undone ${argv}`.trim().split(' ')
  return runClient(words, { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN } })
}

const asked = (): string[] =>
  api.asked.map(({ method, target, body }) => `${method} ${target.slice(4)} ${body}`.trimEnd())

const data = (members: object): Reply => ({ status: 200, body: envelope({ data: members }) })
const answers = (...replies: readonly Reply[]): void => {
  const left = [...replies]
  api.answer = () => (left.length > 1 ? left.shift() : left[0])
}

const SET = { id: 'abc', kept_at: '2026-11-20T10:00:00.000Z', records: 5, records_left_out: 0, complete: true }
const SETS = `Id     Kept at                     Records    Left out    Complete
--     -------                     -------    --------    --------
abc    2026-11-20T10:00:00.000Z    5          0           true
`

const record = (index: number, more: object = {}) => ({
  index,
  committed_at: '2026-11-20T09:00:00.000Z',
  operations: [{ kind: 'put', class: 'replicated', mount: 'system', path: 'sys/policy/a', readable: true, ...more }],
})
const RECORDS = `Index    Written at                  Change    Path
-----    ----------                  ------    ----
7        2026-11-20T09:00:00.000Z    put       sys/policy/a
9        2026-11-20T09:00:00.000Z    put       sys/policy/a
`

test('the sets are listed: by the token of the caller, or by an operation token', async () => {
  answers(data({ undone: [SET] }))
  const ran = [await undone(''), await undone('-operation-token=op')]
  for (const { code, stdout, stderr } of ran) assert.deepEqual([code, stdout, stderr], [0, SETS, ''])
  assert.deepEqual(asked(), [
    'GET sys/replication/undone',
    'POST sys/replication/dr/secondary/undone {"dr_operation_token":"op"}',
  ])
})

test('where nothing was undone the command says so', async () => {
  answers(data({ undone: [] }))
  assert.equal((await undone('')).stdout, 'Nothing was undone here, or all of it was deleted\n')
})

test('all records of a set are printed, page by page', async () => {
  answers(data({ records: [record(7)], next_after: 7 }), data({ records: [record(9)] }))
  assert.equal((await undone('-show=abc')).stdout, RECORDS)
  assert.deepEqual(asked(), [
    'GET sys/replication/undone/abc?after=0&limit=1000',
    'GET sys/replication/undone/abc?after=7&limit=1000',
  ])
})

test('values are asked for, and printed, only with -values', async () => {
  answers(data({ records: [record(7, { value: 'dmFsdWU=' })] }))
  const ran = await undone('-operation-token=op -show=abc -values')
  assert.match(ran.stdout, /sys\/policy\/a {4}dmFsdWU=\n$/)
  assert.deepEqual(asked(), [
    'POST sys/replication/dr/secondary/undone/show ' +
      '{"dr_operation_token":"op","id":"abc","after":0,"limit":1000,"values":true}',
  ])
})

test('programs get all records in one answer', async () => {
  answers(data({ records: [record(7)], next_after: 7 }), data({ records: [record(9)] }))
  const ran = await undone('-show=abc -format=json')
  assert.deepEqual(JSON.parse(ran.stdout), { data: { records: [record(7), record(9)] } })
})

test('a server that leads in a circle ends the command', async () => {
  answers(data({ records: [record(7)], next_after: 7 }))
  const ran = await undone('-show=abc')
  assert.deepEqual([ran.code, ran.stdout], [2, ''])
  assert.match(ran.stderr, /leads back to record 7/)
})

test('a set is deleted', async () => {
  answers({ status: 204 })
  const ran = [await undone('-delete=abc -yes'), await undone('-delete=abc -yes -operation-token=op')]
  for (const { code, stdout } of ran) assert.deepEqual([code, stdout], [0, 'Success! Deleted undone records: abc\n'])
  assert.deepEqual(asked(), [
    'DELETE sys/replication/undone/abc',
    'POST sys/replication/dr/secondary/undone/delete {"dr_operation_token":"op","id":"abc"}',
  ])
})

for (const [argv, says] of [
  ['-delete=abc', /confirm -delete with -yes/],
  ['-values', /-values goes with -show/],
  ['-show=abc -delete=abc -yes', /-show and -delete are two commands/],
] as const) {
  test(`undone ${argv}: nothing is sent`, async () => {
    const ran = await undone(argv)
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, says)
    assert.deepEqual(asked(), [])
  })
}
