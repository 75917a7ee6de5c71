// What is stored as JSON stays as version 0.1.0 stored it: what calls lead to, and what becomes of a record that is
// read and stored again, those of still older versions among them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { decodeTokenEntry, encodeTokenEntry } from '../../src/auth/token-entry.ts'
import { TokenRoles } from '../../src/auth/token-role.ts'
import { decodeMountEntry, encodeMountEntry } from '../../src/core/mount-entries.ts'
import { AppRoles as ApproleRoles } from '../../src/engines/approle/roles.ts'
import { decodeSecretId, encodeSecretId } from '../../src/engines/approle/secret-id.ts'
import { ConfigStore } from '../../src/engines/cloud/config.ts'
import { CloudRoles } from '../../src/engines/cloud/roles.ts'
import { Users } from '../../src/engines/userpass/users.ts'
import { ALIAS, ENTITY, GROUP } from '../../src/identity/entries.ts'
import { realWorld } from '../../src/lib/world.ts'
import { decodeRecord, encodeRecord } from '../../src/managed-keys/managed-key-record.ts'
import { QUOTA_CONFIG, RATE_QUOTA } from '../../src/quotas/quota.ts'
import type { SealedStorage } from '../../src/storage/sealed-storage.ts'
import { decodeSealConfig, encodeSealConfig } from '../../src/system/seal/seal-config.ts'
import { MemoryView } from '../fixtures/memory-view.ts'
import { recordsOfVersion1, storedRecords } from '../fixtures/stored-records.ts'

const GOLDEN = recordsOfVersion1()

/** A later version draws a number before the accessors of the first mounts, which are drawn alike. */
const withoutFirstAccessors = (text: string): string =>
  text.replace(/"accessor":"(cubbyhole|identity|token|system)_[0-9a-f]{8}"/, '"accessor":"$1"')

/** Aliases got a stamp since then, and no other record this member at this place. */
const withoutStampOfAlias = (text: string): string => text.replace(/("local":\w+),"stamp":"[0-9a-f]{8}"/, '$1')

/** What is stored elsewhere, or otherwise, since then: the key of old, and what stands for it today. */
const SINCE: readonly { readonly old: RegExp; readonly today: readonly RegExp[] }[] = [
  { old: /^root\/core\/audit-origin$/, today: [/^root\/core\/audit-history$/] },
  { old: /^root\/logical\/[^/]+\/lives$/, today: [/\/cluster\/lives$/, /^root\/logical\/[^/]+\/clusters$/] },
]

/** The records but those of SINCE; `side` says which of them. */
function comparable(records: ReadonlyMap<string, string>, side: 'old' | 'today'): Readonly<Record<string, string>> {
  const moved = SINCE.flatMap(({ old, today }) => (side === 'old' ? [old] : today))
  for (const one of moved)
    assert.ok(
      [...records.keys()].some((key) => one.test(key)),
      String(one),
    )
  const kept = [...records].filter(([key]) => !moved.some((one) => one.test(key)))
  return Object.fromEntries(kept.map(([key, text]) => [key, withoutStampOfAlias(withoutFirstAccessors(text))]))
}

test('what a server stores as JSON is byte for byte what version 0.1.0 stored', async () => {
  const today = await storedRecords()
  assert.deepEqual(comparable(today, 'today'), comparable(GOLDEN, 'old'))
  const history = (records: ReadonlyMap<string, string>, name: string) => records.get(`root/core/${name}`)
  assert.equal(history(today, 'audit-history'), history(GOLDEN, 'audit-origin'))
})

type Rewritten = {
  readonly name: string
  /** Of the records above: what matches its key and its text. */
  readonly is: RegExp
  /** Reads the record and stores it again, unchanged. */
  readonly rewrite: (stored: Buffer) => Buffer | Promise<Buffer>
  /** Missing: to the same bytes. */
  readonly rewritten?: (text: string) => string
  /** What older versions stored, and how it is stored again. */
  readonly older?: readonly (readonly [stored: object, rewritten: object])[]
}

/** By a store that keeps it at `path` of its view. */
function within(path: string, change: (view: MemoryView) => Promise<unknown>): Rewritten['rewrite'] {
  return async (stored) => {
    const view = new MemoryView()
    view.plant(path, stored)
    await change(view)
    return view.entries.get(path) ?? assert.fail()
  }
}
const kept = <T>(thing: T | undefined): T => thing ?? assert.fail()
const storageOf = (view: MemoryView): SealedStorage =>
  ({
    view: () => view,
    transaction: <T>(work: (folders: { at: () => unknown }) => Promise<T>) =>
      view.transaction((tx) => work({ at: () => tx })),
  }) as unknown as SealedStorage

