// What a policy can grant on a path, as words and as bits of one number.

/** Sorted by name: the position is the bit, so reading the bits upwards gives the sorted list that clients expect. */
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
export type PolicyCapability = (typeof CAPABILITIES)[number]

export function isCapability(text: string): text is PolicyCapability {
  return (CAPABILITIES as readonly string[]).includes(text)
}

export function capabilityBit(capability: PolicyCapability): number {
  return 1 << CAPABILITIES.indexOf(capability)
}

export function capabilityBits(capabilities: Iterable<PolicyCapability>): number {
  let bits = 0
  for (const capability of capabilities) bits |= capabilityBit(capability)
  return bits
}

/** The words of `bits`, sorted. */
export function capabilityNames(bits: number): PolicyCapability[] {
  return CAPABILITIES.filter((_, position) => (bits & (1 << position)) !== 0)
}
