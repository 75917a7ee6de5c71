// Checks of the request itself, before anything in the token is read.
import { fail } from '../../api/errors.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { isInCidrs } from '../../lib/cidr.ts'
import { known, type LoginCheck, type Stage } from './attempt.ts'
import { isGroupName, isGuid, isMachineName, isSameName } from './names.ts'
import { quotedInput } from './refusals.ts'
import { parseResourceId } from './resource-id.ts'
import { bindsResource, MAX_ROLE_NAME_CHARACTERS } from './roles.ts'

const tokenGiven: LoginCheck = {
  name: 'a token is given',
  run: ({ input }) => {
    if (input.jwt === '') throw fail('field_missing', ['jwt', 'jwt is required']) // Wire text.
    return `${input.jwt.length} characters`
  },
}

const roleNamed: LoginCheck = {
  name: 'a role is named',
  run: ({ input: { role } }) => {
    if (role === '') throw fail('field_missing', ['role', 'role is required']) // Wire text.
    if (role.length > MAX_ROLE_NAME_CHARACTERS)
      throw fail('out_of_range', ['role', `must have at most ${MAX_ROLE_NAME_CHARACTERS} characters`])
    return quotedInput(role)
  },
}

const roleKnown: LoginCheck = {
  name: 'the role exists',
  run: async (attempt) => {
    const { role: name } = attempt.input
    attempt.role = await attempt.parts.findRole(name)
    // Wire text.
    if (attempt.role === undefined) throw fail('no_such_entry', [`invalid role name ${quotedInput(name)}`])
    return asciiLowerCase(name)
  },
}

const address: LoginCheck = {
  name: 'the caller’s address',
  run: ({ input: { remoteAddress }, role }) => {
    const { boundCidrs } = known(role).settings
    // The refusal has the words of any token that is used from elsewhere.
    if (!isInCidrs(remoteAddress, boundCidrs)) throw fail('permission_denied', [])
    return boundCidrs.length === 0 ? 'the role takes any' : remoteAddress
  },
}

const configured: LoginCheck = {
  name: 'the mount is configured',
  run: async (attempt) => {
    attempt.provider = await attempt.parts.findProvider()
    return 'yes'
  },
}

const resourceFields: LoginCheck = {
  name: 'subscription_id and resource_group_name are given',
  run: ({ input, role, provider }) => {
    if (input.subscription_id !== '' && input.resource_group_name !== '') return 'both'
    if (bindsResource(known(role).bounds))
      // Wire text.
      throw fail('field_missing', ['subscription_id', 'subscription_id and resource_group_name are required'])
    if (known(provider).settings.requireResourceFields)
      throw fail('field_missing', [
        'subscription_id',
        'subscription_id and resource_group_name are required: require_resource_fields of the configuration relaxes it',
      ])
    return 'not needed: the role is not bound to resources'
  },
}

type NameField = 'subscription_id' | 'resource_group_name' | 'vm_name' | 'vmss_name'

const nameField = (field: NameField, isName: (text: string) => boolean, called: string): LoginCheck => ({
  name: `${field} is well-formed`,
  run: ({ input }) => {
    const text = input[field]
    if (text !== '' && !isName(text)) throw fail('name_invalid', [`invalid ${called} ${quotedInput(text)}`])
    return text === '' ? 'not given' : quotedInput(text)
  },
})

/** Only read if it decides which resource the caller is. */
const resourceId: LoginCheck = {
  name: 'resource_id is well-formed',
  run: ({ input, role }) => {
    const { resource_id: text, vm_name, vmss_name, subscription_id, resource_group_name } = input
    if (text === '') return 'not given'
    if (vm_name !== '' || vmss_name !== '') return 'not used: vm_name or vmss_name is given'
    if (!bindsResource(known(role).bounds)) return 'not used: the role is not bound to resources'
    const id = parseResourceId(text)
    if (id === undefined)
      throw fail('name_invalid', [
        `invalid resource_id ${quotedInput(text)}: expected ` +
          '/subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME',
      ])
    if (!isSameName(id.subscription, subscription_id))
      throw fail('fields_conflict', ['resource_id does not match subscription_id'])
    if (!isSameName(id.group, resource_group_name))
      throw fail('fields_conflict', ['resource_id does not match resource_group_name'])
    return quotedInput(text)
  },
}

/** The checks of the request, in the order in which a login is refused. */
export const REQUEST_STAGES: readonly Stage[] = [
  [tokenGiven, roleNamed],
  [roleKnown],
  [address],
  [configured],
  [resourceFields],
  [
    nameField('subscription_id', isGuid, 'subscription id'),
    nameField('resource_group_name', isGroupName, 'resource group name'),
    nameField('vm_name', isMachineName, 'vm name'),
    nameField('vmss_name', isMachineName, 'vmss_name'),
    resourceId,
  ],
]
