import { strict as assert } from 'node:assert'
import { after, beforeEach, test } from 'node:test'
import { type Answered, ask, askToken } from './asking.ts'
import type { Application } from './directory.ts'
import { startEmulator } from './emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from './sample-plan.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
let application: Application
beforeEach(() => {
  emulator.reset()
  application = emulator.directory.findApplication(SAMPLE.tenant, SAMPLE.clientId) ?? assert.fail('the sample has one')
})
const { graph } = emulator.addresses()

async function call(path: string, body?: object): Promise<Answered> {
  const { body: got } = await askToken(emulator, { scope: `${graph}/.default` })
  return ask(`${graph}/v1.0/${path}`, { token: got.access_token, ...(body === undefined ? {} : { body }) })
}

async function refusal(answer: Promise<Answered>): Promise<[number, string]> {
  const { status, body } = await answer
  return [status, body.error.code]
}

test('graph finds an application by its client id, in three ways', async () => {
  const filtered = await call(`applications?$filter=${encodeURIComponent(`appId eq '${SAMPLE.clientId}'`)}`)
  assert.equal(filtered.body.value.length, 1)
  const [found] = filtered.body.value
  assert.deepEqual([found.id, found.appId], [application.objectId, SAMPLE.clientId])
  assert.deepEqual(found.passwordCredentials.length, 1)
  assert.deepEqual([found.passwordCredentials[0].secretText, found.passwordCredentials[0].hint], [null, 'a s'])
  assert.deepEqual((await call(`applications(appId='${SAMPLE.clientId}')`)).body, found)
  assert.deepEqual((await call(`applications/${application.objectId}`)).body, found)
  const none = await call(`applications?$filter=${encodeURIComponent(`appId eq '${SAMPLE.tenant}'`)}`)
  assert.deepEqual(none.body.value, [])
  const others = call(`applications?$filter=${encodeURIComponent(`startswith(appId,'d')`)}`)
  assert.deepEqual(await refusal(others), [400, 'Request_UnsupportedQuery'])
})

test('graph adds a secret, shows it once, and removes it', async () => {
  const endDateTime = '2099-01-01T00:00:00.000Z'
  const credential = { displayName: 'made', endDateTime }
  const added = await call(`applications/${application.objectId}/addPassword`, { passwordCredential: credential })
  assert.equal(added.status, 200)
  const { secretText, keyId, displayName, endDateTime: end } = added.body
  assert.ok(secretText.length >= 16 && secretText.length <= 64)
  assert.deepEqual([displayName, end], ['made', endDateTime])
  assert.equal((await askToken(emulator, { client_secret: secretText })).status, 200)
  const shown = (await call(`applications/${application.objectId}`)).body.passwordCredentials
  assert.equal(JSON.stringify(shown).includes(secretText), false)
  const remove = () => call(`applications/${application.objectId}/removePassword`, { keyId })
  assert.equal((await remove()).status, 204)
  assert.equal((await askToken(emulator, { client_secret: secretText })).status, 401)
  assert.deepEqual(await refusal(remove()), [400, 'Request_BadRequest'])
})

test('a secret without an end lasts two years; an end that is none is refused', async () => {
  const { body } = await call(`applications/${application.objectId}/addPassword`, {})
  const years = (Date.parse(body.endDateTime) - Date.parse(body.startDateTime)) / 86_400_000 / 365
  assert.equal(years, 2)
  const wrong = { passwordCredential: { endDateTime: 'tomorrow' } }
  const answer = call(`applications/${application.objectId}/addPassword`, wrong)
  assert.deepEqual(await refusal(answer), [400, 'Request_BadRequest'])
})

test('a new secret is not known at once where that is switched on', async () => {
  emulator.directory.secretDelayMs = 2000
  const { body } = await call(`applications/${application.objectId}/addPassword`, {})
  const { body: early } = await askToken(emulator, { client_secret: body.secretText })
  assert.deepEqual(early.error_codes, [7000215])
  emulator.clock.skewMs = 2001
  assert.equal((await askToken(emulator, { client_secret: body.secretText })).status, 200)
})

test('an application has only so many secrets where that is switched on', async () => {
  emulator.directory.mostSecrets = 2
  assert.equal((await call(`applications/${application.objectId}/addPassword`, {})).status, 200)
  const answer = call(`applications/${application.objectId}/addPassword`, {})
  assert.deepEqual(await refusal(answer), [403, 'Directory_QuotaExceeded'])
})

test('an application writes what it owns, and nothing without permission', async () => {
  const other = emulator.directory.addApplication({ tenantId: SAMPLE.tenant })
  const write = () => refusal(call(`applications/${other.objectId}/addPassword`, {}))
  assert.deepEqual(await write(), [403, 'Authorization_RequestDenied'])
  application.permissions.add('Application.ReadWrite.All')
  assert.equal((await call(`applications/${other.objectId}/addPassword`, {})).status, 200)
  application.permissions.clear()
  assert.deepEqual(await write(), [403, 'Authorization_RequestDenied'])
  assert.deepEqual(await refusal(call(`applications/${SAMPLE.tenant}`)), [403, 'Authorization_RequestDenied'])
})

test('a token for somebody else does not open graph', async () => {
  const { body } = await askToken(emulator)
  const answer = ask(`${graph}/v1.0/applications`, { token: body.access_token })
  assert.deepEqual(await refusal(answer), [401, 'InvalidAuthenticationToken'])
  assert.deepEqual(await refusal(ask(`${graph}/v1.0/applications`)), [401, 'InvalidAuthenticationToken'])
})

test('graph says which groups a principal is in: all, or which of those asked for', async () => {
  const { id } = application.principal
  emulator.directory.join(id, 'g-1', 'g-2', 'g-3')
  for (const path of ['servicePrincipals', 'users', 'directoryObjects']) {
    const all = await call(`${path}/${id}/getMemberObjects`, { securityEnabledOnly: false })
    assert.deepEqual(all.body.value, ['g-1', 'g-2', 'g-3'])
    const some = await call(`${path}/${id}/checkMemberGroups`, { groupIds: ['g-3', 'g-4'] })
    assert.deepEqual(some.body.value, ['g-3'])
  }
  const groupIds = Array.from({ length: 21 }, (_, index) => `g-${index}`)
  const tooMany = call(`servicePrincipals/${id}/checkMemberGroups`, { groupIds })
  assert.deepEqual(await refusal(tooMany), [400, 'Request_BadRequest'])
  const nobody = call(`servicePrincipals/${SAMPLE.tenant}/checkMemberGroups`, { groupIds: [] })
  assert.deepEqual(await refusal(nobody), [404, 'Request_ResourceNotFound'])
})
