// The dependencies of login methods of clouds on this process: the clouds that the configuration defines, settings of
// the environment, and the addresses that may be reached at all.
import { readFileSync } from 'node:fs'
import type { IdentityTokens } from '../api/identity-token.ts'
import type { ServerConfig } from '../config/config.ts'
import { ConfigError } from '../config/values.ts'
import { BUILT_IN_CLOUDS, type Cloud, definedCloud, originsOfCloud } from '../engines/cloud/clouds.ts'
import { type CloudEnvironment, cloudEnvironment, NO_CLOUD_ENVIRONMENT } from '../engines/cloud/settings.ts'
import { type Log, namedLog } from '../lib/log.ts'
import type { Reach } from '../lib/outbound.ts'
import { readCloudToken } from './cloud-token-file.ts'

/** Services that the cloud engines get besides their context. */
export type CloudDependencies = {
  readonly environment: CloudEnvironment
  readonly longestTtlSeconds: number
  readonly identityTokens: IdentityTokens
  readonly readTokenFile: (path: string) => Promise<string>
  readonly log: Log
}

/**
 * Adds the environment, and the reader of token files, to what is given. Without an environment only the vendor's
 * clouds are known.
 */
export function cloudDependencies(
  given: Pick<CloudDependencies, 'longestTtlSeconds' | 'identityTokens' | 'log'>,
  environment = NO_CLOUD_ENVIRONMENT,
): CloudDependencies {
  return { ...given, environment, readTokenFile: readCloudToken, log: namedLog(given.log, 'auth') }
}

/**
 * Reads the clouds of the configuration with their certificates, and the settings of the environment (Interface 2.1).
 * @throws ConfigError if a certificate cannot be read
 */
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

/**
 * Returns where requests to clouds may go. For the https origins of a vendor's cloud, a name that leads to this machine
 * or its link is refused (src/lib/own-network.ts). Addresses of private networks are not.
 */
export function cloudReaches({ clouds }: CloudEnvironment): readonly Reach[] {
  const reachesOf = (cloud: Cloud): readonly Reach[] =>
    originsOfCloud(cloud).map((origin) => ({
      origin,
      ...(cloud.ca === undefined ? {} : { ca: cloud.ca }),
      ...(cloud.isBuiltIn && origin.startsWith('https:') ? { isPublic: true } : {}),
    }))
  return [...BUILT_IN_CLOUDS, ...clouds].flatMap(reachesOf)
}