const SETTINGS = {
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  explicitMaxTtlSeconds: 0,
  periodSeconds: 0,
  policies: [],
  boundCidrs: [],
  noDefaultPolicy: false,
  numUses: 0,
  type: 'default',
}
/** First token entries had neither of these. */
const FIRST_TOKEN = {
  format: 1,
  namespace: 'root',
  accessor: 'a',
  policies: ['p'],
  path: 'auth/token/create',
  displayName: 'token',
  meta: null,
  parent: '',
  createdAtMs: 1_700_000_000_000,
  creationTtlSeconds: 60,
  explicitMaxTtlSeconds: 0,
  periodSeconds: 0,
  renewable: true,
  expiry: { atMs: 1_700_000_060_000 },
  lastRenewalAtMs: null,
  numUses: -1,
  aMemberOfTomorrow: { x: 1 },
}
const APPROLE = {
  format: 1,
  roleId: 'i',
  bindSecretId: true,
  secretIdBoundCidrs: [],
  secretIdNumUses: 0,
  secretIdTtlSeconds: 0,
  settings: { numUses: 2 },
  oldNames: [],
}
const CLOUD = { tenantId: 't', resource: 'r', environment: '', clientId: 'c' }
const OVER = { over: [{ keyId: 'k', name: 'n' }], left: [], lastAtMs: null }
const NEWER_CLOUD = {
  rootPasswordTtlSeconds: 15_768_000,
  maxRetries: 3,
  retryDelaySeconds: 4,
  maxRetryDelaySeconds: 60,
  requireResourceFields: true,
  acceptV2Tokens: false,
  checkGroupOverage: false,
  rotationPeriodSeconds: 0,
  rotationSchedule: '',
  rotationWindowSeconds: 0,
  disableAutomatedRotation: false,
  periodFromMs: null,
  generation: 0,
  authType: '',
  identityTokenAudience: '',
  identityTokenTtlSeconds: 0,
}

