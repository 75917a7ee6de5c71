// What every implementation of links does, real or simulated: called once for each (links.test.ts). D-04, P-53: no
// byte of a peer is passed on before both ends have proved who they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Dialing,
  type DialLimits,
  type Link,
  LinkClosed,
  type LinkEnd,
  LinkFailed,
  type LinkFailure,
  LinkFull,
  type LinkIdentity,
  type Links,
  type Listening,
  type Serving,
} from '../../src/lib/links.ts'
import { type IssuedTo, peerAuthority, peerIdentity } from '../fixtures/peer-certificates.ts'
import { ends } from '../fixtures/until.ts'

/** What answers at a port of the acceptor's host without being a peer. `tls` ends TLS, as a load balancer may. */
export type Foreign = 'silent' | 'http' | 'tls'

/** Two nodes, and the time of each, which stands still but for `pass`. */
export type LinkStage = {
  readonly dialer: Links
  readonly acceptor: Links
  /** Where the acceptor listens, and is reached. */
  readonly host: string
  setClocks(nowMs: { readonly dialer: number; readonly acceptor: number }): void
  pass(ms: number): Promise<void>
  /** Resolves when work is over that needs time to pass in a simulation, and none to speak of here. */
  run<T>(work: Promise<T>): Promise<T>
  foreign(kind: Foreign): Promise<number>
  close(): Promise<void>
}

type Clause = (stage: LinkStage) => Promise<void>

const NAME = 's1.dr.rep'
const PROTOCOL = 'rep-dr/1'
const NOW = Date.parse('2026-06-01')
const DAY_MS = 86_400_000
const TIMEOUT_MS = 5_000
const set = peerAuthority('set 1')
const otherSet = peerAuthority('set 2')
const SERVER: IssuedTo = { dns: [NAME], uris: ['rep://s1/dr/primary/a'], usages: ['server'] }
const CLIENT: IssuedTo = { uris: ['rep://s1/dr/secondary/b'], usages: ['client'] }
const server = peerIdentity(set, SERVER)
const client = peerIdentity(set, CLIENT)

/** A port, and the links that were accepted there. */
type Port = { readonly listening: Listening; readonly links: Link[]; next(): Promise<Link> }

async function listening(stage: LinkStage, serving: Partial<Serving> = {}, port = 0): Promise<Port> {
  const links: Link[] = []
  const wanted: ((link: Link) => void)[] = []
  const found = await stage.acceptor.listen(
    { host: stage.host, port },
    {
      identities: (name) => (name === NAME ? server : undefined),
      protocols: [PROTOCOL],
      accept: (link) => {
        links.push(link)
        wanted.shift()?.(link)
      },
      ...serving,
    },
  )
  return {
    listening: found,
    links,
    next: () => stage.run(new Promise((resolve) => wanted.push(resolve))),
  }
}

function dialing(stage: LinkStage, port: number, as: Partial<Dialing> = {}, limits: DialLimits = {}): Promise<Link> {
  const all = { identity: client, serverName: NAME, protocol: PROTOCOL, ...as }
  return stage.run(stage.dialer.dial({ host: stage.host, port }, all, { timeoutMs: TIMEOUT_MS, ...limits }))
}

async function pair(stage: LinkStage, serving?: Partial<Serving>, limits?: DialLimits): Promise<[Link, Link, Port]> {
  const port = await listening(stage, serving)
  const accepted = port.next()
  const dialed = await dialing(stage, port.listening.port, {}, limits)
  return [dialed, await accepted, port]
}

/** The dial fails for this reason, with a message that names the address; nothing is accepted. */
async function refusedFor(
  reason: LinkFailure,
  { stage, port, as, links = [] }: { stage: LinkStage; port: number; as?: Partial<Dialing>; links?: Link[] },
): Promise<string> {
  const failed = await dialing(stage, port, as).then(
    () => assert.fail(`a link was made, not refused as ${reason}`),
    (cause: unknown) => cause,
  )
  assert.ok(failed instanceof LinkFailed, String(failed))
  assert.equal(failed.reason, reason, failed.message)
  assert.ok(failed.message.startsWith(`${stage.host}:${port} `), failed.message)
  assert.equal(links.length, 0)
  return failed.message
}

