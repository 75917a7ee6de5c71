// Writes docs/clients.md: runs the test of each existing client, and puts together what they give.
//   npm run clients
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { CLIENT_TESTS, type ClientPart, clientsPage, PAGE, PARTS_VARIABLE } from './clients-page.ts'

/** What the run of one test wrote. @throws where the test failed, or ran nothing */
function partOf(file: string): ClientPart {
  const directory = temporaryDirectory()
  try {
    const flags = [...process.execArgv, '--test-reporter=dot']
    const env = { ...process.env, [PARTS_VARIABLE]: directory.path }
    const { status } = spawnSync(process.execPath, [...flags, join(import.meta.dirname, file)], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const [part] = globSync('*.json', { cwd: directory.path })
    if (status !== 0 || part === undefined) throw new Error(`${file} failed, or its client is not installed`)
    return JSON.parse(readFileSync(join(directory.path, part), 'utf8'))
  } finally {
    directory.cleanUp()
  }
}

writeFileSync(PAGE, clientsPage(CLIENT_TESTS.map(partOf)))
console.log('wrote docs/clients.md')
