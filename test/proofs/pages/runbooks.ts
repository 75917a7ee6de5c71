// docs/runbooks as an operator follows them: every page in an empty directory of its own, with real servers.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { without } from '../../fixtures/debian-packages.ts'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'
import { noSoftHsm } from '../../fixtures/softhsm.ts'
import { assertRunnable, type FollowOptions, followPage, readPage } from './follow-page.ts'

/** Where the pages are. */
export const RUNBOOKS = join(PROJECT, 'docs/runbooks')
const INDEX = 'README.md'
/** Where the machine is busy; alone a page takes 5 to 10 s. */
const MOST_MS = 4 * 60_000

/** All pages but the index. */
export const runbookNames = readdirSync(RUNBOOKS).filter((name) => name !== INDEX)

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

/**
 * Pages in groups, each followed in a process of its own: all of them may take longer than a process of tests may.
 * Pages of a server alone are in none.
 */
const GROUPS = {
  pair: [
    'fail-over.md',
    'four-clusters.md',
    'repair-by-reindex.md',
    'replace-a-secondary.md',
    'replication-link-is-down.md',
    'restore-with-a-secondary.md',
    'set-up-disaster-recovery.md',
  ],
  regions: [
    'add-a-region.md',
    'change-a-filter.md',
    'keep-a-mount-in-a-region.md',
    'lose-a-region.md',
    'promote-a-region.md',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

const grouped: readonly string[] = [...GROUPS.pair, ...GROUPS.regions]

/** Follows all pages of a group; 'server': those that are in none. */
export function followRunbooks(group: keyof typeof GROUPS | 'server'): void {
  const pages = group === 'server' ? runbookNames.filter((name) => !grouped.includes(name)) : GROUPS[group]
  suite(`runbooks: ${group}`, { concurrency: 2 }, () => {
    for (const name of pages) followInTest(name)
  })
}

function followInTest(name: string): void {
  const { skip: reason = false, ...options } = NEEDS[name]?.() ?? {}
  const skip = reason === false ? without('curl') : reason
  test(`runbook ${name} can be followed from top to bottom`, { skip, timeout: MOST_MS + 10_000 }, async (context) => {
    const page = readPage(join(RUNBOOKS, name))
    assertRunnable(page)
    const temporary = temporaryDirectory()
    context.after(() => temporary.cleanUp())
    const directory = join(temporary.path, 'd')
    mkdirSync(directory, { mode: 0o700 })
    const outputs = join(temporary.path, 'outputs')
    await followPage(page, { ...options, directory, outputs, mostMs: MOST_MS, bin: join(PROJECT, 'bin') })
  })
}
