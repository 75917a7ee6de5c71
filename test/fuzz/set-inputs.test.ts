// What peers show and operators carry between clusters, made by chance from good ones. Whatever comes is read as what
// it is, or is refused in order. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CertificateRefused,
  newAuthority,
  newLeaf,
  newLeafKey,
  publicKeyOf,
  readAuthority,
  readLeaf,
} from '../../src/replication/set/certificates.ts'
import { type PeerName, peerOfUri, type SetName, uriOfPeer } from '../../src/replication/set/peer-name.ts'
import { SeededRandom } from '../conformance/seeded-random.ts'
import { fuzzed } from '../fixtures/fuzzed.ts'
import { mutated } from '../fixtures/mutated.ts'

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000)

const random = new SeededRandom(19)
const making = { random, nowMs: Date.UTC(2026, 10, 24) }
const SET: SetName = { setId: random.uuid(), family: 'dr' }
const NODE: PeerName = { ...SET, role: 'primary', id: 'node' }
const SECONDARY: PeerName = { ...SET, role: 'secondary', id: 'site/b' }
const authority = newAuthority(SET, making)
const leafOf = (peer: PeerName) => newLeaf(authority, peer, publicKeyOf(newLeafKey(random)), making)

/** What an input gives: true where it was taken, false where it was refused as it should be; all else is thrown. */
type Target = (input: Buffer) => boolean

const certificates = [leafOf(NODE), leafOf(SECONDARY), authority.certificate]

function readOrRefused(input: Buffer): boolean {
  try {
    readLeaf(readAuthority(SET, authority.certificate), input)
    return true
  } catch (cause) {
    if (cause instanceof CertificateRefused) return false
    throw cause
  }
}

const TARGETS: readonly { readonly name: string; readonly good: readonly Buffer[]; readonly target: Target }[] = [
  {
    name: 'leaves of a set',
    good: certificates.slice(0, 2),
    target: (input) => {
      const isTaken = readOrRefused(input)
      // Only what the authority signed is taken: by chance no other signature is made.
      assert.equal(
        isTaken,
        certificates.slice(0, 2).some((one) => one.equals(input)),
      )
      return isTaken
    },
  },
  {
    name: 'names of peers',
    good: [NODE, SECONDARY].map((peer) => Buffer.from(uriOfPeer(peer))),
    target: (input) => {
      const uri = input.toString('latin1')
      const peer = peerOfUri(uri)
      assert.ok(peer === undefined || uriOfPeer(peer) === uri)
      return peer !== undefined
    },
  },
]

for (const { name, good, target } of TARGETS) {
  test(`Q-01 ${INPUTS} inputs made from ${name} are taken or refused`, async (t) => {
    for (const input of good) assert.ok(target(input), 'what the inputs are made from is good')
    await fuzzed(
      t,
      INPUTS,
      (drawn) => ({ base64: mutated(drawn, drawn.pick(good), [...good, ...certificates]).toString('base64') }),
      async ({ base64 }) => target(Buffer.from(base64, 'base64')),
    )
  })
}
