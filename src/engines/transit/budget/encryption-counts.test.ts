import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'

const READS = 20

test('counts are read from the store once, and again when they change, on every thread', async () => {
  const view = new MemoryView()
  let reads = 0
  const counting = new Proxy(view, {
    get(target, name) {
      if (name === 'get') {
        return (path: string) => {
          reads += 1
          return target.get(path)
        }
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const writer = mountTransit(view)
  const reader = mountTransit(view, counting)
  await writer.client.write('keys/k', {})
  const countsOf = async () => (await reader.client.read('keys/k')).data.encryption_counts['1']
  // The first use of the mount by a thread stores a life, which changes counts too.
  assert.equal((await reader.client.write('encrypt/k', { plaintext: base64('x') })).status, 200)
  await countsOf()
  const first = await countsOf()
  reads = 0
  for (let i = 0; i < READS; i++) assert.equal(await countsOf(), first)
  assert.equal(reads, 0)
  const batch_input = Array.from({ length: 3_000 }, () => ({ plaintext: base64('x') }))
  assert.equal((await writer.client.write('encrypt/k', { batch_input })).status, 200)
  assert.ok((await countsOf()) > first, 'a block that the other thread was given is seen')
})
