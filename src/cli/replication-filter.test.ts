// `keywright operator replication filter`: the requests that it sends, and what it prints.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, type Reply, ROOT_TOKEN, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function filter(argv: string): Promise<Ran> {
  const words = `operator replication filter ${argv}`.split(' ')
  return runClient(words, { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN } })
}

const BELOW = '/v1/sys/replication/performance/'.length
const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target.slice(BELOW)} ${body}`)

const data = (members: object): Reply => ({ status: 200, body: envelope({ data: members }) })
const DONE: Reply = { status: 204 }
const EFFECT = data({ would_appear: ['team/'], would_vanish: ['kv/', 'ns/kv/'] })
const SHOWN = `Change      Path
------      ----
appears     team/
vanishes    kv/
vanishes    ns/kv/
`
/** The first answer is that of the trial. */
const tried = (effect: Reply, then: Reply = DONE): void => {
  api.answer = ({ body }) => (body.includes('dry_run') ? effect : then)
}

const DENY = '{"mode":"deny","paths":["kv/","ns/"]}'
const TRIED = 'POST primary/paths-filter/eu {"mode":"deny","paths":["kv/","ns/"],"dry_run":true}'
const WRITE = 'write -id=eu -mode=deny'

test('a filter is written once it was shown what comes of it', async () => {
  tried(EFFECT)
  const ran = await filter(`${WRITE} -yes kv/ ns/`)
  assert.deepEqual([ran.code, ran.stderr], [0, ''])
  assert.equal(ran.stdout, `${SHOWN}\nSuccess! Wrote the filter of eu\n`)
  assert.deepEqual(asked(), [TRIED, `POST primary/paths-filter/eu ${DENY}`])
})

test('an id goes into the path as it is, whatever characters it has', async () => {
  api.answer = () => data({ dynamic_filtered_mounts: [], dynamic_filtered_namespaces: [] })
  for (const [id, escaped] of [
    ['eu/west', 'eu/west'],
    ['eu:west+Z\u00fcrich?', 'eu%3Awest%2BZ%C3%BCrich%3F'],
    ['-x.', '-x.'],
  ]) {
    assert.equal((await filter(`show -id=${id}`)).code, 0)
    assert.equal(asked().at(-1), `GET primary/dynamic-filter/${escaped} `)
  }
  const spaced = ['operator', 'replication', 'filter', 'show', '-id= eu west']
  await runClient(spaced, { env: { VAULT_ADDR: api.address, VAULT_TOKEN: ROOT_TOKEN } })
  assert.equal(asked().at(-1), 'GET primary/dynamic-filter/%20eu%20west ')
  const before = asked().length
  for (const id of ['eu/', '/eu', 'eu//west', '..', 'eu/.']) {
    const ran = await filter(`${WRITE.replace('=eu', `=${id}`)} -yes kv/`)
    assert.match(ran.stderr, /-id cannot be part of a path: give the id of the cluster/, id)
    assert.equal(ran.code, 1)
  }
  assert.equal(asked().length, before)
})

test('without -yes it is only shown: -dry-run says that this is all', async () => {
  tried(EFFECT)
  const looked = await filter(`${WRITE} -dry-run kv/ ns/`)
  assert.deepEqual([looked.code, looked.stdout, looked.stderr], [0, SHOWN, ''])
  const unconfirmed = await filter(`${WRITE} kv/ ns/`)
  assert.deepEqual([unconfirmed.code, unconfirmed.stdout], [1, SHOWN])
  assert.match(unconfirmed.stderr, /filter write: nothing was changed: confirm it with -yes\n/)
  assert.deepEqual(asked(), [TRIED, TRIED])
})

test('a filter is removed likewise: the trial is of one that forbids nothing', async () => {
  tried(data({ would_appear: [], would_vanish: [] }))
  const ran = await filter('delete -id=eu -yes')
  assert.deepEqual(
    [ran.code, ran.stdout, ran.stderr],
    [0, 'Nothing changes for the secondary now\n\nSuccess! eu has no filter\n', ''],
  )
  assert.deepEqual(asked(), [
    'POST primary/paths-filter/eu {"mode":"deny","paths":[],"dry_run":true}',
    'DELETE primary/paths-filter/eu ',
  ])
  assert.equal((await filter('delete -id=eu')).code, 1)
  assert.equal(asked().length, 3)
})

test('programs get the answer of the trial, and nothing else', async () => {
  tried(EFFECT)
  const ran = await filter('write -id=eu -mode=allow -yes -format=json team/')
  assert.equal(ran.code, 0)
  assert.deepEqual(JSON.parse(ran.stdout).data, { would_appear: ['team/'], would_vanish: ['kv/', 'ns/kv/'] })
  assert.equal((await filter(`${WRITE} -yes -field=would_appear kv/`)).stdout, '["team/"]')
})

test('a filter is not written where the trial was refused', async () => {
  tried({ status: 400, body: { errors: ['"paths" names no mount and no namespace: x/'] } })
  const ran = await filter(`${WRITE} -yes x/`)
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /names no mount and no namespace: x\//)
  assert.equal(asked().length, 1)
})

const READS: readonly { readonly data: object | undefined; readonly says: string }[] = [
  {
    data: { mode: 'deny', paths: ['kv/', 'ns/'] },
    says: 'Mode    Path\n----    ----\ndeny    kv/\ndeny    ns/\n',
  },
  { data: { mode: 'deny', paths: [] }, says: 'deny, without a path: it gets everything\n' },
  { data: { mode: 'allow', paths: [] }, says: 'allow, without a path: it gets no mount and no namespace\n' },
  { data: undefined, says: 'No filter: eu gets everything\n' },
]
for (const { data: members, says } of READS) {
  test(`a filter is read: ${JSON.stringify(members)}`, async () => {
    api.answer = () => (members === undefined ? { status: 200 } : data(members))
    const ran = await filter('read -id=eu')
    assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, says, ''])
    assert.deepEqual(asked(), ['GET primary/paths-filter/eu '])
  })
}

test('what is filtered now is shown by either side', async () => {
  api.answer = () => data({ dynamic_filtered_mounts: ['kv/', 'ns/kv/'], dynamic_filtered_namespaces: ['ns/'] })
  const table = 'Kind         Path\n----         ----\nnamespace    ns/\nmount        kv/\nmount        ns/kv/\n'
  for (const more of ['', ' -secondary']) assert.equal((await filter(`show -id=eu${more}`)).stdout, table)
  api.answer = () => data({ dynamic_filtered_mounts: [], dynamic_filtered_namespaces: [] })
  assert.equal((await filter('show -id=eu')).stdout, 'Nothing is filtered now\n')
  assert.deepEqual(asked(), [
    'GET primary/dynamic-filter/eu ',
    'GET secondary/dynamic-filter/eu ',
    'GET primary/dynamic-filter/eu ',
  ])
})

const NOT_SENT: readonly (readonly [argv: string, says: RegExp])[] = [
  ['read', /-id is missing/],
  ['show -id=', /-id is missing/],
  ['delete -yes', /-id is missing/],
  ['write -mode=deny kv/', /-id is missing/],
  ['write -id=eu kv/', /-mode is missing: allow or deny/],
  ['write -id=eu -mode=whitelist kv/', /-mode/],
  ['write -id=eu -mode=deny -yes -dry-run kv/', /-yes and -dry-run are two commands/],
]
for (const [argv, says] of NOT_SENT) {
  test(`filter ${argv}: nothing is sent`, async () => {
    const ran = await filter(argv)
    assert.deepEqual([ran.code, ran.stdout], [1, ''])
    assert.match(ran.stderr, says)
    assert.deepEqual(asked(), [])
  })
}
