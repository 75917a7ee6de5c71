// Builds the client for TypeScript as a package: JavaScript and types for every runtime that has `fetch`.
//   npm run client              writes the folder client-package, which git ignores
//   npm run client -- FOLDER    writes another; `npm pack FOLDER` makes a tarball of it
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PROJECT = join(import.meta.dirname, '..')
const FOLDER = 'client-package'
const ENTRY = 'src/client/keywright.ts'
/** The oldest version that the client is tested with. */
const NODE = '>=20'
const DESCRIPTION = 'Client for Keywright, an open key-management service; it needs nothing but fetch'

/** Only the types of browsers, so that a use of Node.js is an error. */
const COMPILER_OPTIONS =
  '--ignoreConfig --target es2022 --lib es2022,dom,dom.iterable --module esnext --moduleResolution bundler ' +
  '--rewriteRelativeImportExtensions --verbatimModuleSyntax --strict --exactOptionalPropertyTypes --declaration ' +
  '--rootDir src'

/**
 * Builds the package. An earlier one in the folder is replaced.
 * @throws Error if the folder holds something else, or with the messages of the compiler
 */
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
    // The name that the examples of the repository import.
    exports: { './client': { types: './client/keywright.d.ts', default: './client/keywright.js' } },
    files: ['client', 'lib'],
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(PROJECT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), withoutLinks(readFileSync(join(PROJECT, 'docs/client.md'), 'utf8')))
}

/** True if a folder is missing, empty, or holds an earlier package. */
function isFree(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).description === DESCRIPTION
}

/** Replaces links into the repository by their texts: in the package they lead nowhere. */
function withoutLinks(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(PROJECT, FOLDER))
  buildClientPackage(folder)
  console.log(`wrote ${folder}`)
}
