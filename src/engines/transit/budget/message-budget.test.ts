// C-13, P-11: the messages of each key version are counted, never too few, and end at 2^32.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryView } from '../../../../test/fixtures/memory-view.ts'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import type { LogFields } from '../../../lib/log.ts'
import { StorageFull, WriteNotAllowed } from '../../../storage/errors.ts'
import type { Transit } from '../transit.ts'
import { CLUSTER_LIVES, CLUSTER_LIVES_COUNT, CLUSTER_USE, CLUSTER_USE_FOLDER } from './cluster-use.ts'
import type { AllowanceCall } from './message-count-store.ts'
import { CLUSTERS, CLUSTERS_RECORD, MESSAGE_COUNT } from './message-ledger.ts'
import { MESSAGE_LIMITS } from './message-limits.ts'

const { most, block, freeShare } = MESSAGE_LIMITS

const plaintext = base64('the quick brown fox')
/** Messages that are left in tests at the limit. */
const LAST = 2 ** 14
/** Messages that each start counts for the threads that it may have: eight lives. */
const OF_A_START = 8 * 1_024

/** A thread that serves beside the one that writes; `asked` grows with each question. */
function serving(writer: Transit, view: MemoryView) {
  const asked: AllowanceCall[] = []
  const mounted = mountTransit(view, { ...readOnly(view) }, undefined, {
    callWriter: async (question) => {
      asked.push(question as AllowanceCall)
      return structuredClone(await writer.handleWriterCall(structuredClone(question)))
    },
  })
  return { ...mounted, asked }
}

const readOnly = (view: MemoryView) => ({
  get: (path: string) => view.get(path),
  list: (...given: Parameters<MemoryView['list']>) => view.list(...given),
  transaction: () => assert.fail('a thread that serves does not write'),
})

const batch = (count: number) => ({ batch_input: Array.from({ length: count }, () => ({ plaintext })) })

async function counts(mounted: { readonly client: ReturnType<typeof mountTransit>['client'] }, name = 'k') {
  return (await mounted.client.read(`keys/${name}`)).data.encryption_counts
}

/** Stores all messages of the key's first version as granted to this cluster, and all but so many as used. */
async function leaves(mounted: ReturnType<typeof mountTransit>, messages: number, name = 'k') {
  const { transit, view } = mounted
  const { identity } = ((await transit.keys.find(name)) ?? assert.fail()).version(1)
  const { cluster } = CLUSTER_LIVES_COUNT.decode(view.entries.get(CLUSTER_LIVES) ?? assert.fail())
  const granted = most - block
  const used = granted + block - freeShare - messages
  view.plant(CLUSTER_USE_FOLDER + identity, CLUSTER_USE.encode({ granted: used, cluster }))
  view.plant(`use/${identity}`, MESSAGE_COUNT.encode({ granted, clusters: { [cluster]: { granted, number: 63 } } }))
  transit.keys.forget(name)
}

/** Stores so many messages of the key's first version as granted before there was a ledger. */
async function grantedAt({ transit, view }: ReturnType<typeof mountTransit>, granted: number, name = 'k') {
  const ring = (await transit.keys.find(name)) ?? assert.fail()
  view.plant(`use/${ring.version(1).identity}`, Buffer.from(JSON.stringify({ format: 1, granted })))
  transit.keys.forget(name)
}

const uses = (view: MemoryView) => [...view.entries.keys()].filter((path) => /^(cluster\/)?use\//.test(path))

test('a key that is used little costs no write, on no thread', async () => {
  const writer = mountTransit()
  const threads = [serving(writer.transit, writer.view), serving(writer.transit, writer.view)]
  for (const name of ['a', 'b', 'c']) await writer.client.write(`keys/${name}`)
  for (const { transit } of [writer, ...threads]) await transit.budgets.begin()
  writer.view.beforeCommit = () => assert.fail('nothing is to be written')
  for (const { client } of [writer, ...threads])
    for (const name of ['a', 'b', 'c'])
      for (let count = 0; count < 500; count += 1) await client.write(`encrypt/${name}`, { plaintext })
  assert.deepEqual(await counts(writer, 'a'), { 1: OF_A_START })
  for (const { asked } of threads) assert.deepEqual(asked, [{ kind: 'life' }])
})

test('who seals more asks ahead for blocks, which are stored before they are used', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  await writer.client.write('keys/k')
  for (let sealed = 0; sealed < 20_000; sealed += 1_000) {
    await thread.client.write('encrypt/k', batch(500))
    await thread.client.write('datakeys/wrapped/k', { count: 500 })
    assert.ok((await counts(writer))[1] >= sealed + 1_000)
  }
  const blocks = thread.asked.filter(({ kind }) => kind === 'block')
  assert.deepEqual(
    blocks.map((one) => one.kind === 'block' && one.wanted),
    [2 ** 16],
  )
  await thread.client.write('encrypt/k', batch(70_000))
  assert.ok((await counts(writer))[1] >= 90_000)
})

