// docs/runbooks as an operator follows them: every page in an empty directory of its own, with real servers.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { without } from '../../fixtures/debian-packages.ts'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'
import { noSoftHsm } from '../../fixtures/softhsm.ts'
import { assertRunnable, type FollowOptions, followPage, localLinks, readPage } from './follow-page.ts'

const DIRECTORY = join(PROJECT, 'docs/runbooks')
const INDEX = 'README.md'
/** Where the machine is busy; alone a page takes 5 to 10 s. */
const MOST_MS = 4 * 60_000

const names = readdirSync(DIRECTORY).filter((name) => name !== INDEX)

/** Pages on full devices need one: its mount is seen by its own shell alone, and goes with it. */
const OWN_MOUNTS = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const device = (name: string, size: string) => `mkdir ${name} && mount -t tmpfs -o size=${size},mode=700 tmpfs ${name}`
const mayMount = (): boolean => {
  const [program = '', ...args] = OWN_MOUNTS
  return spawnSync(program, [...args, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
}

type Needs = Partial<FollowOptions> & { readonly skip?: string | false }

const onDevice = (mount: string): Needs => ({
  before: [mount],
  shell: [...OWN_MOUNTS, 'sh'],
  skip: mayMount() ? false : 'mounting a device is not allowed here',
})

const NEEDS: Readonly<Record<string, () => Needs>> = {
  'certificate-change.md': () => ({ skip: without('openssl') }),
  // The pretended cloud is no part of the product.
  'connect-a-cloud.md': () => ({ before: [`export KEYWRIGHT_SOURCE='${PROJECT}'`] }),
  'full-disk.md': () => onDevice(device('data', '8m')),
  'lost-audit-device.md': () => onDevice(device('audit', '128k')),
  'managed-keys.md': () => ({ skip: noSoftHsm() }),
  // It damages a store, for which the product has no command.
  'repair-by-reindex.md': () => ({ before: [`export KEYWRIGHT_SOURCE='${PROJECT}'`] }),
  'start-and-unseal.md': () => ({ skip: without('gpg') }),
  'install-and-harden.md': () => ({ skip: without('systemd-analyze') }),
}

test('the index of the runbooks has every page, and their links lead somewhere', () => {
  assert.deepEqual(localLinks(readPage(join(DIRECTORY, INDEX))).toSorted(), names.toSorted())
  for (const name of names) {
    for (const link of localLinks(readPage(join(DIRECTORY, name)))) {
      assert.ok(existsSync(join(DIRECTORY, link.split('#')[0] ?? '')), `${name} leads to ${link}`)
    }
  }
})

suite('runbooks', { concurrency: 2 }, () => {
  for (const name of names) followInTest(name)
})

function followInTest(name: string): void {
  const { skip: reason = false, ...options } = NEEDS[name]?.() ?? {}
  const skip = reason === false ? without('curl') : reason
  test(`runbook ${name} can be followed from top to bottom`, { skip, timeout: MOST_MS + 10_000 }, async (context) => {
    const page = readPage(join(DIRECTORY, name))
    assertRunnable(page)
    const temporary = temporaryDirectory()
    context.after(() => temporary.cleanUp())
    const directory = join(temporary.path, 'd')
    mkdirSync(directory, { mode: 0o700 })
    const outputs = join(temporary.path, 'outputs')
    await followPage(page, { ...options, directory, outputs, mostMs: MOST_MS, bin: join(PROJECT, 'bin') })
  })
}