/** Reads until so many bytes have come. */
async function read(stage: LinkStage, link: Link, count: number): Promise<Buffer> {
  const reading = async (): Promise<Buffer> => {
    const pieces: Buffer[] = []
    let length = 0
    for await (const piece of link.incoming) {
      pieces.push(piece)
      length += piece.length
      if (length >= count) break
    }
    return Buffer.concat(pieces)
  }
  return stage.run(reading())
}

const readAll = (stage: LinkStage, link: Link): Promise<Buffer> => read(stage, link, Number.POSITIVE_INFINITY)

/** Bytes in which each place differs from its neighbours, so that a piece that moves is seen. */
function patterned(count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at++) bytes[at] = (at * 31 + (at >>> 8) * 7 + (at >>> 16)) & 0xff
  return bytes
}

function throwsClosed(work: Promise<unknown>, how: LinkEnd['how']): Promise<void> {
  return assert.rejects(work, (cause) => cause instanceof LinkClosed && cause.end.how === how)
}

type Sent = 'taken' | 'waits' | 'full'

/** What has become of the promise of `send` by now. */
async function stateOf(sending: Promise<void>): Promise<Sent> {
  let state: Sent = 'waits'
  sending.then(
    () => {
      state = 'taken'
    },
    (cause: unknown) => {
      // A link may close later, when this was long answered.
      if (cause instanceof LinkFull) state = 'full'
    },
  )
  await Promise.resolve()
  await Promise.resolve()
  return state
}

/** Sends until no more is taken. Returns how much was, and what the last sender waits for. */
async function fill(link: Link, piece: Buffer): Promise<{ room: Promise<void>; sent: number }> {
  let room = Promise.resolve()
  for (let sent = 0; ; sent += piece.length) {
    const sending = link.send(piece)
    if ((await stateOf(sending)) === 'full') return { room, sent }
    room = sending
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const BYTES: readonly (readonly [string, Clause])[] = [
  [
    'a link tells both ends who the other one is',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      const common = { serverName: NAME, protocol: PROTOCOL }
      assert.deepEqual(dialed.peer, {
        ...common,
        certificate: server.certificate,
        names: SERVER.uris,
        address: stage.host,
      })
      const { address, ...rest } = accepted.peer
      assert.deepEqual(rest, { ...common, certificate: client.certificate, names: CLIENT.uris })
      assert.ok(address.length > 0)
    },
  ],
  [
    'bytes arrive whole and in order, both ways at once',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      const bytes = patterned(3_000_000)
      const sendAll = async (link: Link): Promise<void> => {
        for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 13) % 200_000 || 1)
          await link.send(bytes.subarray(at, at + size))
      }
      const both = [dialed, accepted]
      const [one, other] = await Promise.all([
        ...both.map((link) => read(stage, link, bytes.length)),
        ...both.map((link) => stage.run(sendAll(link))),
      ])
      assert.ok(one?.equals(bytes) && other?.equals(bytes))
      dialed.end()
      for (const link of [accepted, dialed]) assert.equal((await readAll(stage, link)).length, 0)
      for (const link of both) assert.equal((await stage.run(link.closed)).how, 'ended')
    },
  ],
  [
    'a reader that stops loses nothing, and may go on',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      await dialed.send(Buffer.from('one'))
      assert.equal(String(await read(stage, accepted, 3)), 'one')
      await dialed.send(Buffer.from('two'))
      dialed.end()
      assert.equal(String(await readAll(stage, accepted)), 'two')
    },
  ],
  [
    'the acceptor may speak first',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      await accepted.send(Buffer.from('hello'))
      assert.equal(String(await read(stage, dialed, 5)), 'hello')
    },
  ],
  [
    'many links at once do not mix',
    async (stage) => {
      const port = await listening(stage)
      const dials = await Promise.all(Array.from({ length: 12 }, () => dialing(stage, port.listening.port)))
      await Promise.all(dials.map((link, index) => link.send(Buffer.from(`link ${index}`))))
      for (const link of dials) link.end()
      const texts = await Promise.all(port.links.map(async (link) => String(await readAll(stage, link))))
      assert.deepEqual(texts.toSorted(), dials.map((_, index) => `link ${index}`).toSorted())
    },
  ],
  [
    'a peer that does not read holds up who waits, and little memory of who does not',
    async (stage) => {
      const most = 1 << 20
      const [dialed, accepted] = await pair(stage, {}, { mostUnsentBytes: most })
      const piece = patterned(64 << 10)
      let { room, sent } = await fill(dialed, piece)
      assert.ok(sent <= 2 * most && sent > most - piece.length, `${sent} bytes`)
      // The network takes some. It has all it takes when nothing moves any more, or at the latest at the bound.
      for (let idle = 0; idle < 100 && sent < 64 * most; idle++) {
        await turn()
        if ((await stateOf(room)) !== 'taken') continue
        const more = await fill(dialed, piece)
        sent += more.sent
        room = more.room
        idle = 0
      }
      assert.ok(sent < 64 * most, `${sent} bytes were taken that were not read`)
      const got = await read(stage, accepted, sent)
      assert.equal(got.length, sent)
      await stage.run(room)
      await stage.run(dialed.send(piece))
    },
  ],
]

