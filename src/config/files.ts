// The files of the configuration. Each is read by itself; a directory stands for the .hcl and .json files in it, sorted
// by name; environment variables come last. A key stands in one file only: which of two would count is easily guessed
// wrong.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HclError, parseHcl } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type ConfigPart, mergeParts, type ParseOptions, parseConfigBody } from './config.ts'
import { environmentBodies } from './environment.ts'
import { ConfigError, Faults } from './values.ts'

/** Keys that may stand in several files, since each stanza is another listener. */
const REPEATABLE = ['listener']

/** Reads files and environment together. @throws ConfigError with all that is wrong, each fault with its file */
export function readConfig(paths: readonly string[], env: NodeJS.ProcessEnv, options: ParseOptions): ConfigPart {
  const faults = new Faults()
  const files = paths.flatMap((path) => faults.collect(() => filesOf(path)) ?? [])
  const sources = files.flatMap((path) => {
    const body = faults.collect(() => named(path, () => parseHcl(readText(path))))
    return body === undefined ? [] : [{ path, body }]
  })
  faults.collect(() => requireOnce(sources))
  const parts = [
    ...sources.map(({ path, body }) => faults.collect(() => named(path, () => parseConfigBody(body, options)))),
    ...environmentBodies(env).map(({ variable, body }) =>
      faults.collect(() => named(variable, () => parseConfigBody(body, options))),
    ),
  ]
  faults.end()
  return mergeParts(parts.filter((part) => part !== undefined))
}

/** Puts the file in front of every fault and every warning of `work`. */
function named<T extends HclObject | ConfigPart>(where: string, work: () => T): T {
  try {
    const found = work()
    if (!('warnings' in found) || found.warnings === undefined) return found
    return { ...found, warnings: found.warnings.map((warning) => `${where}: ${warning}`) }
  } catch (cause) {
    if (!(cause instanceof HclError || cause instanceof ConfigError)) throw cause
    const sentences = cause.message.split('\n')
    throw new ConfigError(sentences.map((sentence) => `${where}: ${sentence}`).join('\n'))
  }
}

function filesOf(path: string): readonly string[] {
  const found = reading(path, () => statSync(path))
  if (!found.isDirectory()) return [path]
  const names = reading(path, () => readdirSync(path))
    .filter((name) => !name.startsWith('.') && (name.endsWith('.hcl') || name.endsWith('.json')))
    // By name and not as the file system lists them: the same directory gives the same order of listeners everywhere.
    .toSorted()
  if (names.length === 0) throw new ConfigError(`The directory ${path} has no configuration, a file .hcl or .json`)
  return names.map((name) => join(path, name))
}

const readText = (path: string): string => reading(path, () => readFileSync(path, 'utf8'))

/** Gives the code of a failed system call and nothing else: it names no content. */
function reading<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new ConfigError(`The configuration file ${path} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
}

function requireOnce(sources: readonly { readonly path: string; readonly body: HclObject }[]): void {
  const faults = new Faults()
  const places = new Map<string, string>()
  for (const { path, body } of sources) {
    for (const key of new Set(body.items.map((item) => item.key))) {
      const before = places.get(key)
      places.set(key, path)
      if (before === undefined || REPEATABLE.includes(key)) continue
      faults.collect(() => {
        throw new ConfigError(`"${key}" stands in ${before} and in ${path}: leave one of them out`)
      })
    }
  }
  faults.end()
}
