// What is used of PKCS #11 (OASIS, version 2.40): its numbers, and the binding's functions as far as they are called.
// The binding itself is loaded by the process of the devices alone.

export const CKF_OS_LOCKING_OK = 0x02
export const CKF_RW_SESSION = 0x02
export const CKF_SERIAL_SESSION = 0x04
/** Of a token. */
export const CKF_LOGIN_REQUIRED = 0x04
export const CKF_TOKEN_INITIALIZED = 0x400
export const CKU_USER = 1

export const CKO_PUBLIC_KEY = 2
export const CKO_PRIVATE_KEY = 3
export const CKO_SECRET_KEY = 4
export const CKK_RSA = 0x00
export const CKK_EC = 0x03
export const CKK_AES = 0x1f

export const CKA_CLASS = 0x00
export const CKA_TOKEN = 0x01
export const CKA_PRIVATE = 0x02
export const CKA_LABEL = 0x03
export const CKA_KEY_TYPE = 0x100
export const CKA_ID = 0x102
export const CKA_SENSITIVE = 0x103
export const CKA_ENCRYPT = 0x104
export const CKA_DECRYPT = 0x105
export const CKA_SIGN = 0x108
export const CKA_VERIFY = 0x10a
export const CKA_MODULUS = 0x120
export const CKA_MODULUS_BITS = 0x121
export const CKA_PUBLIC_EXPONENT = 0x122
export const CKA_VALUE_LEN = 0x161
export const CKA_EXTRACTABLE = 0x162
export const CKA_EC_PARAMS = 0x180
export const CKA_EC_POINT = 0x181

export const CKM_RSA_PKCS_KEY_PAIR_GEN = 0x00
export const CKM_RSA_PKCS = 0x01
export const CKM_RSA_PKCS_OAEP = 0x09
export const CKM_RSA_PKCS_PSS = 0x0d
export const CKM_EC_KEY_PAIR_GEN = 0x1040
export const CKM_ECDSA = 0x1041
export const CKM_AES_KEY_GEN = 0x1080
export const CKM_AES_GCM = 0x1087
export const CKZ_DATA_SPECIFIED = 1

export const CKR_GENERAL_ERROR = 0x05
export const CKR_FUNCTION_FAILED = 0x06
export const CKR_ARGUMENTS_BAD = 0x07
export const CKR_DATA_INVALID = 0x20
export const CKR_DATA_LEN_RANGE = 0x21
export const CKR_ENCRYPTED_DATA_INVALID = 0x40
export const CKR_ENCRYPTED_DATA_LEN_RANGE = 0x41
export const CKR_KEY_SIZE_RANGE = 0x62
export const CKR_KEY_TYPE_INCONSISTENT = 0x63
export const CKR_KEY_FUNCTION_NOT_PERMITTED = 0x68
export const CKR_MECHANISM_INVALID = 0x70
export const CKR_MECHANISM_PARAM_INVALID = 0x71
export const CKR_PIN_INCORRECT = 0xa0
export const CKR_PIN_LOCKED = 0xa4
export const CKR_USER_ALREADY_LOGGED_IN = 0x100
export const CKR_USER_NOT_LOGGED_IN = 0x101
export const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191

/** What a handle is: of a slot, a session, an object. */
export type ObjectHandle = Buffer
export type Attribute = { readonly type: number; readonly value: number | boolean | string | Buffer }
export type Mechanism = { readonly mechanism: number; readonly parameter?: object }
export type TokenInfo = { readonly label: string; readonly serialNumber: string; readonly flags: number }

export interface Cryptoki {
  load(path: string): void
  close(): void
  C_Initialize(options: { readonly flags: number }): void
  C_Finalize(): void
  C_GetSlotList(withToken: boolean): ObjectHandle[]
  C_GetTokenInfo(slot: ObjectHandle): TokenInfo
  C_OpenSession(slot: ObjectHandle, flags: number): ObjectHandle
  C_CloseSession(session: ObjectHandle): void
  C_GetSessionInfo(session: ObjectHandle): object
  C_Login(session: ObjectHandle, user: number, pin: string): void
  C_Logout(session: ObjectHandle): void
  C_GenerateRandom(session: ObjectHandle, target: Buffer): Buffer
  C_FindObjectsInit(session: ObjectHandle, template: readonly Attribute[]): void
  C_FindObjects(session: ObjectHandle, most: number): ObjectHandle[]
  C_FindObjectsFinal(session: ObjectHandle): void
  C_GetAttributeValue(
    session: ObjectHandle,
    object: ObjectHandle,
    wanted: readonly { readonly type: number }[],
  ): { value: Buffer }[]
  C_GenerateKey(session: ObjectHandle, mechanism: Mechanism, template: readonly Attribute[]): ObjectHandle
  C_GenerateKeyPair(
    session: ObjectHandle,
    mechanism: Mechanism,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): { readonly publicKey: ObjectHandle; readonly privateKey: ObjectHandle }
  C_EncryptInit(session: ObjectHandle, mechanism: Mechanism, key: ObjectHandle): void
  C_Encrypt(session: ObjectHandle, data: Buffer, target: Buffer): Buffer
  C_EncryptFinal(session: ObjectHandle, target: Buffer): Buffer
  C_DecryptInit(session: ObjectHandle, mechanism: Mechanism, key: ObjectHandle): void
  C_Decrypt(session: ObjectHandle, data: Buffer, target: Buffer): Buffer
  C_SignInit(session: ObjectHandle, mechanism: Mechanism, key: ObjectHandle): void
  C_Sign(session: ObjectHandle, data: Buffer, target: Buffer): Buffer
}

/** What the binding throws where the device refused: `code` is a CKR number. */
export function deviceCodeOf(cause: unknown): number | undefined {
  const code = cause instanceof Error ? (cause as { code?: unknown }).code : undefined
  return typeof code === 'number' ? code : undefined
}
