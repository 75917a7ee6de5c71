// The faults of the simulated network. That its links are links is shown by test/conformance/links.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Link, LinkEnd, Links } from '../../src/lib/links.ts'
import { peerAuthority, peerIdentity } from '../fixtures/peer-certificates.ts'
import { simulation } from '../fixtures/simulated-stage.ts'
import { GIVE_UP_MS, type PathSettings } from './network.ts'

const NAME = 's1.dr.rep'
const PORT = 8201
const NOW = Date.parse('2026-06-01')
const set = peerAuthority('set 1')
const server = peerIdentity(set, { dns: [NAME] })
const client = peerIdentity(set)

type Pair = ReturnType<typeof simulation> & {
  readonly s: Link
  readonly p: Link
  readonly accepted: Link[]
  /** What has happened, with its virtual time. */
  readonly events: string[]
  dial(timeoutMs?: number): Promise<Link>
}

/** Hosts p and s, where s has dialed p, and everything that p and s get is written down. */
async function pair(settings: Partial<PathSettings> = {}, seed = 1): Promise<Pair> {
  const world = simulation(NOW, seed)
  const { network, time, run } = world
  for (const [from, to] of [
    ['p', 's'],
    ['s', 'p'],
  ] as const)
    network.set(from, to, settings)
  const accepted: Link[] = []
  const events: string[] = []
  const tell = (what: string): void => void events.push(`${time.clock.nowMs() - NOW} ${what}`)
  const watch = (name: string, link: Link): Link => {
    void link.closed.then((end) => tell(`${name} ${end.how} ${end.why}`))
    void (async () => {
      for await (const bytes of link.incoming) tell(`${name} got ${bytes.length}`)
    })().catch(() => {})
    return link
  }
  await serve(network.host('p').links, (link) => void accepted.push(watch('p', link)))
  const dial = async (timeoutMs = 10_000): Promise<Link> => {
    const as = { identity: client, serverName: NAME, protocol: 'rep-dr/1' }
    return watch('s', await run(network.host('s').links.dial({ host: 'p', port: PORT }, as, { timeoutMs })))
  }
  const s = await dial()
  const p = accepted[0] ?? assert.fail('nothing was accepted')
  events.length = 0
  return { ...world, s, p, accepted, events, dial }
}

async function serve(links: Links, accept: (link: Link) => void): Promise<void> {
  await links.listen({ host: 'p', port: PORT }, { identities: () => server, protocols: ['rep-dr/1'], accept })
}

