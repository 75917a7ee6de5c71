// sys/policies/password: rules by which passwords are made.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { LIST_OF_NAMES, namesAnswer, orNotFound } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import { decodePolicyText, PolicyError } from '../../auth/policy.ts'
import { generatePassword, PasswordPolicyError, parsePasswordPolicy } from '../password-policy.ts'
import type { System } from '../system.ts'

const MAX_NAME_CHARACTERS = 128
const nameField = { name: string('Name of the policy', { required: true, max: MAX_NAME_CHARACTERS }) }
const one = { path: 'policies/password/:name', fields: nameField } as const

/** `fail` for what a policy's text does not fulfil. */
function checked<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof PasswordPolicyError || cause instanceof PolicyError)
      throw fail('policy_invalid', [`failed to parse the password policy: ${cause.message}`], cause)
    throw cause
  }
}

async function textOf(system: System, name: string): Promise<string> {
  return orNotFound(await system.services.passwordPolicies.find(name))
}

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'password-policies-list',
  path: 'policies/password',
  summary: 'Names of the password policies',
  handler: async (system: System, { after, limit }) =>
    namesAnswer(await system.services.passwordPolicies.list(after, limit)),
})

const read = endpoint({
  id: 'password-policies-read',
  ...one,
  operation: 'read',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Text of a password policy',
  response: { policy: text('HCL or JSON, as it was written') },
  handler: async (system: System, { name }) => ({ data: { policy: await textOf(system, name) } }),
})

const write = endpoint({
  id: 'password-policies-write',
  ...one,
  operation: 'update',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Creates or replaces a password policy',
  fields: { ...nameField, policy: string('HCL or JSON, or base64 of either', { required: true }) },
  handler: async (system: System, { name, policy }) => {
    if (policy === '') throw fail('field_missing', ['policy', 'missing policy'])
    const document = checked(() => decodePolicyText(policy))
    checked(() => parsePasswordPolicy(document))
    await system.services.passwordPolicies.put(name, document)
    return DONE
  },
})

const remove = endpoint({
  id: 'password-policies-delete',
  ...one,
  operation: 'delete',
  capability: 'delete',
  runsOn: 'writer',
  summary: 'Removes a password policy; one that is not there is no error',
  handler: async (system: System, { name }) => {
    await system.services.passwordPolicies.delete(name)
    return DONE
  },
})

const generate = endpoint({
  id: 'password-policies-generate',
  operation: 'read',
  path: 'policies/password/:name/generate',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Makes a password by the policy; it is kept nowhere',
  fields: nameField,
  response: { password: text('The password') },
  handler: async (system: System, { name }) => {
    const document = await textOf(system, name)
    const policy = checked(() => parsePasswordPolicy(document))
    return { data: { password: generatePassword(policy, system.world.random.bytes) } }
  },
})

export const PASSWORD_POLICY_ENDPOINTS: readonly Endpoint[] = [list, read, write, remove, generate]
