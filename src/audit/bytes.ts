/** What JSON does not know and a line holds as one text. */
export function isBytes(value: object): value is ArrayBufferView | ArrayBuffer | SharedArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer
}
