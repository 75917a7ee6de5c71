// Checks whether the role admits the identity that the token proves. The one that asks the directory comes last: only
// the holder of a valid token that fits so far can make this server call the cloud.
import { known, type LoginCheck, type Stage } from './attempt.ts'
import { hasName, isGuid, namesAnybody } from './names.ts'
import { CloudRefusal, loginRefused, quotedInput } from './refusals.ts'
import { narrows } from './roles.ts'

const effective: LoginCheck = {
  name: 'the role narrows whom it admits',
  run: ({ role }) => {
    if (!narrows(known(role).bounds))
      throw loginRefused(
        'role has no effective constraint: "*" stands for everybody, bind identities, groups or resources',
      )
    return 'yes'
  },
}

const principal: LoginCheck = {
  name: 'bound_service_principal_ids',
  run: ({ role, identity }) => {
    const { principals } = known(role).bounds
    const { oid } = known(identity)
    if (namesAnybody(principals)) return 'any'
    if (!hasName(principals, oid)) throw loginRefused(`service principal not authorized: ${quotedInput(oid)}`)
    return quotedInput(oid)
  },
}

const group: LoginCheck = {
  name: 'bound_group_ids',
  run: async (attempt) => {
    const { groups: bound } = known(attempt.role).bounds
    const { groups, oid, isUser } = known(attempt.identity)
    const { settings, graph } = known(attempt.provider)
    attempt.groups = groups.isOverage ? [] : groups.ids
    if (namesAnybody(bound)) return 'any'
    if (!groups.isOverage) {
      const shared = groups.ids.find((id) => hasName(bound, id))
      if (shared === undefined)
        throw loginRefused(`groups not authorized: the token has ${groups.ids.length}, none of the role`)
      return quotedInput(shared)
    }
    if (!settings.checkGroupOverage)
      throw loginRefused(
        'group overage: the token has too many groups to list them; check_group_overage has them looked up',
      )
    attempt.beginAsking()
    try {
      // The directory refuses the whole question if one entry is not an id.
      attempt.groups = await graph.groupsOf({ id: oid, isUser }, bound.filter(isGuid), attempt.parts.deadline)
    } catch (cause) {
      if (!(cause instanceof CloudRefusal)) throw cause
      if (cause.status === 404)
        throw loginRefused('groups not authorized: the directory does not know the identity', cause)
      if (cause.status === 403)
        throw loginRefused('group overage: this server may not ask the directory: it needs GroupMember.Read.All', cause)
      throw cause
    }
    if (!attempt.groups.some((id) => hasName(bound, id)))
      throw loginRefused('groups not authorized: by the directory the identity is in none of the role')
    return 'by the directory'
  },
}

/** The checks of the identity against the role. */
export const ROLE_STAGES: readonly Stage[] = [[effective], [principal], [group]]
