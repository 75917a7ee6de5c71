import { deviceCodeOf } from './cryptoki.ts'
import type { FaultKind, OrderFault } from './orders.ts'

/** Why a device does not do what it is asked. Inside its process alone: outside it is an outcome. */
export class DeviceFault extends Error {
  override name = 'DeviceFault'
  readonly kind: FaultKind

  constructor(kind: FaultKind, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.kind = kind
  }

  get outcome(): OrderFault {
    return { fault: this.kind, detail: this.message }
  }
}

/** What the device said, by its name: 'CKR_DEVICE_ERROR'. Messages of a binding that are no such name are left out. */
export function deviceFaultName(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : ''
  if (/^CKR_[A-Z0-9_]{1,60}$/.test(message)) return message
  const code = deviceCodeOf(cause)
  return code === undefined ? 'an unknown failure' : `CKR 0x${code.toString(16)}`
}
