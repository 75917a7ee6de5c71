// Failures of devices, inside the process that calls them.
import { deviceCodeOf } from './cryptoki.ts'
import type { FaultKind, OrderFault } from './orders.ts'

/** Says why a device did not do what it was asked. It never leaves the process of the devices: `outcome` does. */
export class DeviceFault extends Error {
  override name = 'DeviceFault'
  readonly kind: FaultKind

  constructor(kind: FaultKind, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.kind = kind
  }

  /** The fault as plain data, for the answer to an order. */
  get outcome(): OrderFault {
    return { fault: this.kind, detail: this.message }
  }
}

/**
 * Returns the device's error by name, such as 'CKR_DEVICE_ERROR', or by number. Any other message of the binding is
 * left out: it could hold data.
 */
export function deviceFaultName(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : ''
  if (/^CKR_[A-Z0-9_]{1,60}$/.test(message)) return message
  const code = deviceCodeOf(cause)
  return code === undefined ? 'an unknown failure' : `CKR 0x${code.toString(16)}`
}
