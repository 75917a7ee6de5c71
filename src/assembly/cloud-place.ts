// What the login methods of clouds are given of this process: the clouds that the configuration defines, the
// environment, and which addresses may be reached at all.
import { readFileSync } from 'node:fs'
import type { IdentityTokens } from '../api/identity-token.ts'
import type { ServerConfig } from '../config/config.ts'
import { ConfigError } from '../config/values.ts'
import { BUILT_IN_CLOUDS, type Cloud, definedCloud, originsOfCloud } from '../engines/cloud/clouds.ts'
import { cloudEnvironment, NO_SURROUNDINGS, type Surroundings } from '../engines/cloud/settings.ts'
import { type Log, namedLog } from '../lib/log.ts'
import type { Reach } from '../lib/outbound.ts'
import { readTokenFile } from './cloud-token-file.ts'

export type CloudPlace = {
  readonly surroundings: Surroundings
  readonly longestTtlSeconds: number
  readonly identityTokens: IdentityTokens
  readonly readTokenFile: (path: string) => Promise<string>
  readonly log: Log
}

export function cloudPlace(
  given: Pick<CloudPlace, 'longestTtlSeconds' | 'identityTokens' | 'log'>,
  surroundings = NO_SURROUNDINGS,
): CloudPlace {
  return { ...given, surroundings, readTokenFile, log: namedLog(given.log, 'auth') }
}

/** @throws ConfigError where a certificate cannot be read */
export function cloudSurroundings(config: ServerConfig, env: NodeJS.ProcessEnv): Surroundings {
  const clouds = config.clouds.map(({ caFile, ...stanza }) =>
    definedCloud(caFile === undefined ? stanza : { ...stanza, ca: certificates(stanza.name, caFile) }),
  )
  return { environment: cloudEnvironment(env), clouds }
}

function certificates(cloud: string, path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    throw new ConfigError(`ca_file ${path} of cloud "${cloud}" cannot be read (${code})`)
  }
}

/** Where requests to clouds may go; of the vendor's to nothing that lies in this machine or on its link. */
export function cloudReaches({ clouds }: Surroundings): readonly Reach[] {
  const reachesOf = (cloud: Cloud): readonly Reach[] =>
    originsOfCloud(cloud).map((origin) => ({
      origin,
      ...(cloud.ca === undefined ? {} : { ca: cloud.ca }),
      ...(cloud.isBuiltIn && origin.startsWith('https:') ? { isPublic: true } : {}),
    }))
  return [...BUILT_IN_CLOUDS, ...clouds].flatMap(reachesOf)
}
