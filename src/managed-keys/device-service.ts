// What the process of the devices does with an order: it alone calls PKCS #11, one call after the other.
import * as ck from './cryptoki.ts'
import { DeviceFault, deviceFaultName } from './device-fault.ts'
import { describeDeviceKey, findKey } from './device-objects.ts'
import type { DeviceOrder, OrderOutcome, Parameter } from './orders.ts'
import type { PinGuard } from './pin-guard.ts'
import { Pkcs11Library } from './pkcs11-library.ts'
import type { TokenSession } from './token-session.ts'

/** The tag of AES-GCM, in bits and bytes. */
const TAG_BITS = 128
const TAG_BYTES = 16
/** The longest signature and the longest block of RSA that there is here: 8192 bits. */
const MOST_RSA_BYTES = 1_024
/** Devices give only so many random bytes at once. */
const RANDOM_BYTES_AT_ONCE = 1_024

/** Hash and mask generation by their numbers (PKCS #11 sections 2.1.7 and 2.20). */
const HASHES = {
  sha1: { hashAlg: 0x220, mgf: 1 },
  sha224: { hashAlg: 0x255, mgf: 5 },
  sha256: { hashAlg: 0x250, mgf: 2 },
  sha384: { hashAlg: 0x260, mgf: 3 },
  sha512: { hashAlg: 0x270, mgf: 4 },
} as const

/** How the binding knows of which kind a parameter is. */
const PARAMETER_OF = { gcm: 7, oaep: 4, pss: 5 } as const

/** What says that key, mechanism and data do not go together: asking again changes nothing. */
const UNFIT: ReadonlySet<number> = new Set([
  ck.CKR_DATA_INVALID,
  ck.CKR_DATA_LEN_RANGE,
  ck.CKR_KEY_SIZE_RANGE,
  ck.CKR_KEY_TYPE_INCONSISTENT,
  ck.CKR_KEY_FUNCTION_NOT_PERMITTED,
  ck.CKR_MECHANISM_INVALID,
  ck.CKR_MECHANISM_PARAM_INVALID,
  ck.CKR_ARGUMENTS_BAD,
])
const UNOPENED: ReadonlySet<number> = new Set([ck.CKR_ENCRYPTED_DATA_INVALID, ck.CKR_ENCRYPTED_DATA_LEN_RANGE])
/** What some devices say of a tag that does not fit, and all of a device that is broken. */
const VAGUE: ReadonlySet<number> = new Set([ck.CKR_GENERAL_ERROR, ck.CKR_FUNCTION_FAILED])

export class DeviceService {
  readonly #libraries: ReadonlyMap<string, Pkcs11Library>

  /** `libraries`: files by the names of the configuration. */
  constructor(libraries: Readonly<Record<string, string>>, newBinding: () => ck.Cryptoki, guard: PinGuard) {
    const entries = Object.entries(libraries)
    this.#libraries = new Map(entries.map(([name, path]) => [name, new Pkcs11Library(path, newBinding, guard)]))
  }

  /** Never throws. */
  carryOut(order: DeviceOrder): OrderOutcome {
    try {
      return this.#withLibrary(order)
    } catch (cause) {
      if (cause instanceof DeviceFault) return cause.outcome
      return { fault: 'failed', detail: `the device failed: ${deviceFaultName(cause)}` }
    }
  }

  /** Ends every session and every log-in. */
  close(): void {
    for (const library of this.#libraries.values()) library.close()
  }

  /** A device that was lost is looked for once more, with everything begun anew. */
  #withLibrary(order: DeviceOrder): OrderOutcome {
    const name = order.do === 'random' ? order.library : order.key.library
    const library = this.#libraries.get(name)
    if (library === undefined)
      throw new DeviceFault('no-library', '"library": the configuration has no such kms_library')
    const wasOpen = library.isOpen
    try {
      return attempt(library, order)
    } catch (cause) {
      const mayBeStale = wasOpen && cause instanceof DeviceFault && cause.kind === 'no-token'
      if (cause instanceof DeviceFault && !mayBeStale) throw cause
      library.close()
      return attempt(library, order)
    }
  }
}

