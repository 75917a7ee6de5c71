// The files of the configuration: each is read for itself, a directory stands for the .hcl and .json files in it by
// name, and environment variables come last. A key stands in one file only.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HclError, parseHcl } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type ConfigPart, mergeParts, type ParseOptions, parseConfigBody } from './config.ts'
import { environmentBodies } from './environment.ts'
import { ConfigError, Faults } from './values.ts'

/** The only key that may stand in several files. */
const REPEATABLE = ['listener']

/** What the files and the environment say together. @throws ConfigError with all that is wrong, each with its file */
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

/** In every sentence. Warnings too say where they come from. */
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
    .toSorted()
  if (names.length === 0) throw new ConfigError(`The directory ${path} has no configuration, a file .hcl or .json`)
  return names.map((name) => join(path, name))
}

const readText = (path: string): string => reading(path, () => readFileSync(path, 'utf8'))

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
