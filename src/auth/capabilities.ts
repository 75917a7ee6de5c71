// The capabilities that a policy can grant on a path, as words and as the bits of one number.

/** Sorted by name. The position is the bit, so reading the bits upwards gives the sorted list that clients expect. */
export const CAPABILITIES = [
  'create',
  'delete',
  'deny',
  'list',
  'patch',
  'read',
  'recover',
  'scan',
  'subscribe',
  'sudo',
  'update',
] as const
/** One word of `CAPABILITIES`, as policies and answers write it. */
export type PolicyCapability = (typeof CAPABILITIES)[number]

/** True if `text` is a capability; policies with other words are refused when they are parsed. */
export function isCapability(text: string): text is PolicyCapability {
  return (CAPABILITIES as readonly string[]).includes(text)
}

/** Returns the bit of one capability, which fits into a 32-bit number. */
export function capabilityBit(capability: PolicyCapability): number {
  return 1 << CAPABILITIES.indexOf(capability)
}

/** Returns the union of the capabilities' bits. */
export function capabilityBits(capabilities: Iterable<PolicyCapability>): number {
  let bits = 0
  for (const capability of capabilities) bits |= capabilityBit(capability)
  return bits
}

/** Returns the words of `bits`, sorted by name. */
export function capabilityNames(bits: number): PolicyCapability[] {
  return CAPABILITIES.filter((_, position) => (bits & (1 << position)) !== 0)
}
