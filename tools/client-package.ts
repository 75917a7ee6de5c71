// Builds the client for TypeScript as a package for others: JavaScript and types for whatever has `fetch`.
//   npm run client              writes the folder client-package, which git ignores
//   npm run client -- FOLDER    writes another; `npm pack FOLDER` makes a tarball of it
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PROJECT = join(import.meta.dirname, '..')
const FOLDER = 'client-package'
const ENTRY = 'src/client/keywright.ts'
/** What the client is tested with, and later ones. */
const NODE = '>=20'
const DESCRIPTION = 'Client for Keywright, an open key-management service; it needs nothing but fetch'

/** The types of browsers alone, so that whatever belongs to Node.js is an error. */
const COMPILER_OPTIONS =
  '--ignoreConfig --target es2022 --lib es2022,dom,dom.iterable --module esnext --moduleResolution bundler ' +
  '--rewriteRelativeImportExtensions --verbatimModuleSyntax --strict --exactOptionalPropertyTypes --declaration ' +
  '--rootDir src'

/** An earlier package in the folder goes. @throws Error where something else is in it; with what the compiler says */
export function buildClientPackage(folder: string): void {
  if (!isFree(folder)) throw new Error(`${folder} holds something else: name an empty folder, or one that is not there`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const options = [...COMPILER_OPTIONS.split(' '), '--types', '', '--outDir', folder]
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', ...options, ENTRY],
    { cwd: PROJECT, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(error?.message ?? `${stdout}${stderr}`)
  const { name, version, license } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  const manifest = {
    name,
    version,
    description: DESCRIPTION,
    license,
    type: 'module',
    engines: { node: NODE },
    sideEffects: false,
    // As in the repository, whose examples import the client by the same name.
    exports: { './client': { types: './client/keywright.d.ts', default: './client/keywright.js' } },
    files: ['client', 'lib'],
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(PROJECT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), withoutLinks(readFileSync(join(PROJECT, 'docs/client.md'), 'utf8')))
}

/** Whether it is not there, is empty, or holds what was built before. */
function isFree(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).description === DESCRIPTION
}

/** Links into the repository lead nowhere in the package: their texts stay. */
function withoutLinks(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(PROJECT, FOLDER))
  buildClientPackage(folder)
  console.log(`wrote ${folder}`)
}
