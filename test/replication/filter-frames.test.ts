// Invariant I9 on the wire: from the moment that a filter holds, no frame of the primary has a key, a value, a leaf, a
// digest, an id or a name of what is filtered. Frames are read before they are enciphered. What is looked for comes
// from the log and the tree of the primary; each test shows too that such bytes do go out of what is not filtered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader } from '../../src/replication/protocol/frames.ts'
import { decodeMessage, encodeMessage, type Message, mostOf } from '../../src/replication/protocol/messages.ts'
import { filterKeyOf } from '../../src/replication/set/records.ts'
import { HiddenBytes } from '../fixtures/hidden-bytes.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

/** All that is to be hidden has this in its path. */
const NAME = 'zurich'
const DENIED = { mode: 'deny', paths: ['zurich-keys', 'auth/zurich-people', 'zurich-team'] }
const FILTER = 'sys/replication/performance/primary/paths-filter/two'
const ALL = 1_000_000

type Sent = { readonly from: string; readonly frame: Buffer; readonly message: Message }

/** Frames that clusters sent since the last look. */
class Wire {
  #sent: Sent[] = []

  constructor(servers: ReplicatedServers) {
    servers.onFrame = (from, frame) => {
      // No message of these tests has a second frame.
      const [raw] = new FrameReader(mostOf).push(frame)
      this.#sent.push({ from, frame, message: decodeMessage(raw ?? assert.fail('a frame is a message')) })
    }
  }

  take(from = 'one'): readonly Sent[] {
    const sent = this.#sent.filter((each) => each.from === from)
    this.#sent = []
    return sent
  }
}

const kindsOf = (sent: readonly Sent[]): ReadonlySet<string> => new Set(sent.map(({ message }) => message.kind))

async function idOf(
  primary: ReplicatedServer,
  path: string,
  name: 'uuid' | 'id' | 'accessor' = 'uuid',
): Promise<string> {
  const { body } = await primary.must('GET', path)
  return String((body.data as Record<string, unknown>)[name])
}

/** What is open, and what will be hidden: a mount, a login method, and a namespace with mounts and identities. */
async function furnish(primary: ReplicatedServer): Promise<void> {
  for (const path of ['open', 'zurich-keys']) {
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await primary.must('POST', `${path}/keys/k`)
  }
  await primary.must('POST', 'sys/auth/zurich-people', { type: 'userpass' })
  await primary.must('POST', 'auth/zurich-people/users/ann', { password: 'x' })
  await primary.must('POST', 'auth/zurich-people/login/ann', { password: 'x' }, '')
  await primary.must('POST', 'sys/namespaces/zurich-team')
  await primary.must('POST', 'zurich-team/sys/mounts/keys', { type: 'transit' })
  await primary.must('POST', 'zurich-team/keys/keys/k')
  await primary.must('POST', 'zurich-team/sys/auth/people', { type: 'userpass' })
  await primary.must('POST', 'zurich-team/auth/people/users/ann', { password: 'x' })
  await primary.must('POST', 'zurich-team/auth/people/login/ann', { password: 'x' }, '')
  await people(primary, 'staff')
}

/** An entity and groups of the namespace, with aliases at its login method, and memberships. */
async function people(primary: ReplicatedServer, name: string): Promise<void> {
  const accessor = await idOf(primary, 'zurich-team/sys/auth/people', 'accessor')
  const made = async (what: string, given: object) =>
    String((await primary.must('POST', `zurich-team/identity/${what}`, given)).body.data?.id)
  const entity = await made('entity', { name: `${NAME}-${name}`, metadata: { of: NAME } })
  await made('entity-alias', { name: `${NAME}-${name}`, canonical_id: entity, mount_accessor: accessor })
  const inner = await made('group', { name: `${NAME}-${name}`, member_entity_ids: [entity], metadata: { of: NAME } })
  await made('group', { name: `${NAME}-${name}-outer`, member_group_ids: [inner] })
  const outside = await made('group', { name: `${NAME}-${name}-outside`, type: 'external' })
  await made('group-alias', { name: `${NAME}-${name}`, canonical_id: outside, mount_accessor: accessor })
}

