// The state of one token: its slot, its log-in, its sessions, and the keys that were found. A log-in counts for the
// whole process (PKCS #11 usage guide, section 2.6), so there is one such object for each token.
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

/** One token. Handles of sessions and keys are good until the library is closed. */
export class TokenSession {
  readonly cryptoki: Cryptoki
  readonly slot: ObjectHandle
  readonly #guard: PinGuard
  readonly #info: TokenInfo
  /** A session that stays open, since the log-in ends with the last session of a token. */
  readonly #anchor: ObjectHandle
  #session: ObjectHandle | undefined
  /** The tag of the PIN that opened the token. */
  #loggedIn: string | undefined
  readonly #keys = new Map<string, ObjectHandle>()

  /** Opens the anchor session. @throws what the binding throws */
  constructor(cryptoki: Cryptoki, slot: ObjectHandle, guard: PinGuard) {
    this.cryptoki = cryptoki
    this.slot = slot
    this.#guard = guard
    this.#info = cryptoki.C_GetTokenInfo(slot)
    this.#anchor = cryptoki.C_OpenSession(slot, CKF_SERIAL_SESSION)
  }

  /** The session for operations, one after the other; opened when it is first needed. */
  get session(): ObjectHandle {
    this.#session ??= this.cryptoki.C_OpenSession(this.slot, CKF_SERIAL_SESSION)
    return this.#session
  }

  /** Closes the session after a failed operation, which may still be active in it and would block all others. */
  dropSession(): void {
    const session = this.#session
    this.#session = undefined
    if (session === undefined) return
    try {
      this.cryptoki.C_CloseSession(session)
    } catch {
      // Session or device are gone: the next call to the device says so.
    }
  }

  /** Runs `work` with a session that may write objects, and closes it afterwards. @throws what either throws */
  writing<T>(work: (session: ObjectHandle) => T): T {
    const session = this.cryptoki.C_OpenSession(this.slot, CKF_SERIAL_SESSION | CKF_RW_SESSION)
    try {
      return work(session)
    } finally {
      this.cryptoki.C_CloseSession(session)
    }
  }

  /** True if the token is still there: it answers calls that need no key. */
  isThere(): boolean {
    try {
      this.cryptoki.C_GetSessionInfo(this.#anchor)
      this.cryptoki.C_GetTokenInfo(this.slot)
      return true
    } catch {
      return false
    }
  }

  /** Returns the handle under this name; `find` is called only the first time. */
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
   * Logs in with this PIN. Being logged in already is enough only for the same PIN; another PIN is tried on the token,
   * so that a managed key with a wrong PIN never uses the log-in of another. '' does not log in.
   * @throws DeviceFault if the token refuses the PIN, or refused it before
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
      // 0xa0 to 0xa4: incorrect, invalid, length, expired, locked. Any other error says nothing about the PIN.
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
      // The token did not check the PIN, as a log-in is there already.
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

/** Returns the label of a token without the padding to 32 characters. */
export const tokenLabel = ({ label }: TokenInfo): string => label.replaceAll('\0', ' ').trimEnd()

/** True if the token was initialized, so that it can hold keys. */
export const isInitialized = ({ flags }: TokenInfo): boolean => (flags & CKF_TOKEN_INITIALIZED) !== 0