test('encrypt, batches, data keys, rewrap and what makes a key all count, refused items do not', async () => {
  const writer = mountTransit()
  await writer.client.write('encrypt/k', batch(5_000))
  assert.equal((await counts(writer))[1], 5_000 + OF_A_START)
  const ring = await writer.transit.keys.find('k')
  const left = () => ring?.version(1).budget?.left ?? assert.fail()
  const { ciphertext } = (await writer.client.write('encrypt/k', { plaintext })).data
  const steps: readonly [() => Promise<unknown>, number][] = [
    [() => writer.client.write('encrypt/k', { plaintext }), 1],
    [() => writer.client.write('encrypt/k', batch(7)), 7],
    [() => writer.client.write('encrypt/k', { batch_input: [{ plaintext }, { plaintext: '!' }] }), 1],
    [() => writer.client.write('encrypt/k', { plaintext, key_version: 2 }), 0],
    [() => writer.client.write('rewrap/k', { ciphertext }), 1],
    [() => writer.client.write('rewrap/k', { batch_input: [{ ciphertext }, { ciphertext }] }), 2],
    [() => writer.client.write('datakey/plaintext/k'), 1],
    [() => writer.client.write('decrypt/k', { ciphertext }), 0],
  ]
  for (const [work, messages] of steps) {
    const before = left()
    await work()
    assert.equal(before - left(), messages)
  }
  await writer.client.write('encrypt/once', { plaintext })
  assert.equal((await writer.transit.keys.find('once'))?.version(1).budget?.left, 1_023)
  assert.equal(uses(writer.view).length, 1)
})

test('derived and convergent keys count by version; types without short nonces do not count', async () => {
  const { client, transit } = mountTransit()
  const flags = { derived: true, convergent_encryption: true }
  await client.write('keys/convergent', flags)
  await client.write('keys/x', { type: 'xchacha20-poly1305' })
  await client.write('keys/rsa', { type: 'rsa-2048' })
  await transit.budgets.begin()
  await client.write('encrypt/convergent', { plaintext, context: 'YQ==' })
  const ring = await transit.keys.find('convergent')
  assert.equal(ring?.version(1).budget?.left, 1_023)
  for (const name of ['x', 'rsa']) assert.equal(await counts({ client }, name), undefined)
  assert.deepEqual(await counts({ client }, 'convergent'), { 1: OF_A_START })
})

test('past 2^31 every answer that encrypts warns, also of other threads and after a start', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  await writer.client.write('keys/k')
  const { ciphertext } = (await thread.client.write('encrypt/k', { plaintext })).data
  await grantedAt(writer, 2 ** 31)
  const bodies: readonly [string, object][] = [
    ['encrypt/k', { plaintext }],
    ['encrypt/k', batch(2)],
    ['rewrap/k', { ciphertext }],
    ['rewrap/k', { batch_input: [{ ciphertext }] }],
    ['datakey/wrapped/k', {}],
  ]
  for (const { client } of [thread, serving(mountTransit(writer.view).transit, writer.view)]) {
    for (const [path, body] of bodies) {
      const { warnings } = await client.write(path, body as Record<string, string>)
      assert.match(warnings[0] ?? '', /^version 1 of the key has encrypted more than 2\^31 messages/, path)
    }
    for (const body of [{ ciphertext }, { batch_input: [{ ciphertext }] }])
      assert.deepEqual((await client.write('decrypt/k', body)).warnings, [])
  }
  await writer.client.write('keys/k/rotate')
  assert.deepEqual((await thread.client.write('encrypt/k', { plaintext })).warnings, [])
})

