// Finds audit logs of the configuration that lie where no log may.
import { inDataDirectory, liesIn } from '../audit/data-directory.ts'
import { deviceSettings } from '../audit/device-options.ts'
import type { ServerConfig } from '../config/config.ts'
import { storeLocation } from '../storage/drivers.ts'

/** Returns a sentence for each log that lies in the data directory, which is the store's alone. */
export async function misplacedLogs({ audit, storage }: ServerConfig): Promise<readonly string[]> {
  const { durable } = storeLocation(storage)
  if (durable === undefined) return []
  const sentences: string[] = []
  for (const { type, path, options } of audit.declared) {
    const { target } = deviceSettings(type, options, true)
    if (target.file !== undefined && (await liesIn(target.file.path, durable.directory)))
      sentences.push(`audit "${type}" "${path.slice(0, -1)}": ${inDataDirectory(target.file.path)}`)
  }
  return sentences
}
