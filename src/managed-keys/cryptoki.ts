// The part of PKCS #11 (OASIS, version 2.40) that is used here: its numbers, and the functions of the binding that are
// called. Only the process of the devices loads the binding itself (pkcs11-binding.ts).

/** Flag of C_Initialize: the library may use the locks of the operating system. */
export const CKF_OS_LOCKING_OK = 0x02
/** Flag of a session that may write objects. */
export const CKF_RW_SESSION = 0x02
/** Flag that every session must have. */
export const CKF_SERIAL_SESSION = 0x04
/** Flag of a token that needs a log-in. */
export const CKF_LOGIN_REQUIRED = 0x04
/** Flag of a token that was initialized. */
export const CKF_TOKEN_INITIALIZED = 0x400
/** The user that may use keys; the other one is the security officer. */
export const CKU_USER = 1

/** Class of public keys. */
export const CKO_PUBLIC_KEY = 2
/** Class of private halves. */
export const CKO_PRIVATE_KEY = 3
/** Class of symmetric keys. */
export const CKO_SECRET_KEY = 4
/** Key type RSA. */
export const CKK_RSA = 0x00
/** Key type EC, for ECDSA. */
export const CKK_EC = 0x03
/** Key type AES. */
export const CKK_AES = 0x1f

/** Attribute: the class of the object, a CKO number. */
export const CKA_CLASS = 0x00
/** Attribute: the object is stored in the token, and outlives the session. */
export const CKA_TOKEN = 0x01
/** Attribute: the object is seen only after log-in. */
export const CKA_PRIVATE = 0x02
/** Attribute: the label. */
export const CKA_LABEL = 0x03
/** Attribute: the type of the key, a CKK number. */
export const CKA_KEY_TYPE = 0x100
/** Attribute: the id, any bytes. */
export const CKA_ID = 0x102
/** Attribute: the secret is never shown in clear. */
export const CKA_SENSITIVE = 0x103
/** Attribute: the key may encrypt. */
export const CKA_ENCRYPT = 0x104
/** Attribute: the key may decrypt. */
export const CKA_DECRYPT = 0x105
/** Attribute: the key may sign. */
export const CKA_SIGN = 0x108
/** Attribute: the key may verify. */
export const CKA_VERIFY = 0x10a
/** Attribute: the modulus of an RSA key, big-endian. */
export const CKA_MODULUS = 0x120
/** Attribute: the bits of the modulus, for a new key. */
export const CKA_MODULUS_BITS = 0x121
/** Attribute: the public exponent of an RSA key, big-endian. */
export const CKA_PUBLIC_EXPONENT = 0x122
/** Attribute: the bytes of a symmetric key. */
export const CKA_VALUE_LEN = 0x161
/** Attribute: the key may leave the token, wrapped. */
export const CKA_EXTRACTABLE = 0x162
/** Attribute: the curve, as an object identifier in DER. */
export const CKA_EC_PARAMS = 0x180
/** Attribute: the public point. */
export const CKA_EC_POINT = 0x181

/** Mechanism that makes an RSA key pair. */
export const CKM_RSA_PKCS_KEY_PAIR_GEN = 0x00
/** Mechanism: RSA with the padding of PKCS #1 v1.5. */
export const CKM_RSA_PKCS = 0x01
/** Mechanism: RSA-OAEP. */
export const CKM_RSA_PKCS_OAEP = 0x09
/** Mechanism: RSA-PSS over a hash. */
export const CKM_RSA_PKCS_PSS = 0x0d
/** Mechanism that makes an EC key pair. */
export const CKM_EC_KEY_PAIR_GEN = 0x1040
/** Mechanism: ECDSA over a hash. */
export const CKM_ECDSA = 0x1041
/** Mechanism that makes an AES key. */
export const CKM_AES_KEY_GEN = 0x1080
/** Mechanism: AES-GCM. */
export const CKM_AES_GCM = 0x1087
/** Source of the label of OAEP: given, here as no bytes. */
export const CKZ_DATA_SPECIFIED = 1

/** Error without a reason; of all kinds of faults. */
export const CKR_GENERAL_ERROR = 0x05
/** Error without a reason: the call failed. */
export const CKR_FUNCTION_FAILED = 0x06
/** Error: an argument is wrong. */
export const CKR_ARGUMENTS_BAD = 0x07
/** Error: the mechanism does not accept these data. */
export const CKR_DATA_INVALID = 0x20
/** Error: the mechanism does not accept so many bytes. */
export const CKR_DATA_LEN_RANGE = 0x21
/** Error: the ciphertext does not open. */
export const CKR_ENCRYPTED_DATA_INVALID = 0x40
/** Error: no ciphertext of this key has so many bytes. */
export const CKR_ENCRYPTED_DATA_LEN_RANGE = 0x41
/** Error: the mechanism does not accept a key of this size. */
export const CKR_KEY_SIZE_RANGE = 0x62
/** Error: the key is of another type than the mechanism. */
export const CKR_KEY_TYPE_INCONSISTENT = 0x63
/** Error: the attributes of the key do not allow this use. */
export const CKR_KEY_FUNCTION_NOT_PERMITTED = 0x68
/** Error: the token does not have the mechanism. */
export const CKR_MECHANISM_INVALID = 0x70
/** Error: the token does not accept the parameters of the mechanism. */
export const CKR_MECHANISM_PARAM_INVALID = 0x71
/** The first of the errors about a PIN. */
export const CKR_PIN_INCORRECT = 0xa0
/** The last of the errors about a PIN: the token has locked itself. */
export const CKR_PIN_LOCKED = 0xa4
/** Error of C_Login: the user is logged in already, so the PIN was not checked. */
export const CKR_USER_ALREADY_LOGGED_IN = 0x100
/** Error of C_Initialize: the library has begun already, which does no harm. */
export const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191

/** A handle of a slot, a session or an object: the bytes of a CK_ULONG. */
export type ObjectHandle = Buffer
/** An attribute of an object, to find it by or to make it with. */
export type Attribute = { readonly type: number; readonly value: number | boolean | string | Buffer }
/** A mechanism with its parameter, whose members the binding defines. */
export type Mechanism = { readonly mechanism: number; readonly parameter?: object }
/** The description of a token. `label` is padded to 32 characters. */
export type TokenInfo = { readonly label: string; readonly serialNumber: string; readonly flags: number }

/**
 * The functions of the binding, by their names in PKCS #11. Calls block the thread, and throw an error whose `code` is
 * a CKR number if the device refuses. A target is a buffer for a result; the part of it that was used is returned.
 */
export interface Cryptoki {
  /** Loads the file of a library into the process. */
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

/** Returns the CKR number of an error that the binding threw; undefined if the device did not refuse. */
export function deviceCodeOf(cause: unknown): number | undefined {
  const code = cause instanceof Error ? (cause as { code?: unknown }).code : undefined
  return typeof code === 'number' ? code : undefined
}
