// What the login methods of clouds are given of this process: the clouds that the configuration defines, the
// environment, and which addresses may be reached at all.
import { readFileSync } from 'node:fs'
import type { IdentityTokens } from '../api/identity-token.ts'
import type { ServerConfig } from '../config/config.ts'
import { ConfigError } from '../config/values.ts'
import { BUILT_IN_CLOUDS, type Cloud, definedCloud, originsOfCloud } from '../engines/cloud/clouds.ts'
import { type CloudEnvironment, cloudEnvironment, NO_CLOUD_ENVIRONMENT } from '../engines/cloud/settings.ts'
import { type Log, namedLog } from '../lib/log.ts'
import type { Reach } from '../lib/outbound.ts'
import { readCloudToken } from './cloud-token-file.ts'

export type CloudDependencies = {
  readonly environment: CloudEnvironment
  readonly longestTtlSeconds: number
  readonly identityTokens: IdentityTokens
  readonly readTokenFile: (path: string) => Promise<string>
  readonly log: Log
}

export function cloudDependencies(
  given: Pick<CloudDependencies, 'longestTtlSeconds' | 'identityTokens' | 'log'>,
  environment = NO_CLOUD_ENVIRONMENT,
): CloudDependencies {
  return { ...given, environment, readTokenFile: readCloudToken, log: namedLog(given.log, 'auth') }
}

/** @throws ConfigError where a certificate cannot be read */
export function newCloudEnvironment(config: ServerConfig, env: NodeJS.ProcessEnv): CloudEnvironment {
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
export function cloudReaches({ clouds }: CloudEnvironment): readonly Reach[] {
  const reachesOf = (cloud: Cloud): readonly Reach[] =>
    originsOfCloud(cloud).map((origin) => ({
      origin,
      ...(cloud.ca === undefined ? {} : { ca: cloud.ca }),
      ...(cloud.isBuiltIn && origin.startsWith('https:') ? { isPublic: true } : {}),
    }))
  return [...BUILT_IN_CLOUDS, ...clouds].flatMap(reachesOf)
}
