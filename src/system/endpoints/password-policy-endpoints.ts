// sys/policies/password: rules for generated passwords (src/system/password-policy.ts has their form).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { namedThings, orNotFound } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import { decodePolicyText, PolicyError } from '../../auth/policy.ts'
import { generatePassword, PasswordPolicyError, parsePasswordPolicy } from '../password-policy.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'world'> & WithServices<'passwordPolicies'>

/** The name is part of a stored key. */
const MAX_NAME_CHARACTERS = 128
const nameField = { name: string('Name of the password policy', { required: true, max: MAX_NAME_CHARACTERS }) }

/** Runs `work` and turns its errors about a policy's text into a Refusal. */
function checked<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof PasswordPolicyError || cause instanceof PolicyError)
      throw fail('policy_invalid', [`failed to parse the password policy: ${cause.message}`], cause)
    throw cause
  }
}

const policies = namedThings({
  id: 'password-policies',
  writes: 'set',
  path: 'policies/password',
  name: nameField,
  summaries: {
    list: 'Lists the password policies',
    read: 'Shows the text of a password policy',
    write: 'Creates or replaces a password policy',
    delete: 'Deletes a password policy; an unknown policy is not an error',
  },
  response: { policy: text('Text of the policy in HCL or JSON, as written') },
  fields: { policy: string('Text of the policy in HCL or JSON, optionally base64-encoded', { required: true }) },
  names: ({ services }: System, { after, limit }, { id }) => services.passwordPolicies.list(id, after, limit),
  find: ({ services }: System, name, { id }) => services.passwordPolicies.find(id, name),
  missing: () => fail('no_such_policy', []),
  body: (policy) => ({ policy }),
  write: async ({ services }: System, name, { policy }, { namespace }) => {
    if (policy === '') throw fail('field_missing', ['policy', 'missing policy'])
    const document = checked(() => decodePolicyText(policy))
    checked(() => parsePasswordPolicy(document))
    await services.passwordPolicies.put(namespace.id, name, document)
    return DONE
  },
  remove: ({ services }: System, name, { id }) => services.passwordPolicies.delete(id, name),
})

// A read, as clients expect it, though each answer differs. The store keeps the text, which is parsed at each call.
const generate = endpoint({
  id: 'password-policies-generate',
  operation: 'read',
  path: 'policies/password/:name/generate',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Generates a password from the policy; the password is not stored',
  fields: nameField,
  response: { password: text('The generated password') },
  handler: async (system: System, { name }, { namespace }) => {
    const document = orNotFound(await system.services.passwordPolicies.find(namespace.id, name))
    const policy = checked(() => parsePasswordPolicy(document))
    return { data: { password: generatePassword(policy, system.world.random.bytes) } }
  },
})

/** List, read, write and delete, and a password by a policy. */
export const PASSWORD_POLICY_ENDPOINTS: readonly Endpoint<System>[] = [...policies, generate]
