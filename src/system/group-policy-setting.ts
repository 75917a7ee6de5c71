// Which groups of other namespaces grant something to a token (sys/config/group-policy-application), as it is stored.
import { GROUP_POLICY_MODES, type GroupPolicyMode } from '../auth/rights.ts'
import { oneOf } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** The setting behind sys/config/group-policy-application. */
export const GROUP_POLICY_SETTING = storedRecord('The setting group-policy-application', {
  mode: oneOf(...GROUP_POLICY_MODES),
})
type GroupPolicySetting = RecordOf<typeof GROUP_POLICY_SETTING>

/** The value while nothing is stored. */
export const WITHIN_HIERARCHY: GroupPolicySetting = { mode: 'within_namespace_hierarchy' }

/** The mode at this moment; a promise only at the first question after a change. */
export function groupPolicyMode(setting: {
  current(): GroupPolicySetting | Promise<GroupPolicySetting>
}): GroupPolicyMode | Promise<GroupPolicyMode> {
  const found = setting.current()
  return found instanceof Promise ? found.then(({ mode }) => mode) : found.mode
}
