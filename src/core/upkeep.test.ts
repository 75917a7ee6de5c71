import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import type { Engine, MountEntry } from '../api/mount.ts'
import { realWorld } from '../lib/world.ts'
import { Upkeep } from './upkeep.ts'

const mountOf = (path: string, upkeep?: () => Promise<void>, local = false) => {
  const engine: Engine = { changed: () => {}, reset: () => {}, ...(upkeep === undefined ? {} : { upkeep }) }
  return { entry: { path, local } as MountEntry, path, engine }
}

/** A world whose timers ring when the test says so. */
function plannedWorld() {
  const planned: (() => void)[] = []
  const delays: number[] = []
  const after = (delayMs: number, work: () => void) => {
    delays.push(delayMs)
    planned.push(work)
    return { cancel: () => {} }
  }
  const world = realWorld()
  return { world: { ...world, timers: { ...world.timers, after } }, planned, delays }
}

test('engines are asked one after the other, again and again, and one that fails holds up no other', async () => {
  const { world, planned, delays } = plannedWorld()
  const asked: string[] = []
  const logged: unknown[] = []
  const mounts = [
    mountOf('none/'),
    mountOf('fails/', async () => {
      asked.push('fails')
      throw new Error('a secret')
    }),
    mountOf('works/', async () => void asked.push('works')),
  ]
  const log = (...line: unknown[]) => void logged.push(line)
  const upkeep = new Upkeep(() => mounts, world, log)
  upkeep.start(false)
  for (let round = 1; round <= 2; round += 1) {
    planned.at(-1)?.()
    await upkeep.runNow()
    await new Promise(setImmediate)
    assert.equal(planned.length, round + 1)
  }
  assert.deepEqual(asked, ['fails', 'works', 'fails', 'works'])
  assert.ok(delays.every((delayMs) => delayMs <= 60_000))
  assert.equal(logged.length, 2)
  assert.ok(!JSON.stringify(logged).includes('a secret'))
  upkeep.stop(false)
  planned.at(-1)?.()
  await upkeep.runNow()
  assert.equal(asked.length, 4)
})

test('shared and local mounts are kept up each for itself, and stop in the middle of a round', async () => {
  const { world, planned } = plannedWorld()
  const asked: string[] = []
  const upkeep: Upkeep = new Upkeep(
    () => [
      mountOf('shared/', async () => {
        asked.push('shared')
        upkeep.stop(false)
      }),
      mountOf('other/', async () => void asked.push('other')),
      mountOf('local/', async () => void asked.push('local'), true),
    ],
    world,
    () => assert.fail('nothing fails'),
  )
  const round = async () => {
    planned.at(-1)?.()
    await upkeep.runNow()
    return asked.splice(0)
  }
  upkeep.start(true)
  assert.deepEqual(await round(), ['local'])
  upkeep.start(false)
  assert.deepEqual(await round(), ['shared', 'local'])
  assert.deepEqual(await round(), ['local'])
  upkeep.stop(true)
  assert.deepEqual(await round(), [])
})

test('a due key of a mounted engine is rotated, with nobody asking, and not once the server is sealed', async () => {
  const { node, call, advance } = await startMemoryServer()
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'transit/keys/k', { auto_rotate_period: '1h' })
  advance(3_601)
  await node.upkeep.runNow()
  const { body } = await call('GET', 'transit/keys/k')
  assert.equal(body.data?.latest_version, 2)
  await node.operations.seal()
  advance(7_200)
  await node.upkeep.runNow()
})
