// A reload in the thread that watches: what it reads itself comes first, then the others are told. One at a time.
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { configureLevel, type LogLevels } from '../lib/log-levels.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { ReloadList, type ReloadPart } from '../lib/reload.ts'
import type { ReloadState } from './reload-state.ts'
import type { TlsState } from './tls-state.ts'

export type ReloadingParts = {
  readonly config: ServerConfig
  readonly log: Log
  readonly levels: LogLevels
  readonly tls: TlsState
  /** Missing: the configuration stays as it is. @throws what says why it is refused */
  readonly reread: (() => ServerConfig) | undefined
  /** False where something goes on as before on one of the other threads. */
  readonly tellOthers: (state: ReloadState, part: ReloadPart | undefined) => Promise<boolean>
}

/** Without a part, all of them. False where something goes on as before; the log says what. Never rejects. */
export type Reload = (part?: ReloadPart) => Promise<boolean>

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
      // It names the file and the key, and no value.
      const message = cause instanceof Error ? cause.message : 'unknown'
      log('error', `Reload: the configuration is refused, what was read before counts: ${message}`)
      return false
    }
  }
  return (part) =>
    oneByOne.run(async () => {
      log('info', 'Reload: asked for', part === undefined ? {} : { part })
      const isTaken = isReread()
      const isWholeHere = await list.run({ config: current, tls: tls.materials }, log, part)
      const isWholeThere = await tellOthers({ config: current, tls: tls.materials }, part)
      return isTaken && isWholeHere && isWholeThere
    })
}
