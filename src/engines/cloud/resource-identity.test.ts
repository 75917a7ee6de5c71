import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type AttemptParts, LoginAttempt, type LoginInput } from './attempt.ts'
import { CloudRefusal } from './refusals.ts'
import { findIdentity } from './resource-identity.ts'

test('where the identities of a group may not be listed, it is told what this server needs for it', async () => {
  const input = { subscription_id: 's', resource_group_name: 'g' } as LoginInput
  const attempt = new LoginAttempt(input, {} as AttemptParts)
  const asked: string[] = []
  Object.assign(attempt, {
    jwt: { compact: '', header: {}, claims: {} },
    identity: { oid: 'o', clientId: 'c' },
    resource: { ownPrincipal: undefined, principals: [], unresolved: [] },
    role: { bounds: { resourceGroups: ['G', 'h'] } },
    provider: {
      resources: {
        identitiesIn: async (_subscription: string, group: string) => {
          asked.push(group)
          throw new CloudRefusal(group === 'g' ? 404 : 403, '')
        },
      },
    },
  })
  const needed = /its credential needs Microsoft\.ManagedIdentity\/userAssignedIdentities\/read/
  await assert.rejects(findIdentity(attempt), needed)
  // One that is not there has none, and is asked once.
  assert.deepEqual(asked, ['g', 'h'])
})
