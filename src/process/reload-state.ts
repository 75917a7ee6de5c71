// The state that all threads are told when the operator asks for a reload (SIGHUP).
import type { ServerConfig } from '../config/config.ts'
import type { TlsMaterials } from './listening.ts'

/** The files as the watching thread has read them last. */
export type ReloadState = {
  /**
   * The configuration as it is now, or as it last was if it is refused. Each task takes what it can change at run time.
   */
  readonly config: ServerConfig
  /** For threads that listen; empty for others. */
  readonly tls: TlsMaterials
}
