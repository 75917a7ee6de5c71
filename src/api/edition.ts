// The setting `edition` of the configuration: which features an operator has switched on, and the only code that asks.
// Every edition contains the whole product; the setting only switches features off.
import { fail } from './errors.ts'

/** Values of the setting, the fullest first. */
export const EDITIONS = ['enterprise', 'plus', 'community'] as const
/** A set of features, as the setting names it. */
export type Edition = (typeof EDITIONS)[number]

/** The edition of a configuration that names none: everything is on. */
export const DEFAULT_EDITION: Edition = 'enterprise'

/** Features by the names that `sys/license/status` lists. OFF has those that an edition lacks. */
export const FEATURES = [
  'DR Replication',
  'Entropy Augmentation',
  'Managed Keys',
  'Namespaces',
  'Performance Replication',
  'Performance Standby',
  'Seal Wrapping',
] as const
/** A feature, with its name on the wire. */
export type Feature = (typeof FEATURES)[number]

const OFF: Readonly<Record<Edition, readonly Feature[]>> = {
  enterprise: [],
  plus: ['DR Replication'],
  community: ['DR Replication', 'Performance Replication', 'Managed Keys', 'Entropy Augmentation'],
}

/** Features that are on in the edition. */
export const featuresOf = (edition: Edition): readonly Feature[] =>
  FEATURES.filter((feature) => !OFF[edition].includes(feature))

const REPLICATION: Readonly<Record<'dr' | 'performance', Feature>> = {
  dr: 'DR Replication',
  performance: 'Performance Replication',
}

/** Requires the feature that operations of a family of replication need. @throws Refusal as `requireFeature` */
export function requireReplication(edition: Edition, family: 'dr' | 'performance'): void {
  requireFeature(edition, REPLICATION[family])
}

/** Requires a feature. @throws Refusal that names the feature and the setting */
export function requireFeature(edition: Edition, feature: Feature): void {
  if (OFF[edition].includes(feature)) throw fail('feature_off', [feature, edition])
}
