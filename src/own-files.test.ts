import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'

const skip = process.platform === 'win32' && 'links need a right'

test('a file of the program is taken where its import says, a package where the runtime finds it', {
  skip,
}, (context) => {
  const { path, cleanUp } = temporaryDirectory()
  context.after(cleanUp)
  const write = (name: string, text: string): void => {
    const file = join(path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const link = (target: string, name: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    symlinkSync(target, join(path, name))
  }
  const place = 'export default import.meta.url.slice(import.meta.url.indexOf("/home/"))\n'
  // Packages as some installers lay them out: each is a link, and its dependencies lie beside its real path.
  write('home/store/a/node_modules/a/package.json', '{ "type": "module", "exports": "./main.js" }')
  write('home/store/a/node_modules/a/main.js', "import './own.js'\nexport { default } from './own.js'\n")
  write('home/store/a/node_modules/a/real.js', place)
  link(join(path, 'home/store/a/node_modules/a/real.js'), 'home/store/a/node_modules/a/own.js')
  link(join(path, 'home/store/a/node_modules/a'), 'home/node_modules/a')
  write('home/package.json', '{ "type": "module" }')
  write('home/elsewhere/linked.ts', `${place}export type T = 1\n`)
  link(join(path, 'home/elsewhere/linked.ts'), 'home/src/linked.ts')
  // The first files of the program and of its threads are its own, what they load is not.
  const shown = "import a from 'a'\nimport own from './linked.ts'\nconsole.log([own, a].join())\n"
  write('home/src/process/slow-worker.ts', shown.replace('./linked.ts', '../linked.ts'))
  const worker = "new Worker(new URL('./start-thread.js', import.meta.url), { argv: ['slow'] })\n"
  write('home/src/main.ts', `${shown}import { Worker } from 'node:worker_threads'\n${worker}`)
  for (const name of ['start.js', 'start-thread.js', 'compile-cache.js', 'own-files.js']) {
    copyFileSync(join(import.meta.dirname, name), join(path, 'home/src', name))
  }
  const env = { HOME: path }
  const { stdout, stderr } = spawnSync(process.execPath, [join(path, 'home/src/start.js')], { encoding: 'utf8', env })
  assert.equal(stdout, '/home/src/linked.ts,/home/store/a/node_modules/a/real.js\n'.repeat(2), stderr)
})
