import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { cloudReaches } from '../assembly/cloud-dependencies.ts'
import { BUILT_IN_CLOUDS, definedCloud, findCloud } from '../engines/cloud/clouds.ts'
import { DEFAULT_CONFIG, parseConfig } from './config.ts'

const GOOD = `cloud "TestCloud" {
  authority = "http://127.0.0.1:9101/"
  resource_manager = "https://rm.example"
  resource_manager_audience = "https://management.core.windows.net/"
  graph = "https://graph.example/"
  ca_file = "/etc/ca.pem"
  allow_http_loopback = true
}`

test('a cloud of the configuration', () => {
  const { clouds = assert.fail() } = parseConfig(GOOD)
  assert.deepEqual(clouds, [
    {
      name: 'TestCloud',
      authority: 'http://127.0.0.1:9101',
      resourceManager: 'https://rm.example',
      resourceManagerAudience: 'https://management.core.windows.net/',
      graph: 'https://graph.example',
      metadata: undefined,
      caFile: '/etc/ca.pem',
    },
  ])
  assert.deepEqual(DEFAULT_CONFIG.clouds, [])
})

const REFUSED: readonly [change: readonly [string, string], message: RegExp][] = [
  [['allow_http_loopback = true', ''], /"authority" of cloud "TestCloud" must be https, or allow_http_loopback/],
  [['https://rm.example', 'http://rm.example'], /"resource_manager" .* must be https: http is for addresses of this/],
  [['https://rm.example', 'https://kim:secret@rm.example'], /without a name or password/],
  [['https://rm.example', 'ftp://rm.example'], /must be an address such as/],
  [['graph = "https://graph.example/"', ''], /needs graph/],
  [['authority =', 'authorty ='], /did you mean "authority"/],
  [['"TestCloud"', '"AzurePublicCloud"'], /is built in/],
  [['"TestCloud"', '"a b"'], /must be letters, digits/],
  [['https://rm.example', 'https://MANAGEMENT.azure.com:443/x'], /"resource_manager" .* of a built-in cloud: https:/],
  [['http://127.0.0.1:9101/', 'https://login.microsoftonline.com/'], /"authority" .* not be an address of a built-in/],
  [['https://graph.example/', 'https://graph.microsoft.us'], /"graph" .* not be an address of a built-in cloud/],
]
for (const [[from, to], message] of REFUSED) {
  test(`L-11: refused: ${to === '' ? `without ${from}` : to}`, () => {
    assert.throws(() => parseConfig(GOOD.replace(from, to)), message)
  })
}

test('two clouds of one name', () => {
  assert.throws(() => parseConfig(`${GOOD}\n${GOOD.replace('TestCloud', 'testcloud')}`), /two clouds with the name/)
})

test('L-11: two clouds at one origin trust the same certificates', () => {
  const other = GOOD.replace('TestCloud', 'Other').replace('graph.example', 'other.example')
  assert.equal(parseConfig(`${GOOD}\n${other}`).clouds?.length, 2)
  for (const trust of ['ca_file = "/etc/other.pem"', ''])
    assert.throws(
      () => parseConfig(`${GOOD}\n${other.replace('ca_file = "/etc/ca.pem"', trust)}`),
      /clouds "TestCloud" and "Other" both use http:\/\/127\.0\.0\.1:9101: give both the same ca_file, or none/,
    )
})

test('L-11: only addresses of table and configuration can be reached, the vendor’s in the internet only', () => {
  const stanza = parseConfig(GOOD).clouds?.[0] ?? assert.fail()
  const reaches = cloudReaches({ environment: {}, clouds: [definedCloud(stanza)] })
  const origins = reaches.map(({ origin }) => origin)
  for (const origin of [
    'http://127.0.0.1:9101',
    'https://rm.example',
    'https://graph.example',
    'https://graph.microsoft.us',
  ])
    assert.ok(origins.includes(origin), origin)
  for (const { origin, isPublic } of reaches.filter((each) => each.origin.includes('microsoft')))
    assert.equal(isPublic, true, origin)
  assert.ok(BUILT_IN_CLOUDS.every(({ authority }) => origins.includes(authority)))
})

test('clouds by name', () => {
  assert.equal(findCloud('', [])?.name, 'PublicCloud')
  assert.equal(findCloud('azureusgovernmentcloud', [])?.resourceManager, 'https://management.usgovcloudapi.net')
  assert.equal(findCloud('CloudChinaCloud', [])?.keyOrigins.length, 2)
  assert.equal(findCloud('PublicCloud', []), undefined)
})
