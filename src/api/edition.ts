// Which features an operator has on: the setting `edition` of the configuration, and the one place that asks it.
// Everything is in the product whatever the setting says; it only switches off.
import { fail } from './errors.ts'

export const EDITIONS = ['enterprise', 'plus', 'community'] as const
export type Edition = (typeof EDITIONS)[number]

export const DEFAULT_EDITION: Edition = 'enterprise'

/** By the names that `sys/license/status` lists. */
export const FEATURES = [
  'DR Replication',
  'Entropy Augmentation',
  'Managed Keys',
  'Namespaces',
  'Performance Replication',
  'Performance Standby',
  'Seal Wrapping',
] as const
export type Feature = (typeof FEATURES)[number]

const OFF: Readonly<Record<Edition, readonly Feature[]>> = {
  enterprise: [],
  plus: ['DR Replication'],
  community: ['DR Replication', 'Performance Replication', 'Managed Keys', 'Entropy Augmentation'],
}

export const featuresOf = (edition: Edition): readonly Feature[] =>
  FEATURES.filter((feature) => !OFF[edition].includes(feature))

/** @throws Refusal that names the feature and the setting */
export function requireFeature(edition: Edition, feature: Feature): void {
  if (OFF[edition].includes(feature)) throw fail('feature_off', [feature, edition])
}
