/** True for binary data, which JSON does not have: a line shows it as one text. */
export function isBytes(value: object): value is ArrayBufferView | ArrayBuffer | SharedArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
}
