// Defines what a type of audit device is. Each type has a file here and a line in device-types.ts.
import { fail, type Refusal } from '../../api/errors.ts'
import type { Target } from '../device.ts'

/** Options as requests and the configuration file give them. */
export type Options = Readonly<Record<string, string>>

/** One type of device. */
export type DeviceType = {
  /** Name of the type in requests and in the configuration file. */
  readonly name: string
  /** How sentences name one such device: "Options of a file". */
  readonly oneOf: string
  /** Options of this type, besides those of every device. */
  readonly options: readonly string[]
  /** Options among them that still work, but that no text offers. */
  readonly oldOptions: readonly string[]
  /** Reads where a device writes. @throws Refusal naming the option */
  readonly target: (options: Options) => Target
}

/** The refusal of an option. */
export const refusal = (why: string): Refusal => fail('audit_option_invalid', [why])
