import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../../../api/node-role.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { LogFields } from '../../../lib/log.ts'
import type { ListOptions } from '../../../storage/contract.ts'
import { Sealed } from '../../../storage/errors.ts'
import type { View } from '../../../storage/sealed-storage.ts'

const HOUR_MS = 3_600_000
type Line = { readonly message: string; readonly fields: LogFields | undefined }

function mounted(role: Partial<NodeRole> = {}, local = false, view = new MemoryView(), storage: View = view) {
  const lines: Line[] = []
  const mount = mountTransit(view, storage, undefined, {
    role: () => ({ ...ACTIVE_PRIMARY, ...role }),
    mount: () => ({ path: 'transit/', local }),
    log: (_level, message, fields) => lines.push({ message, fields }),
  })
  return { ...mount, lines }
}

async function latest({ client }: Pick<MountedTransit, 'client'>, name: string): Promise<number> {
  return (await client.read(`keys/${name}`)).data.latest_version
}

const due = ({ view }: Pick<MountedTransit, 'view'>): string[] =>
  [...view.entries.keys()].filter((path) => path.startsWith('due/')).sort()

test('a key rotates when its period has passed, once a round, and what was missed is not made up for', async () => {
  const one = mounted()
  await one.client.write('keys/k', { auto_rotate_period: '1h' })
  await one.client.write('keys/never')
  await one.transit.upkeep()
  one.clock.nowMs += HOUR_MS - 1_000
  await one.transit.upkeep()
  assert.equal(await latest(one, 'k'), 1)
  one.clock.nowMs += 2_000
  await one.transit.upkeep()
  await one.transit.upkeep()
  assert.deepEqual([await latest(one, 'k'), await latest(one, 'never')], [2, 1])
  assert.deepEqual(one.lines, [
    { message: 'A key was rotated by itself', fields: { mount: 'transit/', key: 'k', version: 2 } },
  ])
  one.clock.nowMs += 100 * HOUR_MS
  await one.transit.upkeep()
  await one.transit.upkeep()
  assert.equal(await latest(one, 'k'), 3)
})

test('keys that are due in the same second all rotate, once, however many there are', async () => {
  const one = mounted()
  const names = Array.from({ length: 201 }, (_, at) => `k${at}`)
  for (const name of names) await one.client.write(`keys/${name}`, { auto_rotate_period: '1h' })
  one.clock.nowMs += HOUR_MS + 1_000
  await one.transit.upkeep()
  for (const name of names) assert.equal(await latest(one, name), 2, name)
})

test('keys that are due in the same second and cannot be rotated are tried once, however many there are', async () => {
  const one = mounted()
  const names = Array.from({ length: 101 }, (_, at) => `k${at}`)
  for (const name of names) await one.client.write(`keys/${name}`, { auto_rotate_period: '1h' })
  for (const name of names) one.view.plant(`key/${name}`, Buffer.from('broken'))
  one.transit.keys.reset()
  one.clock.nowMs += HOUR_MS + 1_000
  await one.transit.upkeep()
  assert.deepEqual(
    one.lines.map(({ fields }) => fields?.keys),
    [names.length],
  )
})

test('the schedule follows the settings of the key, and goes with it', async () => {
  const one = mounted()
  await one.client.write('keys/k', { auto_rotate_period: '1h' })
  assert.deepEqual(due(one), ['due/0000001700003601/k'])
  await one.client.write('keys/k/config', { auto_rotate_period: '2h' })
  assert.deepEqual(due(one), ['due/0000001700007201/k'])
  await one.client.write('keys/k/config', { auto_rotate_period: 0 })
  assert.deepEqual(due(one), [])
  await one.client.write('keys/k/config', { auto_rotate_period: '2h', deletion_allowed: true })
  one.clock.nowMs += 1_000
  await one.client.write('keys/k/rotate')
  assert.deepEqual(due(one), ['due/0000001700007202/k'])
  await one.client.delete('keys/k/soft-delete')
  assert.deepEqual(due(one), [])
  await one.client.write('keys/k/soft-delete-restore')
  assert.deepEqual(due(one), ['due/0000001700007202/k'])
  await one.client.delete('keys/k')
  assert.deepEqual(due(one), [])
})

