// Files of the repository that a program writes: the one list of them. The phase of `npm test`, the sizes and a test
// that looks at biome.json and at the heads of files take theirs from here.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** One program that writes files of the repository. */
export type Generated = {
  /** What writes them all again. */
  readonly command: string
  /**
   * Called with `--check`, it writes nothing, and fails where an output is not what it would write. One that needs
   * servers has a test in its place.
   */
  readonly script: string
  readonly heldBy?: string
  readonly outputs: readonly string[]
}

/** An engine is a folder, and has a page of its name. */
const ENGINES = readdirSync(join(import.meta.dirname, '../src/engines'), { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name)
  .sort()

/** What tools/generate.ts writes: it fails where it would write anything else, or less. */
export const FROM_TABLES: Generated = {
  command: 'npm run generate',
  script: 'tools/generate.ts',
  outputs: [
    'docs/errors.md',
    'docs/cli.md',
    'docs/metrics.md',
    'docs/configuration.md',
    'docs/api/README.md',
    'docs/api/system.md',
    'docs/api/token.md',
    'docs/api/cubbyhole.md',
    'docs/api/identity.md',
    ...ENGINES.map((engine) => `docs/api/${engine}.md`),
    'docs/api/openapi.json',
    'src/client/endpoints.ts',
  ],
}

export const GENERATED: readonly Generated[] = [
  FROM_TABLES,
  {
    command: 'npm run clients',
    script: 'test/proofs/clients/write-clients-page.ts',
    heldBy: 'test/proofs/clients/clients-page.test.ts',
    outputs: ['docs/clients.md'],
  },
]

export const GENERATED_FILES: ReadonlySet<string> = new Set(GENERATED.flatMap(({ outputs }) => outputs))

/** What is not fresh, and how to make it so; empty where all is well. */
export function staleOutputs(root: string, rows: readonly Generated[]): string[] {
  return rows.flatMap(({ command, script, heldBy, outputs }) => {
    const there = (path: string): boolean => existsSync(join(root, path))
    // Neither the script nor an output: another project, as those of the tests are.
    if (!there(script)) return outputs.filter(there).map((path) => `${path} has lost ${script}, which writes it`)
    const missing = outputs.filter((path) => !there(path)).map((path) => `${path} is missing: ${command}`)
    if (heldBy !== undefined) return there(heldBy) ? missing : [...missing, `${script} has lost ${heldBy}`]
    const check = spawnSync(process.execPath, [script, '--check'], { cwd: root, encoding: 'utf8' })
    if (check.status === 0) return missing
    return [...missing, `${check.stdout}${check.stderr}`.trimEnd(), `${script} --check failed: ${command}`]
  })
}

/** Where what a program writes is not what the list says of it. */
export function listFaults(written: readonly string[], { outputs }: Generated): string[] {
  return [
    ...written.filter((path) => !outputs.includes(path)).map((path) => `${path} is not in tools/generated.ts`),
    ...outputs.filter((path) => !written.includes(path)).map((path) => `${path} is written by nothing any more`),
  ]
}

/** The head of a file that says which program wrote it; a page has its title first. */
const WRITTEN = /^(?:# .*\n\n<!--|\/\/) Written by (\S+)/

/** Files that say that a program wrote them, and stand in no list. */
export function unlisted(files: ReadonlyMap<string, string>, listed: ReadonlySet<string>): string[] {
  return [...files].flatMap(([path, text]) => {
    const [, script] = WRITTEN.exec(text) ?? []
    return script === undefined || listed.has(path) ? [] : [`${path} says that ${script} wrote it`]
  })
}
