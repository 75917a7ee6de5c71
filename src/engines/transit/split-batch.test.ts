// A batch that is split has the same results as in one piece.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MemoryView } from '../../../test/fixtures/memory-view.ts'
import { base64, flagsOf, hurriedWorld, KEY_KINDS, mountTransit } from '../../../test/fixtures/mounted-transit.ts'
import { KEY_TYPES } from '../../crypto/key-types/key-types.ts'
import { type AnyJob, inlineWork, type Job, type SlowWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'

/** Clones what goes in and out, as on the way to another thread; keeps the names of the jobs. */
function threadLike(parts: number, done: string[] = []): SlowWork & { readonly open: () => number } {
  const work = inlineWork(realWorld())
  let open = 0
  const run = async <I, O>(job: Job<I, O>, input: I, moved: ArrayBuffer[] = []): Promise<O> => {
    done.push(job.name)
    const cloned = structuredClone(input, { transfer: moved })
    const output = await work.run(job, cloned)
    return structuredClone(output, { transfer: job.moves?.(output) ?? [] })
  }
  const split = () => {
    open++
    return { parts: () => Math.max(1, parts - open + 1), end: () => void open-- }
  }
  return { ...work, run, split, open: () => open }
}

const COUNT = 600
const context = base64('context')

for (const { name: type, cipher, derivation } of KEY_TYPES.values()) {
  if (cipher === undefined || derivation === undefined) continue
  for (const kind of KEY_KINDS) {
    test(`a split batch with a ${kind} ${type} key: order, references, errors, and back again`, async () => {
      const jobs: string[] = []
      const slow = threadLike(3, jobs)
      const { client } = mountTransit(new MemoryView(), undefined, slow)
      await client.write('keys/k', { type, ...flagsOf(kind) })
      await client.write('keys/k/rotate')
      const items = Array.from({ length: COUNT }, (_, n) => ({
        plaintext: n % 50 === 7 ? '!' : base64(`message ${n}`),
        reference: `item ${n}`,
        ...(kind === 'plain' ? {} : { context }),
        ...(n % 3 === 0 ? { associated_data: base64(`data ${n}`) } : {}),
        ...(n % 10 === 1 ? { key_version: 1 } : {}),
      }))
      const encrypted = await client.write('encrypt/k', { batch_input: items })
      assert.deepEqual([encrypted.status, jobs], [400, ['seal-many', 'seal-many']])
      const results = encrypted.data.batch_results
      for (const [n, result] of results.entries()) {
        assert.equal(result.reference, `item ${n}`)
        if (n % 50 === 7) assert.match(result.error, /illegal base64/)
        else assert.equal(result.key_version, n % 10 === 1 ? 1 : 2)
      }
      const heads = results.flatMap(({ ciphertext }: { ciphertext?: string }) => ciphertext?.slice(0, 25) ?? [])
      assert.equal(new Set(heads).size, COUNT - 12, 'no nonce twice')
      const back = results.map((result: { ciphertext?: string }, n: number) => ({
        ...items[n],
        ciphertext: n % 50 === 9 ? `${result.ciphertext?.slice(0, -8)}AAAAAAA=` : (result.ciphertext ?? ''),
      }))
      const opened = (await client.write('decrypt/k', { batch_input: back })).data.batch_results
      assert.deepEqual(jobs.slice(2), ['open-many', 'open-many'])
      for (const [n, result] of opened.entries()) {
        assert.equal(result.reference, `item ${n}`)
        if (n % 50 === 7) assert.match(result.error, /^missing ciphertext/)
        else if (n % 50 === 9) assert.match(result.error, /^message authentication failed/)
        else assert.equal(result.plaintext, base64(`message ${n}`))
      }
      assert.equal(slow.open(), 0)
    })
  }
}

for (const { name: type, cipher, derivation } of KEY_TYPES.values()) {
  if (cipher === undefined || derivation === undefined) continue
  for (const kind of KEY_KINDS) {
    // The first item of each part has no associated data, and its lack of them must not count for the others.
    const hasData = (n: number) => n % (COUNT / 3) !== 0
    const items = Array.from({ length: COUNT }, (_, n) => ({
      plaintext: base64(`message ${n}`),
      ...(kind === 'plain' ? {} : { context: base64(`context ${n}`) }),
      ...(hasData(n) ? { associated_data: base64(`data ${n}`) } : {}),
    }))
    type Sealed = { readonly ciphertext: string }
    const withCiphertexts = (made: readonly Sealed[]) =>
      items.map(({ plaintext: _, ...options }, n) => ({ ...options, ciphertext: made[n]?.ciphertext ?? '' }))

    test(`items of a split batch with a ${kind} ${type} key have each its own parts, opened singly`, async () => {
      const jobs: string[] = []
      const { client } = mountTransit(new MemoryView(), undefined, threadLike(3, jobs))
      await client.write('keys/k', { type, ...flagsOf(kind) })
      const { data } = await client.write('encrypt/k', { batch_input: items })
      assert.deepEqual(jobs, ['seal-many', 'seal-many'])
      for (const [n, item] of withCiphertexts(data.batch_results).entries())
        assert.equal((await client.write('decrypt/k', item)).data?.plaintext, items[n]?.plaintext, `item ${n}`)
    })

    test(`a split batch with a ${kind} ${type} key opens each item with its own parts only`, async () => {
      const jobs: string[] = []
      const { client } = mountTransit(new MemoryView(), undefined, threadLike(3, jobs))
      await client.write('keys/k', { type, ...flagsOf(kind) })
      const made: Sealed[] = []
      for (const item of items) made.push((await client.write('encrypt/k', item)).data)
      const good = withCiphertexts(made)
      const plaintextsOf = async (batch_input: typeof good): Promise<string[]> => {
        jobs.splice(0)
        const { data } = await client.write('decrypt/k', { batch_input })
        assert.deepEqual(jobs, ['open-many', 'open-many'])
        return data.batch_results.map(({ plaintext }: { plaintext: string }) => plaintext)
      }
      assert.deepEqual(
        await plaintextsOf(good),
        items.map(({ plaintext }) => plaintext),
      )
      // No item opens with the context or data of its neighbour.
      const others = (part: 'context' | 'associated_data') =>
        good.map((item, n) => ({ ...item, [part]: good[(n + 1) % COUNT]?.[part] ?? '' }))
      assert.deepEqual(new Set(await plaintextsOf(others('associated_data'))), new Set(['']))
      assert.deepEqual(
        await plaintextsOf(good.map(({ associated_data: _, ...item }) => item)),
        items.map(({ plaintext }, n) => (hasData(n) ? '' : plaintext)),
      )
      if (kind !== 'plain') assert.deepEqual(new Set(await plaintextsOf(others('context'))), new Set(['']))
    })
  }
}

test('equal items of a split batch have equal ciphertexts with a convergent key', async () => {
  const { client } = mountTransit(new MemoryView(), undefined, threadLike(4))
  await client.write('keys/k', flagsOf('convergent'))
  const batch_input = Array.from({ length: COUNT }, () => ({ plaintext: base64('same'), context }))
  const { data } = await client.write('encrypt/k', { batch_input })
  assert.equal(new Set(data.batch_results.map(({ ciphertext }: { ciphertext: string }) => ciphertext)).size, 1)
})

test('RSA batches are sealed in parts too', async () => {
  const jobs: string[] = []
  const { client } = mountTransit(new MemoryView(), undefined, threadLike(2, jobs))
  await client.write('keys/k', { type: 'rsa-2048' })
  jobs.splice(0)
  const batch_input = Array.from({ length: 512 }, (_, n) => ({ plaintext: base64(`${n}`) }))
  const { data } = await client.write('encrypt/k', { batch_input })
  assert.deepEqual(jobs, ['seal-many'])
  const { data: opened } = await client.write('decrypt/k', { batch_input: data.batch_results })
  assert.deepEqual(
    opened.batch_results.map(({ plaintext }: { plaintext: string }) => plaintext),
    batch_input.map(({ plaintext }) => plaintext),
  )
})

const NOT_SPLIT = [
  { name: 'few items', items: 500, bytes: 10 },
  { name: 'one long item', items: 1, bytes: 2_000_000 },
]
for (const { name, items, bytes } of NOT_SPLIT) {
  test(`a batch of ${name} is not split`, async () => {
    const jobs: string[] = []
    const { client } = mountTransit(new MemoryView(), undefined, threadLike(2, jobs))
    await client.write('keys/k')
    const batch_input = Array.from({ length: items }, () => ({ plaintext: base64(Buffer.alloc(bytes)) }))
    assert.equal((await client.write('encrypt/k', { batch_input })).status, 200)
    assert.deepEqual(jobs, [])
  })
}

test('batches that wait for each other are done in one piece, and one that is alone is split', async () => {
  const jobs: string[] = []
  const slow = threadLike(2, jobs)
  const { client } = mountTransit(new MemoryView(), undefined, slow)
  await client.write('keys/k')
  const batch_input = Array.from({ length: COUNT }, (_, n) => ({ plaintext: base64(`${n}`) }))
  const together = await Promise.all([1, 2, 3].map(() => client.write('encrypt/k', { batch_input })))
  assert.deepEqual([together.map(({ status }) => status), jobs, slow.open()], [[200, 200, 200], [], 0])
  await client.write('encrypt/k', { batch_input })
  assert.deepEqual([jobs, slow.open()], [['seal-many'], 0])
})

test('few items that are long together are split', async () => {
  const jobs: string[] = []
  const { client } = mountTransit(new MemoryView(), undefined, threadLike(2, jobs))
  await client.write('keys/k')
  const batch_input = Array.from({ length: 4 }, () => ({ plaintext: base64(Buffer.alloc(400_000)) }))
  assert.equal((await client.write('encrypt/k', { batch_input })).status, 200)
  assert.deepEqual(jobs, ['seal-many'])
})

test('where a part fails the request fails, and the split ends', async () => {
  const broken = threadLike(2)
  const slow: SlowWork = { ...broken, run: (job: AnyJob) => Promise.reject(new Error(`${job.name} died`)) }
  const { client } = mountTransit(new MemoryView(), undefined, slow)
  await client.write('keys/k')
  const batch_input = Array.from({ length: COUNT }, () => ({ plaintext: base64('x') }))
  await assert.rejects(client.write('encrypt/k', { batch_input }), /seal-many died/)
  assert.equal(broken.open(), 0)
})

test('P-42: a very large batch goes through in slices, and others have their turns between them', async () => {
  const jobs: string[] = []
  const cloning = threadLike(4, jobs)
  let turns = 0
  const run: SlowWork['run'] = async (job, input, moved) => {
    await new Promise((resolve) => setImmediate(resolve))
    turns += 1
    return cloning.run(job, input, moved)
  }
  const { client } = mountTransit(new MemoryView(), undefined, { ...cloning, run })
  await client.write('keys/k')
  const batch_input = Array.from({ length: 10_000 }, (_, n) => ({
    plaintext: n % 1_000 === 3 ? '!' : base64(`${n}`),
    reference: `item ${n}`,
  }))
  const { data, status } = await client.write('encrypt/k', { batch_input })
  assert.deepEqual([status, jobs.length, turns], [400, 10, 10])
  const results = data.batch_results as { reference: string; ciphertext?: string; error?: string }[]
  assert.ok(
    results.every(
      ({ reference, error }, n) => reference === `item ${n}` && (error !== undefined) === (n % 1_000 === 3),
    ),
  )
  const items = results.filter(({ ciphertext }) => ciphertext !== undefined)
  const opened = (await client.write('decrypt/k', { batch_input: items })).data.batch_results
  assert.ok(
    opened.every((one: { plaintext: string; reference: string }) => one.plaintext === base64(one.reference.slice(5))),
  )
})

const REFUSED = [
  { path: 'encrypt/k', item: { plaintext: '!' } },
  { path: 'decrypt/k', item: { ciphertext: 'vault:v1:!' } },
  { path: 'rewrap/k', item: { ciphertext: 'vault:v1:!' } },
]
for (const { path, item } of REFUSED) {
  test(`P-42: others have their turns while every item of a large batch is refused, ${path}`, async () => {
    const { world, sleeps } = hurriedWorld()
    const { client } = mountTransit(new MemoryView(), undefined, undefined, { world })
    await client.write('keys/k')
    const before = sleeps()
    const { status, data } = await client.write(path, { batch_input: Array.from({ length: 30_000 }, () => item) })
    assert.deepEqual([status, data.batch_results.length], [400, 30_000])
    assert.ok(sleeps() - before >= 3, `${sleeps() - before} turns`)
  })
}
