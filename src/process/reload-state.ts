// What all threads are told when the operator asks for a reload (SIGHUP).
import type { ServerConfig } from '../config/config.ts'
import type { TlsMaterials } from './listening.ts'

/** What the watching thread has read again. */
export type ReloadState = {
  /**
   * The files as they are now, or as they last were if they are refused. Each task takes what it can change at run
   * time.
   */
  readonly config: ServerConfig
  /** For threads that listen; empty for others. */
  readonly tls: TlsMaterials
}
