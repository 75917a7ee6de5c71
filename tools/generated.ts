// Files of the repository that a program writes: each must be what its program would write now.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** One program that writes files of the repository. */
export type Generated = {
  /** Called with `--check`, it writes nothing, and fails where an output is not what it would write. */
  readonly script: string
  /** Files and folders that it writes. */
  readonly outputs: readonly string[]
}

/** A script that is not there, with no output of it either, is one that nobody has needed yet. */
export const GENERATED: readonly Generated[] = [
  {
    script: 'tools/generate.ts',
    outputs: [
      'docs/errors.md',
      'docs/cli.md',
      'docs/configuration.md',
      'docs/api/README.md',
      'docs/api/system.md',
      'docs/api/token.md',
      'docs/api/transit.md',
      'docs/api/cubbyhole.md',
      'docs/api/userpass.md',
      'docs/api/approle.md',
      'docs/api/openapi.json',
      'src/client/endpoints.ts',
    ],
  },
]

/** What is not fresh, and how to make it so; empty where all is well. */
export function staleOutputs(root: string, rows: readonly Generated[]): string[] {
  return rows.flatMap(({ script, outputs }) => {
    const there = (path: string): boolean => existsSync(join(root, path))
    if (!there(script)) return outputs.filter(there).map((path) => `${path} has lost ${script}, which writes it`)
    const missing = outputs.filter((path) => !there(path)).map((path) => `${path} is missing: run node ${script}`)
    const check = spawnSync(process.execPath, [script, '--check'], { cwd: root, encoding: 'utf8' })
    if (check.status === 0) return missing
    return [...missing, `${check.stdout}${check.stderr}`.trimEnd(), `${script} --check failed: run node ${script}`]
  })
}