/** What of it is found in frames is a leak. */
async function hiddenOf(primary: ReplicatedServer): Promise<HiddenBytes> {
  const hidden = new HiddenBytes()
  const mounts = ['sys/mounts/zurich-keys', 'sys/auth/zurich-people']
  const within = ['zurich-team/sys/mounts/keys', 'zurich-team/sys/auth/people']
  for (const path of [...mounts, ...within]) hidden.hide({ mounts: [await idOf(primary, path)] })
  const team = await idOf(primary, 'sys/namespaces/zurich-team', 'id')
  const accessor = await idOf(primary, 'zurich-team/sys/auth/people', 'accessor')
  hidden.hide({ namespaces: [[team, 'root/zurich-team']], texts: [NAME, accessor] })
  await hidden.look(primary.server.store)
  return hidden
}

/** Writes of each kind to what is hidden, none of which a secondary may notice. */
async function live(primary: ReplicatedServer, hidden: HiddenBytes, round: number): Promise<void> {
  await primary.must('POST', `zurich-keys/keys/made-${round}`)
  await primary.must('POST', 'zurich-keys/keys/k/rotate')
  await primary.must('POST', 'sys/mounts/zurich-keys/tune', { description: `${NAME} ${round}` })
  await primary.must('POST', 'auth/zurich-people/users/bob', { password: `x${round}` })
  await primary.must('POST', 'auth/zurich-people/login/bob', { password: `x${round}` }, '')
  await primary.must('POST', `zurich-team/sys/mounts/more-${round}`, { type: 'transit' })
  await primary.must('POST', `zurich-team/sys/namespaces/inner-${round}`)
  await primary.must('POST', `zurich-team/sys/policies/acl/p${round}`, { policy: 'path "a" {}' })
  const inner = await idOf(primary, `zurich-team/sys/namespaces/inner-${round}`, 'id')
  const team = await idOf(primary, 'sys/namespaces/zurich-team', 'id')
  const more = await idOf(primary, `zurich-team/sys/mounts/more-${round}`)
  hidden.hide({ mounts: [more], namespaces: [[inner, `${team}/inner-${round}`]] })
  await people(primary, `${round}`)
  await primary.must('POST', `zurich-team/identity/entity/name/${NAME}-staff`, { metadata: { of: `${round}` } })
  await primary.must('DELETE', `zurich-team/identity/group/name/${NAME}-${round}-outer`)
  await primary.must('DELETE', `zurich-team/identity/entity/name/${NAME}-${round}`)
  await primary.must('POST', 'zurich-team/auth/people/login/ann', { password: 'x' }, '')
  await primary.must('DELETE', `zurich-team/sys/mounts/more-${round}`)
  await primary.must('DELETE', `zurich-team/sys/namespaces/inner-${round}`)
  await primary.must('POST', 'open/keys/k/rotate')
  await hidden.look(primary.server.store)
}

/** Fails if something hidden was sent, and unless what is open was. */
function requireHidden(sent: readonly Sent[], hidden: HiddenBytes, open: HiddenBytes): void {
  const leaks = sent.flatMap(({ frame, message }) => hidden.in(frame).map((what) => `${message.kind}: ${what}`))
  assert.deepEqual(leaks, [])
  assert.ok(
    sent.some(({ frame }) => open.in(frame).length > 0),
    'what is open is sent',
  )
}

async function openOf(primary: ReplicatedServer): Promise<HiddenBytes> {
  const open = new HiddenBytes()
  open.hide({ mounts: [await idOf(primary, 'sys/mounts/open')] })
  await open.look(primary.server.store)
  return open
}