function attempt(library: Pkcs11Library, order: DeviceOrder): OrderOutcome {
  if (order.do === 'random') return { bytes: randomBytes(library.anyToken(), order.count) }
  const token = library.token(order.key)
  token.logIn(order.key.pin)
  try {
    if (order.do === 'describe') return { found: describeDeviceKey(token, order.key, order.create) }
    return { bytes: new Uint8Array(operate(token, order)) }
  } catch (cause) {
    token.dropSession()
    throw faultOf(cause, order.do === 'decrypt', token) ?? cause
  }
}

/** Undefined for what may be a device that was lost. */
function faultOf(cause: unknown, decrypts: boolean, token: TokenSession): DeviceFault | undefined {
  if (cause instanceof DeviceFault) return cause
  const code = codeOfOperation(cause)
  if (decrypts && (UNOPENED.has(code) || (VAGUE.has(code) && token.isThere()))) {
    return new DeviceFault('unopened', 'the key does not open it', cause)
  }
  if (UNFIT.has(code))
    return new DeviceFault('unfit', `the device refuses the operation: ${deviceFaultName(cause)}`, cause)
  return undefined
}

const codeOfOperation = (cause: unknown): number => ck.deviceCodeOf(cause) ?? -1

type Operation = Extract<DeviceOrder, { readonly with: Parameter }>

function operate(token: TokenSession, { do: what, key, with: parameter, data }: Operation): Buffer {
  const handle = findKey(token, key)
  const { cryptoki, session } = token
  const mechanism = mechanismOf(parameter)
  const input = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (what === 'sign') {
    cryptoki.C_SignInit(session, mechanism, handle)
    return cryptoki.C_Sign(session, input, Buffer.alloc(MOST_RSA_BYTES))
  }
  if (what === 'decrypt') {
    cryptoki.C_DecryptInit(session, mechanism, handle)
    return cryptoki.C_Decrypt(session, input, Buffer.alloc(Math.max(input.length, MOST_RSA_BYTES)))
  }
  cryptoki.C_EncryptInit(session, mechanism, handle)
  // The binding hands over no pointer for no bytes, which devices refuse.
  if (input.length === 0) return cryptoki.C_EncryptFinal(session, Buffer.alloc(2 * TAG_BYTES))
  return cryptoki.C_Encrypt(session, input, Buffer.alloc(input.length + TAG_BYTES))
}

function mechanismOf(parameter: Parameter): ck.Mechanism {
  switch (parameter.kind) {
    case 'aes-gcm': {
      const [iv, aad] = [Buffer.from(parameter.nonce), Buffer.from(parameter.associatedData)]
      const given = aad.length === 0 ? {} : { aad }
      const gcm = { type: PARAMETER_OF.gcm, iv, ivBits: iv.length * 8, tagBits: TAG_BITS, ...given }
      return { mechanism: ck.CKM_AES_GCM, parameter: gcm }
    }
    case 'rsa-oaep': {
      const oaep = { type: PARAMETER_OF.oaep, ...HASHES[parameter.hash], source: ck.CKZ_DATA_SPECIFIED }
      return { mechanism: ck.CKM_RSA_PKCS_OAEP, parameter: oaep }
    }
    case 'rsa-pss': {
      const pss = { type: PARAMETER_OF.pss, ...HASHES[parameter.hash], saltLen: parameter.saltBytes }
      return { mechanism: ck.CKM_RSA_PKCS_PSS, parameter: pss }
    }
    case 'rsa-pkcs1':
      return { mechanism: ck.CKM_RSA_PKCS }
    case 'ecdsa':
      return { mechanism: ck.CKM_ECDSA }
  }
}

function randomBytes(token: TokenSession, count: number): Uint8Array {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at += RANDOM_BYTES_AT_ONCE) {
    const part = token.cryptoki.C_GenerateRandom(
      token.session,
      Buffer.alloc(Math.min(RANDOM_BYTES_AT_ONCE, count - at)),
    )
    part.copy(bytes, at)
  }
  return new Uint8Array(bytes)
}
