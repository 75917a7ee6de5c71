// The key type of a key in a device, found by its public half: that half verifies as any key of the type does.
import type { KeyObject } from 'node:crypto'
import { publicKind } from '../forms/public-keys.ts'
import { type DeviceFacts, type ListedKeyType, type Signing, UnusableInput } from '../key-types/key-type.ts'
import { KEY_TYPES } from '../key-types/key-types.ts'

/** A key type whose private keys may be in devices. */
export type DeviceKeyType = ListedKeyType & { readonly signing: Signing & { readonly device: DeviceFacts } }

const BY_KIND: ReadonlyMap<string, DeviceKeyType> = new Map(
  [...KEY_TYPES.values()].filter(isInDevices).map((type) => [type.signing.device.kind, type]),
)

function isInDevices(type: ListedKeyType): type is DeviceKeyType {
  return type.signing?.device !== undefined
}

/** The type of a key. @throws UnusableInput for a kind that is not offered in devices */
export function managedPublicType(key: KeyObject): DeviceKeyType {
  const type = BY_KIND.get(publicKind(key))
  if (type !== undefined) return type
  throw new UnusableInput('a managed key is RSA with 2048, 3072 or 4096 bits, or on P-256, P-384 or P-521')
}
