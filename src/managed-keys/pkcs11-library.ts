// One PKCS #11 library. It is loaded when it is first needed, and started over after its device was lost.
import {
  CKF_OS_LOCKING_OK,
  CKR_CRYPTOKI_ALREADY_INITIALIZED,
  type Cryptoki,
  deviceCodeOf,
  type ObjectHandle,
} from './cryptoki.ts'
import { DeviceFault, deviceFaultName } from './device-fault.ts'
import type { PinGuard } from './pin-guard.ts'
import { isInitialized, TokenSession, tokenLabel } from './token-session.ts'

/** Selects a token: by the number of its slot in decimal, by its label, or by both. '' leaves one out. */
export type TokenSelector = { readonly slot: string; readonly tokenLabel: string }

/** Handles are numbers of CK_ULONG: 8 bytes at most. */
const LONGEST_HANDLE_BYTES = 8

/** A library with the sessions of its tokens. Only one call may be under way at a time. */
export class Pkcs11Library {
  readonly #path: string
  readonly #newBinding: () => Cryptoki
  readonly #guard: PinGuard
  #cryptoki: Cryptoki | undefined
  readonly #tokens = new Map<string, TokenSession>()

  constructor(path: string, newBinding: () => Cryptoki, guard: PinGuard) {
    this.#path = path
    this.#newBinding = newBinding
    this.#guard = guard
  }

  /** True if the library was begun earlier: a token that came later is then found only after a new beginning. */
  get isOpen(): boolean {
    return this.#cryptoki !== undefined
  }

  /** Returns the session of a token; it is kept. @throws DeviceFault, and what the binding throws */
  token(selector: TokenSelector): TokenSession {
    return this.#session(`${selector.slot}/${selector.tokenLabel}`, () => this.#findSlot(selector))
  }

  /** Returns any token that was initialized, else any token at all, for operations without a key. @throws as `token` */
  anyToken(): TokenSession {
    return this.#session('any', () => {
      const cryptoki = this.#open()
      const slots = cryptoki.C_GetSlotList(true)
      const slot = slots.find((one) => isInitialized(cryptoki.C_GetTokenInfo(one))) ?? slots[0]
      if (slot === undefined) throw new DeviceFault('no-token', 'no slot of the device holds a token')
      return slot
    })
  }

  #session(name: string, find: () => ObjectHandle): TokenSession {
    const known = this.#tokens.get(name)
    if (known !== undefined) return known
    const slot = find()
    // A token has one session under all its names: log-in counts for the token, not for the session.
    const same = [...this.#tokens.values()].find((token) => token.slot.equals(slot))
    const token = same ?? new TokenSession(this.#open(), slot, this.#guard)
    this.#tokens.set(name, token)
    return token
  }

  /** Returns the slot of the only token that fits. @throws DeviceFault if there is none, or more than one */
  #findSlot({ slot: number, tokenLabel: label }: TokenSelector): ObjectHandle {
    const cryptoki = this.#open()
    const slots = cryptoki.C_GetSlotList(true)
    const found = slots.filter((slot) => {
      if (number !== '' && slotNumber(slot) !== BigInt(number)) return false
      return label === '' || tokenLabel(cryptoki.C_GetTokenInfo(slot)) === label
    })
    const [slot, second] = found
    if (slot === undefined) throw new DeviceFault('no-token', '"token_label" or "slot": the device has no such token')
    if (second !== undefined) {
      throw new DeviceFault('no-token', '"token_label": several tokens have this label, name the slot as well')
    }
    return slot
  }

  #open(): Cryptoki {
    if (this.#cryptoki !== undefined) return this.#cryptoki
    const cryptoki = this.#newBinding()
    try {
      cryptoki.load(this.#path)
    } catch (cause) {
      throw new DeviceFault('no-library', 'the file of the library is missing, or is no PKCS #11 library', cause)
    }
    try {
      cryptoki.C_Initialize({ flags: CKF_OS_LOCKING_OK })
    } catch (cause) {
      if (deviceCodeOf(cause) !== CKR_CRYPTOKI_ALREADY_INITIALIZED) {
        throw new DeviceFault('no-library', `the library does not begin: ${deviceFaultName(cause)}`, cause)
      }
    }
    this.#cryptoki = cryptoki
    return cryptoki
  }

  /** Ends all sessions, and with them every log-in; the next call starts over. */
  close(): void {
    this.#tokens.clear()
    const cryptoki = this.#cryptoki
    this.#cryptoki = undefined
    if (cryptoki === undefined) return
    try {
      cryptoki.C_Finalize()
      cryptoki.close()
    } catch {
      // The device is gone, and with it the sessions.
    }
  }
}

/**
 * Returns the number of a slot. Handles are numbers in the byte order of the machine; all that we run on are
 * little-endian.
 */
function slotNumber(slot: ObjectHandle): bigint {
  const bytes = Buffer.alloc(LONGEST_HANDLE_BYTES)
  slot.copy(bytes)
  return bytes.readBigUInt64LE()
}
