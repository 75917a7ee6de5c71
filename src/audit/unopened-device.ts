// Stands for a device that cannot be opened at all on this server: a newer server of the set has made it with options
// that are unknown here, or this cluster has no key yet that signs chains. It stores nothing, so an entry counts as
// recorded only if another device stores it. A file that cannot be opened is no such case: FileDevice tries by itself.
import type { Device } from './device.ts'
import { EntryFormat } from './entry-text.ts'
import type { EntryType } from './line-stream.ts'

/** A device that takes every entry and stores none. */
export class UnopenedDevice implements Device {
  readonly path: string
  readonly format: EntryFormat
  readonly hmac: Device['hmac']
  readonly waiting = 0

  constructor(path: string, hmac: Device['hmac'], whole: ConstructorParameters<typeof EntryFormat>[2]) {
    this.path = path
    this.hmac = hmac
    this.format = new EntryFormat(hmac, { raw: false, hmacAccessor: true, elideLists: true }, whole)
  }

  append(_type: EntryType, _body: string, _rest: string): boolean {
    return true
  }

  begin(): void {}

  checkpoint(): void {}

  flush(): boolean {
    return false
  }

  async reopen(): Promise<undefined> {}

  async end(): Promise<void> {}
}
