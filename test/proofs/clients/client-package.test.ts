// The client as others install it: built, packed, and installed from the tarball into a folder that has nothing else,
// without a network. There it is used with the machine's own Node.js, which knows no TypeScript, and as a browser loads
// it. The latter is no browser: it shows that nothing of Node.js is needed and that each address is one that a browser
// finds, not what a browser does about CORS, which test/proofs/servers/cors.test.ts has from the server's side.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildClientPackage } from '../../../tools/client-package.ts'
import { PROJECT, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const LEAST_NODE = 20
const EXAMPLES = [
  { name: 'typescript-client', prints: 'two of them, in blue\n' },
  { name: 'typescript-login', prints: 'example-kim is in for 3600 seconds\nthe machine may decrypt: false\n' },
]

/** Without the packages of the project, whose runtime npm puts in front, and without what npm says of its own run. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((directory) => !directory.includes('node_modules'))
  .join(delimiter)
const ENV = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))), PATH }

const folder = temporaryDirectory()
const app = join(folder.path, 'app')
const installed = join(app, 'node_modules/keywright')
let server: ServerProcess

before(async () => {
  server = await startServerProcess()
})
after(async () => {
  folder.cleanUp()
  await server.stop()
})

function ran(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = ENV,
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: app, env, encoding: 'utf8' })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}${error?.message ?? ''}`)
  return stdout
}

/** No registry answers at this address, and nothing was kept of one. */
function npm(...args: readonly string[]): string {
  const offline = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(folder.path, 'cache') }
  return ran('npm', [...args, '--offline', '--no-audit', '--no-fund', '--ignore-scripts'], { ...ENV, ...offline })
}

function compiler(...args: readonly string[]): string {
  return ran(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', ...args])
}

/** Why the machine's own Node.js cannot be asked; false where it can. */
function noOwnNode(): string | false {
  const { stdout } = spawnSync('node', ['--version'], { env: ENV, encoding: 'utf8' })
  const [, major] = /^v(\d+)\./.exec(stdout ?? '') ?? []
  if (major === undefined) return 'the machine has no Node.js of its own'
  return Number(major) < LEAST_NODE ? `the Node.js of the machine is older than ${LEAST_NODE}` : false
}

before(() => {
  const built = join(folder.path, 'built')
  mkdirSync(app)
  buildClientPackage(built)
  const [{ filename }] = JSON.parse(npm('pack', built, '--json', '--pack-destination', folder.path))
  writeFileSync(join(app, 'package.json'), '{ "type": "module", "private": true }')
  npm('install', join(folder.path, filename))
})

test('client package: it holds JavaScript, types, licence and page, and its exports name files of it', () => {
  const files = globSync('**/*.*', { cwd: installed }).concat(globSync('LICENSE', { cwd: installed }))
  const modules = ['endpoints', 'envelope', 'error-messages', 'errors', 'fetch-transport', 'keywright', 'path']
  const all = [...modules, 'typed-calls', 'wire'].map((name) => `client/${name}`).concat('lib/ascii')
  const code = all.flatMap((path) => [`${path}.d.ts`, `${path}.js`])
  assert.deepEqual(files.sort(), [...code, 'LICENSE', 'README.md', 'package.json'].sort())

  const { name, version, license } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.deepEqual([manifest.name, manifest.version, manifest.license], [name, version, license])
  assert.equal(manifest.dependencies, undefined)
  const named: readonly string[] = Object.values<Record<string, string>>(manifest.exports).flatMap(Object.values)
  assert.equal(named.length, 2)
  for (const path of named) assert.ok(files.includes(path.replace('./', '')), path)
  const page = readFileSync(join(installed, 'README.md'), 'utf8')
  assert.ok(!page.includes(']('))
  for (const { name } of EXAMPLES) assert.ok(page.includes(readFileSync(join(PROJECT, `examples/${name}.ts`), 'utf8')))
  assert.equal(readFileSync(join(installed, 'LICENSE'), 'utf8'), readFileSync(join(PROJECT, 'LICENSE'), 'utf8'))
})

test('client package: it is not built into a folder that holds something else, but again into its own', () => {
  assert.throws(() => buildClientPackage(app), /holds something else/)
  assert.ok(globSync('*', { cwd: app }).includes('node_modules'))
  const built = join(folder.path, 'built')
  writeFileSync(join(built, 'client/old.js'), '')
  buildClientPackage(built)
  assert.deepEqual(globSync('client/old.js', { cwd: built }), [])
})

const CALLER = `
import { ApiError, Keywright } from 'keywright/client'
const kw = new Keywright({ address: 'http://127.0.0.1:8200', mounts: { transit: 'team/kms' } })
const { ciphertext } = await kw.write('transit/encrypt/:name', { name: 'a', plaintext: 'aGVsbG8=' })
const text: string | undefined = ciphertext
// @ts-expect-error There is no such endpoint.
await kw.write('transit/encrypt-it/:name', { name: 'a' })
// @ts-expect-error There is no such field.
await kw.write('transit/encrypt/:name', { name: 'a', text })
export const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status === 403
`

for (const resolution of ['nodenext', 'bundler']) {
  test(`client package: its types are checked, and refuse what is not there (${resolution})`, () => {
    writeFileSync(join(app, 'caller.ts'), CALLER)
    const module = resolution === 'bundler' ? 'esnext' : resolution
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '']
    compiler(...options, '--module', module, '--moduleResolution', resolution, 'caller.ts')
  })
}

test('client package: the examples of its page run with the Node.js of the machine', { skip: noOwnNode() }, () => {
  for (const { name } of EXAMPLES) cpSync(join(PROJECT, `examples/${name}.ts`), join(app, `${name}.ts`))
  const types = ['--typeRoots', join(PROJECT, 'node_modules/@types'), '--types', 'node', '--skipLibCheck']
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', ...types]
  compiler(...options, ...EXAMPLES.map(({ name }) => `${name}.ts`))
  for (const { name, prints } of EXAMPLES) {
    const env = { PATH, VAULT_ADDR: server.address, VAULT_TOKEN: server.token }
    assert.equal(ran('node', [`${name}.js`], env), prints)
  }
})

test('client package: it works with what browsers have alone', () => {
  const program = join(app, 'page.js')
  writeFileSync(program, PAGE.replace('ADDRESS', server.address).replace('TOKEN', server.token))
  const harness = join(PROJECT, 'test/fixtures/browser-module.ts')
  const flags = ['--experimental-vm-modules', '--no-warnings']
  const map = `keywright/client=${join(installed, 'client/keywright.js')}`
  assert.equal(ran(process.execPath, [...flags, harness, program, map]), 'undefined undefined\nhello\n404 undefined\n')
})

const PAGE = `
import { ApiError, Keywright } from 'keywright/client'
report(\`\${typeof process} \${typeof Buffer}\`)
const kw = new Keywright({ address: 'ADDRESS', token: 'TOKEN', timeoutMs: 60_000 })
await kw.write('sys/mounts/:path...', { path: 'browser', type: 'transit' })
const page = kw.with({ mounts: { transit: 'browser' } })
await page.write('transit/keys/:name', { name: 'a' })
const { ciphertext } = await page.write('transit/encrypt/:name', { name: 'a', plaintext: btoa('hello') })
const { plaintext } = await page.write('transit/decrypt/:name', { name: 'a', ciphertext })
report(atob(plaintext))
const none = { name: 'none' }
const missing = await page.read('transit/keys/:name', none).catch((error) => error)
report(\`\${missing instanceof ApiError && missing.status} \${await page.find('transit/keys/:name', none)}\`)
`
