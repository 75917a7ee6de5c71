// What peers show and operators carry between clusters, made by chance from good ones. Whatever comes is read as what
// it is, or is refused in order. `npm run torture:fuzz` runs the long form: FUZZ_INPUTS of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../src/crypto/primitives/secret.ts'
import {
  type ActivationBundle,
  ActivationRefused,
  decodeActivation,
  encodeActivation,
} from '../../src/replication/set/activation-bundle.ts'
import {
  activationText,
  openActivation,
  readActivationToken,
  sealActivation,
  secondaryKeyText,
} from '../../src/replication/set/activation-token.ts'
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

const bundle: ActivationBundle = {
  ...SET,
  id: SECONDARY.id,
  authority: authority.certificate,
  nextAuthority: newAuthority(SET, making).certificate,
  ...secondaryLeaf(),
  nonce: new Secret(random.bytes(32)),
  endsAtMs: making.nowMs,
  clusterAddress: 'https://a:8201',
  apiAddress: 'https://a:8200',
  epoch: 1,
  historyId: random.bytes(16),
}

function secondaryLeaf(): Pick<ActivationBundle, 'leaf' | 'leafKey'> {
  const key = newLeafKey(random)
  return { leaf: newLeaf(authority, SECONDARY, publicKeyOf(key), making), leafKey: new Secret(key) }
}

function activated(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (cause) {
    if (cause instanceof ActivationRefused) return false
    throw cause
  }
}

const seed = random.bytes(32)
const keyText = secondaryKeyText('dr', seed)
const jwt = [
  { alg: 'ES512', typ: 'JWT' },
  { addr: 'https://a:8200', jti: 'hvs.x', type: 'wrapping' },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .concat(Buffer.alloc(132, 1).toString('base64url'))
  .join('.')
const tokens = [activationText(bundle), sealActivation(bundle, keyText, random), jwt]

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
    name: 'bundles of activation',
    good: [bundle, { ...bundle, nextAuthority: undefined }].map(encodeActivation),
    target: (input) =>
      activated(() => {
        // What is taken has one encoding.
        assert.deepEqual(encodeActivation(decodeActivation(input)), input)
      }),
  },
  {
    name: 'activation tokens',
    good: tokens.map((text) => Buffer.from(text)),
    target: (input) =>
      activated(() => {
        const token = readActivationToken(input.toString('latin1'))
        if (token.kind !== 'wrapped') openActivation(token, { family: 'dr', seed })
      }),
  },
  {
    name: 'public keys of secondaries',
    good: [Buffer.from(keyText)],
    target: (input) =>
      activated(() => {
        const text = sealActivation(bundle, input.toString('latin1'), random)
        assert.match(text, /^keywright-sealed-activation-1-/)
      }),
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
  test(`Q-01 T98: ${INPUTS} inputs made from ${name} are taken or refused`, async (t) => {
    for (const input of good) assert.ok(target(input), 'what the inputs are made from is good')
    await fuzzed(
      t,
      INPUTS,
      (drawn) => ({ base64: mutated(drawn, drawn.pick(good), [...good, ...certificates]).toString('base64') }),
      async ({ base64 }) => target(Buffer.from(base64, 'base64')),
    )
  })
}