const ENDS: readonly (readonly [string, Clause])[] = [
  [
    'what was sent before the end arrives; the other side may still answer',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      const bytes = patterned(700_000)
      const sent = dialed.send(bytes)
      dialed.end()
      await assert.rejects(dialed.send(bytes), LinkClosed)
      const answered = accepted.send(Buffer.from('answer'))
      assert.ok((await readAll(stage, accepted)).equals(bytes))
      await stage.run(Promise.all([sent, answered]))
      assert.equal(String(await readAll(stage, dialed)), 'answer')
      for (const link of [dialed, accepted]) assert.equal((await stage.run(link.closed)).how, 'ended')
      await assert.rejects(accepted.send(bytes), LinkClosed)
    },
  ],
  [
    'a link that one side destroys is lost for the other, also for who reads or waits to send',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      const { room } = await fill(dialed, patterned(256 << 10))
      const reading = throwsClosed(readAll(stage, dialed), 'lost')
      const waiting = throwsClosed(stage.run(room), 'lost')
      accepted.destroy('enough')
      accepted.destroy('and again')
      assert.deepEqual(await stage.run(accepted.closed), { how: 'destroyed', why: 'enough' })
      await Promise.all([reading, waiting])
      assert.equal((await stage.run(dialed.closed)).how, 'lost')
      for (const link of [dialed, accepted]) {
        await assert.rejects(link.send(Buffer.from('x')), LinkClosed)
        await assert.rejects(readAll(stage, link), LinkClosed)
        link.end()
        link.destroy('late')
      }
      assert.equal((await dialed.closed).how, 'lost')
    },
  ],
  [
    'a link that is destroyed at once tells who reads it',
    async (stage) => {
      const [dialed, accepted] = await pair(stage)
      const reading = throwsClosed(readAll(stage, dialed), 'destroyed')
      dialed.destroy('over')
      await reading
      await throwsClosed(readAll(stage, accepted), 'lost')
    },
  ],
  [
    'a link may be destroyed as soon as it is there, by either side',
    async (stage) => {
      const port = await listening(stage, { accept: (link) => link.destroy('not you') })
      for (let round = 0; round < 20; round++) {
        // The acceptor may be quicker than its word that it accepts.
        const link = await dialing(stage, port.listening.port).catch((cause: unknown) => cause)
        if (link instanceof LinkFailed) assert.equal(link.reason, 'rejected')
        else assert.equal((await stage.run((link as Link).closed)).how, 'lost')
      }
      const kept = await listening(stage)
      for (let round = 0; round < 20; round++) {
        const accepted = kept.next()
        void dialing(stage, kept.listening.port).then((link) => link.destroy('changed my mind'))
        assert.equal((await stage.run((await accepted).closed)).how, 'lost')
      }
    },
  ],
  [
    'closing a port frees it, and keeps its links',
    async (stage) => {
      const [dialed, accepted, { listening: port }] = await pair(stage)
      await assert.rejects(listening(stage, {}, port.port), { code: 'EADDRINUSE' })
      port.close()
      port.close()
      await refusedFor('refused', { stage, port: port.port })
      await dialed.send(Buffer.from('still here'))
      assert.equal(String(await read(stage, accepted, 10)), 'still here')
      const again = await listening(stage, {}, port.port)
      await dialing(stage, again.listening.port)
    },
  ],
]

