import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReloadList } from './reload.ts'

function listOf(ran: string[]): ReloadList<number> {
  const list = new ReloadList<number>()
  list.add('tls', (state) => {
    ran.push(`first ${state}`)
  })
  list.add('audit', () => {
    throw Object.assign(new Error('secret'), { code: 'ENOENT' })
  })
  list.add('log_level', async (state) => {
    await Promise.resolve()
    ran.push(`late ${state}`)
  })
  list.add('log_level', () => 'kept')
  return list
}

test('a reload runs every task with what is new, in order, and names the one that fails', async () => {
  const ran: string[] = []
  const logged: string[] = []
  const log = (level: string, message: string, fields: unknown) =>
    logged.push(`${level} ${message} ${JSON.stringify(fields)}`)
  assert.equal(await listOf(ran).run(7, log), false)
  assert.deepEqual(ran, ['first 7', 'late 7'])
  assert.deepEqual(logged, ['error Reload: audit failed, its previous state stays in use {"cause":"ENOENT"}'])
})

test('a reload of one part runs the tasks of that part, and tells whether something goes on as before', async () => {
  const ran: string[] = []
  assert.equal(await listOf(ran).run(1, () => {}, 'tls'), true)
  assert.deepEqual(ran, ['first 1'])
  assert.equal(await listOf(ran).run(2, () => {}, 'log_level'), false)
  assert.equal(await listOf(ran).run(3, () => {}, 'audit'), false)
  assert.deepEqual(ran, ['first 1', 'late 2'])
})
