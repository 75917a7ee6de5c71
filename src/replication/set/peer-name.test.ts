import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  faultOfPeerId,
  MAX_PEER_ID_BYTES,
  type PeerName,
  peerOfSegment,
  peerOfUri,
  peerSegment,
  REPLICATION_FAMILIES,
  serverNameOf,
  setOfServerName,
  uriOfPeer,
} from './peer-name.ts'

const SET = '7a1c6c1e-0000-4000-8000-000000000001'
const IDS = ['site-b', 'a', '.', '..', 'a/b', 'a?b#c', 'ä€😀', "!~*'()", '100%', '%41', ' two words ', 'x'.repeat(256)]
const peer = (id: string, changed: Partial<PeerName> = {}): PeerName => ({
  setId: SET,
  family: 'dr',
  role: 'secondary',
  id,
  ...changed,
})

test('ids of any text are one segment, and no other text is the same one', () => {
  const segments = IDS.map(peerSegment)
  assert.equal(new Set(segments).size, IDS.length)
  for (const [at, segment] of segments.entries()) {
    assert.match(segment, /^(?:[A-Za-z0-9_-]|%[0-9A-F]{2})+$/)
    assert.equal(peerOfSegment(segment), IDS[at])
  }
  for (const other of ['', 'a.b', '%61', '%e4', '%C3', '%c3%a4', '%2f', 'a b', 'a/b', '%0A', '%', 'x'.repeat(257)])
    assert.equal(peerOfSegment(other), undefined, other)
})

test('an id is refused if it is empty, too long, not well-formed, or has a control character', () => {
  for (const id of IDS) assert.equal(faultOfPeerId(id), undefined, id)
  assert.match(faultOfPeerId('') ?? '', /empty/)
  assert.match(faultOfPeerId('x'.repeat(MAX_PEER_ID_BYTES + 1)) ?? '', /256 bytes/)
  assert.match(faultOfPeerId('€'.repeat(86)) ?? '', /256 bytes/)
  for (const id of ['a\nb', 'a\0', '\u007f', '\u009b', '\ud800']) assert.match(faultOfPeerId(id) ?? '', /character/)
})

test('a peer is read from its URI as it was written, in both families and roles', () => {
  for (const family of REPLICATION_FAMILIES)
    for (const role of ['primary', 'secondary'] as const)
      for (const id of IDS) {
        const name = peer(id, { family, role })
        assert.deepEqual(peerOfUri(uriOfPeer(name)), name)
      }
  assert.equal(uriOfPeer(peer('site b.1')), `rep://${SET}/dr/secondary/site%20b%2E1`)
})

test('a URI in any other form names no peer', () => {
  const good = `rep://${SET}/dr/secondary/b`
  assert.ok(peerOfUri(good))
  const bad = [
    `${good}/`,
    `${good}/c`,
    `${good}?x`,
    good.toUpperCase(),
    good.replace('rep', 'REP'),
    good.replace('rep:', 'http:'),
    good.replace('/dr/', '/wr/'),
    good.replace('/dr/', '//dr/'),
    good.replace('secondary', 'standby'),
    good.replace(SET, SET.slice(1)),
    good.replace(SET, SET.replace('7a', '7A')),
    good.replace('/b', '/'),
    good.replace('/b', '/%62'),
    ` ${good}`,
    '',
  ]
  for (const uri of bad) assert.equal(peerOfUri(uri), undefined, uri)
})

test('a server name stands for one set, and other names for none', () => {
  for (const family of REPLICATION_FAMILIES) {
    const name = serverNameOf({ setId: SET, family })
    assert.equal(name, `${SET}.${family}.rep`)
    assert.deepEqual(setOfServerName(name), { setId: SET, family })
    for (const other of [`x.${name}`, `${name}.`, name.toUpperCase(), name.slice(1), name.slice(0, -1)])
      assert.equal(setOfServerName(other), undefined, other)
  }
  for (const name of ['', 'localhost', `${SET}.other.rep`]) assert.equal(setOfServerName(name), undefined)
})