test('while a mount with many keys is looked through for the first time, others have their turns', async () => {
  const one = mounted()
  const keys = 500
  await one.client.write('keys/k')
  const stored = one.view.entries.get('key/k') ?? assert.fail()
  for (let number = 0; number < keys; number += 1) one.view.plant(`key/k${number}`, stored)
  let turns = 0
  let isDone = false
  let turnsWhole = 0
  const count = (): void => {
    turns += 1
    if (one.view.entries.has('due-index')) turnsWhole += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await one.transit.upkeep()
  isDone = true
  assert.ok(one.view.entries.has('due-index'))
  assert.ok(turns >= keys / 25, `${turns} turns`)
  // The mark of a complete schedule comes last: a server that stops before it starts over.
  assert.ok(turns - turnsWhole >= keys / 25 - 2, `said to be whole in ${turnsWhole} of ${turns} turns`)
})

test('an imported key rotates by itself only where its import allowed it', async () => {
  const one = mounted()
  for (const allowed of [false, true]) {
    const name = `allowed-${allowed}`
    await one.client.write(`keys/${name}`)
    const stored = one.view.entries.get(`key/${name}`) ?? assert.fail()
    one.view.plant(`key/${name}`, asImported(stored, allowed))
    await one.client.write(`keys/${name}/config`, { auto_rotate_period: '1h' })
  }
  // A key that may not rotate is never due: each attempt would fail.
  assert.deepEqual(due(one), ['due/0000001700003601/allowed-true'])
  one.clock.nowMs += 2 * HOUR_MS
  await one.transit.upkeep()
  assert.deepEqual([await latest(one, 'allowed-false'), await latest(one, 'allowed-true')], [1, 2])
})

function asImported(stored: Buffer, allowImportedRotation: boolean): Buffer {
  const end = 5 + stored.readUInt32BE(1)
  const header = JSON.parse(stored.subarray(5, end).toString())
  const changed = Buffer.from(JSON.stringify({ ...header, imported: true, allowImportedRotation }))
  const head = Buffer.alloc(5)
  head.writeUInt8(2)
  head.writeUInt32BE(changed.length, 1)
  return Buffer.concat([head, changed, stored.subarray(end)])
}

const ROLES: readonly { name: string; role: Partial<NodeRole>; local: boolean; rotates: boolean }[] = [
  { name: 'a standby', role: { isStandby: true }, local: true, rotates: false },
  { name: 'a secondary for disaster recovery', role: { dr: 'secondary' }, local: true, rotates: false },
  { name: 'a performance secondary', role: { performance: 'secondary' }, local: false, rotates: false },
  { name: 'a local mount of one', role: { performance: 'secondary' }, local: true, rotates: true },
]
for (const { name, role, local, rotates } of ROLES) {
  test(`${name} rotates ${rotates ? 'its own keys' : 'nothing'}`, async () => {
    const one = mounted(role, local)
    await one.client.write('keys/k', { auto_rotate_period: '1h' })
    one.clock.nowMs += 2 * HOUR_MS
    await one.transit.upkeep()
    assert.equal(await latest(one, 'k'), rotates ? 2 : 1)
  })
}

const BETWEEN: readonly {
  readonly what: string
  readonly body?: JsonObject
  readonly path: string
  readonly left: number
}[] = [
  { what: 'rotated by hand', path: 'keys/k/rotate', left: 2 },
  { what: 'given no period', path: 'keys/k/config', body: { auto_rotate_period: 0 }, left: 1 },
  { what: 'given a longer period', path: 'keys/k/config', body: { auto_rotate_period: '100h' }, left: 1 },
]
for (const { what, path, body, left } of BETWEEN) {
  for (const when of ['was found due', 'is rotated, before the transaction'] as const) {
    test(`a key that is ${what} after it ${when} is not rotated by itself as well`, async () => {
      const view = new MemoryView()
      let between: (() => Promise<unknown>) | undefined
      const happen = async (): Promise<void> => {
        const work = between
        between = undefined
        await work?.()
      }
      const watched: View = {
        get: (at) => view.get(at),
        list: async (folder: string, options?: ListOptions) => {
          const names = await view.list(folder, options)
          if (when === 'was found due' && names.includes('k')) await happen()
          return names
        },
        transaction: async (work) => {
          if (when !== 'was found due') await happen()
          return view.transaction(work)
        },
      }
      const one = mounted({}, false, view, watched)
      await one.client.write('keys/k', { auto_rotate_period: '1h' })
      await one.transit.upkeep()
      one.clock.nowMs += 2 * HOUR_MS
      const asked: number[] = []
      between = async () => asked.push((await one.client.write(path, body)).status)
      await one.transit.upkeep()
      assert.deepEqual([asked, await latest(one, 'k')], [[200], left])
      assert.ok(!one.lines.some(({ message }) => message.includes('could not be rotated')))
    })
  }
}

test('one key that cannot be rotated holds up no other, and is tried again', async () => {
  const one = mounted()
  for (const name of ['a', 'b', 'c']) await one.client.write(`keys/${name}`, { auto_rotate_period: '1h' })
  one.clock.nowMs += 2 * HOUR_MS
  const broken = one.view.entries.get('key/b') ?? assert.fail()
  one.view.plant('key/b', Buffer.from('broken'))
  await one.transit.upkeep()
  assert.deepEqual([await latest(one, 'a'), await latest(one, 'c')], [2, 2])
  assert.deepEqual(one.lines.at(-1)?.fields, { mount: 'transit/', keys: 1, cause: 'StorageCorrupt' })
  one.view.plant('key/b', broken)
  await one.transit.upkeep()
  assert.equal(await latest(one, 'b'), 2)
})

test('a round that is under way while the server is sealed ends with it, and says nothing', async () => {
  const view = new MemoryView()
  let isSealed = false
  const sealable: View = {
    get: (path) => view.get(path),
    list: (path: string, options?: ListOptions) => view.list(path, options),
    transaction: async (work) => {
      if (isSealed) throw new Sealed('the keys are gone')
      return view.transaction(work)
    },
  }
  const one = mounted({}, false, view, sealable)
  for (const name of ['a', 'b']) await one.client.write(`keys/${name}`, { auto_rotate_period: '1h' })
  await one.transit.upkeep()
  one.clock.nowMs += 2 * HOUR_MS
  isSealed = true
  await assert.rejects(one.transit.upkeep(), Sealed)
  assert.deepEqual(one.lines, [])
})

test('keys of before there was a schedule come into it, once', async () => {
  const one = mounted()
  for (let index = 0; index < 230; index += 1) await one.client.write(`keys/k${index}`, { auto_rotate_period: '1h' })
  const scheduled = due(one)
  await one.view.transaction(async (tx) => {
    for (const path of scheduled) tx.delete(path)
  })
  await one.transit.upkeep()
  assert.deepEqual(due(one), scheduled)
  await one.view.transaction(async (tx) => tx.delete(scheduled[0] ?? ''))
  await mounted({}, false, one.view).transit.upkeep()
  assert.deepEqual(due(one), scheduled.slice(1))
})

test('a round reads nothing of keys that are not due', async () => {
  const view = new MemoryView()
  const read: string[] = []
  const watched: View = {
    get: (path) => {
      read.push(path)
      return view.get(path)
    },
    list: (path: string, options?: ListOptions) => {
      read.push(path)
      return view.list(path, options)
    },
    transaction: (work) => view.transaction(work),
  }
  const one = mounted({}, false, view, watched)
  for (let index = 0; index < 500; index += 1) await one.client.write(`keys/k${index}`, { auto_rotate_period: '1h' })
  await one.transit.upkeep()
  read.length = 0
  await one.transit.upkeep()
  assert.deepEqual(read, ['due/'])
})
