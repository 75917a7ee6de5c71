// The device process. A fault in a maker's library happens here, and not where keys and tokens are. It ends with the
// server that started it.
import { DeviceService } from '../managed-keys/device-service.ts'
import type { FromDevices, ToDevices } from '../managed-keys/orders.ts'
import { PinGuard } from '../managed-keys/pin-guard.ts'
import { newBinding } from '../managed-keys/pkcs11-binding.ts'

const tell = (message: FromDevices): void => {
  process.send?.(message)
}

let guard: PinGuard | undefined
let service: DeviceService | undefined

process.on('message', (received) => {
  const message = received as ToDevices
  if (message.kind === 'begin') {
    const { libraries, pinSalt, refusedPins } = message
    guard = new PinGuard(pinSalt, refusedPins, (tag) => tell({ kind: 'pin-refused', tag }))
    service = new DeviceService(libraries, newBinding, guard)
  } else if (message.kind === 'forgive') guard?.forgive()
  else if (service !== undefined) tell({ kind: 'outcome', id: message.id, outcome: service.carryOut(message.order) })
})
process.on('disconnect', () => {
  service?.close()
  process.exit(0)
})
// A terminal sends these signals to the whole group. The server decides when this process ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
