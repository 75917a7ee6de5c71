// One PKCS #11 library: loaded when it is first needed, and begun anew when the device was lost.
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

/** Which token: by the number of its slot in decimal, or by its label. */
export type TokenSelector = { readonly slot: string; readonly tokenLabel: string }

const LONGEST_HANDLE_BYTES = 8

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

  /** Whether it was begun: what is not found then may have come since. */
  get isOpen(): boolean {
    return this.#cryptoki !== undefined
  }

  /** @throws DeviceFault, and what the binding throws */
  token(place: TokenSelector): TokenSession {
    return this.#session(`${place.slot}/${place.tokenLabel}`, () => this.#findSlot(place))
  }

  /** Any token that was set up, for what needs no key; any slot where none was. @throws as `token` */
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
    // One session by whatever name: log-in counts for the token.
    const same = [...this.#tokens.values()].find((token) => token.slot.equals(slot))
    const token = same ?? new TokenSession(this.#open(), slot, this.#guard)
    this.#tokens.set(name, token)
    return token
  }

  /** @throws DeviceFault */
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

  /** Ends all sessions, and with them every log-in; the next call begins anew. */
  close(): void {
    this.#tokens.clear()
    const cryptoki = this.#cryptoki
    this.#cryptoki = undefined
    if (cryptoki === undefined) return
    try {
      cryptoki.C_Finalize()
      cryptoki.close()
    } catch {
      // A device that is gone cannot be told.
    }
  }
}

/** Handles are numbers of the machine, its own way round, which is the little end first on all that we run on. */
function slotNumber(slot: ObjectHandle): bigint {
  const bytes = Buffer.alloc(LONGEST_HANDLE_BYTES)
  slot.copy(bytes)
  return bytes.readBigUInt64LE()
}
