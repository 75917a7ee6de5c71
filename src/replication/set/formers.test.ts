import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, outcome, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { x25519Key } from '../../crypto/primitives/hpke.ts'
import { newAuthority } from './certificates.ts'
import { changePrimary, demotePrimary, promotePrimary, takeConflict, takeSuccessor } from './changing-hands.ts'
import { dropFormers, type Former, forgetFormers, MAX_FORMERS, readCalled, untoldFormers } from './formers.ts'
import { disableFamily } from './primary-operations.ts'
import { FORMERS_FOLDER, placeNote, readState, setPath } from './records.ts'
import { becomeSecondary, copyIsWhole, type KeptActivation } from './secondary-operations.ts'

const NOBODY = (cause: unknown): void => assert.fail(String(cause))
const historyOf = (name: number): Buffer => Buffer.alloc(16, name)
const text = (history: Buffer): string => history.toString('base64')
const placeIn = (name: number, index = 40) => ({ historyId: historyOf(name), index, chain: Buffer.alloc(16, 99) })

/** A chain of clusters, each of which was promoted in the place of the one before; they have numbers from 1 on. */
class Line {
  readonly clusters: SetCluster[] = []
  /** What each after the first was let in with. */
  readonly kept: KeptActivation[] = []

  static async begin(): Promise<Line> {
    const line = new Line()
    const first = new SetCluster(9_100)
    await first.begin('dr')
    line.clusters.push(first)
    return line
  }

  get last(): SetCluster {
    return this.clusters.at(-1) ?? assert.fail()
  }

  /** A new secondary of the last one: it has what the log brings of former primaries. */
  async join(of = this.last): Promise<{ readonly next: SetCluster; readonly kept: KeptActivation }> {
    const number = this.clusters.length + 1
    const { bundle } = await of.issue('dr', `site-${number}`)
    const receiver = Buffer.alloc(32, number)
    const publicKey = Buffer.from(x25519Key(receiver).publicKey)
    outcome(await of.claim(bundle, publicKey), 'admitted')
    outcome(await of.confirm(bundle, publicKey), 'admitted')
    const next = new SetCluster(9_100 + number)
    const kept = { bundle, receiver }
    await next.run((tx) => becomeSecondary(tx, kept, NOW))
    await next.run((tx) => copyIsWhole(tx, 'dr', NOW))
    for (const [path, value] of of.view.entries) if (path.startsWith(FORMERS_FOLDER)) next.view.plant(path, value)
    return { next, kept }
  }

  async promote(
    next: SetCluster,
    number: number,
    followed?: ReturnType<typeof placeIn>,
    isHalf = false,
  ): Promise<void> {
    const { setId } = (await next.run((tx) => readState(tx, 'dr'))) ?? assert.fail()
    const authority = newAuthority({ setId, family: 'dr' }, next)
    const promotion = { family: 'dr', authority, clusterAddress: '', historyId: historyOf(number), nowMs: NOW } as const
    const place = followed && { ...followed, committedAtMs: NOW, epoch: 1 }
    await next.run((tx) => promotePrimary(tx, { ...promotion, followed: place, isHalf }))
  }

  /** Another one takes the place of the last. */
  async grow(isHalf = false): Promise<SetCluster> {
    const number = this.clusters.length + 1
    const { next, kept } = await this.join()
    await this.promote(next, number, placeIn(number - 1), isHalf)
    this.clusters.push(next)
    this.kept.push(kept)
    return next
  }
}

async function lineOf(length: number): Promise<Line> {
  const line = await Line.begin()
  while (line.clusters.length < length) await line.grow()
  return line
}

async function called(cluster: SetCluster): Promise<readonly Former[]> {
  const { setId } = (await cluster.run((tx) => readState(tx, 'dr'))) ?? assert.fail()
  return cluster.run((tx) => readCalled(tx, setId, NOBODY))
}

/** What the last one of a line tells the first. */
async function tell(line: Line, from: SetCluster, epoch: number, changed: object = {}) {
  const former = (await called(from))[0] ?? assert.fail('there is one to call')
  const first = line.clusters[0] ?? assert.fail()
  const greeting = { family: 'dr', certificate: former.own.certificate, says: former.peer, nowMs: NOW } as const
  const takeover = {
    epoch,
    historyId: text(historyOf(epoch)),
    clusterId: `cluster ${epoch}`,
    apiAddress: '',
    followed: former.followed === undefined ? null : placeNote(former.followed),
    before: former.before.map(text),
    ...changed,
  }
  const { publicKey } = x25519Key(former.receiver)
  return first.run((tx) => takeSuccessor(tx, greeting, publicKey, takeover))
}

test('each primary of a line calls all that were replaced before it, with what it proves that it may', async () => {
  const line = await lineOf(4)
  const formers = await called(line.last)
  assert.deepEqual(
    formers.map(({ record, historyId, followed, before }) => ({
      id: record.id,
      by: text(historyId),
      index: followed?.historyId.equals(historyOf(Number(record.id.at(-1)) - 1)) ? followed.index : 'another log',
      before: before.map(text),
    })),
    [
      { id: 'site-2', by: text(historyOf(2)), index: 40, before: [2, 3].map(historyOf).map(text) },
      { id: 'site-3', by: text(historyOf(3)), index: 40, before: [text(historyOf(3))] },
      { id: 'site-4', by: text(historyOf(4)), index: 40, before: [] },
    ],
  )
  assert.equal(await tell(line, line.last, 4), 'fenced')
  const state = await line.clusters[0]?.run((tx) => readState(tx, 'dr'))
  assert.deepEqual([state?.mode, state?.isFenced, state?.epoch], ['primary', true, 4])
})

