import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import { compileCacheDirectory } from './compile-cache.js'

const uid = process.getuid?.() ?? 0
const skip = process.platform === 'win32' && 'files have no owner by number'

const PLACES: readonly { readonly name: string; readonly env: NodeJS.ProcessEnv; readonly is: string | undefined }[] = [
  { name: 'the home directory', env: { HOME: 'home' }, is: 'home/.cache/keywright' },
  { name: 'a cache directory of the user', env: { HOME: 'home', XDG_CACHE_HOME: 'xdg' }, is: 'xdg/keywright' },
  { name: 'one of a service', env: { HOME: 'home', XDG_CACHE_HOME: 'xdg', CACHE_DIRECTORY: 'a:b' }, is: 'a' },
  { name: 'the empty name of the runtime', env: { HOME: 'home', NODE_COMPILE_CACHE: '' }, is: 'home/.cache/keywright' },
  { name: 'none', env: {}, is: undefined },
  { name: 'an empty name', env: { HOME: '' }, is: undefined },
]
for (const { name, env, is } of PLACES) {
  test(`compiled code is kept in a directory of its own: ${name}`, { skip }, (context) => {
    const { path, cleanUp } = temporaryDirectory()
    context.after(cleanUp)
    const below = (text: string): string =>
      text === ''
        ? ''
        : text
            .split(':')
            .map((each) => join(path, each))
            .join(':')
    const full = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, below(value ?? '')]))
    const found = compileCacheDirectory(full, uid)
    assert.equal(found, is && join(path, is))
    if (found !== undefined) assert.equal(statSync(found).mode & 0o777, 0o700)
  })
}

test('compiled code is kept where the variable of the runtime says', () => {
  assert.equal(compileCacheDirectory({ HOME: '/home/x', NODE_COMPILE_CACHE: '/chosen' }, uid), '/chosen')
})

// Code that other users may write is not run.
const FOREIGN: readonly { readonly name: string; readonly prepare: (home: string) => void }[] = [
  { name: 'others may write to it', prepare: (home) => chmodSync(made(home, '.cache/keywright'), 0o777) },
  { name: 'a group may write to it', prepare: (home) => chmodSync(made(home, '.cache/keywright'), 0o770) },
  { name: 'others may put another in its place', prepare: (home) => chmodSync(made(home, '.cache'), 0o777) },
  {
    name: 'others may put another home in its place',
    prepare: (home) => {
      made(home, '.cache/keywright')
      chmodSync(home, 0o770)
    },
  },
  {
    name: 'it leads elsewhere',
    prepare: (home) => symlinkSync(made(home, 'other'), join(made(home, '.cache'), 'keywright')),
  },
  { name: 'it is a file', prepare: (home) => writeFileSync(join(made(home, '.cache'), 'keywright'), '') },
]
for (const { name, prepare } of FOREIGN) {
  test(`no compiled code is read where ${name}`, { skip }, (context) => {
    const { path, cleanUp } = temporaryDirectory()
    context.after(cleanUp)
    prepare(path)
    assert.equal(compileCacheDirectory({ HOME: path }, uid), undefined)
  })
}

test('no compiled code is read from a directory of another user', { skip }, (context) => {
  const { path, cleanUp } = temporaryDirectory()
  context.after(cleanUp)
  const directory = made(path, '.cache/keywright')
  // Only root can give a directory away; what root owns is trusted.
  if (uid === 0) chownSync(directory, 1_234, 1_234)
  assert.equal(compileCacheDirectory({ HOME: path }, uid === 0 ? uid : uid + 1), undefined)
})

function made(home: string, name: string): string {
  const path = join(home, name)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}