test('at 2^32 a key without a period refuses by name, goes on after a rotation, and decrypts all along', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  await writer.client.write('keys/k')
  const { ciphertext } = (await thread.client.write('encrypt/k', { plaintext })).data
  await leaves(writer, LAST)
  let sealed = 0
  for (;;) {
    const { status, errors, data } = await thread.client.write('encrypt/k', batch(100))
    if (status === 400) {
      assert.match(errors[0] ?? '', /2\^32 messages.*rotate the key/)
      break
    }
    assert.equal(status, 200)
    sealed += data.batch_results.length
    assert.ok(sealed <= LAST + OF_A_START, 'more than may be')
  }
  // Fewer than the batch had are left.
  while ((await thread.client.write('datakey/wrapped/k')).status === 200) sealed += 1
  assert.ok(sealed > LAST / 2 && sealed <= LAST + OF_A_START, `${sealed} of the last`)
  assert.equal((await thread.client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  await writer.client.write('keys/k/rotate')
  assert.equal((await thread.client.write('encrypt/k', { plaintext })).data.key_version, 2)
  assert.equal((await thread.client.write('rewrap/k', { ciphertext })).data.key_version, 2)
  const old = await thread.client.write('encrypt/k', { plaintext, key_version: 1 })
  assert.match(old.errors[0] ?? '', /version 1 of the key has encrypted 2\^32 messages/)
})

test('at 2^32 a key with a period is rotated, once, and the requests go on with the new version', async () => {
  const lines: { readonly message: string; readonly fields: LogFields | undefined }[] = []
  const view = new MemoryView()
  const writer = mountTransit(view, view, undefined, {
    log: (_level, message, fields) => lines.push({ message, fields }),
  })
  const threads = [serving(writer.transit, view), serving(writer.transit, view)]
  await writer.client.write('keys/k', { auto_rotate_period: '24h' })
  await grantedAt(writer, 2 ** 32)
  const answers = await Promise.all(
    threads.flatMap(({ client }) => [
      client.write('encrypt/k', { plaintext }),
      client.write('encrypt/k', batch(3_000)),
    ]),
  )
  for (const { status, data } of answers) {
    assert.equal(status, 200)
    assert.equal((data.batch_results?.[0] ?? data).key_version, 2)
  }
  assert.equal((await writer.client.read('keys/k')).data.latest_version, 2)
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['A key was rotated by itself: its last version encrypted as many messages as it may'],
  )
})

test('a key that takes the name of another begins anew, and has nothing of what the other had left', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  for (let turn = 0; turn < 3; turn += 1) {
    await writer.client.write('keys/k')
    await thread.client.write('encrypt/k', batch(2_000))
    assert.equal((await counts(writer))[1], 2 ** 16 + OF_A_START)
    await writer.client.write('keys/k/config', { deletion_allowed: true })
    await writer.client.delete('keys/k')
    assert.deepEqual(uses(writer.view), [])
  }
})

test('P-11 a key that is deleted and restored, also under other names, goes on from its count', async () => {
  const writer = mountTransit()
  const { client } = writer
  const thread = serving(writer.transit, writer.view)
  const flags = { exportable: true, allow_plaintext_backup: true }
  for (const name of ['k', 'other']) await client.write(`keys/${name}`, flags)
  const [backup, other] = [(await client.read('backup/k')).data.backup, (await client.read('backup/other')).data.backup]
  await thread.client.write('encrypt/k', batch(2_000))
  await client.write('keys/k/config', { deletion_allowed: true })
  await client.delete('keys/k')
  assert.equal((await client.write('restore/k', { backup })).status, 204)
  assert.equal((await counts(writer))[1], 2 ** 16 + OF_A_START, 'after it was deleted')
  assert.equal((await client.write('restore/k', { backup: other, force: true })).status, 204)
  assert.equal((await counts(writer))[1], OF_A_START, 'of the other key')
  assert.equal((await client.write('restore/k', { backup, force: true })).status, 204)
  assert.equal((await counts(writer))[1], 2 ** 16 + OF_A_START, 'after it was back')
  assert.equal((await client.write('restore/twin', { backup })).status, 204)
  await leaves(writer, LAST)
  let sealed = 0
  for (const name of ['twin', 'k', 'twin'])
    for (const { client: one } of [thread, writer])
      while ((await one.write(`encrypt/${name}`, batch(100))).status === 200) sealed += 100
  assert.ok(sealed > 0 && sealed <= LAST + 2 ** 17, `${sealed} under both names`)
  const [twin, k] = [await client.write('encrypt/twin', batch(2_000)), await client.write('encrypt/k', batch(2_000))]
  assert.match(twin.errors[0] ?? '', /2\^32 messages.*keys\/twin\/rotate/)
  assert.match(k.errors[0] ?? '', /2\^32 messages.*keys\/k\/rotate/)
  assert.deepEqual(await counts(writer), await counts(writer, 'twin'))
})

