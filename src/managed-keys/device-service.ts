// Carries out orders in the process of the devices. That process alone calls PKCS #11, one call after the other.
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
/** Room for the longest signature and the longest block of RSA: 8192 bits. */
const MOST_RSA_BYTES = 1_024
/** Devices return only so many random bytes at once. */
const RANDOM_BYTES_AT_ONCE = 1_024

/** The numbers of hash and mask generation (PKCS #11 sections 2.1.7 and 2.20). */
const HASHES = {
  sha1: { hashAlg: 0x220, mgf: 1 },
  sha224: { hashAlg: 0x255, mgf: 5 },
  sha256: { hashAlg: 0x250, mgf: 2 },
  sha384: { hashAlg: 0x260, mgf: 3 },
  sha512: { hashAlg: 0x270, mgf: 4 },
} as const

/** The numbers by which the binding tells kinds of parameters apart. */
const PARAMETER_OF = { gcm: 7, oaep: 4, pss: 5 } as const

/** Errors that say that key, mechanism and data do not go together: a retry would fail again. */
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
/** Errors that say that a ciphertext is not one of the key. */
const UNOPENED: ReadonlySet<number> = new Set([ck.CKR_ENCRYPTED_DATA_INVALID, ck.CKR_ENCRYPTED_DATA_LEN_RANGE])
/** Errors that some devices give for a wrong tag, and any device that is broken gives too. */
const VAGUE: ReadonlySet<number> = new Set([ck.CKR_GENERAL_ERROR, ck.CKR_FUNCTION_FAILED])

/** All libraries of the configuration, behind one method. */
export class DeviceService {
  readonly #libraries: ReadonlyMap<string, Pkcs11Library>

  /** `libraries` are files, by the names that the configuration gives them. None is loaded before it is needed. */
  constructor(libraries: Readonly<Record<string, string>>, newBinding: () => ck.Cryptoki, guard: PinGuard) {
    const entries = Object.entries(libraries)
    this.#libraries = new Map(entries.map(([name, path]) => [name, new Pkcs11Library(path, newBinding, guard)]))
  }

  /** Carries out one order and returns its outcome; it never throws. */
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

  /**
   * Carries out one order. If the device may have been lost, all is closed and the order is tried once more: a token
   * that was pulled and put back, or a network that came back, needs new sessions.
   */
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
    // The failed operation may still be active in its session, which would then refuse all others.
    token.dropSession()
    throw faultOf(cause, order.do === 'decrypt', token) ?? cause
  }
}

/** Returns the fault that an error stands for; undefined if the device may have been lost. */
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
  // For no bytes the binding hands over no pointer, which devices refuse; the final call takes no data.
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
