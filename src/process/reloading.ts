// A reload in the watching thread. It reads its own parts first, then tells the others. One reload at a time.
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { configureLevel, type LogLevels } from '../lib/log-levels.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { ReloadList, type ReloadPart } from '../lib/reload.ts'
import type { ReloadState } from './reload-state.ts'
import type { TlsState } from './tls-state.ts'

/** The parts that a reload works with. */
export type ReloadingParts = {
  readonly config: ServerConfig
  readonly log: Log
  readonly levels: LogLevels
  readonly tls: TlsState
  /** Reads the configuration again; missing: it stays as it is. @throws with the reason if it is refused */
  readonly reread: (() => ServerConfig) | undefined
  /** Resolves with false if something goes on as before on one of the other threads. */
  readonly tellOthers: (state: ReloadState, part: ReloadPart | undefined) => Promise<boolean>
}

/**
 * Reloads one part, or all of them. Resolves with false if something goes on as before; the log says what. Never
 * rejects.
 */
export type Reload = (part?: ReloadPart) => Promise<boolean>

/** Returns the function that reloads. Each call reads the files again, whatever part is asked for. */
export function reloadWith({ config, log, levels, tls, reread, tellOthers }: ReloadingParts): Reload {
  const oneByOne = new OneAtATime()
  const list = new ReloadList<ReloadState>()
  list.add('tls', () => tls.renew())
  list.add('log_level', (state) => configureLevel(levels, state.config.logging.level))
  let current = config
  const isReread = (): boolean => {
    try {
      current = reread?.() ?? current
      return true
    } catch (cause) {
      // The message names the file and the key, and no value.
      const message = cause instanceof Error ? cause.message : 'unknown'
      log('error', `Reload: the configuration is invalid, the previous one stays in force: ${message}`)
      return false
    }
  }
  return (part) =>
    oneByOne.run(async () => {
      log('info', 'Reload: requested', part === undefined ? {} : { part })
      const isTaken = isReread()
      const isWholeHere = await list.run({ config: current, tls: tls.materials }, log, part)
      const isWholeThere = await tellOthers({ config: current, tls: tls.materials }, part)
      return isTaken && isWholeHere && isWholeThere
    })
}
