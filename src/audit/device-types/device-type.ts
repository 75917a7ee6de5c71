// What a type of audit device is. Each has a file here, and a line in device-types.ts.
import { fail, type Refusal } from '../../api/errors.ts'
import type { Target } from '../device.ts'

export type Options = Readonly<Record<string, string>>

export type DeviceType = {
  /** As requests and the configuration file name it. */
  readonly name: string
  /** As texts speak of one device: "Options of a file". */
  readonly oneOf: string
  /** Its own options, besides those that every device has. */
  readonly options: readonly string[]
  /** Those of them that still work, and that no text offers. */
  readonly oldOptions: readonly string[]
  /** Where such a device writes. @throws Refusal naming the option */
  readonly target: (options: Options) => Target
}

export const refusal = (why: string): Refusal => fail('audit_option_invalid', [why])