/** Two clusters that are level, the first with what will be hidden. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const wire = new Wire(servers)
  await furnish(primary)
  const level = async () => {
    await servers.time.pass(2_000)
    await servers.level(primary, secondary, 60_000, 'performance')
    for (const bytes of [hidden, open]) await bytes.look(primary.server.store)
  }
  const [hidden, open] = [await hiddenOf(primary), await openOf(primary)]
  await level()
  // It is what the secondary is sent without a filter: so what is looked for can be found.
  const before = wire.take().flatMap(({ frame }) => hidden.in(frame))
  for (const kind of ['value', 'leaf', '"'])
    assert.ok(
      before.some((what) => what.startsWith(kind)),
      kind,
    )
  const filter = async (body: object) => {
    await primary.must('POST', FILTER, body)
    await servers.time.pass(2_000)
  }
  return { servers, primary, secondary, wire, level, hidden, open, filter }
}

test('T81: a filter that was there before the secondary: it is sent nothing of the rest', async () => {
  const servers = new ReplicatedServers(1)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  const wire = new Wire(servers)
  await furnish(primary)
  await servers.enable(primary, 'performance')
  const { body } = await secondary.must('POST', 'sys/replication/performance/secondary/generate-public-key')
  const key = { secondary_public_key: body.data?.secondary_public_key }
  const token = await servers.token(primary, 'two', key, 'performance')
  await primary.must('POST', FILTER, DENIED)
  await secondary.must('POST', 'sys/replication/performance/secondary/enable', { token })
  await servers.level(primary, secondary, 60_000, 'performance')
  const [hidden, open] = [await hiddenOf(primary), await openOf(primary)]
  const copied = wire.take()
  assert.ok(kindsOf(copied).has('piece'))
  requireHidden(copied, hidden, open)
  await live(primary, hidden, 1)
  await servers.level(primary, secondary, 60_000, 'performance')
  requireHidden(wire.take(), hidden, await openOf(primary))
})

test('T81: a filter that comes while much is written: nothing of the rest goes behind its place', async () => {
  const { servers, primary, wire, level, hidden, open } = await started(2)
  await primary.must('POST', 'sys/mounts/crossing', { type: 'transit' })
  await primary.must('POST', 'crossing/keys/k')
  await level()
  wire.take()
  const write = (each: number) =>
    ['open', 'zurich-keys', 'zurich-team/keys'].map((path) =>
      primary.server.call('POST', `${path}/keys/load-${each}`, {}, undefined),
    )
  const calls = []
  for (let each = 0; each < 20; each++) {
    calls.push(...write(each))
    // Some go out before the filter is asked for, and some are on their way then.
    if (each === 10) await servers.time.until(Promise.all(calls))
  }
  calls.push(primary.server.call('POST', FILTER, DENIED, undefined))
  for (let each = 20; each < 40; each++) calls.push(...write(each))
  const answers = await servers.time.until(Promise.all(calls))
  assert.deepEqual(
    answers.filter(({ status }) => status >= 300),
    [],
  )
  await level()
  const changes = await primary.server.store.changesSince(0, ALL)
  const filtered = changes.find(({ operations }) => operations.some(({ key }) => key === filterKeyOf('two')))
  const filteredAt = filtered?.index ?? assert.fail('the log has the filter')
  const sent = wire.take()
  const told = sent.findIndex(({ message }) => message.kind === 'reach')
  assert.ok(told > 0 && told < sent.length - 1, 'it was told in the middle')
  requireHidden(sent.slice(told), hidden, open)
  for (const { frame } of sent.slice(0, told)) assert.deepEqual(hidden.in(frame, filteredAt), [])
  // It goes to where the filter is, so that nothing of it may go out any more.
  hidden.hide({ mounts: [await idOf(primary, 'sys/mounts/crossing')] })
  await primary.must('POST', 'sys/remount', { from: 'crossing', to: 'zurich-team/crossing' })
  await primary.must('POST', 'zurich-team/crossing/keys/k/rotate')
  await live(primary, hidden, 1)
  await level()
  requireHidden(wire.take(), hidden, open)
})

test('T81: what is made, moved, tuned and removed outside of an allow list is not noticed', async () => {
  const { primary, secondary, wire, level, hidden, open, filter } = await started(3)
  await filter({ mode: 'allow', paths: ['open'] })
  wire.take()
  await primary.must('POST', 'sys/mounts/zurich-fresh', { type: 'transit' })
  hidden.hide({ mounts: [await idOf(primary, 'sys/mounts/zurich-fresh')] })
  await primary.must('POST', 'zurich-fresh/keys/k')
  await primary.must('POST', 'sys/remount', { from: 'zurich-fresh', to: 'zurich-other' })
  await primary.must('POST', 'sys/remount', { from: 'zurich-other', to: 'zurich-team/moved' })
  await primary.must('POST', 'zurich-team/moved/keys/k/rotate')
  await primary.must('DELETE', 'zurich-team/sys/mounts/moved')
  await primary.must('POST', 'sys/namespaces/zurich-new')
  await primary.must('POST', 'zurich-new/sys/mounts/keys', { type: 'transit' })
  const id = await idOf(primary, 'sys/namespaces/zurich-new', 'id')
  hidden.hide({ mounts: [await idOf(primary, 'zurich-new/sys/mounts/keys')], namespaces: [[id, 'root/zurich-new']] })
  await primary.must('DELETE', 'sys/namespaces/zurich-new')
  await live(primary, hidden, 1)
  await level()
  requireHidden(wire.take(), hidden, open)
  // What its own client asks for is handed over, or is not there.
  for (const path of ['zurich-keys/keys/k', 'zurich-team/sys/mounts', 'sys/mounts/zurich-keys', 'sys/auth'])
    await secondary.call('GET', path)
  for (const path of ['zurich-keys/keys/k/rotate', 'zurich-keys/keys/new', 'zurich-team/keys/keys/new'])
    assert.equal((await secondary.call('POST', path, {})).status, 404, path)
  await secondary.call('LIST', 'sys/namespaces')
  await primary.must('POST', 'open/keys/k/rotate')
  await level()
  requireHidden(wire.take(), hidden, open)
})

test('T81: a comparison of trees shows nothing of the rest, neither entries nor digests', async () => {
  const { servers, primary, secondary, wire, level, hidden, open, filter } = await started(4)
  const compared = async (meanwhile: () => Promise<unknown>): Promise<void> => {
    servers.cut(primary, secondary)
    await meanwhile()
    await live(primary, hidden, wire.take().length)
    await servers.time.pass(20_000)
    for (const bytes of [hidden, open]) await bytes.look(primary.server.store)
    await primary.forgetLog()
    servers.heal(primary, secondary)
    await servers.time.pass(5_000)
    await primary.must('POST', 'open/keys/k/rotate')
    await level()
    const sent = wire.take()
    for (const kind of ['pages', 'digests', 'listing', 'values']) assert.ok(kindsOf(sent).has(kind), kind)
    requireHidden(sent, hidden, open)
  }
  await compared(() => primary.must('POST', FILTER, DENIED))
  await compared(() => primary.must('POST', 'open/keys/k/rotate'))
  // What was open is hidden too now, and comes back by a comparison, without the rest.
  await filter({ mode: 'deny', paths: [...DENIED.paths, 'open'] })
  wire.take()
  await primary.must('POST', 'open/keys/k/rotate')
  await open.look(primary.server.store)
  await servers.time.pass(2_000)
  assert.deepEqual(
    wire.take().flatMap(({ frame }) => open.in(frame)),
    [],
  )
  await filter(DENIED)
  await level()
  requireHidden(wire.take(), hidden, open)
})

/** What a comparison asks, of all scopes that a primary has. */
async function questionsOf({ server: { store } }: ReplicatedServer, course: number): Promise<readonly Message[]> {
  const pages = (await store.tree()).tree.pages().map(({ class: of, scope, page }) => ({ class: of, scope, page }))
  const buckets = pages.flatMap((page) => Array.from({ length: 256 }, (_, place) => ({ ...page, place })))
  const changes = await store.changesSince(0, ALL)
  const keys = [...new Set(changes.flatMap(({ operations }) => operations.map(({ key }) => key)))]
  const scopes = [...new Set(pages.map(({ class: of, scope }) => `${of} ${scope}`))].map((name) => {
    const [of, scope = ''] = name.split(' ')
    return { class: of === 'local' ? ('local' as const) : ('replicated' as const), scope, root: Buffer.alloc(32, 1) }
  })
  return [
    { kind: 'roots', course, scopes },
    { kind: 'pages-wanted', course, pages },
    { kind: 'buckets-wanted', course, buckets },
    { kind: 'values-wanted', course, keys },
  ]
}

test('T81: a secondary that asks for the rest by name is answered as if it were not there', async () => {
  const { servers, primary, secondary, wire, level, hidden, open, filter } = await started(5)
  await filter(DENIED)
  await level()
  await live(primary, hidden, 1)
  const questions = await questionsOf(primary, 2)
  let asked = 0
  secondary.sends = (frame) => {
    const [raw] = new FrameReader(mostOf).push(frame)
    const message = decodeMessage(raw ?? assert.fail('a frame is a message'))
    // Its first question begins a comparison: what it asks then is answered.
    if (message.kind === 'ack' && asked++ === 0)
      return [frame, ...encodeMessage({ kind: 'compare', course: 1, sentence: 'It asks' })]
    return message.kind === 'roots' ? questions.flatMap(encodeMessage) : [frame]
  }
  wire.take()
  await primary.must('POST', 'open/keys/k/rotate')
  await servers.time.pass(1_000)
  const sent = wire.take()
  for (const kind of ['pages', 'digests', 'listing', 'values']) assert.ok(kindsOf(sent).has(kind), kind)
  requireHidden(sent, hidden, open)
})
