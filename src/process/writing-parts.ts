// What a thread that writes hands to its node beside the common parts of thread-node.ts.
import type { ToServing, WritingParts } from '../assembly/node-parts.ts'
import { staticSeal } from '../assembly/static-seal.ts'
import type { ServerConfig } from '../config/config.ts'
import { RELOAD_PARTS, type ReloadPart } from '../lib/reload.ts'

/** Returns the configured seal. */
export function sealParts({ seal }: ServerConfig): Pick<WritingParts, 'autoSeal'> {
  return seal === undefined ? {} : { autoSeal: staticSeal(seal, process.env) }
}

/** Returns, for each part of the configuration, the function that has all threads reload it. */
export function configReloads(reload: (part: ReloadPart) => Promise<boolean>): ToServing['configReloads'] {
  return new Map(RELOAD_PARTS.map((part) => [part, () => reload(part)]))
}