test('counts that no restore can ask for go with their versions', async () => {
  const writer = mountTransit()
  await writer.client.write('keys/k')
  await writer.client.write('encrypt/k', batch(2_000))
  await writer.client.write('keys/k/rotate')
  await writer.client.write('encrypt/k', batch(2_000))
  assert.equal(uses(writer.view).length, 2)
  await writer.client.write('keys/k/config', { min_encryption_version: 2, min_decryption_version: 2 })
  await writer.client.write('keys/k/trim', { min_available_version: 2 })
  assert.equal(uses(writer.view).length, 1)
  assert.ok((await counts(writer))[2] >= 2_000)
})

test('a start counts what was left as sealed, and a version that is made later has nothing to do with it', async () => {
  const view = new MemoryView()
  const first = mountTransit(view)
  await first.client.write('keys/k')
  await first.client.write('encrypt/k', { plaintext })
  for (let start = 2; start <= 5; start += 1) {
    const again = mountTransit(view)
    await again.client.write('encrypt/k', { plaintext })
    assert.equal((await counts(again))[1], start * OF_A_START)
  }
  const last = mountTransit(view)
  await last.client.write('keys/k/rotate')
  await last.client.write('encrypt/k', { plaintext })
  assert.deepEqual(await counts(last), { 1: 6 * OF_A_START, 2: OF_A_START })
})

test('S6 a version counts the clusters that are gone from the store, not those from before a restore', async () => {
  const mounted = mountTransit()
  const goneAre = (gone: number) => mounted.view.plant(CLUSTERS, CLUSTERS_RECORD.encode({ clusters: [], gone }))
  const aheadOf = async (name: string) => {
    await mounted.client.write(`keys/${name}`)
    return ((await mounted.transit.keys.find(name)) ?? assert.fail()).header.versions[0]?.aheadFrom
  }
  goneAre(5)
  assert.equal(await aheadOf('before'), 5)
  goneAre(2)
  assert.equal(await aheadOf('restored'), 2)
})

test('what cannot be stored is not used: a full device refuses when nothing is left, and not before', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  await writer.client.write('keys/k')
  await thread.client.write('encrypt/k', { plaintext })
  writer.view.beforeCommit = () => {
    throw new StorageFull('The device is full')
  }
  for (let count = 1; count < 1_024; count += 1)
    assert.equal((await thread.client.write('encrypt/k', { plaintext })).status, 200)
  await assert.rejects(thread.client.write('encrypt/k', { plaintext }), StorageFull)
  writer.view.beforeCommit = () => {}
  assert.equal((await thread.client.write('encrypt/k', { plaintext })).status, 200)
})

test('a key is made where its count cannot be begun, which shows when it is used', async () => {
  const { client, view } = mountTransit()
  let commits = 0
  view.beforeCommit = () => {
    commits += 1
    if (commits > 1) throw new StorageFull('no space')
  }
  assert.equal((await client.write('keys/k')).status, 200)
  // The call in advance, which no request awaits, fails in this turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(commits, 2)
  await assert.rejects(client.write('encrypt/k', { plaintext }), StorageFull)
  view.beforeCommit = () => {}
  assert.equal((await client.write('encrypt/k', { plaintext })).status, 200)
})

test('a thread that comes while the device is full encrypts all the same', async () => {
  const writer = mountTransit()
  await writer.client.write('keys/k')
  await writer.transit.budgets.begin()
  writer.view.beforeCommit = () => {
    throw new StorageFull('The device is full')
  }
  for (let thread = 1; thread <= 7; thread += 1)
    assert.equal((await serving(writer.transit, writer.view).client.write('encrypt/k', { plaintext })).status, 200)
  const one = serving(writer.transit, writer.view)
  await assert.rejects(one.client.write('encrypt/k', { plaintext }), StorageFull)
})

test('a key that rotates by itself is not rotated for its last message, but for the one behind it', async () => {
  const writer = mountTransit()
  await writer.client.write('keys/k', { auto_rotate_period: '1h' })
  const { identity } = (await writer.transit.keys.find('k'))?.version(1) ?? assert.fail()
  const ask = async () => {
    const answer = await writer.transit.handleWriterCall({
      kind: 'block',
      name: 'k',
      version: 1,
      identity,
      wanted: 5,
      atLeast: 1,
    })
    return 'failed' in answer ? assert.fail() : answer
  }
  await writer.transit.budgets.begin()
  await leaves(writer, 1)
  const last = await ask()
  assert.deepEqual([last.granted, last.latestVersion], [1, 1])
  assert.equal(last.total, most - freeShare + OF_A_START)
  const behind = await ask()
  assert.deepEqual([behind.granted, behind.latestVersion], [0, 2])
})