/** What a link's end is by now. */
async function endOf(link: Link): Promise<LinkEnd | undefined> {
  return Promise.race([link.closed, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
}

const kinds = (events: readonly string[]): string[] => events.map((event) => event.replace(/^\d+ /, ''))

function got(events: readonly string[], name: string): number {
  const sizes = kinds(events).flatMap((event) => (event.startsWith(`${name} got `) ? [Number(event.slice(6))] : []))
  return sizes.reduce((sum, size) => sum + size, 0)
}

test('the same seed makes the same run, another one another', async () => {
  const poor = { delayMs: 40, jitterMs: 30, bytesPerSecond: 200_000, lossPerThousand: 100 }
  const play = async (seed: number): Promise<string[]> => {
    const { s, p, events, time, network } = await pair(poor, seed)
    for (let round = 0; round < 5; round++) {
      await Promise.all([s.send(Buffer.alloc(20_000)), p.send(Buffer.alloc(5_000))])
      if (round === 2) network.cut('s', 'p')
      await time.advance(300)
    }
    network.heal('s', 'p')
    await time.advance(3_000)
    network.reset('p', 's')
    await time.advance(1)
    return events
  }
  const first = await play(7)
  assert.ok(first.length > 20)
  assert.deepEqual(await play(7), first)
  assert.notDeepEqual(await play(8), first)
})

test('bytes take the delay of their direction, and the time that its rate demands', async () => {
  const { s, p, events, time, network } = await pair()
  network.set('s', 'p', { delayMs: 250, bytesPerSecond: 10_060 })
  await p.send(Buffer.alloc(1))
  await s.send(Buffer.alloc(1))
  await time.advance(249)
  assert.deepEqual(kinds(events), ['s got 1'])
  await time.advance(20)
  assert.deepEqual(kinds(events), ['s got 1', 'p got 1'])
  await s.send(Buffer.alloc(50_000))
  await time.advance(4_900)
  assert.ok(got(events, 'p') < 50_001)
  await time.advance(1_000)
  assert.equal(got(events, 'p'), 50_001)
})

test('a loss is a stall: all bytes arrive, later', async () => {
  const { s, events, time, network } = await pair()
  network.set('s', 'p', { lossPerThousand: 1_000 })
  await s.send(Buffer.alloc(1))
  await time.advance(150)
  assert.deepEqual(events, [])
  await time.advance(100)
  assert.deepEqual(kinds(events), ['p got 1'])
})

test('a one-way cut holds one direction, and neither side is told; after it everything arrives', async () => {
  const { s, p, events, time, network } = await pair()
  network.cut('p', 's')
  await s.send(Buffer.from('up'))
  await p.send(Buffer.from('down'))
  await time.advance(60_000)
  assert.deepEqual(kinds(events), ['p got 2'])
  assert.deepEqual([await endOf(s), await endOf(p)], [undefined, undefined])
  network.heal('p', 's')
  await time.advance(10)
  assert.equal(got(events, 's'), 4)
})

test('a cut also holds what is on the way', async () => {
  const { s, events, time, network } = await pair({ delayMs: 100 })
  await s.send(Buffer.from('late'))
  await time.advance(50)
  network.cut('s', 'p')
  await time.advance(1_000)
  assert.deepEqual(events, [])
  network.heal('s', 'p')
  await time.advance(200)
  assert.equal(got(events, 'p'), 4)
})

test('who sends into a cut is held up, and after a quarter of an hour the link is lost there alone', async () => {
  const { s, p, time, network } = await pair()
  network.cut('s', 'p')
  network.cut('p', 's')
  let isHeldUp = true
  const sending = s.send(Buffer.alloc(1 << 20)).catch(() => {})
  void sending.then(() => {
    isHeldUp = false
  })
  await time.advance(GIVE_UP_MS - 1)
  assert.ok(isHeldUp)
  await time.advance(1)
  assert.deepEqual(await endOf(s), { how: 'lost', why: 'ETIMEDOUT' })
  assert.equal(await endOf(p), undefined)
})

test('a side whose link is lost without a word leaves the other believing, until that one sends', async () => {
  const { s, p, time, network } = await pair()
  network.loseAt('s', 'p')
  await time.advance(600_000)
  assert.equal((await endOf(s))?.how, 'lost')
  assert.equal(await endOf(p), undefined)
  await p.send(Buffer.from('heartbeat'))
  await time.advance(10)
  assert.equal((await endOf(p))?.how, 'lost')
})

test('a host without power answers nothing; when it is back, it does not know its links', async () => {
  const { s, time, network, dial } = await pair()
  const links = network.host('p').links
  network.host('p').crash()
  await s.send(Buffer.from('anyone?'))
  await assert.rejects(dial(1_000), { reason: 'timeout' })
  assert.equal(await endOf(s), undefined)
  network.host('p').restart()
  await time.advance(10)
  assert.equal((await endOf(s))?.how, 'lost')
  await assert.rejects(dial(), { reason: 'refused' })
  assert.notEqual(network.host('p').links, links)
  await serve(network.host('p').links, () => {})
  await dial()
})

test('what was on the way from a host without power never arrives', async () => {
  const { p, s, events, time, network } = await pair({ delayMs: 100 })
  await p.send(Buffer.from('last words'))
  await time.advance(50)
  network.host('p').crash()
  await time.advance(1_000)
  network.host('p').restart()
  await time.advance(1_000)
  assert.deepEqual([events, await endOf(s)], [[], undefined])
})

test('a program that is killed loses its links, and its peers learn of it', async () => {
  const { s, time, network, dial } = await pair()
  network.host('p').kill()
  await time.advance(10)
  assert.equal((await endOf(s))?.how, 'lost')
  await assert.rejects(dial(), { reason: 'refused' })
})

test('a reset on the way ends the link on both sides, and a new one is made', async () => {
  const { s, p, network, dial } = await pair()
  network.reset('s', 'p')
  assert.deepEqual([(await endOf(s))?.how, (await endOf(p))?.how], ['lost', 'lost'])
  await dial()
})

test('bytes that are damaged on the way are not read: both sides lose the link', async () => {
  const { s, p, events, time, network } = await pair()
  network.flipNext('s', 'p')
  await s.send(Buffer.from('a message'))
  await time.advance(10)
  assert.deepEqual([(await endOf(s))?.how, (await endOf(p))?.how], ['lost', 'lost'])
  assert.equal(got(events, 'p'), 0)
})

test('a dial that its dialer has given up may stand at the acceptor beside the next one', async () => {
  const { p, accepted, time, network, dial } = await pair()
  // Its certificate arrives; that it is taken does not.
  network.set('s', 'p', { delayMs: 100 })
  const first = assert.rejects(dial(500), { reason: 'timeout' })
  await Promise.race([first, cutWhenAccepted()])
  async function cutWhenAccepted(): Promise<void> {
    while (accepted.length === 1) await new Promise((resolve) => setImmediate(resolve))
    network.cut('p', 's')
    network.cut('s', 'p')
  }
  await first
  assert.equal(accepted.length, 2)
  // What the dialer says at its end is lost in the cut, until that is healed.
  assert.equal(await endOf(accepted[1] ?? p), undefined)
  network.heal('p', 's')
  network.heal('s', 'p')
  await dial()
  assert.equal(accepted.length, 3)
  await time.advance(1_000)
  assert.equal((await endOf(accepted[1] ?? p))?.how, 'lost')
  assert.equal(await endOf(accepted[2] ?? p), undefined)
})

test('a clock that is a day off at one host shows as such', async () => {
  const { network, dial } = await pair()
  network.host('p').clock = { nowMs: () => Date.parse('2120-06-01') }
  await assert.rejects(dial(), { reason: 'clock' })
})