const PROOFS: readonly (readonly [string, Clause])[] = [
  [
    'a dial where nothing listens is refused',
    async (stage) => {
      const port = await listening(stage)
      port.listening.close()
      await refusedFor('refused', { stage, port: port.listening.port })
    },
  ],
  [
    'a name, or a protocol, that is not served is rejected',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      await refusedFor('rejected', { stage, port: at.port, as: { serverName: 's2.dr.rep' }, links })
      await refusedFor('rejected', { stage, port: at.port, as: { protocol: 'rep-dr/2' }, links })
    },
  ],
  [
    'a certificate of another set is rejected by the acceptor, and so is one for another use',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      const strangers = [
        peerIdentity(otherSet, { ...CLIENT, trusted: [set] }),
        peerIdentity(set, { ...CLIENT, usages: ['server'] }),
        peerIdentity(set, { ...CLIENT, signedBy: otherSet.key }),
        peerIdentity(set, { ...CLIENT, isAuthority: true }),
      ]
      for (const identity of strangers) await refusedFor('rejected', { stage, port: at.port, as: { identity }, links })
    },
  ],
  [
    'an acceptor whose certificate is of another set, for another name or another use is not trusted',
    async (stage) => {
      const pretenders: [LinkIdentity, RegExp][] = [
        [peerIdentity(otherSet, { ...SERVER, trusted: [set] }), /not from the authority of this set/],
        [peerIdentity(set, { ...SERVER, dns: ['s2.dr.rep'] }), /for another name than "s1\.dr\.rep"/],
        [peerIdentity(set, CLIENT), /for another use/],
      ]
      for (const [identity, told] of pretenders) {
        const { listening: at } = await listening(stage, { identities: () => identity })
        assert.match(await refusedFor('untrusted', { stage, port: at.port }), told)
      }
    },
  ],
  [
    'a key that is not that of the certificate makes no link',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      const identity = { ...client, key: server.key }
      await assert.rejects(dialing(stage, at.port, { identity }))
      assert.equal(links.length, 0)
    },
  ],
  [
    'each name has an identity and an authority of its own, and the present one counts',
    async (stage) => {
      const identities = new Map([
        [NAME, server],
        ['s2.dr.rep', peerIdentity(otherSet, { dns: ['s2.dr.rep'], uris: ['rep://s2/dr/primary/a'] })],
      ])
      const { listening: at, links } = await listening(stage, { identities: (name) => identities.get(name) })
      const ofOther = peerIdentity(otherSet, { uris: ['rep://s2/dr/secondary/b'] })
      const link = await dialing(stage, at.port, { identity: ofOther, serverName: 's2.dr.rep' })
      assert.deepEqual(link.peer.names, ['rep://s2/dr/primary/a'])
      const crossed = peerIdentity(otherSet, { ...CLIENT, trusted: [set] })
      await refusedFor('rejected', { stage, port: at.port, as: { identity: crossed }, links: links.slice(1) })
      identities.delete(NAME)
      await refusedFor('rejected', { stage, port: at.port, links: links.slice(1) })
      identities.set(NAME, peerIdentity(set, { ...SERVER, uris: ['rep://s1/dr/primary/new'] }))
      assert.deepEqual((await dialing(stage, at.port)).peer.names, ['rep://s1/dr/primary/new'])
    },
  ],
  [
    'while one authority follows another both are trusted, then the new one alone',
    async (stage) => {
      const next = peerAuthority('set 1')
      let acceptor = peerIdentity(set, { ...SERVER, trusted: [set, next] })
      const { listening: at, links } = await listening(stage, { identities: () => acceptor })
      const renewed = peerIdentity(next, { ...CLIENT, trusted: [set, next] })
      await dialing(stage, at.port, { identity: renewed })
      await dialing(stage, at.port)
      acceptor = peerIdentity(next, SERVER)
      await dialing(stage, at.port, { identity: renewed })
      assert.match(await refusedFor('untrusted', { stage, port: at.port, links: links.slice(3) }), /authority/)
      const late = peerIdentity(set, { ...CLIENT, trusted: [next] })
      await refusedFor('rejected', { stage, port: at.port, as: { identity: late }, links: links.slice(3) })
    },
  ],
]