test('a former primary takes the next one of a line for no other, and one of another line for one', async () => {
  const line = await lineOf(3)
  const [, second = assert.fail(), third = assert.fail()] = line.clusters
  assert.equal(await tell(line, second, 2), 'fenced')
  assert.equal(await tell(line, third, 3), 'fenced')
  assert.equal(await tell(line, third, 3), 'fenced', 'it may hear so again')
  const late = await tell(line, second, 2)
  assert.ok(typeof late === 'object' && late.refused === 'conflict', 'the second one is no primary any more')
  const other = await tell(line, third, 7, { before: [text(historyOf(5))] })
  assert.ok(typeof other === 'object' && other.refused === 'conflict')
})

test('a former primary that knows is forgotten: by what replaced it, or by its log', async () => {
  const line = await lineOf(4)
  const gone = await line.last.run((tx) => forgetFormers(tx, { replacedBy: historyOf(2) }))
  assert.deepEqual(gone, [text(historyOf(2))])
  // The second one comes: its log began with what replaced the first.
  assert.deepEqual(await line.last.run((tx) => forgetFormers(tx, { logsOf: [historyOf(2)] })), [text(historyOf(3))])
  assert.deepEqual(await line.last.run(untoldFormers), [text(historyOf(4))])
  assert.deepEqual(await line.last.run((tx) => forgetFormers(tx, { logsOf: [historyOf(9)] })), [])
})

test('a fenced cluster goes on calling if it was replaced, and forgets nobody but in a conflict', async () => {
  const line = await lineOf(3)
  await line.last.run((tx) => takeConflict(tx, 'dr'))
  assert.deepEqual(await line.last.run((tx) => forgetFormers(tx, { replacedBy: historyOf(2) })), [])
  assert.equal((await called(line.last)).length, 0, 'it has lost a conflict')
  line.last.view.plant(setPath('dr', 'successor'), Buffer.from('of it'))
  assert.equal((await called(line.last)).length, 2)
  assert.deepEqual(await line.last.run(untoldFormers), [], 'it is no matter of its status')
  assert.equal(await line.last.run((tx) => takeConflict(tx, 'dr')), false)
  assert.equal((await line.last.run((tx) => dropFormers(tx, { replacedBy: historyOf(2) }))).length, 1)
})

test('a demoted cluster that is promoted again calls those that it had to, and its primary of meanwhile', async () => {
  const line = await lineOf(3)
  const [, second = assert.fail(), third = assert.fail()] = line.clusters
  await second.run((tx) => demotePrimary(tx, 'dr', { historyId: historyOf(2), nowMs: NOW }))
  assert.deepEqual(await second.run(untoldFormers), [])
  const { kept } = await line.join(third)
  await second.run((tx) => changePrimary(tx, kept, false))
  await line.promote(second, 4, placeIn(3))
  const before = (await called(second)).map((former) => former.before.map(text))
  // What it has of the first is of before: the third one has replaced it meanwhile.
  assert.deepEqual(before, [[2, 3].map(historyOf).map(text), []])
})

test('of a promotion in the middle of a copy nobody knows what it had of the logs before', async () => {
  const line = await lineOf(2)
  await line.grow(true)
  const indexes = (await called(line.last)).map(({ followed }) => followed?.index)
  assert.deepEqual(indexes, [0, 0])
})

test('half a record, a damaged one and one of another set keep nobody from being promoted', async () => {
  const line = await lineOf(3)
  const { next } = await line.join()
  const path = `${FORMERS_FOLDER}0000000000000002/`
  next.view.plant(`${path}replaced`, Buffer.from('no such record'))
  next.view.remove(`${FORMERS_FOLDER}0000000000000003/leaf-key`)
  await line.promote(next, 4, placeIn(3))
  assert.deepEqual(await next.run(untoldFormers), [text(historyOf(4))])
  assert.equal([...next.view.entries.keys()].filter((each) => each.startsWith(FORMERS_FOLDER)).length, 4)
  const told: unknown[] = []
  next.view.plant(`${FORMERS_FOLDER}0000000000000004/identity`, Buffer.from('no such record'))
  const { setId } = (await next.run((tx) => readState(tx, 'dr'))) ?? assert.fail()
  next.view.runsTwice = false
  assert.deepEqual(await next.run((tx) => readCalled(tx, setId, (cause) => void told.push(cause))), [])
  assert.equal(told.length, 1)
  assert.deepEqual(await next.run((tx) => readCalled(tx, 'another set', NOBODY)), [])
})

test('the oldest of too many is called no more, and who leaves the set calls nobody', async () => {
  const line = await lineOf(MAX_FORMERS + 3)
  const formers = await called(line.last)
  assert.equal(formers.length, MAX_FORMERS)
  assert.equal(formers.at(-1)?.record.id, `site-${MAX_FORMERS + 3}`)
  const { next } = await line.join()
  await next.run((tx) => disableFamily(tx, 'dr', 'secondary/disable'))
  assert.deepEqual([...next.view.entries.keys()], [])
})
