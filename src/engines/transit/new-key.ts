// New keys and new versions of keys.
import type { KeyType } from '../../crypto/key-type.ts'
import { freshBytes, type RandomBytes } from '../../crypto/random-bytes.ts'
import { Secret } from '../../crypto/secret.ts'
import type { World } from '../../lib/world.ts'
import { HMAC_SECRET_BYTES, type StoredRing, type VersionSecrets } from './key-ring.ts'
import { CONVERGENT_VERSION, type RingHeader, type VersionHeader } from './ring-header.ts'
import { FIRST_BOUNDS } from './versions.ts'

/** What is chosen when a key is made. */
export type NewKey = Pick<
  RingHeader,
  'derived' | 'convergent' | 'exportable' | 'allowPlaintextBackup' | 'autoRotatePeriodSeconds'
> & { readonly type: KeyType }

/** A ring with its first version; the caller wipes it. */
export function newRing({ type, ...flags }: NewKey, world: World): StoredRing {
  const header = {
    ...FIRST_BOUNDS,
    ...flags,
    type: type.name,
    deletionAllowed: false,
    versions: [newVersionHeader(flags.convergent, world)],
  }
  return { header, secrets: [newSecrets(type, world.random.bytes)] }
}

/** The ring with one version more; the minimums stay as they are. The caller wipes it. */
export function withNewVersion({ header, secrets }: StoredRing, type: KeyType, world: World): StoredRing {
  return {
    header: {
      ...header,
      latestVersion: header.latestVersion + 1,
      versions: [...header.versions, newVersionHeader(header.convergent, world)],
    },
    secrets: [...secrets, newSecrets(type, world.random.bytes)],
  }
}

function newVersionHeader(convergent: boolean, world: World): VersionHeader {
  return { createdAtMs: world.clock.nowMs(), convergentVersion: convergent ? CONVERGENT_VERSION : 0 }
}

function newSecrets(type: KeyType, random: RandomBytes): VersionSecrets {
  const material = type.generate(random)
  const hmac = freshBytes(random, HMAC_SECRET_BYTES)
  try {
    proveMaterial(type, material, random)
    return { material: new Secret(material), hmac: new Secret(hmac) }
  } finally {
    material.fill(0)
    hmac.fill(0)
  }
}

const PROOF = Buffer.from('sealed and opened once before the key is used')

/** Every new key does once what it is for, before anyone is told of it (threats P-15). */
function proveMaterial(type: KeyType, material: Buffer, random: RandomBytes): void {
  const { cipher } = type
  if (cipher === undefined) return
  const key = type.load(material)
  const sealed = cipher.sealWithNonce(key, freshBytes(random, cipher.nonceBytes), PROOF)
  if (!cipher.openWithNonce(key, sealed).equals(PROOF)) {
    throw new Error(`A new key of type ${type.name} does not open what it sealed`)
  }
}