const CLOCKS: readonly (readonly [string, Clause])[] = [
  [
    'a dialer whose certificate has expired by its own clock does not dial, and says since when',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      const identity = peerIdentity(set, { ...CLIENT, to: '2026-05-25' })
      const told = await refusedFor('clock', { stage, port: at.port, as: { identity }, links })
      assert.match(told, /the certificate of this node expired 7 days ago/)
    },
  ],
  [
    'a dialer says by how much its clock is before the certificate of the acceptor',
    async (stage) => {
      const identities = () => peerIdentity(set, { ...SERVER, from: '2026-06-03' })
      const { listening: at, links } = await listening(stage, { identities })
      const told = await refusedFor('clock', { stage, port: at.port, links })
      assert.match(told, /showed a certificate that is valid only in 2 days, by the clock here/)
    },
  ],
  [
    'an acceptor tells a dialer of its set that the clocks differ, and by how much',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      const young = peerIdentity(set, { ...CLIENT, from: '2026-05-31' })
      stage.setClocks({ dialer: NOW, acceptor: NOW - 3 * DAY_MS })
      const behind = await refusedFor('clock', { stage, port: at.port, as: { identity: young }, links })
      assert.match(behind, /by its clock, which is 3 days behind the clock here/)
      const old = peerIdentity(set, { ...CLIENT, to: '2026-06-02' })
      stage.setClocks({ dialer: NOW, acceptor: NOW + 2 * DAY_MS })
      const ahead = await refusedFor('clock', { stage, port: at.port, as: { identity: old }, links })
      assert.match(ahead, /by its clock, which is 2 days ahead of the clock here/)
    },
  ],
  [
    'an acceptor tells no time to others, though their certificates have expired too',
    async (stage) => {
      const { listening: at, links } = await listening(stage)
      stage.setClocks({ dialer: NOW, acceptor: NOW + 2 * DAY_MS })
      const to = { ...CLIENT, to: '2026-06-02', trusted: [set] }
      const strangers = [peerIdentity(otherSet, to), peerIdentity(set, { ...to, signedBy: otherSet.key })]
      for (const identity of strangers) await refusedFor('rejected', { stage, port: at.port, as: { identity }, links })
    },
  ],
]

const OTHERS: readonly (readonly [string, Clause])[] = [
  [
    'what takes connections and says nothing times out, at the moment that was given',
    async (stage) => {
      const port = await stage.foreign('silent')
      let isOver = false
      const as = { identity: client, serverName: NAME, protocol: PROTOCOL }
      const dial = stage.dialer.dial({ host: stage.host, port }, as, { timeoutMs: TIMEOUT_MS }).finally(() => {
        isOver = true
      })
      const failed = dial.catch((cause: unknown) => cause)
      await stage.pass(TIMEOUT_MS - 1)
      assert.equal(isOver, false)
      await stage.pass(1)
      const cause = await ends(failed, 'the dial times out')
      assert.ok(cause instanceof LinkFailed && cause.reason === 'timeout', String(cause))
    },
  ],
  [
    'an HTTP server is told from a peer',
    async (stage) => {
      await refusedFor('foreign', { stage, port: await stage.foreign('http') })
    },
  ],
  [
    'what ends TLS on the way is told from a peer',
    async (stage) => {
      assert.match(await refusedFor('foreign', { stage, port: await stage.foreign('tls') }), /load balancer/)
    },
  ],
  [
    'a name that does not exist cannot be reached',
    async (stage) => {
      const dial = stage.dialer.dial(
        { host: 'no-such-host.invalid', port: 1 },
        { identity: client, serverName: NAME, protocol: PROTOCOL },
      )
      await assert.rejects(stage.run(dial), { name: 'LinkFailed', reason: 'unreachable' })
    },
  ],
]

export function linksConformance(name: string, start: (nowMs: number) => Promise<LinkStage>): void {
  for (const [title, clause] of [...BYTES, ...ENDS, ...PROOFS, ...CLOCKS, ...OTHERS]) {
    test(`links ${name}: ${title}`, async () => {
      const stage = await start(NOW)
      try {
        await clause(stage)
      } finally {
        await stage.close()
      }
    })
  }
}
