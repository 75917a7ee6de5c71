// The way to one token: its slot, who is logged in, the sessions, and the keys that were found. Log-in is a matter of
// the whole process (PKCS #11 usage guide, section 2.6), so one place holds it.
import {
  CKF_LOGIN_REQUIRED,
  CKF_RW_SESSION,
  CKF_SERIAL_SESSION,
  CKF_TOKEN_INITIALIZED,
  CKR_PIN_INCORRECT,
  CKR_PIN_LOCKED,
  CKR_USER_ALREADY_LOGGED_IN,
  CKU_USER,
  type Cryptoki,
  deviceCodeOf,
  type ObjectHandle,
  type TokenInfo,
} from './cryptoki.ts'
import { DeviceFault, deviceFaultName } from './device-fault.ts'
import type { PinGuard } from './pin-guard.ts'

export class TokenSession {
  readonly cryptoki: Cryptoki
  readonly slot: ObjectHandle
  readonly #guard: PinGuard
  readonly #info: TokenInfo
  /** Stays open: with the last session of a token its log-in would end. */
  readonly #anchor: ObjectHandle
  #session: ObjectHandle | undefined
  /** The tag of the PIN that opened the token. */
  #loggedIn: string | undefined
  readonly #keys = new Map<string, ObjectHandle>()

  /** @throws what the binding throws */
  constructor(cryptoki: Cryptoki, slot: ObjectHandle, guard: PinGuard) {
    this.cryptoki = cryptoki
    this.slot = slot
    this.#guard = guard
    this.#info = cryptoki.C_GetTokenInfo(slot)
    this.#anchor = cryptoki.C_OpenSession(slot, CKF_SERIAL_SESSION)
  }

  /** For one operation after the other. */
  get session(): ObjectHandle {
    this.#session ??= this.cryptoki.C_OpenSession(this.slot, CKF_SERIAL_SESSION)
    return this.#session
  }

  /** After an operation that failed: it may still be active in its session, which then takes no other. */
  dropSession(): void {
    const session = this.#session
    this.#session = undefined
    if (session === undefined) return
    try {
      this.cryptoki.C_CloseSession(session)
    } catch {
      // It is gone, or the device is: the next call of the device says so.
    }
  }

  /** A session in which a key can be made; it is closed afterwards. */
  writing<T>(work: (session: ObjectHandle) => T): T {
    const session = this.cryptoki.C_OpenSession(this.slot, CKF_SERIAL_SESSION | CKF_RW_SESSION)
    try {
      return work(session)
    } finally {
      this.cryptoki.C_CloseSession(session)
    }
  }

  /** Whether the token is still there: it answers what no key is needed for. */
  isThere(): boolean {
    try {
      this.cryptoki.C_GetSessionInfo(this.#anchor)
      this.cryptoki.C_GetTokenInfo(this.slot)
      return true
    } catch {
      return false
    }
  }

  /** The handle under this name, found once. */
  key(name: string, find: () => ObjectHandle): ObjectHandle {
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const found = find()
    this.#keys.set(name, found)
    return found
  }

  forgetKey(name: string): void {
    this.#keys.delete(name)
  }

  /**
   * Only who gives the PIN that opened the token may use it: another one is tried on the token itself.
   * @throws DeviceFault where the token refuses the PIN, now or before
   */
  logIn(pin: string): void {
    if (pin === '') {
      if ((this.#info.flags & CKF_LOGIN_REQUIRED) !== 0) {
        throw new DeviceFault('pin', '"pin": the token asks for a PIN')
      }
      return
    }
    const tag = this.#guard.tag(`${this.#info.serialNumber.trim()}/${tokenLabel(this.#info)}`, pin)
    if (tag === this.#loggedIn) return
    if (this.#guard.isRefused(tag)) {
      throw new DeviceFault('pin', '"pin": the token refused it, and it is not tried again until it is written anew')
    }
    if (this.#loggedIn !== undefined) this.#logOut()
    try {
      this.#tryPin(pin)
      this.#loggedIn = tag
    } catch (cause) {
      const code = deviceCodeOf(cause)
      // 0xa0 to 0xa4: incorrect, invalid, length, expired, locked.
      if (code === undefined || code < CKR_PIN_INCORRECT || code > CKR_PIN_LOCKED) throw cause
      this.#guard.refuse(tag)
      throw new DeviceFault(
        'pin',
        `"pin": the token refused it (${deviceFaultName(cause)}), it is not tried again`,
        cause,
      )
    }
  }

  #tryPin(pin: string): void {
    try {
      this.cryptoki.C_Login(this.#anchor, CKU_USER, pin)
    } catch (cause) {
      if (deviceCodeOf(cause) !== CKR_USER_ALREADY_LOGGED_IN) throw cause
      // The PIN was not looked at.
      this.cryptoki.C_Logout(this.#anchor)
      this.cryptoki.C_Login(this.#anchor, CKU_USER, pin)
    }
  }

  #logOut(): void {
    this.#loggedIn = undefined
    this.#keys.clear()
    this.cryptoki.C_Logout(this.#anchor)
  }
}

/** Labels are padded to 32 characters. */
export const tokenLabel = ({ label }: TokenInfo): string => label.replaceAll('\0', ' ').trimEnd()

export const isInitialized = ({ flags }: TokenInfo): boolean => (flags & CKF_TOKEN_INITIALIZED) !== 0
