import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CLASSES, classify, mayHaveClass } from './classes.ts'
import { MAX_KEY_BYTES, type Scope, type StorageClass, systemScope } from './contract.ts'
import { StorageRefused } from './errors.ts'

const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const mountScope: Scope = { namespace: 'root', mount: MOUNT, local: false }
const localMount: Scope = { ...mountScope, local: true }

const classified: { key: string; scope: Scope; class: StorageClass }[] = [
  { key: `root/core/mounts/${MOUNT}`, scope: systemScope, class: 'replicated' },
  { key: `root/core/local-mounts/${MOUNT}`, scope: systemScope, class: 'local' },
  { key: `root/core/unmounting/${MOUNT}`, scope: systemScope, class: 'replicated' },
  { key: `root/core/local-unmounting/${MOUNT}`, scope: systemScope, class: 'local' },
  { key: 'root/core/keyring', scope: systemScope, class: 'replicated' },
  { key: 'root/core/leaf-key', scope: systemScope, class: 'replicated' },
  { key: 'root/core/wrapping-key', scope: systemScope, class: 'replicated' },
  { key: 'root/core/plugin-identity/keys', scope: systemScope, class: 'replicated' },
  { key: 'root/core/local-plugin-identity/keys', scope: systemScope, class: 'local' },
  { key: 'root/core/cluster', scope: systemScope, class: 'ignored' },
  { key: 'root/core/seal-config', scope: systemScope, class: 'ignored' },
  { key: 'root/core/root-key', scope: systemScope, class: 'ignored' },
  { key: 'root/sys/policy/admins', scope: systemScope, class: 'replicated' },
  { key: 'root/sys/token/id/abc', scope: systemScope, class: 'local' },
  { key: `root/logical/${MOUNT}/key/a`, scope: mountScope, class: 'replicated' },
  { key: `root/logical/${MOUNT}/key/a`, scope: localMount, class: 'local' },
  { key: `root/auth/${MOUNT}/role/a`, scope: mountScope, class: 'replicated' },
  { key: `root/auth/${MOUNT}/role/a`, scope: localMount, class: 'local' },
  { key: `root/logical/${MOUNT}/cluster/use/a`, scope: mountScope, class: 'local' },
  { key: `root/logical/${MOUNT}/cluster/use/a`, scope: localMount, class: 'local' },
  { key: `root/auth/${MOUNT}/node/a`, scope: mountScope, class: 'ignored' },
  { key: `root/auth/${MOUNT}/node/a`, scope: localMount, class: 'ignored' },
  { key: `root/logical/${MOUNT}/cluster`, scope: mountScope, class: 'replicated' },
  { key: `root/logical/${MOUNT}/key/cluster/a`, scope: mountScope, class: 'replicated' },
  { key: `root/logical/${MOUNT}/nodes/a`, scope: localMount, class: 'local' },
  { key: 'root/core/replication/performance/role', scope: systemScope, class: 'local' },
  { key: 'root/core/replication/dr/role', scope: systemScope, class: 'ignored' },
  { key: 'root/core/replication/performance', scope: systemScope, class: 'ignored' },
  { key: 'root/core/replication/former/0000000000000002/replaced', scope: systemScope, class: 'local' },
  { key: 'root/core/former-keys', scope: systemScope, class: 'local' },
  { key: 'root/core/index-key', scope: systemScope, class: 'replicated' },
  { key: 'root/core/lost-writes', scope: systemScope, class: 'replicated' },
  { key: `root/core/declared-audit/${MOUNT}`, scope: systemScope, class: 'ignored' },
  { key: 'root/core/audit-history', scope: systemScope, class: 'ignored' },
  { key: `team/logical/${MOUNT}/key/a`, scope: { ...mountScope, namespace: 'team' }, class: 'replicated' },
]
for (const { key, scope, class: expected } of classified) {
  test(`${key} is ${expected}${scope.local ? ' in a local mount' : ''}`, () => {
    assert.equal(classify(scope, key), expected)
  })
}

test('each row of the class table decides about some key: no earlier row covers all that it covers', () => {
  for (const [at, { path }] of CLASSES.entries()) {
    assert.deepEqual(
      CLASSES.slice(0, at).filter((earlier) => path.startsWith(earlier.path)),
      [],
    )
  }
})

const CLASSES_OF_KEYS: { key: string; may: StorageClass[] }[] = [
  { key: `root/logical/${MOUNT}/key/a`, may: ['replicated', 'local'] },
  { key: `root/logical/${MOUNT}/cluster/use/a`, may: ['local'] },
  { key: `root/logical/${MOUNT}/node/a`, may: ['ignored'] },
  { key: 'root/core/declared-audit/a', may: ['ignored'] },
  { key: 'root/other/a', may: [] },
]
for (const { key, may } of CLASSES_OF_KEYS) {
  test(`F8: an entry ${key} that is read may have the classes ${may.join(', ') || 'none'}`, () => {
    const all: StorageClass[] = ['replicated', 'local', 'ignored']
    assert.deepEqual(
      all.filter((storageClass) => mayHaveClass(key, storageClass)),
      may,
    )
  })
}