const RECORDS: readonly Rewritten[] = [
  {
    name: 'token entry',
    is: /\/sys\/token\/id\//,
    rewrite: (stored) => encodeTokenEntry(decodeTokenEntry(stored)),
    // What the first ones lacked comes first.
    rewritten: (text) => {
      const { type, entityId, boundCidrs, role, login, ...entry } = JSON.parse(text)
      return JSON.stringify({ type, entityId, boundCidrs, role, login, ...entry })
    },
    older: [
      [FIRST_TOKEN, { type: 'service', entityId: '', boundCidrs: [], role: '', login: null, ...FIRST_TOKEN }],
      [
        { ...FIRST_TOKEN, expiry: { never: true }, usesGiven: 3, type: 'service' },
        {
          type: 'service',
          entityId: '',
          boundCidrs: [],
          role: '',
          login: null,
          ...FIRST_TOKEN,
          expiry: { never: true },
          usesGiven: 3,
        },
      ],
    ],
  },
  {
    name: 'token role',
    is: /\/sys\/token-role\//,
    rewrite: within('r', (view) => new TokenRoles(storageOf(view)).write(ROOT, 'r', (role) => role)),
    older: [
      [
        { format: 1, orphan: true, aMemberOfTomorrow: 1 },
        {
          format: 1,
          allowedPolicies: [],
          disallowedPolicies: [],
          allowedPoliciesGlob: [],
          disallowedPoliciesGlob: [],
          allowedEntityAliases: [],
          orphan: true,
          renewable: true,
          pathSuffix: '',
          periodSeconds: 0,
          explicitMaxTtlSeconds: 0,
          boundCidrs: [],
          tokenType: 'default-service',
          noDefaultPolicy: false,
          numUses: 0,
          oldNames: [],
          aMemberOfTomorrow: 1,
        },
      ],
    ],
  },
  {
    name: 'mount entry',
    is: /\/core\/(?:local-)?mounts\//,
    rewrite: (stored) => encodeMountEntry(decodeMountEntry(stored)),
  },
  { name: 'entity', is: /\/identity\/entity\//, rewrite: (stored) => ENTITY.encode(ENTITY.decode(stored)) },
  { name: 'alias', is: /\/identity\/alias\//, rewrite: (stored) => ALIAS.encode(ALIAS.decode(stored)) },
  { name: 'group', is: /\/identity\/group\//, rewrite: (stored) => GROUP.encode(GROUP.decode(stored)) },
  {
    name: 'user',
    is: /\/user\//,
    rewrite: within('user/ann', (view) => new Users(view).change('ann', kept)),
    older: [
      [
        { format: 1, password: 'x', settings: { policies: ['p'], aMemberOfTomorrow: 1 } },
        { format: 1, password: 'x', settings: { ...SETTINGS, policies: ['p'], aMemberOfTomorrow: 1 }, oldNames: [] },
      ],
    ],
  },
  {
    name: 'role of AppRole',
    is: /"roleId"/,
    rewrite: within('role/r', (view) => new ApproleRoles(view, realWorld()).change('r', kept)),
    older: [[APPROLE, { ...APPROLE, settings: { ...SETTINGS, numUses: 2 } }]],
  },
  { name: 'secret id', is: /\/secret\//, rewrite: (stored) => encodeSecretId(decodeSecretId(stored)) },
  {
    name: 'role of a cloud',
    is: /"bounds"/,
    rewrite: within('role/r', (view) => new CloudRoles(view).change('r', kept)),
    older: [
      [
        { format: 1, bounds: { groups: ['g'] }, settings: { numUses: 2 }, oldNames: ['ttl'] },
        {
          format: 1,
          bounds: {
            principals: [],
            groups: ['g'],
            subscriptions: [],
            resourceGroups: [],
            locations: [],
            scaleSets: [],
          },
          settings: { ...SETTINGS, numUses: 2 },
          oldNames: ['ttl'],
        },
      ],
    ],
  },
  {
    name: 'configuration of a cloud',
    is: /"tenantId"/,
    rewrite: within('config', (view) => new ConfigStore(view).change((config) => config)),
    rewritten: (text) => {
      const { format, tenantId, resource, environment, clientId, secret, ...config } = JSON.parse(text)
      return JSON.stringify({ format, tenantId, resource, environment, clientId, secret, ...config })
    },
    older: [
      [
        { format: 1, ...CLOUD, rotation: { ...OVER, asked: 'name' } },
        { format: 1, ...CLOUD, ...NEWER_CLOUD, rotation: { ...OVER, asked: { keyId: '', name: 'name' } } },
      ],
      [
        { format: 1, ...CLOUD, ...NEWER_CLOUD },
        { format: 1, ...CLOUD, ...NEWER_CLOUD, rotation: { over: [], left: [], lastAtMs: null } },
      ],
    ],
  },
  { name: 'quota', is: /\/rate-limit\//, rewrite: (stored) => RATE_QUOTA.encode(RATE_QUOTA.decode(stored)) },
  {
    name: 'settings of quotas',
    is: /\/quota\/config /,
    rewrite: (stored) => QUOTA_CONFIG.encode(QUOTA_CONFIG.decode(stored)),
    older: [
      [
        { format: 1, exemptPaths: ['a'], responseHeaders: true },
        { format: 1, exemptPaths: ['a'], responseHeaders: true, auditsRefusals: false },
      ],
    ],
  },
  { name: 'managed key', is: /\/managed-key\/pkcs11\//, rewrite: (stored) => encodeRecord(decodeRecord(stored)) },
  {
    name: 'seal configuration',
    is: /\/seal-config /,
    rewrite: (stored) => encodeSealConfig(decodeSealConfig(stored)),
    older: [
      [
        { format: 1, type: 'static', keyId: 'k', shares: 5, threshold: 3 },
        { format: 1, type: 'static', keyId: 'k', shares: 5, threshold: 3 },
      ],
    ],
  },
]

for (const { name, is, rewrite, rewritten = (text: string) => text, older = [] } of RECORDS) {
  test(`a stored ${name} that is read and stored again is the same to the byte`, async () => {
    const texts = [...GOLDEN].filter((each) => is.test(each.join(' '))).map(([, text]) => text)
    assert.ok(texts.length > 0)
    for (const text of texts) assert.equal((await rewrite(Buffer.from(text))).toString(), rewritten(text))
    for (const [stored, rewritten] of older)
      assert.equal((await rewrite(Buffer.from(JSON.stringify(stored)))).toString(), JSON.stringify(rewritten))
  })
}
