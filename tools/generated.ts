// The one list of generated files. The phase of `npm test`, the sizes, and a test of biome.json and of the heads of
// files use it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** One program that writes files of the repository. */
export type Generated = {
  /** The command that writes them all again. */
  readonly command: string
  /**
   * The program. With `--check` it writes nothing, and fails if an output is not what it would write. One that needs
   * servers has a test in its place, `heldBy`.
   */
  readonly script: string
  readonly heldBy?: string
  readonly outputs: readonly string[]
}

/** Engines: each is a folder, and has a page of its name. */
const ENGINES = readdirSync(join(import.meta.dirname, '../src/engines'), { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name)
  .sort()

/** The outputs of tools/generate.ts, which fails if it would write others, or fewer. */
export const FROM_TABLES: Generated = {
  command: 'npm run generate',
  script: 'tools/generate.ts',
  outputs: [
    'docs/errors.md',
    'docs/cli.md',
    'docs/metrics.md',
    'docs/configuration.md',
    'docs/api/README.md',
    'docs/api/clusters.md',
    'docs/api/system.md',
    'docs/api/token.md',
    'docs/api/cubbyhole.md',
    'docs/api/identity.md',
    ...ENGINES.map((engine) => `docs/api/${engine}.md`),
    'docs/api/openapi.json',
    'src/client/endpoints.ts',
  ],
}

/** All programs that write files of the repository. */
export const GENERATED: readonly Generated[] = [
  FROM_TABLES,
  {
    command: 'npm run clients',
    script: 'test/proofs/clients/write-clients-page.ts',
    heldBy: 'test/proofs/clients/clients-page.test.ts',
    outputs: ['docs/clients.md'],
  },
]

/** Paths of all generated files. */
export const GENERATED_FILES: ReadonlySet<string> = new Set(GENERATED.flatMap(({ outputs }) => outputs))

/** Returns a line for each output that is stale or missing, with the command that mends it. */
export function staleOutputs(root: string, rows: readonly Generated[]): string[] {
  return rows.flatMap(({ command, script, heldBy, outputs }) => {
    const there = (path: string): boolean => existsSync(join(root, path))
    // A project with neither the script nor an output is another one, as in tests.
    if (!there(script)) return outputs.filter(there).map((path) => `${path} has lost ${script}, which writes it`)
    const missing = outputs.filter((path) => !there(path)).map((path) => `${path} is missing: ${command}`)
    if (heldBy !== undefined) return there(heldBy) ? missing : [...missing, `${script} has lost ${heldBy}`]
    const check = spawnSync(process.execPath, [script, '--check'], { cwd: root, encoding: 'utf8' })
    if (check.status === 0) return missing
    return [...missing, `${check.stdout}${check.stderr}`.trimEnd(), `${script} --check failed: ${command}`]
  })
}

/** Returns the differences between the files that a program writes and the list. */
export function listFaults(written: readonly string[], { outputs }: Generated): string[] {
  return [
    ...written.filter((path) => !outputs.includes(path)).map((path) => `${path} is not in tools/generated.ts`),
    ...outputs.filter((path) => !written.includes(path)).map((path) => `${path} is written by nothing any more`),
  ]
}

/** The head of a generated file, which names its program; a page has its title before it. */
const WRITTEN = /^(?:# .*\n\n<!--|\/\/) Written by (\S+)/

/** Returns the files whose head names a program, and that no list has. */
export function unlisted(files: ReadonlyMap<string, string>, listed: ReadonlySet<string>): string[] {
  return [...files].flatMap(([path, text]) => {
    const [, script] = WRITTEN.exec(text) ?? []
    return script === undefined || listed.has(path) ? [] : [`${path} says that ${script} wrote it`]
  })
}