test('the last messages of a version are noted in the log, once', async () => {
  const lines: string[] = []
  const view = new MemoryView()
  const writer = mountTransit(view, view, undefined, { log: (_level, message) => lines.push(message) })
  await writer.client.write('keys/k')
  await writer.transit.budgets.begin()
  await leaves(writer, 2 ** 10)
  for (let turn = 0; turn < 4; turn += 1) await writer.client.write('encrypt/k', batch(700))
  assert.deepEqual(lines, ['A key version has its last messages: it can encrypt no more after them'])
})

test('S6 where the role forbids even local writes, the request is the primary’s', async () => {
  const writer = mountTransit()
  writer.view.beforeCommit = () => {
    throw new WriteNotAllowed('local')
  }
  await assert.rejects(writer.client.write('encrypt/k', { plaintext }), WriteNotAllowed)
})

test('a stored count that cannot be read is not taken for none', async () => {
  const { client, view, transit } = mountTransit()
  plantKey(view, 'k', 'aes256-gcm96', Buffer.alloc(32, 1), 'plain')
  const { identity } = (await transit.keys.find('k'))?.version(1) ?? assert.fail()
  for (const text of ['{"format":2,"granted":1}', '{"format":1,"granted":-1}', '{"format":1}', 'x']) {
    view.plant(`use/${identity}`, Buffer.from(text))
    transit.keys.reset()
    await assert.rejects(client.write('encrypt/k', { plaintext }))
  }
})

test('P-11 whatever threads seal, rotate, start and end, no version is counted too low', async (t) => {
  type Step = {
    readonly kind: 'seal' | 'end' | 'start' | 'rotate' | 'trim'
    readonly thread: number
    readonly count: number
  }
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      kind: fc.constantFrom('seal', 'seal', 'seal', 'end', 'start', 'rotate', 'trim'),
      thread: fc.nat(2),
      count: fc.constantFrom(1, 3, 600, 1_500),
    }),
    { maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const view = new MemoryView()
      let writer = mountTransit(view)
      let threads = [0, 1, 2].map(() => serving(writer.transit, view))
      await writer.client.write('keys/k')
      const sealed = new Map<number, number>()
      for (const { kind, thread, count } of plan) {
        const { client } = threads[thread] ?? assert.fail()
        if (kind === 'seal') {
          const { data } = await client.write('encrypt/k', batch(count))
          for (const { key_version } of data.batch_results) sealed.set(key_version, (sealed.get(key_version) ?? 0) + 1)
        } else if (kind === 'end') threads[thread] = serving(writer.transit, view)
        else if (kind === 'start') {
          writer = mountTransit(view)
          threads = [0, 1, 2].map(() => serving(writer.transit, view))
        } else if (kind === 'rotate') await writer.client.write('keys/k/rotate')
        else {
          const { latest_version: latest } = (await writer.client.read('keys/k')).data
          await writer.client.write('keys/k/config', { min_encryption_version: latest, min_decryption_version: latest })
          await writer.client.write('keys/k/trim', { min_available_version: latest })
        }
      }
      for (const [version, shown] of Object.entries(await counts(writer)))
        assert.ok(Number(shown) >= (sealed.get(Number(version)) ?? 0), `version ${version}`)
    }),
    { seed: testSeed(t), numRuns: 25 },
  )
})

test('the counts of all versions that came since a key was loaded are read, not only of the last', async () => {
  const writer = mountTransit()
  const thread = serving(writer.transit, writer.view)
  await writer.client.write('keys/k')
  await writer.client.write('keys/k/rotate')
  await thread.client.write('encrypt/k', { plaintext })
  for (let version = 3; version <= 5; version += 1) await writer.client.write('keys/k/rotate')
  const ring = (await writer.transit.keys.find('k')) ?? assert.fail()
  for (const version of [3, 4, 5])
    writer.view.plant(
      `use/${ring.version(version).identity}`,
      Buffer.from(JSON.stringify({ format: 1, granted: 2 ** 31 })),
    )
  for (const version of [3, 4, 5]) {
    const { warnings } = await thread.client.write('encrypt/k', { plaintext, key_version: version })
    assert.match(warnings[0] ?? '', new RegExp(`^version ${version} of the key has encrypted more than 2\\^31`))
  }
})
