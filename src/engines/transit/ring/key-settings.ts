// The settings of a key that can change after its creation (Interface 4.2, "Update key configuration").
import { fail } from '../../../api/errors.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { RingHeader } from './ring-header.ts'
import { changeMinimums, requireAvailable, type WantedMinimums } from './versions.ts'

/** Interface 7.10. */
const SHORTEST_PERIOD_SECONDS = 3600

/** Settings that a request asks for; undefined leaves one as it is. */
export type WantedSettings = WantedMinimums & {
  readonly deletionAllowed: boolean | undefined
  readonly exportable: boolean | undefined
  readonly allowPlaintextBackup: boolean | undefined
  readonly autoRotatePeriodSeconds: number | undefined
  readonly minMacBytes: number | undefined
}

/**
 * Returns the header with all wanted settings, or the very same header if they change nothing.
 * @throws Refusal; then none of them is set
 */
export function changeSettings(header: RingHeader, wanted: WantedSettings): RingHeader {
  const changed: RingHeader = {
    ...header,
    ...changeMinimums(header, wanted),
    deletionAllowed: wanted.deletionAllowed ?? header.deletionAllowed,
    // Interface 4.2: neither can be disabled once set. `false` is ignored, as clients send it with other changes.
    exportable: header.exportable || wanted.exportable === true,
    allowPlaintextBackup: header.allowPlaintextBackup || wanted.allowPlaintextBackup === true,
    autoRotatePeriodSeconds: wanted.autoRotatePeriodSeconds ?? header.autoRotatePeriodSeconds,
    ...(wanted.minMacBytes === undefined ? {} : { minMacBytes: requireMacBytes(header, wanted.minMacBytes) }),
  }
  requireRotatePeriod(changed.autoRotatePeriodSeconds)
  if (isSame(header, changed)) return header
  requireAvailable(changed)
  return changed
}

/** True if no setting changed. `after` has the members of `before`, and maybe more. */
function isSame(before: RingHeader, after: RingHeader): boolean {
  return (Object.keys(after) as (keyof RingHeader)[]).every((name) => before[name] === after[name])
}

/** Returns the length if keys of this type make CMACs. @throws Refusal */
function requireMacBytes({ type }: RingHeader, bytes: number): number {
  if (KEY_TYPES.get(type)?.cmac !== undefined) return bytes
  throw fail('field_not_applicable', [`"min_mac_length": only for keys that make CMACs, this one is of type ${type}`])
}

/** Checks a period for automatic rotation; 0 disables it. Interface 7.10: an hour at least. @throws Refusal */
export function requireRotatePeriod(seconds: number): void {
  if (seconds !== 0 && seconds < SHORTEST_PERIOD_SECONDS) {
    throw fail('out_of_range', ['"auto_rotate_period": auto rotate period must be 0 to disable or at least an hour'])
  }
}
