import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReloadList } from './reload.ts'

test('a reload runs every task with what is new, in order, and names the one that fails', async () => {
  const ran: string[] = []
  const logged: string[] = []
  const list = new ReloadList<number>()
  list.add('first', (state) => {
    ran.push(`first ${state}`)
  })
  list.add('broken', () => {
    throw Object.assign(new Error('secret'), { code: 'ENOENT' })
  })
  list.add('late', async (state) => {
    await Promise.resolve()
    ran.push(`late ${state}`)
  })
  await list.run(7, (level, message, fields) => logged.push(`${level} ${message} ${JSON.stringify(fields)}`))
  assert.deepEqual(ran, ['first 7', 'late 7'])
  assert.deepEqual(logged, ['error Reload: broken failed, it goes on as before {"cause":"ENOENT"}'])
})