test('F8: every key that the source names as a whole has a class', () => {
  const source = new URL('../../src/', import.meta.url)
  const named = globSync('**/*.ts', { cwd: source })
    .filter((path) => !path.endsWith('.test.ts') && path !== 'storage/classes.ts')
    .flatMap(
      (path) =>
        readFileSync(new URL(path, source), 'utf8').match(/\b(?:root|\$\{ROOT_NAMESPACE\})\/[^\s'"`,;:)]*/g) ?? [],
    )
    .map((text) => text.slice(text.indexOf('/') + 1).replace(/\.$/, ''))
    .filter((path) => /^(?:core|sys|logical|auth)\/./.test(path))
  const covers = (row: string, path: string): boolean => (row.endsWith('/') ? path.startsWith(row) : path === row)
  const isKnown = (path: string): boolean => CLASSES.some((row) => covers(row.path, path) || row.path === `${path}/`)
  assert.ok(named.length > 40)
  assert.deepEqual(
    named.filter((path) => !isKnown(path)),
    [],
  )
})

const refused: { key: string; scope?: Scope; message: string }[] = [
  { key: 'root/other/a', message: 'The key root/other/a has a prefix that is in no class' },
  { key: 'root/core/keyrings', message: 'The key root/core/keyrings has a prefix that is in no class' },
  { key: 'root/core/keyring/a', message: 'The key root/core/keyring/a has a prefix that is in no class' },
  { key: 'root/core/mounts', message: 'The key root/core/mounts has a prefix that is in no class' },
  { key: 'core/keyring', message: 'The key core/keyring is not in the namespace of its scope' },
  { key: 'root', message: 'The key root is not in the namespace of its scope' },
  { key: '', message: 'The key "" has an empty segment' },
  { key: '/core/keyring', message: 'The key "/core/keyring" has an empty segment' },
  { key: 'root//keyring', message: 'The key "root//keyring" has an empty segment' },
  { key: 'root/core/mounts/', message: 'The key "root/core/mounts/" has an empty segment' },
  { key: 'root/sys/policy/..', message: 'The key "root/sys/policy/.." has a segment ".."' },
  { key: 'root/./policy/a', message: 'The key "root/./policy/a" has a segment "."' },
  { key: 'root/sys/policy/a\nb', message: 'A key holds a control character' },
  { key: 'root/sys/policy/a\0', message: 'A key holds a control character' },
  { key: 'root/sys/policy/a\u007f', message: 'A key holds a control character' },
  { key: 'root/sys/policy/a\u0085', message: 'A key holds a control character' },
  { key: 'root/sys/policy/\ud83d', message: 'A key is not well-formed text' },
  { key: `root/sys/policy/${'é'.repeat(MAX_KEY_BYTES / 2)}`, message: 'A key has more than 1024 bytes' },
  { key: 'root/sys/policy/a', scope: mountScope, message: "The key root/sys/policy/a belongs to the system's scope" },
  {
    key: 'root/sys/policy/a',
    scope: { ...systemScope, local: true },
    message: "The key root/sys/policy/a belongs to the system's scope",
  },
  {
    key: `root/logical/${MOUNT}/a`,
    scope: systemScope,
    message: `The key root/logical/${MOUNT}/a belongs to another mount than its scope`,
  },
  {
    key: 'root/logical/system/a',
    scope: systemScope,
    message: 'The key root/logical/system/a does not name a mount by its UUID',
  },
  {
    key: `root/logical/${MOUNT}`,
    scope: mountScope,
    message: `The key root/logical/${MOUNT} does not name a mount by its UUID`,
  },
  {
    key: `root/auth/${MOUNT.toUpperCase()}/a`,
    scope: { ...mountScope, mount: MOUNT.toUpperCase() },
    message: `The key root/auth/${MOUNT.toUpperCase()}/a does not name a mount by its UUID`,
  },
  {
    key: `team/logical/${MOUNT}/a`,
    scope: mountScope,
    message: `The key team/logical/${MOUNT}/a is not in the namespace of its scope`,
  },
]
for (const { key, scope = systemScope, message } of refused) {
  const shown = JSON.stringify(key).slice(0, 40)
  test(`the key ${shown} in the scope ${scope.mount} is refused: ${message.slice(0, 60)}`, () => {
    assert.throws(() => classify(scope, key), new StorageRefused(message))
  })
}

test('docs/storage-format.md has the rows of the class table, in the same order', () => {
  const page = readFileSync(new URL('../../docs/storage-format.md', import.meta.url), 'utf8')
  const lines = page.split('\n')
  const start = lines.indexOf('| Path | Class | Value |') + 2
  const rows = lines.slice(start, lines.indexOf('', start)).map((line) => line.split(' | ').slice(0, 2))
  assert.deepEqual(
    rows,
    CLASSES.map(({ path, class: rule }) => [`| \`${path}\``, rule === 'mount' ? 'by mount' : rule]),
  )
})
