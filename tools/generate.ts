// Writes the pages and documents that are derived from tables of the program; tools/generated.ts lists them.
//   npm run generate                 writes them
//   node tools/generate.ts --check   writes nothing, names those that are not as they would be written, and then fails
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openApiDocument } from '../src/api/openapi.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { DEFAULT_CONFIG } from '../src/config/config.ts'
import { cliPage } from './cli-page.ts'
import { clientTypes } from './client-types.ts'
import { configurationPage } from './configuration-page.ts'
import { clustersPage, endpointPage, indexPage } from './endpoint-pages.ts'
import { TABLES } from './endpoint-tables.ts'
import { errorsPage } from './errors-page.ts'
import { formatJson } from './format-json.ts'
import { FROM_TABLES, listFaults } from './generated.ts'
import { metricsPage } from './metrics-page.ts'

const ROOT = join(import.meta.dirname, '..')

/** Returns the texts by their path from the project's directory. */
function generated(): Map<string, string> {
  const pages = TABLES.map((table) => [`docs/api/${table.file}`, endpointPage(table)] as const)
  return new Map([
    ['docs/errors.md', errorsPage()],
    ['docs/cli.md', cliPage(COMMANDS)],
    ['docs/metrics.md', metricsPage()],
    ['docs/configuration.md', configurationPage()],
    ['docs/api/README.md', indexPage(TABLES)],
    ['docs/api/clusters.md', clustersPage(TABLES)],
    ...pages,
    ['src/client/endpoints.ts', clientTypes(TABLES)],
    ['docs/api/openapi.json', formatJson(openApiDocument(DEFAULT_CONFIG.reportedVersion, TABLES))],
  ])
}

function isStale(path: string, text: string): boolean {
  try {
    return readFileSync(join(ROOT, path), 'utf8') !== text
  } catch {
    return true
  }
}

const texts = generated()
const faults = listFaults([...texts.keys()], FROM_TABLES)
const stale = [...texts].filter(([path, text]) => isStale(path, text))
if (faults.length > 0) {
  for (const fault of faults) console.log(fault)
  process.exitCode = 1
} else if (process.argv.includes('--check')) {
  for (const [path] of stale) console.log(`${path} is not what npm run generate would write`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
    console.log(`wrote ${path}`)
  }
}
