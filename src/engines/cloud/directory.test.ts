import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { answered, answeringCloud } from '../../../test/fixtures/answering-cloud.ts'
import { definedCloud } from './clouds.ts'
import { LoginDeadline } from './deadline.ts'
import { Directory } from './directory.ts'
import { CloudUnavailable } from './refusals.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const AUTHORITY = 'https://login.test:8443'
const cloud = definedCloud({
  name: 'Test',
  authority: AUTHORITY,
  resourceManager: 'https://manage.test',
  resourceManagerAudience: 'https://manage.test/',
  graph: 'https://graph.test',
  metadata: undefined,
})
const URL_OF = {
  v1: `${AUTHORITY}/${TENANT}/.well-known/openid-configuration`,
  v2: `${AUTHORITY}/${TENANT}/v2.0/.well-known/openid-configuration`,
}
const ISSUER = { v1: `${AUTHORITY}/${TENANT}/`, v2: `${AUTHORITY}/${TENANT}/v2.0` }

/** A directory whose document says this; its keys cannot be used. */
function start(document: object, version: 'v1' | 'v2' = 'v1') {
  const { world, upstream, asked } = answeringCloud(({ url }) =>
    answered(200, url === URL_OF[version] ? document : { keys: [] }),
  )
  const directory = new Directory(world, upstream, cloud, TENANT, version)
  const deadline = new LoginDeadline(world)
  const detail = (work: Promise<unknown>) =>
    work.then(
      () => '',
      (cause: unknown) => (cause instanceof CloudUnavailable ? cause.message : assert.fail(String(cause))),
    )
  return {
    issuer: () => directory.issuer(deadline),
    refusal: () => detail(directory.issuer(deadline)),
    keyRefusal: () => detail(directory.key('a', deadline)),
    urls: () => asked.map(({ url }) => url),
    bounds: () => asked.map(({ maxAnswerBytes }) => maxAnswerBytes),
  }
}

const KEYS_ELSEWHERE = [
  'https://graph.test/keys',
  'https://manage.test/keys',
  'http://login.test:8443/keys',
  'https://login.test/keys',
  'https://user@login.test:8443/keys',
  'https://:word@login.test:8443/keys',
  `${AUTHORITY}/${'k'.repeat(2_048 - AUTHORITY.length)}`,
  '/keys',
  7,
  undefined,
]
for (const jwks_uri of KEYS_ELSEWHERE) {
  test(`keys are read from the identity provider alone, not from ${String(jwks_uri).slice(0, 40)}`, async () => {
    const { refusal, keyRefusal, urls } = start({ issuer: ISSUER.v1, jwks_uri })
    assert.equal(await refusal(), 'In its documents the keys are at another place')
    assert.equal(await keyRefusal(), 'In its documents the keys are at another place')
    assert.deepEqual([...new Set(urls())], [URL_OF.v1])
  })
}

test('keys are read from where the document says, of either version', async () => {
  for (const version of ['v1', 'v2'] as const) {
    const jwks_uri = `${AUTHORITY}/${'k'.repeat(2_048 - AUTHORITY.length - 1)}`
    const { issuer, keyRefusal, urls } = start({ issuer: ISSUER[version], jwks_uri }, version)
    const { issuer: found, tenant } = await issuer()
    assert.deepEqual([found, tenant], [ISSUER[version], TENANT])
    const none = 'In its documents the document of keys has no key that can be used, or one name twice'
    assert.equal(await keyRefusal(), none)
    assert.deepEqual(urls(), [URL_OF[version], jwks_uri])
  }
})

const FORM = 'In its documents the issuer is not of the form that the cloud has'
const ISSUERS = [
  { issuer: `https://graph.test/${TENANT}/`, says: FORM },
  { issuer: ISSUER.v2, says: FORM },
  { issuer: 7, says: FORM },
  { issuer: `${AUTHORITY}/common/`, says: 'In its documents the issuer names no tenant' },
]
test('an issuer has the form that the cloud has, and names a tenant', async () => {
  for (const { issuer, says } of ISSUERS) {
    assert.equal(await start({ issuer, jwks_uri: `${AUTHORITY}/keys` }).refusal(), says)
  }
})

test('documents and keys are asked for with a bound of 256 KiB', async () => {
  const { keyRefusal, bounds } = start({ issuer: ISSUER.v1, jwks_uri: `${AUTHORITY}/keys` })
  await keyRefusal()
  assert.deepEqual(bounds(), [256 * 1024, 256 * 1024])
})
